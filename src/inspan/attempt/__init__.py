"""One execution: the runner that holds sandbox, gateway and harness together, and how a driver starts or adopts it."""
