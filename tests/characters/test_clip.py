import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import rattleback as rb
from rattleback.characters import Clip, Skeleton, Track
from rattleback.characters.pose import slerp

TURNS = rb.rotation.random(4, seed=1)
TIMES = np.array([0.0, 0.5, 0.6, 2.0])


def test_linear_keys_turn_at_constant_rate_on_the_shorter_arc(arm: Skeleton) -> None:
    clip = Clip(arm, [Track("rotation", ["Hand"], TIMES, -TURNS[:, None])])
    times = np.linspace(0, 2, 41)
    found = clip.pose(times).rotation[:, arm.number("Hand")]
    wanted = Slerp(TIMES, Rotation.from_quat(TURNS))(times)
    assert (Rotation.from_quat(found) * wanted.inv()).magnitude().max() < 1e-12


def test_cubic_keys_follow_hermites_polynomial(arm: Skeleton) -> None:
    times = np.array([1.0, 3.0])
    cube = np.array([[3 * t**2, t**3, 3 * t**2] for t in times])  # t³ with its rate on both sides
    values = np.repeat(cube[:, :, None, None], 3, axis=-1)
    clip = Clip(arm, [Track("translation", ["Hand"], times, values, "cubic")])
    t = np.linspace(1, 3, 9)
    np.testing.assert_allclose(clip.pose(t).translation[:, arm.number("Hand"), 0], t**3, atol=1e-12)


def test_steps_hold_until_the_next_key_and_ends_hold_for_ever(arm: Skeleton) -> None:
    clip = Clip(arm, [Track("scale", ["Hand"], [0.0, 1.0], [[[1, 1, 1]], [[2, 2, 2]]], "step")])
    assert clip.pose([-1.0, 0.0, 0.999, 1.0, 5.0]).scale[:, arm.number("Hand"), 0].tolist() == [1, 1, 1, 2, 2]


def test_keys_are_met_to_the_bit_and_other_joints_rest(arm: Skeleton) -> None:
    clip = Clip(arm, [Track("rotation", ["Forearm"], TIMES, TURNS[:, None])])
    poses = clip.pose(TIMES)
    unit = TURNS / np.linalg.norm(TURNS, axis=-1, keepdims=True)
    assert np.array_equal(poses.rotation[:, arm.number("Forearm")], unit)
    assert np.array_equal(poses.rotation[:, arm.number("Hand")], np.tile(arm.rest.rotation[arm.number("Hand")], (4, 1)))
    assert np.array_equal(clip.pose(2.5, loop=True).rotation, clip.pose(0.5).rotation)


def test_a_clip_of_keys_and_one_of_poses_say_the_same(arm: Skeleton) -> None:
    keys = Clip.from_keys(arm, {0.0: {"Hand": TURNS[0]}, 1.0: {"Upper": TURNS[1], "Hand": TURNS[2]}}, "wave")
    poses = Clip.from_poses(arm, keys.pose(np.linspace(0, 1, 11)), 0.1)
    np.testing.assert_allclose(poses.pose(0.7).rotation, keys.pose(0.7).rotation, atol=1e-14)
    assert np.array_equal(keys.pose(1.0).rotation[arm.number("Upper")], arm.posed({"Upper": TURNS[1]}).rotation[0])
    assert (poses.frame_time, keys.frame_time, keys.duration) == (0.1, None, 1.0)


def test_slerp_is_exact_at_small_and_large_angles() -> None:
    for angle in (1e-9, 1e-5, 1.0, 3.0):
        first, second = np.array([0, 0, 0, 1.0]), rb.rotation.quaternion_from_axis_angle((0, 0, 1), angle)
        found = slerp(first, second, 0.25)
        np.testing.assert_allclose(found, [0, 0, np.sin(angle / 8), np.cos(angle / 8)], atol=1e-15)


def test_what_is_no_clip_is_refused(arm: Skeleton) -> None:
    track = Track("rotation", ["Hand"], TIMES, TURNS[:, None])
    with pytest.raises(rb.InputError, match="moves the rotation of joint 'Hand' twice"):
        Clip(arm, [track, track])
    with pytest.raises(rb.UnknownName, match="no joint 'Foot'"):
        Clip(arm, [Track("rotation", ["Foot"], TIMES, TURNS[:, None])])
    with pytest.raises(rb.InputError, match="keys whose times do not rise"):
        Track("rotation", ["Hand"], [0, 0], TURNS[:2, None])
    with pytest.raises(rb.InputError, match="values of shape"):
        Track("rotation", ["Hand"], TIMES, TURNS)
    with pytest.raises(rb.InputError, match="a key that is no rotation"):
        Track("rotation", ["Hand"], [0.0], np.zeros((1, 1, 4)))
    with pytest.raises(rb.InputError, match="Clip 'empty' has no keys"):
        Clip.from_keys(arm, {}, "empty")
