"""What is asked: jobs, configuration, globs, paths of the state. Parsing and validation; pure but for reading files."""
