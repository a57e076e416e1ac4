"""What set-up reads of a repository."""
