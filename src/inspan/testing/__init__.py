"""Shipped fakes: scripted harnesses, fake clock; each passes the conformance suite of the real part."""
