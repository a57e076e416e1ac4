"""Carts, prices and invoices."""
