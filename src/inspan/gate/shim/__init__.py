"""Modules handed into a check's sandbox from outside the workspace. Standard library only, and no import of Inspan."""
