"""Known test runners: found in a check's command, arranged to leave one outcome per test, read without trust.

One module per family of runners; ``registry`` lists them. Adding a runner is one module and one line there.
"""

from inspan.gate.runners.contract import Arranged, Part, Runner
from inspan.gate.runners.registry import arrange, detect, either, explained, read_results

__all__ = ["Arranged", "Part", "Runner", "arrange", "detect", "either", "explained", "read_results"]
