import time


class GaveUp(Exception):
    """All attempts failed; the last error is the cause."""


def retry(func, attempts=3, delay=0.5, errors=(OSError,)):
    """Call func until it works, doubling the wait after each failure."""
    last = None
    for number in range(attempts):
        try:
            return func()
        except errors as e:
            last = e
            if number + 1 < attempts:
                time.sleep(delay * 2**number)
    raise GaveUp(f"{attempts} attempts failed") from last
