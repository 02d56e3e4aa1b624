"""A rattleback: spun against the sense it prefers, it begins to rock, stops and turns the other way.

The long axis of the stone rocks up and down, with a period of about 0.18 s; spin goes over into rocking, and rocking
into spin the other way. The stone rolls almost without losses, so that the energy of the rocking is largest when there
is no spin. The height of the swings is known once every half period; a parabola through the largest and its neighbours
says when it is largest in between. Spun the way it prefers, the stone keeps its sense.

Reference: Bender, dissertation, §5.5.3, figure 5.14: a stone of another size reverses after 2.854 s, shortly after its
rocking was largest.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from rattleback.core.errors import NotConvergedWarning
from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, at_most
from rattleback.maths.rotation import rotate
from rattleback.scenes import rattleback
from rattleback.scenes.tops import RADII
from rattleback.simulation import Simulation

STEP, LOOK, SECONDS, SPIN = 1e-4, 0.002, 3.5, 5.0
PUBLISHED_REVERSAL = 2.854
# A period of the rocking [s].
PERIOD = 0.184


def run(options: Options) -> Result:
    """Spin the stone both ways."""
    found = Findings()
    step, seconds = (10.0 * STEP, 2.5) if options.quick else (STEP, SECONDS)
    options.tell("rattleback against its sense")
    path = spin(SPIN, step, seconds)
    stops, largest = reversal(path), rocking_peak(path)
    found.rows.append(at_most("reverses its spin after", stops, seconds, "s", PUBLISHED_REVERSAL))
    found.rows.append(Finding("rocking is largest after", largest, unit="s"))
    found.rows.append(at_most("rocking largest before the reversal, at most a period", stops - largest, PERIOD, "s"))
    found.rows.append(at_most("reversal before the rocking is largest", largest - stops, 0.0, "s"))
    found.rows.append(at_most("spin at the end", float(path[-1, 2]), -0.5 * SPIN, "rad/s"))
    found.rows.append(Finding("energy lost, of that at the start", 1.0 - float(path[-1, 3] / path[0, 3])))
    options.tell("rattleback with its sense")
    other = spin(-SPIN, step, seconds)
    found.rows.append(at_most("spun the other way: largest spin", float(other[:, 2].max()), -0.5 * SPIN, "rad/s"))
    return found.result(*panels(path, other, stops))


def spin(speed: float, step: float, seconds: float) -> np.ndarray:
    """Time [s], height of a tip of the long axis beside its middle [m], spin [rad/s] and energy [J] (looks, 4)."""
    sim = Simulation(
        rattleback(speed),
        time_step=step,
        contacts="impulse",
        penetration_tolerance=1e-5,
        contact_velocity_tolerance=1e-7,
    )
    stone, path = sim["stone"], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        while sim.time < seconds:
            sim.run(LOOK)
            height = RADII[0] * rotate(stone.orientation, (1.0, 0.0, 0.0))[2]
            path.append((sim.time, height, stone.angular_velocity[2], sim.energy().total))
    return np.array(path)


def reversal(path: np.ndarray) -> float:
    """When the spin first changes its sense [s]; infinite where it never does."""
    after = np.flatnonzero(path[:, 2] < 0.0)
    if not len(after) or after[0] == 0:
        return math.inf
    (t0, _, w0, _), (t1, _, w1, _) = path[after[0] - 1], path[after[0]]
    return float(t0 + (t1 - t0) * w0 / (w0 - w1))


def rocking_peak(path: np.ndarray) -> float:
    """When the height of the swings is largest [s], by a parabola through the largest three."""
    size = np.abs(path[:, 1])
    swings = 1 + np.flatnonzero((size[1:-1] >= size[:-2]) & (size[1:-1] > size[2:]))
    most = int(np.argmax(size[swings]))
    three = swings[np.clip([most - 1, most, most + 1], 0, len(swings) - 1)]
    if len(set(three.tolist())) < 3:
        return float(path[swings[most], 0])
    begun = path[three[1], 0]
    a, b, _ = np.polyfit(path[three, 0] - begun, size[three], 2)
    return float(begun - 0.5 * b / a)


def panels(path: np.ndarray, other: np.ndarray, stops: float) -> tuple[Panel, Panel]:
    """Rocking and spin over time."""
    time, high = path[:, 0].tolist(), 1e3 * float(np.abs(path[:, 1]).max())
    rocking = (
        Curve("tip of the long axis", time, (1e3 * path[:, 1]).tolist(), "line"),
        Curve("reversal", [stops, stops], [-high, high], "bound"),
    )
    spins = (
        Curve("against its sense", time, path[:, 2].tolist(), "line"),
        Curve("with its sense", other[:, 0].tolist(), other[:, 2].tolist(), "line", 1),
        Curve("none", [0.0, time[-1]], [0.0, 0.0], "bound"),
    )
    return (
        Panel("Rocking", "time [s]", "height beside the middle [mm]", rocking),
        Panel("Spin", "time [s]", "spin about the vertical [rad/s]", spins),
    )


EXPERIMENT = Experiment(
    "rattleback",
    "Does a stone spun against its sense begin to rock and turn the other way?",
    "Bender, dissertation, figure 5.14",
    run,
)
