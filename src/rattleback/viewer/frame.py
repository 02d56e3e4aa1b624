"""Frames: what readers of a running simulation see, a whole step each, never one under way."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.model.measure import worlds_first

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from rattleback.collision.contact_view import ContactView
    from rattleback.core.report import Report
    from rattleback.model.measure import Energy
    from rattleback.model.scene import Scene
    from rattleback.settings import Methods
    from rattleback.simulation import Simulation

# Quantities that cost time and are evaluated only where a panel shows them.
WANTS = ("contacts", "energy", "report")


@dataclass(frozen=True)
class Picture:
    """One simulation after a step; arrays are copies, one row a body of its first world.

    Attributes:
        label: What the simulation is called among those of the session.
        scene: Its scene.
        methods: How its steps are done.
        position: Centres of mass (bodies, 3) [m].
        orientation: Quaternions x, y, z, w (bodies, 4).
        velocity: Velocities (bodies, 3) [m/s].
        angular_velocity: Angular velocities (bodies, 3) [rad/s].
        contacts: Its contacts; None where no panel shows them.
        energy: Its energy; None where no panel shows it.
        report: What the last steps say about themselves; None where no panel shows it.
        probes: Further quantities by name.
    """

    label: str
    scene: Scene
    methods: Methods
    position: NDArray[np.float64]
    orientation: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]
    contacts: ContactView | None = None
    energy: Energy | None = None
    report: Report | None = None
    probes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Timeline:
    """What was recorded, and where on it a frame is.

    Attributes:
        begin: Time of the first frame [s].
        end: Time of the last one [s].
        count: How many there are.
        past: Whether the frame is one of them, and not the simulation as it is.
        playing: Whether they are shown one after the other.
        loop: Whether that begins anew at the end.
    """

    begin: float = 0.0
    end: float = 0.0
    count: int = 0
    past: bool = False
    playing: bool = False
    loop: bool = False


@dataclass(frozen=True)
class Frame:
    """All simulations of a session after the same step.

    Attributes:
        number: Counts the frames of the session.
        version: Counts its scenes; another number means that bodies, joints or forces are others than before.
        time: Time reached [s].
        steps: Number of steps taken.
        time_step: Length of a step [s].
        playing: Whether it runs.
        speed: How many seconds are to be simulated in a second; infinite for as many as can be.
        real_time: How many are.
        step_seconds: Time a step takes, all simulations together [s].
        budget_ms: Time a step may take [ms]; None for as long as it needs.
        save_points: How many moments there are to go back to.
        pictures: The simulations, in the order of the session.
        undone: How many edits were undone that can be done again.
        timeline: What was recorded, and where on it this is.
    """

    number: int
    version: int
    time: float
    steps: int
    time_step: float
    playing: bool
    speed: float
    real_time: float
    step_seconds: float
    budget_ms: float | None
    save_points: int
    pictures: tuple[Picture, ...]
    undone: int = 0
    timeline: Timeline = field(default_factory=Timeline)

    @property
    def picture(self) -> Picture:
        """The first simulation."""
        return self.pictures[0]


def take_picture(sim: Simulation, label: str, wanted: Collection[str], probes: dict[str, Any]) -> Picture:
    """A simulation as it is now.

    Args:
        sim: The simulation.
        label: What it is called.
        wanted: Names of WANTS.
        probes: Functions of the simulation by name, whose answers the picture holds.
    """

    def first(name: str) -> NDArray[np.float64]:
        return np.array(worlds_first(sim.model, sim.state.picture(name))[0], dtype=np.float64)

    return Picture(
        label,
        sim.scene,
        sim.methods,
        position=first("position"),
        orientation=first("orientation"),
        velocity=first("velocity"),
        angular_velocity=first("angular_velocity"),
        contacts=sim.contacts if "contacts" in wanted and sim.methods.finds else None,
        energy=sim.energy() if "energy" in wanted else None,
        report=sim.report if "report" in wanted else None,
        probes=answers(sim, probes),
    )


def answers(sim: Simulation, probes: dict[str, Any]) -> dict[str, Any]:
    """What probes answer; one that fails answers nothing, since nothing waits for it."""
    found = {}
    for name, read in probes.items():
        with suppress(Exception):
            found[name] = read(sim)
    return found
