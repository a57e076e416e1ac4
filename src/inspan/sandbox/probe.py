"""Probing by doing: a real confined process reports what it can and cannot do, next to what this process can do."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Any

from inspan.errors import InspanError
from inspan.sandbox.contract import Confinement, Proof
from inspan.workspace.plan import MountPlan

if TYPE_CHECKING:
    from inspan.sandbox.namespaced import NamespacedTree, SandboxDriver

_SECONDS = 60.0

# Only a shell and cat: a host need not have more. Each line is one fact; what must fail is tried.
_SCRIPT = r"""
for p in "$CANARY" /root/.ssh /run/docker.sock; do [ -e "$p" ] && echo "sees: $p"; done
(echo x > /usr/inspan-probe) 2>/dev/null && echo "wrote: /usr"
(echo x > /inspan-probe) 2>/dev/null && echo "wrote: /"
(echo x > /etc/passwd) 2>/dev/null && echo "wrote: /etc/passwd"
echo x > written || echo "cannot write the workspace"
cat /proc/net/dev
echo done
"""


def probe_sandbox(driver: SandboxDriver, state_dir: str) -> Proof:
    """Run the probe in a throw-away workspace below ``state_dir`` (or the temporary directory while there is none)."""
    parent = state_dir if os.path.isdir(state_dir) else None
    base = tempfile.mkdtemp(prefix="probe-", dir=parent)
    try:
        return _probe(driver, base)
    except InspanError as error:
        return Proof(level="sandbox", available=False, detail=error.what, enable=_enable(error.what))
    except OSError as error:  # root without the privileges of root
        return Proof(level="sandbox", available=False, detail=str(error), enable=_enable(str(error)))
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _probe(driver: SandboxDriver, base: str) -> Proof:
    plan = _plan(base)
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
        return _judge(tree, read, plan)
    finally:
        tree.close()
        os.close(read)


def _judge(tree: NamespacedTree, read: int, plan: MountPlan) -> Proof:
    tree.release()
    status = tree.wait(_SECONDS)
    tree.kill()
    with open(os.dup(read), "rb") as reading:
        report = reading.read(1 << 20).decode(errors="replace")
    lines = report.splitlines()
    evidence: dict[str, Any] = dict(tree.proof)  # the filter, too, was seen at the release
    problems = [line for line in lines if line.startswith(("sees: ", "wrote: ", "cannot "))]
    evidence["interfaces"] = [
        line.split(":")[0].strip() for line in lines if ":" in line and "\t" not in line and _is_device(line)
    ]
    if status != 0 or "done" not in lines:
        problems.append(f"the probe ended with {status}")
    if evidence["interfaces"] != ["lo"]:
        problems.append(f"network interfaces inside: {', '.join(evidence['interfaces'])}")
    if not os.path.exists(f"{plan.directory}/written"):
        problems.append("what is written inside does not arrive in the workspace")
    if tree.survivors():
        problems.append("something of the tree is still alive")
    detail = "; ".join(problems) or "own namespaces, no capabilities, system call filter, only loopback, host hidden"
    return Proof(level="sandbox", available=not problems, detail=detail, evidence=evidence)


def _is_device(line: str) -> bool:
    """A line of /proc/net/dev: a name, a colon and sixteen numbers."""
    numbers = line.partition(":")[2].split()
    return len(numbers) == 16 and all(number.isdigit() for number in numbers)


def _plan(base: str) -> MountPlan:
    from inspan.sandbox.levels import sandbox_owner

    owner = sandbox_owner()
    for name in ("tree", "home"):
        os.mkdir(f"{base}/{name}")
        os.chown(f"{base}/{name}", owner.uid, owner.gid)
    return MountPlan(
        kind="clone",
        root_inside="/workspace",
        directory=f"{base}/tree",
        home=f"{base}/home",
        uid=owner.uid,
        gid=owner.gid,
    )


_SWITCHES = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
)
"""Kernel settings that refuse user namespaces: where, which value refuses, and the command that allows them."""


def _enable(what: str) -> str | None:
    """The one command that would help, None when none is known."""
    if "no bubblewrap" in what:
        return "apt install bubblewrap (or: pip install 'inspan[sandbox]')"
    for path, refusing, command in _SWITCHES:
        try:
            with open(path) as reading:
                if reading.read().strip() == refusing:
                    return command
        except OSError:
            continue
    return _CONTAINER if _contained() else None


_CONTAINER = (
    "docker run --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
    " --security-opt systempaths=unconfined ..."
)
"""How the container is to be started from outside; a user inside who is not root does without ``--cap-add``."""
_CAP_SYS_ADMIN = 1 << 21


def _contained() -> bool:
    """Whether somebody put this process under a system call filter, or took a privilege from root."""
    with open("/proc/self/status") as reading:
        fields = dict(line.split(":\t", 1) for line in reading.read().splitlines() if ":\t" in line)
    weak_root = os.geteuid() == 0 and not int(fields.get("CapEff", "0"), 16) & _CAP_SYS_ADMIN
    return fields.get("Seccomp", "0").strip() == "2" or weak_root
