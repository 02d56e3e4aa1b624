"""The stage: the camera looks where it should, nearer things hide farther ones, silhouettes have the right area."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from PIL import Image
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.recording.stage import Stage
from rattleback.recording.tessellation import Surface, tessellate

RED, BLUE = (0.9, 0.1, 0.1), (0.1, 0.1, 0.9)


def moved(shape, position) -> Surface:
    surface = tessellate(shape, 24)
    return Surface(surface.vertices + np.array(position), surface.triangles)


def painted(stage: Stage) -> np.ndarray:
    """The picture as rows of red, green, blue."""
    figure = Figure(figsize=(2.0, 2.0), dpi=100)
    stage.paint(figure.add_axes((0, 0, 1, 1)))
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return np.asarray(Image.open(stream).convert("RGB"), dtype=float)


def test_a_camera_in_front_sees_x_to_the_right_and_z_up():
    stage = Stage(azimuth=np.radians(-90.0), elevation=0.0)
    np.testing.assert_allclose(stage.see(np.eye(3)), [(1, 0, 0), (0, 0, -1), (0, 1, 0)], rtol=0, atol=1e-15)


@given(st.floats(-3.2, 3.2), st.floats(-1.5, 1.5))
def test_the_axes_of_the_camera_are_a_right_handed_frame(azimuth, elevation):
    axes = Stage(azimuth, elevation).axes
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), rtol=0, atol=1e-14)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    toward = Rotation.from_euler("ZY", [azimuth, -elevation]).apply((1.0, 0.0, 0.0))
    np.testing.assert_allclose(axes[2], toward, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("near", "far"), [(RED, BLUE), (BLUE, RED)])
def test_the_nearer_solid_hides_the_farther_one_whatever_came_first(near, far):
    for order in (1, -1):
        stage = Stage(azimuth=np.radians(-90.0), elevation=0.0)
        for colour, y in [(near, -3.0), (far, 3.0)][::order]:
            stage.add_solid(moved(rb.Sphere(1.0), (0, y, 0)), colour, 0.3)
        middle = painted(stage)[100, 100]
        strongest = 0 if near is RED else 2
        assert np.argmax(middle) == strongest


def test_a_line_passes_behind_a_solid_and_in_front_of_it():
    for y, strongest in ((5.0, 0), (-5.0, 2)):
        stage = Stage(azimuth=np.radians(-90.0), elevation=0.0)
        stage.add_solid(moved(rb.Box(2, 2, 2), (0, 0, 0)), RED, 0.3)
        stage.add_line(np.array([(-3.0, y, 0.0), (3.0, y, 0.0)]), np.array([BLUE]), 6.0)
        assert np.argmax(painted(stage)[100, 100]) == strongest


@given(st.integers(0, 1000), st.floats(-3.0, 3.0), st.floats(-1.5, 1.5))
def test_the_faces_of_a_box_that_are_seen_cover_its_shadow(seed, azimuth, elevation):
    """A box with edges a, b, c along unit vectors e has a shadow of area Σ bc |e · d| along the view d."""
    stage = Stage(azimuth, elevation)
    turn = Rotation.random(random_state=seed).as_matrix()
    surface = tessellate(rb.Box(1.0, 2.0, 3.0))
    stage.add_solid(Surface(surface.vertices @ turn.T, surface.triangles), RED, 0.5)
    a, b = (np.concatenate(stage._polygons)[:, k] - np.concatenate(stage._polygons)[:, 0] for k in (1, 2))
    area = 0.5 * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    assert (area > 0.0).all()
    shadow = np.abs(stage.axes[2] @ turn) @ np.array([6.0, 3.0, 2.0])
    assert area.sum() == pytest.approx(shadow, rel=1e-6)


def test_a_face_turned_to_the_light_is_brighter():
    stage = Stage(azimuth=np.radians(-90.0), elevation=np.radians(45.0))
    stage.add_solid(moved(rb.Box(2, 2, 2), (0, 0, 0)), (0.5, 0.5, 0.5), 0.5)
    picture = painted(stage)
    top, front = picture[60, 100], picture[140, 100]
    assert top.mean() > front.mean() + 20


def test_the_scale_bar_has_a_round_length():
    stage = Stage(azimuth=np.radians(-90.0), elevation=0.0)
    stage.add_solid(moved(rb.Box(10.0, 1.0, 1.0), (0, 0, 0)), RED, 5.0)
    axes = Figure().add_subplot()
    stage.paint(axes)
    (bar,) = axes.get_lines()
    assert np.ptp(bar.get_xdata()) == pytest.approx(1.0)
    assert axes.texts[0].get_text() == "1 m"
    assert stage.aspect == pytest.approx(10.0)
