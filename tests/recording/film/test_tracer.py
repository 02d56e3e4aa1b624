"""Pictures in film quality: where bodies appear and in which colours, soft shadows, what is refused."""

import math
import sys

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import DeviceError, InputError
from rattleback.recording.film.scenery import grid, sky
from rattleback.recording.film.tracer import develop, trace, without_sparks
from rattleback.recording.lamp import SUN_RADIUS
from rattleback.recording.look import Appearance
from rattleback.recording.snapshot import snapshot_of

SIZE = (120, 90)


def balls():
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for x in (-1.0, 1.0):
        scene.add_body(rb.Sphere(0.4), position=(x, 0, 1.0), name=f"ball {x:+g}")
    return rb.Simulation(scene, time_step=0.01)


@pytest.fixture(scope="module")
def seen():
    pytest.importorskip("mitsuba")
    camera = rb.Camera(azimuth=-0.5 * math.pi, elevation=1.2, distance=9.0, target=(0, 0, 0.5))
    look = Appearance(samples=32, sun=(-0.6, 0.0, 0.8), joints=False)
    return camera, trace(snapshot_of(balls()), camera, look, SIZE, math.inf)


def at(picture, camera, point):
    u, v, _ = camera.project(point, SIZE)
    return picture[int(v), int(u)]


def test_bodies_are_seen_where_the_camera_puts_them_in_their_colours(seen):
    camera, picture = seen
    assert picture.shape == (SIZE[1], SIZE[0], 3)
    assert ((picture >= 0.0) & (picture <= 1.0)).all()
    red, blue = at(picture, camera, (-1, 0, 1)), at(picture, camera, (1, 0, 1))
    assert red[0] > 1.5 * red[2]
    assert blue[2] > 1.5 * blue[0]
    ground = at(picture, camera, (0, -1.5, 0))
    assert np.ptp(ground) < 0.1


def test_a_shadow_lies_where_the_sun_throws_it_and_has_the_edge_that_the_disc_of_the_sun_gives_it(seen):
    camera, picture = seen
    # The middle of a ball at height 1 is thrown 0.75 m along x; the sun is seen under 2 ρ, 1.25 m away.
    shadow, lit = at(picture, camera, (1.75, 0, 0)).mean(), at(picture, camera, (2.9, 0.0, 0)).mean()
    assert shadow < 0.75 * lit
    x = np.linspace(2.0, 2.7, 60)
    profile = np.array([at(picture, camera, (place, 0, 0)).mean() for place in x])
    rising = x[(profile > shadow + 0.15 * (lit - shadow)) & (profile < lit - 0.15 * (lit - shadow))]
    edge = 1.75 + 0.4 / 0.8
    assert edge - 0.15 < np.mean(rising) < edge + 0.15
    assert 2.0 * 1.25 * math.tan(SUN_RADIUS) / 0.8 < 0.2


def test_a_picture_is_written_and_the_variant_of_mitsuba_stays_the_users(tmp_path):
    mitsuba = pytest.importorskip("mitsuba")
    from PIL import Image

    mitsuba.set_variant("scalar_spectral")
    rb.render(balls(), tmp_path / "balls.png", size=(48, 32), quality="film", samples=4)
    assert mitsuba.variant() == "scalar_spectral"
    with Image.open(tmp_path / "balls.png") as picture:
        assert picture.size == (48, 32)
        assert np.asarray(picture).std() > 5.0


def test_sparks_go_and_all_else_stays_the_mean():
    parts = np.random.default_rng(1).uniform(0.4, 0.6, (8, 4, 5, 3))
    np.testing.assert_allclose(without_sparks(parts), parts.mean(axis=0), rtol=1e-12)
    sparked = parts.copy()
    sparked[3, 2, 2] = 500.0
    assert np.abs(without_sparks(sparked) - parts.mean(axis=0)).max() < 0.1


def test_light_is_developed_to_srgb_with_a_shoulder():
    # The sRGB standard: 0.18 is written as 0.4613.
    assert develop(np.array([0.0, 0.18, 0.002])) == pytest.approx([0.0, 0.46136, 0.02584], abs=1e-5)
    bright = develop(np.array([0.65, 1.0, 5.0, 50.0]))
    assert (np.diff(bright) > 0).all()
    assert bright[-1] <= 1.0


def test_the_sky_darkens_upward_and_the_ground_has_its_lines():
    tone = sky().mean(axis=(1, 2))
    assert tone[0] < tone[len(tone) // 2 - 1]
    ink = grid()
    assert ink[512, 512].mean() > 1.1 * ink[0, 512].mean()


def test_a_wrong_quality_and_a_missing_package_get_a_sentence(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="The quality of a picture is 'best'"):
        rb.render(balls(), tmp_path / "a.png", quality="best")
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    with pytest.raises(DeviceError, match=r"film quality need mitsuba.*pip install 'rattleback\[film\]'"):
        rb.render(balls(), tmp_path / "a.png", quality="film")
    assert not list(tmp_path.iterdir())
