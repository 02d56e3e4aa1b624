"""Joints held by forces: the forces, the projection that stabilises them, and what a step leaves."""
