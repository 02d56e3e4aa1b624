"""Free rotation by turns about the axes of a body: kept quantities, symmetry, exactness, derivative."""

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st

import rattleback as rb
from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, quat, real, vec3
from rattleback.maths import rotation
from rattleback.steps.symmetric.tops import Tops, angular_velocity_of, make_tops, momentum_of, slope, turned

MOMENTS = [(1.0, 2.0, 2.9), (2.0, 1.0, 2.0), (0.5, 0.5, 0.5), (3.0, 2.9, 0.4), (1.0, 1.9, 1.0)]
vectors = st.tuples(*[st.floats(-3.0, 3.0)] * 3).map(np.array)


@kernel
def rotate_freely(
    tops: Tops,
    start: wp.array[quat],
    spin: wp.array[vec3],
    h: real,
    end: wp.array[quat],
    rate: wp.array[vec3],
    found: wp.array[mat33],
) -> None:
    """Orientation after h, angular velocity there, and D/h, from an angular momentum."""
    i = wp.tid()
    end[i] = turned(start[i], spin[i], tops.frame[i], tops.inverse[i], h)
    rate[i] = angular_velocity_of(end[i], spin[i], tops.frame[i], tops.inverse[i])
    found[i] = slope(start[i], spin[i], tops.frame[i], tops.inverse[i], h)


@kernel
def find_momentum(tops: Tops, q: wp.array[quat], rate: wp.array[vec3], spin: wp.array[vec3]) -> None:
    """J ω."""
    i = wp.tid()
    spin[i] = momentum_of(q[i], rate[i], tops.frame[i], tops.inverse[i])


class Body:
    """A body with given moments about axes that are turned in it."""

    def __init__(self, moments, turn=(0.1, -0.4, 0.2)):
        axes = rotation.matrix_from_quaternion(rotation.quaternion_from_rotation_vector(turn))
        self.inertia = axes @ np.diag(moments) @ axes.T
        scene = rb.Scene()
        scene.add_body(mass=1.0, inertia=self.inertia)
        self.model = rb.Simulation(scene).model
        self.tops = make_tops(self.model)

    def fly(self, q, spin, h):
        device = self.model.device
        given_ = [wp.array([q], dtype=quat, device=device), wp.array([spin], dtype=vec3, device=device), h]
        made = [wp.zeros(1, dtype=kind, device=device) for kind in (quat, vec3, mat33)]
        wp.launch(rotate_freely, 1, inputs=[self.tops, *given_, *made], device=device)
        return tuple(array.numpy()[0] for array in made)


def orientation_of(vector):
    return rotation.quaternion_from_rotation_vector(vector)


@pytest.mark.parametrize("moments", MOMENTS)
@settings(max_examples=15, deadline=None)
@given(q=vectors, spin=vectors, h=st.floats(-0.4, 0.4))
def test_the_way_back_undoes_the_way_forth(moments, q, spin, h):
    body, start = Body(moments), orientation_of(q)
    there, _, _ = body.fly(start, spin, h)
    back, _, _ = body.fly(there, spin, -h)
    assert abs(back @ start) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("moments", MOMENTS)
@settings(max_examples=15, deadline=None)
@given(q=vectors, spin=vectors, h=st.floats(-0.4, 0.4))
def test_derivative_is_that_of_differences(moments, q, spin, h):
    body, start = Body(moments), orientation_of(q)
    _, _, found = body.fly(start, spin, h)
    for k, e in enumerate(np.eye(3) * 1e-5):
        ahead, behind = (body.fly(start, spin + sign * e, h)[0] for sign in (1.0, -1.0))
        turn = rotation.rotation_vector_from_quaternion(rotation.multiply(ahead, rotation.conjugate(behind)))
        assert h * found[:, k] == pytest.approx(turn / 2e-5, abs=1e-9)


@pytest.mark.parametrize("moments", MOMENTS)
def test_angular_velocity_and_momentum_belong_to_each_other(moments):
    body, q, spin = Body(moments), orientation_of((0.3, 0.2, -0.5)), np.array([1.0, -2.0, 0.5])
    _, rate, _ = body.fly(q, spin, 0.0)
    turn = rotation.matrix_from_quaternion(q)
    assert turn @ body.inertia @ turn.T @ rate == pytest.approx(spin, abs=1e-13)
    back = wp.zeros(1, dtype=vec3, device=body.model.device)
    given_ = [wp.array([q], dtype=quat), wp.array([rate], dtype=vec3)]
    wp.launch(find_momentum, 1, inputs=[body.tops, *given_, back], device=body.model.device)
    assert back.numpy()[0] == pytest.approx(spin, abs=1e-13)


@pytest.mark.parametrize(("moments", "axis"), [((2.0, 1.0, 2.0), 1), ((1.0, 1.0, 1.9), 2), ((0.4, 3.0, 3.0), 0)])
def test_a_symmetric_body_turns_exactly(moments, axis):
    """Its own axis goes round L at |L|/J, J the moment across it, however far that is."""
    body, q, spin = Body(moments, turn=(0, 0, 0)), orientation_of((0.3, 0.2, -0.5)), np.array([30.0, -20.0, 15.0])
    across = moments[(axis + 1) % 3]
    end, _, _ = body.fly(q, spin, 1.7)
    own = np.eye(3)[axis]
    round_momentum = orientation_of(1.7 * spin / across)
    wanted = rotation.rotate(round_momentum, rotation.rotate(q, own))
    assert rotation.rotate(end, own) == pytest.approx(wanted, abs=1e-12)
