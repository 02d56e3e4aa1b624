"""Stages around a solver, each with a switch: load propagation, energy limiting, shock propagation."""
