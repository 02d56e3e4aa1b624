"""Balls and capsules around, in and across surfaces, beside distances from all triangles and solid angles by hand."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb

POSES, GAP = 1000, 0.3
SOLIDS = {"ball": (0.15, 0.0), "capsule": (0.1, 0.4), "thick capsule": (0.15, 0.5)}


def prism(outline, cap):
    """A closed mesh of a counter-clockwise outline in the plane, from z = -0.6 to 0.6."""
    n = len(outline)
    lower, upper = (np.c_[outline, np.full(n, z)] for z in (-0.6, 0.6))
    sides = [t for k in range(n) for t in ((k, (k + 1) % n, n + k), ((k + 1) % n, n + (k + 1) % n, n + k))]
    triangles = [(c, b, a) for a, b, c in cap] + [(a + n, b + n, c + n) for a, b, c in cap] + sides
    return rb.Mesh(np.concatenate([lower, upper]), triangles)


def notched():
    """A block with a narrow notch."""
    outline = np.array([[-1, -1], [1, -1], [1, 1], [0.2, 1], [0, 0.2], [-0.2, 1], [-1, 1]]) * 0.6
    return prism(outline, [(0, 1, 4), (1, 2, 4), (2, 3, 4), (4, 5, 6), (4, 6, 0)])


def channel():
    """A block with a wide groove between two walls."""
    outline = np.array([[-1, -1], [1, -1], [1, 1], [0.4, 1], [0.4, 0], [-0.4, 0], [-0.4, 1], [-1, 1]]) * 0.6
    return prism(outline, [(0, 1, 5), (1, 4, 5), (1, 2, 4), (2, 3, 4), (5, 6, 7), (5, 7, 0)])


def tray():
    """Four walls on a bottom without thickness, open above."""
    square = np.array([[-0.7, -0.7], [0.7, -0.7], [0.7, 0.7], [-0.7, 0.7]])
    vertices = np.concatenate([np.c_[square, np.full(4, z)] for z in (-0.4, 0.4)])
    walls = [t for k in range(4) for t in ((k, (k + 1) % 4, 4 + (k + 1) % 4), (k, 4 + (k + 1) % 4, 4 + k))]
    return rb.Mesh(vertices, [(0, 2, 1), (0, 3, 2), *walls])


GROUNDS = {"notched": notched(), "channel": channel(), "tray": tray()}


def to_segment(p, a, b):
    """Distances of points p from segments a b, any leading axes."""
    along = b - a
    part = np.clip(np.sum((p - a) * along, -1) / np.maximum(np.sum(along**2, -1), 1e-300), 0.0, 1.0)
    return np.linalg.norm(p - a - part[..., None] * along, axis=-1)


def to_triangle(p, corners):
    """Distances of points p from triangles (..., 3, 3): along the normal where they are over one, else from edges."""
    heads = np.roll(corners, -1, axis=-2)
    edges = np.min([to_segment(p, corners[..., k, :], heads[..., k, :]) for k in range(3)], axis=0)
    n = np.cross(corners[..., 1, :] - corners[..., 0, :], corners[..., 2, :] - corners[..., 0, :])
    sides = [np.cross(heads[..., k, :] - corners[..., k, :], p - corners[..., k, :]) for k in range(3)]
    over = np.all([np.sum(side * n, -1) >= 0.0 for side in sides], axis=0)
    return np.where(over, np.abs(np.sum((p - corners[..., 0, :]) * n, -1)) / np.linalg.norm(n, axis=-1), edges)


def between_segments(a, b, c, d):
    """Distances of segments a b from segments c d: between their lines if these come nearest within both, else ends."""
    ends = np.min([to_segment(a, c, d), to_segment(b, c, d), to_segment(c, a, b), to_segment(d, a, b)], axis=0)
    u, v, w = b - a, d - c, a - c
    uu, uv, vv = np.sum(u * u, -1), np.sum(u * v, -1), np.sum(v * v, -1)
    det = uu * vv - uv**2
    safe = np.where(det > 1e-12 * uu * vv, det, np.inf)
    s = (uv * np.sum(v * w, -1) - vv * np.sum(u * w, -1)) / safe
    t = (uu * np.sum(v * w, -1) - uv * np.sum(u * w, -1)) / safe
    within = np.isfinite(safe) & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    lines = np.linalg.norm(w + s[..., None] * u - t[..., None] * v, axis=-1)
    return np.where(within, lines, ends)


def distances(a, b, mesh):
    """Distances of segments (segments, 3) from a mesh, zero where one crosses a triangle."""
    corners = np.asarray(mesh.vertices)[np.asarray(mesh.triangles)]
    a, b = a[:, None], np.asarray(b)[:, None]
    heads = np.roll(corners, -1, axis=1)
    near = [to_triangle(a, corners), to_triangle(b, corners)]
    near += [between_segments(a, b, corners[:, k], heads[:, k]) for k in range(3)]
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    above, below = (np.sum((x - corners[:, 0]) * n, -1) for x in (a, b))
    cut = above * below < 0.0
    x = a + np.where(cut, above / np.where(cut, above - below, 1.0), 0.0)[..., None] * (b - a)
    return np.where(cut & (to_triangle(x, corners) < 1e-12), 0.0, np.min(near, axis=0)).min(axis=1)


def is_inside(points, mesh):
    """Whether points (points, 3) have the solid angle 4 π of a closed mesh around them."""
    a, b, c = np.moveaxis(np.asarray(mesh.vertices)[np.asarray(mesh.triangles)] - points[:, None, None], 2, 0)
    p, q, r = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
    across = p * q * r + np.sum(a * b, -1) * r + np.sum(b * c, -1) * p + np.sum(c * a, -1) * q
    return np.arctan2(np.sum(a * np.cross(b, c), -1), across).sum(axis=1) > np.pi


def poses(name):
    """Radius, ends of the axis, places and orientations of one of the solids, many of them near the middle."""
    radius, length = SOLIDS[name]
    rng = np.random.default_rng(len(name))
    place = rng.normal(size=(POSES, 3)) * rng.choice([0.25, 0.5, 0.8], (POSES, 1))
    turn = Rotation.random(POSES, random_state=rng)
    half = turn.apply([0.0, 0.0, 0.5 * length])
    return radius, place - half, place + half, place, turn.as_quat()


def solid(name):
    radius, length = SOLIDS[name]
    return rb.Capsule(radius, length + 2 * radius) if length else rb.Sphere(radius)


def least(mesh, name, method):
    """The least separation of all contacts in every world, infinite without a contact."""
    scene = rb.Scene()
    scene.add_static(mesh)
    scene.add_body(solid(name), mass=1.0, name="solid")
    settings = {"contacts": "detect", "contact_distance": GAP, "narrowphase": method}
    simulation = rb.Simulation(scene, worlds=POSES, **settings)
    *_, place, turn = poses(name)
    body = simulation.model.index("solid")
    simulation.state.position[:, body], simulation.state.orientation[:, body] = place, turn
    found, result = simulation.contacts, np.full(POSES, np.inf)
    np.minimum.at(result, np.asarray(found.world), found.separation)
    return result


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", SOLIDS)
def test_distances_from_surfaces_are_those_from_the_nearest_triangle_on_either_side(ground, name):
    radius, a, b, place, turn = poses(name)
    wanted = distances(a, b, GROUNDS[ground])
    found = rb.collision.distance(rb.collision.Poses(solid(name), place, turn), GROUNDS[ground]).distance
    apart = wanted > 1e-6
    np.testing.assert_allclose(found[apart], wanted[apart] - radius, atol=1e-8)
    assert (found[~apart] <= -radius + 1e-6).all()


@pytest.mark.parametrize("method", ["closed_forms", "gjk", "vclip"])
@pytest.mark.parametrize("ground", ["notched", "channel"])
@pytest.mark.parametrize("name", SOLIDS)
def test_what_lies_wholly_inside_a_closed_mesh_has_no_contacts_with_it(ground, name, method):
    mesh = GROUNDS[ground]
    radius, a, b, place, _ = poses(name)
    inside = is_inside(place, mesh) & (distances(a, b, mesh) - radius > 1e-4)
    assert inside.sum() > 8
    assert np.isinf(least(mesh, name, method)[inside]).all()


@pytest.mark.parametrize("method", ["closed_forms", "gjk", "vclip"])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", SOLIDS)
def test_contacts_from_outside_are_as_far_as_the_nearest_triangle(ground, name, method):
    mesh = GROUNDS[ground]
    radius, a, b, place, _ = poses(name)
    wanted = distances(a, b, mesh)
    outside = (wanted > 1e-6) & (np.abs(wanted - radius - GAP) > 1e-6)
    # A sheet knows the side of the middle of the other solid only, which may be the wrong one of what is deep in it.
    outside &= wanted > 0.5 * radius if ground == "tray" else ~is_inside(place, mesh)
    assert (outside & (wanted < radius)).sum() > 10
    wanted = np.where(wanted - radius <= GAP, wanted - radius, np.inf)
    np.testing.assert_allclose(least(mesh, name, method)[outside], wanted[outside], atol=1e-7)


def test_a_capsule_behind_one_wall_of_a_notch_is_not_stopped_by_the_other_wall():
    # Inside the block, 15 mm behind the bottom of the notch, in front of the plane of the wall across.
    a, b = np.array([0.06439, -0.26222, -0.32787]), np.array([0.28251, 0.22475, -0.05349])
    mesh, shape = notched(), rb.Capsule(0.2, 1.0)
    turn = Rotation.align_vectors([b - a], [[0.0, 0.0, 1.0]])[0].as_quat()
    scene = rb.Scene()
    scene.add_static(mesh)
    scene.add_body(shape, mass=1.0, position=0.5 * (a + b), orientation=turn)
    simulation = rb.Simulation(scene, contacts="detect", contact_distance=0.5)
    assert is_inside(0.5 * (a + b)[None], mesh).all()
    assert len(simulation.contacts.separation) == 0
    placed = rb.Placed(shape, position=0.5 * (a + b), orientation=turn)
    wanted = distances(a[None], b[None], mesh)[0] - 0.2
    assert wanted == pytest.approx(0.0150, abs=1e-4)
    assert rb.collision.distance(placed, mesh).distance == pytest.approx(wanted, abs=1e-5)


def test_a_capsule_at_a_corner_of_a_sheet_is_met_from_either_side_of_its_planes():
    # The corner (0.7, 0.7, 0.4) of the rim, from all directions in which it is nearest.
    corner, rng = np.array([0.7, 0.7, 0.4]), np.random.default_rng(4)
    scene = rb.Scene()
    scene.add_static(tray())
    scene.add_body(rb.Capsule(0.1, 0.6), mass=1.0, name="capsule")
    simulation = rb.Simulation(scene, contacts="detect", contact_distance=0.05, worlds=60)
    ways = rng.normal(size=(60, 3)) * [1.0, 1.0, 0.3] + [0.0, 0.0, 1.0]
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    ways[:, :2] = np.abs(ways[:, :2])
    axes = np.cross(ways, rng.normal(size=(60, 3)))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    middle = corner + 0.09 * ways + rng.uniform(-0.2, 0.2, (60, 1)) * axes
    body = simulation.model.index("capsule")
    simulation.state.position[:, body] = middle
    simulation.state.orientation[:, body] = [Rotation.align_vectors([x], [[0, 0, 1]])[0].as_quat() for x in axes]
    found, result = simulation.contacts, np.full(60, np.inf)
    np.minimum.at(result, np.asarray(found.world), found.separation)
    wanted = distances(middle - 0.2 * axes, middle + 0.2 * axes, tray())
    assert (wanted > 1e-6).sum() > 20
    np.testing.assert_allclose(result[wanted > 1e-6], wanted[wanted > 1e-6] - 0.1, atol=1e-7)
