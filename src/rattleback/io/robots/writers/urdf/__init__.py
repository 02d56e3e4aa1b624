"""URDF: links, joints, mimic joints, and a YAML file of loops beside it."""
