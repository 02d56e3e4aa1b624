"""Triangles of surfaces and other solids: these over the face, beside the border, or right through the middle."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

SPHERE, CAPSULE, BOX, CYLINDER, CONE, ELLIPSOID, HULL = range(7)
KINDS = [CAPSULE, BOX, CYLINDER, CONE, ELLIPSOID, HULL]


def random_solid(rig, rng, kind):
    """A solid of one kind, about 1 m large."""
    solid, _ = rig.random_pair(rng, (kind, SPHERE), lowest=0.3, highest=1.0)
    while kind == HULL and len(solid.vertices) == 3:
        solid, _ = rig.random_pair(rng, (kind, SPHERE), lowest=0.3, highest=1.0)
    return solid


def triangle(rig, rng, edge):
    """A triangle about so large, flat on z = 0, with the origin in it."""
    corners = np.zeros((3, 3))
    angles = rng.uniform(0.0, 2.0 * np.pi) + np.array([0.0, 2.0, 4.2]) + rng.uniform(-0.3, 0.3, 3)
    corners[:, 0], corners[:, 1] = edge * np.cos(angles), edge * np.sin(angles)
    return rig.Solid(HULL, vertices=corners)


def lowest(solid):
    """How far the core of a solid at the origin reaches down, and where."""
    low = solid.low([[0.0, 0.0, 1.0]])[0] + solid.round
    eps = 1e-6
    aside = [(solid.low([[eps * x, eps * y, 1.0]])[0] + solid.round - low) / eps for x, y in ((1, 0), (0, 1))]
    return low, np.array(aside)


def pairs_at(rig, seed, kind, heights, aside, edge=(0.2, 2.0), each=40):
    """Solids and triangles, the lowest point of each solid at a height above the plane and so far from its middle."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(each):
        solid, flat = random_solid(rig, rng, kind), triangle(rig, rng, np.exp(rng.uniform(*np.log(edge))))
        low, foot = lowest(solid)
        way = rng.uniform(*aside) * np.array([np.cos(t := rng.uniform(0.0, 7.0)), np.sin(t)])
        solid = solid.at([*(way - foot), rng.uniform(*heights) - low])
        turn, place = Rotation.random(random_state=rng), rng.normal(size=3)
        both = [s.at(turn.apply(s.position) + place, turn * Rotation.from_matrix(s.rotation)) for s in (solid, flat)]
        pairs.append(tuple(both if rng.random() < 0.5 else both[::-1]))
    return pairs


def deepest_known(rig, pair, rng):
    """The largest separation along any of many directions: what no answer may be below."""
    n = rng.normal(size=(4000, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    best = rig.least_along(pair, n)
    # Around the best, closer and closer.
    for spread in np.geomspace(0.1, 1e-6, 12):
        around = n[np.argmax(best)] + spread * rng.normal(size=(200, 3))
        n = np.vstack([n[np.argmax(best)], around / np.linalg.norm(around, axis=1)[:, None]])
        best = rig.least_along(pair, n)
    return best.max()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("aside", [(0.0, 0.1), (0.2, 1.0), (1.0, 3.0)], ids=["over", "about the border", "beside"])
def test_distances_from_a_triangle_come_with_proofs(rig, kind, aside):
    pairs = pairs_at(rig, kind, kind, (1e-4, 0.5), aside)
    answers = rig.measure(pairs)
    rig.assert_apart_is_right(pairs, answers)
    shells = np.array([a.round + b.round for a, b in pairs])
    assert (answers[0] + shells > 1e-5).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1e-7, 1e-4, 0.02, 0.3])
def test_no_way_out_of_a_triangle_is_shorter_than_the_answer(rig, kind, depth):
    rng = np.random.default_rng(kind)
    pairs = pairs_at(rig, 10 + kind, kind, (-depth, 0.0), (0.0, 1.0), each=25)
    answers = rig.measure(pairs)
    rig.check(pairs, answers, tolerance=1e-7)
    known = np.array([deepest_known(rig, pair, rng) for pair in pairs])
    apart = known > 1e-9
    assert (answers[0] >= known - 1e-7).all()
    assert (~apart).sum() > 5


@pytest.mark.parametrize("kind", [CYLINDER, CONE, ELLIPSOID])
def test_a_needle_through_the_middle_of_a_triangle_is_not_taken_to_be_beside_its_border(rig, kind):
    rng = np.random.default_rng(0)
    for _ in range(10):
        needle = rig.Solid(kind, (0.01, 0.01, 1.0))
        tilt = Rotation.from_rotvec(np.append(0.4 * rng.uniform(-1, 1, 2), 0.0))
        pair = (needle.at([*rng.uniform(-0.1, 0.1, 2), rng.uniform(-0.5, 0.5)], tilt), triangle(rig, rng, 1.0))
        (separation,), *_ = rig.measure([pair])
        assert separation < -0.005
        assert separation >= deepest_known(rig, pair, rng) - 1e-7


@pytest.mark.parametrize("kind", [CYLINDER, CONE, ELLIPSOID])
def test_a_round_solid_beside_a_triangle_that_it_straddles_is_apart_from_it(rig, kind):
    rng = np.random.default_rng(kind)
    pairs = []
    for _ in range(40):
        flat, solid = triangle(rig, rng, 0.5), random_solid(rig, rng, kind)
        way = (1.2 + rng.uniform()) * np.array([np.cos(t := rng.uniform(0.0, 7.0)), np.sin(t)])
        pairs.append((solid.at([*(solid.extent() * way + 0.5 * way), 0.1 * rng.normal()]), flat))
    answers = rig.measure(pairs)
    assert (answers[0] > 0.0).all()
    rig.assert_apart_is_right(pairs, answers)
