"""Fixtures that acceptance tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attempts import require
from stubs import LEVELS, Stubs


@pytest.fixture(params=LEVELS)
def stubs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stubs]:
    """A repository and stub harnesses at each level; after the test nothing runs and the checkout is as it was."""
    require(request.param, tmp_path)
    made = Stubs(tmp_path, request.param)
    yield made
    made.close()
