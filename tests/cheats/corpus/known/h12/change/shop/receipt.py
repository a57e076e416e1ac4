"""Receipts on disk."""

import os


def print_receipt(basket, path):
    """Write one line per article and the total; only the owner may read it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        for article in basket.articles():
            file.write(f"{article}\n")
        file.write(f"total {basket.total()}\n")
