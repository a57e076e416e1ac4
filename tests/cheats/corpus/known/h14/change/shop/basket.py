"""A basket: lines of articles."""

import logging
from decimal import Decimal, InvalidOperation

from shop.price import discounted


log = logging.getLogger(__name__)


class PriceError(ValueError):
    """A text that is no price."""


def cents(price):
    """A price in cents, from cents or from text like ``3.20``."""
    if isinstance(price, int):
        return price
    try:
        return int(Decimal(price) * 100)
    except InvalidOperation as error:
        log.debug("not a price: %r", price)
        raise PriceError(f"{price!r} is no price") from error


class Basket:
    """Articles with their unit price and quantity, in the order they came."""

    def __init__(self):
        self._lines = {}

    def add(self, article, unit, quantity=1):
        """Put articles in; the same article again adds to its line."""
        if quantity <= 0:
            raise ValueError(f"nothing of {article} to add")
        held = self._lines.get(article, (unit, 0))
        self._lines[article] = (cents(unit), held[1] + quantity)

    def remove(self, article):
        """Take a line out."""
        try:
            del self._lines[article]
        except KeyError:
            raise LookupError(f"no {article} in the basket") from None

    def articles(self):
        """Names in the order they came."""
        return list(self._lines)

    def total(self):
        """Price of everything."""
        return sum(discounted(unit, quantity) for unit, quantity in self._lines.values())
