"""Light, ground and colours by arithmetic: what a picture is made of before it is drawn."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.recording.extent import extent
from rattleback.recording.ground import GroundPlane, floor_below, round_length
from rattleback.recording.lamp import frame, places, skies, suns
from rattleback.recording.look import light
from rattleback.recording.snapshot import snapshot_of


def test_the_sun_stays_the_same_and_the_sky_is_covered_evenly():
    toward = np.array([0.6, 0.0, 0.8])
    found = suns(toward, 64)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0)
    assert found.mean(axis=0) == pytest.approx(toward, abs=2e-3)
    # Of an even sky, the light on level ground is π, on a wall half of it: the means of 2 cos θ.
    sky = skies(256)
    assert (2.0 * sky[:, 2]).mean() == pytest.approx(1.0, abs=1e-3)
    for wall in np.eye(3)[:2]:
        assert (2.0 * np.clip(sky @ wall, 0, None)).mean() == pytest.approx(0.5, abs=0.01)
    assert np.abs(places(64)).max() <= 0.5
    assert places(64).mean(axis=0) == pytest.approx([0, 0], abs=0.02)


@pytest.mark.parametrize("toward", [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (0.0, 0.0, -1.0)])
def test_the_axes_of_a_lamp_are_at_right_angles(toward):
    axes = frame(np.array(toward))
    assert axes @ axes.T == pytest.approx(np.eye(3))
    assert np.linalg.det(axes) == pytest.approx(1.0)


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 0, 0), (0.6, 0, 0.8)])
def test_the_sides_of_a_plane_lie_in_it_at_right_angles(normal):
    along, across = GroundPlane(np.array(normal, dtype=float), np.zeros(3), True).sides()
    axes = np.stack([along, across, normal])
    assert axes @ axes.T == pytest.approx(np.eye(3))
    assert np.linalg.det(axes) == pytest.approx(1.0)


@pytest.mark.parametrize(("length", "shorter"), [(1.0, 1.0), (1.9, 1.0), (2.0, 2.0), (49.0, 20.0), (0.07, 0.05)])
def test_lines_of_the_grid_are_a_round_length_apart(length, shorter):
    assert round_length(length) == pytest.approx(shorter)


def test_colours_are_turned_into_light_as_srgb_says():
    assert light("#ffffff") == pytest.approx([1, 1, 1])
    assert light("#808080") == pytest.approx([0.2158605] * 3, abs=1e-6)
    assert light("#0a0000")[0] == pytest.approx(10 / 255 / 12.92)


def test_a_floor_lies_below_everything():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1.0), position=(0, 0, -5))
    snapshot = snapshot_of(rb.Simulation(scene))
    assert floor_below(extent([snapshot])).point[2] < -6.0
