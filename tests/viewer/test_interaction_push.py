"""Pushes: an impulse at the grabbed point, scaled to the body, on the same body of every simulation."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.viewer.frame import take_picture
from rattleback.viewer.interaction.grab import grab, mechanism, size_of, total_mass
from rattleback.viewer.interaction.push import impulse_of, into_depth, strike, words_of
from rattleback.viewer.session import Session

TURN = Rotation.from_rotvec([0.3, -0.9, 0.4])


def slab(**settings):
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_body(
        rb.Box(0.4, 0.8, 1.2), mass=3.0, position=(1.0, 2.0, 3.0), orientation=TURN.as_quat(), name="slab",
        velocity=(0.1, 0.0, 0.0), angular_velocity=(0.0, 0.2, 0.0),
    )  # fmt: skip
    return rb.Simulation(scene, **settings)


def held(sim, point, offset=(0.0, 0.0, 0.0)):
    return grab(take_picture(sim, "", (), {}), "slab", point, 0, offset)


def test_a_grabbed_point_stays_where_it_is_in_the_body():
    sim = slab()
    corner = np.add(TURN.apply([0.2, 0.4, -0.6]), [1.0, 2.0, 3.0])
    holding = held(sim, np.add(corner, [5.0, 0.0, 0.0]), offset=(5.0, 0.0, 0.0))
    np.testing.assert_allclose(holding.local, [0.2, 0.4, -0.6], atol=1e-14)
    sim["slab"].position = (0.0, 0.0, 0.0)
    sim["slab"].orientation = (0.0, 0.0, 0.0, 1.0)
    there = holding.on_page(SimpleNamespace(pictures=[take_picture(sim, "", (), {})]))
    np.testing.assert_allclose(there, [5.2, 0.4, -0.6], atol=1e-14)


def test_a_drag_as_long_as_the_body_gives_it_the_speed_of_the_slider():
    sim = slab()
    holding = held(sim, (1.0, 2.0, 3.0))
    start, end = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0 - 1.2, 3.0])
    np.testing.assert_allclose(impulse_of(holding, start, end, speed=1.5), [0.0, -4.5, 0.0], atol=1e-14)


@pytest.mark.parametrize(("drag", "depth"), [((0.3, 0.0, 0.4), 0.4), ((0.0, 0.0, -0.7), -0.7), ((0.5, 0.0, 0.0), 0.0)])
def test_a_drag_into_depth_goes_away_from_the_eye_as_far_as_it_goes_up(drag, depth):
    eye, start, up = np.array([0.0, -4.0, 0.0]), np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(into_depth(start, start + drag, eye, up), [0.0, 1.0 + depth, 0.0], atol=1e-14)


def test_a_push_changes_velocity_by_p_over_m_and_spin_by_the_inverse_inertia_times_r_cross_p():
    sim = slab()
    arm = TURN.apply([0.2, -0.1, 0.6])
    impulse = np.array([1.0, -2.0, 0.5])
    strike(sim, held(sim, sim["slab"].position + arm), impulse)
    axes = TURN.as_matrix()
    inertia = axes @ np.diag([0.8**2 + 1.2**2, 0.4**2 + 1.2**2, 0.4**2 + 0.8**2]) @ axes.T * 3.0 / 12.0
    np.testing.assert_allclose(sim["slab"].velocity, [0.1, 0.0, 0.0] + impulse / 3.0, atol=1e-13)
    spin = np.add(np.linalg.solve(inertia, np.cross(arm, impulse)), [0.0, 0.2, 0.0])
    np.testing.assert_allclose(sim["slab"].angular_velocity, spin, atol=1e-12)


def test_a_push_strikes_the_point_of_the_body_wherever_it_has_moved_since():
    sim = slab()
    holding = held(sim, sim["slab"].position + TURN.apply([0.0, 0.4, 0.0]))
    sim["slab"].velocity, sim["slab"].angular_velocity = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    sim["slab"].orientation, sim["slab"].position = (0.0, 0.0, 0.0, 1.0), (-7.0, 0.0, 0.0)
    strike(sim, holding, np.array([0.0, 0.0, 3.0]))
    # Torque (0, 0.4, 0) × (0, 0, 3) about x, inertia 3/12 (0.8² + 1.2²).
    np.testing.assert_allclose(sim["slab"].angular_velocity, [1.2 / 0.52, 0.0, 0.0], atol=1e-12)


def test_a_push_acts_in_every_simulation_of_a_session():
    sims = [slab(), slab(integrator="rk4")]
    session = Session(sims)
    session.start()
    holding = held(sims[0], (1.0, 2.0, 3.0))
    session.do(lambda sim: strike(sim, holding, np.array([0.0, 0.0, 6.0]))).result(10.0)
    for picture in session.frame.pictures:
        np.testing.assert_allclose(picture.velocity[0], [0.1, 0.0, 2.0], atol=1e-13)
    session.stop()


def test_a_push_acts_in_every_world_of_a_simulation():
    sim = slab(worlds=2)
    holding = held(sim, (1.0, 2.0, 3.0))
    strike(sim, holding, np.array([0.0, 3.0, 0.0]))
    np.testing.assert_allclose(sim["slab"].velocity, [[0.1, 1.0, 0.0]] * 2, atol=1e-13)


@pytest.mark.parametrize(
    ("shape", "size"), [(rb.Box(0.1, 2.0, 0.3), 2.0), (rb.Sphere(0.5), 1.0), (rb.Cylinder(0.2, 3.0), 3.0)]
)
def test_the_size_of_a_body_is_its_longest_side(shape, size):
    assert size_of(rb.Scene().add_body(shape)) == pytest.approx(size)


def test_a_body_without_a_shape_has_the_size_of_a_ball_of_its_inertia():
    body = rb.Scene().add_body(mass=3.0, inertia=np.eye(3) * 0.4 * 3.0 * 0.35**2)
    assert size_of(body) == pytest.approx(0.7)


def test_a_mechanism_is_all_that_hangs_on_a_body_by_joints_but_not_by_the_world():
    scene = rb.Scene()
    for name, mass in (("a", 1.0), ("b", 2.0), ("c", 4.0), ("d", 8.0)):
        scene.add_body(rb.Sphere(0.1), mass=mass, name=name)
    scene.add_static(rb.Box(1.0, 1.0, 1.0), name="wall")
    for a, b in (("a", "b"), ("b", "c"), ("c", "wall"), ("wall", "d")):
        scene.add_joint(rb.Ball(a, b, at=(0.0, 0.0, 0.0)))
    scene.add_joint(rb.Ball(scene.world, "d", at=(0.0, 0.0, 0.0)))
    scene.add_joint(rb.Ball(scene.world, "a", at=(0.0, 0.0, 0.0)))
    assert {body.name for body in mechanism(scene, "b")} == {"a", "b", "c"}
    assert total_mass(scene, "c") == 7.0
    assert total_mass(scene, "d") == 8.0


def test_the_words_at_an_arrow_say_how_hard_and_how_fast():
    assert words_of(4.5, 3.0) == "4.5 N s  (1.5 m/s)"
