"""Contact manifolds: the right corners, each with its gap, never too many, the deepest among them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
ANGLES = np.arange(12) * np.pi / 6
PRISM = rb.ConvexHull(np.array([[np.cos(t), np.sin(t), z] for t in ANGLES for z in (-0.5, 0.5)]))


def touching(lower, upper, count=1, **settings):
    """A simulation of ``count`` worlds with a static body, "lower", and a body, "upper"."""
    scene = rb.Scene()
    scene.add_static(lower, name="lower")
    scene.add_body(upper, mass=1.0, inertia=np.eye(3), center_of_mass=(0, 0, 0), name="upper")
    return rb.Simulation(scene, contacts="detect", worlds=count, **{"contact_points": 16, **settings})


def place(simulation, position, turn):
    """Put the upper body of every world at a place (worlds, 3), turned by ``turn``."""
    simulation.state.position[:, 1] = position
    simulation.state.orientation[:, 1] = turn.as_quat()


def meet(lower, upper, position, turn=(0, 0, 0), **settings):
    """Points (n, 3), separations (n,), normals (n, 3) from the body below, which is A; Euler angles [degrees]."""
    simulation = touching(lower, upper, **settings)
    place(simulation, [position], Rotation.from_euler("xyz", [turn], degrees=True))
    found = simulation.contacts
    return found.point, found.separation, -found.normal


def clip(polygon, by):
    """What of a convex polygon lies in another one, both anticlockwise, half-plane by half-plane."""
    for start, end in zip(by, np.roll(by, -1, axis=0), strict=True):
        side = np.array([start[1] - end[1], end[0] - start[0]])
        inside = (polygon - start) @ side
        kept = []
        for k, point in enumerate(polygon):
            if inside[k] * inside[k - 1] < 0.0:
                kept.append(polygon[k - 1] + inside[k - 1] / (inside[k - 1] - inside[k]) * (point - polygon[k - 1]))
            if inside[k] >= 0.0:
                kept.append(point)
        polygon = np.array(kept).reshape(-1, 2)
    return polygon


def area(points):
    """Area of the convex polygon with these corners, in any order."""
    around = points - points.mean(axis=0)
    around = around[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]
    x, y = around.T
    return 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def same_points(found, expected, within):
    """Whether two sets of points are one, up to a distance."""
    apart = np.linalg.norm(found[:, None] - expected[None], axis=-1)
    return apart.min(axis=0).max() <= within and apart.min(axis=1).max() <= within


def yawed(count, seed):
    """Random places above a block of (2, 1.4, 1): offsets, yaws, gaps."""
    rng = np.random.default_rng(seed)
    offset, yaw = rng.uniform(-1.2, 1.2, (count, 2)), rng.uniform(-np.pi, np.pi, count)
    yaw[: count // 8] = rng.integers(-4, 5, count // 8) * np.pi / 4
    offset[: count // 16] = 0.0
    return offset, yaw, rng.uniform(-2e-3, 2e-3, count)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_box_on_a_box_has_the_corners_of_the_overlap_of_their_faces(scale):
    offset, yaw, gap = yawed(600, 1)
    simulation = touching(
        rb.Box(2 * scale, 1.4 * scale, scale),
        rb.Box(scale, 0.8 * scale, 0.6 * scale),
        600,
        contact_distance=3e-3 * scale,
    )
    place(simulation, scale * np.c_[offset, 0.8 + gap], Rotation.from_rotvec(yaw[:, None] * [[0, 0, 1]]))
    found = simulation.contacts
    met = 0
    for w in range(600):
        turn = np.array([[np.cos(yaw[w]), -np.sin(yaw[w])], [np.sin(yaw[w]), np.cos(yaw[w])]])
        expected = clip(SQUARE * [0.5, 0.4] @ turn.T + offset[w], SQUARE * [1.0, 0.7])
        rows = found.world == w
        if len(expected) == 0 or area(expected) < 1e-2:
            continue
        met += 1
        point = found.point[rows] / scale
        assert same_points(point[:, :2], expected, 1e-9), w
        np.testing.assert_allclose(found.separation[rows] / scale, gap[w], atol=1e-13)
        np.testing.assert_allclose(point[:, 2], 0.5 + 0.5 * gap[w], atol=1e-13)
        np.testing.assert_allclose(found.normal[rows], np.tile([0, 0, -1.0], (rows.sum(), 1)), atol=1e-13)
        assert len(set(found.feature[rows])) == rows.sum()
    assert met > 350


def test_tilted_faces_are_as_far_apart_at_each_corner_as_their_planes():
    rng = np.random.default_rng(2)
    count = 300
    simulation = touching(rb.Box(2, 1.4, 1), rb.Box(1, 0.8, 0.6), count, contact_distance=1.0)
    offset, yaw, gap = yawed(count, 3)
    turn = Rotation.from_rotvec(rng.normal(size=(count, 3)) * [[1e-2, 1e-2, 0]]) * Rotation.from_rotvec(
        yaw[:, None] * [[0, 0, 1]]
    )
    position = np.c_[0.8 * offset, 0.8 + gap]
    place(simulation, position, turn)
    found = simulation.contacts
    assert len(np.unique(found.world)) > 0.9 * count
    half = 0.5 * found.separation[:, None] * found.normal
    below, above = found.point + half, turn[found.world].inv().apply(found.point - half - position[found.world])
    # A body below is A: its surface lies half a separation along the normal, that of B as far against it.
    assert np.abs(np.abs(below) / [1.0, 0.7, 0.5]).max() < 1.0 + 1e-6
    assert np.abs(np.abs(above) / [0.5, 0.4, 0.3]).max() < 1.0 + 1e-6
    level = np.abs(found.normal[:, 2]) > 0.9
    assert level.mean() > 0.7
    np.testing.assert_allclose(below[level, 2], 0.5, atol=1e-12)
    np.testing.assert_allclose(above[level, 2], -0.3, atol=1e-12)


BOX, PLANE = rb.Box(4, 4, 2), rb.Plane()
SLANT = np.degrees(np.arctan2(0.5, 1.0))
KINDS = {
    # name: below, above, place of the upper body, its turn, points expected (x, y), from z = height of what is below
    "box on plane": (PLANE, rb.Box(1, 2, 3), (5, 6, 1.5), (0, 0, 0), [(4.5, 5), (5.5, 5), (5.5, 7), (4.5, 7)]),
    "box on box": (BOX, rb.Box(1, 2, 3), (0, 0, 2.5), (0, 0, 90), [(1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5)]),
    "edge on face": (
        BOX,
        rb.Box(3, 1, 1),
        (0, 0, 1 + 0.5**0.5),
        (45, 0, 60),
        [(0.75, 0.75 * 3**0.5), (-0.75, -0.75 * 3**0.5)],
    ),
    "edge on plane": (PLANE, rb.Box(3, 1, 1), (0, 0, 0.5**0.5), (45, 0, 0), [(-1.5, 0), (1.5, 0)]),
    "edge over a side": (BOX, rb.Box(3, 1, 1), (2, 0, 1 + 0.5**0.5), (45, 0, 0), [(0.5, 0), (2, 0)]),
    "box over a side": (BOX, rb.Box(1, 1, 1), (2, 0, 1.5), (0, 0, 0), [(1.5, 0.5), (2, 0.5), (2, -0.5), (1.5, -0.5)]),
    "corner on face": (
        BOX,
        rb.Box(1, 1, 1),
        (0.3, 0.2, 1 + 0.75**0.5),
        (45, -np.degrees(np.arctan(0.5**0.5)), 0),
        [(0.3, 0.2)],
    ),
    "capsule on plane": (PLANE, rb.Capsule(0.5, 3), (0, 0, 0.5), (90, 0, 0), [(0, -1), (0, 1)]),
    "capsule on box": (BOX, rb.Capsule(0.5, 3), (1, 0, 1.5), (0, 90, 0), [(0, 0), (2, 0)]),
    "capsule upright": (BOX, rb.Capsule(0.5, 3), (1, 1, 2.5), (0, 0, 0), [(1, 1)]),
    "cylinder lying on plane": (PLANE, rb.Cylinder(0.5, 3), (0, 0, 0.5), (90, 0, 0), [(0, -1.5), (0, 1.5)]),
    "cylinder lying on box": (BOX, rb.Cylinder(0.5, 3), (1, 0, 1.5), (0, 90, 0), [(-0.5, 0), (2, 0)]),
    "cone on its side on plane": (
        PLANE,
        rb.Cone(0.5, 1),
        (0, 0, 0.5 * np.sin(np.radians(SLANT))),
        (0, 90 + SLANT, 0),
        None,
    ),
    "sphere on plane": (PLANE, rb.Sphere(0.5), (3, 4, 0.5), (0, 0, 0), [(3, 4)]),
    "sphere on box": (BOX, rb.Sphere(0.5), (1, -1, 1.5), (7, 8, 9), [(1, -1)]),
    "ellipsoid on box": (BOX, rb.Ellipsoid(0.5, 1, 2), (1, -1, 3), (0, 0, 30), [(1, -1)]),
    "prism on box": (BOX, PRISM, (0.5, 0.5, 1.5), (0, 0, 7), None),
    "prism over a side": (BOX, PRISM, (1.5, 0, 1.5), (0, 0, 0), None),
    "cone on its apex": (BOX, rb.Cone(0.5, 1), (0.5, 0.5, 1.5), (180, 0, 0), [(0.5, 0.5)]),
}


@pytest.mark.parametrize("gap", [-1e-4, 0.0, 1e-4])
@pytest.mark.parametrize("name", KINDS)
def test_manifolds_worked_out_by_hand(name, gap):
    lower, upper, position, turn, expected = KINDS[name]
    height = 1.0 if lower is BOX else 0.0
    point, separation, normal = meet(lower, upper, np.add(position, (0, 0, gap)), turn, contact_distance=2e-4)
    np.testing.assert_allclose(normal, np.tile([0, 0, 1.0], (len(normal), 1)), atol=1e-9)
    np.testing.assert_allclose(separation, gap, atol=1e-12)
    np.testing.assert_allclose(point[:, 2], height + 0.5 * gap, atol=1e-12)
    if name == "cone on its side on plane":
        slope = np.hypot(0.5, 1.0)
        assert len(point) == 2
        assert np.linalg.norm(point[0] - point[1]) == pytest.approx(slope, abs=1e-9)
        return
    if name.startswith("prism"):
        ring = np.c_[np.cos(ANGLES + np.radians(turn[2])), np.sin(ANGLES + np.radians(turn[2]))] + position[:2]
        expected = clip(ring, 2 * SQUARE)
    assert same_points(point[:, :2], np.array(expected, float), 1e-7)
    assert len(point) == len(expected)


@pytest.mark.parametrize("lower", [PLANE, BOX], ids=["plane", "box"])
@pytest.mark.parametrize(
    ("upper", "turn"), [(rb.Cylinder(0.5, 1), 0), (rb.Cone(0.5, 1), 0), (rb.Cylinder(0.5, 1), 180)]
)
def test_a_disc_stands_on_an_octagon_of_its_rim(lower, upper, turn):
    height = 1.0 if lower is BOX else 0.0
    point, separation, _ = meet(lower, upper, (0.2, 0.3, height + 0.5), (turn, 0, 0))
    assert len(point) == 8
    np.testing.assert_allclose(separation, 0.0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(point - [0.2, 0.3, height], axis=1), 0.5, atol=1e-12)
    assert area(point[:, :2]) == pytest.approx(2 * 2**0.5 * 0.25, abs=1e-9)


@pytest.mark.parametrize("lower", [PLANE, BOX], ids=["plane", "box"])
@pytest.mark.parametrize("degrees", [0.001, 1, 20, 44, 46, 70, 89, 89.999])
def test_a_tilted_cylinder_touches_with_the_lowest_point_of_its_rim(lower, degrees):
    height, tilt = 1.0 if lower is BOX else 0.0, np.radians(degrees)
    low = 0.5 * np.cos(tilt) + 0.5 * np.sin(tilt)
    for yaw in (0.0, 10.0, 22.5, 50.0):
        point, separation, _ = meet(
            lower, rb.Cylinder(0.5, 1), (0, 0, height + low), (0, degrees, yaw), contact_distance=1e-5
        )
        k = np.argmin(separation)
        assert separation[k] == pytest.approx(0.0, abs=1e-12)
        reach = 0.5 * np.cos(tilt) - 0.5 * np.sin(tilt)
        np.testing.assert_allclose(np.linalg.norm(point[k, :2]), abs(reach), atol=1e-9)


def test_crossing_edges_touch_at_one_point():
    for yaw in (20.0, 45.0, 90.0):
        ridge = rb.ConvexHull([(-2, 0, 0), (2, 0, 0), (-2, 1, -1), (2, 1, -1), (-2, -1, -1), (2, -1, -1)])
        keel = rb.ConvexHull([(-2, 0, 0), (2, 0, 0), (-2, 1, 1), (2, 1, 1), (-2, -1, 1), (2, -1, 1)])
        point, separation, normal = meet(ridge, keel, (0.3, 0, 1e-4), (0, 0, yaw), contact_distance=1e-3)
        near = np.abs(separation - 1e-4) < 1e-9
        assert near.sum() == 1
        np.testing.assert_allclose(point[near], [[0.3, 0, 0.5e-4]], atol=1e-12)
        np.testing.assert_allclose(normal[near], [[0, 0, 1]], atol=1e-12)


def test_crossing_edges_of_boxes_touch_at_one_point():
    lower, upper = rb.Box(4, 1, 1), rb.Box(1, 4, 1)
    scene = rb.Scene()
    scene.add_static(lower, name="lower", orientation=Rotation.from_euler("x", 45, degrees=True).as_quat())
    turn = Rotation.from_euler("y", 45, degrees=True).as_quat()
    for gap in (-1e-4, 0.0, 1e-4):
        other = rb.Scene()
        other.add_static(lower, name="lower", orientation=scene.bodies[0].orientation)
        other.add_body(upper, name="upper", position=(0.3, 0.2, 2**0.5 + gap), orientation=turn)
        found = rb.Simulation(other, contacts="detect", contact_distance=2e-4).contacts
        assert len(found) == 1
        np.testing.assert_allclose(found.point, [[0.3, 0.0, 0.5**0.5 + 0.5 * gap]], atol=1e-12)
        np.testing.assert_allclose(found.separation, gap, atol=1e-12)


def test_parallel_edges_touch_at_two_points():
    ridge = rb.ConvexHull([(-2, 0, 0), (2, 0, 0), (-2, 1, -1), (2, 1, -1), (-2, -1, -1), (2, -1, -1)])
    keel = rb.ConvexHull([(-2, 0, 0), (2, 0, 0), (-2, 1, 1), (2, 1, 1), (-2, -1, 1), (2, -1, 1)])
    point, separation, _ = meet(ridge, keel, (1.0, 0, 0), contact_distance=1e-3)
    deepest = separation < 1e-9
    assert same_points(point[deepest, :2], np.array([[-1.0, 0.0], [2.0, 0.0]]), 1e-7)


@pytest.mark.parametrize("most", range(1, 17))
def test_no_more_points_than_wanted_and_the_deepest_always(most):
    rng = np.random.default_rng(most)
    count = 60
    offset, yaw, gap = yawed(count, most)
    tilt = Rotation.from_rotvec(rng.normal(size=(count, 3)) * [[1e-3, 1e-3, 0]])
    turn = tilt * Rotation.from_rotvec(yaw[:, None] * [[0, 0, 1]])
    few, all_of_them = (
        touching(rb.Box(2, 1.4, 1), PRISM, count, contact_distance=0.1, contact_points=n) for n in (most, 16)
    )
    for simulation in (few, all_of_them):
        place(simulation, np.c_[0.5 * offset, 1.0 + gap], turn)
    some, whole = few.contacts, all_of_them.contacts
    for w in range(count):
        kept, every = some.world == w, whole.world == w
        assert kept.sum() == min(most, every.sum())
        # Among nearly level corners the deepest is a matter of chance; a tenth of the contact distance is allowed.
        allowed = 0.0 if most < 3 else 0.01
        assert some.separation[kept].min() <= whole.separation[every].min() + allowed


def test_four_points_keep_at_least_half_of_the_area():
    count = 400
    offset, yaw, gap = yawed(count, 7)
    worst = {}
    for upper, height in ((rb.Box(1, 0.8, 0.6), 0.8), (PRISM, 1.0), (rb.Cylinder(0.5, 1), 1.0)):
        four, sixteen = (
            touching(rb.Box(2, 1.4, 1), upper, count, contact_distance=0.1, contact_points=n) for n in (4, 16)
        )
        for simulation in (four, sixteen):
            tilt = Rotation.from_rotvec(np.random.default_rng(5).normal(size=(count, 3)) * [[1e-4, 1e-4, 0]])
            turn = tilt * Rotation.from_rotvec(yaw[:, None] * [[0, 0, 1]])
            place(simulation, np.c_[0.8 * offset, height + gap], turn)
        some, whole = four.contacts, sixteen.contacts
        for w in range(count):
            points = whole.point[whole.world == w][:, :2]
            if len(points) > 4 and area(points) > 0.01:
                ratio = area(some.point[some.world == w][:, :2]) / area(points)
                worst[upper] = min(ratio, worst.get(upper, 1.0))
    assert min(worst.values()) >= 0.5, worst


SHAPES = {
    "box": rb.Box(0.8, 1.0, 1.2),
    "sphere": rb.Sphere(0.5),
    "capsule": rb.Capsule(0.3, 1.4),
    "cylinder": rb.Cylinder(0.5, 1.2),
    "cone": rb.Cone(0.5, 1.0),
    "ellipsoid": rb.Ellipsoid(0.3, 0.5, 0.7),
    "hull": rb.ConvexHull(np.random.default_rng(3).normal(size=(14, 3)) * 0.5),
    "needle": rb.ConvexHull(np.random.default_rng(4).normal(size=(9, 3)) * [0.01, 0.2, 1.0]),
    "plane": rb.Plane(),
}


@pytest.mark.parametrize("lower", SHAPES)
@pytest.mark.parametrize("upper", [name for name in SHAPES if name != "plane"])
def test_the_deepest_point_is_as_deep_as_the_pair(lower, upper):
    count = 120
    rng = np.random.default_rng(11)
    simulation = touching(SHAPES[lower], SHAPES[upper], count, contact_distance=0.02)
    place(simulation, rng.normal(size=(count, 3)) * 0.6, Rotation.random(count, random_state=rng))
    found = simulation.contacts
    finder = simulation._step.contacts.finder
    items = int(finder.items.needed.numpy()[0])
    world = finder.geometry.colliders.world.numpy()[finder.items.a.numpy()[:items]]
    pair = dict(zip(world.tolist(), finder.found.separation.numpy()[:items].tolist(), strict=True))
    assert np.isfinite(found.point).all()
    assert np.isfinite(found.separation).all()
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, rtol=1e-12)
    met = {w for w, separation in pair.items() if separation <= 0.02}
    within = 2e-6 if {lower, upper} & {"cylinder", "cone"} else 1e-9
    assert met == set(found.world.tolist())
    assert len(met) > 10
    for w in met:
        assert found.separation[found.world == w].min() == pytest.approx(pair[w], abs=within)
        assert len(set(found.feature[found.world == w])) == (found.world == w).sum()
