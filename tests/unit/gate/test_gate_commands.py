"""What a command calls: runner, scripts, targets."""

from __future__ import annotations

import pytest

from inspan.gate.commands import executed_files, make_targets, simple_commands
from inspan.gate.runners import arrange, detect


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("pytest -q", "pytest"),
        (".venv/bin/pytest", "pytest"),
        ("cd sub && FOO=1 timeout 30 python3.11 -m pytest -x", "pytest"),
        ("coverage run -m pytest && coverage report", "pytest"),
        ("uv run pytest", "pytest"),
        ("python -m unittest", "unittest"),
        ("python3 -W error -m unittest discover -s tests", "unittest"),
        ("PYTHONPATH=src pytest", "pytest"),
        ("PYTEST_ADDOPTS=-x pytest", None),
        ("env -i PATH=$PATH pytest", None),
        ("python -I -m pytest", None),
        ("python -m pytest; python -m unittest", None),
        ("make test", None),
        ("echo pytest", None),
        ("test -f pytest", None),
        ("echo 'unclosed", None),
        ("", None),
    ],
)
def test_runner(command, runner):
    found = detect(command)
    assert (found.name if found else None) == runner


def test_arranging_changes_only_environment_or_module_name():
    kwargs = {
        "token": "a" * 12 + "b" * 32,
        "shim_inside": "/s",
        "evidence_inside": "/e",
        "root_inside": "/w",
        "env": {},
    }
    pytests, unittests = detect("pytest"), detect("python -m unittest")
    arranged = arrange(pytests, "pytest -q --lf", **kwargs)
    assert arranged.command == "pytest -q --lf" and "cacheprovider" not in arranged.env["PYTEST_ADDOPTS"]
    assert "-p no:cacheprovider" in arrange(pytests, "pytest", **kwargs).env["PYTEST_ADDOPTS"]
    arranged = arrange(unittests, "cd x && python -m unittest -v && echo unittest", **kwargs)
    ((name, module),) = arranged.files.items()
    assert arranged.command == f"cd x && python -m {name.removesuffix('.py')} -v && echo unittest"
    compile(module, "m1", "exec")
    assert arranged.key == "b" * 32 and arranged.key.encode() in module
    spaced = kwargs | {"shim_inside": "/s p"}
    assert arrange(pytests, "PYTHONPATH=src pytest", **spaced).command == "PYTHONPATH='/s p':src pytest"
    assert arrange(pytests, 'export PYTHONPATH="a"; pytest', **spaced).command == 'export PYTHONPATH="/s p:a"; pytest'


def test_simple_commands_and_what_they_execute():
    assert simple_commands("A=1 env B=2 x y | z; (w)") == [["x", "y"], ["z"], ["w"]]
    assert list(executed_files("./check.sh && node tools/verify.js && python src/app.py")) == [
        "check.sh",
        "tools/verify.js",
    ]
    assert make_targets("make -j2 test V=1 && just lint") == ["test", "lint"]
