"""Pictures against geometry: discs by the pinhole formula, left and right, near and far, shadows away from the sun."""

import math
import os
import sys

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import map_coordinates
from scipy.spatial import ConvexHull

import rattleback as rb
from rattleback.core.errors import DeviceError, FileError, InputError
from rattleback.recording.context import open_context
from rattleback.recording.look import Appearance
from rattleback.recording.renderer import Renderer
from rattleback.recording.snapshot import snapshot_of
from rattleback.recording.style import PALETTE
from rattleback.recording.tessellation import tessellate

SIZE = (480, 360)
SPACE = (0.0, 0.0, 0.0)
FRONT = rb.Camera(azimuth=-math.pi / 2, elevation=0.0, distance=8.0, target=(0, 0, 0), field_of_view=0.6)
ABOVE = rb.Camera(azimuth=-math.pi / 2, elevation=0.7, distance=20.0, target=(0, 0, 0), field_of_view=0.6)


def draw(scene, camera=FRONT, size=SIZE, **look):
    snapshot = snapshot_of(rb.Simulation(scene))
    with Renderer(size, Appearance(**{"samples": 1, **look})) as renderer:
        return renderer.draw(snapshot, renderer.aim(camera, [snapshot])).astype(float)


def outline(scene, camera=FRONT, **look):
    """How far the drawn body reaches from the middle of the picture in 720 directions [pixels].

    Its edge is where the change it makes to the picture falls to half of what it is three pixels farther in.
    """
    empty = rb.Scene(gravity=SPACE)
    empty.add_body(rb.Sphere(0.01), position=(0, -500, 0))
    change = np.abs(draw(scene, camera, **look) - draw(empty, camera, **look)).max(axis=2)
    angle, radius = np.linspace(0, 2 * np.pi, 720, endpoint=False), np.arange(0, 170, 0.1)
    down, across = 179.5 + np.outer(np.sin(angle), radius), 239.5 + np.outer(np.cos(angle), radius)
    profile = map_coordinates(change, [down, across], order=1)
    last = radius.size - 1 - np.argmax(profile[:, ::-1] > 6, axis=1)
    inside = np.take_along_axis(profile, last[:, None] - 30, axis=1)
    return radius[radius.size - 1 - np.argmax((profile > 0.5 * inside)[:, ::-1], axis=1)]


def drawn_area(scene, camera=FRONT, **look):
    return 0.5 * (outline(scene, camera, **look) ** 2).sum() * 2 * np.pi / 720


def alone(shape, **options):
    scene = rb.Scene(gravity=SPACE)
    scene.add_body(shape, **options)
    return scene


def red(picture):
    return picture[..., 0] > 1.3 * picture[..., 2]


def blue(picture):
    return picture[..., 2] > 1.3 * picture[..., 0]


def brightness_at(picture, camera, point, size=SIZE):
    across, down, _ = camera.project(point, size)
    return picture[round(down) - 1 : round(down) + 2, round(across) - 1 : round(across) + 2].mean()


@pytest.mark.egl
@pytest.mark.parametrize("samples", [1, 16])
def test_a_sphere_in_the_middle_is_a_disc_of_the_radius_the_pinhole_formula_gives(samples):
    seen = outline(alone(rb.Sphere(1.0)), samples=samples)
    focal = 0.5 * SIZE[1] / math.tan(0.5 * 0.6)
    radius = focal * math.tan(math.asin(1.0 / 8.0))
    assert seen.mean() == pytest.approx(radius, abs=0.5)
    assert seen == pytest.approx(np.full(720, radius), abs=1.0)


@pytest.mark.egl
@pytest.mark.parametrize(
    "shape",
    [
        rb.Box(1.0, 0.6, 1.4),
        rb.Capsule(0.4, 2.0),
        rb.Cylinder(0.6, 1.4),
        rb.Cone(0.8, 1.6),
        rb.Ellipsoid(1.0, 0.5, 0.7),
        rb.ConvexHull(np.random.default_rng(3).normal(size=(16, 3)) * 0.5),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_a_convex_solid_covers_the_hull_of_its_projected_corners(shape):
    turn = rb.rotation.quaternion_from_axis_angle((1, 2, 0.5), 0.8)
    scene = alone(shape, orientation=turn, origin=(0, 0, 0))
    corners = FRONT.project(rb.rotation.rotate(turn, tessellate(shape, 64).vertices), SIZE)[:, :2]
    # Rounded edges take 2.8 % from the outline of this box and 1.5 % from that of this cylinder.
    loss = {rb.Box: 0.028, rb.Cylinder: 0.015}.get(type(shape), 0.0)
    assert drawn_area(scene) == pytest.approx((1.0 - loss) * ConvexHull(corners).volume, rel=0.01)


@pytest.mark.egl
def test_a_red_box_left_of_a_blue_one_appears_left_of_it():
    scene = rb.Scene(gravity=SPACE)
    scene.add_body(rb.Box(1, 1, 1), position=(-1, 0, 0))
    scene.add_body(rb.Box(1, 1, 1), position=(1, 0, 0))
    picture = draw(scene)
    left, right = np.argwhere(red(picture))[:, 1], np.argwhere(blue(picture))[:, 1]
    assert len(left) > 1000
    assert len(right) > 1000
    assert left.max() < 240 < right.min()


@pytest.mark.egl
@pytest.mark.parametrize(("azimuth", "shown"), [(-math.pi / 2, red), (math.pi / 2, blue)])
def test_a_nearer_box_hides_a_farther_one(azimuth, shown):
    scene = rb.Scene(gravity=SPACE)
    scene.add_body(rb.Box(1, 1, 1), position=(0, -1.5, 0))
    scene.add_body(rb.Box(1, 1, 1), position=(0, 1.5, 0))
    camera = rb.Camera(azimuth=azimuth, elevation=0.0, distance=8.0, target=(0, 0, 0), field_of_view=0.6)
    picture, hidden = draw(scene, camera), blue if shown is red else red
    assert shown(picture).sum() > 3000
    assert hidden(picture).sum() == 0


@pytest.mark.egl
@pytest.mark.parametrize("sun", [(1, 0, 1), (-1, 0, 1), (1, -0.6, 1.2)])
@pytest.mark.parametrize("samples", [1, 8])
def test_the_shadow_of_a_ball_falls_away_from_the_sun_where_its_rays_meet_the_ground(sun, samples):
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.7), position=(0, 0, 2))
    scene.add_static(rb.Plane())
    picture, toward = draw(scene, ABOVE, sun=sun, samples=samples), np.array(sun, dtype=float)
    middle = np.array([0, 0, 2]) - 2.0 / toward[2] * toward
    # Across the rays the shadow of a ball is as wide as the ball.
    across = np.cross(toward, (0, 0, 1)) / np.linalg.norm(toward[:2])
    inside = [middle, middle + 0.55 * across, middle - 0.55 * across]
    outside = [middle * (-1, -1, 1), middle + 0.9 * across, middle - 0.9 * across]
    dark = max(brightness_at(picture, ABOVE, point) for point in inside)
    bright = min(brightness_at(picture, ABOVE, point) for point in outside)
    assert dark < 0.8 * bright


@pytest.mark.egl
def test_the_side_towards_the_sun_is_brighter():
    scene = alone(rb.Sphere(1.0))
    picture = draw(scene, sun=(-1, 0, 0.2))
    assert brightness_at(picture, FRONT, (-0.7, -0.7, 0)) > 1.3 * brightness_at(picture, FRONT, (0.7, -0.7, 0))


@pytest.mark.egl
def test_lit_colours_are_about_those_of_the_palette():
    scene = alone(rb.Box(2, 2, 2))
    picture = draw(scene, sun=(0, -1, 0.6))
    wanted = [int(PALETTE[0][k : k + 2], 16) for k in (1, 3, 5)]
    assert picture[150:210, 220:260].mean(axis=(0, 1)) == pytest.approx(wanted, abs=45)


@pytest.mark.egl
def test_a_scene_far_from_the_origin_is_as_sharp_as_one_at_it():
    here, there = (alone(rb.Box(1, 0.7, 1.3), position=place) for place in ((0, 0, 0), (1e7, -2e7, 5e6)))
    camera = rb.Camera(azimuth=0.5)
    assert np.abs(draw(here, camera) - draw(there, camera)).max() <= 2


@pytest.mark.egl
def test_a_body_without_a_shape_is_drawn_as_the_ellipsoid_of_its_inertia():
    scene = rb.Scene(gravity=SPACE)
    # That of a ball of 1 m and 1 kg: 2/5 m r².
    scene.add_body(mass=1.0, inertia=(0.4, 0.4, 0.4))
    assert outline(scene) == pytest.approx(outline(alone(rb.Sphere(1.0))), abs=0.3)


@pytest.mark.egl
def test_an_open_mesh_is_seen_from_both_sides():
    mesh = rb.Mesh([(-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1)], [(0, 1, 2), (0, 2, 3)])
    scene = rb.Scene(gravity=SPACE)
    scene.add_static(mesh)
    behind = rb.Camera(azimuth=math.pi / 2, elevation=0.0, distance=8.0, target=(0, 0, 0), field_of_view=0.6)
    side = 2.0 / 8.0 * 0.5 * SIZE[1] / math.tan(0.3)
    for camera in (FRONT, behind):
        assert drawn_area(scene, camera) == pytest.approx(side**2, rel=0.02)


@pytest.mark.egl
def test_by_speed_a_fast_body_is_red_and_a_resting_one_blue():
    scene = rb.Scene(gravity=SPACE)
    scene.add_body(rb.Box(1, 1, 1), position=(-1, 0, 0), velocity=(0, 0, 3))
    scene.add_body(rb.Box(1, 1, 1), position=(1, 0, 0))
    picture = draw(scene, colour="speed")
    assert np.argwhere(red(picture))[:, 1].max() < 240 < np.argwhere(blue(picture))[:, 1].min()
    # Beside a larger speed that is red, 3 m/s is not.
    assert red(draw(scene, colour="speed", fastest=300.0)).sum() == 0


@pytest.mark.egl
def test_static_bodies_are_grey():
    scene = rb.Scene(gravity=SPACE)
    scene.add_static(rb.Box(2, 2, 2))
    picture = draw(scene)[150:210, 210:270]
    assert np.ptp(picture, axis=2).max() < 30


@pytest.mark.egl
def test_marks_of_joints_can_be_left_out():
    scene = rb.Scene(gravity=SPACE)
    arm = scene.add_body(rb.Box(2.0, 0.3, 0.3))
    scene.add_joint(rb.Ball(scene.world, arm, at=(1, 0, 0.2)))
    marked, plain = draw(scene), draw(scene, joints=False)
    changed = np.argwhere(np.abs(marked - plain).max(axis=2) > 20)
    across, down, _ = FRONT.project((1, 0, 0.2), SIZE)
    assert changed.mean(axis=0) == pytest.approx([down, across], abs=6)


@pytest.mark.egl
def test_a_scene_with_gravity_and_no_plane_gets_a_floor_unless_told_otherwise():
    scene, free = rb.Scene(), alone(rb.Sphere(1.0))
    scene.add_body(rb.Sphere(1.0))
    camera = rb.Camera(azimuth=0.0, elevation=0.4)
    bare = draw(scene, camera, floor=False)
    assert np.abs(draw(scene, camera) - bare).max() > 30
    assert np.abs(draw(free, camera) - bare).max() == 0


@pytest.mark.egl
def test_a_plane_has_lines_and_is_not_drawn_from_below():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.2), position=(0, 0, 1))
    scene.add_static(rb.Plane())
    camera = rb.Camera(azimuth=-math.pi / 2, elevation=1.2, distance=10.0, target=(0, 0, 0))
    picture = draw(scene, camera)
    row = picture[300].mean(axis=1)
    assert row.max() - np.median(row) < 10 < np.median(row) - row.min()
    below = rb.Camera(azimuth=0.0, elevation=-0.5, distance=8.0, target=(0, 0, 1))
    seen = draw(scene, below)
    assert red(seen).sum() > 100


@pytest.mark.egl
def test_one_renderer_draws_scenes_by_turns():
    snapshots = [snapshot_of(rb.Simulation(alone(shape))) for shape in (rb.Sphere(1.0), rb.Box(2, 2, 2))]
    with Renderer(SIZE, Appearance(samples=1)) as renderer:
        stand = renderer.aim(FRONT, snapshots)
        first, second, again = (renderer.draw(snapshot, stand) for snapshot in (*snapshots, snapshots[0]))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, second)


@pytest.mark.egl
@pytest.mark.slow
def test_every_scene_of_the_menu_can_be_drawn():
    with Renderer((160, 90), Appearance(samples=1)) as renderer:
        for name, entry in rb.scenes.MENU.items():
            snapshot = snapshot_of(rb.Simulation(entry.build()))
            drawn = renderer.draw(snapshot, renderer.aim(rb.Camera(), [snapshot])).astype(float)
            colourful = np.ptp(drawn, axis=2) > 40
            assert colourful.mean() > 0.001, name


@pytest.mark.egl
def test_a_scene_of_a_plane_alone_can_be_drawn():
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    assert np.isfinite(draw(scene, rb.Camera(elevation=0.5))).all()


@pytest.mark.egl
def test_of_several_worlds_the_first_is_shown():
    scene = alone(rb.Sphere(1.0))
    sim = rb.Simulation(scene, worlds=3)
    sim["sphere_1"].position = [(0, 0, 0), (0, 0, 1), (0, 0, 2)]
    assert snapshot_of(sim).origin == pytest.approx(np.zeros((1, 3)))


@pytest.mark.egl
def test_render_writes_a_png_and_leaves_the_simulation_as_it_is(tmp_path):
    sim = rb.Simulation(alone(rb.Sphere(1.0), velocity=(1, 0, 0)))
    sim.run(0.1)
    before = sim.hash()
    rb.render(sim, tmp_path / "ball.png", size=(161, 91), samples=2, camera=rb.Camera(azimuth=1.0))
    with Image.open(tmp_path / "ball.png") as picture:
        assert (picture.format, picture.size, picture.mode) == ("PNG", (161, 91), "RGB")
    assert sim.hash() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["ball.png"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ball.jpeg", "its name must end with one of '.png'."),
        ("gone/ball.png", "cannot be written: there is no folder"),
        ("folder.png", "cannot be written: it is a folder."),
    ],
)
def test_a_picture_that_cannot_be_written_is_refused_in_a_sentence(tmp_path, name, message):
    (tmp_path / "folder.png").mkdir()
    with pytest.raises((FileError, InputError), match=message):
        rb.render(rb.Simulation(alone(rb.Sphere(1.0))), tmp_path / name)


def test_a_folder_that_is_write_protected_is_refused_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(FileError, match="cannot be written: it is write-protected"):
        rb.render(rb.Simulation(alone(rb.Sphere(1.0))), tmp_path / "ball.png")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 720}, "The size of a picture is 720; it must be two numbers, such as (1280, 720)."),
        ({"size": (0, 100)}, "The width of a picture is 0; it must be at least 1."),
        ({"size": (100, 10**5)}, "The height of a picture is 100000; it must be at most 8192."),
        ({"colour": "weight"}, "The colour of a picture is 'weight'; it may be 'body', 'palette', 'speed'."),
        ({"samples": 0}, "The samples of a picture is 0; it must be at least 1."),
        ({"fastest": 0.0}, "The fastest of a picture is 0.0; it must be greater than zero."),
        ({"sun": (0, 0, 0)}, "The sun of a picture is the zero vector"),
        ({"joints": 1}, "The joints of a picture is 1; it must be True or False."),
        ({"floor": "no"}, "The floor of a picture is 'no'; it must be True or False."),
        ({"color": "body"}, "render has no option 'color'. Did you mean 'colour'?"),
        ({"camera": "front"}, "The camera is 'front'; it must be a Camera, such as rb.Camera("),
    ],
)
@pytest.mark.egl
def test_wrong_options_are_refused_in_a_sentence(tmp_path, options, message):
    with pytest.raises(InputError) as refused:
        rb.render(rb.Simulation(alone(rb.Sphere(1.0))), tmp_path / "ball.png", **options)
    assert message in str(refused.value)


def test_what_is_no_simulation_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(InputError, match="What a picture shows is .*; it must be a Simulation"):
        rb.render(rb.Scene(), tmp_path / "ball.png")


def test_a_missing_package_is_named_with_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "moderngl", None)
    with pytest.raises(DeviceError, match=r"need moderngl, which is not installed: pip install 'rattleback\[video\]'"):
        open_context()


@pytest.mark.egl
def test_a_missing_egl_is_named_with_what_to_install(monkeypatch):
    def refuse(**_):
        raise Exception("libEGL.so not loaded")

    monkeypatch.setattr("moderngl.create_context", refuse)
    with pytest.raises(DeviceError, match=r"libEGL.so not loaded.*install libegl1 and libgl1-mesa-dri"):
        open_context()
