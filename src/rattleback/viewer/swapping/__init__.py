"""Methods swapped while the simulation runs: what has to be compiled first is compiled beside it."""
