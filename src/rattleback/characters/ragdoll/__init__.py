"""Ragdolls: figures as bodies and joints, and the way between animation and dynamics."""
