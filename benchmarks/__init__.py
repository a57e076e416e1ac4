"""Benchmarks: one JSON document per name, every figure a median beside its peer in the same run. Not tests."""
