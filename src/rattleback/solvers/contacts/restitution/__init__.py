"""Impacts: which points collide, and the laws of Newton, Poisson and Stronge."""
