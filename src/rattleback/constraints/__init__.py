"""The alphabet joints are written in: rows that forbid one relative motion each, with error and Jacobian."""

from rattleback.constraints.row import COUPLINGS, KINDS, LENGTHS, VELOCITY_ONLY

__all__ = ["COUPLINGS", "KINDS", "LENGTHS", "VELOCITY_ONLY"]
