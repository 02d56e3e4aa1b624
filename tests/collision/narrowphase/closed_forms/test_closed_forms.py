"""Every pair with a closed form, against what convexity says of it."""

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rattleback.collision.geometry.solid import PLANE
from rattleback.collision.narrowphase.closed_forms.closed_forms import ClosedForms, marks
from rattleback.collision.narrowphase.closed_forms.plane import find_planes

SOLIDS = ("sphere", "capsule", "box", "cylinder", "cone", "ellipsoid", "hull", "mesh")
PAIRS = [
    *(("sphere", other) for other in SOLIDS),
    ("capsule", "capsule"),
    ("capsule", "box"),
    *((solid, "plane") for solid in SOLIDS),
]
WITH_INSIDE = [
    ("sphere", "box"),
    ("sphere", "cylinder"),
    ("sphere", "cone"),
    ("sphere", "ellipsoid"),
    ("sphere", "hull"),
]
EACH = 250


def scatter(bench, kinds, count, seed):
    """Random pairs of sizes 1e-3 to 1e3, needles up to 1 : 1000, far and near, apart and deep, in either order."""
    random = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        size = 10.0 ** random.uniform(-3.0, 3.0)
        needle = 10.0 ** random.uniform(0.0, 3.0)
        pair = [bench.make(kind, random, size, needle) for kind in kinds]
        offset = random.normal(size=3) * size * random.choice([0.0, 1e-9, 0.3, 1.0, 3.0])
        pair[0] = pair[0].at(offset)
        pairs.append(tuple(pair) if random.random() < 0.5 else tuple(pair[::-1]))
    return pairs


def lower_bound(a, b, n):
    """What a normal proves of a separation; a half-space allows its own normal only."""
    if a.kind == "plane":
        return lower_bound(b, a, -n)
    if b.kind == "plane":
        outward = b.rotation[:, 2]
        assert np.linalg.norm(outward - n) < 1e-14
        return -a.height(-outward) - b.round - outward @ np.asarray(b.position)
    return -a.height(-n) - b.height(n)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_normal_and_points_prove_the_separation(bench, kinds):
    pairs = scatter(bench, kinds, EACH, seed=1)
    found = bench.solve(pairs)
    for i, (a, b) in enumerate(pairs):
        scale = a.scale + b.scale + np.linalg.norm(np.subtract(a.position, b.position))
        n, way = found.normal[i], found.point_a[i] - found.point_b[i]
        assert abs(np.linalg.norm(n) - 1.0) < 1e-14
        assert np.linalg.norm(way - found.separation[i] * n) < 1e-13 * scale
        assert abs(lower_bound(a, b, n) - found.separation[i]) < 1e-12 * scale
        assert a.outside(found.point_a[i] + a.round * n) < 1e-12 * scale
        assert b.outside(found.point_b[i] - b.round * n) < 1e-12 * scale


@pytest.mark.parametrize("kinds", [*WITH_INSIDE, ("capsule", "box"), ("capsule", "capsule")], ids="-".join)
def test_no_other_way_out_is_shorter(bench, kinds, directions):
    random = np.random.default_rng(2)
    pairs = []
    for distance in (0.0, 1e-9, 0.1, 0.2, 0.2, 0.3, 0.5, 1.0):
        a, b = (bench.make(kind, random, needle=random.choice([1.0, 10.0])) for kind in kinds)
        pairs.append((a.at(random.normal(size=3) * distance), b))
    found = bench.solve(pairs)
    for (a, b), separation in zip(pairs, found.separation, strict=True):
        best = bench.best_separation(a, b, directions)
        assert separation - 1e-7 < best < separation + 1e-13


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_exchanging_the_two_changes_only_the_sign_of_the_normal(bench, kinds):
    pairs = [pair for pair in scatter(bench, kinds, 100, seed=3) if np.linalg.norm(pair[0].position) != 0.0]
    one, other = bench.solve(pairs), bench.solve([(b, a) for a, b in pairs])
    scale = np.array([a.scale + b.scale for a, b in pairs])
    assert np.all(np.abs(one.separation - other.separation) <= 1e-13 * scale)
    if kinds != ("capsule", "capsule"):
        assert np.all(np.linalg.norm(one.normal + other.normal, axis=1) <= 1e-13)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_a_rigid_motion_changes_nothing(bench, kinds):
    pairs = scatter(bench, kinds, 100, seed=4)
    random = np.random.default_rng(5)
    moved, turns = [], []
    for a, b in pairs:
        turn, shift = bench.turn(random), random.normal(size=3) * (a.scale + b.scale)
        moved.append(tuple(thing.at(turn @ thing.position + shift, turn @ thing.rotation) for thing in (a, b)))
        turns.append(turn)
    still, after = bench.solve(pairs), bench.solve(moved)
    scale = np.array([a.scale + b.scale + np.linalg.norm(np.subtract(a.position, b.position)) for a, b in pairs])
    assert np.all(np.abs(still.separation - after.separation) <= 1e-13 * scale)
    # Where two ways out are equally short rounding chooses, so the moved normal is held to what it proves.
    for (a, b), n, turn, value, size in zip(pairs, after.normal, turns, still.separation, scale, strict=True):
        if "plane" not in (a.kind, b.kind):
            assert abs(lower_bound(a, b, turn.T @ n) - value) < 1e-12 * size


@pytest.mark.parametrize(
    "kinds", [*WITH_INSIDE, ("sphere", "capsule"), ("capsule", "capsule"), ("capsule", "box")], ids="-".join
)
def test_the_separation_never_changes_faster_than_the_solids_move(bench, kinds):
    random = np.random.default_rng(6)
    pairs, steps = [], 400
    for _ in range(5):
        a, b = (bench.make(kind, random, needle=10.0) for kind in kinds)
        start, end = random.normal(size=(2, 3))
        pairs += [(a.at(start + (end - start) * t), b) for t in np.linspace(0.0, 1.0, steps)]
    separation = bench.solve(pairs).separation.reshape(5, steps)
    moved = np.linalg.norm([pairs[k * steps + 1][0].position - pairs[k * steps][0].position for k in range(5)], axis=1)
    assert np.all(np.abs(np.diff(separation, axis=1)) <= moved[:, None] * (1.0 + 1e-12))


coordinate = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-170, -1e-300, 1e-16, -1e-8, 1.0 + 1e-15, 2.0]) | st.floats(
    -3, 3
)


@given(
    kinds=st.sampled_from(PAIRS),
    place=st.tuples(coordinate, coordinate, coordinate),
    exponent=st.integers(-3, 3),
    quarter=st.integers(0, 3),
    flat=st.sampled_from([1.0, 1e-3, 1e3]),
)
def test_awkward_places_have_a_sound_answer(bench, kinds, place, exponent, quarter, flat):
    size = 10.0**exponent
    corners = size * np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, flat], [0, 0, 0]])
    turn = np.round([[np.cos(k), -np.sin(k), 0] for k in [quarter * np.pi / 2]])[0]
    rotation = np.array([turn, [-turn[1], turn[0], 0], [0, 0, 1]])

    def thing(kind):
        lengths = {"capsule": (0, 0, size), "sphere": (0, 0, 0), "cylinder": (size, size, flat * size)}
        lengths |= {"cone": (size, size, flat * size), "plane": (0, 0, 0), "hull": (0, 0, 0), "mesh": (0, 0, 0)}
        vertices = {"hull": corners, "mesh": corners[:3]}.get(kind, ())
        shell = size if kind in ("sphere", "capsule") else 0.0
        return bench.Thing(kind, lengths.get(kind, (size, size, flat * size)), shell, vertices, rotation=rotation)

    a, b = thing(kinds[0]).at(size * np.array(place), np.eye(3)), thing(kinds[1])
    found = bench.solve([(a, b)])
    scale = a.scale + b.scale + np.linalg.norm(a.position)
    n = found.normal[0]
    assert abs(np.linalg.norm(n) - 1.0) < 1e-14
    assert abs(n @ (found.point_a[0] - found.point_b[0]) - found.separation[0]) < 1e-13 * scale
    assert a.outside(found.point_a[0] + a.round * n) < 1e-12 * scale
    assert b.outside(found.point_b[0] - b.round * n) < 1e-12 * scale
    # Rounding of the coordinates turns the direction from an edge the more, the nearer to it the core is.
    core = abs(found.separation[0] + a.round + b.round)
    turned = 1e-15 * scale / core if core > 1e-14 * scale else 0.0
    assert abs(lower_bound(a, b, n) - found.separation[0]) < (1e-12 + turned) * scale


def test_every_device_finds_the_same(bench, device):
    pairs = [pair for kinds in PAIRS for pair in scatter(bench, kinds, 20, seed=8)]
    here, there = bench.solve(pairs), bench.solve(pairs, device)
    scale = np.array([a.scale + b.scale + np.linalg.norm(np.subtract(a.position, b.position)) for a, b in pairs])
    assert np.all(np.abs(here.separation - there.separation) <= 1e-13 * scale)


def test_kinds_that_do_not_occur_record_nothing():
    class Geometry:
        kinds = (int(PLANE),)
        colliders = hulls = device = None

    class Program:
        launched: ClassVar[list] = []

        def launch(self, kernel, *_):
            self.launched.append(kernel)

        share = launch

    items = type("Items", (), {"a": np.zeros(4)})
    ClosedForms().record(Program(), Geometry, items, None, 0.0, None)
    assert Program.launched == [find_planes]


def test_pairs_without_a_closed_form_are_left_to_gjk(bench):
    random = np.random.default_rng(7)
    a, b = bench.make("cone", random), bench.make("box", random).at(np.array([0.0, 0.0, 3.0]))
    found = bench.solve([(a, b)])
    assert lower_bound(a, b, found.normal[0]) == pytest.approx(found.separation[0], abs=1e-9)
    assert found.separation[0] > 0.0


def test_marks_hold_in_either_order():
    table = marks([(1, 2)], "cpu").numpy().reshape(9, 9)
    assert table[1, 2] == table[2, 1] == 1
    assert table.sum() == 2


def test_every_pair_is_named_once_with_the_lower_kind_first():
    assert all(low <= high for low, high in ClosedForms.kinds)
    assert len(ClosedForms.kinds) == 19
