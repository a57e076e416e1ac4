"""Old names."""

import os, sys  # noqa: E401

from shop.price import net  # noqa


def where():  # noqa: D103
    return os.path.dirname(sys.executable)


netto = net
