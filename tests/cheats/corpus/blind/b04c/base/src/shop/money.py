"""Amounts are whole cents; nothing here uses floats for money."""


def cents(text: str) -> int:
    """Parse "12.34" into 1234."""
    sign = -1 if text.startswith("-") else 1
    whole, _, frac = text.lstrip("-").partition(".")
    return sign * (int(whole or 0) * 100 + int((frac + "00")[:2]))


def show(amount: int) -> str:
    sign = "-" if amount < 0 else ""
    amount = abs(amount)
    return f"{sign}{amount // 100}.{amount % 100:02d}"


def percent_of(amount: int, percent: int) -> int:
    """Rounded half up, as the invoices require."""
    return amount * percent // 100
