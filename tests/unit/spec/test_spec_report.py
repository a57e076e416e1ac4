"""A report is a claim: read leniently where it hurts the agent, strictly where it would help."""

from __future__ import annotations

import json

import pytest

from inspan.spec.report import LARGEST, Report, decode_report, report_in


def test_whole() -> None:
    document = {
        "schema": "inspan.report/1", "completed": True, "summary": " done ", "blockers": [], "no_change_reason": None,
        "notes_for_next": "n", "pr_url": "https://example.invalid/1",
    }  # fmt: skip
    report = decode_report(json.dumps(document))
    assert report == Report(completed=True, summary="done", notes_for_next="n", pr_url="https://example.invalid/1")


@pytest.mark.parametrize(
    "document",
    [
        {"completed": False}, {"completed": "yes"}, {"completed": 1}, {"completed": True, "blockers": ["x"]},
        {"blockers": "no network"}, {"blockers": {"a": 1}}, {"blockers": [1]},
    ],
)  # fmt: skip
def test_counts_against_completion(document: dict) -> None:
    report = decode_report(json.dumps(document))
    assert report is not None and (report.completed is False or report.blockers)


@pytest.mark.parametrize(
    "document", [{}, {"blockers": []}, {"blockers": [""]}, {"blockers": None}, {"completed": None}]
)
def test_says_nothing(document: dict) -> None:
    report = decode_report(json.dumps(document))
    assert report is not None and report.completed is None and not report.blockers and report.no_change_reason is None


@pytest.mark.parametrize("value", ["", "  ", True, 1, ["because"], {"why": "x"}, None])
def test_a_declaration_is_text_or_nothing(value: object) -> None:
    report = decode_report(json.dumps({"no_change_reason": value}))
    assert report is not None and report.no_change_reason is None


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"schema":"inspan.report/2"}', b"[" * 50_000, b'{"summary":"' + b"x" * LARGEST + b'"}'],
)  # fmt: skip
def test_no_report(data: bytes) -> None:
    assert decode_report(data) is None


def test_unknown_keys_are_noted() -> None:
    report = decode_report('{"complete": true}')
    assert report is not None and report.problems == ("unknown key 'complete'",)


def fenced(body: str, fence: str = "```") -> str:
    return f"{fence}inspan-report\n{body}\n{fence}\n"


def test_the_last_block_of_a_message_counts() -> None:
    text = "first\n" + fenced('{"summary": "one"}') + "then\n" + fenced('{"summary": "two"}') + "end\n"
    report = report_in(text)
    assert report is not None and report.summary == "two"
    assert report_in(text + fenced("{broken")) is None
    assert report_in("```json\n{}\n```") is None
    assert report_in("no block ```inspan-report {} ```") is None
    assert report_in("```inspan-report\n{}") is None
    tilde = report_in(fenced('{"summary": "t"}', "~~~~"))
    assert tilde is not None and tilde.summary == "t"
    windows = report_in("```inspan-report\r\n{}\r\n```\r\n")
    assert windows == Report()
