"""What the workspace's tests share: sample repositories, an in-overlay runner of their own, the reference tree."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from inspan.spec.paths import State
from inspan.workspace.build import Owner
from inspan.workspace.plan import MountPlan

IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@x",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@x",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "LC_ALL": "C.UTF-8",
}
ROOT = os.geteuid() == 0
SANDBOX = Owner(uid=61001, gid=61001) if ROOT else Owner(uid=os.geteuid(), gid=os.getegid())
SELF = Owner(uid=os.geteuid(), gid=os.getegid())

_ENTER = """
import importlib.util, os, sys
spec = importlib.util.spec_from_file_location("probe", sys.argv[1])
probe = importlib.util.module_from_spec(spec); spec.loader.exec_module(probe)
directory, uid, gid, root, script, lowers = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6], sys.argv[7:]
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def mount(source, target, kind, flags, data=None):
    if libc.mount(source, target, kind, ctypes.c_ulong(flags), data):
        n = ctypes.get_errno(); raise OSError(n, os.strerror(n), target)
masks = [path for path in os.environ.pop("MASKS", "").split("\\n") if path]
stores = [pair.split("=", 1) for pair in os.environ.pop("STORES", "").split("\\n") if pair]
if os.geteuid() == 0:
    libc.unshare(0x20000); mount(b"none", b"/", None, 0x44000)
    stage = "/mnt"
    mount(b"stage", stage.encode(), b"tmpfs", 0)
    for name, source in [("ws", directory), *(("l%d" % i, l) for i, l in enumerate(lowers))]:
        os.mkdir(f"{stage}/{name}"); mount(source.encode(), f"{stage}/{name}".encode(), None, 0x1000)
    mount(b"run", b"/run", b"tmpfs", 0)
    for target, source in stores:
        os.makedirs(target); mount(source.encode(), target.encode(), None, 0x1000); mount(b"none", target.encode(), None, 0x1021)
    directory, lowers = f"{stage}/ws", [f"{stage}/l{i}" for i in range(len(lowers))]
    for path in masks:
        mount(b"/dev/null", path.encode(), None, 0x1000)
    masks = []
    if lowers:
        probe.enter_overlay(directory, uid, gid, ":".join(lowers))
        os.chdir("m")
    else:
        os.chdir(directory); os.setgroups([]); os.setresgid(gid, gid, gid); os.setresuid(uid, uid, uid)
else:
    if lowers:
        probe.enter_overlay(directory, uid, gid, ":".join(lowers)); os.chdir("m")
    else:
        libc.unshare(0x10020000)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            open(f"/proc/self/{name}", "w").write(text)
        mount(b"none", b"/", None, 0x44000)
        os.chdir(directory)
    mount(b"run", b"/run", b"tmpfs", 0)
    for target, source in stores:
        os.makedirs(target); mount(source.encode(), target.encode(), None, 0x1000)
for path in masks:
    mount(b"/dev/null", path.encode(), None, 0x1000)
os.execv("/bin/bash", ["bash", "-c", script])
"""


def sh(
    script: str, cwd: Path | str, *, check: bool = True, env: dict[str, str] | None = None, timeout: float = 60
) -> str:
    """Run a shell script as the user; its output."""
    full = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **IDENTITY, **(env or {})}
    done = subprocess.run(
        ["/bin/bash", "-c", script],
        cwd=cwd,
        env=full,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout,
    )
    text = done.stdout.decode("utf-8", "replace")
    assert not check or done.returncode == 0, text
    return text


def sample(directory: Path, *, options: str = "") -> Path:
    """A small repository with one commit on ``main``."""
    directory.mkdir(parents=True)
    sh(
        f"git init -q -b main {options} ."
        " && mkdir src tests && printf 'def add(a,b):\\n    return a+b\\n' > src/app.py && touch src/__init__.py"
        " && echo hello > README.md && printf '__pycache__/\\n*.pyc\\nnode_modules/\\n.venv/\\n' > .gitignore"
        " && printf 'from src.app import add\\ndef test_add():\\n    assert add(2,2)==4\\n' > tests/test_app.py"
        " && mkdir -p deep/er && echo x > deep/er/f.txt && ln -s README.md link && printf '#!/bin/sh\\n' > run.sh && chmod +x run.sh"
        " && git add -A && git commit -qm base && git branch other",
        directory,
    )
    return directory


def inside(
    plan: MountPlan, script: str, *, timeout: float = 60, check: bool = True, env: dict[str, str] | None = None
) -> str:
    """Run a script in the planned workspace as its owner, in private namespaces; its output."""
    import inspan.workspace.probe as probe

    stores = "\n".join(f"{bind.target}={bind.source}" for bind in plan.binds if bind.target.startswith("/run/inspan"))
    place = str(Path(plan.directory).parent) if plan.kind == "overlay" else plan.directory
    full = {
        "PATH": os.environ["PATH"],
        "HOME": "/tmp",
        "STORES": stores,
        "MASKS": "\n".join(plan.masks),
        **IDENTITY,
        **(env or {}),
    }
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            _ENTER,
            probe.__file__,
            place,
            str(plan.uid),
            str(plan.gid),
            plan.root_inside,
            script,
            *plan.lowers,
        ],
        env=full,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout,
    )
    text = done.stdout.decode("utf-8", "replace")
    assert not check or done.returncode == 0, text
    return text


def reference_tree(state: State, key: str, base: str, plan: MountPlan, scratch: Path) -> str:
    """The tree ``git add -A -f`` makes of the workspace with a trusted repository and index; needs root for an overlay."""
    gate = state.repo(key) / "gate.git"
    env = f"export GIT_DIR={gate} GIT_WORK_TREE=. GIT_INDEX_FILE={scratch}/index; "
    script = env + "git -c core.bare=false add -A -f . && git write-tree"
    if plan.kind == "clone":
        return sh(
            f"cd '{plan.directory}' && mv .git ../git.aside && {script}; r=$?; mv ../git.aside .git; exit $r", "/"
        ).split()[-1]
    mount = (
        f"mount -t overlay overlay -o lowerdir={':'.join(plan.lowers)},upperdir={plan.upper},workdir={plan.work},userxattr"
        f" {plan.directory} && cd {plan.directory} && "
    )
    return sh(f"unshare -m bash -c '{mount}{script}'", "/").split()[-1]
