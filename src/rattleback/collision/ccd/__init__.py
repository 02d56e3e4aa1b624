"""Continuous collision detection: swept AABBs, conservative advancement and times of impact.

``continuous`` stops single bodies at their first contact; ``time_of_impact`` shortens the whole step until bodies just
touch. Both move solids by ``rigid_motion``; ``conservative_advancement`` finds the time of impact of one pair.
"""
