"""The page of events and the table of kinds say the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from inspan.harness.contract import EventKind
from inspan.store.kinds import KINDS

PAGE = (Path(__file__).parents[2] / "docs/reference/events.md").read_text()


def test_every_kind_stands_on_the_page_and_the_reverse() -> None:
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", PAGE, re.M))
    assert rows == KINDS and len(rows) >= 15


def test_every_kind_of_a_harness_event_is_named() -> None:
    assert [kind for kind in get_args(EventKind) if f"`{kind}`" not in PAGE] == []
