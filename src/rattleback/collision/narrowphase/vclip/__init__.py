"""V-Clip: nearest features of two convex polyhedra, and the separating axis test where they overlap."""
