"""What people see: every verdict and fact, and nothing an agent wrote can command the terminal."""

from __future__ import annotations

import io

import pytest
from msgspec.structs import replace

from inspan.interfaces.cli import text
from inspan.interfaces.cli.logs import tells
from inspan.interfaces.cli.present import ACTIONS, answer_digest, answer_lines, outcome_lines
from inspan.interfaces.cli.progress import Progress, event_line
from inspan.outcome.reasons import REASONS, Action
from inspan.outcome.records import (
    BackendRecord,
    Change,
    CheckResult,
    Claims,
    DeliveryRecord,
    EgressDecision,
    EgressRecord,
    Facets,
    FacetState,
    FileChange,
    IsolationRecord,
    Outcome,
    Usage,
    Violation,
)
from inspan.store.records import EventRow

EVIL = "\x1b[31mred\x1b]0;title\x07\x9b2J‮gpj.exe\r\n"


def outcome(reason: str = "verified", **more: object) -> Outcome:
    row = REASONS[reason]
    return Outcome(
        job="j1", verdict=row.verdict, reason=reason, reasons=(reason,), required_action=row.action, facets=Facets(),
        backend=BackendRecord(harness="bare", provider="rehearsal", model="any"), **more,
    )  # fmt: skip


def shown(one: Outcome) -> str:
    return "\n".join("".join(part for part, _ in line) for line in outcome_lines(one))


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_says_verdict_words_and_next_step(reason: str) -> None:
    lines = shown(outcome(reason))
    row = REASONS[reason]
    assert f"{row.verdict}  {reason}  j1" in lines and row.text in lines
    assert (row.action is Action.NONE) == ("  next " not in lines)
    assert "{job}" not in lines


def test_every_action_has_words() -> None:
    assert set(ACTIONS) == set(Action)


def test_everything_is_shown() -> None:
    one = outcome(
        "checks_failed",
        detail="the cause",
        rehearsal="cheat",
        change=Change(
            base="b" * 40, result="c" * 40, added=3, removed=1, files=tuple(FileChange(path=f"f{i}", status="added") for i in range(20))
        ),
        violations=(
            Violation(path="t.py", rule="assertion_relaxed", detail="why", lines=("- a", "+ b"), honest="it was wrong"),
            Violation(path="n.md", rule="noted", level="note"),
        ),
        checks=(
            CheckResult(
                name="unit", command="pytest -q", state=FacetState.FAILED, evidence="tests", base="failed", exit=1,
                seconds=1.25, counts={"passed": 2, "failed": 1}, digest="E   assert 1 == 2",
            ),
        ),
        usage=Usage(source="partial", requests=4, input=1200, output=30, cost_usd="0.02"),
        isolation=IsolationRecord(workspace="overlay", sandbox="sandbox", egress="gateway", proved=True),
        claims=Claims(summary="all done\nreally"),
        warnings=("uncommitted work was left out",),
        waivers=("unchecked",),
        artifacts={"patch": "sha256:x"},
    )  # fmt: skip
    lines = shown(replace(one, reasons=("checks_failed", "out_of_scope")))
    for fact in (
        "also        out_of_scope", "the cause", "cheat: a scripted model stood in", "20 files +3 -1", "and 8 more",
        "reject      assertion_relaxed t.py  why", "| - a", "innocent reading: it was wrong", "note        noted n.md",
        "unit failed  failed on base; tests; 2 passed, 1 failed; exit 1; 1.2 s  pytest -q", "E   assert 1 == 2",
        "4 requests, 1,200 in, cached unknown", "0.02 USD (incomplete)", "sandbox (proved), overlay, egress gateway",
        "it says     all done", "uncommitted work", "waived      unchecked", "nothing delivered; inspan diff j1",
    ):  # fmt: skip
        assert fact in lines, fact
    assert "really" not in lines


def test_what_was_reached() -> None:
    lines = [
        EgressDecision(host="a.example", port=443, decision="allowed", why="granted", count=2, sent=1200, received=34),
        EgressDecision(host="b.example", port=443, decision="refused", why="not_granted", count=3),
    ]
    agent = EgressRecord(granted=("a.example:443",), connections=9, decisions=tuple(lines), more=4)
    isolation = IsolationRecord(
        workspace="overlay", sandbox="sandbox", egress="granted", connections=agent,
        setup_connections=(EgressRecord(granted=("a.example:443",)),),
    )  # fmt: skip
    text = shown(outcome(isolation=isolation))
    assert "reached     agent: a.example:443 2 x, 1,200 bytes out, 34 in; 7 refused or failed" in text
    assert "reached     set-up: nothing\n" in text
    assert "reached" not in shown(outcome(isolation=IsolationRecord(sandbox="sandbox", egress="gateway")))


def test_where_the_result_is() -> None:
    branch = DeliveryRecord(kind="branch", ref="refs/heads/inspan/j1", commit="c")
    assert "result      branch inspan/j1" in shown(outcome(delivery=branch))
    assert "result      patch /x.patch" in shown(outcome(delivery=DeliveryRecord(kind="patch", path="/x.patch")))
    assert answer_digest(outcome("answered", artifacts={"answer": "sha256:a"})) == "sha256:a"
    assert answer_digest(outcome(artifacts={"answer": "sha256:a"})) is None


def test_nothing_an_agent_wrote_commands_the_terminal() -> None:
    one = outcome(
        "out_of_scope", detail=EVIL, rehearsal=EVIL, claims=Claims(summary="x" + EVIL), warnings=(EVIL,),
        contradictions=(EVIL,), change=Change(base="b", result="r", files=(FileChange(path=EVIL, status="added"),)),
        violations=(Violation(path=EVIL, rule="r", detail=EVIL, lines=(EVIL,), honest=EVIL),),
        checks=(CheckResult(name="u", command=EVIL, digest=EVIL),),
        delivery=DeliveryRecord(kind="patch", path=EVIL),
    )  # fmt: skip
    one = replace(one, backend=BackendRecord(harness="bare", provider="p", model="m", model_served=EVIL))
    lines = list(outcome_lines(one))
    lines += answer_lines(EVIL.encode())
    lines += [[("", ""), *event_line("j", EventRow(seq=0, at="", kind="harness", data={"kind": EVIL, "text": EVIL}))]]
    lines += [event_line("j", EventRow(seq=1, at="", kind="warning", data={"text": EVIL}))]
    for line in lines:
        for part, _ in line:
            assert all(c.isprintable() or c == "\t" for c in part), part
    assert "\x1b" in EVIL  # the control: the input could


def test_safe_keeps_what_people_write() -> None:
    assert text.safe("naïve ☃ 日本 a\tb\nc") == "naïve ☃ 日本 a\\tb\\nc"
    assert text.safe("a\tb\nc", lines=True) == "a\tb\nc"
    assert text.safe("\x1b\x7f\u202e\udcff") == "\\x1b\\x7f\\u202e\\udcff"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_only_where_it_is_wanted(
    variables: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        text.write([[("bad [x]", "bad"), (" plain", "")]], stream)
    assert ("\x1b[" in terminal.getvalue()) is coloured
    assert "bad [x]" in terminal.getvalue()
    assert pipe.getvalue() == "bad [x] plain\n"


def test_progress_in_a_pipe_is_plain_and_about_our_job_only() -> None:
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress("j1", EventRow(seq=1, at="", kind="queued", data={"backend": "a@b/c", "level": "none"}))
        progress("j2", EventRow(seq=1, at="", kind="warning", data={"text": "not ours"}))
        progress("j2", EventRow(seq=2, at="", kind="taken_over", data={}))
        progress("j1", EventRow(seq=0, at="", kind="harness", data={"kind": "text", "text": "chatter"}))
        progress("j1", EventRow(seq=2, at="", kind="unheard_of", data={"text": "x", "odd": [1]}))
        progress("j1", EventRow(seq=3, at="", kind="preparing", data={"base": None}))
    assert progress.job == "j1"
    assert stream.getvalue().splitlines() == [
        "queued j1 on a@b/c, level none", "going on with a job another command left", "unheard_of x",
        "preparing a workspace at none",
    ]  # fmt: skip


def test_progress_on_a_terminal_takes_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with Progress(terminal) as progress:
        progress("j1", EventRow(seq=1, at="", kind="queued", data={"backend": "a@b/[m]", "level": "none"}))
        progress("j1", EventRow(seq=2, at="", kind="warning", data={"text": "[/bold] [red]" + EVIL}))
        progress("j1", EventRow(seq=0, at="", kind="harness", data={"kind": "text", "text": "[/nothing] " + EVIL}))
    shown_text = terminal.getvalue()
    assert "[/bold] [red]" in shown_text and "a@b/[m]" in shown_text
    assert "\x1b]0;title" not in shown_text and "\x9b2J" not in shown_text


def test_seconds_and_counts() -> None:
    assert [text.seconds(s) for s in (0.04, 9.94, 12.4, 59.6, 200, 7500)] == [
        "0.0 s", "9.9 s", "12 s", "1 min 0 s", "3 min 20 s", "2 h 5 min",
    ]  # fmt: skip
    assert (text.count(1, "file"), text.count(1234, "file")) == ("1 file", "1,234 files")


def test_a_delivery_is_shown_with_where_it_went() -> None:
    for data, wanted in (({"kind": "branch", "ref": "refs/heads/inspan/j", "path": None}, "refs/heads/inspan/j"),
                         ({"kind": "patch", "ref": None, "path": "/x/j.patch"}, "/x/j.patch")):  # fmt: skip
        ((text, _),) = event_line("j", EventRow(seq=0, at="", kind="delivered", data=data))
        assert text == f"delivered: {data['kind']} {wanted}"


def test_logs_leave_out_what_says_nothing_to_a_person() -> None:
    def told(kind: str, said: str) -> bool:
        return tells(EventRow(seq=0, at="", kind="harness", data={"kind": kind, "text": said}))

    assert not told("usage", "") and not told("other", "")
    assert told("other", "words") and told("start", "") and told("tool_result", "")
    assert tells(EventRow(seq=1, at="", kind="usage", data={}))  # a stage of a job is never left out
