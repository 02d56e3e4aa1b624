"""From the collision shapes of a scene's bodies to colliders: one row for each convex part, in every world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.collision.geometry import solid
from rattleback.collision.geometry.colliders import Colliders, Exclusions, Hulls
from rattleback.collision.geometry.hull_table import HullTable
from rattleback.collision.geometry.pinned import pinned_pairs
from rattleback.collision.geometry.shape_table import Entry, entry_of
from rattleback.collision.geometry.surface_table import Surfaces, SurfaceTable
from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real
from rattleback.maths import rotation
from rattleback.model.filter import category_bits, excluded_pairs
from rattleback.shapes import Box, Compound, HeightField, Mesh, Plane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.model.model import Bodies, Model
    from rattleback.model.surfaces import PairRules
    from rattleback.model.surfaces import Surfaces as Materials
    from rattleback.model.worlds.scenes import WorldScenes


@dataclass(frozen=True)
class Geometry:
    """The colliders of a model and the tables behind them.

    Attributes:
        colliders: The colliders of all worlds, world by world.
        hulls: Corners, edges and faces.
        surfaces: Triangle meshes and height fields.
        exclusions: Pairs of bodies that must not meet.
        each: Number of colliders of one world.
        kinds: Kinds that occur, sorted.
        names: Name of the body of every collider of one world.
        bodies: The bodies of the colliders.
        materials: Coefficients of the surfaces of the bodies.
        rules: How the coefficients of two surfaces combine.
        device: Where the arrays live.
    """

    colliders: Colliders
    hulls: Hulls
    surfaces: Surfaces
    exclusions: Exclusions
    each: int
    kinds: tuple[int, ...]
    names: tuple[str, ...]
    bodies: Bodies
    materials: Materials
    rules: PairRules
    device: Any

    @property
    def count(self) -> int:
        """Number of colliders in all worlds."""
        return int(self.colliders.kind.shape[0])


@dataclass
class Part:
    """One collider while it is put together: a convex shape or a surface in the frame of its body."""

    shape: Any
    position: NDArray[np.float64]
    orientation: NDArray[np.float64]
    entry: Entry


def compile_colliders(model: Model) -> Geometry:
    """The colliders of a model's bodies."""
    scene, device, found = model.scene, model.device, model.scenes.bodies()
    shared: dict[int, list[Part]] = {}
    for body in found.items:
        if id(body.colliders) not in shared:
            shared[id(body.colliders)] = list(_parts(body))
    parts = [shared[id(body.colliders)] for body in found.items]
    hulls, surfaces = HullTable(), SurfaceTable()
    # Corners of triangles lie behind the vertices of all hulls.
    for part in (part for own in parts for part in own):
        if part.entry.vertices == "hull":
            _polyhedron(part.shape, hulls)
    described = [
        [_row_of(body, part, hulls, surfaces) for part in own] for body, own in zip(found.items, parts, strict=True)
    ]
    per_body = [described[k] for k in found.index[: len(scene.bodies) * len(model.scenes.scenes)]]
    filters, exclusions = _filters(model.scenes)
    rows = [row | said for own, said in zip(per_body, filters, strict=True) for row in own]
    listed = arrays.allocate(Exclusions, {"exclusions": len(exclusions)}, device)
    if exclusions:
        listed.body.assign(np.array(exclusions, dtype=np.int32))
    kinds = tuple(sorted({int(row["kind"]) for row in rows}))
    names = tuple(scene.bodies[row["body"]].name for row in rows[: len(rows) // len(model.scenes.scenes)])
    tables = (_replicate(rows, model, len(names)), hulls.tables(device), surfaces.tables(device), listed)
    return Geometry(*tables, len(names), kinds, names, model.bodies, model.surfaces, model.rules, device)


def _row_of(body: Any, part: Part, hulls: HullTable, surfaces: SurfaceTable) -> dict[str, Any]:
    """One collider of a body, but for what it may meet."""
    row = _described(body, part, hulls, surfaces)
    row["round"] += body.margin
    row["reach"] += body.margin if row["reach"] >= 0.0 else 0.0
    row["position"] = part.position - body.center_of_mass
    return row | {"orientation": part.orientation, "movable": int(not body.static)}


def _filters(scenes: WorldScenes) -> tuple[list[dict[str, int]], list[int]]:
    """What each body of the scenes may meet, body by body, and the bodies they must not meet one after the other."""
    category, mask = category_bits(scenes.first)
    found: list[dict[str, int]] = []
    exclusions: list[int] = []
    for scene in scenes.scenes:
        own, spans = _exclusions(scene)
        for b, (first, count) in enumerate(spans):
            said = {"excluded": len(exclusions) + first, "exclusions": count}
            found.append({**said, "body": b, "category": category[b], "mask": mask[b]})
        exclusions += own
    return found, exclusions


def _replicate(rows: list[dict[str, Any]], model: Model, each: int) -> Colliders:
    colliders = arrays.allocate(Colliders, {"colliders": each * model.worlds}, model.device)
    world = np.repeat(np.arange(model.worlds, dtype=np.int32), each)
    for name, array in arrays.each(colliders):
        if name == "world" or not rows:
            array.assign(world)
            continue
        column = model.scenes.tiled(np.array([row[name] for row in rows]))
        if name == "body":
            column = column + world * len(model.names)
        array.assign(column.astype(np.int32 if column.dtype.kind == "i" else numpy_real))
    return colliders


def _exclusions(scene: Any) -> tuple[list[int], list[tuple[int, int]]]:
    """The bodies each body must not meet, one after the other, and where those of each body are."""
    others: list[list[int]] = [[] for _ in scene.bodies]
    excluded = excluded_pairs(scene)
    for i, j in sorted(excluded | pinned_pairs(scene, excluded)):
        others[i].append(j)
        others[j].append(i)
    starts = np.concatenate([[0], np.cumsum([len(listed) for listed in others])])
    return [j for listed in others for j in listed], [(int(starts[b]), len(listed)) for b, listed in enumerate(others)]


def _parts(body: Any) -> Iterator[Part]:
    for entry in body.colliders:
        if isinstance(entry, Plane):
            yield Part(entry, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), entry_of(entry, body.name))
        else:
            yield from _flat(entry, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), body)


def _flat(placed: Any, position: NDArray[np.float64], orientation: NDArray[np.float64], body: Any) -> Iterator[Part]:
    """The convex parts and surfaces of a shape at a place in a frame, compounds and decomposed meshes taken apart."""
    own = np.array(placed.orientation)
    place = position + rotation.rotate(orientation, np.array(placed.position))
    turn = rotation.multiply(orientation, own)
    shape = placed.shape
    if isinstance(shape, Compound):
        for inner in shape.parts:
            yield from _flat(inner, place, turn, body)
    elif isinstance(shape, Mesh) and shape.decompose:
        for part in shape.parts:
            yield Part(part, place, turn, entry_of(part, body.name))
    elif isinstance(shape, (Mesh, HeightField)) and not body.static:
        raise InputError(
            f"The collision shape of body {body.name!r} is {shape!r}, a surface that only a static body may have; use "
            "rb.ConvexHull(mesh.vertices), rb.Mesh(..., decompose=True), or collision=None."
        )
    else:
        yield Part(shape, place, turn, entry_of(shape, body.name))


def _described(body: Any, part: Part, hulls: HullTable, surfaces: SurfaceTable) -> dict[str, Any]:
    """One collider of a body, which does not reach farther than numbers do."""
    with np.errstate(over="ignore"):
        row = _describe(part, hulls, surfaces)
        if np.isfinite(numpy_real(row["reach"])):
            return row
    raise InputError(f"A collision shape of body {body.name!r} reaches too far for numbers; make it smaller.")


def _describe(part: Part, hulls: HullTable, surfaces: SurfaceTable) -> dict[str, Any]:
    """Kind, size, shell, reach and tables of one collider."""
    shape, entry = part.shape, part.entry
    row: dict[str, Any] = {"kind": entry.kind, "size": entry.size(shape), "round": entry.shell(shape)}
    row |= {"center": (0.0, 0.0, 0.0), "reach": -1.0, "hull": -1, "first": 0, "count": 0}
    if entry.kind == solid.PLANE:
        normal = np.array(shape.normal)
        part.position, part.orientation = shape.offset * normal, _from_z(normal)
        return row
    row["reach"] = shape.bounding_radius()
    if entry.vertices == "hull":
        return row | _polyhedron(shape, hulls)
    if entry.vertices == "surface":
        return row | _surface(shape, hulls, surfaces)
    return row


def _surface(shape: Any, hulls: HullTable, surfaces: SurfaceTable) -> dict[str, Any]:
    number = surfaces.find(shape)
    if number is None:
        number = surfaces.add(shape, hulls.loose(shape.vertices[shape.triangles].reshape(-1, 3)))
    size, center = surfaces.box(number)
    table = {"hull": number, "first": surfaces.first_corner(number), "count": 3 * len(shape.triangles)}
    return {"size": size, "center": center} | table


def _polyhedron(shape: Any, hulls: HullTable) -> dict[str, Any]:
    """Row in Hulls of a box or a hull, and its vertices there."""
    number = hulls.box((0.5 * shape.x, 0.5 * shape.y, 0.5 * shape.z)) if isinstance(shape, Box) else hulls.hull(shape)
    first, count = hulls.span(number)
    return {"hull": number, "first": first, "count": count}


def _from_z(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shortest turn that takes the z axis to a unit vector, as a quaternion."""
    x, y, z = normal
    if z < -0.5:
        # A half turn about x first: near the opposite direction the shortest turn loses its digits.
        return rotation.multiply(_from_z(-normal), np.array([1.0, 0.0, 0.0, 0.0]))
    quaternion = np.array([-y, x, 0.0, 1.0 + z])
    return np.asarray(quaternion / np.linalg.norm(quaternion))
