"""Shipping."""


def cost(weight, zone, express, insured, gift):
    """The cost of a parcel in cents."""
    total = 399
    if weight > 1000:
        total += 300
    if zone == "abroad":
        total *= 2
    if express:
        total += 500
    if insured:
        total += 200
    if gift:
        total += 100
    return total
