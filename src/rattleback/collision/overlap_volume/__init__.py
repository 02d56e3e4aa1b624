"""Overlap volumes: the intersection of two convex solids, its volume, centroid and moments.

``measure`` does it for all pairs of a step, ``volume`` for a single pair outside any simulation.
"""
