"""Tables, events and artifacts. Reads that a person waits for use only the standard library's sqlite3."""
