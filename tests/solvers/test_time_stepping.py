"""Contacts solved once a step: landing, swinging loads, joints that press, and much that falls with few sweeps."""

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts
G = 9.81


def falling(velocity, shape=None, **material):
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=rb.Material(**material))
    body = shape or rb.Box(1, 1, 1)
    scene.add_body(body, mass=2.0, position=(0, 0, 0.52), velocity=velocity, name="body", material=rb.Material())
    return scene


@pytest.mark.parametrize("shape", [rb.Box(1, 1, 1), rb.Sphere(0.5)])
@pytest.mark.parametrize("speed", [0.5, 5.0, 50.0])
def test_what_lands_stays_down_and_its_blow_does_not_go_on(speed, shape):
    sim = rb.Simulation(falling((0, 0, -speed), shape, friction=0.0), time_step=0.002, contacts="time_stepping")
    heights, speeds = [], []
    for _ in range(200):
        sim.step()
        heights.append(sim["body"].position[2])
        speeds.append(sim["body"].velocity[2])
    landed = next(k for k, z in enumerate(heights) if z < 0.5 + 1e-4)
    assert min(heights) > 0.5 - 1e-4
    assert max(heights[landed:]) < 0.5 + 1e-4
    # A quarter of the speed from which bodies rebound, √(2 g d): so much of an impact may be taken for a load.
    assert max(speeds) < 0.25 * np.sqrt(2 * G * 1e-3)
    assert abs(speeds[-1]) < 1e-9


def test_a_body_that_bounces_reaches_the_part_of_its_height_that_restitution_leaves():
    sim = rb.Simulation(falling((0, 0, 0), restitution=0.8), time_step=0.001, contacts="time_stepping")
    sim["body"].material = rb.Material(restitution=1.0)
    sim["body"].position = (0, 0, 1.5)
    sim.step(500)
    top = 0.0
    for _ in range(600):
        sim.step()
        top = max(top, sim["body"].position[2])
    assert top - 0.5 == pytest.approx(0.64, abs=0.01)


def test_what_slides_is_braked_from_the_step_on_in_which_it_gets_its_friction():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.0))
    place = {"position": (0, 0, 0.5), "velocity": (8.0, 0, 0)}
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, name="body", material=rb.Material(friction=0.0), **place)
    sim = rb.Simulation(scene, time_step=0.002, contacts="time_stepping", contact_velocity_tolerance=1e-6)
    sim.step(50)
    begin = sim["body"].position[0]
    sim["body"].material = rb.Material(friction=0.5)
    sim.run(2.0)
    assert sim["body"].position[0] - begin == pytest.approx(8.0**2 / (2 * 0.5 * G), abs=2e-5)
    np.testing.assert_allclose(sim["body"].velocity, 0.0, rtol=0, atol=1e-6)


def test_each_device_brakes_a_cube_and_lets_a_tower_stand(device):
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.0))
    rough = rb.Material(friction=0.4)
    for k in range(5):
        scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0, 0, 0.5 + k), name=f"cube_{k}", material=rough)
    place = {"position": (5, 0, 0.5), "velocity": (2.0, 0, 0)}
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, name="slider", material=rough, **place)
    sim = rb.Simulation(scene, time_step=0.002, contacts="time_stepping", device=device, contact_every=2)
    sim.run(1.0)
    for k in range(5):
        np.testing.assert_allclose(sim[f"cube_{k}"].position, (0, 0, 0.5 + k), rtol=0, atol=1e-4)
        np.testing.assert_allclose(sim[f"cube_{k}"].velocity, 0.0, rtol=0, atol=2e-3)
    assert sim["slider"].position[0] - 5 == pytest.approx(2.0**2 / (2 * 0.4 * G), abs=1e-3)


def test_a_ball_in_a_wedge_comes_to_rest_and_presses_both_sides_alike():
    scene, smooth = rb.Scene(), rb.Material(friction=0.0)
    for side in (1.0, -1.0):
        turn = (0.0, side * np.sin(np.pi / 8), 0.0, np.cos(np.pi / 8))
        scene.add_static(rb.Plane(), orientation=turn, material=smooth)
    scene.add_body(rb.Sphere(0.5), mass=1.0, position=(0, 0, 0.5 * np.sqrt(2.0)), name="ball", material=smooth)
    sim = rb.Simulation(scene, time_step=0.01, contacts="time_stepping")
    sim.step(20)
    np.testing.assert_allclose(sim["ball"].velocity, 0.0, atol=1e-5)
    np.testing.assert_allclose(sim["ball"].position, (0, 0, 0.5 * np.sqrt(2.0)), atol=1e-6)
    loads = sim.state.contacts.load.numpy()[:2]
    np.testing.assert_allclose(np.linalg.norm(loads, axis=1), G / np.sqrt(2.0), rtol=1e-4)


def test_what_a_joint_presses_to_a_wall_keeps_no_speed():
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Box(1, 4, 4), position=(1.5, 0, 0), name="wall")
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0.2, 0, 0), name="box")
    scene.add_joint(rb.Prismatic("world", "box", at=(0, 0, 0), axis=(1, 0, 0)))
    scene.add_force(rb.Wrench("box", force=(50.0, 0, 0)))
    sim = rb.Simulation(scene, time_step=0.005, contacts="time_stepping")
    sim.run(1.0)
    np.testing.assert_allclose(sim["box"].velocity, 0.0, atol=1e-6)
    assert sim["box"].position[0] == pytest.approx(0.5, abs=1e-4)
    assert abs(sim.state.contacts.load.numpy()[:, 0].sum()) == pytest.approx(50.0, rel=1e-3)


@pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")
def test_cubes_poured_into_a_box_hardly_overlap_and_gain_no_energy_with_three_sweeps():
    rng, scene = np.random.default_rng(7), rb.Scene()
    bouncy = rb.Material(friction=0.1, restitution=0.8)
    scene.add_static(rb.Plane(), material=bouncy)
    for k in range(4):
        place = 2.5 * np.array([np.cos(k * np.pi / 2), np.sin(k * np.pi / 2), 1.0])
        size = (1, 6, 8) if k % 2 == 0 else (6, 1, 8)
        scene.add_static(rb.Box(*size), position=place, material=bouncy)
    for k in range(48):
        place = np.array([1.3 * (k % 3 - 1), 1.3 * (k // 3 % 3 - 1), 1.0 + 1.5 * (k // 9)]) + rng.uniform(-0.1, 0.1, 3)
        scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=place, material=bouncy, velocity=(0, 0, -4.0))
    sim = rb.Simulation(
        scene, time_step=0.001, contacts=rb.contacts.TimeStepping(solver=rb.contacts.BlockGaussSeidel(sweeps=3))
    )
    energy, deepest = sim.energy().total, 0.0
    for _ in range(100):
        sim.step(8)
        deepest, before, energy = max(deepest, sim.report.penetration), energy, sim.energy().total
        assert energy < before + 1e-6 * abs(before)
    assert deepest < 1e-3
    assert sim.state.position[5:, 2].min() > 0.499
