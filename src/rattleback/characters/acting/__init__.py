"""Acting: what the limbs of a figure are, and commands that move it."""
