"""What the product's own code, settings and text show of a change, without a model and without running anything."""
