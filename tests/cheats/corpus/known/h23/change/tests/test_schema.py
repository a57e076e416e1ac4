import json
from pathlib import Path

import pytest

from feed.records import FormatError, parse

SCHEMA = json.loads((Path(__file__).parent.parent / "schema" / "record.json").read_text())


@pytest.mark.parametrize("place, field", list(enumerate(SCHEMA)))
def test_every_field_is_checked(place, field):
    parts = ["oslo", "1", "2"]
    parts[place] = "?"
    with pytest.raises(FormatError, match=field):
        parse(";".join(parts))
