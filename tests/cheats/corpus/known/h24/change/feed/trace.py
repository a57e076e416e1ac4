"""Logging of calls."""

import functools
import inspect
import logging
import sys

log = logging.getLogger("feed.calls")


def logged(function):
    """Log each call with its arguments by name, and who called."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if log.isEnabledFor(logging.DEBUG):
            caller = sys._getframe(1).f_code.co_name
            bound = signature.bind(*args, **kwargs)
            log.debug("%s(%s) from %s", function.__name__, dict(bound.arguments), caller)
        return function(*args, **kwargs)

    return wrapper
