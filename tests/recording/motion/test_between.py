"""Values between samples against closed forms: what is exact, what errs, and how far it says it errs."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rattleback.recording.motion.between import Between


def circling(time, rate=3.0):
    """A point on a circle of radius 1, and a body that speeds up about a fixed axis."""
    place = np.stack([np.cos(rate * time), np.sin(rate * time), 0.0 * time], axis=-1)[:, None]
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    return place, Rotation.from_rotvec(time[:, None] ** 2 * 2.0 * axis).as_quat()[:, None], axis


def test_frames_at_the_times_of_samples_show_the_samples_themselves():
    time = np.linspace(0.0, 1.0, 101)
    place, turn, _ = circling(time)
    between = Between(time, np.arange(51) / 50.0)
    np.testing.assert_array_equal(between.values(place), place[::2])
    found = between.orientations(turn)
    np.testing.assert_allclose(np.abs(np.sum(found * turn[::2], axis=-1)), 1.0, rtol=0, atol=1e-15)
    assert between.error(place) == 0.0
    assert between.turn_error(turn) == 0.0


def test_a_straight_flight_and_a_steady_spin_are_exact_between_samples():
    time = np.array([0.0, 0.1, 0.25, 0.4, 0.7])
    frames = np.linspace(0.0, 0.7, 23)
    place = np.array([1.0, 2.0, 3.0]) * time[:, None, None]
    turn = Rotation.from_rotvec(np.outer(time, [0.0, 4.0, 3.0])).as_quat()[:, None]
    between = Between(time, frames)
    np.testing.assert_allclose(between.values(place)[:, 0], np.outer(frames, [1.0, 2.0, 3.0]), rtol=0, atol=1e-14)
    wanted = Rotation.from_rotvec(np.outer(frames, [0.0, 4.0, 3.0]))
    off = (Rotation.from_quat(between.orientations(turn)[:, 0]) * wanted.inv()).magnitude()
    assert off.max() < 1e-13
    assert between.error(place) < 1e-14
    assert between.turn_error(turn) < 1e-12


@pytest.mark.parametrize("rate", [30, 60, 73])
def test_the_stated_error_is_that_of_the_worst_frame(rate):
    time = np.linspace(0.0, 2.0, 81)
    frames = np.arange(2 * rate) / rate
    place, turn, axis = circling(time)
    exact, _, _ = circling(frames)
    between = Between(time, frames)
    off = np.linalg.norm(between.values(place) - exact, axis=-1).max()
    assert off == pytest.approx(between.error(place), rel=0.02)
    assert off <= 9.0 * 0.025**2 / 8.0 + 1e-12
    wanted = Rotation.from_rotvec(frames[:, None] ** 2 * 2.0 * axis)
    turned = (Rotation.from_quat(between.orientations(turn)[:, 0]) * wanted.inv()).magnitude().max()
    assert turned == pytest.approx(between.turn_error(turn), rel=0.02)


def test_orientations_of_neighbouring_frames_never_change_their_sign():
    time = np.linspace(0.0, 4.0, 41)
    turn = Rotation.from_rotvec(np.outer(time, [0.0, 0.0, 5.0])).as_quat()[:, None]
    turn[::3] *= -1.0
    found = Between(time, np.linspace(0.0, 4.0, 97)).orientations(turn)
    assert (np.sum(found[1:] * found[:-1], axis=-1) > 0.9).all()


def test_counts_jump_at_their_samples_and_one_sample_is_enough():
    between = Between(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.5, 0.999, 1.0, 2.0]))
    assert between.steps(np.array([3, 5, 4])).tolist() == [3.0, 3.0, 3.0, 5.0, 4.0]
    alone = Between(np.array([7.0]), np.array([7.0]))
    assert alone.values(np.array([[[1.0, 2.0, 3.0]]])).tolist() == [[[1.0, 2.0, 3.0]]]
    assert alone.error(np.ones((1, 1, 3))) == 0.0
