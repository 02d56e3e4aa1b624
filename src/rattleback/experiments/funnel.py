"""A thousand cubes fall through a funnel: table 5.1, with what must not happen to them.

Every ten steps one is looked at: how many points collide in it, how many touch, and what resolving either takes.
Means and maxima are over these looks. No cube may be lost under the ground, no energy may come from anywhere, and no
two bodies may overlap by more than a millimetre at any time. In the middle the simulation is saved and loaded, and both
go on for a while: they have to stay the same to the bit.

The cubes are more than the funnel holds. Some fall over its edge, and all slide far with so little friction.

Reference: Bender, dissertation, §5.5.1.1, table 5.1, figures 5.7 to 5.9; e = 0.8, μ = 0.05 for each body, h = 0.001 s,
tolerances of 0.01 m/s and 1e-4 m, 8 s. How wide the funnel is and how high it hangs is not said there.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.errors import NotConvergedWarning
from rattleback.experiments.collision_times import CollisionTimes, Look
from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Picture, Result, at_most
from rattleback.experiments.snapshot import snapshot
from rattleback.io.state_file import load
from rattleback.scenes import funnel
from rattleback.scenes.funnel import RIM
from rattleback.simulation import Simulation
from rattleback.solvers.contacts import BlockGaussSeidel, Impulse

if TYPE_CHECKING:
    from collections.abc import Callable

STEP = 0.001
# Contact distance [m], and the tolerances [m], [m/s].
DISTANCE, DEPTH, SPEED = 1e-3, 1e-4, 1e-2
# Overlaps that are allowed [m]; energy that may come from rounding, of that at the start.
DEEPEST, ROUNDING = 1e-3, 1e-9
# Most points, longest time [ms], mean number of points and mean time [ms] of collisions and of contacts.
PUBLISHED = {"collisions": (332.0, 61.02, 38.0, 2.02), "contacts": (2813.0, 69.87, 879.0, 10.02)}
# Steps in all, when the simulation is saved, and from one look to the next.
FULL, QUICK = (8000, 4000, 10), (1500, 1200, 50)
# Steps after which a loaded simulation is compared; steps at which pictures are taken, beside the last.
COMPARED, MOMENTS = 100, (0, 2000, 4000, 6000)
# The slabs that would hide the cubes, and the colour of the others.
IN_FRONT = ("slab_1", "slab_4")
BEHIND = dict.fromkeys(("slab_2", "slab_3"), (0.80, 0.79, 0.76))
# Cubes farther from the axis than this are left out of pictures [m].
FAR = 12.0


@dataclass
class Fall:
    """What was seen of a fall.

    Attributes:
        looks: Steps that were looked at.
        milliseconds: Mean time of a step since the look before [ms].
        energies: Total energy at every look [J].
        deepest: Deepest overlap at any time [m].
        differs: Whether a simulation that was loaded went another way.
        pictures: What it looked like.
    """

    looks: list[Look] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    energies: list[float] = field(default_factory=list)
    deepest: float = 0.0
    differs: bool = True
    pictures: list[Picture] = field(default_factory=list)

    def step(self, sim: Simulation, steps: int) -> None:
        """Take steps, and note how long they took and how they went."""
        sim.capture()
        begun = time.perf_counter()
        sim.step(steps)
        self.milliseconds.append(1e3 * (time.perf_counter() - begun) / steps)
        self.energies.append(sim.energy().total)
        self.deepest = max(self.deepest, sim.report.penetration)

    @property
    def gained(self) -> float:
        """Most energy gained from one look to any later one [J]."""
        energies = np.array(self.energies)
        return float((energies - np.minimum.accumulate(energies)).max())


def run(options: Options) -> Result:
    """Let the cubes fall and look."""
    found = Findings()
    sim = Simulation(
        funnel(6, 2) if options.quick else funnel(),
        time_step=STEP,
        contacts=Impulse(solver=BlockGaussSeidel(sweeps=10)),
        contact_distance=DISTANCE,
        penetration_tolerance=DEPTH,
        contact_velocity_tolerance=SPEED,
    )
    with warnings.catch_warnings():
        # Overlaps are judged below, by what is demanded here.
        warnings.simplefilter("ignore", NotConvergedWarning)
        seen = fall(sim, QUICK if options.quick else FULL, options.tell)
    for what, value in (("collisions", "resolving"), ("contacts", "stopping")):
        tabulate(found, seen, what, value, options.quick)
    judge(found, seen, sim)
    return found.result(*panels(seen, options.quick), pictures=seen.pictures)


def fall(sim: Simulation, plan: tuple[int, int, int], tell: Callable[[str], None]) -> Fall:
    """Let cubes fall and look every few steps; in the middle, save and load."""
    seen, watch = Fall(), CollisionTimes(sim, DISTANCE)
    steps, saved, every = plan
    seen.energies.append(sim.energy().total)
    while sim.state.steps < steps:
        if sim.state.steps % 250 == 0:
            tell(f"funnel at {sim.time:.2f} s")
        if sim.state.steps in MOMENTS:
            seen.pictures.append(picture(sim))
        seen.looks.append(watch.look())
        if sim.state.steps == saved:
            seen.differs = goes_another_way(sim, seen)
        else:
            seen.step(sim, every)
    seen.pictures.append(picture(sim))
    return seen


def goes_another_way(sim: Simulation, seen: Fall) -> bool:
    """Save a simulation and load it; whether the two differ after some steps."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "funnel.npz"
        sim.save(path)
        other = load(path)
    seen.step(sim, COMPARED)
    other.step(COMPARED)
    return sim.hash() != other.hash()


def picture(sim: Simulation) -> Picture:
    """What it looks like, from where the slabs in front would be."""
    far = [body.name for body in sim.scene.bodies if np.abs(sim[body.name].position[:2]).max() > FAR]
    return snapshot(sim, BEHIND, (*IN_FRONT, *far))


def heights(sim: Simulation) -> np.ndarray:
    """Heights of the middles of all cubes (cubes,) [m]."""
    cubes = [sim.model.index(body.name) for body in sim.scene.bodies if not body.static]
    found: np.ndarray = sim.state.position[cubes, 2]
    return found


def tabulate(found: Findings, seen: Fall, what: str, value: str, quick: bool) -> None:
    """The rows of table 5.1 that belong to collisions or to contacts; a small funnel has no published numbers."""
    many = np.array([getattr(look, what) for look in seen.looks], dtype=float)
    taken = np.array([getattr(look, value) for look in seen.looks])
    measured = (many.max(), taken.max(), many.mean(), taken.mean())
    names = ("most at once", "longest time", "mean number", "mean time")
    for name, number, published, unit in zip(names, measured, PUBLISHED[what], ("", "ms", "", "ms"), strict=True):
        found.rows.append(Finding(f"{what}: {name}", float(number), None if quick else published, unit))


def judge(found: Findings, seen: Fall, sim: Simulation) -> None:
    """The rows of what must not happen."""
    found.rows.append(Finding("a step with all it needs, mean time", float(np.mean(seen.milliseconds)), unit="ms"))
    found.rows.append(Finding("cubes under the rim at the end", int((heights(sim) < RIM).sum())))
    found.rows.append(at_most("cubes lost", int((~(heights(sim) > 0.0)).sum()), 0.0))
    found.rows.append(at_most("energy gained, of all", seen.gained / seen.energies[0], ROUNDING))
    found.rows.append(at_most("deepest overlap", seen.deepest, DEEPEST, "m"))
    found.rows.append(at_most("simulations loaded in the middle that differ", float(seen.differs), 0.0))


def panels(seen: Fall, quick: bool) -> tuple[Panel, ...]:
    """Figures 5.8 and 5.9: times and numbers over time, of collisions and of contacts."""
    made, moment = [], [look.time for look in seen.looks]
    for what, value, number in (("collisions", "resolving", 0), ("contacts", "stopping", 1)):
        for name, up, mean in (
            (value, "time [ms]", PUBLISHED[what][3]),
            (what, f"{what} in a step", PUBLISHED[what][2]),
        ):
            curves = [Curve("measured", moment, [getattr(look, name) for look in seen.looks], "line", number)]
            if not quick:
                curves.append(Curve("mean published", [0.0, moment[-1]], [mean, mean], "bound"))
            title = f"{what.capitalize()}: " + ("time of a step" if name == value else "number")
            made.append(Panel(title, "simulated time [s]", up, tuple(curves)))
    return tuple(made)


EXPERIMENT = Experiment(
    "funnel",
    "What do collisions and contacts of a thousand cubes in a funnel cost, and do all of them come through whole?",
    "Bender, dissertation, table 5.1",
    run,
)
