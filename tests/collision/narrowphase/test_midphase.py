"""Mid-phase: which triangles of a mesh meet another collider, in order and in parallel."""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.colliders import Places
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.collision.geometry.world_poses import place
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.midphase import record_split
from rattleback.core import arrays
from rattleback.core.precision import real
from rattleback.core.stages import Program
from rattleback.model.compile import compile_scene

GAP = 0.05


class InParallel(Program):
    """A program that records what it would on CUDA, and runs it on the CPU."""

    def __init__(self, device, stop):
        super().__init__(device, stop)
        self.own, self.device = device, SimpleNamespace(is_cpu=False)

    def compile(self):
        self.device = self.own
        super().compile()


def divide(scene, pairs, room=4000, kind=Program):
    """The items of pairs of colliders."""
    model, state = compile_scene(scene, None, wp.get_device("cpu"))
    geometry = compile_colliders(model)
    counts = {"colliders": geometry.count, "pairs": len(pairs), "items": room, "one": 1}
    counts |= {"pairs_and_one": len(pairs) + 1, "colliders_and_one": geometry.count + 1}
    places, listed, items = (arrays.allocate(group, counts, "cpu") for group in (Places, Pairs, Items))
    listed.a.assign(np.array(pairs, dtype=np.int32)[:, 0])
    listed.b.assign(np.array(pairs, dtype=np.int32)[:, 1])
    listed.needed.fill_(len(pairs))
    program = kind(wp.get_device("cpu"), wp.zeros(1, dtype=wp.int32))
    with program.stage("collision"):
        inputs = (geometry.colliders, geometry.hulls, state.motion, real(0.5 * GAP), places)
        program.launch(place, geometry.count, *inputs)
        record_split(program, geometry, places, listed, items, 0.5 * GAP)
    program.compile()
    program.run(1)
    return SimpleNamespace(**(arrays.read(items) | {"needed": int(items.needed.numpy()[0])}))


def terrain(cells=24):
    return rb.HeightField.from_function(lambda x, y: 0.3 * np.sin(2.0 * x) * np.cos(1.5 * y) + 0.1 * x, 4.0, cells)


def boxes_on(ground, count):
    """A scene of boxes here and there over some ground, and the pairs of each with it; one of them is far away."""
    random = np.random.default_rng(13)
    scene = rb.Scene()
    for k in range(count):
        x, y, z = random.uniform(-1.0, 1.0, 3) * [1.5, 1.5, 0.3]
        q = Rotation.random(random_state=random).as_quat()
        scene.add_body(rb.Box(0.3, 0.5, 0.4), mass=1.0, position=(x, y, z + 9.0 * (k == 3)), orientation=q)
    scene.add_static(ground)
    return scene, [(k, count) for k in range(count)]


def test_items_are_the_triangles_whose_boxes_meet_that_of_the_other_collider():
    random = np.random.default_rng(11)
    ground = terrain()
    turned = Rotation.random(random_state=random)
    corners = ground.vertices[ground.triangles]
    scene = rb.Scene()
    middles, half = random.uniform(-1.5, 1.5, (30, 3)), 0.2 + 0.5 * GAP
    for middle in middles:
        scene.add_body(rb.Sphere(0.2), mass=1.0, position=middle)
    scene.add_static(ground, position=(0.1, -0.2, 0.3), orientation=turned.as_quat())
    scene.add_static(rb.Sphere(0.1))
    pairs = [(k, 30) for k in range(30)] + [(0, 31)]
    items = divide(scene, pairs, room=30000)
    wide = np.abs(turned.as_matrix().T) @ np.full(3, half + 0.5 * GAP)
    for k, middle in enumerate(middles):
        local = turned.inv().apply(middle - [0.1, -0.2, 0.3])
        meet = (corners.max(axis=1) >= local - wide).all(axis=1) & (corners.min(axis=1) <= local + wide).all(axis=1)
        rows = slice(items.first[k], items.first[k + 1])
        assert np.array_equal(items.part[rows], np.flatnonzero(meet))
        assert (items.a[rows] == k).all()
        assert (items.b[rows] == 30).all()
        assert (items.pair[rows] == k).all()
    assert items.part[items.needed - 1] == -1
    assert items.needed == items.first[31] == items.first[30] + 1


def test_items_that_do_not_fit_are_counted_and_not_written():
    scene, pairs = boxes_on(terrain(), 3)
    whole = divide(scene, pairs)
    room = int(whole.first[1]) + 3
    items = divide(scene, pairs, room=room)
    complete = whole.first[1]
    assert items.needed == whole.needed > room
    assert np.array_equal(items.part[:complete], whole.part[:complete])
    assert set(items.part[complete:]) <= set(whole.part[complete : whole.first[2]])
    assert (items.first <= room).all()


@pytest.mark.parametrize("room", [20000, 150])
def test_items_counted_and_filled_in_parallel_are_those_written_in_order(room):
    scene, pairs = boxes_on(terrain(), 70)
    serial, parallel = divide(scene, pairs, room), divide(scene, pairs, room, InParallel)
    assert serial.first[3] == serial.first[4] or room == 150
    assert parallel.needed == serial.needed > 1000
    for name in ("first", "a", "b", "part", "pair"):
        assert np.array_equal(getattr(parallel, name), getattr(serial, name))


def test_without_meshes_items_are_the_pairs():
    scene = rb.Scene()
    for k in range(4):
        scene.add_body(rb.Sphere(0.5), mass=1.0, position=(float(k), 0.0, 0.0))
    pairs = [(0, 1), (1, 2), (2, 3)]
    items = divide(scene, pairs)
    assert items.needed == 3
    assert np.array_equal(np.column_stack([items.a, items.b])[:3], pairs)
    assert np.array_equal(items.part[:3], [-1, -1, -1])
    assert np.array_equal(items.pair[:3], [0, 1, 2])
    assert np.array_equal(items.first, [0, 1, 2, 3])
    short = divide(scene, pairs, room=2)
    assert short.needed == 3
    assert np.array_equal(short.first, [0, 1, 2, 2])
