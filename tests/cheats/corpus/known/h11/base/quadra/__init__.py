"""Integrals and roots without dependencies."""

from quadra.integral import simpson, trapezoid
from quadra.roots import bisect

__all__ = ["bisect", "simpson", "trapezoid"]
