"""Scenes by name."""
