"""Prices in cents. Rates in percent."""

BULK_FROM = 10
BULK_RATE = 15


def line_total(unit, quantity):
    """Price of one line before any discount."""
    if quantity < 0:
        raise ValueError("a quantity cannot be negative")
    return unit * quantity


def discounted(unit, quantity):
    """Price of one line; from ten pieces on 15 percent are taken off, rounded down to whole cents."""
    total = line_total(unit, quantity)
    if quantity >= BULK_FROM:
        return total - total * BULK_RATE // 100
    return total


def net(gross, rate):
    """What is left of a gross price when the tax in it is taken out, rounded half up."""
    return int(gross * 100 / (100 + rate) + 0.5)
