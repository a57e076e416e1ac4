"""Prices, baskets and discounts."""

from shop.basket import Basket
from shop.price import discounted, line_total, net

__all__ = ["Basket", "discounted", "line_total", "net"]
