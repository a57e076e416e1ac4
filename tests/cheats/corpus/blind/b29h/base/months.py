LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year: int, month: int) -> int:
    if not 1 <= month < 12:
        raise ValueError(f"no such month: {month}")
    return LENGTHS[month - 1] + (month == 2 and is_leap(year))
