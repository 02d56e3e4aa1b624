"""Kinematics: chains and trees of links without masses, forward, inverse, along paths, and what they can reach."""

from rattleback.kinematics import models, workspace
from rattleback.kinematics.delta import Delta
from rattleback.kinematics.dh import Table
from rattleback.kinematics.link import Frame, Link, Mimic
from rattleback.kinematics.look import Look, Shown, sticks
from rattleback.kinematics.measures import (
    Singular,
    analytic_jacobian,
    condition,
    jacobian_rate,
    manipulability,
    singular_directions,
)
from rattleback.kinematics.path import Path
from rattleback.kinematics.planar import PlanarArm, planar_arm
from rattleback.kinematics.stewart import Stewart
from rattleback.kinematics.tracking import Motion, track, track_rates
from rattleback.kinematics.tree import Tree

__all__ = [
    "Delta",
    "Frame",
    "Link",
    "Look",
    "Mimic",
    "Motion",
    "Path",
    "PlanarArm",
    "Shown",
    "Singular",
    "Stewart",
    "Table",
    "Tree",
    "analytic_jacobian",
    "condition",
    "jacobian_rate",
    "manipulability",
    "models",
    "planar_arm",
    "singular_directions",
    "sticks",
    "track",
    "track_rates",
    "workspace",
]
