"""A PD controller of the position of a hand, inside the constraint solve: by targets for the joints of the arm.

    Δx = x*(t + h) − x,     Δθ = Jᵀ (J Jᵀ + μ² 1)⁻¹ Δx,     θ* = θ + Δθ,     λ = −K (θ + h w⁺ − θ*) − B w⁺

x place of a point of the hand, x* its target, θ coordinates of the joints, J = ∂x/∂θ, μ a length that keeps Δθ small
where the arm is stretched out, beside a largest Δθ, w⁺ rates at the end of the step, λ efforts, K stiffness, B damping.
A force on the hand, mapped by Jᵀ to efforts, would be a controller outside, with its delay; targets of joints are
followed inside.

    each step: Jacobian and coordinates at its start; targets of the joints; rows that yield
Cost: a look at each joint of the arm, and one more row for each. The targets are found once a step, so the hand comes
to its target in some steps, not in one; all else is as stable as ``ImplicitPD``.

Reference: the control of the position of a hand in the lecture notes on physics engines by Hasegawa.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import warp as wp

from rattleback.constraints.frame import axis
from rattleback.core import checks
from rattleback.core.errors import InputError, listing
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, real, vec3
from rattleback.core.sealed import sealed
from rattleback.forces.by_world import by_world
from rattleback.forces.inside import checked_limit, freedom_of, rows_along, rows_in
from rattleback.forces.joint_axis import check_joint, named_joint
from rattleback.forces.schedule import Course, on_device, scheduled, value_at
from rattleback.joints.joint import RowSpec
from rattleback.maths import rotation
from rattleback.maths.quat import rotate
from rattleback.model.joint_memory import JointState
from rattleback.model.state import Clock, Motion
from rattleback.problem.joint_coordinates import coordinate_of
from rattleback.problem.joint_rows import JointRows, Joints, Rows, side

# Freedoms that a joint of an arm may have.
TURN, SLIDE = "turn_z", "slide_z"


@wp.struct
class Arm:
    """The joints of an arm in every world, the point of its hand, and where that is to be."""

    joint: wp.array[wp.int32]
    turning: wp.array[wp.int32]
    sign: wp.array[real]
    row: wp.array[wp.int32]
    joints: wp.int32
    hand: wp.array[wp.int32]
    point: wp.array[vec3]
    least: wp.array[real]
    lead: wp.array[real]
    x: Course
    y: Course
    z: Course


@wp.func
def column_of(joints: Joints, motion: Motion, arm: Arm, j: int, k: int, hand: vec3) -> vec3:
    """∂x/∂θ of one joint: z × (x − o), or z where it slides."""
    _lever_a, turn, _at_a = side(motion, joints.body_a[j], joints.anchor_a[j], joints.turn_a[j])
    _lever_b, _turn_b, at = side(motion, joints.body_b[j], joints.anchor_b[j], joints.turn_b[j])
    z = axis(turn, 2)
    if arm.turning[k] == 1:
        z = wp.cross(z, hand - at)
    return arm.sign[k] * z


@kernel
def reach(
    joints: Joints,
    motion: Motion,
    remembered: JointState,
    clock: Clock,
    arm: Arm,
    rows: Rows,
) -> None:
    """The targets of the joints of the arm of one world."""
    w = wp.tid()
    hand = arm.hand[w]
    at = motion.position[hand] + rotate(motion.orientation[hand], arm.point[w])
    t = clock.time[w] + clock.time_step[w]
    way = vec3(value_at(arm.x, w, t), value_at(arm.y, w, t), value_at(arm.z, w, t)) - at
    square = arm.least[w] * arm.least[w] * wp.identity(n=3, dtype=real)
    for k in range(arm.joints):
        column = column_of(joints, motion, arm, arm.joint[w * arm.joints + k], k, at)
        square += wp.outer(column, column)
    pull = wp.inverse(square) * way
    most = arm.lead[w]
    for k in range(arm.joints):
        column = column_of(joints, motion, arm, arm.joint[w * arm.joints + k], k, at)
        most = wp.max(most, wp.abs(wp.dot(column, pull)))
    pull = arm.lead[w] / most * pull
    for k in range(arm.joints):
        j = arm.joint[w * arm.joints + k]
        now, _rate = coordinate_of(joints, motion, remembered, j, arm.turning[k])
        r = arm.row[w * arm.joints + k]
        target = real(now + wp.float64(wp.dot(column_of(joints, motion, arm, j, k, at), pull)))
        rows.aim[r] = target
        rows.next_aim[r] = target


@sealed
@dataclass(frozen=True)
class ImplicitHandPD:
    """A PD controller of the position of a hand, by targets for the joints of the arm that leads to it.

    Args:
        joints: The joints of the arm, by names or as ``add_joint`` returned them; each turns about or slides along one
            axis.
        body: The hand: a body, or its name.
        at: Point of the hand in the world at the start (3,) [m]; its centre of mass if left out.
        target: Where the point is to be (3,) [m]: numbers, or an ``rb.Schedule`` for each.
        stiffness: K of each joint [N m/rad or N/m].
        damping: B of each joint [N m s/rad or N s/m].
        least: μ, the length below which the arm counts as stretched out [m].
        lead: The most by which the target of a joint is ahead of it [rad or m]; all are in proportion.
        limit: Largest effort of each joint [N m or N].
    """

    joints: Any
    _: KW_ONLY
    body: Any
    at: Any = None
    target: Any
    stiffness: float
    damping: float = 0.0
    least: float = 0.05
    lead: float = 0.2
    limit: float = math.inf
    depends_on_velocity: ClassVar[bool] = False
    depends_on_pose: ClassVar[bool] = False
    by_world: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check everything."""
        if isinstance(self.joints, str) or not hasattr(self.joints, "__len__") or not len(self.joints):
            raise InputError(f"The joints of ImplicitHandPD are {self.joints!r}; give a list of those of the arm.")
        for joint in self.joints:
            check_joint(joint, "ImplicitHandPD")
        name = getattr(self.body, "name", self.body)
        if not isinstance(name, str) or not name:
            raise InputError(f"The body of ImplicitHandPD is {self.body!r}; give a body, or its name.")
        what = "The target of ImplicitHandPD"
        if isinstance(self.target, (str, float, int)) or len(self.target) != 3:
            raise InputError(f"{what} is {self.target!r}; it must be three numbers or schedules, for x, y and z.")
        given: dict[str, Any] = {
            "joints": tuple(self.joints),
            "body": name,
            "at": None if self.at is None else tuple(checks.vector(self.at, "The at of ImplicitHandPD").tolist()),
            "target": tuple(scheduled(value, what) for value in self.target),
            "stiffness": checks.positive(self.stiffness, "The stiffness of ImplicitHandPD"),
            "damping": checks.not_negative(self.damping, "The damping of ImplicitHandPD"),
            "least": checks.positive(self.least, "The least of ImplicitHandPD"),
            "lead": checks.positive(self.lead, "The lead of ImplicitHandPD"),
            "limit": checked_limit(self.limit, "The limit of ImplicitHandPD"),
        }
        for field, value in given.items():
            object.__setattr__(self, field, value)

    def placed_in(self, scene: Any, label: str) -> "ImplicitHandPD":
        """The controller as a scene keeps it, with the names of its joints."""
        names = tuple(named_joint(_OfJoint(joint), scene, label).joint for joint in self.joints)
        if self.body not in scene:
            raise InputError(f"Force {label!r} moves the hand {self.body!r}, which is not a body of the scene.")
        found = replace(self, joints=names)
        found.signs(scene, label)
        return found

    def drive_rows(self, scene: Any, label: str) -> dict[str, list[RowSpec]]:
        """The rows it adds to its joints."""
        free = self.freedoms(scene, label)
        return {name: rows_along(free[name], self.stiffness, self.damping, self.limit) for name in self.joints}

    def freedoms(self, scene: Any, label: str) -> dict[str, str]:
        """The freedom of each joint."""
        what, found = f"Force {label!r}", {}
        for name in self.joints:
            found[name] = freedom_of(scene.joints[name], None, what, name)
            if found[name] not in (TURN, SLIDE):
                raise InputError(
                    f"{what} moves a hand by joint {name!r}, a {type(scene.joints[name]).__name__}; it needs joints "
                    "that turn about one axis or slide along it, such as Revolute and Prismatic."
                )
        return found

    def signs(self, scene: Any, label: str) -> list[float]:
        """Whether the hand moves with B of each joint (1) or with A (−1)."""
        self.freedoms(scene, label)
        found = []
        for name in self.joints:
            joint = scene.joints[name]
            others = [other for key, other in scene.joints.items() if key != name]
            sides = [self.body in _joined(start, others, scene.world.name) for start in (joint.a, joint.b)]
            if sides[0] == sides[1]:
                raise InputError(
                    f"Joint {name!r} of force {label!r} does not move its hand {self.body!r} alone: "
                    f"{'a loop leads around it' if sides[0] else 'it does not lead there'}. The arm is a chain of "
                    f"{listing(list(self.joints))}."
                )
            found.append(1.0 if sides[1] else -1.0)
        return found

    def compile(self, model: Any) -> "CompiledHand":
        """Bind to a model."""
        return CompiledHand(self, model)


class CompiledHand:
    """A controller of a hand bound to a model."""

    def __init__(self, force: ImplicitHandPD, model: Any) -> None:
        self.force, self.model = force, model

    def drive(self, problem: JointRows, state: Any) -> None:
        """Take the rows of a simulation, in which it acts."""
        force, model, self.state, self.problem = self.force, self.model, state, problem
        free = force.freedoms(model.scene, "hand")
        made: Any = Arm()
        places = [problem.names.index(name) for name in force.joints]
        worlds = np.arange(model.worlds)[:, None]
        rows = np.stack([rows_in(problem, name, free[name])[:, 0] for name in force.joints], axis=1)
        body, bodies = model.index(force.body), len(model.names)
        columns = {
            "joint": (worlds * len(problem.names) + np.array(places)).ravel(),
            "turning": np.array([free[name] == TURN for name in force.joints]),
            "row": rows.ravel(),
            "hand": (worlds * bodies + body).ravel(),
        }
        for name, column in columns.items():
            setattr(made, name, wp.array(column.astype(np.int32), dtype=wp.int32, device=model.device))
        signs = np.array(force.signs(model.scene, "hand"), dtype=numpy_real)
        made.sign = wp.array(signs, dtype=real, device=model.device)
        made.joints = len(places)
        self._put_numbers(made, body)
        self.arm = made

    def _put_numbers(self, made: Any, body: int) -> None:
        """What the controller aims at in every world, and the point of the hand."""
        force, model = self.force, self.model
        versions, device = model.scenes.versions(force), model.device
        targets = [[version.target[k] for version in versions] for k in range(3)]
        made.x, made.y, made.z = (on_device(own, model.worlds, device) for own in targets)
        told = by_world(model, force, ("least", "lead"))
        made.least, made.lead = (wp.array(told[name], dtype=real, device=device) for name in ("least", "lead"))
        hands = [scene.bodies[body] for scene in model.scenes.scenes]
        each = versions * (len(hands) // len(versions))
        points = [_point(version, hand) for version, hand in zip(each, hands, strict=True)]
        made.point = wp.array(model.scenes.tiled(np.array(points)), dtype=vec3, device=device)

    def record_start(self, program: Any) -> None:
        """Record the targets of the joints in this step."""
        state, problem = self.state, self.problem
        given = (state.motion, state.joints, state.clock, self.arm, problem.rows)
        program.launch(reach, self.model.worlds, problem.joints, *given)

    def record(self, program: Any, moment: Any, loads: Any) -> None:
        """It adds no load: its efforts are found with those of the joints."""

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """Nothing here: the energy of rows is counted with that of soft joints."""
        return np.zeros(len(position))


def _point(force: ImplicitHandPD, body: Any) -> list[float]:
    """The point of the hand from its centre of mass, in its axes."""
    if force.at is None:
        return [0.0, 0.0, 0.0]
    back = rotation.conjugate(body.orientation)
    found: list[float] = rotation.rotate(back, np.subtract(force.at, body.position)).tolist()
    return found


@dataclass(frozen=True)
class _OfJoint:
    """One joint of an arm, as ``named_joint`` wants it."""

    joint: Any


def _joined(start: str, joints: list[Any], world: str) -> set[str]:
    """The bodies that joints join to one, but through the world."""
    found, waiting = {start}, [start] if start != world else []
    for name in waiting:
        for joint in joints:
            for own, other in ((joint.a, joint.b), (joint.b, joint.a)):
                if own == name and other not in found:
                    found.add(other)
                    if other != world:
                        waiting.append(other)
    return found
