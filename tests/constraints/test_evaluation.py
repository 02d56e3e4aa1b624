"""Rows evaluated on the host, against numbers worked out by hand."""

import math

import numpy as np

from rattleback.constraints.evaluation import definitions_of, evaluate, frames_of
from rattleback.joints.joint import RowSpec

# Frame A is that of the world; B is turned by a right angle about z in the second pair of frames.
STRAIGHT, QUARTER = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5))


def frames():
    return frames_of(
        {
            "turn_a": np.array([STRAIGHT, STRAIGHT]),
            "turn_b": np.array([STRAIGHT, QUARTER]),
            "lever_a": np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]),
            "lever_b": np.array([(0.0, 0.0, 0.0), (0.0, 2.0, 0.0)]),
            "way": np.array([(3.0, 4.0, 0.0), (0.5, 0.0, 0.25)]),
        }
    )


def test_errors_belong_to_the_frames_their_rows_name():
    definitions = definitions_of(
        [RowSpec("slide", 1), RowSpec("distance", offset=1.0), RowSpec("slide", 2, offset=0.05)]
    )
    errors, _ = evaluate(definitions, np.array([0, 0, 1]), frames())
    np.testing.assert_allclose(errors, [4.0, 4.0, 0.2], rtol=1e-6)


def test_the_jacobian_has_velocity_and_angular_velocity_of_a_and_of_b():
    _, jacobian = evaluate(definitions_of([RowSpec("slide", 2), RowSpec("cross", 0, 0)]), np.array([1, 1]), frames())
    # d · z with levers (1, 0, 0) and (0, 2, 0): −z, −(1.5, 0, 0.25) × z, z, (0, 2, 0) × z
    np.testing.assert_allclose(jacobian[0], [(0, 0, -1), (0, 1.5, 0), (0, 0, 1), (2, 0, 0)], atol=1e-6)
    # x · b_x with b_x = y falls as B turns on about z.
    np.testing.assert_allclose(jacobian[1], [(0, 0, 0), (0, 0, 1), (0, 0, 0), (0, 0, -1)], atol=1e-6)


def test_no_rows_are_no_work():
    errors, jacobian = evaluate(definitions_of([]), np.zeros(0, dtype=np.int64), frames())
    assert errors.shape == (0,)
    assert jacobian.shape == (0, 4, 3)
