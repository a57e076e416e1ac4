"""D1: later commits, other branches and what was amended away cannot be read inside, by id or by search."""

from __future__ import annotations

import pytest

from gate_bench import Bench, git, write


@pytest.mark.parametrize("kind", ["overlay", "clone"])
def test_what_the_base_cannot_reach_is_not_readable(tmp_path, kind):
    bench = Bench(tmp_path, {"app.py": "x = 1\n"}, "sandbox")
    if kind == "overlay" and bench.kind != "overlay":
        pytest.skip("NORUN: no overlay workspaces here")
    bench.kind = kind
    base = git(bench.checkout, "rev-parse", "HEAD")
    git(bench.checkout, "checkout", "-q", "-b", "solution")
    write(bench.checkout, {"app.py": "x = 'the answer'\n"})
    git(bench.checkout, "commit", "-q", "-am", "solve it")
    git(bench.checkout, "commit", "-q", "--amend", "-m", "solve it better")
    ids = [git(bench.checkout, "rev-parse", name) for name in ("HEAD", "HEAD:app.py", "HEAD@{1}", "HEAD^{tree}")]
    git(bench.checkout, "checkout", "-q", "main")
    for one in ids:
        git(bench.checkout, "cat-file", "-e", one)  # the control: the checkout has them all
    looks = "\n".join(f"if git cat-file -e {one}; then echo {one} >> found; fi" for one in ids)
    script = f"""git cat-file -e {base}
git log --oneline | grep -q base
{looks}
git log --all -S answer --oneline >> found 2>/dev/null
git fsck --lost-found 2>/dev/null | grep dangling >> found || true
grep -rl 'the answer' . "$HOME" /run/inspan 2>/dev/null > /tmp/seen || true
grep -v found /tmp/seen >> found || true
git cat-file --batch-all-objects --batch-check | grep -c . > counted"""
    changeset, _ = bench.change(script)
    files = {f.path for f in changeset.change.files}
    assert files == {"found", "counted"}
    text = bench.context(changeset).git().run("cat-file", "blob", f"{changeset.result}:found")
    assert text == b"", text
    counted = bench.context(changeset).git().run("cat-file", "blob", f"{changeset.result}:counted")
    assert int(counted) >= 3, "the base's own objects are there"
