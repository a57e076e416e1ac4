"""References of a check's environment to the user's checkout, found in its files."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from gate_bench import git, repository, write
from inspan.gate.context import Trees
from inspan.gate.other_tree import elsewhere, links, references
from inspan.gate.tests.trees import files
from inspan.spec.job import Check, Job
from inspan.spec.paths import State
from inspan.workspace.git import TrustedGit


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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pkg.pth", "{link}/src\n"),
        ("__editable___pkg_finder.py", "MAPPING = {{'pkg': '{link}/src/pkg'}}\n"),
        ("pkg-1.dist-info/direct_url.json", '{{"url": "file://{quoted}", "dir_info": {{"editable": true}}}}'),
    ],
)
def test_an_editable_install_by_another_name_of_the_checkout_is_found(tmp_path, name, text):
    """People who reach their checkout by a link (``/home`` is one on some systems) install from that name."""
    (tmp_path / "repo/src").mkdir(parents=True)
    link = tmp_path / "by link"
    link.symlink_to(tmp_path / "repo")
    write(tmp_path / "venv" / PACKAGES, {name: text.format(link=link, quoted=str(link).replace(" ", "%20"))})
    (found,) = references(context(tmp_path, tmp_path / "venv/bin"))
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


@pytest.mark.parametrize(
    "command",
    [
        "{venv}/bin/pytest -q",
        ". {venv}/bin/activate && pytest",
        "sh -c '. {venv}/bin/activate; pytest'",
        "PYTHONPATH=/x:{repo}/src pytest",
        "cd '{repo}' && pytest",
        "pytest --rootdir={repo} -q",
    ],
)
def test_a_command_that_leads_to_the_checkout_is_found(tmp_path, command):
    venv = tmp_path / "far off"
    write(venv, {"pyvenv.cfg": "", f"{PACKAGES}/pkg.pth": f"{tmp_path}/repo/src\n", "bin/pytest": "#!/x/bin/python\n"})
    command = command.format(
        venv=str(venv).replace(" ", "\\ ") if "sh -c" not in command else f'"{venv}"', repo=tmp_path / "repo"
    )
    job = Job(prompt="p", checks=(Check(name="c", command=command),))
    assert references(context(tmp_path, "/nowhere", job=job)), command


@pytest.mark.parametrize(
    "command", ["{repo}/.venv/bin/pytest -q", "/usr/bin/env pytest", "echo 'open quote", "{repo}s/x"]
)
def test_a_command_that_does_not_is_fine(tmp_path, command):
    write(
        tmp_path / "repo/.venv",
        {"pyvenv.cfg": "", f"{PACKAGES}/runner.pth": "/usr/lib\n", "bin/pytest": "#!/x/bin/python\n"},
    )
    job = Job(prompt="p", checks=(Check(name="c", command=command.format(repo=tmp_path / "repo")),))
    assert references(context(tmp_path, "/nowhere", job=job)) == ()


def test_a_tracked_link_into_the_checkout_is_found(tmp_path):
    repo = repository(tmp_path / "repo", {"src/pkg/__init__.py": ""})
    os.symlink(repo / "src/pkg", repo / "pkg")
    os.symlink("src/pkg", repo / "relative")
    git(repo, "add", "-A")
    trusted = TrustedGit(repo / ".git", "sha1")
    tree = files(trusted, git(repo, "write-tree"))
    assert links(Trees(git=trusted, base=tree, result=tree), str(repo)) == (f"pkg -> {repo}/src/pkg",)


def test_a_workspace_that_cannot_stand_at_the_checkout_s_path_is_elsewhere(tmp_path):
    at = context(tmp_path, "/nowhere", level="sandbox")
    assert not elsewhere(at)
    assert elsewhere(context(tmp_path, "/nowhere", level="none"))
    assert elsewhere(context(tmp_path, "/nowhere", level="sandbox", repo=SimpleNamespace(toplevel="/usr/src")))
