"""Whatever is thrown at the decoders, they answer with a value or with an error that says what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspan.errors import UsageError
from inspan.routing.backend import parse_backend
from inspan.spec.config import KEYS
from inspan.spec.globs import Globs
from inspan.spec.job import Job
from inspan.spec.report import Report, decode_report, report_in
from inspan.spec.validate import decode_job, validated

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from(Job.__struct_fields__) | st.text(max_size=6)


@given(st.dictionaries(keys, values, max_size=6))
@settings(max_examples=150, deadline=None)
def test_a_job_or_a_usage_error(document: dict[str, Any]) -> None:
    try:
        job = decode_job({"prompt": "x", **document})
    except UsageError as error:
        assert error.what and error.do
    else:
        assert validated(job) == job
        assert json.loads(json.dumps(job.prompt))


@given(st.binary(max_size=60))
def test_bytes(data: bytes) -> None:
    with pytest.raises(UsageError):
        decode_job(data)
    assert decode_report(data) is None or isinstance(decode_report(data), Report)


@given(st.sampled_from(sorted(KEYS)), values)
@settings(max_examples=400, deadline=None)
def test_every_configuration_key_takes_or_refuses(key: str, value: Any) -> None:
    try:
        KEYS[key](value, "somewhere")
    except UsageError as error:
        assert error.what and error.do and "somewhere" in (error.where or "")


@given(st.text(max_size=40))
def test_backends_come_back_as_they_were_written(text: str) -> None:
    try:
        backend = parse_backend(text)
    except UsageError:
        return
    assert str(backend) == text


@given(st.text(alphabet="ab*?[]!/\\.-# \n", max_size=10), st.text(alphabet="ab*?[]!/.\n", min_size=1, max_size=10))
@settings(max_examples=500, deadline=None)
def test_globs_match_or_are_refused(pattern: str, path: str) -> None:
    try:
        globs = Globs([pattern])
    except UsageError as error:
        assert repr(pattern) in error.what
        return
    assert isinstance(globs.match(path), bool)


@given(st.text(max_size=200), st.text(alphabet="`~ inspan-report\n{}", max_size=60))
def test_messages_are_searched_for_reports(before: str, after: str) -> None:
    found = report_in(before + after)
    assert found is None or isinstance(found, Report)


@given(
    st.dictionaries(st.sampled_from(["completed", "blockers", "no_change_reason", "summary", "x"]), values, max_size=5)
)
@settings(max_examples=100, deadline=None)
def test_only_a_plain_true_or_nothing_counts_as_complete(document: dict[str, Any]) -> None:
    report = decode_report(json.dumps(document))
    assert report is not None
    if report.completed is not False and not report.blockers:
        assert document.get("completed") is None or document["completed"] is True
    if report.no_change_reason:
        assert isinstance(document["no_change_reason"], str)
