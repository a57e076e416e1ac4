"""Processes: reading their output, watching for progress, stalls, deadlines and caps, and ending the whole tree."""
