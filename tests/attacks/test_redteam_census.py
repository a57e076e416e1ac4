"""A recorded tree whose namespace number the kernel has given to somebody else: they are nobody's to kill."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator

import msgspec
import pytest

from inspan.attempt import census


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process tree in a pid namespace of its own."""
    process = subprocess.Popen(
        ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "sleep", "60"]
    )
    end = time.monotonic() + 10
    while time.monotonic() < end and process.poll() is None:
        below = census.descendants(process.pid)
        if below and census.namespace(below[0]) not in (None, census.namespace(os.getpid())):
            break
        time.sleep(0.02)
    if process.poll() is not None:
        pytest.skip("NORUN: no pid namespaces here")
    yield process
    process.kill()
    process.wait()


def test_a_reused_namespace_number_is_not_the_tree(stranger: subprocess.Popen[bytes]) -> None:
    tree = census.describe(stranger.pid)
    assert tree.pid_namespace is not None and set(census.alive(tree)) >= {
        stranger.pid,
        *census.descendants(stranger.pid),
    }
    gone = msgspec.structs.replace(tree, pid=1 << 22, start=1, namespace_start=(tree.namespace_start or 0) - 100)
    assert census.alive(gone) == []
    assert census.end(gone, patience=0.2) == [] and stranger.poll() is None
    orphaned = msgspec.structs.replace(tree, pid=1 << 22, start=1)  # only the outermost process is gone
    assert census.alive(orphaned) == census.descendants(stranger.pid)
