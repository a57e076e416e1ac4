"""A basket: lines of articles."""

from shop.price import discounted


class Basket:
    """Articles with their unit price and quantity, in the order they came."""

    def __init__(self):
        self._lines = {}

    def add(self, article, unit, quantity=1):
        """Put articles in; the same article again adds to its line."""
        if quantity <= 0:
            raise ValueError(f"nothing of {article} to add")
        held = self._lines.get(article, (unit, 0))
        self._lines[article] = (unit, held[1] + quantity)

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
