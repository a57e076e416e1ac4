"""The outcome algebra: facets, verdict, reasons, required action. Pure."""
