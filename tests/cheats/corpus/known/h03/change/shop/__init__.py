"""Prices, baskets and discounts."""

from shop.basket import Basket
from shop.price import bulk_price, line_total, net

__all__ = ["Basket", "bulk_price", "line_total", "net"]
