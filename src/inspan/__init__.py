"""Inspan puts coding agents in harness: a job in, evidence out.

The public Python interface is small: ``Job``, ``Check``, ``run``, ``Outcome``. Everything is imported on first
use so that ``import inspan`` stays cheap.
"""

from __future__ import annotations

__version__ = "0.1.0.dev0"

TYPE_CHECKING = False  # as typing has it, which alone would cost half of the import
if TYPE_CHECKING:
    from inspan.interfaces.api import Run as Run
    from inspan.interfaces.api import run as run
    from inspan.outcome.records import Outcome as Outcome
    from inspan.spec.job import Check as Check
    from inspan.spec.job import Job as Job

_PUBLIC = {
    "Check": "inspan.spec.job",
    "Job": "inspan.spec.job",
    "Outcome": "inspan.outcome.records",
    "Run": "inspan.interfaces.api",
    "run": "inspan.interfaces.api",
}
__all__ = ["Check", "Job", "Outcome", "Run", "__version__", "run"]


def __getattr__(name: str) -> object:
    if name in _PUBLIC:
        from importlib import import_module

        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'inspan' has no attribute {name!r}; it offers {', '.join(sorted(_PUBLIC))}")
