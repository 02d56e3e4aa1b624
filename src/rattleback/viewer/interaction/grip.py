"""Grip: a hand that leads a body to a pose through a velocity joint, as far as joints and walls let it.

    f = c (v* − v)        v* = v + clip(w − v, F/c)        c = M / T        F = a M
    w = clip((x* − x)/τ, √(b |x* − x|))        b = a / (1 + h/T)

x, v place and velocity of the body, x*, w where it is wanted and how fast it should go there, v* what the joint is told
before every step, M mass of all that hangs on the body by joints, τ how fast the hand follows, T how firm it is, F the
most it can do, b how hard it can brake in steps of h, of which it uses half. What hangs at rest is held g τ T below
where it is wanted. Turns go the same way, with angles, angular velocities and the inertia of all that hangs on the body
about its centre.

Reference: Bender, dissertation, §3.2.6 and §6.2.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.joints import VelocityJoint
from rattleback.maths.rotation import conjugate, multiply, rotation_vector_from_quaternion
from rattleback.viewer.interaction.grab import mechanism, reach_of, total_mass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation

    Floats = NDArray[np.float64]

# What the joint is called.
GRIP = "manipulator"
# The hand follows within this time, and in no less than so many steps [s].
FOLLOW, STEPS = 0.05, 3.0
# How firm it is: the velocity of what it holds fades to the one it wants within this time [s].
FIRM = 0.0025
# It can speed what it holds up by so much [m/s²].
STRENGTH = 200.0
# It moves no faster than this [m/s], and no farther in a step than this part of how far the body goes from its centre.
SPEED, PART = 5.0, 0.4
STILL = (0.0, 0.0, 0.0)
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Pose:
    """Where a body is: centre of mass (3,) [m] and orientation x, y, z, w."""

    position: Floats
    orientation: Floats


class GripHand:
    """The hand that holds a body, in every simulation of a session.

    Attributes:
        body: Name of the body.
        target: Where it is wanted.

    Args:
        body: The same.
        target: Where it is wanted at first.
    """

    def __init__(self, body: str, target: Pose) -> None:
        self.body, self.target = body, target
        self._reach = 1.0

    def take(self, sim: Simulation) -> None:
        """Add the joint to a simulation."""
        without_grip(sim)
        scene = sim.scene.copy()
        mass, inertia = total_mass(scene, self.body), self._inertia(sim)
        self._reach = reach_of(scene[self.body])
        center = tuple(scene[self.body].center_of_mass)
        joint = VelocityJoint(
            scene.world,
            self.body,
            frame_a=(STILL, UPRIGHT),
            frame_b=(center, UPRIGHT),
            linear=STILL,
            angular=STILL,
            linear_damping=mass / FIRM,
            angular_damping=inertia / FIRM,
        )
        scene.add_joint(joint, name=GRIP)
        sim.rebuild(scene)

    def most_steps(self, sim: Simulation) -> int:
        """It looks before every step."""
        return 1

    def observe(self, sim: Simulation) -> None:
        """What it does holds on."""

    def before_step(self, sim: Simulation, steps: int = 1) -> None:
        """Tell the joint how to move the body."""
        if GRIP not in sim.scene.joints or self.body not in sim.scene:
            return
        view, h = sim[self.body], sim.time_step
        follow = max(FOLLOW, STEPS * h)
        position, orientation, velocity, spin = (
            np.array(array).reshape(-1, array.shape[-1])[0]
            for array in (view.position, view.orientation, view.velocity, view.angular_velocity)
        )
        joint, grip = sim.scene.joints[GRIP], sim[GRIP]
        radius = math.sqrt(joint.angular_damping / joint.linear_damping)
        fastest, brake = min(SPEED, PART * self._reach / h), STRENGTH / (1.0 + h / FIRM)
        wanted = approach(self.target.position - position, follow, brake, fastest)
        turn = rotation_vector_from_quaternion(multiply(self.target.orientation, conjugate(orientation)))
        whirl = approach(turn, follow, brake / radius, fastest / self._reach)
        grip.linear = tuple(velocity + clipped(wanted - velocity, STRENGTH * FIRM))
        grip.angular = tuple(spin + clipped(whirl - spin, STRENGTH * FIRM / radius))

    def _inertia(self, sim: Simulation) -> float:
        """Inertia of all that hangs on the body about its centre, whatever the axis, at most [kg m²]."""
        center = np.asarray(sim[self.body].position).reshape(-1, 3)[0]
        total = 0.0
        for body in mechanism(sim.scene, self.body):
            arm = np.asarray(sim[body.name].position).reshape(-1, 3)[0] - center
            total += float(np.linalg.eigvalsh(body.inertia)[-1]) + body.mass * float(arm @ arm)
        return total


def without_grip(sim: Simulation) -> None:
    """Take the joint of a hand out of a simulation, if there is one."""
    if GRIP in sim.scene.joints:
        scene: Scene = sim.scene.copy()
        scene.remove_joint(GRIP)
        sim.rebuild(scene)


def approach(way: Floats, follow: float, brake: float, fastest: float) -> Floats:
    """How fast to go a way (3,) [m/s or rad/s].

    Args:
        way: What is left of it (3,) [m or rad].
        follow: Time in which to go it, if it is short [s].
        brake: How hard one can brake [m/s² or rad/s²].
        fastest: As fast as one may go.
    """
    return clipped(way / follow, min(fastest, math.sqrt(brake * float(np.linalg.norm(way)))))


def clipped(vector: Floats, most: float) -> Floats:
    """A vector, no longer than some length."""
    length = float(np.linalg.norm(vector))
    return vector if length <= most else vector * (most / length)


def take(session: Any, hand: GripHand) -> Any:
    """Have a hand hold its body in all simulations of a session; returns a Future."""

    def begin(sim: Simulation) -> None:
        if hand.body in sim.scene:
            hand.take(sim)
            if hand not in session.hands:
                session.hands.append(hand)

    return session.do(begin)


def let_go(session: Any, hand: GripHand) -> Any:
    """Have a hand let go in all simulations of a session; returns a Future."""

    def end(sim: Simulation) -> None:
        if hand in session.hands:
            session.hands.remove(hand)
        without_grip(sim)

    return session.do(end)
