"""The forms of a contact problem that methods work on: scaled, swept, pivoted, in standard form, equations, conic."""
