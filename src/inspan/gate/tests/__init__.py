"""Tests as evidence: items, their outcomes on four combinations of trees, and what those say."""
