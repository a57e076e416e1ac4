"""What checks reach through base's files."""

from __future__ import annotations

import pytest

from inspan.gate.exit_evidence import runs_tests
from inspan.gate.reach import reached

FILES = {
    "Makefile": "include inc.cfg\n\nall: test\ntest: unit | lint\n\t@./ci/t\nunit:\n\tsh -c 'cd ci && ./u.sh'\nlint: ; ./ci/l.sh\nship:\n\t./ci/ship.sh\n",
    "ci/t": "#!/bin/sh\n# ./ci/never.sh\n. ci/env.sh\nexec ci/check.py\n",
    "ci/u.sh": "", "ci/l.sh": "", "ci/ship.sh": "", "ci/never.sh": "", "ci/env.sh": "", "ci/check.py": "import ci.x\n",
    "package.json": '{"scripts": {"test": "sh ci/t", "posttest": "ci/l.sh", "ship": "ci/ship.sh"}}',
    "link.sh": "link to ci/u.sh", "app.py": "",
}  # fmt: skip


def found(*commands: str) -> set[str]:
    read = lambda p: FILES[p].encode() if p in FILES else None  # noqa: E731
    return reached(commands, FILES.keys(), read) - {"Makefile"}


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("make test", {"inc.cfg", "ci/u.sh", "ci/l.sh", "ci/t", "ci/env.sh", "ci/check.py"}),
        ("make", {"inc.cfg", "ci/u.sh", "ci/l.sh", "ci/t", "ci/env.sh", "ci/check.py"}),
        ("make ship", {"inc.cfg", "ci/ship.sh"}),
        ("make -f Makefile unit", {"inc.cfg", "ci/u.sh"}),
        ("npm test", {"ci/t", "ci/env.sh", "ci/check.py", "ci/l.sh"}),
        ("npm run ship", {"ci/ship.sh"}),
        ("sh link.sh", {"link.sh", "ci/u.sh"}),
        ("cd ci && bash -euo pipefail u.sh", {"ci/u.sh"}),
        ("uv run ci/check.py", {"ci/check.py"}),
        ("python app.py", set()),
        ("pytest -q", set()),
        ("echo 'unclosed", set()),
    ],
)
def test_reached(command, paths):
    assert found(command) == paths


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("make test", True),
        ("cargo test", True),
        ("cd x && npm run lint && go test ./...", True),
        ("odd-program", True),
        ("echo 'unclosed", True),
        ("ruff check . && mypy src", False),
        ("npm run lint", False),
        ("cargo clippy -- -D warnings", False),
        ("go vet ./...", False),
        ("python -m mypy src", False),
    ],
)
def test_whether_a_command_runs_tests(command, answer):
    assert runs_tests(command) is answer
