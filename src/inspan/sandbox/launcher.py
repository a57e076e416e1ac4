"""Builds the namespaces of one job and becomes ``bwrap``. Run as a file by ``python -I -S``; standard library only.

The order is what makes it work (measured): as root, sources that only root may enter are cloned onto a private tmpfs
*before* the identity is dropped; the user namespace is made *after* it, with an identity map, so that the workspace's
git index stays valid and root inside never is root outside. Whatever the job may write is bound plainly: through an
identity-mapped mount a set-uid file made inside would be a set-uid file of root on the host's disk.

Argument: the number of a control socket. Conversation: the specification comes (see ``received``; its content is JSON,
see ``mounts.Staging``), ``ok`` goes with listening sockets attached, ``g`` comes back, and the socket closes by exec.
Anything else on it is ``no`` and a JSON document with the step that failed. Until the specification comes this process
has nothing and does nothing, so that one can be started ahead; it ends with its caller.
"""

from __future__ import annotations

import array
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import stat
import struct
import sys
from typing import Any

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWNET = 0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_REC, MS_PRIVATE = 0x2, 0x4, 0x4000, 0x40000
SYS_OPEN_TREE, SYS_MOVE_MOUNT, SYS_MOUNT_SETATTR = 428, 429, 442  # the same numbers on every architecture
OPEN_TREE_CLONE, AT_EMPTY_PATH, AT_RECURSIVE, MOVE_MOUNT_F_EMPTY_PATH = 1, 0x1000, 0x8000, 4
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_IDMAP = 0x1, 0x2, 0x4, 0x100000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40

libc = ctypes.CDLL(None, use_errno=True)


def call(result: int, what: str) -> int:
    """The result of a C call, or the OSError it stands for."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Leave the namespaces named by ``flags``."""
    call(libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """mount(2)."""
    encoded = kind.encode() if kind else None
    call(
        libc.mount(source.encode(), os.fsencode(target), encoded, ctypes.c_ulong(flags), os.fsencode(data) or None),
        f"mount {kind or source} on {target}",
    )


def received(control: socket.socket) -> tuple[socket.socket, Any]:
    """Wait for the specification and take over the descriptors that come with it, under the numbers it says.

    The message is a JSON list of numbers; attached are a file with the specification, then one descriptor per number.
    Gives the control socket, which may have had to make way, and the decoded specification.
    """
    message, ancillary, _, _ = control.recvmsg(4096, socket.CMSG_SPACE(64 * 4))
    if not message:
        os._exit(0)  # the caller has gone, or did not need this one
    numbers: list[int] = json.loads(message)
    came = array.array("i")
    for _, _, data in ancillary:
        came.frombytes(data)
    floor = max(numbers) + 1
    held = (control.detach(), *came)
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, floor) for fd in held]
    for fd in held:
        os.close(fd)
    for fd, number in zip(moved[2:], numbers, strict=True):
        os.dup2(fd, number)
        os.close(fd)
    with open(moved[1], "rb") as reading:
        return socket.socket(fileno=moved[0]), json.load(reading)


def private_mounts() -> None:
    """Nothing mounted from here on is seen outside."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)


def enterable(source: str, uid: int, gid: int) -> bool:
    """Whether ``uid`` may read this very file or directory (its parents do not matter: it is bound by descriptor)."""
    found = os.stat(source)
    shift = 6 if found.st_uid == uid else 3 if found.st_gid == gid else 0
    wanted = 0o5 if stat.S_ISDIR(found.st_mode) else 0o4
    return (found.st_mode >> shift) & wanted == wanted


def mapping_namespace(owner: int, group: int, uid: int, gid: int) -> int:
    """A user namespace descriptor that shows files of ``owner`` as files of ``uid``."""
    ready_r, ready_w = os.pipe()
    done_r, done_w = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(done_w)
        failed = libc.unshare(NEWUSER)
        os.write(ready_w, b"n" if failed else b"y")
        os.read(done_r, 1)
        os._exit(0)
    try:
        if os.read(ready_r, 1) != b"y":
            raise OSError("a user namespace for an identity-mapped mount cannot be made")
        for name, line in (("uid_map", f"{owner} {uid} 1"), ("gid_map", f"{group} {gid} 1")):
            with open(f"/proc/{child}/{name}", "w") as out:
                out.write(line)
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        for fd in (done_r, done_w, ready_r, ready_w):
            os.close(fd)
        os.waitpid(child, 0)


def clone_mount(source: str, writable: bool, owner: tuple[int, int] | None) -> int:
    """A detached copy of the mount at ``source``; ``owner`` is set where the job's identity is still to be taken."""
    fd = call(
        libc.syscall(SYS_OPEN_TREE, -100, os.fsencode(source), OPEN_TREE_CLONE | os.O_CLOEXEC | AT_RECURSIVE),
        f"open_tree {source}",
    )
    wanted, namespace = ATTR_NOSUID | ATTR_NODEV, 0
    if not writable:
        wanted |= ATTR_RDONLY
        if owner and not enterable(source, *owner):
            found = os.stat(source)
            namespace = mapping_namespace(found.st_uid, found.st_gid, *owner)
            wanted |= ATTR_IDMAP
    request = struct.pack("QQQQ", wanted, 0, 0, namespace)
    call(
        libc.syscall(SYS_MOUNT_SETATTR, fd, b"", AT_EMPTY_PATH | AT_RECURSIVE, request, len(request)),
        f"mount_setattr {source}" + (" (identity-mapped)" if namespace else ""),
    )
    if namespace:
        os.close(namespace)
    return fd


def stage(spec: dict[str, Any], owner: tuple[int, int] | None) -> None:
    """Put every source on a tmpfs at ``spec["stage"]``; descriptors first, because the tmpfs may cover a source."""
    root = spec["stage"]
    clones = [
        (name, os.path.isdir(source), clone_mount(source, writable, owner)) for source, name, writable in spec["hold"]
    ]
    mount("stage", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    for name in spec["directories"]:
        os.makedirs(f"{root}/{name}", exist_ok=True)
    for name, text in spec["files"].items():
        os.makedirs(os.path.dirname(f"{root}/{name}"), exist_ok=True)
        with open(f"{root}/{name}", "w", encoding="utf-8", errors="surrogateescape") as out:
            out.write(text)
    for name, is_directory, fd in clones:
        target = f"{root}/{name}"
        if is_directory:
            os.makedirs(target, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        call(
            libc.syscall(SYS_MOVE_MOUNT, fd, b"", -100, os.fsencode(target), MOVE_MOUNT_F_EMPTY_PATH),
            f"move_mount {target}",
        )
        os.close(fd)


def drop(uid: int, gid: int) -> None:
    """Become the job's identity for good."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    # /proc/self/uid_map belongs to root after a change of identity unless the process may be dumped.
    call(libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl")


def die_with(parent: int) -> None:
    """SIGKILL when the parent is gone. After ``drop``: a change of identity clears the setting."""
    call(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
    if os.getppid() != parent:
        os._exit(70)


def user_namespace(uid: int, gid: int) -> None:
    """User, mount, IPC, UTS and network namespace, with identity maps."""
    unshare(NEWUSER | NEWNS | NEWIPC | NEWUTS | NEWNET)
    for name, line in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as out:
            out.write(line)
    socket.sethostname("inspan")


def loopback_up() -> None:
    """Bring ``lo`` up in the new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        fcntl.ioctl(probe, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", IFF_UP | IFF_RUNNING, b""))


def listeners(ports: list[int]) -> list[socket.socket]:
    """Listening sockets on loopback, taken before anything of the job runs so that nothing inside can pose as them."""
    made = []
    for port in ports:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
        made.append(listener)
    return made


def overlay(root: str, request: dict[str, Any]) -> None:
    """Stack layers at the workspace's place, or at HOME's."""
    options = ["lowerdir=" + ":".join(f"{root}/{name}" for name in request["lowers"]), "userxattr"]
    if request["upper"]:
        options += [f"upperdir={root}/{request['upper']}", f"workdir={root}/{request['work']}"]
    try:
        mount("overlay", f"{root}/{request['at']}", "overlay", MS_NOSUID | MS_NODEV, ",".join(options))
    except OSError:
        if not request.get("optional"):  # a file system that cannot be below an overlay stays bound as it is
            raise


def set_limits(wanted: dict[str, int]) -> None:
    """Resource limits, never above what already holds."""
    for name, value in wanted.items():
        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (bounded, bounded))


def default_signals() -> None:
    """What Python and our caller ignore or block would be ignored or blocked by the job for ever."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def guard(fd: int) -> None:
    """Leave a process behind that ends the held tree when the caller dies before it has released it.

    bubblewrap's init asks for a parent-death signal only when it is released, and the end of its block would release
    it. Until then it is in our process group. The caller writes one byte to ``fd`` once the program runs.
    """
    if os.fork() == 0:
        os.closerange(0, fd)
        os.closerange(fd + 1, 4096)
        if not os.read(fd, 1):
            os.killpg(0, signal.SIGKILL)
        os._exit(0)
    os.set_inheritable(fd, False)


def memory_file(name: str, content: bytes) -> int:
    """An inheritable descriptor holding ``content``."""
    fd = os.memfd_create(name, 0)
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    os.set_inheritable(fd, True)
    return fd


def build(spec: dict[str, Any], report: dict[str, str]) -> list[socket.socket]:
    """All steps up to the held state; ``report["step"]`` says which one is under way."""
    uid, gid, root = spec["uid"], spec["gid"], spec["stage"]
    os.umask(0o022)  # a runner keeps its own files private; what is staged must be readable for the job
    if spec["drop"]:
        report["step"] = "stage"
        unshare(NEWNS)
        private_mounts()
        stage(spec, (uid, gid))
        report["step"] = "drop"
        drop(uid, gid)
    die_with(spec["parent"])
    report["step"] = "namespaces"
    user_namespace(uid, gid)
    private_mounts()
    if not spec["drop"]:
        report["step"] = "stage"
        stage(spec, None)
    report["step"] = "network"
    loopback_up()
    made = listeners(spec["ports"])
    report["step"] = "workspace"
    for request in spec["overlays"]:
        overlay(root, request)
    return made


def main(control_fd: int) -> None:
    """Build, hold, become bwrap."""
    control, spec = received(socket.socket(fileno=control_fd))
    report = {"step": "specification"}
    try:
        made = build(spec, report)
        fds = [listener.fileno() for listener in made]
        attached = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        control.sendmsg([b"ok"], attached)
        for listener in made:
            listener.close()
        if control.recv(1) != b"g":
            os._exit(70)
        report["step"] = "exec"
        arguments = "\0".join(spec["arguments"]).encode(errors="surrogateescape") + b"\0"
        set_limits(spec["rlimits"])
        command = ["bwrap"]
        if spec["seccomp"]:
            command += ["--seccomp", str(memory_file("seccomp", bytes.fromhex(spec["seccomp"])))]
        # By descriptor: /proc/1/cmdline inside must not show host paths or the environment.
        command += ["--args", str(memory_file("arguments", arguments)), "--", *spec["argv"]]
        os.chdir("/")
        default_signals()
        guard(spec["guard"])
        os.execv(f"{spec['stage']}/{spec['program']}", command)  # noqa: S606
    except BaseException as error:
        trouble = {"step": report["step"], "error": str(error), "errno": getattr(error, "errno", None)}
        control.send(b"no" + json.dumps(trouble).encode()[:4000])
        os._exit(70)


if __name__ == "__main__":
    main(int(sys.argv[1]))
