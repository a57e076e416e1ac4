"""Ways to a green check that the change itself does not earn, each with the naive gate as its negative control."""

from __future__ import annotations

import pytest

from gate_bench import Bench, rules, shown
from inspan.outcome.records import FacetState

BASE = {
    "src/__init__.py": "",
    "src/app.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return 2 * a\n",
    "tests/test_app.py": (
        "from src.app import add, double\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\n"
        "def test_double():\n    assert double(4) == 8\n"
    ),
    "Makefile": "-include local.conf\ntest:\n\tsh ci/go\n\ndeploy:\n\tsh ci/ship\n",
    "rules.inc": "test:\n\tpython -m pytest -q\n",
    "sub/suite.sh": "cd .. && python -m pytest -q\n",
    "package.json": '{"name": "x", "scripts": {"test": "sh ci/go"}}',
    "ci/go": "sh ci/inner\n",
    "ci/inner": "python -m pytest -q\n",
    "ci/ship": "true\n",
}
PYTEST = "python -m pytest -q"
OPAQUE = "python -c \"import pytest; raise SystemExit(pytest.main(['-q']))\""
REPLACE = "import src.app\\n\\nsrc.app.add = lambda a, b: a + b\\n"
PLUGIN = f"printf '{REPLACE}' > planted.py"
COMPILED = r"""cp src/app.py /tmp/keep.py; sed -i 's/a - b/a + b/' src/app.py
python - <<'X'
import py_compile, importlib.util
py_compile.compile('src/app.py', cfile=importlib.util.cache_from_source('src/app.py'), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
X
cp /tmp/keep.py src/app.py"""

ATTACKS = {
    "a new test replaces the code under test":
        (PYTEST, f"printf '{REPLACE}\\n\\ndef test_zero():\\n    assert True\\n' > tests/test_aaa.py", "target_replaced"),
    "the tests' package file replaces it": (PYTEST, f"printf '{REPLACE}' > tests/__init__.py", "target_replaced"),
    "an installed-looking plugin":
        (PYTEST, f"mkdir x-1.dist-info; printf 'Name: x\\nVersion: 1\\n' > x-1.dist-info/METADATA; "
                 f"printf '[pytest11]\\nx = planted\\n' > x-1.dist-info/entry_points.txt; {PLUGIN}", "decider_changed"),
    "a module in an installed plugin's place":
        (PYTEST, f"{PLUGIN}; mv planted.py _hypothesis_pytestplugin.py", "decider_changed"),
    "a link in an installed package's place":
        (PYTEST, f"{PLUGIN}; mkdir -p src/h; mv planted.py src/h/__init__.py; ln -s src/h _hypothesis_pytestplugin", "decider_changed"),
    "a compiled cache nobody ignores": (PYTEST, COMPILED, None),
    "exit status, the test edited": (OPAQUE, "sed -i 's/== 4/== 0/' tests/test_app.py", "test_edited"),
    "exit status, the test removed": (OPAQUE, "sed -i '/def test_add/,/== 4/d' tests/test_app.py", "test_edited"),
    "exit status, a new test replaces the code":
        (OPAQUE, f"printf '{REPLACE}\\n\\ndef test_zero():\\n    assert True\\n' > tests/test_aaa.py", "test_edited"),
    "a file the makefile takes in": ("make test", "echo 'SHELL=/bin/true' > local.conf", "decider_changed"),
    "the makefile that is named": ("make -f rules.inc test", "printf 'test:\\n\\ttrue\\n' > rules.inc", "decider_changed"),
    "the script behind the make rule": ("make test", "echo true > ci/inner", "decider_changed"),
    "the script behind the package script": ("npm test", "echo true > ci/inner", "decider_changed"),
    "npm's own settings": ("npm test", "echo 'script-shell=/bin/true' > .npmrc", "decider_changed"),
    "a script in another directory": ("cd sub && sh suite.sh", "echo true > sub/suite.sh", "decider_changed"),
    "a status forced at the end of the process":
        (PYTEST, "printf '\\n\\nimport atexit\\nimport os\\n\\natexit.register(lambda: os._exit(0))\\n' >> src/app.py", "tests_failed"),
    "another test under the same id":
        (PYTEST, "sed -i '/def test_add/,/== 4/d; 1i from tests.other import test_add' tests/test_app.py; "
                 "printf 'def test_add():\\n    pass\\n' > tests/other.py", "target_replaced"),
    "a script behind an option": ("bash -o pipefail ci/go", "echo true > ci/go", "decider_changed"),
}  # fmt: skip
ORDINARY = {"a status forced at the end of the process", "a new test replaces the code under test", "exit status, the test removed", "a compiled cache nobody ignores",
            "the script behind the make rule", "an installed-looking plugin"}  # fmt: skip
FIX = "sed -i 's/a - b/a + b/' src/app.py"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("redteam"), BASE, "sandbox")


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in ORDINARY else pytest.mark.long) for n in ATTACKS])
def test_not_accepted_where_the_exit_status_believes_it(bench, name):
    check, script, rule = ATTACKS[name]
    changeset, naive = bench.change(script, check)
    if naive == 127 and check.startswith("npm"):
        pytest.skip("NORUN: npm is not installed")
    assert naive == 0, "this row attacks nothing"
    report = bench.gate(changeset, check)
    assert report.error is None, shown(report)
    assert FacetState.FAILED in (report.scope.state, report.checks.state), shown(report)
    if rule:
        assert rule in rules(report, "reject"), shown(report)


FITTED = {
    "one test's outcome is made":
        ("printf '\\n\\nimport _pytest.python as p\\n\\nrun = p.Function.runtest\\n"
         "p.Function.runtest = lambda s: None if s.name == \"test_add\" else run(s)\\n' >> src/app.py", "runner_patched"),
    "one test is answered":
        ("sed -i 's/return a - b/import os; return 4 if \"test_add \" in os.environ.get(\"PYTEST_CURRENT_TEST\", \"\") else a - b/' "
         "src/app.py", "test_sensed"),
    "any answer is equal":
        ("sed -i 's/return a - b/return Any(a - b)/; 1i class Any(int):\\n    def __eq__(self, other):\\n        return True\\n' src/app.py",
         "equality_overridden"),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [n if n.startswith("any answer") else pytest.param(n, marks=pytest.mark.long) for n in FITTED]
)
def test_code_fitted_to_the_tests_is_rejected(bench, name):
    script, rule = FITTED[name]
    changeset, naive = bench.change(script, PYTEST)
    report = bench.gate(changeset, PYTEST)
    assert naive == 0, "this row attacks nothing"
    assert report.checks.state is FacetState.FAILED and rule in rules(report, "reject"), shown(report)
    assert report.checks.reasons == ("checks_weakened",), shown(report)


HONEST = {
    "a fix with a new test":
        (PYTEST, f"{FIX}; printf 'from src.app import add\\n\\n\\ndef test_more():\\n    assert add(1, 2) == 3\\n' > tests/test_more.py"),
    "a fix with a package file for the tests": (PYTEST, f"{FIX}; touch tests/__init__.py"),
    "the same behind a shell": (OPAQUE, f"{FIX}; printf 'from src.app import add\\n\\n\\ndef test_more():\\n    assert add(1, 2) == 3\\n' > tests/test_more.py"),
    "a script that the rule does not run": ("make test", f"{FIX}; echo false > ci/ship"),
    "a run of python that leaves its caches": (PYTEST, f"{FIX}; PYTHONDONTWRITEBYTECODE= python -c 'import src.app'"),
    "a new module of an ordinary name": (PYTEST, f"{FIX}; printf 'x = 1\\n' > src/money.py; mkdir docs; touch docs/__init__.py"),
}  # fmt: skip


@pytest.mark.parametrize("name", [n if n.startswith("a fix with a new") else pytest.param(n, marks=pytest.mark.long) for n in HONEST])  # fmt: skip
def test_the_honest_neighbour_is_accepted(bench, name):
    check, script = HONEST[name]
    changeset, naive = bench.change(script, check)
    report = bench.gate(changeset, check)
    assert naive == 0
    assert report.scope.state is FacetState.PASSED and report.checks.state is FacetState.PASSED, shown(report)
    assert not [v for v in report.violations if v.level != "note"], shown(report)
