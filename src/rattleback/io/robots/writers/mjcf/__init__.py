"""MJCF: bodies in each other, chains of joints, equalities, tendons, actuators, named states."""
