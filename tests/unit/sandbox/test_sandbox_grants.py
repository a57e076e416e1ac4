"""Which directories of the host may be granted, and that a grant is what it was when the job starts."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from inspan.errors import InvalidSpec, SandboxError
from inspan.sandbox.grants import grants, unmoved
from inspan.workspace.layout import Owner

OWN = Owner(uid=os.geteuid(), gid=os.getegid())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in (
        "home/.ssh/below", "home/work/checkout/sub", "home/state/attempts", "home/data/deep", "home/keys/.aws",
        "home/served",
    ):  # fmt: skip
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home/link").symlink_to("data")
    (tmp_path / "home/file").touch()
    return tmp_path / "home"


def granted(home: Path, *paths: str, owner: Owner = OWN, own_mounts: bool = True) -> list[str]:
    forbidden = [str(home / "state"), str(home / "work/checkout")]
    made = grants(paths, home=str(home), forbidden=forbidden, owner=owner, own_mounts=own_mounts)
    assert all(bind.writable and bind.source == bind.target for bind in made)
    return [bind.source for bind in made]


REFUSED = {
    "/": "not the job's",
    "/tmp": "not the job's",
    "/home": "not the job's",
    "/usr": "system",
    "/etc/ssl": "system",
    "/proc/self": "link",
    "/dev": "system",
    "/run": "system",
    "~": "not the job's",
    "~/..": "not the job's",
    "~/work": "out of reach",
    "~/work/checkout": "out of reach",
    "~/work/checkout/sub": "out of reach",
    "~/state": "out of reach",
    "~/state/attempts": "out of reach",
    "~/.ssh": "in .ssh",
    "~/.ssh/below": "in .ssh",
    "~/keys": "holds .aws",
    "~/link": "by a link",
    "~/link/deep": "by a link",
    "~/file": "no directory",
    "~/nothing": "no directory",
    "~/served": "socket bus",
}


@pytest.mark.parametrize("path", REFUSED)
def test_what_must_not_be_granted(home: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "served")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("bus")
        asked = os.path.normpath(path.replace("~", str(home)))
        with pytest.raises(InvalidSpec) as caught:
            granted(home, str(home / "data"), asked)
    assert asked in caught.value.what and REFUSED[path] in caught.value.what, caught.value


def test_what_may_be_granted(home: Path) -> None:
    assert granted(home, str(home / "data"), str(home / "data/deep")) == [str(home / "data"), str(home / "data/deep")]
    if os.path.isdir("/dev/shm"):
        assert granted(home, "/dev/shm", own_mounts=False) == ["/dev/shm"]
        with pytest.raises(InvalidSpec, match="own at this level"):
            granted(home, "/dev/shm")


def test_the_jobs_user_must_be_able_to_write_there(home: Path) -> None:
    other = Owner(uid=OWN.uid + 4711, gid=OWN.gid + 4711)
    with pytest.raises(InvalidSpec, match=f"uid {other.uid}"):
        granted(home, str(home / "data"), owner=other)
    (home / "data").chmod(0o777)
    assert granted(home, str(home / "data"), owner=other) == [str(home / "data")]


def test_a_grant_that_became_something_else_ends_the_job(home: Path) -> None:
    made = grants([str(home / "data/deep")], home=str(home), forbidden=[], owner=OWN, own_mounts=True)
    assert list(unmoved(made)) == list(made)
    (home / "data/deep").rmdir()
    (home / "data/deep").symlink_to(home / ".ssh")
    with pytest.raises(SandboxError) as caught:
        unmoved(made)
    assert caught.value.reason == "environment_lost"
