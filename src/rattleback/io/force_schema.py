"""What a force looks like in a file: one model a kind, the fields of its class with their units."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, TypeAdapter

from rattleback.io.shape_schema import Entry, Name, NotNegative, Positive, Vector


class _Force(Entry):
    name: Name | None = Field(None, description="Its name, used once; made from its kind and number if left out.")


class _BodyForce(_Force):
    bodies: list[Name] | None = Field(
        None, min_length=1, description="Names of the bodies and groups it acts on; all that move if left out."
    )


class GravityEntry(_BodyForce):
    """Uniform gravity."""

    kind: Literal["gravity"]
    acceleration: Vector = Field([0.0, 0.0, -9.81], description="Acceleration of free fall (3,) [m/s²].")


class AttractionEntry(_BodyForce):
    """Newton's gravity between bodies."""

    kind: Literal["attraction"]
    constant: float = Field(6.6743e-11, description="Constant of gravitation [m³/(kg s²)].")
    softening: NotNegative = Field(0.0, description="Length below which the force stops growing [m].")


class WrenchEntry(_BodyForce):
    """A given force and torque."""

    kind: Literal["wrench"]
    force: Vector = Field([0.0, 0.0, 0.0], description="Force (3,) [N].")
    torque: Vector = Field([0.0, 0.0, 0.0], description="Torque (3,) [N m].")
    at: Vector | None = Field(None, description="Point the force acts at (3,) [m]; the centre of mass if left out.")
    frame: Literal["world", "local"] = Field("world", description="Axes of force and torque, and frame of the point.")
    start: float = Field(0.0, description="Time from which it acts [s].")
    until: float | None = Field(None, description="Time at which it ends [s]; never if left out.")


class DragEntry(_BodyForce):
    """Drag of a medium."""

    kind: Literal["drag"]
    linear: NotNegative = Field(0.0, description="Coefficient of the velocity [N s/m].")
    quadratic: NotNegative = Field(0.0, description="Coefficient of the velocity squared [N s²/m²].")
    angular: NotNegative = Field(0.0, description="Coefficient of the angular velocity [N m s].")
    wind: Vector = Field([0.0, 0.0, 0.0], description="Velocity of the medium (3,) [m/s].")


class SpringEntry(_Force):
    """A damped spring between two bodies, or a body and the world."""

    kind: Literal["spring"]
    a: Name = Field(description='Name of the first body; "world" for the frame nothing moves.')
    b: Name = Field(description='Name of the other body, or "world".')
    at: Vector = Field(description="Point on A in the world at the start (3,) [m].")
    at_b: Vector | None = Field(None, description="Point on B, where it is not the same as at (3,) [m].")
    stiffness: NotNegative = Field(description="Force per elongation [N/m].")
    damping: NotNegative = Field(0.0, description="Force per velocity of elongation [N s/m].")
    length: NotNegative | None = Field(
        None, description="Length without load [m]; the distance of the points at the start if left out."
    )


class TorsionSpringEntry(_Force):
    """A damped spring about the axis of a joint."""

    kind: Literal["torsion_spring"]
    joint: Name = Field(description="Name of the joint; it must turn about one axis only.")
    stiffness: NotNegative = Field(description="Torque per angle [N m/rad].")
    damping: NotNegative = Field(0.0, description="Torque per angular velocity [N m s/rad].")
    angle: float = Field(0.0, description="Angle without load [rad]; that of the joint at the start is zero.")


class ScheduleEntry(Entry):
    """Values at given times, constant before the first and after the last."""

    kind: Literal["step", "linear", "cubic"] = Field("linear", description="What lies between two values.")
    times: list[float] = Field(min_length=1, description="Times, each after the one before (n,) [s].")
    values: list[float] = Field(min_length=1, description="Values at these times (n,) [rad, m, rad/s or m/s].")


def _number_or_schedule(value: Any) -> str:
    return "schedule" if isinstance(value, (dict, ScheduleEntry)) else "number"


Number = Annotated[float, Tag("number")]
Target = Annotated[Number | Annotated[ScheduleEntry, Tag("schedule")], Discriminator(_number_or_schedule)]


class ServoEntry(_Force):
    """A motor with a PID controller on a joint."""

    kind: Literal["servo"]
    joint: Name = Field(description="Name of the joint.")
    target: Target = Field(0.0, description="What to aim at, a number or a schedule [rad, m, rad/s or m/s].")
    control: Literal["angle", "position", "velocity"] = Field("angle", description="What of the joint is controlled.")
    gain: Positive = Field(description="Effort per error [N m or N per unit of the target].")
    reset_time: Positive | None = Field(None, description="Reset time [s]; no integral part if left out.")
    rate_time: NotNegative = Field(0.0, description="Rate time [s].")
    window: Positive | None = Field(
        None, description="Time after which the integral forgets an error [s]; never if left out."
    )
    limit: Positive | None = Field(None, description="Largest torque [N m] or force [N]; none if left out.")


class _InsideEntry(_Force):
    joint: Name = Field(description="Name of the joint.")
    stiffness: NotNegative = Field(description="Force [N/m] or torque [N m/rad] for every unit it is off.")
    damping: NotNegative = Field(0.0, description="Force [N s/m] or torque [N m s/rad] for every unit of the rate.")
    target: Target = Field(0.0, description="What to aim at, a number or a schedule [m or rad].")
    freedom: str | None = Field(
        None, description="What it acts along, such as turn_z or slide_z; needed where the joint leaves more than one."
    )
    limit: Positive | None = Field(None, description="Largest torque [N m] or force [N]; none if left out.")


class ImplicitSpringEntry(_InsideEntry):
    """A damped spring on a joint, inside the constraint solve."""

    kind: Literal["implicit_spring"]


class ImplicitPDEntry(_InsideEntry):
    """A PD controller on a joint, inside the constraint solve."""

    kind: Literal["implicit_pd"]


class ImplicitHandEntry(_Force):
    """A PD controller of the position of a hand, by the joints of its arm, inside the constraint solve."""

    kind: Literal["implicit_hand"]
    joints: list[Name] = Field(min_length=1, description="Names of the joints of the arm.")
    body: Name = Field(description="Name of the body that is the hand.")
    at: Vector | None = Field(
        None, description="Point of the hand in the world at the start (3,) [m]; its centre of mass if left out."
    )
    target: list[Target] = Field(
        min_length=3,
        max_length=3,
        description="Where the point is to be, a number or a schedule for each of x, y, z [m].",
    )
    stiffness: Positive = Field(description="Torque [N m/rad] or force [N/m] for every unit a joint is off.")
    damping: NotNegative = Field(0.0, description="Torque [N m s/rad] or force [N s/m] for every unit of its rate.")
    least: Positive = Field(0.05, description="Length below which the arm counts as stretched out [m].")
    lead: Positive = Field(0.2, description="The most by which the target of a joint is ahead of it [rad or m].")
    limit: Positive | None = Field(None, description="Largest torque [N m] or force [N]; none if left out.")


FORCES: dict[str, type[Entry]] = {
    "gravity": GravityEntry,
    "attraction": AttractionEntry,
    "wrench": WrenchEntry,
    "drag": DragEntry,
    "spring": SpringEntry,
    "torsion_spring": TorsionSpringEntry,
    "servo": ServoEntry,
    "implicit_spring": ImplicitSpringEntry,
    "implicit_pd": ImplicitPDEntry,
    "implicit_hand": ImplicitHandEntry,
}
AnyForce = Annotated[
    GravityEntry
    | AttractionEntry
    | WrenchEntry
    | DragEntry
    | SpringEntry
    | TorsionSpringEntry
    | ServoEntry
    | ImplicitSpringEntry
    | ImplicitPDEntry
    | ImplicitHandEntry,
    Field(discriminator="kind"),
]
FORCE: TypeAdapter[Any] = TypeAdapter(AnyForce)
