"""Durable jobs: the only place that knows DBOS."""
