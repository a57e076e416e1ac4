"""Synthetic repositories of any size, and what a workspace costs in time and on disk."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@x",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@x",
}


def git(repo: Path, *arguments: str, input: bytes | None = None) -> str:
    """Run git as a user would."""
    done = subprocess.run(
        ["git", "-C", repo, *arguments], env=ENVIRONMENT, input=input, capture_output=True, check=True
    )
    return done.stdout.decode()


def milliseconds(action: Callable[[], Any]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def megabytes(directory: Path) -> float:
    """Disk blocks below a directory, in MB."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for here, directories, files in os.walk(directory):
        for name in directories + files:
            st = os.lstat(os.path.join(here, name))
            if (st.st_dev, st.st_ino) not in seen:
                seen.add((st.st_dev, st.st_ino))
                total += st.st_blocks * 512
    return round(total / 1e6, 3)


@contextmanager
def desk() -> Iterator[Path]:
    """A scratch directory on the disk temporary files are on."""
    place = Path(tempfile.mkdtemp(prefix="inspan-bench-", dir=os.environ.get("INSPAN_BENCH_DIR")))
    try:
        yield place
    finally:
        shutil.rmtree(place)


def synthetic(place: Path, files: int) -> Path:
    """A packed repository of ``files`` files, twelve a directory, log-normal sizes (about 6 KB mean), at ``HEAD~1``.

    ``HEAD`` changes ten of them. The work tree is empty but for ``.git``.
    """
    chance = random.Random(files)
    words = [bytes(chance.choices(b"abcdefghijklmnopqrstuvwxyz_", k=chance.randint(2, 11))) for _ in range(3000)]
    text = b"".join(
        b"    " * chance.randint(0, 3) + b" ".join(chance.choices(words, k=7)) + b"\n" for _ in range(12000)
    )
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    names = [f"src/p{i // 12 % 23:02}/d{i // 12:05}/f{i:06}.py" for i in range(files)]
    importer = subprocess.Popen(
        ["git", "-C", place, "fast-import", "--quiet", "--done"], env=ENVIRONMENT, stdin=subprocess.PIPE
    )
    stream = importer.stdin
    assert stream is not None
    for commit, chosen in (("base", names), ("next", chance.sample(names, 10))):
        stream.write(b"commit refs/heads/main\ncommitter a <a@x> 1700000000 +0000\ndata 4\n" + commit.encode() + b"\n")
        for name in chosen:
            size = int(min(chance.lognormvariate(7.9, 1.3), 300000)) + 40
            start = chance.randrange(0, len(text) - 1)
            body = (f"# {commit} {name}\n".encode() + text[start:] + text * (size // len(text)))[:size]
            stream.write(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(body), body))
    stream.write(b"done\n")
    stream.close()
    assert importer.wait() == 0
    git(place, "repack", "-adq")
    git(place, "read-tree", "HEAD")
    return place
