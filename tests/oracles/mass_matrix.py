"""Mass matrix, weight and inertia of what was loaded, from bodies and Jacobians alone; for comparison with others."""

from typing import Any

import numpy as np

import rattleback as rb
from rattleback.maths.rotation import matrix_from_quaternion

Inertias = dict[str, tuple[float, np.ndarray, np.ndarray]]


def composite(scene: rb.Scene) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about the origin of all that moves, in the world."""
    moving = [body for body in scene.bodies if not body.static]
    mass = sum(body.mass for body in moving)
    center = sum((body.mass * body.position for body in moving), start=np.zeros(3)) / mass
    total = np.zeros((3, 3))
    for body in moving:
        turn = matrix_from_quaternion(body.orientation)
        p = body.position
        total += turn @ body.inertia @ turn.T + body.mass * (p @ p * np.eye(3) - np.outer(p, p))
    return mass, center, total


def mass_matrix(inertias: Inertias, tree: Any, q: np.ndarray, gravity: Any) -> tuple[np.ndarray, np.ndarray]:
    """M = Σ J_vᵀ m J_v + J_wᵀ I J_w and the torque of the weight −Σ J_vᵀ m g, over links of a tree."""
    count = len(tree.coordinates)
    total, torque = np.zeros((count, count)), np.zeros(count)
    for name, (mass, center, inertia) in inertias.items():
        jacobian = tree.jacobian(q, name, center)
        turn = tree.forward(q, name)[:3, :3]
        along, about = jacobian[:3], jacobian[3:]
        total += mass * along.T @ along + about.T @ turn @ inertia @ turn.T @ about
        torque -= mass * along.T @ np.asarray(gravity)
    return total, torque


def of_file(scene: rb.Scene) -> Inertias:
    """Mass properties of the links as they were read."""
    links = scene.robot.description.links.values()
    return {one.name: (one.inertia.mass, one.inertia.center, one.inertia.tensor) for one in links if one.inertia}


def of_scene(scene: rb.Scene) -> Inertias:
    """Mass properties of the bodies that move."""
    moving = [body for body in scene.bodies if not body.static]
    return {body.name: (body.mass, body.center_of_mass, body.inertia) for body in moving}


def spread(tree: Any, joints: list[str]) -> np.ndarray:
    """Rates of joints, some led by others, for unit rates of the coordinates of a tree (joints, coordinates)."""
    found = np.zeros((len(joints), len(tree.coordinates)))
    links = {link.name: link for link in tree.links}
    for row, name in enumerate(joints):
        mimic = links[name].mimic
        leader, ratio = (name, 1.0) if mimic is None else (mimic.link, mimic.ratio)
        found[row, tree.coordinates.index(leader)] = ratio
    return found
