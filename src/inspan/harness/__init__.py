"""Who works: the adapter contract, the registry, and one place per program."""
