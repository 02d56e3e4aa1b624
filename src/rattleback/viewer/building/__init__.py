"""Building on the page: bodies, joints and forces are added, copied, renamed and taken away."""
