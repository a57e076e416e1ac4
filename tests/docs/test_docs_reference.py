"""The reference and the code name the same things: every word in both, and none in one alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import click
import msgspec
import pytest

from inspan.interfaces.cli.entry import cli
from inspan.interfaces.cli.exits import EXIT, USAGE
from inspan.interfaces.cli.present import ACTIONS, MARKS
from inspan.interfaces.cli.verbs import VERBS
from inspan.interfaces.garbage.found import Class
from inspan.outcome.reasons import REASONS, Action, Facet, Verdict
from inspan.outcome.records import EGRESS_WHY, EgressDecision, EgressRecord, FacetState, Outcome
from inspan.provider.registry import BUILT_IN
from inspan.sandbox.contract import EGRESS_PORT
from inspan.sandbox.environment import proxy_variables
from inspan.spec.backends import BackendTable, EgressTable
from inspan.spec.config import ENVIRONMENT, KEYS, OTHER_VARIABLES, REPOSITORY_KEYS
from inspan.spec.limits import Limits, limits
from inspan.spec.tables import WIRES, GcTable, ProviderTable

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


def section(name: str, title: str) -> str:
    """The text below a heading that begins with ``title``, up to the next of its level."""
    found = re.search(rf"^## {re.escape(title)}[^\n]*\n(.*?)(?=^## |\Z)", page(name), re.MULTILINE | re.DOTALL)
    assert found, f"{name}.md has no section {title!r}"
    return found[1]


def first_cells(text: str) -> list[str]:
    """Code words of the first column of every table row."""
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ") and not line.startswith("|---")]
    return [word for cell in rows for word in re.findall(r"`([^`]+)`", cell)]


def test_reasons() -> None:
    text = section("outcome", "Reasons")
    assert first_cells(text) == sorted(REASONS, key=lambda w: REASONS[w].rank)
    for word, row in REASONS.items():
        line = f"| `{word}` | `{row.verdict}` | `{row.action}` | {row.facet or 'none'} | {row.text} |"
        assert line in text
    print(f"{len(REASONS)} reasons")


def test_verdicts_facets_and_actions() -> None:
    assert set(first_cells(section("outcome", "Verdicts"))) == set(Verdict) == set(EXIT) == set(MARKS)
    for verdict, status in EXIT.items():
        assert re.search(rf"^\| `{verdict}` \|.*\| {status} \|$", page("outcome"), re.MULTILINE)
    facets = section("outcome", "Facets")
    assert all(f"`{word}`" in facets for word in [*Facet, *FacetState])
    assert set(first_cells(section("outcome", "Required actions"))) == set(Action) == set(ACTIONS)


def test_fields_of_the_outcome() -> None:
    fields = {f.encode_name for f in msgspec.structs.fields(Outcome)}
    assert set(first_cells(section("outcome", "Fields"))) == fields


def test_why_the_egress_proxy_decided() -> None:
    text = section("outcome", "Connections")
    fields = {*EgressRecord.__struct_fields__, *EgressDecision.__struct_fields__}
    assert fields | {*EGRESS_WHY} <= set(re.findall(r"`([a-z_]+)`", text))
    assert all(f"| `{word}` | {meaning} |" in text for word, meaning in EGRESS_WHY.items())


def test_exit_statuses() -> None:
    found = re.findall(r"^\| (\d+) \|", section("cli", "Exit statuses"), re.MULTILINE)
    assert {int(n) for n in found} == {*EXIT.values(), USAGE}


def _flags(command: click.Command) -> set[str]:
    options = [p for p in command.params if isinstance(p, click.Option)]
    return {o for p in options for o in p.opts} - {"--help"}


def _command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def test_verbs() -> None:
    named = re.findall(r"^## `inspan ([a-z]+)", page("cli"), re.MULTILINE)
    assert named == list(VERBS)
    for name, verb in VERBS.items():
        command = _command(name)
        assert command.name == name and command.short_help in (verb.text, "List or install harness programs.")


@pytest.mark.parametrize("name", VERBS)
def test_flags(name: str) -> None:
    command = _command(name)
    expected = _flags(command)
    if isinstance(command, click.Group):
        expected = set().union(*(_flags(sub) for sub in command.commands.values()))
        assert all(f"`inspan {name} {sub}" in page("cli") for sub in command.commands)
    text = section("cli", f"`inspan {name}")
    documented = {word.split()[0] for word in first_cells(text)}
    assert documented == expected


def test_configuration_keys() -> None:
    text = section("configuration", "Keys")
    assert set(first_cells(text)) == set(KEYS)
    for line in text.splitlines():
        words = re.findall(r"`([a-z_]+)`", line.split("|")[1]) if line.startswith("| `") else []
        for key in words:
            assert line.split("|")[2].strip() == ("yes" if key in REPOSITORY_KEYS else "no"), key
    assert set(first_cells(section("configuration", "Environment"))) == {*ENVIRONMENT, *OTHER_VARIABLES}


def test_keys_of_egress() -> None:
    fields = {*BackendTable.__struct_fields__, *EgressTable.__struct_fields__}
    text = section("configuration", "Egress")
    assert set(first_cells(text)) == fields
    assert all(f"`{name}`" in text for name in proxy_variables(EGRESS_PORT) if name != "no_proxy")


def test_provider_keys_and_names() -> None:
    text = section("configuration", "Providers of one's own")
    assert set(first_cells(text)) == set(ProviderTable.__struct_fields__)
    shipped = text[text.index("Shipped:") :]
    assert all(f"`{name}`" in shipped for name in BUILT_IN)
    assert all(f"`{p.credential_env}`" in shipped for p in BUILT_IN.values() if p.credential_env)
    assert all(f"`{wire}`" in text for wire in WIRES)


def test_globs_of_the_reference_do_what_it_says() -> None:
    from inspan.spec.globs import Globs

    for glob in first_cells(section("configuration", "Globs")):
        Globs([glob])
    assert all(Globs(["a/**/b"]).match(path) for path in ("a/b", "a/x/b", "a/x/y/b"))


def test_control_a_missing_word_is_seen() -> None:
    text = section("outcome", "Reasons").replace("| `verified` |", "| verified |")
    assert set(first_cells(text)) != set(REASONS)


def test_collection() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \|", section("gc", "Classes"), re.MULTILINE)
    assert rows == list(get_args(Class))
    times = re.findall(r'^\| `([a-z]+)` \| `"(\d+)([smhd])"` \|', section("gc", "Times"), re.MULTILINE)
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    assert {key: int(n) * units[unit] for key, n, unit in times} == msgspec.structs.asdict(GcTable())


def test_limits() -> None:
    """Every limit with the default it has, in the words of the file."""
    rows = re.findall(r"^\| `([a-z_]+)` \| `([^`]+)` \|", section("configuration", "Limits"), re.MULTILINE)
    written = {key: (value.strip('"') if '"' in value else int(value)) for key, value in rows}
    assert list(written) == list(Limits.__struct_fields__)
    assert limits(written, "the reference") == Limits()
