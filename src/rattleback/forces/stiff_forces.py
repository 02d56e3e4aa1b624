"""Which force is too stiff for the step: an estimate from stiffness, damping and bodies as if they were free.

    ω² = D e,   r = c e,   longest step  h = 2 / (r/2 + √(r²/4 + ω²))

e how much a unit force or torque moves what it acts on, c damping, D stiffness. Beyond h an explicit step makes the
motion grow: beyond 2/ω without damping, beyond 2/r without stiffness. Joints make bodies less mobile, so that h may be
too short, never too long by them. A force offers ``rates()``, ω² and r of the worst of its bodies, where it is made.

It is looked for where a run fails only. Damping of jointed bodies does not count where ``problem.held_velocities``
takes care of it.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rattleback.model.model import Model


def easing(model: Model, row: int, lever: np.ndarray) -> float:
    """Largest change of the velocity of a point of a body by a unit impulse there [1/kg]; none of the world."""
    if row < 0:
        return 0.0
    x, y, z = lever
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    mass = float(model.bodies.inverse_mass.numpy()[row])
    turning = cross.T @ model.bodies.inverse_inertia.numpy()[row].astype(np.float64) @ cross
    return mass + float(np.linalg.eigvalsh(turning).max())


def turning(model: Model, row: int, axis: np.ndarray) -> float:
    """Change of the rate of a body about an axis of its own by a unit angular impulse [1/(kg m²)]."""
    if row < 0:
        return 0.0
    return float(axis @ model.bodies.inverse_inertia.numpy()[row].astype(np.float64) @ axis)


def longest_step(squared: float, rate: float) -> float:
    """The longest step [s] of a force with ω² and r."""
    sum_of_both = 0.5 * rate + math.sqrt(0.25 * rate * rate + squared)
    return 2.0 / sum_of_both if sum_of_both > 0.0 else math.inf


def limit_of_step(named: Mapping[str, Any], h: float, damped: bool) -> str:
    """A sentence about the force that asks for the shortest step, if that is shorter than a step of a length [s].

    Args:
        named: The compiled forces by name.
        h: Length of a step [s].
        damped: Whether damping counts.
    """
    steps = {}
    for name, force in named.items():
        if hasattr(force, "rates"):
            squared, rate = force.rates()
            steps[name] = longest_step(squared, rate if damped else 0.0)
    name = min(steps, key=lambda key: steps[key], default="")
    if not name or steps[name] >= h:
        return ""
    return (
        f"Force {name!r} is too stiff for a step of {h:.3g} s: with bodies as if they were free it needs a time_step "
        f"below {steps[name]:.2g} s, or integrator='implicit_euler'."
    )
