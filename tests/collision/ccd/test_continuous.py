"""Continuous bodies stop at their first contact within a step; nothing else is touched, and nothing is passed."""

import math

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision import broadphase
from rattleback.collision.ccd.continuous import Continuous
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.core import arrays
from rattleback.core import device as devices
from rattleback.core.stages import Program
from rattleback.model.compile import compile_scene

H = 0.01
DISTANCE = 1e-4


class Step:
    """One step of free flight of a scene's bodies, with the continuous ones stopped."""

    def __init__(self, scene, worlds=None, **more):
        self.model, state = compile_scene(scene, worlds, devices.find("cpu"))
        self.start, self.predicted = state.motion, arrays.clone(state.motion)
        self.geometry = compile_colliders(self.model)
        self.fly()
        inputs = (self.model, self.geometry, self.start, self.predicted, more.pop("distance", DISTANCE))
        self.continuous = Continuous(*inputs, **more)
        self.stop = wp.zeros(1, dtype=wp.int32, device="cpu")

    def fly(self, turn=None):
        now = arrays.read(self.start)
        rotation = Rotation.from_rotvec(H * now["angular_velocity"]) * Rotation.from_quat(now["orientation"])
        self.predicted.position.assign(now["position"] + H * now["velocity"])
        self.predicted.orientation.assign(rotation.as_quat())

    def run(self):
        """Do it; returns whether there was room for everything."""
        program = Program(self.geometry.device, self.stop)
        self.stop.zero_()
        with program.stage("continuous"):
            self.continuous.record(program, self.stop)
        program.compile()
        program.run(1)
        return self.stop.numpy()[0] == 0

    def done(self):
        """Run with buffers growing; returns positions and fractions."""
        while not self.run():
            self.continuous.grow()
            self.fly()
        return self.predicted.position.numpy().copy(), self.continuous.hits.fraction.numpy().copy()


def fast_ball(scene, at, velocity, radius=0.01, **more):
    return scene.add_body(rb.Sphere(radius), position=at, velocity=velocity, continuous=True, **more)


def test_ball_of_a_centimetre_at_1000_m_per_s_stops_at_a_plate_of_a_millimetre():
    scene = rb.Scene()
    fast_ball(scene, (0.1, 0, 2.0), (0, 0, -1000))
    scene.add_static(rb.Box(1, 1, 0.001), name="plate")
    step = Step(scene)
    position, fraction = step.done()
    assert fraction[0] == pytest.approx((2.0 - 0.0105) / 10, abs=1e-10)
    np.testing.assert_allclose(position[0], (0.1, 0, 0.0105), atol=1e-10)
    assert step.continuous.hits.other.numpy().tolist() == [1, -1]
    np.testing.assert_array_equal(step.predicted.velocity.numpy()[0], (0, 0, -1000))


def test_body_that_is_not_continuous_is_left_as_predicted():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.01), position=(0, 0, 2.0), velocity=(0, 0, -1000))
    fast_ball(scene, (5, 0, 2.0), (0, 0, -1000))
    scene.add_static(rb.Plane())
    position, fraction = Step(scene).done()
    assert fraction[0] == 1.0
    assert position[0, 2] == -8.0
    assert position[1, 2] == pytest.approx(0.01, abs=1e-10)


def test_without_continuous_bodies_nothing_is_recorded():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.01), position=(0, 0, 2.0), velocity=(0, 0, -1000))
    scene.add_static(rb.Plane())
    step = Step(scene)
    assert step.run()
    assert not step.continuous.active
    assert step.continuous.buffers() == {}
    step.continuous.grow()
    assert step.continuous.hits.fraction.numpy().tolist() == [1.0, 1.0]


def test_body_that_meets_nothing_keeps_every_bit_of_its_prediction():
    scene = rb.Scene()
    scene.add_body(
        rb.Box(0.1, 0.2, 0.3), position=(0, 0, 5), velocity=(3, 1, 2), angular_velocity=(9, 8, 7), continuous=True
    )
    scene.add_static(rb.Plane())
    step = Step(scene)
    before = arrays.read(step.predicted)
    step.done()
    for name, array in arrays.read(step.predicted).items():
        np.testing.assert_array_equal(array, before[name])


def test_orientation_stops_at_the_same_fraction_as_the_position():
    scene = rb.Scene()
    scene.add_body(
        rb.Box(0.2, 0.2, 0.2), position=(0, 0, 1), velocity=(0, 0, -200), angular_velocity=(0, 0, 150), continuous=True
    )
    scene.add_static(rb.Plane())
    step = Step(scene)
    position, fraction = step.done()
    assert fraction[0] == pytest.approx(0.45, abs=1e-9)
    turn = Rotation.from_quat(step.predicted.orientation.numpy()[0]).as_rotvec()
    np.testing.assert_allclose(turn, (0, 0, 1.5 * fraction[0]), atol=1e-14)
    assert position[0, 2] == pytest.approx(0.1, abs=1e-9)


def test_spinning_rod_stops_with_its_end_at_the_wall_though_its_centre_stands_still():
    scene = rb.Scene()
    scene.add_body(rb.Box(0.02, 0.02, 2.0), mass=1.0, angular_velocity=(0, 300, 0), continuous=True)
    scene.add_static(rb.Box(0.001, 4, 4), position=(0.6005, 0, 0))
    step = Step(scene)
    _, fraction = step.done()
    # Corner at (0.01, 1) from the centre: 0.01 cos α + sin α = 0.6.
    angle = math.asin(0.6 / math.hypot(1, 0.01)) - math.atan2(0.01, 1)
    assert fraction[0] * 3.0 == pytest.approx(angle, abs=1e-8)


def test_what_turns_about_a_centre_of_mass_outside_its_collider_is_followed():
    scene = rb.Scene()
    head = rb.Placed(rb.Sphere(0.1), position=(1.0, 0, 0))
    scene.add_body(
        None,
        mass=1.0,
        inertia=(1, 1, 1),
        position=(0, 0, 0.6),
        angular_velocity=(0, 200, 0),
        collision=head,
        continuous=True,
    )
    scene.add_static(rb.Box(9, 9, 0.002), position=(0, 0, -0.001))
    _, fraction = Step(scene).done()
    assert fraction[0] * 2.0 == pytest.approx(math.asin(0.5), abs=1e-8)


def test_two_continuous_balls_that_hit_each_other_stop_at_the_same_fraction():
    scene = rb.Scene()
    fast_ball(scene, (-2, 0, 0), (300, 0, 0), radius=0.1)
    fast_ball(scene, (2, 0.1, 0), (-500, 0, 0), radius=0.1)
    position, fraction = Step(scene).done()
    assert fraction[0] == fraction[1]
    assert fraction[0] == pytest.approx((4 - math.sqrt(0.03)) / 8, abs=1e-9)
    assert np.linalg.norm(position[0] - position[1]) == pytest.approx(0.2, abs=1e-9)


def test_ball_that_follows_one_that_is_stopped_stops_behind_it():
    # The first is stopped by a wall at once; the second would never have caught it on its predicted way.
    scene = rb.Scene()
    fast_ball(scene, (0.5, 0, 0), (1000, 0, 0), radius=0.1)
    fast_ball(scene, (0, 0, 0), (500, 0, 0), radius=0.1)
    fast_ball(scene, (-0.5, 0, 0), (400, 0, 0), radius=0.1)
    scene.add_static(rb.Box(0.01, 1, 1), position=(1.005, 0, 0))
    position, _ = Step(scene).done()
    np.testing.assert_allclose(position[:3, 0], (0.9, 0.7, 0.5), atol=1e-8)


def test_ball_that_rolls_on_a_plane_is_not_stopped():
    scene = rb.Scene()
    scene.add_body(
        rb.Sphere(0.1), position=(0, 0, 0.1), velocity=(30, 0, 0), angular_velocity=(0, 300, 0), continuous=True
    )
    scene.add_static(rb.Plane())
    _, fraction = Step(scene).done()
    assert fraction[0] == 1.0


@pytest.mark.parametrize("height", [0.1 - 5e-5, 0.1, 0.1 + 5e-5])
def test_box_near_a_plate_slides_freely_but_sinks_by_no_more_than_the_contact_distance(height):
    for sink, free in ((0.0, True), (1.0, False)):
        scene = rb.Scene()
        scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(0, 0, height), velocity=(20, 0, -sink), continuous=True)
        scene.add_static(rb.Box(9, 9, 0.001), position=(0, 0, -0.0005))
        position, fraction = Step(scene).done()
        if free:
            assert fraction[0] == 1.0
        else:
            assert position[0, 2] == pytest.approx(height - DISTANCE, abs=1e-8)


def test_fast_body_that_pushes_into_the_plate_it_lies_on_does_not_pass_it():
    scene = rb.Scene()
    fast_ball(scene, (0, 0, 0.0105), (0, 0, -1000))
    scene.add_static(rb.Box(1, 1, 0.001))
    position, _ = Step(scene, distance=0.05).done()
    assert position[0, 2] > 0.0


def test_plate_that_moves_into_a_ball_at_rest_holds_the_ball_where_it_is():
    scene = rb.Scene()
    fast_ball(scene, (0, 0, 0), (0, 0, 1), radius=0.1)
    scene.add_static(rb.Box(1, 1, 0.01), position=(0, 0, 1), velocity=(0, 0, -300))
    _, fraction = Step(scene).done()
    assert fraction[0] == pytest.approx((0.995 - 0.1) / 3.01, abs=1e-9)


def corrugated():
    x, y = np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9), indexing="ij")
    height = 0.1 * np.cos(math.pi * x)
    vertices = np.stack([x, y, height], axis=-1).reshape(-1, 3)
    number = np.arange(81).reshape(9, 9)
    lower = np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:]], axis=-1).reshape(-1, 3)
    upper = np.stack([number[:-1, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1).reshape(-1, 3)
    return rb.Mesh(vertices, np.concatenate([lower, upper]))


@pytest.mark.parametrize("lift", [0.0, 400.0])
def test_triangles_of_a_mesh_stop_a_ball_even_where_the_mesh_moves(lift):
    scene = rb.Scene()
    fast_ball(scene, (0.5, 0.1, 3.0), (0, 0, lift - 1000), radius=0.05)
    scene.add_static(corrugated(), velocity=(0, 0, lift))
    step = Step(scene)
    _, fraction = step.done()
    # Two flat strips of slope ∓ (h(0.25) − h(0.5)) / 0.25 meet in the edge at x = 0.5, a ball touches both or neither.
    heights = 0.1 * np.cos(math.pi * np.array([0.25, 0.5, 0.75]))
    slope = (heights[1] - heights[0]) / 0.25
    touch = heights[1] + 0.05 * math.sqrt(1 + slope**2)
    assert fraction[0] * 10 == pytest.approx(3.0 - touch, abs=1e-8)


def test_meshes_that_move_far_meet_what_was_not_near_them_at_the_start():
    scene = rb.Scene()
    fast_ball(scene, (0, 0, 5.0), (0, 0, 0.1), radius=0.05)
    scene.add_static(corrugated(), velocity=(0, 0, 1000), angular_velocity=(0, 0, 100))
    _, fraction = Step(scene).done()
    assert 9.999 * fraction[0] == pytest.approx(5.0 - 0.05 - 0.1, abs=1e-8)


def crowd(scene, seed, count=20):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        where = {"position": rng.uniform(-1, 1, 3), "velocity": 300 * rng.normal(size=3)}
        where |= {"angular_velocity": 100 * rng.normal(size=3), "continuous": bool(rng.random() < 0.7)}
        scene.add_body(rb.Sphere(0.15) if rng.random() < 0.5 else rb.Box(0.2, 0.3, 0.4), **where)
    scene.add_static(rb.Box(4, 4, 0.01), position=(0, 0, -2))
    return scene


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_no_two_continuous_balls_pass_each_other_however_they_fly(seed):
    rng = np.random.default_rng(seed)
    scene, count = rb.Scene(), 10
    for _ in range(count):
        fast_ball(scene, rng.uniform(-1, 1, 3), 200 * rng.normal(size=3), radius=0.15)
    step = Step(scene)
    start = step.start.position.numpy()
    end = step.predicted.position.numpy().copy()
    _, fraction = step.done()
    assert len(step.continuous.hits.other.numpy()) == count
    samples = np.minimum(np.linspace(0, 1, 400)[:, None], fraction[None, :])
    way = start + samples[:, :, None] * (end - start)
    apart = np.linalg.norm(way[:, :, None] - way[:, None, :], axis=-1) - 0.3
    first = apart[0]
    i, j = np.triu_indices(count, 1)
    allowed = np.where(first > DISTANCE, 0.0, first - DISTANCE)
    assert (apart[:, i, j] >= allowed[i, j] - 1e-9).all()


@pytest.mark.parametrize("method", [None, *broadphase.MENU])
def test_result_is_the_same_bits_with_every_broad_phase_and_every_time(method):
    hashes = set()
    for _ in range(2):
        chosen = None if method is None else broadphase.MENU[method]()
        step = Step(crowd(rb.Scene(), 3), method=chosen)
        position, fraction = step.done()
        hashes.add((position.tobytes(), fraction.tobytes(), step.continuous.hits.other.numpy().tobytes()))
    default = Step(crowd(rb.Scene(), 3))
    position, fraction = default.done()
    hashes.add((position.tobytes(), fraction.tobytes(), default.continuous.hits.other.numpy().tobytes()))
    assert len(hashes) == 1
    assert (fraction < 1.0).sum() >= 4


def test_buffers_that_are_too_small_stop_the_step_and_grow():
    whole = Step(crowd(rb.Scene(), 3))
    expected = whole.done()
    tight = Step(crowd(rb.Scene(), 3))
    tight.continuous.room.update(pairs=2, items=2)
    tight.continuous._allocate()
    assert not tight.run()
    assert tight.stop.numpy()[0] == -1
    tight.fly()
    for got, wanted in zip(tight.done(), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
    needed, room = tight.continuous.buffers()["pairs"]
    assert 2 < needed.numpy()[0] <= room


def test_worlds_do_not_stop_each_other():
    one = Step(crowd(rb.Scene(), 5))
    position, fraction = one.done()
    many = Step(crowd(rb.Scene(), 5), worlds=3)
    every_position, every_fraction = many.done()
    np.testing.assert_array_equal(every_position, np.tile(position, (3, 1)))
    np.testing.assert_array_equal(every_fraction, np.tile(fraction, 3))
