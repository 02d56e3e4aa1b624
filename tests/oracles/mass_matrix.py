"""Mass matrix, weight and inertia of what was loaded, from bodies and Jacobians alone; for comparison with others."""

from typing import Any

import numpy as np

import rattleback as rb
from rattleback.maths.rotation import matrix_from_quaternion


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


def mass_matrix(scene: rb.Scene, tree: Any, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M = Σ J_vᵀ m J_v + J_wᵀ I J_w and the torque of the weight −Σ J_vᵀ m g, over the bodies of a scene."""
    count = len(tree.coordinates)
    total, torque = np.zeros((count, count)), np.zeros(count)
    for body in scene.bodies:
        if body.static:
            continue
        jacobian = tree.jacobian(q, body.name, body.center_of_mass)
        turn = tree.forward(q, body.name)[:3, :3]
        along, about = jacobian[:3], jacobian[3:]
        total += body.mass * along.T @ along + about.T @ turn @ body.inertia @ turn.T @ about
        torque -= body.mass * along.T @ scene.gravity
    return total, torque
