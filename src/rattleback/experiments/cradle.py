"""Newton's cradle: five elastic balls on arms, one to four of them lifted; as many leave as have arrived.

    E(t) = E₀ + O(h⁴) − h² H₂,   H₂ = Σ (θ̇² V″/12 − V′²/(24 M) + m L² θ̇⁴/24)

θ angle of an arm, V = −m g L cos θ, M = m L² + 0.4 m r² moment of a ball about its hinge, h step. H₂ is what joints
held by impulses at both ends of a step do to the energy within a swing, whatever the integrator, the joint method
and the tolerances: gravity alone is integrated without error, and what is left is the chord that stands for the arc. It
comes back to zero with every swing and amounts to 7.93e-6 N m a ball at a millisecond. So energies are compared before
and after the impact, as in the dissertation, and at all times with h² H₂ taken out; with four sub-steps nothing need be
taken out.

Steps end when balls touch, and balls that touch are those a micrometre apart. Collisions are resolved one after the
other; resolved all at once, as between perfectly rigid bodies, all the balls leave.

Reference: Bender, dissertation, §5.5.3, figure 5.12 and table 5.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.experiments.result import (
    Curve,
    Experiment,
    Findings,
    Options,
    Panel,
    Picture,
    Result,
    at_most,
    near,
)
from rattleback.experiments.snapshot import snapshot
from rattleback.scenes import cradle
from rattleback.scenes.impacts import ARM, BALL, GRAVITY
from rattleback.simulation import Simulation
from rattleback.solvers.contacts import Impulse

if TYPE_CHECKING:
    from collections.abc import Sequence

# Deviations there of the energy [N m] and of the angular velocity [rad/s] by the number of balls that are lifted.
PUBLISHED_ENERGY = {1: 1.106e-6, 2: 1.451e-6, 3: 1.691e-6, 4: 1.975e-6}
PUBLISHED_SPEED = {1: 1.054e-6, 2: 2.049e-6, 3: 3.273e-6, 4: 3.506e-6}
STEP, SUBSTEPS, SECONDS, BALLS, ANGLE = 0.001, 4, 10.0, 5, 0.25 * math.pi
# What is allowed: energy [N m], angular velocity of the ball that leaves [rad/s], and of those at rest [rad/s].
ENERGY, SPEED, REST = 2e-6, 3.506e-6, 1e-5
# A ball moves that turns faster than this, and is struck if it changes by as much [rad/s].
MOVES = 0.05
MOMENT = ARM**2 + 0.4 * BALL**2
# When pictures are taken [s], and of how many balls lifted.
MOMENTS, SHOWN = (0.0, 1.0, 1.4, 2.35, 3.4), 2


@dataclass
class Swing:
    """What was seen of a cradle, after every step.

    Attributes:
        times: When [s].
        angles: Angles of the arms (steps, balls) [rad].
        speeds: Angular velocities of the balls (steps, balls) [rad/s].
        energies: Energy beside that of the start [N m].
        pictures: What it looked like.
    """

    times: np.ndarray
    angles: np.ndarray
    speeds: np.ndarray
    energies: np.ndarray
    pictures: list[Picture] = field(default_factory=list)

    @property
    def impacts(self) -> np.ndarray:
        """Numbers of the last steps before an impact."""
        return np.flatnonzero(np.abs(np.diff(self.speeds, axis=0)).max(axis=1) > MOVES)

    @property
    def leaving(self) -> list[int]:
        """How many balls move after each impact."""
        return [int((np.abs(self.speeds[k + 1]) > MOVES).sum()) for k in self.impacts]

    def ripple(self, step: float) -> np.ndarray:
        """What a step [s] does to the energy within a swing, beside the start [N m]."""
        pull, rate = GRAVITY * ARM, self.speeds**2
        parts = rate * pull * np.cos(self.angles) / 12.0 + ARM**2 * rate**2 / 24.0
        parts -= (pull * np.sin(self.angles)) ** 2 / (24.0 * MOMENT)
        lifted = int((np.abs(self.angles[0]) > 0.5 * ANGLE).sum())
        start = -lifted * (pull * math.sin(ANGLE)) ** 2 / (24.0 * MOMENT)
        return np.asarray(-(step**2) * (parts.sum(axis=1) - start))

    def unrest(self, lifted: int) -> float:
        """Largest angular velocity after the first impact of a ball that is to be at rest [rad/s]."""
        worst, ends = 0.0, [*self.impacts[1:], len(self.times) - 1]
        for k, (first, last) in enumerate(zip(self.impacts, ends, strict=True)):
            others = slice(0, BALLS - lifted) if k % 2 == 0 else slice(lifted, BALLS)
            worst = max(worst, float(np.abs(self.speeds[first + 1 : last + 1, others]).max()))
        return worst

    def passed_on(self, lifted: int) -> float:
        """Largest difference in angular velocity between what arrives and the innermost ball that leaves [rad/s]."""
        worst = 0.0
        for k, struck in enumerate(self.impacts):
            arrives, leaves = (lifted - 1, BALLS - lifted) if k % 2 == 0 else (BALLS - lifted, lifted - 1)
            worst = max(worst, float(abs(self.speeds[struck, arrives] - self.speeds[struck + 1, leaves])))
        return worst


def run(options: Options) -> Result:
    """Let cradles swing; the long version also in sub-steps."""
    found, swings = Findings(), {}
    for lifted in (SHOWN,) if options.quick else range(1, BALLS):
        options.tell(f"cradle with {lifted} lifted")
        moments = MOMENTS if lifted == SHOWN and not options.quick else ()
        swings[lifted] = swing(lifted, 1.2 if options.quick else SECONDS, moments=moments)
        judge(found, lifted, swings[lifted])
    options.tell("cradle, all at once")
    together = swing(1, 1.2, 4.0 * STEP, Impulse(impact="simultaneous"))
    found.rows.append(near("1 lifted, all at once: balls that move after the impact", together.leaving[0], BALLS, 0.0))
    finest = None
    if not options.quick:
        options.tell("cradle in sub-steps")
        finest = swing(BALLS - 1, SECONDS, substeps=SUBSTEPS)
        worst = float(np.abs(finest.energies).max())
        found.rows.append(
            at_most(f"4 lifted, at all times, {SUBSTEPS} sub-steps: energy deviation", worst, ENERGY, "N m")
        )
    return found.result(*panels(swings, finest), pictures=swings[SHOWN].pictures)


def swing(
    lifted: int,
    seconds: float,
    step: float = STEP,
    contacts: Impulse | None = None,
    moments: Sequence[float] = (),
    substeps: int = 1,
) -> Swing:
    """Let a cradle swing.

    Args:
        lifted: How many balls are lifted.
        seconds: How long [s].
        step: Length of a step [s].
        contacts: How collisions are resolved; None for one after the other.
        moments: When pictures are taken [s].
        substeps: In how many sub-steps each step is done.
    """
    sim = Simulation(
        cradle(lifted, BALLS, ANGLE),
        time_step=step,
        substeps=substeps,
        contacts=contacts or Impulse(),
        contact_time="interpolate",
        contact_distance=1e-6,
        contact_velocity_tolerance=1e-8,
        position_tolerance=1e-8,
        orientation_tolerance=1e-8,
        velocity_tolerance=1e-8,
    )
    start, rows, pictures, due = sim.energy().total, [], [], list(moments)
    while sim.time < seconds - 0.5 * step:
        if due and sim.time >= due[0] - 0.5 * step:
            pictures.append(snapshot(sim))
            due.pop(0)
        sim.step()
        rows.append((sim.time, sim.energy().total - start, *angles_of(sim), *sim.state.angular_velocity[:, 1]))
    seen = np.array(rows)
    return Swing(seen[:, 0], seen[:, 2 : 2 + BALLS], seen[:, 2 + BALLS :], seen[:, 1], pictures)


def angles_of(sim: Simulation) -> np.ndarray:
    """Angles of the arms from where they hang, to the side of −x (balls,) [rad]."""
    across = pivot_of(np.arange(BALLS)) - sim.state.position[:, 0]
    return np.asarray(np.arctan2(across, ARM - sim.state.position[:, 2]))


def pivot_of(number: Any) -> Any:
    """Where the hinges of balls are along x, counted from 0 [m]."""
    return BALL * (2.0 * number - BALLS + 1.0)


def impact_time(number: int) -> float:
    """When the balls meet for the n-th time, from 1, by the arithmetic-geometric mean [s]."""
    a, b = 1.0, math.cos(0.5 * ANGLE)
    for _ in range(6):
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return (2 * number - 1) * 0.5 * math.pi / a * math.sqrt(MOMENT / (GRAVITY * ARM))


def judge(found: Findings, lifted: int, seen: Swing) -> None:
    """The rows of a cradle."""
    who, struck = f"{lifted} lifted", seen.impacts
    off = [count for count in seen.leaving if count != lifted]
    found.rows.append(near(f"{who}: balls that leave", off[0] if off else lifted, lifted, 0.0))
    last, meets = float(seen.times[struck[-1] + 1]), impact_time(len(struck))
    found.rows.append(near(f"{who}: time of impact {len(struck)}", last, meets, 1e-3 * meets, "s"))
    found.rows.append(at_most(f"{who}: fastest ball at rest", seen.unrest(lifted), REST, "rad/s"))
    passed_on = seen.passed_on(lifted)
    found.rows.append(at_most(f"{who}: angular velocity passed on", passed_on, SPEED, "rad/s", PUBLISHED_SPEED[lifted]))
    lost = float(np.abs(seen.energies[struck + 1] - seen.energies[struck]).max())
    found.rows.append(at_most(f"{who}: energy deviation at an impact", lost, ENERGY, "N m", PUBLISHED_ENERGY[lifted]))
    ripple = seen.ripple(STEP)
    rest = float(np.abs(seen.energies - ripple).max())
    found.rows.append(at_most(f"{who}: energy deviation at all times, but for h² H₂", rest, ENERGY, "N m"))
    largest = float(np.abs(ripple).max())
    found.rows.append(
        near(
            f"{who}: energy within a swing falls and rises by",
            float(np.abs(seen.energies).max()),
            largest,
            0.01 * largest,
            "N m",
        )
    )


def panels(swings: dict[int, Swing], finest: Swing | None) -> tuple[Panel, ...]:
    """Places of the balls, the energy over time, and the deviations of the table."""
    shown, numbers = swings[SHOWN], sorted(swings)
    places = pivot_of(np.arange(BALLS)) - ARM * np.sin(shown.angles)
    balls = tuple(Curve(f"ball {k + 1}", shown.times.tolist(), places[:, k].tolist(), "line", k) for k in range(BALLS))
    lost = [float(np.abs(np.diff(swings[k].energies)[swings[k].impacts]).max()) for k in numbers]
    table = (
        Curve("simulated", numbers, lost),
        Curve("dissertation", numbers, [PUBLISHED_ENERGY[k] for k in numbers], "published", 1),
        Curve("allowed", numbers, [ENERGY] * len(numbers), "bound"),
    )
    return (
        Panel(f"{SHOWN} balls lifted", "time [s]", "place [m]", balls),
        energy_panel(max(swings), swings[max(swings)], finest),
        Panel("Energy lost at an impact", "balls lifted", "deviation [N m]", table, ("linear", "log")),
    )


def energy_panel(lifted: int, seen: Swing, finest: Swing | None) -> Panel:
    """The energy over time, also without what the step does to it, and at a quarter of the step."""
    times = seen.times.tolist()
    curves = [
        Curve("simulated", times, seen.energies.tolist(), "line"),
        Curve("without h² H₂", times, (seen.energies - seen.ripple(STEP)).tolist(), "line", 1),
    ]
    if finest is not None:
        curves.append(Curve(f"{SUBSTEPS} sub-steps", finest.times.tolist(), finest.energies.tolist(), "line", 2))
    curves.append(Curve("allowed", [0.0, times[-1]], [-ENERGY, -ENERGY], "bound"))
    return Panel(f"{lifted} balls lifted: energy", "time [s]", "deviation [N m]", tuple(curves))


EXPERIMENT = Experiment(
    "cradle",
    "Do as many balls leave Newton's cradle as have arrived?",
    "Bender, dissertation, table 5.3",
    run,
)
