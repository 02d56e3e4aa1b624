"""The arithmetic of one manifold: its twist, its normal impulses, its friction."""
