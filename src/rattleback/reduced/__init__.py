"""Reduced coordinates: mechanisms as trees, moved by the freedoms that joints leave."""
