"""Contact detection: the same contacts by every method, lasting feature ids, filters, worlds that never meet."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision import broadphase, narrowphase

SIZE = 1.0
CUBE = rb.Box(1, 1, 1)


def tower(random_yaw=False, shape=CUBE):
    """Ten cubes or other solids of height 1 on each other, aligned or each turned and shifted a little."""
    rng = np.random.default_rng(1)
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor")
    for k in range(10):
        yaw, shift = (rng.uniform(-3, 3), rng.uniform(-0.1, 0.1, 2)) if random_yaw else (0.0, (0.0, 0.0))
        turn = (0, 0, np.sin(0.5 * yaw), np.cos(0.5 * yaw))
        scene.add_body(shape, position=(*shift, k + 0.5), orientation=turn, name=f"cube {k}")
    return scene


def wall():
    """Six courses of six bricks."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor")
    for row, column in itertools.product(range(6), range(6)):
        place = (column + 0.5 * (row % 2), 0.0, 0.5 * row + 0.25)
        scene.add_body(rb.Box(1, 0.5, 0.5), position=place, name=f"brick {row} {column}")
    return scene


STACKS = {
    "tower": tower,
    "wall": wall,
    "turned tower": lambda: tower(random_yaw=True),
    "cylinders": lambda: tower(shape=rb.Cylinder(0.5, 1.0)),
}


def shaken(scene, amplitude, count, seed):
    """A simulation of ``count`` worlds, each with its own small motion of all bodies that are not static."""
    simulation = rb.Simulation(scene, contacts="detect", worlds=count)
    rng = np.random.default_rng(seed)
    moves = np.array([not body.static for body in scene.bodies])[None, :, None]
    shape = simulation.state.position.shape
    simulation.state.position += amplitude * SIZE * moves * rng.normal(size=shape)
    turn = Rotation.from_rotvec((amplitude * moves * rng.normal(size=shape)).reshape(-1, 3))
    start = Rotation.from_quat(simulation.state.orientation.reshape(-1, 4))
    simulation.state.orientation = (turn * start).as_quat().reshape(*shape[:2], 4)
    return simulation


def ids(found, world):
    """(body, body, feature) of the contacts of a world, each once."""
    rows = np.flatnonzero(found.world == world)
    names = [(*found.bodies[row], int(found.feature[row])) for row in rows]
    assert len(set(names)) == len(names)
    return dict(zip(names, rows, strict=True))


@pytest.mark.parametrize("amplitude", [1e-6, 1e-4])
@pytest.mark.parametrize("stack", STACKS)
def test_small_motions_leave_the_names_of_contacts_as_they_are(stack, amplitude):
    kept = there = 0
    # Each world is one motion; neighbours are compared.
    simulation = shaken(STACKS[stack](), amplitude, 1001 if stack != "wall" else 250, seed=2)
    found = simulation.contacts
    bodies = len(simulation.model.names)
    a, b = found.body_a.astype(np.int64), found.body_b.astype(np.int64)
    key = (a * bodies + b) * 2**22 + found.feature
    worlds = [key[found.world == w] for w in range(simulation.worlds)]
    for before, after in itertools.pairwise(worlds):
        assert len(np.unique(before)) == len(before)
        there += len(before)
        kept += np.isin(before, after).sum()
    assert there > 30 * len(worlds)
    assert kept / there >= 0.99


@pytest.mark.parametrize("stack", STACKS)
def test_every_contact_is_matched_with_its_row_in_the_last_list(stack):
    simulation = rb.Simulation(STACKS[stack](), contacts="detect", time_step=1e-4)
    rng = np.random.default_rng(3)
    simulation.state.velocity[1:] = rng.normal(size=(len(simulation.model.names) - 1, 3))
    simulation.step()
    for _ in range(5):
        before = simulation.contacts
        simulation.step()
        after = simulation.contacts
        same = after.previous >= 0
        assert same.mean() > 0.99
        rows = after.previous[same]
        assert len(np.unique(rows)) == len(rows)
        assert np.array_equal(before.feature[rows], after.feature[same])
        assert [before.bodies[row] for row in rows] == list(itertools.compress(after.bodies, same))
        assert np.linalg.norm(before.point[rows] - after.point[same], axis=1).max() < 0.02
        known = set(zip(before.bodies, before.feature.tolist(), strict=True))
        new = set(zip(itertools.compress(after.bodies, ~same), after.feature[~same].tolist(), strict=True))
        assert not known & new


SHAPES = [
    rb.Box(0.8, 1.0, 1.2),
    rb.Sphere(0.5),
    rb.Capsule(0.3, 1.4),
    rb.Cylinder(0.5, 1.2),
    rb.Cone(0.5, 1.0),
    rb.Ellipsoid(0.3, 0.5, 0.7),
    rb.ConvexHull(np.random.default_rng(3).normal(size=(14, 3)) * 0.5),
    rb.Compound([rb.Placed(rb.Box(0.3, 0.3, 1.0)), rb.Placed(rb.Sphere(0.3), position=(0, 0, 0.6))]),
]


def ground():
    """A wavy height field."""
    x = np.linspace(-3, 3, 13)
    return rb.HeightField(0.3 * np.sin(2 * x)[:, None] * np.cos(2 * x)[None, :], 0.5)


def heap(shapes=SHAPES, copies=4, seed=5, floor=None):
    """Bodies of many shapes thrown together."""
    rng = np.random.default_rng(seed)
    scene = rb.Scene()
    scene.add_static(floor or rb.Plane(), name="floor")
    for k, shape in enumerate(list(shapes) * copies):
        place, turn = rng.uniform((-1.6, -1.6, -0.6), (1.6, 1.6, 2.6)), Rotation.random(random_state=rng).as_quat()
        scene.add_body(shape, position=place, orientation=turn, velocity=rng.normal(size=3), name=f"body {k}")
    return scene


def listing(found):
    """Everything the contacts say, as bytes."""
    parts = (
        found.point,
        found.normal,
        found.separation,
        found.world,
        found.feature,
        found.previous,
        found.body_a,
        found.body_b,
    )
    return [np.ascontiguousarray(part).tobytes() for part in parts]


@pytest.mark.parametrize("floor", [None, ground()], ids=["plane", "height field"])
def test_every_broad_phase_gives_the_same_contacts_bit_for_bit(floor):
    expected = None
    for name in broadphase.MENU:
        simulation = rb.Simulation(heap(floor=floor), contacts="detect", broadphase=name, contact_distance=0.02)
        said = []
        for _ in range(4):
            said += listing(simulation.contacts)
            simulation.step(3)
        assert len(simulation.contacts) > 50
        expected = expected or said
        assert said == expected, name


@pytest.mark.parametrize("distance", [0.0, 0.02, 0.3])
def test_all_pairs_that_touch_are_found(distance):
    scene = heap(copies=1, seed=8)
    found = rb.Simulation(scene, contacts="detect", contact_distance=distance).contacts
    touching = set(found.pairs)
    # Each pair by itself, in a scene of its own, where no broad phase has a choice.
    for a, b in itertools.combinations(scene.bodies, 2):
        alone = rb.Scene()
        for body in (a, b):
            if body.static:
                alone.add_static(body.shape, name=body.name)
                continue
            alone.add_body(body.shape, position=body.position, orientation=body.orientation, name=body.name)
        answer = rb.Simulation(alone, contacts="detect", contact_distance=50.0, broadphase="all_pairs").contacts
        nearest = answer.separation.min()
        if abs(nearest - distance) > 1e-9:
            assert ((a.name, b.name) in touching) == (nearest <= distance), (a.name, b.name, nearest)


@pytest.mark.parametrize("name", [name for name in narrowphase.MENU if name != narrowphase.DEFAULT])
def test_narrow_phases_find_the_same_contacts(name):
    for seed in range(3):
        scene = heap(seed=seed)
        one, other = (
            rb.Simulation(
                scene, contacts="detect", narrowphase=method, contact_distance=0.02, contact_points=1
            ).contacts
            for method in (narrowphase.DEFAULT, name)
        )
        near = {pair: s for pair, s in zip(one.bodies, one.separation, strict=True) if s < 0.02 - 1e-9}
        also = {pair: s for pair, s in zip(other.bodies, other.separation, strict=True) if s < 0.02 - 1e-9}
        assert near.keys() == also.keys()
        for pair, separation in near.items():
            assert also[pair] == pytest.approx(separation, abs=1e-6), pair


@pytest.mark.parametrize("offset", [0.3, 0.7, 0.99])
def test_a_mesh_is_met_at_the_whole_contact_distance(offset):
    vertices = np.array([[-2, -2, 0], [2, -2, 0], [2, 2, 0], [-2, 2, 0]], dtype=float)
    for shape, half in ((rb.Box(1, 1, 1), 0.5), (rb.Sphere(0.5), 0.5)):
        scene = rb.Scene()
        scene.add_static(rb.Mesh(vertices, [[0, 1, 2], [0, 2, 3]]), name="sheet")
        scene.add_body(shape, position=(0.1, 0.2, half + 0.1 * offset), name="body")
        found = rb.Simulation(scene, contacts="detect", contact_distance=0.1).contacts
        assert len(found) > 0
        assert found.separation.min() == pytest.approx(0.1 * offset, abs=1e-12)


def pair(**options):
    """Two cubes that overlap, the second with options."""
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 1, 1), name="one")
    scene.add_body(rb.Box(1, 1, 1), position=(0.9, 0, 0), name="two", **options)
    return scene


def touching(scene, **options):
    """Names of the bodies that touch."""
    return set(rb.Simulation(scene, contacts="detect", **options).contacts.pairs)


def test_bodies_that_may_meet_do():
    assert touching(pair()) == {("one", "two")}


def test_categories_keep_bodies_apart():
    assert touching(pair(category="ghost", collides_with=())) == set()
    assert touching(pair(collides_with=("ghost",))) == set()
    assert touching(pair(category="ghost")) == {("one", "two")}


def test_excluded_and_joined_bodies_do_not_meet():
    scene = pair()
    scene.exclude("one", "two")
    assert touching(scene) == set()
    scene = pair()
    scene.add_joint(rb.Ball("one", "two", at=(0.5, 0, 0)))
    assert touching(scene) == set()
    scene.allow("one", "two")
    assert touching(scene) == {("one", "two")}


def test_bodies_for_show_and_static_pairs_do_not_meet():
    assert touching(pair(collision=None)) == set()
    scene = rb.Scene()
    scene.add_static(rb.Box(1, 1, 1), name="one")
    scene.add_static(rb.Box(1, 1, 1), position=(0.5, 0, 0), name="two")
    scene.add_body(rb.Sphere(0.1), position=(5, 0, 0), name="ball")
    assert touching(scene) == set()


def test_the_parts_of_one_body_do_not_meet():
    scene = rb.Scene()
    scene.add_body(
        rb.Compound([rb.Placed(rb.Sphere(0.5)), rb.Placed(rb.Sphere(0.5), position=(0.3, 0, 0))]), name="one"
    )
    assert touching(scene) == set()


def test_a_margin_is_a_shell_around_the_body():
    for margin in (0.0, 0.05):
        scene = rb.Scene()
        scene.add_static(rb.Plane(), name="floor")
        scene.add_body(rb.Box(1, 1, 1), position=(0, 0, 0.6), margin=margin, name="box")
        found = rb.Simulation(scene, contacts="detect", contact_distance=0.2).contacts
        np.testing.assert_allclose(found.separation, 0.1 - margin, atol=1e-14)
        np.testing.assert_allclose(found.point[:, 2], 0.5 * (0.1 - margin), atol=1e-14)
        np.testing.assert_allclose(np.abs(found.point[:, :2]), 0.5, atol=1e-14)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 5), st.sampled_from([*broadphase.MENU]))
def test_worlds_never_touch_each_other(seed, worlds, method):
    rng = np.random.default_rng(seed)
    scene = heap(copies=1, seed=7)
    options = {"contacts": "detect", "contact_distance": 0.05, "broadphase": method}
    together = rb.Simulation(scene, worlds=worlds, **options)
    count = len(together.model.names)
    # All worlds lie in one place; some overlap it, some are far away.
    shift = rng.normal(size=(worlds, count, 3)) * rng.choice([0.0, 0.3, 100.0], (worlds, 1, 1))
    shift[:, 0] = 0.0
    together.state.position += shift
    found = together.contacts
    for w in range(worlds):
        alone = rb.Simulation(scene, **options)
        alone.state.position += shift[w]
        single = alone.contacts
        rows = found.world == w
        assert rows.sum() == len(single)
        for name in ("point", "normal", "separation", "feature", "body_a", "body_b"):
            assert np.array_equal(getattr(found, name)[rows], getattr(single, name)), name
