# Sourced by the other scripts: finds Python, makes .venv in the checkout, installs what is missing. No root, no compiler.
set -eu
cd "$(dirname "$0")/.."
ROOT=$PWD
VENV=$ROOT/.venv
export PIP_DISABLE_PIP_VERSION_CHECK=1

die() { printf '%s\n' "$@" >&2; exit 2; }

find_python() {
    for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python; do
        [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

# set_up EXTRAS: an editable install with the named extras; does nothing when pyproject.toml did not change since.
set_up() {
    extras=$1
    command -v git >/dev/null 2>&1 || die "inspan: git is not on PATH." "do: install it, for example: apt-get install git"
    stamp=$VENV/.inspan-$(printf '%s' "$extras" | tr ',' '-')
    if [ -x "$VENV/bin/python" ] && [ -f "$stamp" ] && [ ! pyproject.toml -nt "$stamp" ]; then
        return 0
    fi
    python=$(find_python) || die "inspan: no Python 3.11 or newer on PATH (looked for \$PYTHON, python3, python3.13, python3.12, python3.11)." \
        "do: install one, for example: apt-get install python3 python3-venv"
    echo "setting up: $VENV" >&2
    if [ ! -x "$VENV/bin/python" ]; then
        "$python" -m venv "$VENV" >&2 || { rm -rf "$VENV"; die "inspan: $python cannot make virtual environments." \
            "do: install the missing package, for example: apt-get install python3-venv"; }
    fi
    "$VENV/bin/python" -m pip install --quiet --upgrade 'pip>=24' >&2 || die "inspan: pip could not be upgraded (see above)."
    "$VENV/bin/python" -m pip install --quiet --editable ".[$extras]" >&2 || die "inspan: the dependencies could not be installed (see above)." \
        "do: check that pip can reach a package registry: $VENV/bin/python -m pip download --no-deps msgspec"
    touch "$stamp"
}
