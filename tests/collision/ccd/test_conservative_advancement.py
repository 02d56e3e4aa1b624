"""Conservative advancement finds the first contact of moving solids: exactly where that is known, and never late."""

import math

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from rattleback.collision.ccd.conservative_advancement import (
    CONTACT,
    FREE,
    ROUNDS,
    UNDECIDED,
    AdvanceLimits,
    Impact,
    advance,
)
from rattleback.collision.ccd.rigid_motion import RigidMotion
from rattleback.collision.geometry import solid
from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.hull_table import HullTable
from rattleback.collision.geometry.solid import Solid

STILL = np.zeros(3)
TOLERANCE = 1e-9


@wp.kernel(enable_backward=False)
def advance_each(
    solids: wp.array[Solid], courses: wp.array[RigidMotion], hulls: Hulls, limits: AdvanceLimits, out: wp.array[Impact]
) -> None:
    """Advance pairs of solids, rows 2 i and 2 i + 1."""
    i = wp.tid()
    out[i] = advance(solids[2 * i], solids[2 * i + 1], courses[2 * i], courses[2 * i + 1], hulls, limits)


class Thing:
    """A solid with its motion: its centre at the start, its orientation, its way and its turn."""

    def __init__(self, kind, size=(0, 0, 0), shell=0.0, at=STILL, travel=STILL, turn=STILL, **more):
        self.kind, self.size, self.shell = int(kind), np.array(size, float), float(shell)
        self.at, self.travel, self.turn = (np.array(given, float) for given in (at, travel, turn))
        self.rotation = more.get("rotation", Rotation.identity())
        self.offset = np.array(more.get("offset", STILL), float)
        self.vertices = np.array(more.get("vertices", np.zeros((0, 3))), float)

    def pose(self, fraction):
        """Place of the solid's frame, by another way than the code's."""
        part = Rotation.from_rotvec(fraction * self.turn)
        return self.at + fraction * self.travel + part.apply(self.offset), part * self.rotation

    def scaled(self, factor):
        """The same thing at another size."""
        lengths = {"at": factor * self.at, "travel": factor * self.travel, "offset": factor * self.offset}
        return Thing(
            self.kind, factor * self.size, factor * self.shell, turn=self.turn, rotation=self.rotation, **lengths
        )

    def reach(self):
        half = np.linalg.norm(self.size[2:] if self.kind == solid.CAPSULE else self.size)
        if len(self.vertices):
            half = np.linalg.norm(self.vertices, axis=1).max()
        return half + np.linalg.norm(self.offset)


def box(x, y, z, **more):
    return Thing(solid.BOX, (0.5 * x, 0.5 * y, 0.5 * z), **more)


def ball(radius, **more):
    return Thing(solid.SPHERE, shell=radius, **more)


def floor(**more):
    return Thing(solid.PLANE, **more)


def rows(things):
    """The solids and courses of things as arrays, and the table of their corners."""
    table = HullTable()
    solids = np.zeros(len(things), dtype=Solid.numpy_dtype())
    courses = np.zeros(len(things), dtype=RigidMotion.numpy_dtype())
    for i, thing in enumerate(things):
        place, rotation = thing.pose(0.0)
        row = {"kind": thing.kind, "size": thing.size, "round": thing.shell, "position": place, "hull": -1}
        row |= {"rotation": rotation.as_matrix(), "first": 0, "count": len(thing.vertices)}
        if thing.kind == solid.BOX:
            row["hull"] = table.box(tuple(thing.size))
        if len(thing.vertices):
            row["first"] = table.loose(thing.vertices)
        for name, value in row.items():
            solids[name][i] = value
        for name, value in {"center": thing.at, "travel": thing.travel, "turn": thing.turn}.items():
            courses[name][i] = value
        courses["reach"][i] = thing.reach()
    arrays = (wp.array(solids, dtype=Solid, device="cpu"), wp.array(courses, dtype=RigidMotion, device="cpu"))
    return *arrays, table.tables(wp.get_device("cpu"))


def meet(*things, target=0.0, near=-1.0, tolerance=TOLERANCE, most=int(ROUNDS)):
    """The impacts of pairs of things."""
    solids, courses, hulls = rows(things)
    limits = AdvanceLimits()
    limits.target, limits.near, limits.tolerance, limits.most = target, near, tolerance, most
    out = wp.zeros(len(things) // 2, dtype=Impact, device="cpu")
    wp.launch(advance_each, len(out), inputs=[solids, courses, hulls, limits, out], device="cpu")
    return out.numpy()


def spinning(angle):
    return np.array([angle, 0.0, 0.0])


@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(0.001, 100), st.floats(0.001, 1))
@settings(max_examples=50, deadline=None)
def test_ball_meets_a_plane_when_its_centre_is_a_radius_above_it(x, slide, speed, radius):
    [hit] = meet(ball(radius, at=(x, 0, radius + 0.4), travel=(slide, 0, -speed), turn=(1, 2, -1)), floor())
    if speed < 0.4:
        assert hit["contact"] == FREE
        assert hit["fraction"] == 1.0
    else:
        assert hit["fraction"] == pytest.approx(0.4 / speed, rel=1e-13)
        assert hit["contact"] == CONTACT
        assert hit["rounds"] <= 2
        np.testing.assert_allclose(hit["closest"]["normal"], (0, 0, 1), atol=1e-15)
        np.testing.assert_allclose(hit["closest"]["point_b"], (x + slide * 0.4 / speed, 0, 0), atol=1e-12)


@given(st.floats(-0.99, 0.99), st.floats(0.01, 10), st.floats(0.01, 10))
@settings(max_examples=50, deadline=None)
def test_ball_meets_a_ball_when_their_centres_are_two_radii_apart(aim, r, s):
    miss = aim * (r + s)
    away = 3.0 * (r + s)
    things = ball(r, at=(-away, miss, 1), travel=(2 * away, 0, 0)), ball(s, at=(0, 0, 1), travel=(-away, 0, 0))
    [hit] = meet(*things, tolerance=1e-10 * (r + s))
    first = (away - math.sqrt((r + s) ** 2 - miss**2)) / (3 * away)
    # A separation of the tolerance is a way of tolerance / cos(angle between way and normal).
    slant = math.sqrt(1.0 - aim**2)
    assert hit["contact"] == CONTACT
    assert first - 1e-10 / (9.0 * slant) - 1e-13 <= hit["fraction"] <= first + 1e-13


@given(st.floats(0.1, 3), st.floats(0.05, 3), st.floats(0.1, 1.5))
@settings(max_examples=50, deadline=None)
def test_box_tips_its_corner_into_a_plane_at_the_angle_of_a_right_triangle(width, height, clearance):
    half = 0.5 * math.hypot(width, height)
    up = 0.5 * height + clearance * (half - 0.5 * height)
    turn = 0.5 * math.pi
    [hit] = meet(box(1, width, height, at=(0, 0, up), turn=spinning(turn)), floor(), tolerance=1e-12)
    # The corner at the angle β below the horizontal is half sin(β + α) below the centre after a turn by α.
    start = math.atan2(height, width)
    lowest = [half * math.sin(start + fraction * turn) for fraction in np.linspace(0, 1, 20001)]
    if max(lowest) < up - 1e-9:
        assert hit["contact"] == FREE
    elif clearance < 0.999:
        assert hit["contact"] == CONTACT
        assert hit["fraction"] * turn == pytest.approx(math.asin(up / half) - start, abs=1e-5)
        assert half * math.sin(start + hit["fraction"] * turn) == pytest.approx(up, abs=3e-12)


def test_ball_of_a_centimetre_at_1000_m_per_s_does_not_pass_a_plate_of_a_millimetre():
    starts = np.linspace(0.02, 9.9, 200)
    things = []
    for start in starts:
        things += [ball(0.01, at=(0.1, 0.2, start), travel=(0, 0, -10)), box(1, 1, 0.001)]
    hits = meet(*things, tolerance=1e-11)
    assert (hits["contact"] == CONTACT).all()
    np.testing.assert_allclose(hits["fraction"], (starts - 0.0105) / 10, atol=1e-12)


def test_rod_that_spins_half_a_turn_into_a_wall_stops_at_the_wall():
    # The end of the rod is 1 m from its centre, the wall 0.6 m.
    rod = Thing(solid.CAPSULE, (0, 0, 0.99), 0.01, at=(0, 0, 0), turn=(0, 0.999 * math.pi, 0))
    wall = box(0.001, 4, 4, at=(0.6005, 0, 0))
    [hit] = meet(rod, wall, tolerance=1e-12)
    assert hit["contact"] == CONTACT
    assert hit["fraction"] * 0.999 * math.pi == pytest.approx(math.asin((0.6 - 0.01) / 0.99), abs=1e-10)


def test_needle_that_turns_about_its_far_end_is_followed_in_few_rounds():
    # The contact is near the centre of rotation, where a bound by the needle's length alone would creep.
    needle = box(0.001, 2.0, 0.001, at=(0, 0, 0.1), offset=(0, 0.999, 0), turn=spinning(-1.5))
    post = ball(0.02, at=(0, 0.01, 0.0))
    [hit] = meet(needle, post, tolerance=1e-12)
    assert hit["contact"] == CONTACT
    assert hit["rounds"] <= 20

    def separation(fraction):
        place, rotation = needle.pose(fraction)
        q = np.abs(rotation.inv().apply(post.at - place)) - needle.size
        return np.linalg.norm(np.maximum(q, 0)) - 0.02

    assert hit["fraction"] == pytest.approx(brentq(separation, 0.0, 1.0, xtol=1e-14), abs=1e-10)


@given(st.floats(1e-8, 0.5), st.floats(0.01, 100))
@settings(max_examples=40, deadline=None)
def test_balls_that_just_miss_each_other_are_not_stopped(miss, speed):
    [hit] = meet(ball(0.5, at=(-3, 1 + miss, 0), travel=(6 * max(1, speed), 0, 0)), ball(0.5))
    assert hit["contact"] == FREE
    assert hit["fraction"] == 1.0


@given(st.floats(1e-12, 1e-3))
@settings(max_examples=40, deadline=None)
def test_balls_that_just_touch_are_stopped_where_they_are_within_the_tolerance(overlap):
    [hit] = meet(ball(0.5, at=(-3, 1 - overlap, 0), travel=(6, 0, 0)), ball(0.5))
    gap = math.hypot(6 * hit["fraction"] - 3, 1 - overlap) - 1
    if hit["contact"] == FREE:
        assert overlap < TOLERANCE
    else:
        assert -1e-14 <= gap <= TOLERANCE


def test_box_that_slides_along_a_plane_it_touches_is_not_stopped():
    slide = {"travel": (3, 1, 0), "turn": (0, 0, 2)}
    for height in (0.5, 0.5 - 1e-12, 0.5 + 1e-12):
        [hit] = meet(box(1, 1, 1, at=(0, 0, height), **slide), floor())
        assert (hit["contact"], hit["fraction"]) == (FREE, 1.0)


def test_what_touches_and_leaves_is_free_and_what_touches_and_presses_is_in_contact_at_once():
    hits = meet(
        box(1, 1, 1, at=(0, 0, 0.5), travel=(0, 0, 1)),
        floor(),
        box(1, 1, 1, at=(0, 0, 0.5), travel=(0, 0, -1)),
        floor(),
    )
    assert hits["contact"].tolist() == [FREE, CONTACT]
    assert hits["fraction"].tolist() == [1.0, 0.0]


def test_what_overlaps_at_the_start_is_in_contact_at_once():
    [hit] = meet(ball(1.0, at=(0, 0, 0.5), travel=(0, 0, 3)), floor())
    assert (hit["contact"], hit["fraction"]) == (CONTACT, 0.0)
    assert hit["closest"]["separation"] == pytest.approx(-0.5)


def test_what_is_near_at_the_start_may_come_closer_by_the_contact_distance():
    for height in (0.505, 0.5, 0.495):
        [hit] = meet(box(1, 1, 1, at=(0, 0, height), travel=(1, 0, -1)), box(9, 9, 0.02, at=(0, 0, -0.01)), near=0.01)
        assert hit["contact"] == CONTACT
        assert hit["fraction"] == pytest.approx(0.01, abs=2e-9)
    [hit] = meet(box(1, 1, 1, at=(0, 0, 0.52), travel=(1, 0, -1)), box(9, 9, 0.02, at=(0, 0, -0.01)), near=0.01)
    assert hit["fraction"] == pytest.approx(0.02, abs=2e-9)


def test_a_wide_contact_distance_lets_nothing_through_a_thin_plate():
    [hit] = meet(ball(0.01, at=(0, 0, 0.0105), travel=(0, 0, -1)), box(1, 1, 0.001), near=0.1)
    assert hit["contact"] == CONTACT
    # A quarter of ball and plate together.
    assert hit["fraction"] == pytest.approx(0.25 * 0.021, abs=1e-8)


def test_a_target_other_than_zero_is_the_separation_where_it_stops():
    [hit] = meet(ball(0.5, at=(0, 0, 3), travel=(0, 0, -3)), floor(), target=0.25)
    assert hit["fraction"] == pytest.approx((2.5 - 0.25) / 3, abs=1e-15)
    assert hit["closest"]["separation"] == pytest.approx(0.25, abs=1e-14)


def test_triangle_stops_what_falls_on_it_and_not_what_falls_beside_it():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    triangle = Thing(solid.HULL, vertices=corners)
    on = box(0.1, 0.1, 0.1, at=(0.2, 0.2, 5), travel=(0, 0, -100))
    beside = box(0.1, 0.1, 0.1, at=(0.7, 0.7, 5), travel=(0, 0, -100))
    hits = meet(on, triangle, triangle, beside)
    assert hits["contact"].tolist() == [CONTACT, FREE]
    assert hits["fraction"][0] == pytest.approx(0.0495, abs=1e-11)


def test_plane_may_be_the_first_of_the_two_and_the_normal_still_points_to_it():
    [hit] = meet(floor(), ball(0.5, at=(0, 0, 2), travel=(0, 0, -3)))
    assert hit["fraction"] == pytest.approx(0.5, abs=1e-15)
    np.testing.assert_allclose(hit["closest"]["normal"], (0, 0, -1), atol=1e-15)


def test_plane_that_tilts_hits_what_lies_above_it_when_its_slope_reaches_that():
    # The ball is seen from the axis at an angle, and touches the plane where this is that of its tangent.
    turn, height = 0.5, 0.3
    [hit] = meet(ball(0.1, at=(0, 1, height)), floor(turn=spinning(turn)), tolerance=1e-12)
    angle = math.atan2(height, 1) - math.asin(0.1 / math.hypot(1, height))
    assert hit["fraction"] * turn == pytest.approx(angle, abs=1e-11)
    [swapped] = meet(floor(turn=spinning(turn)), ball(0.1, at=(0, 1, height)), tolerance=1e-12)
    assert swapped["fraction"] * turn == pytest.approx(angle, abs=1e-11)


def test_what_could_not_be_decided_in_the_rounds_allowed_stops_before_the_contact():
    things = box(0.1, 2, 0.1, at=(0, 0, 0.8), turn=spinning(3.0)), floor()
    [full] = meet(*things)
    previous = 0.0
    for most in range(1, int(full["rounds"])):
        [hit] = meet(*things, most=most)
        assert hit["contact"] == UNDECIDED
        assert previous <= hit["fraction"] <= full["fraction"]
        previous = hit["fraction"]


def oracle(thing):
    """A thing as a solid of the library the answers are compared with."""
    coal = pytest.importorskip("coal")
    x, y, z = thing.size
    made = {
        int(solid.SPHERE): lambda: coal.Sphere(thing.shell),
        int(solid.CAPSULE): lambda: coal.Capsule(thing.shell, 2 * z),
        int(solid.BOX): lambda: coal.Box(2 * x, 2 * y, 2 * z),
        int(solid.CYLINDER): lambda: coal.Cylinder(x, 2 * z),
        int(solid.CONE): lambda: coal.Cone(x, 2 * z),
        int(solid.ELLIPSOID): lambda: coal.Ellipsoid(x, y, z),
    }
    return made[thing.kind]()


def separations(first, second, fractions):
    """Separation of two things at parts of their motion, by another library; zero where they overlap."""
    coal = pytest.importorskip("coal")
    shapes = oracle(first), oracle(second)
    found = []
    for fraction in fractions:
        poses = []
        for thing in (first, second):
            place, rotation = thing.pose(fraction)
            pose = coal.Transform3s()
            pose.setRotation(rotation.as_matrix())
            pose.setTranslation(place)
            poses.append(pose)
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        found.append(coal.distance(shapes[0], poses[0], shapes[1], poses[1], request, result))
    return np.array(found)


def random_thing(rng):
    kind = int(rng.choice([solid.SPHERE, solid.CAPSULE, solid.BOX, solid.CYLINDER, solid.CONE, solid.ELLIPSOID]))
    sides = 10.0 ** rng.uniform(-1.5, 0.0, 3)
    if kind in (solid.CYLINDER, solid.CONE):
        sides[1] = sides[0]
    shell = float(sides[0]) if kind in (solid.SPHERE, solid.CAPSULE) else 0.0
    sides = {int(solid.SPHERE): 0 * sides, int(solid.CAPSULE): sides * (0, 0, 1)}.get(kind, sides)
    motion = {"travel": 2 * rng.normal(size=3), "turn": rng.normal(size=3)}
    motion["turn"] *= rng.uniform(0, math.pi) / np.linalg.norm(motion["turn"])
    place = {"at": rng.uniform(-2, 2, 3), "rotation": Rotation.random(random_state=int(rng.integers(1 << 30)))}
    return Thing(kind, sides, shell, offset=rng.uniform(-0.5, 0.5, 3), **motion, **place)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 1e3]))
@settings(max_examples=60, deadline=None)
def test_random_solids_are_never_nearer_than_the_target_before_the_fraction_and_at_it_in_the_end(seed, size):
    rng = np.random.default_rng(seed)
    first, second = random_thing(rng), random_thing(rng)
    # The other library is good to a millionth of a metre, so it sees things of a metre.
    [start] = separations(first, second, [0.0])
    if start <= 1e-3:
        return
    [hit] = meet(first.scaled(size), second.scaled(size), tolerance=1e-9 * size)
    assert hit["contact"] in (FREE, CONTACT)
    sampled = separations(first, second, hit["fraction"] * np.linspace(0.0, 1.0, 100))
    assert sampled.min() > -2e-6
    if hit["contact"] == CONTACT:
        assert sampled[-1] < 2e-6
        assert 0.0 <= hit["closest"]["separation"] + 1e-12 * size <= 1.01e-9 * size
