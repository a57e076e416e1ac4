"""Operating-system confinement of a process tree: launcher, bubblewrap, tools table, limits, probes."""
