"""The tip of a double pendulum strikes the ground at an angle: what the three laws of restitution do to the energy.

    A = J M⁻¹ Jᵀ,   M = m l² [[4/3, cos(α − β)/2], [cos(α − β)/2, 1/3]],   J = −l [[cos α, cos β], [sin α, sin β]]

α, β angles of the rods to the vertical, l = 1 m and m = 1 kg of each; A inverse mass at the tip, see ``routh``. The tip
comes at the same speed from many directions; the rods turn as those ask. Where friction turns the slip of the tip
around, Newton's law gives it more speed than it has work to show for: energy is created. Stronge's never does.

Where friction is more than A_nn/A_tn a tip that slips towards the upper rod is drawn into the ground, the faster the
longer it slips. That is a part of an impact that slices of normal velocity do not follow; its rows are only shown.

Reference: Kane, Levinson, Dynamics: theory and applications, 1985; Stronge, Impact mechanics, 2000, § 8; closed form.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rattleback.experiments.result import (
    Curve,
    Experiment,
    Finding,
    Findings,
    Options,
    Panel,
    Result,
    at_most,
    near,
)
from rattleback.experiments.routh import strike
from rattleback.scenes import double_pendulum_impact
from rattleback.scenes.impacts import ROD_ANGLES, ROD_SPINS
from rattleback.simulation import Simulation
from rattleback.solvers.contacts import Impulse

Array = NDArray[np.float64]

LAWS = ("newton", "poisson", "stronge")
RESTITUTION, FRICTIONS = 0.5, (0.25, 0.5, 1.0)
# The friction of the puzzle.
PUZZLE = 0.5
# So short a step that nothing but the impact counts [s].
STEP = 1e-9
# Allowed deviations of the energy after over before: of laws with one answer, and of one that is followed in slices.
ALLOWED, SLICED = 1e-6, 0.01

_TURNED = np.array([np.cos(ROD_ANGLES), np.sin(ROD_ANGLES)])
_SHARED = 0.5 * math.cos(ROD_ANGLES[0] - ROD_ANGLES[1])
MASSES = np.array([[4.0 / 3.0, _SHARED], [_SHARED, 1.0 / 3.0]])
JACOBIAN = -_TURNED
INVERSE_MASS = JACOBIAN @ np.linalg.inv(MASSES) @ JACOBIAN.T
# Friction from which on slip towards the upper rod draws the tip into the ground.
DRAWN_IN = INVERSE_MASS[1, 1] / INVERSE_MASS[0, 1]


def run(options: Options) -> Result:
    """Strike from many directions, with several frictions."""
    found, panels = Findings(), []
    spins = directions()[1]
    for mu in (PUZZLE,) if options.quick else FRICTIONS:
        curves = [Curve("as much as before", [-85.0, 85.0], [1.0, 1.0], "bound")]
        for colour, law in enumerate(LAWS):
            options.tell(f"double pendulum, μ = {mu:g}, {law}")
            kept = strikes(law, mu, spins)
            judge(found, law, mu, kept, closed_form(law, mu, spins))
            curves += draw_law(law, mu, kept, colour)
        panels.append(
            Panel(f"μ = {mu:g}, e = {RESTITUTION:g}", "direction [°]", "energy after over before", tuple(curves))
        )
    return found.result(*panels)


def draw_law(law: str, friction: float, kept: Array, colour: int) -> list[Curve]:
    """Energies that were simulated, and those of the closed form at more directions."""
    angles, (finer, spins) = directions()[0], directions(0.5)
    expected = closed_form(law, friction, spins)
    return [
        Curve(law, angles[1:].tolist(), kept[1:].tolist(), "dots", colour),
        Curve(f"{law}, closed form", finer[1:].tolist(), expected[1:].tolist(), "line", colour),
    ]


def directions(apart: float = 5.0) -> tuple[Array, Array]:
    """Angles of the ways of the tip to the vertical (ways,) [°], and spins of the rods for them (ways, 2) [rad/s].

    The first is that of the puzzle, where the lower rod turns twice as fast as the upper one.

    Args:
        apart: Angle from one way to the next [°].
    """
    puzzle = JACOBIAN @ np.array(ROD_SPINS)
    own, reach = math.degrees(math.atan2(puzzle[0], -puzzle[1])), round(85.0 / apart)
    angles = np.append(own, apart * np.arange(-reach, reach + 1))
    ways = np.stack([np.sin(np.radians(angles)), -np.cos(np.radians(angles))])
    return angles, np.linalg.solve(JACOBIAN, ways).T


def kinetic(spins: Array) -> Array:
    """Kinetic energies of rods that turn so (ways, 2) [J]."""
    return np.asarray(0.5 * np.einsum("ni,ij,nj->n", spins, MASSES, spins))


def strikes(law: str, friction: float, spins: Array) -> Array:
    """Kinetic energies after impacts over those before, (ways,); each in a world of its own.

    Args:
        law: Law of restitution.
        friction: Friction of rod and ground.
        spins: Angular velocities of the rods before (ways, 2) [rad/s].
    """
    sim = Simulation(
        double_pendulum_impact(friction, RESTITUTION),
        time_step=STEP,
        worlds=len(spins),
        contacts=Impulse(restitution=law),
        contact_distance=1e-6,
        contact_velocity_tolerance=1e-10,
        velocity_tolerance=1e-10,
    )
    velocity = np.zeros((len(spins), 3))
    for k, name in enumerate(("upper", "lower")):
        turning = spins[:, k, None] * (0.0, 1.0, 0.0)
        swing = np.cross(turning, (_TURNED[1, k], 0.0, -_TURNED[0, k]))
        sim[name].angular_velocity, sim[name].velocity = turning, velocity + 0.5 * swing
        velocity = velocity + swing
    sim.step()
    return np.asarray(sim.energy().kinetic) / kinetic(spins)


def closed_form(law: str, friction: float, spins: Array) -> Array:
    """The same by the closed forms of ``routh``, (ways,)."""
    before = spins @ JACOBIAN.T
    after = np.array([strike(law, INVERSE_MASS, way, friction, RESTITUTION) for way in before])
    impulses = np.linalg.solve(INVERSE_MASS, (after - before).T)
    left = spins + (np.linalg.solve(MASSES, JACOBIAN.T) @ impulses).T
    return np.asarray(kinetic(left) / kinetic(spins))


def judge(found: Findings, law: str, friction: float, kept: Array, expected: Array) -> None:
    """The rows of a law with a friction."""
    who, allowed = f"μ = {friction:g}, {law}", SLICED if law == "stronge" else ALLOWED
    if friction == PUZZLE:
        found.rows.append(near(f"{who}, puzzle: energy after over before", float(kept[0]), float(expected[0]), allowed))
    off, name = float(np.abs(kept - expected).max()), f"{who}: deviation from the closed form"
    drawn_in = law == "stronge" and friction > DRAWN_IN
    found.rows.append(Finding(name, off) if drawn_in else at_most(name, off, allowed))
    most, name = float(kept.max()), f"{who}: most energy after over before"
    if law == "newton":
        found.rows.append(near(name, most, float(expected.max()), ALLOWED))
    else:
        found.rows.append(at_most(name, most, 1.0, published=float(expected.max())))


EXPERIMENT = Experiment(
    "double_pendulum_impact",
    "Which laws of restitution create energy where the tip of a double pendulum strikes at an angle?",
    "closed form",
    run,
)
