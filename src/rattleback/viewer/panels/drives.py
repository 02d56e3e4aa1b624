"""Drives: what moves joints of a scene, servos and the rates of velocity joints, each with a range for a slider."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rattleback.forces import Servo
from rattleback.forces.joint_axis import freedom_for
from rattleback.forces.schedule import Schedule
from rattleback.joints import VelocityJoint
from rattleback.joints.stop import stops_of
from rattleback.model.row_counts import servo_places
from rattleback.viewer.interaction.grip import GRIP
from rattleback.viewer.panels.edit_force import units_of

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.session import Session

# What frames hold of servos goes by this name.
PROBE = "motors"
# So far a slider goes where nothing else is said, by the unit of what it sets.
REACH = {"rad": 3.142, "m": 1.0, "rad/s": 10.0, "m/s": 2.0}
RATES = {"linear": "m/s", "angular": "rad/s"}


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
    return (*motors, *drives)


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


def nice(value: float) -> float:
    """A number with one digit, 1, 2 or 5, that is not below a value above zero."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(f"{next(digit for digit in (1, 2, 5, 10) if digit * power >= value * (1.0 - 1e-9)) * power:.6g}")
