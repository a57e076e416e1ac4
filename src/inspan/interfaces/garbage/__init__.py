"""What jobs left on disk: classified from the files, removed only on proof. See ``docs/reference/gc.md``."""
