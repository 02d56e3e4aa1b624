"""Each force module against the law it states, alone, together, and on the bodies it names."""

import math

import numpy as np
import pytest
import warp as wp

import rattleback as rb
from rattleback.types import Bodies, Motion, real, vec3


def two_balls(**options: object) -> rb.Scene:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=2.0, position=(1, 0, 0), name="a", group="pair", **options)
    scene.add_body(rb.Sphere(0.1), mass=3.0, position=(-1, 0.5, 0), name="b", group="pair", **options)
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 5, 0), name="c", **options)
    return scene


def after(scene: rb.Scene, device: str, steps: int = 1, h: float = 1e-3) -> rb.Simulation:
    sim = rb.Simulation(scene, time_step=h, device=device)
    sim.step(steps)
    return sim


def test_gravity_of_the_scene_accelerates_everything_that_moves(device: str) -> None:
    scene = rb.Scene(gravity=(1, 2, 3))
    scene.add_body(rb.Sphere(0.1), name="light")
    scene.add_body(rb.Sphere(1.0), name="heavy")
    scene.add_static(rb.Box(1, 1, 1), name="rock")
    sim = after(scene, device, 100, 0.01)
    np.testing.assert_allclose(sim["light"].velocity, [1, 2, 3], rtol=1e-13)
    np.testing.assert_allclose(sim["heavy"].velocity, [1, 2, 3], rtol=1e-13)
    np.testing.assert_array_equal(sim["rock"].velocity, 0)


def test_gravity_reaches_only_the_bodies_it_names(device: str) -> None:
    scene = two_balls()
    scene.add_force(rb.Gravity((0, 0, -1.62), bodies=["a", "c"]))
    sim = after(scene, device, 1000)
    np.testing.assert_allclose(sim.state.velocity[:, 2], [-1.62, 0, -1.62], rtol=1e-12)


def test_forces_add_up_and_a_group_names_its_bodies(device: str) -> None:
    scene = two_balls()
    scene.add_force(rb.Gravity((0, 0, -1)))
    scene.add_force(rb.Gravity((2, 0, 0), bodies="pair"))
    scene.add_force(rb.Wrench("b", force=(0, 3, 0)))
    sim = after(scene, device, 1000)
    np.testing.assert_allclose(sim.state.velocity, [[2, 0, -1], [2, 1, -1], [0, 0, -1]], atol=1e-12)


def test_attraction_is_newtons_law_between_every_two(device: str) -> None:
    scene = two_balls()
    scene.add_force(rb.Attraction(constant=0.7, softening=0.3))
    h = 1e-6
    sim = after(scene, device, 1, h)
    x, m = np.array([[1, 0, 0], [-1, 0.5, 0], [0, 5, 0]], dtype=float), np.array([2.0, 3.0, 1.0])
    for i in range(3):
        pull = sum(0.7 * m[j] * (x[j] - x[i]) / (np.sum((x[j] - x[i]) ** 2) + 0.09) ** 1.5 for j in range(3) if j != i)
        np.testing.assert_allclose(sim.state.velocity[i] / h, pull, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sim.momentum().linear, 0, atol=1e-18)


def test_the_attraction_potential_is_what_the_kinetic_energy_gains(device: str) -> None:
    scene = two_balls()
    scene.add_force(rb.Attraction(constant=5.0))
    sim = rb.Simulation(scene, time_step=1e-3, integrator=rb.integrators.RK45(error=1e-12), device=device)
    before = sim.energy()
    sim.run(0.3)
    after_ = sim.energy()
    assert after_.kinetic > 0.1
    assert after_.total == pytest.approx(before.total, abs=1e-10)


def test_a_wrench_at_a_point_turns_the_body(device: str) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=2.0, inertia=(3, 2, 4), position=(1, 1, 1), name="body")
    scene.add_force(rb.Wrench("body", force=(0, 3, 0), torque=(0.5, 0, 0), at=(1.5, 1, 1)))
    sim = after(scene, device, 1, 1e-5)
    np.testing.assert_allclose(sim["body"].velocity / 1e-5, [0, 1.5, 0], rtol=1e-12)
    np.testing.assert_allclose(sim["body"].angular_velocity / 1e-5, [0.5 / 3, 0, 1.5 / 4], atol=1e-10)


def test_a_local_wrench_turns_with_the_body_and_its_point_is_in_the_bodys_frame(device: str) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    turned = rb.rotation.quaternion_from_axis_angle((0, 0, 1), math.pi / 2)
    scene.add_body(
        mass=2.0, inertia=(3, 2, 4), center_of_mass=(0.2, 0, 0), orientation=turned, position=(0, 0, 0), name="body"
    )
    scene.add_force(rb.Wrench("body", force=(0, 4, 0), at=(0.7, 0, 0), frame="local"))
    sim = after(scene, device, 1, 1e-6)
    np.testing.assert_allclose(sim["body"].velocity / 1e-6, [-2, 0, 0], atol=1e-5)
    np.testing.assert_allclose(sim["body"].angular_velocity / 1e-6, [0, 0, 0.5 * 4 / 4], atol=1e-5)


def test_a_wrench_acts_only_inside_its_span_of_time(device: str) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, name="body")
    scene.add_force(rb.Wrench("body", force=(1, 0, 0), start=0.2, until=0.5))
    sim = after(scene, device, 100, 0.01)
    assert sim["body"].velocity[0] == pytest.approx(0.3, abs=1e-12)


def test_linear_drag_slows_down_exponentially_toward_the_wind(device: str) -> None:
    scene = two_balls(velocity=(3, 0, 0), angular_velocity=(0, 0, 9))
    scene.add_force(rb.Drag(linear=0.8, angular=0.004, wind=(1, 0, 0), bodies="a"))
    sim = rb.Simulation(scene, time_step=1e-3, integrator="rk4", device=device)
    sim.run(1.0)
    assert sim["a"].velocity[0] == pytest.approx(1 + 2 * math.exp(-0.8 / 2.0), abs=1e-12)
    spin_inertia = 0.4 * 2.0 * 0.1**2
    assert sim["a"].angular_velocity[2] == pytest.approx(9 * math.exp(-0.004 / spin_inertia), abs=1e-11)
    assert sim["b"].velocity[0] == 3.0


def test_implicit_euler_holds_drag_so_stiff_that_explicit_methods_explode(device: str) -> None:
    def fall(integrator: str) -> rb.Simulation:
        scene = rb.Scene()
        scene.add_body(rb.Sphere(0.1), mass=1.0, velocity=(5, 0, 0), name="ball")
        scene.add_force(rb.Drag(linear=1e4))
        return rb.Simulation(scene, time_step=0.01, integrator=integrator, device=device)

    sim = fall("implicit_euler")
    sim.run(1.0)
    np.testing.assert_allclose(sim["ball"].velocity, [0, 0, -9.81e-4], atol=1e-9)
    assert sim.report.converged
    sim = fall("rk4")
    with pytest.raises(rb.DivergenceError):
        sim.run(10.0)


def spring_in_python(_time: float, bodies: rb.forces.ForcePicture) -> np.ndarray:
    return -40.0 * bodies.position - 0.3 * bodies.velocity


@wp.func
def spring_in_warp(t: wp.float64, i: int, bodies: Bodies, motion: Motion) -> tuple[vec3, vec3]:
    return -real(40.0) * motion.position[i] - real(0.3) * motion.velocity[i], vec3()


@pytest.mark.parametrize("integrator", rb.integrators.MENU)
def test_a_python_force_and_the_same_warp_force_move_bodies_alike(integrator: str, device: str) -> None:
    found = []
    for force in (rb.PythonForce(spring_in_python, bodies="pair"), rb.WarpForce(spring_in_warp, bodies="pair")):
        scene = two_balls()
        scene.add_force(force)
        sim = rb.Simulation(scene, time_step=1e-3, integrator=integrator, device=device)
        sim.step(200)
        found.append(sim.state.position.copy())
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found[0][2], [0, 5, 0])


def test_a_warp_force_is_the_damped_oscillator_of_the_textbook(device: str) -> None:
    scene = two_balls()
    scene.add_force(rb.WarpForce(spring_in_warp, bodies="a"))
    sim = rb.Simulation(scene, time_step=1e-3, integrator="rk4", device=device)
    sim.run(1.0)
    decay, stiffness = 0.3 / (2 * 2.0), 40.0 / 2.0
    rate = math.sqrt(stiffness - decay**2)
    expected = math.exp(-decay) * (math.cos(rate) + decay / rate * math.sin(rate))
    assert sim["a"].position[0] == pytest.approx(expected, abs=1e-10)


def test_a_python_force_sees_every_world_and_may_return_torques(device: str) -> None:
    shapes = []

    def push(_time: float, bodies: rb.forces.ForcePicture) -> tuple[np.ndarray, np.ndarray]:
        shapes.append(bodies.position.shape)
        return np.zeros_like(bodies.position), np.broadcast_to([0, 0, 0.008], bodies.position.shape)

    scene = two_balls()
    scene.add_force(rb.PythonForce(push, bodies=["a"]))
    sim = rb.Simulation(scene, worlds=3, time_step=0.1, device=device)
    sim.step(10)
    assert set(shapes) == {(3, 1, 3)}
    spin_inertia = 0.4 * 2.0 * 0.01
    np.testing.assert_allclose(sim["a"].angular_velocity[:, 2], 0.008 / spin_inertia, rtol=1e-12)


def test_a_python_force_is_called_at_the_time_of_its_stage(device: str) -> None:
    times = []

    def clock(time: float, bodies: rb.forces.ForcePicture) -> np.ndarray:
        times.append(time)
        return np.zeros_like(bodies.position)

    scene = two_balls()
    scene.add_force(rb.PythonForce(clock))
    rb.Simulation(scene, time_step=0.5, integrator="rk4", device=device).step(2)
    np.testing.assert_allclose(times, [0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1.0])


def test_potentials_of_user_forces_count_in_the_energy(device: str) -> None:
    scene = two_balls()
    scene.add_force(
        rb.PythonForce(lambda t, b: -40.0 * b.position, bodies="a", potential=lambda x: 20.0 * float((x**2).sum()))
    )
    sim = rb.Simulation(scene, time_step=1e-3, device=device)
    assert sim.energy().potential == pytest.approx(20.0)
    sim.run(1.0)
    assert sim.energy().total == pytest.approx(20.0, abs=1e-3)


def test_applied_forces_act_until_they_are_changed(device: str) -> None:
    sim = rb.Simulation(two_balls(), time_step=0.01, device=device)
    sim["a"].applied_force = (4, 0, 0)
    sim["b"].applied_torque = (0, 0, 0.012)
    sim.step(100)
    assert sim["a"].velocity[0] == pytest.approx(2.0, abs=1e-13)
    assert sim["b"].angular_velocity[2] == pytest.approx(0.012 / (0.4 * 3 * 0.01), abs=1e-12)
    sim["a"].applied_force = 0.0
    sim.step(100)
    assert sim["a"].velocity[0] == pytest.approx(2.0, abs=1e-13)
