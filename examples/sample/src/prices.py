"""Prices of a basket."""


def total(items):
    """Sum of price times quantity."""
    return sum(price for price, quantity in items)


def with_discount(amount, percent):
    """The amount less a percentage."""
    return amount - amount * percent / 100
