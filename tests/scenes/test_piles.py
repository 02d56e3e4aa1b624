"""The thousand cubes: where they are, how far they are turned, and that only the seed decides."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.scenes import cubes_1000


def starts(scene) -> np.ndarray:
    return np.array([np.concatenate([body.position, body.orientation]) for body in scene.bodies[1:]])


def test_a_thousand_unit_cubes_of_a_kilogram_are_above_the_ground():
    scene = cubes_1000()
    ground, *cubes = scene.bodies
    assert ground.static
    assert len(cubes) == 1000
    assert {(cube.shape, cube.mass) for cube in cubes} == {(rb.Box(1.0, 1.0, 1.0), 1.0)}


def test_cubes_are_as_near_to_their_places_as_the_jitter_says():
    scene = cubes_1000(across=4, high=3, spacing=1.5, jitter=0.05)
    x, y, z = np.meshgrid(1.5 * (np.arange(4) - 1.5), 1.5 * (np.arange(4) - 1.5), 0.8 + 1.5 * np.arange(3))
    places = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    off = starts(scene)[:, None, :3] - places[None]
    nearest = np.abs(off).max(axis=2).min(axis=1)
    assert nearest.max() <= 0.05
    assert nearest.max() > 0.04
    assert sorted(np.abs(off).max(axis=2).argmin(axis=1)) == list(range(48))


def test_cubes_are_turned_by_the_tilt_at_most():
    angles = Rotation.from_quat(starts(cubes_1000(tilt=0.3))[:, 3:]).magnitude()
    assert angles.max() <= 0.3
    assert angles.mean() == pytest.approx(0.15, rel=0.1)
    assert Rotation.from_quat(starts(cubes_1000(across=2, tilt=0.0))[:, 3:]).magnitude().max() == 0.0


def test_the_seed_decides_everything():
    first, again, other = (starts(cubes_1000(3, 3, seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any(axis=1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"across": 0}, "The across of cubes_1000 is 0; it must be at least 1."),
        ({"high": 1.5}, "The high of cubes_1000 is 1.5; it must be a whole number."),
        ({"spacing": 0.0}, "The spacing of cubes_1000 is 0.0; it must be greater than zero."),
        ({"jitter": -1.0}, "The jitter of cubes_1000 is -1.0; it must be zero or more."),
        ({"tilt": "x"}, "The tilt of cubes_1000 is 'x'; it must be a number."),
        ({"seed": -1}, "The seed of cubes_1000 is -1; it must be at least 0."),
    ],
)
def test_a_wrong_option_is_named_with_what_would_do(options, message):
    with pytest.raises(rb.InputError) as caught:
        cubes_1000(**options)
    assert str(caught.value) == message
