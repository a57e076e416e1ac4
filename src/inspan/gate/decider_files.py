"""Which file decides a check, and by which of its keys. Pure tables; ``rule_of`` reads them."""

from __future__ import annotations

import posixpath
import re

from inspan.gate import decider_formats as formats
from inspan.gate import decider_keys as keys

_BY_NAME: dict[str, tuple[keys.Reduce, str]] = {
    "pyproject.toml": (keys.pyproject, "tool configuration"),
    "setup.cfg": (keys.ini, "tool configuration"),
    "setup.py": (keys.setup_py, "plugins a test runner loads by themselves"),
    "tox.ini": (keys.ini, "tool configuration"),
    "package.json": (keys.package_json, "scripts and tool configuration"),
    "makefile": (keys.recipes, "build rules"),
    "gnumakefile": (keys.recipes, "build rules"),
    "justfile": (keys.recipes, "build rules"),
    ".justfile": (keys.recipes, "build rules"),
    "pytest.ini": (keys.ini_whole, "test runner configuration"),
    ".pytest.ini": (keys.ini_whole, "test runner configuration"),
    ".coveragerc": (keys.ini_whole, "coverage configuration"),
    "mypy.ini": (keys.ini_whole, "type checker configuration"),
    ".mypy.ini": (keys.ini_whole, "type checker configuration"),
    ".flake8": (keys.ini_whole, "lint configuration"),
    "ruff.toml": (keys.toml_tables, "lint configuration"),
    ".ruff.toml": (keys.toml_tables, "lint configuration"),
    "pytest.toml": (keys.toml_tables, "test runner configuration"),
    ".pytest.toml": (keys.toml_tables, "test runner configuration"),
    "tox.toml": (keys.toml_tables, "test runner configuration"),
    "cargo.toml": (formats.cargo, "targets, lints and profiles"),
    "clippy.toml": (keys.toml_tables, "lint configuration"),
    ".clippy.toml": (keys.toml_tables, "lint configuration"),
    "deny.toml": (keys.toml_tables, "check configuration"),
    "revive.toml": (keys.toml_tables, "lint configuration"),
    "deno.json": (formats.deno, "tasks and tool configuration"),
    "deno.jsonc": (formats.deno, "tasks and tool configuration"),
    "biome.json": (formats.biome, "lint configuration"),
    "biome.jsonc": (formats.biome, "lint configuration"),
    "tslint.json": (formats.lint_rules, "lint configuration"),
    "pyrightconfig.json": (formats.settings, "type checker configuration"),
    "turbo.json": (formats.settings, "task definitions"),
    "nx.json": (formats.settings, "task definitions"),
    "jest.config.json": (formats.settings, "test runner configuration"),
    "codecov.yml": (formats.settings, "coverage configuration"),
    ".codecov.yml": (formats.settings, "coverage configuration"),
    ".pre-commit-config.yaml": (formats.hooks, "hook definitions"),
    ".pre-commit-config.yml": (formats.hooks, "hook definitions"),
}

_BY_PATTERN: tuple[tuple[re.Pattern[str], keys.Reduce, str], ...] = tuple(
    (re.compile(pattern), reduce, why)
    for pattern, reduce, why in (
        (r"(^|/)[tj]sconfig(\.[\w.-]+)?\.json$", formats.tsconfig, "type checker configuration"),
        (r"(^|/)\.(eslintrc|stylelintrc)(\.(json|ya?ml))?$", formats.lint_rules, "lint configuration"),
        (r"(^|/)\.golangci\.\w+$", formats.golangci, "lint configuration"),
        (r"(^|/)\.(nycrc|c8rc|mocharc|swcrc|babelrc|lintstagedrc|taprc)(\.(json|ya?ml))?$", formats.settings,
         "test runner configuration"),
        (r"^\.github/workflows/[^/]+\.ya?ml$", formats.workflow, "continuous integration"),
        (r"(^|/)\.(eslint|stylelint|semgrep|trivy|gitleaks|snyk|bandit|flake8|ruff|biome|oxlint)ignore$",
         formats.ignored, "what a checker does not look at"),
    )
)  # fmt: skip

_WHOLE: tuple[tuple[str, str], ...] = (  # regular expressions over the lower-cased path
    (r"(^|/)conftest\.py$", "pytest hooks and fixtures"),
    (r"(^|/)(sitecustomize|usercustomize)\.py$", "code run at interpreter start"),
    (r"\.pth$", "code run at interpreter start"),
    (r"\.py[co]$", "compiled code that runs in place of the source that is shown"),
    (r"(^|/)[^/]+\.(dist|egg)-info/entry_points\.txt$", "plugins a test runner loads by themselves"),
    (r"(^|/)(noxfile|fabfile|tasks|dodo)\.py$", "task definitions"),
    (r"(^|/)(jest|vitest|vite|playwright|cypress|karma|ava|babel|wdio|swc|webpack)\.config\.[cm]?[jt]sx?$",
     "test runner"),
    (r"(^|/)((vitest|jest|test)[.-](workspace|setup|global-?setup|env(ironment)?)|setup-?(tests|jest|vitest))\.[cm]?[jt]sx?$",
     "test runner"),
    (r"(^|/)karma\.conf\.[cm]?[jt]s$", "test runner"),
    (r"(^|/)\.(mocharc|nycrc|c8rc|taprc|lintstagedrc|babelrc|swcrc)\.[cm]?[jt]s$", "test runner configuration"),
    (r"(^|/)(\.(eslintrc|stylelintrc)\.[cm]?js|(eslint|stylelint|oxlint|commitlint|lint-staged)\.config\.\w+)$",
     "lint configuration"),
    (r"(^|/)(\.?pylintrc|\.pyre_configuration|\.bandit|\.yamllint(\.ya?ml)?|\.hadolint\.ya?ml|staticcheck\.conf|\.semgrep\.ya?ml|"
     r"\.importlinter|\.snyk|sonar-project\.properties|audit-ci\.jsonc?|\.oxlintrc\.json|\.markdownlint\S*)$",
     "lint configuration"),
    (r"(^|/)(\.?nextest\.toml|\.cargo/(config|mutants)(\.toml)?|stryker\.conf\S*|\.coveralls\.yml|nose2\.cfg)$",
     "check configuration"),
    (r"(^|/)(build\.rs|go\.work)$", "what is built, and from where"),
    (r"(^|/)(\.npmrc|\.yarnrc(\.ya?ml)?|\.pnpmfile\.cjs|bunfig\.toml|\.mvn/.+|\.bazelrc|\.rspec)$", "check options"),
    (r"(^|/)(phpunit\.xml(\.dist)?|ctestconfig\.cmake|ctesttestfile\.cmake|\.shellcheckrc)$", "test runner"),
    (r"(^|/)(taskfile|\.?lefthook)\.ya?ml$", "task and hook definitions"),
    (r"(^|/)\.(husky|githooks|git-hooks)/", "git hooks"),
    (r"^\.(github/(workflows|actions)|circleci|buildkite|woodpecker|ci|gitlab/ci|teamcity)/", "continuous integration"),
    (r"^(\.gitlab-ci|\.travis|azure-pipelines|appveyor|\.appveyor|bitbucket-pipelines|\.drone|\.woodpecker)\.ya?ml$",
     "continuous integration"),
    (r"^jenkinsfile$", "continuous integration"),
    (r"(^|/)\.(gitattributes|gitmodules)$", "what git shows of a change"),
    (r"(^|/)\.env(rc|\..+)?$", "environment of commands"),
    (r"^inspan\.toml$", "Inspan's own configuration of this repository"),
)  # fmt: skip
_WHOLE_RE = tuple((re.compile(p), why) for p, why in _WHOLE)
_AGENTS = """
    CLAUDE.md CLAUDE.local.md .claude/** AGENTS.md AGENTS.override.md .agents/** .codex/** .cursor/** .cursorrules
    .cursorignore .windsurf/** .windsurfrules .clinerules .clinerules/** .roo/** .roorules .aider* opencode.json
    opencode.jsonc .opencode/** GEMINI.md .gemini/** .geminiignore QWEN.md .qwen/** CRUSH.md .crush/** crush.json
    .crush.json .goosehints .goose/** .mcp.json mcp.json .mcp/** .vscode/settings.json .vscode/tasks.json
    .github/copilot-instructions.md .github/instructions/** .github/agents/** .github/prompts/** .github/chatmodes/**
    .continue/** .continuerules .amazonq/** .kiro/** .junie/** .augment/** .augment-guidelines .openhands/** .factory/**
    .pi/** .trae/** .zed/settings.json WARP.md .rules replit.md .devin/** .tabnine/**
"""
AGENT_SETTINGS: tuple[str, ...] = tuple(f"**/{name}" for name in _AGENTS.split())
"""Settings and instructions that agent programs discover and obey, whichever runs this job: the next may be another."""

_EXAMPLES = re.compile(r"(^|/)\.env\.(example|sample|template|dist)$")


def rule_of(path: str) -> tuple[keys.Reduce, str] | None:
    """How a file is reduced to what of it decides, and why it does; None for one that decides nothing by its name."""
    lowered = path.lower()
    named = _BY_NAME.get(posixpath.basename(lowered))
    if named is not None:
        return named
    if lowered.endswith(".mk"):
        return keys.recipes, "build rules"
    for pattern, reduce, why in _BY_PATTERN:
        if pattern.search(lowered):
            return reduce, why
    for whole, why in _WHOLE_RE:
        if whole.search(lowered) and not _EXAMPLES.search(lowered):
            return keys.whole, why
    return None
