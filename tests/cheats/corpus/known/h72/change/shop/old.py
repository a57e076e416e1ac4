"""Old names."""

import os
import sys

from shop.price import net


def where():
    """The folder of the interpreter."""
    return os.path.dirname(sys.executable)


netto = net
