"""The overlap volume of a single pair of convex bodies, outside any simulation.

A pair of bodies becomes a scene of two, whose colliders are measured by the kernels that measure all pairs of a step
(``overlap_volume.measure``). The contact normal comes from the narrow phase, of the shapes as they are; only then
round shapes are replaced by inscribed polyhedra.

Reference: overview of physics engines, kinds of contact information (shape of the contact part).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.collision.geometry.colliders import Places
from rattleback.collision.geometry.compile import Geometry, compile_colliders
from rattleback.collision.geometry.shape_table import TABLE
from rattleback.collision.geometry.solid import MESH, PLANE
from rattleback.collision.geometry.world_poses import place
from rattleback.collision.narrowphase import ClosedForms
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.overlap_volume.inscribed import inscribed
from rattleback.collision.overlap_volume.measure import NO_ROOM, OVERLAPPING, Volumes, record_volumes
from rattleback.core import arrays, checks
from rattleback.core.device import find
from rattleback.core.errors import InputError, RattlebackError
from rattleback.core.precision import real
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.model.compile import compile_scene
from rattleback.model.scene import Scene
from rattleback.shapes import Placed, Plane, Sphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Entry = Placed | Plane

__all__ = ["OverlapSolid", "Volumes", "overlap_solid", "record_volumes"]

CONVEX = tuple(known for known, entry in TABLE.items() if entry.kind not in (PLANE, MESH))
FINEST = 256


@sealed
@dataclass(frozen=True, eq=False)
class OverlapSolid:
    """The overlap of two convex bodies; volume and areas are zero and all else None where there is none.

    Attributes:
        volume: Volume [m³].
        area_a: Area of the part of its surface that belongs to A [m²].
        area_b: Area of the part that belongs to B [m²]; what belongs to both is counted once.
        region_area: Area of its shadow along the normal [m²].
        normal: Unit contact normal from B to A, shape (3,).
        centroid: Centroid [m], shape (3,).
        second_moments: Second moments about the centroid [m⁵], shape (3, 3).
        region_centroid: Centroid of the shadow, in the plane through the centroid across the normal [m], shape (3,).
        region_moments: Second moments of the shadow about its centroid [m⁴], shape (3, 3); zero along the normal.
    """

    volume: float = 0.0
    area_a: float = 0.0
    area_b: float = 0.0
    region_area: float = 0.0
    normal: NDArray[np.float64] | None = None
    centroid: NDArray[np.float64] | None = None
    second_moments: NDArray[np.float64] | None = None
    region_centroid: NDArray[np.float64] | None = None
    region_moments: NDArray[np.float64] | None = None

    @property
    def area(self) -> float:
        """Area of the whole surface [m²]."""
        return self.area_a + self.area_b


@dataclass(frozen=True)
class Duo:
    """Two bodies on their own: their colliders, where they are, the one item they make, and the answer for it."""

    geometry: Geometry
    places: Places
    items: Items
    found: Found


def overlap_solid(
    a: Any, b: Any, *, normal: ArrayLike | None = None, fineness: int = 48, device: str = "cpu"
) -> OverlapSolid:
    """The overlap of two convex bodies as a solid.

    Args:
        a: A convex shape at the origin, one at a place (``rb.Placed``), or a ``rb.Plane``.
        b: Another one.
        normal: Direction from B to A along which the region is seen; None for that of the shortest way out.
        fineness: Round shapes are taken as inscribed polyhedra with this many corners around (``inscribed``),
            except two spheres, or a sphere and a plane, seen along their own normal, which are exact.
        device: Name of the device to compute on.
    """
    entries = _entry(a, "a"), _entry(b, "b")
    if all(isinstance(entry, Plane) for entry in entries):
        raise InputError("overlap_solid got two planes, whose overlap has no end; give one a size, such as rb.Box.")
    fineness = 2 * ((checks.count(fineness, "The fineness of overlap_solid", least=8, most=FINEST) + 1) // 2)
    duo = _set_up(entries, find(device))
    if normal is not None:
        seen = checks.direction(normal, "The normal of overlap_solid")
    else:
        _run(duo, _find_closest)
        if duo.found.separation.numpy()[0] >= 0.0:
            return OverlapSolid()
        seen = duo.found.normal.numpy()[0]
    if normal is not None or not _is_lens(entries):
        flat = _flat(entries[0], fineness), _flat(entries[1], fineness)
        duo = duo if flat == entries else _set_up(flat, duo.geometry.device)
    duo.found.separation.fill_(-1.0)
    duo.found.normal.assign(seen[None])
    return _measure(duo, seen, entries)


def _entry(given: Any, which: str) -> Entry:
    """A convex shape at its place, or a plane."""
    if isinstance(given, Plane):
        return given
    shape = given.shape if isinstance(given, Placed) else given
    if not isinstance(shape, CONVEX):
        raise InputError(
            f"The argument {which} of overlap_solid is {shape!r}; it must be a convex shape, such as rb.Box(1, 1, 1) "
            "or rb.ConvexHull(mesh.vertices), a rb.Placed with one, or a rb.Plane."
        )
    return given if isinstance(given, Placed) else Placed(given)


def _is_lens(entries: tuple[Entry, Entry]) -> bool:
    """Whether both are a sphere or a plane."""
    return all(isinstance(entry, Plane) or isinstance(entry.shape, Sphere) for entry in entries)


def _flat(entry: Entry, fineness: int) -> Entry:
    """The same, with an inscribed polyhedron for a round shape."""
    return entry if isinstance(entry, Plane) else replace(entry, shape=inscribed(entry.shape, fineness))


def _set_up(entries: tuple[Entry, Entry], device: Any) -> Duo:
    scene = Scene()
    for entry in entries:
        if isinstance(entry, Plane):
            scene.add_static(entry)
        else:
            scene.add_static(entry.shape, position=entry.position, orientation=entry.orientation)
    model, state = compile_scene(scene, None, device)
    geometry = compile_colliders(model)
    counts = {"colliders": 2, "items": 1, "pairs_and_one": 2, "one": 1}
    places, items = arrays.allocate(Places, counts, device), arrays.allocate(Items, counts, device)
    duo = Duo(geometry, places, items, arrays.allocate(Found, counts, device))
    duo.items.b.fill_(1)
    duo.items.part.fill_(-1)
    duo.items.needed.fill_(1)
    inputs = [geometry.colliders, geometry.hulls, state.motion, real(0.0), duo.places]
    wp.launch(place, dim=2, inputs=inputs, device=device)
    return duo


def _run(duo: Duo, record: Any, *more: Any) -> None:
    """Record launches and carry them out."""
    device = duo.geometry.device
    program = Program(device, wp.zeros(1, dtype=wp.int32, device=device))
    with program.stage("overlap"):
        record(program, duo.geometry, duo.items, duo.places, duo.found, *more)
    program.compile()
    program.run(1)


def _find_closest(program: Program, geometry: Geometry, items: Items, places: Places, found: Found) -> None:
    """Record the narrow phase of one pair."""
    ClosedForms().record(program, geometry, items, places, 0.0, found)


def _measure(duo: Duo, normal: NDArray[np.float64], entries: tuple[Entry, Entry]) -> OverlapSolid:
    volumes = arrays.allocate(Volumes, {"items": 1}, duo.geometry.device)
    _run(duo, record_volumes, volumes)
    answer: dict[str, Any] = {name: column[0] for name, column in arrays.read(volumes).items()}
    status = answer.pop("status")
    if status == NO_ROOM:
        raise RattlebackError(
            f"The overlap of {entries[0]!r} and {entries[1]!r} has too many edges; use a lower fineness."
        )
    if status != OVERLAPPING:
        return OverlapSolid()
    for name in ("centroid", "region_centroid"):
        answer[name] = answer[name] + duo.places.position.numpy()[0]
    for name in ("volume", "area_a", "area_b", "region_area"):
        answer[name] = float(answer[name])
    return OverlapSolid(normal=normal + 0.0, **answer)
