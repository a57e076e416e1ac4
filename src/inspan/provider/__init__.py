"""Where models live: endpoints and credentials named by environment variable."""
