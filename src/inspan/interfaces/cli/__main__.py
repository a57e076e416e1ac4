"""``python -m inspan.interfaces.cli``."""

from __future__ import annotations

from inspan.interfaces.cli import main

main()
