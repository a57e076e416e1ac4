"""The security page says what the table of levels says."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from inspan.spec.levels import DEFAULT, PROMISES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "security.md").read_text(encoding="utf-8")

ROWS = {
    "only_gateway": "nothing but the gateway is reached",
    "own_processes": "other processes are not seen, none is left",
    "own_mounts": "the workspace stands at the checkout's path",
    "hides_host": "files of the host that were not granted cannot be read",
    "own_identity": "started as root, root is given up",
    "own_kernel": "system calls do not reach the host's kernel",
    "read_only": "a read-only job cannot write",
    "keeps_checkout": "the user's checkout cannot be changed",
}


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def test_the_table_of_promises() -> None:
    assert row("promise", *(f"`{name}`" for name in PROMISES)) in PAGE
    for field, words in ROWS.items():
        answers = ("yes" if getattr(level, field) else "no" for level in PROMISES.values())
        assert row(words, *answers) in PAGE, field


def test_every_level_says_how_it_holds() -> None:
    text = " ".join(PAGE.split())
    for name, level in PROMISES.items():
        boundary = "no boundary" if level.boundary == "none" else level.boundary
        assert f"`{name}`: {boundary}. Limits: {level.limits}. Proof: {level.proof or 'nothing is shown'}." in text
    assert f"`auto` means `{DEFAULT}`" in text


TESTS = Path(__file__).resolve().parents[1]


def written(module: str, name: str) -> dict[Any, Any]:
    """The dictionary a test module gives a name at its top level, without running the module."""
    tree = ast.parse((TESTS / module).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            found: dict[Any, Any] = ast.literal_eval(node.value)
            return found
    raise AssertionError(f"{module} has no {name}")


def test_the_exceptions_of_the_suites_are_the_page_s_and_no_others() -> None:
    wanted = {
        *(
            (level, what, why)
            for (level, what), why in written("conformance/test_sandbox_drivers.py", "EXCEPTIONS").items()
        ),
        *(("landlock", what, why) for what, why in written("attacks/test_landlock_escape.py", "NOT_HELD").items()),
        *(("gvisor", what, why) for what, (_, why) in written("attacks/test_guest_escape.py", "EXCEPTIONS").items()),
    }
    section = PAGE.partition("## Expected exceptions")[2]
    rows = {tuple(cell.strip() for cell in line.strip("|").split("|")) for line in section.splitlines() if "|" in line}
    listed = {(level.strip("`"), what, why) for level, what, why in rows if level.startswith("`")}
    print(f"{len(listed)} exceptions")
    assert listed == wanted
