"""Vouchers of the old shop."""


def redeem(total, code):
    """What is left to pay after a voucher."""
    if not code.startswith("V"):
        raise ValueError(f"{code} is no voucher")
    return max(0, total - int(code[1:]) * 100)
