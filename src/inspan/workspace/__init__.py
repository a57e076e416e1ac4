"""The isolated copy: pristine bases, layers, the mount plan, the change set, and git as only the trusted side runs it.

This room never mounts anything; it returns a plan that ``inspan.sandbox`` carries out.
"""
