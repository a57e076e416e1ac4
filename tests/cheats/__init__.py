"""The corpus of cheats and honest look-alikes: its cases, the driver that shows them to the real gate, the figures."""
