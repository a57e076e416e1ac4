"""The command line and the Python interface: thin clients of engine and store."""
