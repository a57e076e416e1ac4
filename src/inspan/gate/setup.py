"""Set-up inputs: the files whose change means that set-up has to run again for the checks. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence

from inspan.spec.globs import Globs

_NAMES = re.compile(
    r"^(requirements.*\.(txt|in)|constraints.*\.txt|pyproject\.toml|setup\.(py|cfg)|Pipfile(\.lock)?|"
    r"(poetry|uv|pdm|pixi|Cargo|composer|Gemfile|yarn|bun|deno|mix|flake)\.lock|pylock.*\.toml|environment\.ya?ml|"
    r"package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml|bun\.lockb|\.npmrc|"
    r"Cargo\.toml|go\.(mod|sum|work)|Gemfile|composer\.json|build\.gradle(\.kts)?|pom\.xml|"
    r"\.python-version|\.nvmrc|\.node-version|\.tool-versions|rust-toolchain(\.toml)?)$"
)


def setup_inputs(paths: Iterable[str], configured: Sequence[str] = ()) -> tuple[str, ...]:
    """Which of a repository's paths set-up reads: lock files and manifests, and what the configuration names."""
    extra = Globs(configured)
    return tuple(sorted(p for p in paths if _NAMES.match(posixpath.basename(p)) or extra.match(p)))


def setup_changed(changed: Iterable[str], configured: Sequence[str] = ()) -> tuple[str, ...]:
    """The changed paths that are set-up inputs. When there are any, set-up runs again in a layer used once."""
    return setup_inputs(changed, configured)
