"""The alphabet joints are written in: rows that forbid one relative motion each, with error and Jacobian."""

from rattleback.constraints.row import KINDS, LENGTHS

__all__ = ["KINDS", "LENGTHS"]
