"""Rigid motion: the shortest rotation between two orientations, and where a solid is at a part of its motion."""

import math

import numpy as np
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rattleback.collision.ccd.rigid_motion import RigidMotion, moved, part_of, turn_between, turned
from rattleback.collision.geometry.solid import Solid
from rattleback.core.precision import numpy_real, quat, real, vec3


@wp.kernel(enable_backward=False)
def turns(
    start: wp.array[quat], end: wp.array[quat], fraction: real, out: wp.array[vec3], part: wp.array[quat]
) -> None:
    """The turns between orientations, and parts of them."""
    i = wp.tid()
    out[i] = turn_between(start[i], end[i])
    part[i] = turned(out[i], fraction)


@wp.kernel(enable_backward=False)
def carry(solids: wp.array[Solid], courses: wp.array[RigidMotion], between: wp.vec2d, out: wp.array[Solid]) -> None:
    """Carry a solid to one part of its course at once, and in two stretches."""
    i = wp.tid()
    begin = real(between[0])
    end = real(between[1])
    out[2 * i] = moved(solids[i], courses[i], end)
    out[2 * i + 1] = moved(moved(solids[i], courses[i], begin), part_of(courses[i], begin, end), real(1.0))


def measured(first, second, fraction=0.5):
    """The turn between two rotations, and that part of it as a rotation."""
    given_ = [
        wp.array([rotation.as_quat().astype(numpy_real)], dtype=quat, device="cpu") for rotation in (first, second)
    ]
    out, part = wp.zeros(1, dtype=vec3, device="cpu"), wp.zeros(1, dtype=quat, device="cpu")
    wp.launch(turns, 1, inputs=[*given_, fraction, out, part], device="cpu")
    return out.numpy()[0], Rotation.from_quat(part.numpy()[0])


@given(st.lists(st.floats(-1, 1), min_size=8, max_size=8), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_turn_is_the_shortest_one_and_goes_on_evenly(numbers, fraction):
    first, second = Rotation.from_quat(np.array(numbers[:4]) + 1.001), Rotation.from_quat(np.array(numbers[4:]) - 1.001)
    turn, part = measured(first, second, fraction)
    assert np.linalg.norm(turn) <= math.pi + 1e-12
    assert ((Rotation.from_rotvec(turn) * first) * second.inv()).magnitude() < 1e-12
    assert (part * Rotation.from_rotvec(-fraction * turn)).magnitude() < 1e-12


def test_turn_is_exact_for_the_smallest_angles_and_none_at_all():
    for angle in (0.0, 1e-300, 1e-12, 1e-6):
        turn, _ = measured(Rotation.identity(), Rotation.from_quat([math.sin(angle / 2), 0, 0, math.cos(angle / 2)]))
        np.testing.assert_allclose(turn, (angle, 0, 0), rtol=1e-14)


@given(st.floats(0, 1), st.floats(0, 1), st.lists(st.floats(-1, 1), min_size=9, max_size=9))
@settings(max_examples=40, deadline=None)
def test_solid_goes_straight_while_it_turns_about_the_centre_at_once_or_in_stretches(begin, more, numbers):
    end = begin + more * (1.0 - begin)
    at, travel, offset = np.array(numbers).reshape(3, 3)
    turn = offset + at
    solids, courses = np.zeros(1, dtype=Solid.numpy_dtype()), np.zeros(1, dtype=RigidMotion.numpy_dtype())
    solids["position"], solids["rotation"] = at + offset, np.eye(3)
    courses["center"], courses["travel"], courses["turn"] = at, travel, turn
    out = wp.zeros(2, dtype=Solid, device="cpu")
    given_ = [wp.array(solids, dtype=Solid, device="cpu"), wp.array(courses, dtype=RigidMotion, device="cpu")]
    wp.launch(carry, 1, inputs=[*given_, wp.vec2d(begin, end), out], device="cpu")
    part = Rotation.from_rotvec(end * turn)
    for row in out.numpy():
        np.testing.assert_allclose(row["position"], at + end * travel + part.apply(offset), atol=1e-14)
        np.testing.assert_allclose(row["rotation"], part.as_matrix(), atol=1e-14)
