"""Which backend, and what a failure means: names, the one failure table. Pure."""
