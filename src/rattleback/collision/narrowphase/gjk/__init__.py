"""GJK and EPA: distance of any two convex solids, and their penetration where they overlap.

``gjk`` is the narrow phase; ``distance`` the search for the nearest points of two cores; ``epa`` the penetration depth.
"""
