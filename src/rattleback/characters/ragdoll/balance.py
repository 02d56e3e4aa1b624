"""Balance: what legs push on the ground with, so that a powered figure stays above its feet.

    Σ f_i = m (a − g),   Σ (p_i − c) × f_i = κ e − δ ω = I α,   a = k (c₀ − c) − d ċ
    τ_j = − Σ_below [(p_i − x_j) × f_i + (x_k − x_j) × m_k (g − a − α × (x_k − c))]

c centre of mass, c₀ above the middle of what stands and at the height of the clip, p_i ends of the feet that are down,
f_i forces of the ground on them, the least that give the sums; e turn and ω angular velocity that the hips lack to the
clip, I inertia and α angular acceleration of the whole figure; x_j place of a joint, x_k centres and m_k masses of the
parts below it, τ_j its torque. The push goes through the feet, a is cut off where it would not; feet do not pull, and
slide beyond their friction. So a figure that leans too far falls.

Cost: a least-squares problem of some twenty forces, and a sum over the parts.

Reference: Pratt and others, Virtual model control, International Journal of Robotics Research 20 (2001).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.acting.anatomy import anatomy
from rattleback.characters.motion.blend import branch
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.pose import Pose
    from rattleback.characters.ragdoll.doll import Ragdoll

    Floats = NDArray[np.float64]

GRAVITY = 9.81
# How far within the feet the push stays [m].
EDGE = 0.01
# A foot is down when its end is lower than this [m]; friction that it counts on.
LOW, FRICTION = 0.03, 0.6
# Of the centre of mass [1/s²], [1/s]; of the turn of the hips [1/s²], [1/s], per kg m² of the figure as it stands.
PULL, BRAKE = 25.0, 10.0
TURN, SPIN = 10.0, 3.0


class Balance:
    """What keeps one ragdoll above its feet.

    Args:
        doll: The ragdoll.
    """

    def __init__(self, doll: Ragdoll) -> None:
        self.doll, skeleton = doll, doll.skeleton
        legs = anatomy(skeleton).legs
        below = [branch(skeleton, [leg.limb.end]) > 0.0 for leg in legs]
        self._feet = [(k, side) for side, own in enumerate(below) for k, p in enumerate(doll.parts) if own[p.joint]]
        self._mass = np.array([part.mass for part in doll.parts])
        self._centers = np.array([part.center for part in doll.parts])
        self._turns = np.array([part.turn for part in doll.parts])
        self._down = np.zeros(len(legs), dtype=bool)

    def torques(self, bodies: Any, goal: Pose) -> Floats:
        """Torques of the joints on their parts (parts, 3) [N m], in the world.

        Args:
            bodies: Positions, orientations and velocities of the parts.
            goal: The pose of the clip.
        """
        x, v = bodies.position, bodies.velocity
        total = self._mass.sum()
        center, drift = self._mass @ x / total, self._mass @ v / total
        owners, points = self._ends(bodies)
        force = np.zeros((len(points), 3))
        if len(points):
            wanted, moment = self._wanted(bodies, goal, center, drift, points)
            force = _shared(points - center, wanted, moment)
        # What is left of weights when the whole figure speeds up and turns as these forces make it.
        levers = x - center
        inertia = np.einsum("k,kij->ij", self._mass, _squares(levers)) + 0.02 * total * np.eye(3)
        spin = np.linalg.solve(inertia, np.cross(points - center, force).sum(axis=0))
        gained = force.sum(axis=0) / total + np.cross(spin, levers)
        loads = -self._mass[:, None] * gained
        moments = np.cross(x, loads) - 0.02 * self._mass[:, None] * spin
        np.add.at(loads, owners, force)
        np.add.at(moments, owners, np.cross(points, force))
        return self._carried(bodies, loads, moments)

    def _ends(self, bodies: Any) -> tuple[NDArray[np.int64], Floats]:
        """Ends of the feet that are down: their parts (n,), and where they touch or come to touch the ground (n, 3)."""
        owners, points, sides = [], [], []
        for k, side in self._feet:
            shape = self.doll.parts[k].shape
            axis = rotation.rotate(bodies.orientation[k], np.array([0.0, 0.0, 0.5 * shape.length - shape.radius]))
            for end in (bodies.position[k] - axis, bodies.position[k] + axis):
                owners.append(k)
                points.append(end - (0.0, 0.0, shape.radius))
                sides.append(side)
        low = np.array(points)
        down = [side for side in set(sides) if low[np.array(sides) == side, 2].min() < LOW]
        on = np.isin(sides, down)
        return np.array(owners, dtype=np.int64)[on], low[on]

    def _wanted(self, bodies: Any, goal: Pose, center: Floats, drift: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Force and moment about the centre of mass that the ground is to give (3,)."""
        total, ground = self._mass.sum(), points[:, 2].min()
        goal_x, goal_turns = self.doll._bodies(goal)
        height = float(self._mass @ goal_x[:, 2] / total) - self._lowest(goal_x, goal_turns)
        middle = np.append(0.5 * (points[:, :2].max(axis=0) + points[:, :2].min(axis=0)), ground + height)
        pull = PULL * (middle - center) - BRAKE * drift
        # The push goes through the feet: c_p = c − z a / g.
        long = max(center[2] - ground, 0.2) / GRAVITY
        low, high = points[:, :2].min(axis=0) + EDGE, points[:, :2].max(axis=0) - EDGE
        through = np.clip(center[:2] - long * pull[:2], np.minimum(low, high), np.maximum(low, high))
        pull[:2] = (center[:2] - through) / long
        inertia = float(self._mass @ np.square(bodies.position - center).sum(axis=1)) / 2.0
        error = rotation.rotation_vector_from_quaternion(
            rotation.multiply(goal_turns[0], rotation.conjugate(bodies.orientation[0]))
        )
        moment = inertia * (TURN * error - SPIN * bodies.angular_velocity[0])
        return total * (pull + np.array([0.0, 0.0, GRAVITY])), moment

    def _lowest(self, places: Floats, turns: Floats) -> float:
        found = []
        for k, _ in self._feet:
            shape = self.doll.parts[k].shape
            axis = rotation.rotate(turns[k], np.array([0.0, 0.0, 0.5 * shape.length - shape.radius]))
            found.append(places[k, 2] - abs(axis[2]) - shape.radius)
        return float(min(found))

    def _carried(self, bodies: Any, loads: Floats, moments: Floats) -> Floats:
        """Torques that hold what is behind each joint under its loads (parts, 3)."""
        found = np.zeros_like(loads)
        turns = rotation.multiply(bodies.orientation, rotation.conjugate(self._turns))
        joints = bodies.position - rotation.rotate(turns, self._centers)
        for k in range(len(loads) - 1, -1, -1):
            above = self.doll.above[k]
            if above < 0:
                continue
            found[k] = -(moments[k] - np.cross(joints[k], loads[k]))
            loads[above] += loads[k]
            moments[above] += moments[k]
        return found


def _squares(levers: Floats) -> Floats:
    """r² 1 − r rᵀ of levers (n, 3, 3)."""
    return np.einsum("ki,ki->k", levers, levers)[:, None, None] * np.eye(3) - levers[:, :, None] * levers[:, None, :]


def _shared(levers: Floats, force: Floats, moment: Floats) -> Floats:
    """The least forces at points that give a force and a moment together, as far as the ground can (n, 3)."""
    n = len(levers)
    matrix = np.zeros((6, 3 * n))
    for k, (x, y, z) in enumerate(levers):
        matrix[:3, 3 * k : 3 * k + 3] = np.eye(3)
        matrix[3:, 3 * k : 3 * k + 3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    wanted = np.concatenate([force, moment])
    on, found = np.ones(n, dtype=bool), np.zeros((n, 3))
    # Forces weigh more than moments: what cannot be had of both is lost in the moment.
    scale = np.array([1.0, 1.0, 1.0, 0.3, 0.3, 0.3])
    for _ in range(n):
        columns = np.repeat(on, 3)
        a = scale[:, None] * matrix[:, columns]
        x = a.T @ np.linalg.solve(a @ a.T + 1e-6 * np.eye(6), scale * wanted)
        found[:] = 0.0
        found[on] = x.reshape(-1, 3)
        if (found[:, 2] >= -1e-9).all() or on.sum() <= 1:
            break
        on &= found[:, 2] >= -1e-9
    found[:, 2] = np.maximum(found[:, 2], 0.0)
    across = np.linalg.norm(found[:, :2], axis=1)
    found[:, :2] *= np.minimum(1.0, FRICTION * found[:, 2] / np.maximum(across, 1e-12))[:, None]
    return found
