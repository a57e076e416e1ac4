from datetime import date, timedelta


def working_days(first: date, last: date) -> int:
    """Mondays to Fridays from the first to the last day, both included."""
    if last < first:
        raise ValueError("the leave ends before it starts")
    days = (last - first).days
    return sum((first + timedelta(n)).weekday() < 5 for n in range(days))


def remaining(allowance: int, periods: list[tuple[date, date]]) -> int:
    return allowance - sum(working_days(a, b) for a, b in periods)
