"""The contact problem: manifolds, their effective masses and order, and how far a solver got."""
