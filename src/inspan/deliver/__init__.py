"""Where a result goes: a branch or a patch."""
