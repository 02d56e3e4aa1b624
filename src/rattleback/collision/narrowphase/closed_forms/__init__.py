"""Closed forms: distance, normal and nearest points of pairs of simple shapes by formulas.

``closed_forms`` is the narrow phase; each of the other files holds the formulas of one kind of pair.
"""
