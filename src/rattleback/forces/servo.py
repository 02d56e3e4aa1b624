"""Servo motors: a PID controller drives the free coordinate of a joint towards a target.

    u = K_r (e + 1/T_N ∫ e dt + T_V ė),   |u| ≤ u_max        e = target − coordinate, or target − rate

u effort: a torque about or a force along the axis of the joint, on B, and its opposite on A; K_r gain, T_N reset time,
T_V rate time. The discrete form and the memory of the integral are in ``pid``.

    start of a step   measure e, compute u
    in the step       u is held, as a digital controller holds it, whatever the integrator does; its axis moves with A
    end of a step     the error goes into the memory, which is part of the state

The controller is explicit: with J the inertia the joint feels, steps must stay well below √(J/K_r) and J/(K_r T_V).
What asks for more than a step can follow is held to that, see ``servo_bounds``. In reduced coordinates it is implicit,
see ``tree_servos``.

Reference: Bender, dissertation, §3.2.5, eq. 3.22 and 3.23. There the effort acts on A with its sign and on B against
it; here the other way round, so that a positive effort drives the coordinate of B against A up.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from rattleback.core import arrays, checks
from rattleback.core.errors import InputError
from rattleback.core.mirror import Mirror
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.forces.by_world import by_world
from rattleback.forces.joint_axis import CONTROLS, check_joint, freedom_for, make_place, placed
from rattleback.forces.pid import RING, Held, Law, add_effort, note_effort, regulate, remember
from rattleback.forces.schedule import Schedule, on_device, scheduled
from rattleback.model.coordinates import TURN
from rattleback.model.model import Model
from rattleback.model.row_counts import servo_places
from rattleback.model.state import Loads
from rattleback.model.step_context import Moment
from rattleback.problem.joint_rows import JointRows

TIMES = {"reset_time": "the integral part is left out", "window": "nothing is forgotten", "limit": "there is no limit"}


@sealed
@dataclass(frozen=True)
class Servo:
    """A motor with a PID controller on a joint.

    Args:
        joint: Name of the joint, or what ``add_joint`` returned.
        target: What to aim at: a number, or an ``rb.Schedule`` over time [rad, m, rad/s or m/s].
        control: ``"angle"``, ``"position"`` or ``"velocity"``, that of the angle where the joint has one, else of the
            position.
        gain: K_r, effort per error [N m or N per unit of the error].
        reset_time: T_N of the integral part [s]; infinity for none.
        rate_time: T_V of the differential part [s]; zero for none.
        window: Time after which the integral forgets an error [s]; infinity for never.
        limit: Largest effort, torque [N m] or force [N].
    """

    joint: Any
    _: KW_ONLY
    target: float | Schedule = 0.0
    control: str = "angle"
    gain: float
    reset_time: float = math.inf
    rate_time: float = 0.0
    window: float = math.inf
    limit: float = math.inf
    depends_on_velocity: ClassVar[bool] = False
    depends_on_pose: ClassVar[bool] = True
    by_world: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check everything."""
        check_joint(self.joint, "Servo")
        checks.one_of(self.control, CONTROLS, "The control of Servo")
        given: dict[str, Any] = {
            "target": scheduled(self.target, "The target of Servo"),
            "gain": checks.positive(self.gain, "The gain of Servo"),
            "rate_time": checks.not_negative(self.rate_time, "The rate_time of Servo"),
        }
        for name, without in TIMES.items():
            value = checks.number_or_infinite(getattr(self, name), f"The {name} of Servo")
            if value <= 0.0:
                raise InputError(
                    f"The {name} of Servo is {value:g}; it must be greater than zero, or infinite, when {without}."
                )
            given[name] = value
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def stretches(self) -> int:
        """Stretches of time the state keeps for its integral; none where nothing is forgotten."""
        return RING if math.isfinite(self.window) and math.isfinite(self.reset_time) else 0

    def placed_in(self, scene: Any, label: str) -> "Servo":
        """The servo as a scene keeps it, with the name of its joint."""
        found: Servo = placed(self, scene, label)
        return found

    def compile(self, model: Model) -> "CompiledServo":
        """Bind to a model."""
        return CompiledServo(self, model)


class CompiledServo:
    """A servo bound to a model.

    Attributes:
        by_tree: Whether a tree in reduced coordinates finds its effort, see ``tree_servos``.
        efforts: What that tree knows of servos, the link of this one, and the links of a world.
    """

    def __init__(self, force: Servo, model: Model) -> None:
        self.force, self.model, self.by_tree = force, model, False
        self.efforts: Any = None
        self.held: Any = arrays.allocate(Held, {"worlds": model.worlds}, model.device)
        self.tune(force)
        targets = [version.target for version in self.versions]
        self.course = on_device(targets, model.worlds, model.device)

    def tune(self, force: Servo) -> None:
        """Answer to the error as another servo of the first world would, and those of the others, from now on."""
        self.force, self.versions = force, self.model.scenes.versions(force)
        told = by_world(self.model, force, ("gain", "reset_time", "rate_time", "limit", "window"))
        told["integral_rate"] = 1.0 / told.pop("reset_time")
        for name, values in told.items():
            Mirror(getattr(self.held, name)).put(values)

    def bind(self, label: str, state: Any, rows: JointRows) -> None:
        """Take the joints and the memory of a simulation."""
        self.state, self.rows = state, rows
        self.law = self._law(label, rows)

    def record_start(self, program: Program) -> None:
        """The effort of the step, from the state it starts from."""
        state = self.state
        program.launch(
            regulate,
            self.model.worlds,
            self.rows.joints,
            state.motion,
            state.clock,
            state.joints,
            state.servos,
            self.law,
            self.course,
            self.held,
        )

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Add the effort of the step to both bodies of every world, unless a tree finds it with the motion."""
        if self.by_tree:
            return
        program.launch(add_effort, self.model.worlds, self.rows.joints, moment.motion, self.law, self.held, loads)

    def record_end(self, program: Program, stop: Any) -> None:
        """The error of the step goes into the state, with the effort that a tree has found."""
        if self.by_tree:
            servos, link, count = self.efforts
            program.launch(note_effort, self.model.worlds, servos.effort, self.held, link, count)
        program.launch(remember, self.model.worlds, self.state.clock, self.state.servos, self.law, self.held, stop)

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """A servo puts energy in or takes it out."""
        return np.zeros(len(position))

    def _law(self, label: str, rows: JointRows) -> Law:
        force, law, places = self.force, Law(), servo_places(self.model.scene)
        joint = self.model.scene.joints[force.joint]
        turning = freedom_for(force.control, joint, f"Force {label!r}", force.joint) == TURN
        law.place = make_place(rows.names, force.joint, turning)
        law.servo, law.first, law.ring = places[label]
        law.servos, law.stretches = len(places), sum(ring for _, _, ring in places.values())
        law.of_rate = int(force.control == "velocity")
        return law
