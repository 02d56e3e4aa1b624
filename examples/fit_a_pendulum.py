"""Finds mass, length and damping of a pendulum from a recorded motion with noise, and says how sure they are.

The record is of a rod on a hinge that a known torque pushes for a second and a half: 8 s of angles, with noise of half
a degree. The steps of the fit, by SciPy, take angles and their derivatives by the parameters from ``rb.jacobian``.
"""

from functools import lru_cache

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

import rattleback as rb

NOISE = np.radians(0.5)
TRUE = {"mass": 0.8, "length": 0.6, "damping": 0.05}
GUESS = {"mass": 0.5, "length": 0.7, "damping": 0.15}
TIMES = np.arange(0.04, 8.0, 0.04)
TORQUE, PUSH = 1.2, 1.5  # N m, s
SETTINGS = {"time_step": 0.01, "joints": "reduced", "contacts": "none"}


def pendulum(mass: float, length: float, damping: float) -> rb.Scene:
    """A thin rod below a hinge, pushed by the torque."""
    scene = rb.Scene()
    rod = scene.add_body(rb.Box(0.01, 0.01, length), mass=mass, position=(0, 0, -length / 2), name="rod")
    scene.add_joint(rb.Revolute(scene.world, rod, at=(0, 0, 0), axis=(0, 1, 0), damping=damping), name="hinge")
    scene.add_force(rb.Wrench("rod", torque=(0, TORQUE, 0), until=PUSH))
    return scene


def record(mass: float, length: float, damping: float) -> np.ndarray:
    """Angles as a camera sees them: by the textbook's equation and another integrator, with noise (times,) [rad]."""
    moment = mass * (length**2 / 3 + 0.01**2 / 12)

    def rate(t: float, y: np.ndarray) -> list[float]:
        torque = TORQUE * (t < PUSH) - damping * y[1] - mass * 9.81 * length / 2 * np.sin(y[0])
        return [y[1], torque / moment]

    angles = solve_ivp(rate, (0, TIMES[-1]), [0, 0], t_eval=TIMES, max_step=0.01, rtol=1e-9, atol=1e-9).y[0]
    return angles + np.random.default_rng(0).normal(0, NOISE, len(TIMES))


def fit(recorded: np.ndarray) -> tuple[dict[str, float], dict[str, float]]:
    """The parameters, and how sure they are (standard deviation)."""

    @lru_cache(maxsize=1)
    def look(*values: float) -> rb.Jacobian:
        return rb.jacobian(pendulum, dict(zip(GUESS, values, strict=True)), "hinge.angle", duration=TIMES, **SETTINGS)

    def residuals(values: np.ndarray) -> np.ndarray:
        return (look(*values).value[:, 0] - recorded) / NOISE

    def slopes(values: np.ndarray) -> np.ndarray:
        return look(*values).matrix[:, 0] / NOISE

    found = least_squares(residuals, list(GUESS.values()), jac=slopes, bounds=(1e-3, 10.0), x_scale="jac")
    spread = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)))
    return dict(zip(GUESS, found.x, strict=True)), dict(zip(GUESS, spread, strict=True))


if __name__ == "__main__":
    found, sure = fit(record(**TRUE))
    for name, true in TRUE.items():
        print(f"{name:8} {found[name]:.4f} ± {sure[name]:.4f}, in truth {true}")
    assert all(abs(found[name] - true) < 4 * sure[name] for name, true in TRUE.items())
