"""Soft rows as forces: their Jacobians, their energy, and what solves for them with the exact Jacobian."""
