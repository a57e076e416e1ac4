"""A project with an editable install in ``.venv`` of the checkout: the code that is judged is the result, never the
checkout's own, and where that cannot be had nothing is accepted.

Broken code must be rejected and right code accepted in the sandbox, where the workspace stands at the checkout's path.
At level ``none`` it cannot stand there, so neither is evidence of anything.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

import pytest
from runs import branches, checkout_digest, environment, inspan, make_repository, nothing_left, run

from inspan.sandbox.levels import probe

PYPROJECT = """[project]
name = "pkg"
version = "1"

[build-system]
requires = ["{requires}"]
build-backend = "{backend}"
{more}"""
BROKEN_BASE = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
TEST = """import unittest

import pkg


class Add(unittest.TestCase):
    def test_add(self):
        self.assertEqual(pkg.add(2, 3), 5)

    def test_zero(self):
        self.assertEqual(pkg.add(0, 0), 0)
"""
MORE = "\n    def test_negative(self):\n        self.assertEqual(pkg.add(-1, -1), -2)\n"
UNIT = "python -m unittest discover -q -s tests"
FINDER = """import importlib.machinery, importlib.util, sys
MAPPING = {{"pkg": "{root}/src/pkg/__init__.py"}}


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, MAPPING[name]) if name in MAPPING else None


def install():
    sys.meta_path.append(Finder)
"""


class Project(NamedTuple):
    """A checkout, and the environment of a person who activated its ``.venv``."""

    root: Path
    env: dict[str, str]


def _venv(root: Path, *options: str) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", *options, root / ".venv"], check=True)
    (packages,) = (root / ".venv/lib").glob("python3*/site-packages")
    return packages


def _path_file(root: Path) -> None:
    (_venv(root, "--without-pip") / "__editable__.pkg-1.pth").write_text(f"{root}/src\n")


def _finder(root: Path) -> None:
    packages = _venv(root, "--without-pip")
    (packages / "__editable___pkg_1_finder.py").write_text(FINDER.format(root=root))
    (packages / "__editable__.pkg-1.pth").write_text("import __editable___pkg_1_finder as f; f.install()\n")


def _link(root: Path) -> None:
    (_venv(root, "--without-pip") / "pkg").symlink_to(root / "src/pkg")


def _pip(root: Path) -> None:
    """``pip install --no-build-isolation -e .``, with whichever build backend this interpreter has."""
    packages = _venv(root)
    (packages / "backend.pth").write_text(sysconfig.get_path("purelib") + "\n")
    probe_for = "import importlib.util as u, sys; sys.exit(not all(u.find_spec(n) for n in sys.argv[1:]))"
    python = root / ".venv/bin/python"
    for requires, modules, backend, more in (
        ("setuptools", ["setuptools", "wheel"], "setuptools.build_meta", ""),
        ("hatchling", ["hatchling", "editables"], "hatchling.build",
         '\n[tool.hatch.build.targets.wheel]\npackages = ["src/pkg"]\n'),
    ):  # fmt: skip
        if subprocess.run([python, "-c", probe_for, *modules], check=False).returncode == 0:
            (root / "pyproject.toml").write_text(PYPROJECT.format(requires=requires, backend=backend, more=more))
            break
    else:
        pytest.skip("NORUN: no build backend for an editable install without a network")
    argv = [python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-e", "."]
    done = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (packages / "backend.pth").unlink()


FORMS = {"path-file": _path_file, "finder": _finder, "link": _link, "pip": _pip}


def make_project(tmp_path: Path, form: str = "path-file") -> Project:
    root = tmp_path / "project"
    (root / "src/pkg").mkdir(parents=True)
    (root / "src/pkg/__init__.py").write_text(RIGHT)
    FORMS[form](root)
    make_repository(
        root,
        {"src/pkg/__init__.py": BROKEN_BASE, "tests/test_pkg.py": TEST, ".gitignore": ".venv/\n*.pyc\n__pycache__/\n*.egg-info/\n"},
    )  # fmt: skip
    env = environment()
    return Project(root, env | {"PATH": os.pathsep.join([str(root / ".venv/bin"), env["PATH"]])})


def scenario(tmp_path: Path, **files: str) -> str:
    """Writes each file: ``pkg`` the code, ``test`` the test."""
    names = {"pkg": "src/pkg/__init__.py", "test": "tests/test_pkg.py"}
    steps = [f'  - write: {{path: {names[k]}, content: "{v}"}}'.replace("\n", "\\n") for k, v in files.items()]
    path = tmp_path / "scenario.yaml"
    path.write_text("\n".join(["schema: inspan.rehearsal/1", "steps:", *steps, "  - say: done"]) + "\n")
    return str(path)


def judge(project: Project, tmp_path: Path, level: str, *more: str, check: str = UNIT, **files: str):
    """One job, with everything that must hold of the machine afterwards."""
    before = checkout_digest(project.root)
    result = run(
        "work on add", "--repo", str(project.root), "--backend", "bare@rehearsal/any", "--sandbox", level,
        "--rehearse", scenario(tmp_path, **files), "--check", f"unit={check}", *more, env=project.env,
    )  # fmt: skip
    assert checkout_digest(project.root) == before, "the user's checkout was touched"
    assert nothing_left(Path(os.environ["INSPAN_HOME"])) == []
    return result.document


def confined(tmp_path: Path) -> None:
    proof = probe("sandbox", str(tmp_path))
    if not proof.available:
        pytest.skip(f"NORUN: no sandbox here: {proof.detail}")


def verdict(outcome: dict) -> tuple[str, str]:
    return outcome["verdict"], outcome["reason"]


WRONG = RIGHT.replace("a + b", "a + b + 1")


@pytest.mark.parametrize(
    "form", ["path-file", *(pytest.param(f, marks=pytest.mark.long) for f in ("finder", "link", "pip"))]
)
def test_in_the_sandbox_the_result_is_tested(tmp_path: Path, form: str) -> None:
    confined(tmp_path)
    project = make_project(tmp_path, form)
    right = judge(project, tmp_path, "sandbox", pkg=RIGHT)
    assert verdict(right) == ("accepted", "verified"), right
    check = right["checks"][0]
    assert (check["evidence"], check["base"], check["counts"]) == ("tests", "failed", {"passed": 2}), right
    broken = judge(project, tmp_path, "sandbox", pkg=WRONG)
    assert verdict(broken) == ("rejected", "checks_failed"), broken
    assert branches(project.root) == [f"refs/heads/inspan/{right['job']}"]


@pytest.mark.parametrize(
    "form", ["path-file", *(pytest.param(f, marks=pytest.mark.long) for f in ("finder", "link", "pip"))]
)
def test_at_level_none_neither_is_evidence(tmp_path: Path, form: str) -> None:
    """The checkout is right, the result is broken: what the environment imports is the checkout."""
    project = make_project(tmp_path, form)
    (project.root / "src/pkg/__init__.py").write_text(RIGHT)
    subprocess.run(["git", "commit", "-qam", "right"], cwd=project.root, check=True)
    assert naive(project, tmp_path, WRONG) == 0, "the naive way sees that the code is broken: nothing is shown here"
    for code in (WRONG, "def add(a, b):\n    return b + a\n"):
        outcome = judge(project, tmp_path, "none", pkg=code)
        assert verdict(outcome) == ("unverified", "tests_other_tree"), outcome
        assert outcome["checks"][0]["state"] == "not_evidenced"
        held = [v for v in outcome["violations"] if v["level"] == "hold"]
        assert held and all(str(project.root / ".venv") in v["detail"] for v in held), outcome


def naive(project: Project, tmp_path: Path, code: str) -> int:
    """The naive way: a clone elsewhere, the agent's change in it, and the person's own environment."""
    clone = tmp_path / "naive"
    subprocess.run(["git", "clone", "-q", str(project.root), str(clone)], check=True)
    (clone / "src/pkg/__init__.py").write_text(code)
    argv = ["sh", "-c", UNIT]
    return subprocess.run(argv, cwd=clone, env=project.env, capture_output=True, check=False).returncode


@pytest.mark.parametrize(
    "command",
    [
        "{root}/.venv/bin/" + UNIT,
        pytest.param(". {root}/.venv/bin/activate && " + UNIT, marks=pytest.mark.long),
        pytest.param("PYTHONPATH={root}/src python3 -m unittest discover -q -s tests", marks=pytest.mark.long),
        pytest.param("cd {root} && PYTHONPATH=src python3 -m unittest discover -q -s tests", marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_at_level_none_a_command_that_leads_to_the_checkout_is_no_evidence(tmp_path: Path, command: str) -> None:
    project = make_project(tmp_path)
    (project.root / "src/pkg/__init__.py").write_text(RIGHT)
    subprocess.run(["git", "commit", "-qam", "right"], cwd=project.root, check=True)
    project = project._replace(env=environment())  # nobody activated it: only the command names it
    outcome = judge(project, tmp_path, "none", check=command.format(root=project.root), pkg=WRONG)
    assert verdict(outcome) == ("unverified", "tests_other_tree"), outcome


def test_a_shared_environment_works_without_being_active(tmp_path: Path) -> None:
    confined(tmp_path)
    project = make_project(tmp_path)
    plain = project._replace(env=environment() | {"PATH": "/usr/bin:/bin"})
    outcome = judge(plain, tmp_path, "sandbox", "--share", ".venv", check=f".venv/bin/{UNIT}", pkg=RIGHT)
    assert verdict(outcome) == ("accepted", "verified"), outcome
    assert [f["path"] for f in outcome["change"]["files"]] == ["src/pkg/__init__.py"]


def test_an_honest_fix_that_adds_a_test_is_accepted_and_one_that_also_loosens_is_not(tmp_path: Path) -> None:
    confined(tmp_path)
    project = make_project(tmp_path)
    honest = judge(project, tmp_path, "sandbox", pkg=RIGHT, test=TEST + MORE)
    assert verdict(honest) == ("accepted", "verified"), honest
    assert honest["checks"][0]["counts"] == {"passed": 3}
    loosened = TEST.replace("self.assertEqual(pkg.add(2, 3), 5)", "self.assertTrue(pkg.add(2, 3))")
    assert loosened != TEST
    cheat = judge(project, tmp_path, "sandbox", pkg=RIGHT, test=loosened + MORE)
    assert verdict(cheat) == ("rejected", "checks_weakened"), cheat
    assert branches(project.root) == [f"refs/heads/inspan/{honest['job']}"]
    shown = inspan("show", cheat["job"], env=project.env).stdout
    assert "checks_weakened" in shown and "tests/test_pkg.py" in shown


def test_a_checkout_reached_by_a_link_is_never_mistaken(tmp_path: Path) -> None:
    """The install names the link. At ``none`` that is another tree; in the sandbox the name is not there, and a
    warning says so: nothing broken is accepted, and whoever reads it knows what to do."""
    confined(tmp_path)
    project, link = make_project(tmp_path), tmp_path / "by-link"
    link.symlink_to(project.root)
    (packages,) = (project.root / ".venv/lib").glob("python3*/site-packages")
    (packages / "__editable__.pkg-1.pth").write_text("import __editable___pkg_1_finder as f; f.install()\n")
    (packages / "__editable___pkg_1_finder.py").write_text(FINDER.format(root=link))
    (project.root / "src/pkg/__init__.py").write_text(RIGHT)
    subprocess.run(["git", "commit", "-qam", "right"], cwd=project.root, check=True)
    entered = project._replace(env=project.env | {"PATH": f"{link}/.venv/bin:{environment()['PATH']}"})
    at_none = judge(entered, tmp_path, "none", pkg=WRONG)
    assert verdict(at_none) == ("unverified", "tests_other_tree"), at_none
    inside = judge(entered, tmp_path, "sandbox", pkg=WRONG)
    assert verdict(inside) == ("rejected", "checks_failed"), inside
    assert any(str(link / ".venv/bin") in w and str(project.root) in w for w in inside["warnings"]), inside["warnings"]
    assert not any("by a link" in w for w in judge(project, tmp_path, "sandbox", pkg=WRONG)["warnings"])
