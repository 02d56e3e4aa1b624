"""Joints by name: each a declaration of the motions it forbids, in the alphabet of ``constraints``.

| name | forbids | leaves |
|---|---|---|
| ``ball`` | 3 translations | 3 rotations |
| ``point_on_line`` | 2 translations | 1 translation, 3 rotations |
| ``point_on_plane`` | 1 translation | 2 translations, 3 rotations |
| ``fixed_orientation`` | 3 rotations | 3 translations |
| ``common_direction`` | 2 rotations | 3 translations, 1 rotation |
| ``double_rotation`` | 1 rotation | 3 translations, 2 rotations |
| ``revolute`` | 3 translations, 2 rotations | 1 rotation |
| ``cylindrical`` | 2 translations, 2 rotations | 1 translation, 1 rotation |
| ``prismatic`` | 2 translations, 3 rotations | 1 translation |
| ``universal`` | 3 translations, 1 rotation | 2 rotations |
| ``fixed`` | everything | nothing |
| ``planar`` | 1 translation, 2 rotations | 2 translations, 1 rotation |
| ``distance`` | the distance of two points | the rest |
| ``distance_to_line``, ``distance_to_plane`` | the distance from a line, from a plane | the rest |
| ``screw`` | 2 translations, 2 rotations, turning without moving along the axis | the turn with its way |
| ``gear`` | two pitch circles slipping on each other | the rest |
| ``rack`` | a rack slipping on its pinion | the rest |
| ``velocity_joint`` | up to 6 velocities other than those given; no position | the rest |
"""

from typing import Any

from rattleback.joints.ball import Ball
from rattleback.joints.common_direction import CommonDirection
from rattleback.joints.cylindrical import Cylindrical
from rattleback.joints.distance import Distance, DistanceToLine, DistanceToPlane
from rattleback.joints.fixed import Fixed
from rattleback.joints.fixed_orientation import FixedOrientation
from rattleback.joints.gear import Gear
from rattleback.joints.perpendicular import DoubleRotation, Universal
from rattleback.joints.planar import Planar
from rattleback.joints.point_on_line import PointOnLine
from rattleback.joints.point_on_plane import PointOnPlane
from rattleback.joints.prismatic import Prismatic
from rattleback.joints.rack import Rack
from rattleback.joints.revolute import Revolute
from rattleback.joints.screw import Screw
from rattleback.joints.velocity_joint import VelocityJoint

MENU: dict[str, type[Any]] = {
    "ball": Ball,
    "point_on_line": PointOnLine,
    "point_on_plane": PointOnPlane,
    "fixed_orientation": FixedOrientation,
    "common_direction": CommonDirection,
    "double_rotation": DoubleRotation,
    "revolute": Revolute,
    "cylindrical": Cylindrical,
    "prismatic": Prismatic,
    "universal": Universal,
    "fixed": Fixed,
    "planar": Planar,
    "distance": Distance,
    "distance_to_line": DistanceToLine,
    "distance_to_plane": DistanceToPlane,
    "screw": Screw,
    "gear": Gear,
    "rack": Rack,
    "velocity_joint": VelocityJoint,
}

__all__ = [
    "Ball",
    "CommonDirection",
    "Cylindrical",
    "Distance",
    "DistanceToLine",
    "DistanceToPlane",
    "DoubleRotation",
    "Fixed",
    "FixedOrientation",
    "Gear",
    "Planar",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Rack",
    "Revolute",
    "Screw",
    "Universal",
    "VelocityJoint",
]
