"""What the user's own configuration grants, and that nobody else's does."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspan.errors import InvalidSpec, UnknownName
from inspan.spec.config import load
from inspan.spec.job import Job
from inspan.spec.paths import user_config
from inspan.spec.validate import validated

GRANTS = """
[backends."claude-code@anthropic/m"]
egress = ["Index.Example.:443", "index.example:443"]
[egress]
private = ["127.0.0.1:9999", "Registry.corp.example:443"]
"""


def test_grants_are_read_in_normal_form(tmp_path: Path) -> None:
    user_config().write_text(GRANTS)
    found = load(None, environ={})
    assert {name: row.egress for name, row in found.backends.items()} == {
        "claude-code@anthropic/m": ("index.example:443",)
    }
    assert found.egress.private == ("127.0.0.1:9999", "registry.corp.example:443")
    assert load(None, environ={}).origins["egress"] == str(user_config())


@pytest.mark.parametrize(
    "text",
    [
        '[backends.x]\negress = ["index.example:443"]',
        '[backends."a@b/c"]\negress = ["index.example"]',
        '[backends."a@b/c"]\negress = "index.example:443"',
        '[backends."a@b/c"]\negres = []',
        "backends = []",
        '[egress]\nprivate = ["*:443"]',
        "[egress]\npublic = []",
        'egress = ["index.example:443"]',
    ],
)
def test_what_is_no_grant_is_refused(text: str) -> None:
    user_config().write_text(text)
    with pytest.raises(InvalidSpec) as caught:
        load(None, environ={})
    assert str(user_config()) in str(caught.value)


@pytest.mark.parametrize(
    "table", ['[backends."a@b/c"]\negress = ["index.example:443"]', '[egress]\nprivate = ["a.org:1"]']
)
def test_the_repository_grants_nothing(table: str, tmp_path: Path) -> None:
    (tmp_path / "inspan.toml").write_text(table)
    with pytest.raises(InvalidSpec, match="the repository's file may not set"):
        load(str(tmp_path), environ={})


def test_a_jobs_grants_are_normalised() -> None:
    assert validated(Job(prompt="p", egress=("A.org.:1", "a.org:1", "127.0.0.1:2"))).egress == (
        "a.org:1",
        "127.0.0.1:2",
    )
    with pytest.raises(InvalidSpec, match="wildcards"):
        validated(Job(prompt="p", egress=("*.org:1",)))


def test_a_backend_demands_a_level_that_there_is(tmp_path: Path) -> None:
    user_config().write_text('[backends."a@b/c"]\nmin_sandbox = "landlock"\n')
    assert load(None, environ={}).backends["a@b/c"].min_sandbox == "landlock"
    user_config().write_text('[backends."a@b/c"]\nmin_sandbox = "sandbx"\n')
    with pytest.raises(UnknownName, match="'sandbox'"):
        load(None, environ={})
