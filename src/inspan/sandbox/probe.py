"""Probing by doing: a real confined process reports what it can and cannot do, next to what this process can do.

What is asked of it follows from what the level promises.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from inspan.errors import InspanError
from inspan.sandbox import enabling
from inspan.sandbox.contract import Confined, Confinement, Driver, Proof
from inspan.spec.levels import Promises, promises
from inspan.workspace.passage import open_passage
from inspan.workspace.plan import MountPlan

_SECONDS = 60.0

# Only a shell and cat: a host need not have more. Each line is one fact; what must fail is tried.
_SCRIPT = r"""
for p in "$CANARY" /root/.ssh /run/docker.sock; do [ -e "$p" ] && echo "sees: $p"; done
(cat "$CANARY") >/dev/null 2>&1 && echo "reads: $CANARY"
(echo x > "$CANARY") 2>/dev/null && echo "wrote: $CANARY"
(echo x > /usr/inspan-probe) 2>/dev/null && echo "wrote: /usr"
(echo x > /inspan-probe) 2>/dev/null && echo "wrote: /"
(echo x > /etc/passwd) 2>/dev/null && echo "wrote: /etc/passwd"
echo x > written || echo "cannot write the workspace"
cat /proc/net/dev
echo done
"""


def probe_by_doing(driver: Driver, state_dir: str) -> Proof:
    """Run the probe in a throw-away workspace below ``state_dir`` (or the temporary directory while there is none)."""
    level = driver.level
    parent = state_dir if os.path.isdir(state_dir) else None
    base = tempfile.mkdtemp(prefix="probe-", dir=parent)
    try:
        return _probe(driver, base, parent)
    except InspanError as error:
        what, do = error.what, error.do
    except OSError as error:  # root without the privileges of root
        what, do = str(error), enabling.WEAK_ROOT if os.geteuid() == 0 else None
    finally:
        shutil.rmtree(base, ignore_errors=True)
    known = enabling.for_namespaces(what) if promises(level).own_mounts else do
    return Proof(level=level, available=False, detail=what, enable=known)


def _probe(driver: Driver, base: str, parent: str | None) -> Proof:
    plan = _plan(driver.level, base, parent)
    canary = f"{base}/canary"
    with open(canary, "w") as out:
        out.write("out of reach\n")
    read, write = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    confinement = Confinement(
        plan=plan,
        argv=("sh", "-c", _SCRIPT),
        env={"CANARY": canary, "PATH": "/usr/bin:/bin:/run/current-system/sw/bin"},
    )
    try:
        tree = driver.start(confinement, stdin=null, stdout=write, stderr=null)
    finally:
        os.close(write)
        os.close(null)
    try:
        return _judge(driver.level, tree, read, plan)
    finally:
        tree.close()
        os.close(read)


def _judge(level: str, tree: Confined, read: int, plan: MountPlan) -> Proof:
    tree.release()
    status = tree.wait(_SECONDS)
    tree.kill()
    with open(os.dup(read), "rb") as reading:
        lines = reading.read(1 << 20).decode(errors="replace").splitlines()
    promised = promises(level)
    evidence: dict[str, Any] = dict(tree.proof)  # the filter, too, was seen at the release
    evidence["limits"] = dict(tree.held)
    bad = ("reads: ", "wrote: ", "cannot ", *(("sees: ",) if promised.own_mounts else ()))
    problems = [line for line in lines if line.startswith(bad)]
    if promised.own_network:
        evidence["interfaces"] = [line.split(":")[0].strip() for line in lines if "\t" not in line and _is_device(line)]
        if evidence["interfaces"] != ["lo"]:
            problems.append(f"network interfaces inside: {', '.join(evidence['interfaces'])}")
    if status != 0 or "done" not in lines:
        problems.append(f"the probe ended with {status}")
    if not os.path.exists(f"{plan.directory}/written"):
        problems.append("what is written inside does not arrive in the workspace")
    if tree.survivors():
        problems.append("something of the tree is still alive")
    detail = "; ".join(problems) or _shown(promised, evidence)
    return Proof(level=level, available=not problems, detail=detail, evidence=evidence)


def _shown(promised: Promises, evidence: dict[str, Any]) -> str:
    """What a good probe has shown, for people."""
    said = ["own namespaces"] if promised.own_mounts else []
    if "guest_kernel" in evidence:
        said.append(f"guest kernel by runsc {evidence['runsc']} ({evidence['platform']})")
    if "fails" in evidence:
        said.append(f"too old for: {', '.join(evidence['fails'])}")
    if "landlock" in evidence:
        said.append(f"Landlock {evidence['landlock']}")
        if evidence["signals"] != "held":
            said.append("processes of the same user can be signalled")
    return ", ".join([*said, "no capabilities", "system call filter", "only loopback", "host hidden"])


def _is_device(line: str) -> bool:
    """A line of /proc/net/dev: a name, a colon and sixteen numbers."""
    numbers = line.partition(":")[2].split()
    return len(numbers) == 16 and all(number.isdigit() for number in numbers)


def _plan(level: str, base: str, parent: str | None) -> MountPlan:
    from inspan.sandbox.levels import owner

    who = owner(level)
    for name in ("tree", "home"):
        os.mkdir(f"{base}/{name}")
        os.chown(f"{base}/{name}", who.uid, who.gid)
    own_mounts = promises(level).own_mounts
    if not own_mounts:
        open_passage(Path(parent or base), Path(base, "tree"), who)
    return MountPlan(
        kind="clone",
        root_inside="/workspace" if own_mounts else f"{base}/tree",
        directory=f"{base}/tree",
        home=f"{base}/home",
        uid=who.uid,
        gid=who.gid,
    )
