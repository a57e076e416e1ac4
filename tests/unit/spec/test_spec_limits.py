"""The ``[limits]`` table."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspan.errors import InspanError, InvalidSpec
from inspan.spec.config import load
from inspan.spec.limits import LEAST, Limits, limits


def test_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = tmp_path / "config.toml"
    monkeypatch.setenv("INSPAN_CONFIG", str(user))
    user.write_text(
        '[limits]\nmemory = "16GiB"\nprocesses = 64\ncpus = 1.5\ncpu_seconds = 600\nworkspace_bytes = "none"\n'
    )
    found = load(None, environ={}).limits
    assert (found.memory, found.processes, found.cpus, found.cpu_seconds) == (16 << 30, 64, 1.5, 600)
    assert found.workspace_bytes is None and found.file_size == Limits().file_size


@pytest.mark.parametrize(
    ("table", "word"),
    [
        ({"memory": "16GB"}, "size like"), ({"memory": -1}, "size like"), ({"processes": "64"}, "number"),
        ({"processes": True}, "number"), ({"processes": 2}, "at least 16"), ({"memory": "1MiB"}, "at least"),
        ({"processes": 64.5}, "number"), ({"memroy": 1}, "memory"), ({"cpus": 0}, "number"), ([], "table"),
    ],
)  # fmt: skip
def test_what_is_refused(table: object, word: str) -> None:
    with pytest.raises(InspanError) as refused:
        limits(table, "here")
    assert word in f"{refused.value.what} {refused.value.do}"
    assert "here, [limits]" in (refused.value.where or "")


@given(
    st.dictionaries(
        st.sampled_from(Limits.__struct_fields__), st.one_of(st.none(), st.integers(), st.floats(), st.text())
    )
)
def test_anything_is_a_limit_or_refused(table: dict[str, object]) -> None:
    try:
        found = limits(table, "here")
    except InvalidSpec:
        return
    for key in table:
        value = getattr(found, key)
        assert value is None or value >= LEAST.get(key, 0) > -1
