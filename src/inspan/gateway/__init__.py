"""Model traffic: wires, meter, credential swap, rehearsal. The wire is the witness."""
