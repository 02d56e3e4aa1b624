"""What a shape looks like in a file: one model a kind, the fields of its constructor with their units."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from rattleback.core import checks


class Entry(BaseModel):
    """A table of a file: no field it does not know, no value that would have to be converted, nothing infinite."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        model_title_generator=lambda model: model.__name__.removesuffix("Entry"),
    )


def _unit(quaternion: list[float]) -> list[float]:
    checks.unit_quaternion(quaternion, "it")
    return quaternion


Name = Annotated[str, Field(min_length=1)]
Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Vector = Annotated[list[float], Field(min_length=3, max_length=3)]
Orientation = Annotated[list[float], Field(min_length=4, max_length=4), AfterValidator(_unit)]
Pair = Annotated[list[Positive], Field(min_length=2, max_length=2)]
Heights = Annotated[list[float], Field(min_length=2)]
Corners = Annotated[list[int], Field(min_length=3, max_length=3)]


class SphereEntry(Entry):
    """A ball around the origin."""

    kind: Literal["sphere"]
    radius: Positive = Field(description="Radius [m].")


class BoxEntry(Entry):
    """A rectangular block centred on the origin, its edges along the axes."""

    kind: Literal["box"]
    x: Positive = Field(description="Full edge length along x [m].")
    y: Positive = Field(description="Full edge length along y [m].")
    z: Positive = Field(description="Full edge length along z [m].")


class CapsuleEntry(Entry):
    """A cylinder along z with half a ball on either end, centred on the origin."""

    kind: Literal["capsule"]
    radius: Positive = Field(description="Radius [m].")
    length: Positive = Field(description="Full length from tip to tip [m]; at least twice the radius.")


class CylinderEntry(Entry):
    """A circular cylinder along z, centred on the origin."""

    kind: Literal["cylinder"]
    radius: Positive = Field(description="Radius [m].")
    length: Positive = Field(description="Full length along z [m].")


class ConeEntry(Entry):
    """A circular cone along z: apex at z = +height/2, base at z = −height/2."""

    kind: Literal["cone"]
    radius: Positive = Field(description="Radius of the base [m].")
    height: Positive = Field(description="Full height along z [m].")


class EllipsoidEntry(Entry):
    """An ellipsoid centred on the origin."""

    kind: Literal["ellipsoid"]
    x: Positive = Field(description="Radius along x [m].")
    y: Positive = Field(description="Radius along y [m].")
    z: Positive = Field(description="Radius along z [m].")


class PlaneEntry(Entry):
    """The half-space normal · p ≤ offset; for static bodies only."""

    kind: Literal["plane"]
    normal: Vector = Field([0.0, 0.0, 1.0], description="Direction out of the solid (3,), of any length.")
    offset: float = Field(0.0, description="Distance of the boundary from the origin along the normal [m].")


class MeshEntry(Entry):
    """Triangles between points, each anticlockwise seen from outside."""

    kind: Literal["mesh"]
    vertices: list[Vector] = Field(description="Points (vertices, 3) [m].")
    triangles: list[Corners] = Field(description="Indices of the corners of each triangle (triangles, 3).")
    decompose: bool = Field(False, description="Whether it is split into convex parts; it must be closed then.")


class PlacedEntry(Entry):
    """A part of a compound at its place."""

    shape: ShapeEntry = Field(description="Any shape but a plane.")
    position: Vector = Field([0.0, 0.0, 0.0], description="Origin of the shape in the compound's frame (3,) [m].")
    orientation: Orientation = Field(
        [0.0, 0.0, 0.0, 1.0], description="Unit quaternion (x, y, z, w) from the shape's axes to the compound's (4,)."
    )
    density_ratio: Positive = Field(1.0, description="Density of this part over that of the compound.")


class CompoundEntry(Entry):
    """Several shapes as one; overlapping parts count twice."""

    kind: Literal["compound"]
    parts: list[PlacedEntry] = Field(min_length=1, description="The parts.")


class ConvexHullEntry(Entry):
    """The smallest convex solid around points."""

    kind: Literal["convex_hull"]
    points: list[Vector] = Field(min_length=4, description="Points (points, 3), not all in one plane [m].")


class HeightFieldEntry(Entry):
    """Ground over a rectangle centred on the origin, solid below; for static bodies only."""

    kind: Literal["height_field"]
    heights: list[Heights] = Field(min_length=2, description="Heights z, one list for each x (nx, ny) [m].")
    spacing: Pair = Field(description="Distance between neighbouring heights along x and along y (2,) [m].")


ShapeEntry = Annotated[
    SphereEntry
    | BoxEntry
    | CapsuleEntry
    | CylinderEntry
    | ConeEntry
    | EllipsoidEntry
    | PlaneEntry
    | MeshEntry
    | CompoundEntry
    | ConvexHullEntry
    | HeightFieldEntry,
    Field(discriminator="kind"),
]
PlacedEntry.model_rebuild()
CompoundEntry.model_rebuild()

SHAPES: dict[str, type[Entry]] = {
    "sphere": SphereEntry,
    "box": BoxEntry,
    "capsule": CapsuleEntry,
    "cylinder": CylinderEntry,
    "cone": ConeEntry,
    "ellipsoid": EllipsoidEntry,
    "plane": PlaneEntry,
    "mesh": MeshEntry,
    "compound": CompoundEntry,
    "convex_hull": ConvexHullEntry,
    "height_field": HeightFieldEntry,
}
