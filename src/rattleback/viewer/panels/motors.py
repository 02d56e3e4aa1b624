"""The motor panel: a slider for the target of every servo and for every rate of the velocity joints."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rattleback.forces import Servo
from rattleback.forces.joint_axis import freedom_for
from rattleback.forces.schedule import Schedule
from rattleback.joints import VelocityJoint
from rattleback.joints.stop import stops_of
from rattleback.model.state import servo_places
from rattleback.viewer.interaction.grip import GRIP
from rattleback.viewer.panels.edit_force import units_of
from rattleback.viewer.panels.held import Held

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.session import Session
    from rattleback.viewer.window import Window

PROBE = "motors"
# Sliders move at most so often by themselves [1/s].
RATE = 10.0
# So far a slider goes where nothing else is said, by the unit of what it sets.
REACH = {"rad": 3.142, "m": 1.0, "rad/s": 10.0, "m/s": 2.0}
# A slider has about so many places.
PLACES = 400
# More sliders could not be found one's way in; the drop-down has all.
MOST = 40
DIGITS = 6
RATES = {"linear": "m/s", "angular": "rad/s"}
FIRST = -1.0


@dataclass(frozen=True)
class Motor:
    """A servo.

    Attributes:
        name: Its name among the forces.
        unit: Unit of its target.
        low: Least target of the slider.
        high: Largest one.
        scheduled: Whether its own target is a schedule.
    """

    name: str
    unit: str
    low: float
    high: float
    scheduled: bool = False

    label = property(lambda self: f"{self.name} [{self.unit}]")

    def read(self, frame: Frame) -> float | None:
        """Its target."""
        target: float = frame.picture.probes.get(PROBE, {}).get(self.name, (None, False))[0]
        return target

    def follows(self, frame: Frame) -> bool | None:
        """Whether it follows its own target."""
        found = frame.picture.probes.get(PROBE, {}).get(self.name)
        return None if found is None else not found[1]

    def set(self, session: Session, value: float) -> Future[Any]:
        """Aim at something else, until it is to follow its own target again."""
        return session.do(lambda sim: setattr(sim.servo(self.name), "target", value))

    def follow(self, session: Session, wanted: bool) -> Future[Any]:
        """Follow its own target again, or stay at what it is now."""

        def change(sim: Simulation) -> None:
            servo = sim.servo(self.name)
            servo.target = None if wanted else servo.target

        return session.do(change)


@dataclass(frozen=True)
class Drive:
    """A rate of a velocity joint.

    Attributes:
        name: Name of the joint.
        kind: ``"linear"`` or ``"angular"``.
        axis: Which of its three axes.
        low: Least rate of the slider [m/s or rad/s].
        high: Largest one.
    """

    name: str
    kind: str
    axis: int
    low: float
    high: float

    label = property(lambda self: f"{self.name} {'xyz'[self.axis]} [{RATES[self.kind]}]")

    def read(self, frame: Frame) -> float | None:
        """The rate it keeps."""
        joint = frame.picture.scene.joints.get(self.name)
        rate: float | None = None if joint is None else getattr(joint, self.kind)[self.axis]
        return rate

    def set(self, session: Session, value: float) -> Future[Any]:
        """Keep another rate from the next step on."""

        def change(sim: Simulation) -> None:
            rates = list(getattr(sim[self.name], self.kind))
            rates[self.axis] = value
            setattr(sim[self.name], self.kind, tuple(rates))

        return session.do(change)


class Motors:
    """The sliders.

    Attributes:
        sliders: The sliders by their labels.
        ticks: Tick boxes of servos by their names, ticked where they follow their own target.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self.session, self._window = window.session, window
        self.sliders: dict[str, Held] = {}
        self.ticks: dict[str, Held] = {}
        self._drives: tuple[Motor | Drive, ...] = ()
        self._folder: Any = None
        self._shown_at = 0.0

    def renew(self, frame: Frame) -> None:
        """Make the sliders of another scene; where the motors are the same, they stay."""
        self.session.do(lambda sim: self.session.probes.update({PROBE: look}))
        drives = drives_of(frame.picture.scene)
        if drives == self._drives:
            return
        self._drives = drives
        if self._folder is not None:
            self._folder.remove()
        self._folder, self.sliders, self.ticks = None, {}, {}
        gui: Any = self._window.server.gui
        if drives:
            with self._window.tabs["Edit"]:
                self._folder = gui.add_folder("Motors", order=FIRST)
            with self._folder:
                for drive in drives:
                    self._add(gui, drive)

    def show(self, frame: Frame) -> None:
        """Show what holds."""
        now = time.perf_counter()
        if frame.playing and now - self._shown_at < 1.0 / RATE:
            return
        self._shown_at = now
        for control in (*self.sliders.values(), *self.ticks.values()):
            control.show(frame)

    def _add(self, gui: Any, drive: Motor | Drive) -> None:
        step = nice((drive.high - drive.low) / PLACES)
        start = min(max(0.0, drive.low), drive.high)
        hint = "What the motor aims at." if isinstance(drive, Motor) else "How fast the joint is driven."
        slider = gui.add_slider(drive.label, drive.low, drive.high, step, start, hint=hint)
        self.sliders[drive.label] = Held(
            self.session,
            slider,
            lambda frame: placed(slider, drive.read(frame)),
            lambda value: drive.set(self.session, float(value)),
        )
        if isinstance(drive, Motor):
            label = "Follow schedule" if drive.scheduled else "Own target"
            hint = "Ticked, it aims at what the scene says; moving the slider unticks it."
            box = gui.add_checkbox(label, True, hint=hint)
            self.ticks[drive.name] = Held(
                self.session,
                box,
                lambda frame: box.value if (found := drive.follows(frame)) is None else found,
                lambda value: drive.follow(self.session, bool(value)),
            )


def look(sim: Simulation) -> dict[str, tuple[float, bool]]:
    """Target of every servo in the first world, and whether it was set by hand."""
    servos, forces, now = sim.state.servos, sim.scene.forces, sim.time
    targets, manual = servos.target.numpy(), servos.manual.numpy()
    found = {}
    for name, (place, _, _) in servo_places(sim.scene).items():
        given, by_hand = forces[name].target, bool(manual[place])
        own = given(now) if isinstance(given, Schedule) else given
        found[name] = (float(targets[place]) if by_hand else float(own), by_hand)
    return found


def drives_of(scene: Scene) -> tuple[Motor | Drive, ...]:
    """Everything that is driven."""
    motors: list[Motor | Drive] = [
        _motor(scene, name, force) for name, force in scene.forces.items() if isinstance(force, Servo)
    ]
    drives = [
        Drive(name, kind, axis, *span([rate], REACH[unit]))
        for name, joint in scene.joints.items()
        if isinstance(joint, VelocityJoint) and name != GRIP
        for kind, unit in RATES.items()
        for axis, rate in enumerate(getattr(joint, kind))
        if rate is not None
    ]
    return (*motors, *drives)[:MOST]


def _motor(scene: Scene, name: str, servo: Servo) -> Motor:
    """A servo, with the limits of its joint where it has some and is to hold an angle or a position."""
    joint, unit = scene.joints[servo.joint], units_of(scene, servo)[0]
    scheduled = isinstance(servo.target, Schedule)
    values = servo.target.values if isinstance(servo.target, Schedule) else [servo.target]
    ends = [end for stop in stops_of(joint) for end in (stop.lower, stop.upper) if math.isfinite(end)]
    low, high = span([*values, *ends], REACH[unit])
    if servo.control != "velocity":
        freedom = freedom_for(servo.control, joint, "A servo", servo.joint)
        for stop in stops_of(joint):
            if stop.freedom == freedom:
                low, high = max(low, stop.lower), min(high, stop.upper)
    return Motor(name, unit, round(low, 3), round(high, 3), scheduled)


def span(values: Any, reach: float) -> tuple[float, float]:
    """How far a slider goes: as far as usual, and twice as far as what is asked for."""
    far = max([reach, *(2.0 * abs(value) for value in values)])
    far = reach if far == reach else nice(far)
    return -far, far


def placed(slider: Any, value: float | None) -> float:
    """A value as a slider shows it, which goes as far as it must; where nothing is known, what it shows now."""
    if value is None:
        shown: float = slider.value
        return shown
    if value < slider.min:
        slider.min = math.floor(1e3 * value) / 1e3
    if value > slider.max:
        slider.max = math.ceil(1e3 * value) / 1e3
    return round(value, DIGITS)


def nice(value: float) -> float:
    """A number with one digit, 1, 2 or 5, that is not below a value above zero."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(f"{next(digit for digit in (1, 2, 5, 10) if digit * power >= value * (1.0 - 1e-9)) * power:.6g}")
