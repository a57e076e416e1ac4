"""Secrets out of anything before it is written. Pure."""
