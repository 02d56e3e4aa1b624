"""The stand-in that makes heaps: it falls, slides and comes to rest as bodies do."""

import math

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.precision import epsilon
from rattleback.experiments.heap import Heap
from rattleback.scenes import cubes_1000

STEP, DRAG, FRICTION, GRAVITY = 0.005, 1.0, 0.5, 9.81


def cube_on_ground(height: float, velocity=(0.0, 0.0, 0.0)) -> Heap:
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_body(rb.Box(1.0, 1.0, 1.0), mass=1.0, position=(0.0, 0.0, height), velocity=velocity)
    return Heap(scene, STEP)


def test_a_cube_falls_with_gravity_and_drag():
    heap = cube_on_ground(10.0)
    heap.run(100)
    kept = 1.0 / (1.0 + STEP * DRAG)
    wanted = -GRAVITY / DRAG * (1.0 - kept**100)
    np.testing.assert_allclose(heap.motion.velocity.numpy()[1], (0.0, 0.0, wanted), rtol=1000 * epsilon)


def test_a_cube_comes_to_rest_on_the_ground():
    heap = cube_on_ground(1.5)
    heap.run(300)
    assert heap.motion.position.numpy()[1, 2] == pytest.approx(0.5, abs=1.5e-3)
    assert np.abs(heap.motion.velocity.numpy()[1]).max() < max(1e-9, 100 * epsilon)
    assert int(heap.finder.contacts.needed.numpy()[0]) == 4


def test_a_cube_slides_as_far_as_friction_and_drag_let_it():
    heap = cube_on_ground(0.5, velocity=(2.0, 0.0, 0.0))
    heap.run(300)
    slow = FRICTION * GRAVITY / DRAG
    wanted = (2.0 - slow * math.log(1.0 + 2.0 / slow)) / DRAG
    assert heap.motion.position.numpy()[1, 0] == pytest.approx(wanted, rel=0.03)


def test_cubes_come_to_rest_on_top_of_each_other():
    heap = Heap(cubes_1000(2, 4), STEP)
    heap.run(800)
    contacts = heap.finder.contacts
    separation = contacts.separation.numpy()[: int(contacts.needed.numpy()[0])]
    assert separation.min() > -2e-3
    heights = np.sort(heap.motion.position.numpy()[1:, 2]).reshape(4, 4)
    np.testing.assert_allclose(heights, np.tile([[0.5], [1.5], [2.5], [3.5]], 4), atol=0.02)
    assert np.linalg.norm(heap.motion.velocity.numpy()[1:], axis=1).mean() < 0.02


def test_a_heap_whose_buffers_had_to_grow_is_the_same_to_the_bit():
    whole, small = Heap(cubes_1000(2, 3), STEP), Heap(cubes_1000(2, 3), STEP)
    small.finder.room |= {"pairs": 1, "items": 1, "contacts": 1}
    small.finder._allocate()
    small._record()
    for heap in (whole, small):
        heap.run(150)
    np.testing.assert_array_equal(whole.motion.position.numpy(), small.motion.position.numpy())
