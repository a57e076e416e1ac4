"""Recipes 11 and 14 of the reported pains: what goes into a run, and what comes out of it besides the work.

Each with its negative control, at both levels, through ``inspan run``.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import zlib
from pathlib import Path

from attempts import python
from runs import environment, inspan
from stubs import DONE, EDIT, FIXED, FOREVER, START, Job, Stubs, artifact, ended

LAUNCHER = """#!/bin/sh
# What a command shim does: it refuses a command line it cannot hold.
length=$(wc -c < /proc/$$/cmdline)
[ "$length" -le 8191 ] || {{ echo "command line of $length bytes" >&2; exit 120; }}
exec {python} {stub} "$@"
"""


def launcher(stubs: Stubs, name: str, text: str) -> str:
    """An executable beside the stub."""
    path = stubs.dir / name
    path.write_text(text.format(python=python(), stub=stubs.program))
    path.chmod(0o755)
    return str(path)


def said(stubs: Stubs, job: object, kind: str) -> dict:
    """The line of the stub's own output whose type is ``kind``."""
    lines = artifact(stubs, job, "transcript").decode().splitlines()  # type: ignore[arg-type]
    return next(document for document in map(json.loads, lines) if document.get("type") == kind)


def test_11_a_long_prompt_is_delivered_whole_and_never_as_an_argument(stubs: Stubs) -> None:
    prompt = ("naïve — «prompt» \\ $x `y`\n" * 1000)[:16043]
    file = stubs.dir / "prompt.txt"
    file.write_text(prompt, newline="")
    shim, show = launcher(stubs, "shim", LAUNCHER), [str(stubs.program)]
    scripts = {name: str(stubs.dir / f"{name}.json") for name in ("stdin", "file", "argument")}
    argv = {name: {"argv": [shim, script], "show": show, "prompt": name} for name, script in scripts.items()}
    argv["file"]["env"] = {"PROMPT_FILE": "{prompt_file}"}
    flags = (*FIXED, "--prompt-file", str(file))
    found = stubs.together(
        stdin=Job([START, {"read": True}, EDIT, DONE], flags, argv["stdin"], None),
        file=Job([START, {"read_file": "$PROMPT_FILE"}, EDIT, DONE], flags, argv["file"], None),
        argument=Job([START, EDIT, DONE], flags, argv["argument"], None),
        missing=Job([START, EDIT, DONE], FIXED, {"argv": [launcher(stubs, "gone", "#!/no/such/interpreter\n")]}),
    )
    for name in ("stdin", "file"):
        assert ended(found[name]) == (0, "accepted", "verified"), found[name]
        told = said(stubs, found[name], "prompt")
        assert (told["length"], told["sha256"]) == (len(prompt), hashlib.sha256(prompt.encode()).hexdigest())
    assert ended(found["argument"])[:2] == (1, "failed"), "control: this launcher does refuse a long command line"
    assert b"command line of" in artifact(stubs, found["argument"], "stderr")
    assert ended(found["missing"]) == (1, "failed", "spawn_failed"), found["missing"]
    absent = {"argv": [str(stubs.dir / "nowhere")]}
    stubs.declare("absent", [], **absent)
    before = inspan("ps", "--json").stdout
    refused = inspan("run", "x", *stubs.arguments("absent"), "--json")
    assert refused.returncode == 1 and json.loads(refused.stdout)["reason"] == "harness_missing", refused
    assert inspan("ps", "--json").stdout == before, "refused before anything was stored"


CANARY = "canary-5d41402abc4b2a76b9719d911017c592"


def stored(root: Path) -> dict[str, bytes]:
    """Every byte below ``root``: files as they are, and what compressed git objects hold."""
    found = {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file() and not path.is_symlink()}
    for name, data in list(found.items()):
        if data[:1] == b"\x78":
            found[f"{name} (inflated)"] = zlib.decompressobj().decompress(data)
    for repository in root.glob("repos/*/gate.git"):
        argv = ["git", "cat-file", "--batch-all-objects", "--batch"]
        found[f"{repository} (objects)"] = subprocess.run(argv, cwd=repository, check=True, capture_output=True).stdout
    return found


def holding(root: Path, text: str) -> list[str]:
    """Where below ``root`` a text stands."""
    return [name for name, data in stored(root).items() if text.encode() in data]


def test_14_a_daemon_is_gone_and_the_parents_secret_is_nowhere(stubs: Stubs) -> None:
    stubs.configure("pass_env", ["LICENSE_SERVER", "CANARY_TOKEN"])
    env = environment(CANARY_TOKEN=CANARY, ANTHROPIC_API_KEY=CANARY, HARMLESS=CANARY, LICENSE_SERVER="license.example")
    daemon = {"spawn": {"detach": True, "session": True, "steps": [{"ignore": ["TERM", "HUP"]}, FOREVER]}}
    # A program that may look finds the parent's environment at level none: one user. In the sandbox it is not there.
    looks = {"run": "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -ac '^CANARY_TOKEN=' > seen.txt; true"}
    steps = [START, daemon, {"environment": True}, EDIT, looks, {"sleep": 0.3}, DONE]
    result = stubs.run(steps, *FIXED, env=env)
    assert ended(result) == (0, "accepted", "verified"), result
    assert stubs.left() == [], "the daemon is gone"
    (attempt,) = stubs.home.glob("attempts/*")
    assert len(json.loads((attempt / "record.json").read_bytes())["orphans"]) == 1, "and it is in the record of orphans"
    seen = said(stubs, result, "environment")["env"]
    assert CANARY not in seen.values() and not {"CANARY_TOKEN", "ANTHROPIC_API_KEY", "HARMLESS"} & set(seen)
    assert seen["LICENSE_SERVER"] == "license.example", "control: what the user lets through arrives"
    count = stubs.git("show", f"{stubs.branches()[0]}:seen.txt")
    assert count == "0" if stubs.level == "sandbox" else int(count) > 0, "level none promises less, and it shows"
    assert holding(stubs.home, CANARY) == []
    assert holding(stubs.home, "license.example"), "control: a value that may be stored is found by the same search"


def test_14_a_secret_that_the_stub_prints_is_stored_nowhere(stubs: Stubs) -> None:
    env = environment(ANTHROPIC_API_KEY=CANARY)
    text = {"print": {"type": "text", "text": f"the key is {CANARY}"}}
    loud = [START, text, {"stderr": CANARY}, EDIT, {"report": {"summary": CANARY}}]
    result = stubs.run([*loud, {"print": {"type": "end", "ok": True, "message": CANARY}}], *FIXED, env=env)
    assert ended(result) == (0, "accepted", "verified"), result
    assert holding(stubs.home, CANARY) == [], "what the agent says is redacted before it is written"
    assert CANARY not in json.dumps(result.document) + result.stderr
    assert b"[redacted]" in artifact(stubs, result, "transcript"), "control: it was said"
    assert os.path.getsize(stubs.home / "inspan.db") > 0
