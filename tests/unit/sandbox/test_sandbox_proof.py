"""The proof of a started tree is asked once more, against its level and the demanded minimum."""

from __future__ import annotations

from typing import Any

import pytest

from inspan.errors import SandboxError
from inspan.sandbox.proof import require_level

APART: dict[str, Any] = {"namespaces": {"net": 1, "pid": 2, "mnt": 3}, "own": {"net": 4, "pid": 5, "mnt": 6}}
GUEST: dict[str, Any] = {"guest_kernel": "Linux version 4.4.0", "host_kernel": "Linux version 6.18"}
HELD: dict[str, Any] = {"landlock": 7, "refused": ["reading the host", "tcp", "udp"]}


@pytest.mark.parametrize(
    ("level", "minimum", "found"),
    [("sandbox", None, APART), ("sandbox", "landlock", APART), ("landlock", "landlock", HELD), ("none", None, {}),
     ("none", "none", {}), ("gvisor", "sandbox", APART | GUEST)],
)  # fmt: skip
def test_a_proof_of_its_level_is_taken(level: str, minimum: str | None, found: dict[str, Any]) -> None:
    require_level(level, minimum, found)


@pytest.mark.parametrize(
    ("level", "minimum", "found", "words"),
    [
        ("sandbox", None, {}, "a net namespace"),
        ("sandbox", None, HELD, "a mnt namespace"),
        ("sandbox", None, APART | {"namespaces": {"net": 4, "pid": 2, "mnt": 3}}, "a net namespace"),
        ("landlock", None, {}, "refused"),
        ("landlock", None, {"landlock": 7, "refused": ["udp"]}, "refused"),
        ("landlock", "sandbox", HELD, "minimum"),
        ("none", "landlock", {}, "minimum"),
        ("sandbox", "microvm", APART, "minimum"),
        ("sandbox", "gvisor", APART | GUEST, "minimum"),
        ("gvisor", None, GUEST, "a net namespace"),
        ("gvisor", None, APART, "a kernel of its own"),
        ("gvisor", None, APART | GUEST | {"host_kernel": "Linux version 4.4.0"}, "a kernel of its own"),
    ],
)
def test_a_proof_of_less_is_refused(level: str, minimum: str | None, found: dict[str, Any], words: str) -> None:
    with pytest.raises(SandboxError, match=words) as caught:
        require_level(level, minimum, found)
    assert caught.value.reason == "sandbox_unavailable"
