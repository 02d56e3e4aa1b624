"""Recording quantities over time."""
