"""Scope, checks and receipts: what an accepted change has to survive, out of the worker's reach."""
