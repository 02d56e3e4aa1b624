"""Pictures in film quality: paths of light followed from the camera over surfaces to sun and sky, with Mitsuba.

    L_o(x, ω_o) = ∫ f(x, ω_i, ω_o) L_i(x, ω_i) |cos θ| dω_i

averaged over random paths of at most ``BOUNCES`` surfaces;
L_o light that leaves x towards ω_o, L_i light that comes from ω_i, f the material, θ the angle to the normal.

1. solids of one colour become one mesh, where they are now
2. ground, sky and sun around them
3. Mitsuba averages ``samples`` paths for each pixel
4. the shoulder and the colours of other pictures

Cost: pixels times samples; about 2 µs for each on one core. When: pictures to show. When not: films of many frames, or
a look between two steps; ``rb.render`` without ``quality`` takes a second.

Reference: Kajiya, The rendering equation, SIGGRAPH 1986; Jakob et al., Mitsuba 3.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import DeviceError
from rattleback.maths.rotation import rotate
from rattleback.recording.film import scenery
from rattleback.recording.motion.solids import solids_of
from rattleback.recording.renderer import grounds_of, stand_of
from rattleback.shapes import Plane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.recording.camera import Camera
    from rattleback.recording.look import Appearance
    from rattleback.recording.renderer import Stand
    from rattleback.recording.snapshot import Snapshot

    Floats = NDArray[np.float64]

NO_PACKAGE = "Pictures in film quality need mitsuba, which is not installed: pip install 'rattleback[film]'."
# The variant that needs nothing beside it.
VARIANT = "scalar_rgb"
BOUNCES = 7
ROUGH = 0.38
# A picture is the mean of so many, each of so many paths at least.
PARTS, LEAST = 8, 4
# What is brighter than so many times the median of them and a little is a spark.
SPARK, DIM = 1.6, 0.02


def trace(snapshot: Snapshot, camera: Camera, look: Appearance, size: tuple[int, int], depth: float) -> Floats:
    """The picture of a snapshot, shape (height, width, 3), sRGB from 0 to 1, upper row first.

    Args:
        snapshot: What is seen.
        camera: Where from, as far as it is chosen.
        look: How it looks; ``samples`` is the number of paths for each pixel.
        size: Width and height [pixels].
        depth: Height that a floor has to be below, beside all bodies [m].

    Raises:
        DeviceError: mitsuba is missing; the sentence says what to install.
    """
    with _mitsuba() as mi:
        stand = stand_of(camera, [snapshot], depth, size, look)
        parts: dict[str, Any] = {"type": "scene", "integrator": {"type": "path", "max_depth": BOUNCES}}
        parts["sensor"] = _sensor(mi, stand, size, look.samples)
        parts["sun"] = _placed(mi, scenery.sun(stand))
        parts["sky"] = _sky(mi)
        for number, plane in enumerate(grounds_of(snapshot, stand, look)):
            parts[f"ground_{number}"] = _ground(mi, scenery.ground(plane, stand))
        for number, (colour, solid) in enumerate(_solids(snapshot, stand, look)):
            parts[f"solid_{number}"] = _mesh(mi, solid, colour, number)
        scene, count = mi.load_dict(parts), max(1, min(PARTS, look.samples // LEAST))
        paths = -(-look.samples // count)
        seen = np.stack([np.array(mi.render(scene, seed=part, spp=paths)) for part in range(count)])
    return develop(without_sparks(seen[..., :3].astype(np.float64)))


def without_sparks(parts: Floats) -> Floats:
    """The mean of several pictures of the same, shape (pictures, height, width, 3), without sparks.

    A spark is a path that met the sun by way of something that shines: rare, and bright in one picture alone.
    """
    limit = SPARK * np.median(parts, axis=0) + DIM
    found: Floats = np.minimum(parts, limit).mean(axis=0)
    return found


def develop(light: Floats) -> Floats:
    """Light to sRGB, with a shoulder that lets bright colours run out softly."""
    x = np.clip(light, 0.0, None)
    x = np.where(x > 0.65, 1.0 - 0.35 * np.exp((0.65 - np.maximum(x, 0.65)) / 0.35), x)
    found: Floats = np.where(x > 0.0031308, 1.055 * np.maximum(x, 1e-9) ** (1.0 / 2.4) - 0.055, 12.92 * x)
    return found


@contextmanager
def _mitsuba() -> Iterator[Any]:
    """Mitsuba in the variant that is needed; the one the user has chosen is there again afterwards."""
    try:
        import mitsuba
    except ImportError:
        raise DeviceError(NO_PACKAGE) from None
    mi: Any = mitsuba
    before = mi.variant()
    mi.set_variant(VARIANT)
    told = mi.logger().log_level()
    # It tells that it rounds the number of samples up.
    mi.set_log_level(mi.LogLevel.Error)
    try:
        yield mi
    finally:
        mi.set_log_level(told)
        if before not in (None, VARIANT):
            mi.set_variant(before)


def _sensor(mi: Any, stand: Stand, size: tuple[int, int], samples: int) -> dict[str, Any]:
    camera, matrix = stand.camera, np.eye(4)
    right, up, toward = camera.axes()
    # Mitsuba's camera looks along its z, with x to the left.
    matrix[:3, :3] = np.stack([-right, up, -toward], axis=1)
    matrix[:3, 3] = camera.eye
    away = float(camera.distance or 1.0)
    return {
        "type": "perspective",
        "fov": math.degrees(camera.field_of_view),
        "fov_axis": "y",
        "near_clip": 1e-3 * away,
        "far_clip": 1e4 * away,
        "to_world": mi.ScalarTransform4f(matrix),
        "sampler": {"type": "multijitter", "sample_count": samples},
        "film": {"type": "hdrfilm", "width": size[0], "height": size[1], "pixel_format": "rgb"},
    }


def _sky(mi: Any) -> dict[str, Any]:
    """The sky; Mitsuba's map has y up."""
    bitmap = mi.Bitmap(scenery.sky().astype(np.float32))
    return {"type": "envmap", "bitmap": bitmap, "to_world": mi.ScalarTransform4f().rotate([1.0, 0.0, 0.0], 90.0)}


def _placed(mi: Any, part: dict[str, Any]) -> dict[str, Any]:
    return {**part, "to_world": mi.ScalarTransform4f(part["to_world"])}


def _ground(mi: Any, plane: dict[str, Any]) -> dict[str, Any]:
    """The ground: matt, and transparent towards its rim."""
    paint = plane["paint"]
    if "pixels" in paint:
        paint = {
            "type": "bitmap",
            "bitmap": mi.Bitmap(paint["pixels"].astype(np.float32)),
            "raw": True,
            "wrap_mode": "repeat",
            "to_uv": mi.ScalarTransform4f(paint["to_uv"]),
        }
    opacity = {"type": "bitmap", "bitmap": mi.Bitmap(plane["opacity"].astype(np.float32)), "raw": True}
    surface = {"type": "diffuse", "reflectance": paint}
    return {
        "type": "rectangle",
        "to_world": mi.ScalarTransform4f(plane["to_world"]),
        "bsdf": {"type": "mask", "opacity": opacity, "inner": {"type": "twosided", "inner": surface}},
    }


def _mesh(mi: Any, solid: tuple[Floats, Floats, NDArray[np.int64]], colour: Floats, number: int) -> Any:
    """Triangles in a colour."""
    vertices, normals, triangles = solid
    gloss = {"type": "principled", "base_color": {"type": "rgb", "value": colour.tolist()}, "roughness": ROUGH}
    properties = mi.Properties()
    properties["mesh_bsdf"] = mi.load_dict({"type": "twosided", "inner": gloss})
    made = mi.Mesh(f"solid {number}", len(vertices), len(triangles), has_vertex_normals=True, props=properties)
    given = mi.traverse(made)
    given["vertex_positions"] = vertices.astype(np.float32).ravel()
    given["vertex_normals"] = normals.astype(np.float32).ravel()
    given["faces"] = triangles.astype(np.uint32).ravel()
    given.update()
    return made


def _solids(snapshot: Snapshot, stand: Stand, look: Appearance) -> Iterator[tuple[Floats, Any]]:
    """The solids of each colour as one mesh in the world; planes are the ground's."""
    found = solids_of(snapshot.scene, stand.radius, look.joints)
    colours = look.colours(snapshot, stand.fastest)
    by_colour: dict[tuple[float, ...], list[Any]] = {}
    for solid in found.solids:
        if not isinstance(snapshot.scene.bodies[solid.body].shape, Plane) or solid.colour != solid.body:
            by_colour.setdefault(tuple(np.round(colours[solid.colour], 6).tolist()), []).append(solid)
    for colour, solids in by_colour.items():
        points, normals, triangles, before = [], [], [], 0
        for solid in solids:
            piece, turn = found.meshes[solid.mesh], snapshot.orientation[solid.body]
            points.append(snapshot.origin[solid.body] + rotate(turn, piece.vertices))
            normals.append(rotate(turn, piece.normals))
            triangles.append(piece.triangles + before)
            before += len(piece.vertices)
        yield np.array(colour), (np.concatenate(points), np.concatenate(normals), np.concatenate(triangles))
