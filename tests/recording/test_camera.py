"""The camera against the pinhole formula, and what it frames against the picture's edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.recording.camera import MARGIN
from rattleback.recording.extent import extent, lowest
from rattleback.recording.ground import floor_below
from rattleback.recording.snapshot import snapshot_of
from rattleback.recording.still import depth_of
from rattleback.scenes import pendulum

SIZE = (800, 400)
angles = st.floats(-3.0, 3.0)
slopes = st.floats(-1.4, 1.4)


def placed(**changes):
    return rb.Camera(**{"azimuth": 0.3, "elevation": 0.4, "distance": 5.0, "target": (1.0, 2.0, 3.0), **changes})


def test_the_target_is_in_the_middle_of_the_picture():
    assert placed().project((1.0, 2.0, 3.0), SIZE) == pytest.approx([400.0, 200.0, 5.0])


def test_the_eye_is_at_its_distance_in_the_direction_of_azimuth_and_elevation():
    camera = placed(azimuth=math.pi / 2, elevation=math.pi / 6)
    assert camera.eye == pytest.approx([1.0, 2.0 + 5.0 * math.cos(math.pi / 6), 3.0 + 2.5])


def test_a_point_beside_the_target_appears_where_the_pinhole_formula_says():
    camera = rb.Camera(azimuth=-math.pi / 2, elevation=0.0, distance=4.0, target=(0, 0, 0), field_of_view=math.pi / 2)
    focal = 200.0  # half the height over the tangent of 45°
    assert camera.project((0.5, 0.0, 0.25), SIZE) == pytest.approx([400 + focal * 0.5 / 4, 200 - focal * 0.25 / 4, 4])
    assert camera.project((0.5, -2.0, 0.25), SIZE) == pytest.approx([400 + focal * 0.5 / 2, 200 - focal * 0.25 / 2, 2])


@given(azimuth=angles, elevation=slopes)
def test_the_matrices_agree_with_the_projection(azimuth, elevation):
    camera = placed(azimuth=azimuth, elevation=elevation)
    point, origin = np.array([1.5, 1.2, 3.7]), np.array([1.0, 1.0, 1.0])
    clip = camera.projection_matrix(2.0, 0.1, 100.0) @ camera.view_matrix(origin) @ [*(point - origin), 1.0]
    across, down, away = camera.project(point, SIZE)
    assert clip[3] == pytest.approx(away)
    assert clip[:2] / clip[3] == pytest.approx([across / 400.0 - 1.0, 1.0 - down / 200.0])
    assert -1.0 < clip[2] / clip[3] < 1.0


def test_near_and_far_are_the_ends_of_the_depths():
    matrix = placed().projection_matrix(2.0, 0.5, 20.0)
    for depth, end in ((0.5, -1.0), (20.0, 1.0)):
        clip = matrix @ [0.0, 0.0, -depth, 1.0]
        assert clip[2] / clip[3] == pytest.approx(end)


@given(azimuth=angles, elevation=slopes, seed=st.integers(0, 1000), aspect=st.floats(0.3, 3.0))
def test_framing_fills_the_picture_up_to_its_margin(azimuth, elevation, seed, aspect):
    points = np.random.default_rng(seed).normal(size=(20, 3)) * (3.0, 1.0, 0.5) + (10.0, -5.0, 2.0)
    size = (1000 * aspect, 1000)
    camera = rb.Camera(azimuth=azimuth, elevation=elevation).framing(points, aspect)
    across, down, away = camera.project(points, size).T
    free_x = np.array([across.min(), size[0] - across.max()]) / (0.5 * size[0])
    free_y = np.array([down.min(), size[1] - down.max()]) / (0.5 * size[1])
    assert (away > 0.0).all()
    assert min(free_x.min(), free_y.min()) == pytest.approx(MARGIN, abs=1e-9)
    touched = free_x if free_x.min() < free_y.min() else free_y
    assert touched == pytest.approx([MARGIN, MARGIN], abs=1e-9)


def test_framing_keeps_what_was_given():
    points = np.array([(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    assert rb.Camera(azimuth=0.7, elevation=0.1).framing(points, 2.0).azimuth == 0.7
    assert rb.Camera(distance=30.0).framing(points, 2.0).distance == 30.0
    there = rb.Camera(target=(0, 0, 1)).framing(points, 2.0)
    assert there.target == (0.0, 0.0, 1.0)
    assert placed().framing(points, 2.0) == placed()


def test_a_given_target_is_seen_from_as_near_as_all_points_allow():
    points = np.array([(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 2.0)])
    camera = rb.Camera(target=(0, 0, 0), azimuth=-math.pi / 2, elevation=0.0).framing(points, 2.0)
    assert camera.project(points, SIZE)[2, 1] == pytest.approx(200 * MARGIN)


@pytest.mark.parametrize(("extents", "side"), [((4.0, 1.0, 1.0), 1), ((1.0, 4.0, 1.0), 0)])
def test_the_broader_side_faces_the_camera(extents, side):
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * extents
    toward = rb.Camera().framing(corners, 1.8).axes()[2]
    assert abs(toward[side]) > abs(toward[1 - side])


def test_a_single_body_far_off_does_not_turn_the_camera():
    row = np.array([(0.25 * k, 0.0, 0.0) for k in range(30)])
    toward = rb.Camera().framing(np.concatenate([row, [(3.0, -9.0, 0.0)]]), 1.8).axes()[2]
    assert abs(toward[1]) > abs(toward[0])


def test_a_camera_that_has_no_place_says_so():
    with pytest.raises(InputError, match="This Camera has not found its place yet; give azimuth, distance and target"):
        _ = rb.Camera().eye


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distance": 0.0}, "The distance of a Camera is 0.0; it must be greater than zero."),
        ({"azimuth": "north"}, "The azimuth of a Camera is 'north'; it must be a number."),
        ({"target": (1, 2)}, "The target of a Camera has shape (2,); it must be 3 numbers."),
        ({"elevation": 1.6}, "The elevation of a Camera is 1.6; it must be within ±1.5691 rad"),
        ({"field_of_view": 3.0}, "The field_of_view of a Camera is 3.0; it must be at most 0.9 π rad."),
        ({"field_of_view": -1.0}, "The field_of_view of a Camera is -1.0; it must be greater than zero."),
    ],
)
def test_a_wrong_camera_is_refused_in_a_sentence(options, message):
    with pytest.raises(InputError) as refused:
        rb.Camera(**options)
    assert message in str(refused.value)


def reach(scene):
    points = extent([snapshot_of(rb.Simulation(scene))])
    return points.min(axis=0), points.max(axis=0)


def test_planes_and_huge_statics_are_not_framed():
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 2, 3), position=(5, 5, 5))
    scene.add_static(rb.Plane())
    scene.add_static(rb.Box(100, 100, 1), position=(0, 0, -0.5))
    low, high = reach(scene)
    assert low == pytest.approx([4.5, 4, 3.5])
    assert high == pytest.approx([5.5, 6, 6.5])


def test_statics_of_about_the_size_of_what_moves_are_framed():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1.0))
    scene.add_static(rb.Box(4, 1, 1), position=(3, 0, 0))
    assert reach(scene)[1] == pytest.approx([5, 1, 1])


def test_what_has_flown_away_is_let_go():
    scene = rb.Scene()
    for k in range(20):
        scene.add_body(rb.Sphere(0.1), position=(0.3 * k, 0, 0))
    scene.add_body(rb.Sphere(0.1), position=(0, 0, 500))
    assert reach(scene)[1] == pytest.approx([5.8, 0.1, 0.1])


def test_a_scene_of_planes_alone_has_an_extent_to_look_at():
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    low, high = reach(scene)
    assert (low == -1.0).all()
    assert (high == 1.0).all()


def test_the_extent_of_several_moments_holds_all_of_them():
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.5), velocity=(1, 0, 0))
    sim = rb.Simulation(scene)
    snapshots = [snapshot_of(sim)]
    sim.run(2.0)
    snapshots.append(snapshot_of(sim))
    points = extent(snapshots)
    assert points.min(axis=0) == pytest.approx([-0.5, -0.5, -0.5])
    assert points.max(axis=0) == pytest.approx([2.5, 0.5, 0.5])


def test_points_that_hang_a_marked_joint_on_the_world_are_framed_where_joints_are():
    scene = rb.Scene()
    arm = scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(1, 0, 0))
    scene.add_joint(rb.Ball(scene.world, arm, at=(0, 0, 0.5)))
    snapshots = [snapshot_of(rb.Simulation(scene))]
    assert extent(snapshots, joints=True).min(axis=0) == pytest.approx([0.0, -0.1, -0.1])
    assert extent(snapshots).min(axis=0) == pytest.approx([0.9, -0.1, -0.1])


def test_the_lowest_point_counts_wherever_it_is():
    """Also of what is too large or too far away to be framed."""
    scene = rb.Scene()
    for k in range(20):
        scene.add_body(rb.Sphere(0.1), position=(0.3 * k, 0, 5))
    scene.add_body(rb.Sphere(0.1), position=(0, 0, -400))
    assert lowest([snapshot_of(rb.Simulation(scene))]) == pytest.approx(-400.1)
    scene.add_static(rb.Box(1000, 1000, 2), position=(0, 0, -500))
    scene.add_static(rb.Plane())
    assert lowest([snapshot_of(rb.Simulation(scene))]) == pytest.approx(-501.0)


@pytest.mark.parametrize("angle", [0.3, 1.5])
def test_the_floor_of_a_pendulum_lies_below_all_its_swing_in_every_still_picture(angle):
    sim = rb.Simulation(pendulum(length=2.0, angle=angle), time_step=0.01)
    for _ in range(3):
        points = extent([snapshot_of(sim)])
        floor = floor_below(points, min(depth_of(sim), lowest([snapshot_of(sim)])))
        assert -2.2 - 0.12 * 5.0 < floor.point[2] < -2.2
        sim.run(0.3)
