"""What a scene looks like in a file: bodies, joints, forces, the file itself; the source of its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, TypeAdapter

from rattleback.io.force_schema import FORCES, AnyForce, ScheduleEntry
from rattleback.io.joint_schema import JOINTS, AnyJoint
from rattleback.io.shape_schema import (
    SHAPES,
    Entry,
    Name,
    NotNegative,
    Orientation,
    PlacedEntry,
    Positive,
    ShapeEntry,
    Vector,
)

FORMAT = "rattleback-scene"
VERSION = 1


def _moments_or_matrix(value: Any) -> str:
    return "matrix" if isinstance(value, list) and any(isinstance(row, list) for row in value) else "moments"


Moments = Annotated[Vector, Tag("moments")]
Matrix = Annotated[list[Vector], Field(min_length=3, max_length=3), Tag("matrix")]
Inertia = Annotated[Moments | Matrix, Discriminator(_moments_or_matrix)]


Pair = Annotated[list[Name], Field(min_length=2, max_length=2)]
Apart = Annotated[list[Name], Field(min_length=1, max_length=2)]
PAIR, APART = TypeAdapter[list[str]](Pair), TypeAdapter[list[str]](Apart)
Rule = Literal["product", "sum", "min", "max", "mean"]


class MaterialEntry(Entry):
    """Surface properties of a body."""

    friction: NotNegative = Field(0.5, description="Coefficient of friction, static and dynamic alike.")
    restitution: float = Field(0.0, ge=0.0, le=1.0, description="Coefficient of restitution, 0 plastic to 1 elastic.")
    static_friction: NotNegative | None = Field(None, description="Coefficient of a contact that sticks.")
    dynamic_friction: NotNegative | None = Field(
        None, description="Coefficient of a contact that slides; at most the static one."
    )
    rolling_friction: NotNegative = Field(0.0, description="Arm of the rolling resistance [m].")
    spinning_friction: NotNegative = Field(0.0, description="Arm of the resistance to spinning about the normal [m].")
    surface_velocity: Vector = Field(
        [0.0, 0.0, 0.0], description="Velocity of the surface against the body, in the body's frame (3,) [m/s]."
    )


class CombineEntry(Entry):
    """How the coefficients of two materials that touch become one: a rule for each."""

    friction: Rule = Field("sum", description="For static and dynamic friction, each by itself.")
    restitution: Rule = Field("product", description="For the coefficient of restitution.")
    rolling: Rule = Field("sum", description="For rolling friction.")
    spinning: Rule = Field("sum", description="For spinning friction.")


class MaterialPairEntry(Entry):
    """What holds where two materials touch, whatever the rules; what is left out follows them."""

    first: MaterialEntry = Field(description="One of the two materials.")
    second: MaterialEntry = Field(description="The other, or the same again.")
    friction: NotNegative | None = Field(None, description="Coefficient of friction, static and dynamic alike.")
    static_friction: NotNegative | None = Field(None, description="Coefficient of a contact that sticks.")
    dynamic_friction: NotNegative | None = Field(None, description="Coefficient of a contact that slides.")
    restitution: Annotated[float, Field(ge=0.0, le=1.0)] | None = Field(
        None, description="Coefficient of restitution, 0 plastic to 1 elastic."
    )
    rolling_friction: NotNegative | None = Field(None, description="Arm of the rolling resistance [m].")
    spinning_friction: NotNegative | None = Field(None, description="Arm of the resistance to spinning [m].")


class ColliderEntry(Entry):
    """A collision shape at its place in the body."""

    shape: ShapeEntry = Field(description="Any shape; a plane has no position and orientation of its own.")
    position: Vector | None = Field(None, description="Origin of the shape in the body's frame (3,) [m].")
    orientation: Orientation | None = Field(
        None, description="Unit quaternion (x, y, z, w) from the shape's axes to the body's (4,)."
    )


class BodyEntry(Entry):
    """A body as it starts. Its mass properties are given, or follow from shape and mass or density."""

    name: Name | None = Field(None, description="Its name, used once; made from its kind and number if left out.")
    static: bool = Field(False, description="Whether nothing can push it; it then has no mass properties.")
    shape: ShapeEntry | None = Field(None, description="Its shape; may be left out when mass and inertia are given.")
    mass: Positive | None = Field(None, description="Mass [kg].")
    density: Positive | None = Field(None, description="Density [kg/m³], instead of a mass; 1000 if neither is given.")
    center_of_mass: Vector | None = Field(
        None, description="Centre of mass in the body's frame (3,) [m]; with mass and inertia."
    )
    inertia: Inertia | None = Field(
        None,
        description="Inertia about the centre of mass, axes of the body's frame: (3,) principal or (3, 3) [kg m²].",
    )
    position: Vector | None = Field(
        None, description="Centre of mass in the world (3,) [m]; for a static body the origin of its frame."
    )
    origin: Vector | None = Field(None, description="Origin of the body's frame in the world (3,) [m]; or position.")
    orientation: Orientation | None = Field(
        None, description="Unit quaternion (x, y, z, w) from the body's frame to the world (4,)."
    )
    velocity: Vector | None = Field(None, description="Velocity of the centre of mass, world frame (3,) [m/s].")
    angular_velocity: Vector | None = Field(None, description="Angular velocity, world frame (3,) [rad/s].")
    material: MaterialEntry | None = Field(None, description="Surface properties.")
    group: Name | None = Field(None, description="Name of the group it belongs to.")
    collision: list[ColliderEntry] | None = Field(
        None, description="What collides, instead of the shape; an empty list for a body that is only for show."
    )
    margin: NotNegative = Field(0.0, description="Thickness of a shell around what collides [m].")
    category: Annotated[list[Name], Field(min_length=1)] = Field(
        ["default"], description="Names of the categories it belongs to."
    )
    collides_with: list[Name] | None = Field(
        None, description="Names of the categories it can meet; all if left out. Both bodies are asked."
    )
    continuous: bool = Field(False, description="Whether it must not pass through others within a step.")


class SceneEntry(Entry):
    """A rattleback scene: bodies, joints between them, forces on them. SI units; quaternions are (x, y, z, w)."""

    format: Literal["rattleback-scene"] = Field(description="What kind of file this is.")
    version: Literal[1] = Field(description="Version of the format.")
    name: Name = Field("scene", description="What the scene is called.")
    gravity: Vector = Field([0.0, 0.0, -9.81], description="Acceleration of every body that is not static (3,) [m/s²].")
    bodies: list[BodyEntry] = Field([], description="The bodies, in the order they are simulated.")
    joints: list[AnyJoint] = Field([], description="The joints between bodies, or a body and the world.")
    forces: list[AnyForce] = Field([], description="The force modules, in the order they are evaluated.")
    exclusions: list[Apart] = Field(
        [], description="Pairs that never collide: two bodies or groups, or one group whose members do not, by name."
    )
    allowed: list[Pair] = Field([], description="Two bodies that collide although a joint or a group excludes them.")
    combine: CombineEntry | None = Field(None, description="How two materials that touch combine.")
    pairs: list[MaterialPairEntry] = Field([], description="What holds between two materials, whatever the rules.")


# Where a table is found, and what it may hold: by field for those of one sort, by kind for the others.
ENTRIES: dict[str, type[Entry]] = {
    "": SceneEntry,
    "bodies": BodyEntry,
    "material": MaterialEntry,
    "combine": CombineEntry,
    "pairs": MaterialPairEntry,
    "first": MaterialEntry,
    "second": MaterialEntry,
    "parts": PlacedEntry,
    "collision": ColliderEntry,
    "schedule": ScheduleEntry,
    **SHAPES,
    **JOINTS,
    **FORCES,
}


def schema() -> dict[str, Any]:
    """The JSON Schema of scene files, draft 2020-12, as plain data."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **SceneEntry.model_json_schema()}
