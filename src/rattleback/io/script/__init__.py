"""Scenes as Python scripts, as a person would write them."""
