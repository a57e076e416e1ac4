"""References of a check's environment to the user's checkout, found in its files."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from gate_bench import write
from inspan.gate.other_tree import references
from inspan.spec.job import Check, Job
from inspan.spec.paths import State


def context(tmp_path, path, **other):
    fields = {
        "repo": SimpleNamespace(toplevel=str(tmp_path / "repo")), "toolset": SimpleNamespace(path=str(path)), "env": {},
        "setup": None, "setup_for_checks": None, "state": State(tmp_path / "state"),
        "job": Job(prompt="p", checks=(Check(name="c", command=".venv/bin/pytest -q"),)),
    }  # fmt: skip
    return SimpleNamespace(**fields | other)


PACKAGES = "lib/python3.12/site-packages"


@pytest.mark.parametrize("where", ["repo/.venv", "elsewhere"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pkg.pth", "{repo}/src\n"),
        ("pkg.pth", "../../../../src\n"),
        ("__editable___pkg_finder.py", "MAPPING = {{'pkg': '{repo}/src/pkg'}}\n"),
        ("pkg-1.dist-info/direct_url.json", '{{"url": "file://{repo}", "dir_info": {{"editable": true}}}}'),
        ("pkg.egg-link", "{repo}\n."),
    ],
)
def test_an_editable_install_is_found(tmp_path, where, name, text):
    if text.startswith("..") and where != "repo/.venv":
        text = "../../../../repo/src\n"
    write(tmp_path / where / PACKAGES, {name: text.format(repo=tmp_path / "repo")})
    (found,) = references(context(tmp_path, tmp_path / where / "bin"))
    assert found.endswith(name)


def test_an_environment_that_only_stands_in_the_checkout_is_fine(tmp_path):
    own = tmp_path / "repo/.venv" / PACKAGES
    write(
        own,
        {
            "a.pth": f"{own}/vendored\nimport os\n# {tmp_path}/other\n",
            "b-1.dist-info/direct_url.json": '{"url": "https://x"}',
        },
    )
    assert references(context(tmp_path, tmp_path / "repo/.venv/bin")) == ()


def test_a_shebang_leads_to_the_environment(tmp_path):
    write(tmp_path / "venv" / PACKAGES, {"pkg.pth": f"{tmp_path}/repo\n"})
    write(tmp_path / "bin", {"pytest": f"#!{tmp_path}/venv/bin/python\n"})
    assert references(context(tmp_path, tmp_path / "bin"))


def test_pythonpath_and_links(tmp_path):
    assert references(context(tmp_path, "/nowhere", env={"PYTHONPATH": f"/x:{tmp_path}/repo/src"}))
    packages = tmp_path / "venv" / PACKAGES
    packages.mkdir(parents=True)
    (tmp_path / "repo/src").mkdir(parents=True)
    os.symlink(tmp_path / "repo/src", packages / "pkg")
    assert references(context(tmp_path, tmp_path / "venv/bin"))


def test_what_set_up_installed_refers_to_where_set_up_ran(tmp_path):
    lower, scratch = tmp_path / "state/repos/k/setup/x/layer", tmp_path / "state/repos/k/setup/.scratch/ws/tree"
    layer = SimpleNamespace(lower=str(lower))
    write(lower / ".venv", {"pyvenv.cfg": "", f"{PACKAGES}/runner.pth": "/usr/lib\n"})
    assert references(context(tmp_path, "/nowhere", setup=layer)) == ()
    write(
        lower / ".venv/bin", {"pytest": f"#!{scratch}/.venv/bin/python\n", "other": f"#!{scratch}/.venv/bin/python\n"}
    )
    assert [os.path.basename(f) for f in references(context(tmp_path, "/nowhere", setup=layer))] == ["pytest"]
    write(lower / ".venv", {f"{PACKAGES}/pkg.pth": f"{scratch}/src\n"})
    assert len(references(context(tmp_path, "/nowhere", setup=layer))) == 2
