"""Articulated bodies: the recursions agree with each other, in any form they are given, and with closed forms."""

import numpy as np
import pytest
import warp as wp

import rattleback as rb
from rattleback.core.precision import real


def machine() -> rb.Scene:
    """A tree with many kinds of joints, some of them walked from B to A, and a body that floats with another."""
    scene = rb.Scene()
    base = scene.add_body(rb.Box(0.4, 0.3, 0.2), mass=3.0, position=(0.1, 0.0, 1.0), name="base")
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.2), mass=1.0, position=(0.8, 0.0, 1.1), name="arm")
    hand = scene.add_body(rb.Box(0.3, 0.2, 0.1), mass=0.5, position=(1.5, 0.1, 1.0), name="hand")
    rod = scene.add_body(rb.Box(0.1, 0.1, 0.8), mass=0.7, position=(0.1, 0.9, 0.3), name="rod")
    drum = scene.add_body(rb.Cylinder(0.2, 0.3), mass=2.0, position=(-0.5, 0.4, 0.6), name="drum")
    lone = scene.add_body(rb.Box(0.3, 0.4, 0.5), mass=4.0, position=(3.0, 0.0, 0.0), name="lone")
    tail = scene.add_body(rb.Box(0.6, 0.1, 0.1), mass=0.4, position=(3.5, 0.2, 0.3), name="tail")
    scene.add_joint(rb.Cylindrical(scene.world, base, at=(0, 0, 1), axis=(0, 1, 1), limits=(-0.5, 1.0)), "mast")
    scene.add_joint(rb.Universal(arm, base, at=(0.3, 0, 1), axis=(0, 1, 0), axis_b=(0, 0, 1)), "shoulder")
    scene.add_joint(rb.Ball(arm, hand, at=(1.3, 0, 1)), "wrist")
    scene.add_joint(rb.Distance(base, rod, at=(0.1, 0.2, 0.8), at_b=(0.1, 0.8, 0.6)), "rope")
    scene.add_joint(rb.Screw(drum, base, at=(-0.3, 0.1, 0.8), axis=(1, 1, 0), pitch=0.3), "screw")
    scene.add_joint(rb.Planar(lone, tail, at=(3.2, 0, 0.1), axis=(1, 0, 1)), "plane")
    return scene


@pytest.fixture(scope="module")
def robot() -> rb.dynamics.Articulation:
    return rb.dynamics.Articulation(machine())


@pytest.fixture
def drawn(robot: rb.dynamics.Articulation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    return rng.standard_normal(robot.nq), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)


def pendulum(**options) -> rb.dynamics.Articulation:
    """A thin rod of 2 kg and 1.2 m on a hinge, hanging down."""
    scene = rb.Scene()
    inertia = 2.0 * 1.2**2 / 12.0 * np.diag([1.0, 1.0, 1e-3])
    rod = scene.add_body(mass=2.0, inertia=inertia, position=(0, 0, -0.6), name="rod")
    scene.add_joint(rb.Revolute(scene.world, rod, at=(0, 0, 0), axis=(0, 1, 0), limits=(-1.0, None)), "hinge")
    return rb.dynamics.Articulation(scene, **options)


def test_articulated_bodies_agree_with_the_mass_matrix_and_newton_euler(robot, drawn) -> None:
    q, v, tau = drawn
    a = robot.forward(q, v, tau)
    bias = robot.bias(q, v)
    np.testing.assert_allclose(a, np.linalg.solve(robot.mass_matrix(q), tau - bias), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(robot.inverse(q, v, a), tau, rtol=1e-12, atol=1e-12)


def test_the_mass_matrix_has_the_columns_of_inverse_dynamics(robot, drawn) -> None:
    q, v, _ = drawn
    columns = [robot.inverse(q, v, unit) - robot.bias(q, v) for unit in np.eye(robot.nv)]
    np.testing.assert_allclose(robot.mass_matrix(q), np.transpose(columns), atol=1e-12)


def test_wrenches_act_through_the_jacobians_of_the_centres_of_mass(robot, drawn) -> None:
    q, v, a = drawn
    wrenches = np.random.default_rng(1).standard_normal((len(robot.bodies), 6))
    expected = robot.inverse(q, v, a)
    for name, wrench in zip(robot.bodies, wrenches, strict=True):
        expected -= robot.jacobian(q, name, robot.scene[name].center_of_mass).T @ wrench
    np.testing.assert_allclose(robot.inverse(q, v, a, wrenches), expected, atol=1e-12)


def test_momentum_and_energy_are_those_of_the_mass_matrix(robot, drawn) -> None:
    q, v, _ = drawn
    np.testing.assert_allclose(robot.momentum_matrix(q) @ v, robot.momentum(q, v), atol=1e-12)
    kinetic, potential = robot.energy(q, v)
    assert kinetic == pytest.approx(0.5 * v @ robot.mass_matrix(q) @ v, rel=1e-13)
    total = sum(robot.scene[name].mass for name in robot.bodies)
    assert potential == pytest.approx(9.81 * total * robot.center_of_mass(q)[2], rel=1e-13)


def test_gravity_torque_is_the_slope_of_the_potential_energy(robot, drawn) -> None:
    q, h = drawn[0], 1e-6
    ways = [robot.integrate(np.tile(q, (robot.nv, 1)), s * h * np.eye(robot.nv)) for s in (-1, 1)]
    low, high = (robot.energy(way, np.zeros(robot.nv))[:, 1] for way in ways)
    np.testing.assert_allclose(robot.gravity_torque(q), (high - low) / (2 * h), atol=1e-7)


def test_a_pendulum_has_the_forces_of_the_closed_form() -> None:
    robot = pendulum(armature={"hinge": 0.5}, damping=0.2)
    inertia, weight = 2.0 * 1.2**2 / 3.0 + 0.5, 2.0 * 9.81 * 0.6
    assert robot.mass_matrix([0.3]) == pytest.approx(inertia, rel=1e-14)
    assert robot.bias([0.3], [1.5]) == pytest.approx(weight * np.sin(0.3) + 0.2 * 1.5, rel=1e-14)
    assert robot.forward([0.3], [1.5], [4.0]) == pytest.approx((4.0 - 0.3 - weight * np.sin(0.3)) / inertia, rel=1e-14)
    by_q, by_v, by_tau = robot.forward_derivatives([0.3], [1.5], [4.0])
    assert (by_q, by_v, by_tau) == tuple(
        pytest.approx(value, rel=1e-13) for value in (-weight * np.cos(0.3) / inertia, -0.2 / inertia, 1.0 / inertia)
    )
    assert robot.energy([0.3], [1.5]) == pytest.approx([0.5 * inertia * 1.5**2, -weight * np.cos(0.3)], rel=1e-14)


def test_many_configurations_are_the_single_ones_bit_for_bit(robot) -> None:
    rng = np.random.default_rng(3)
    q, v, tau = robot.random(rng, (4, 5)), rng.standard_normal((4, 5, robot.nv)), rng.standard_normal(robot.nv)
    wrenches = rng.standard_normal((4, 5, len(robot.bodies), 6))
    many = (robot.forward(q, v, tau, wrenches), *robot.forward_derivatives(q, v, tau), robot.mass_matrix(q))
    for k in np.ndindex(4, 5):
        one = (
            robot.forward(q[k], v[k], tau, wrenches[k]),
            *robot.forward_derivatives(q[k], v[k], tau),
            robot.mass_matrix(q[k]),
        )
        for found, expected in zip(many, one, strict=True):
            np.testing.assert_array_equal(found[k], expected)


def test_warp_arrays_are_used_where_they_lie(robot) -> None:
    rng = np.random.default_rng(4)
    q, v, tau = robot.random(rng, 6), rng.standard_normal((6, robot.nv)), rng.standard_normal((6, robot.nv))
    given = [wp.array(value, dtype=real, device="cpu") for value in (q, v, tau)]
    found = robot.forward(*given)
    assert isinstance(found, wp.array)
    np.testing.assert_array_equal(found.numpy(), robot.forward(q, v, tau))
    np.testing.assert_array_equal(robot.bias(*given[:2]).numpy(), robot.bias(q, v))
    reached = robot.integrate(given[0], given[1], 0.1)
    np.testing.assert_array_equal(reached.numpy(), robot.integrate(q, v, 0.1))
    given[2].zero_()
    np.testing.assert_array_equal(robot.forward(*given).numpy(), robot.forward(q, v, np.zeros(robot.nv)))


def test_results_are_arrays_of_their_own(robot, drawn) -> None:
    q, v, a = drawn
    first = robot.inverse(q, v, a)
    kept = first.copy()
    robot.inverse(q, 2.0 * v, a)
    np.testing.assert_array_equal(first, kept)


def test_names_tell_what_the_coordinates_are(robot) -> None:
    assert robot.bodies[:2] == ("base", "arm")
    assert robot.coordinates[:2] == ("mast.slide_z", "mast.turn_z")
    assert {"lone.slide_x", "lone.turn_x", "screw", "shoulder.turn_a", "rope.orbit_y", "plane.turn_z"} <= set(
        robot.rates
    )
    place, rate = robot.places("wrist")
    assert robot.coordinates[place] == ("wrist.x", "wrist.y", "wrist.z", "wrist.w")
    assert robot.rates[rate] == ("wrist.turn_x", "wrist.turn_y", "wrist.turn_z")
    assert robot.neutral()[place].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert (robot.nq, robot.nv) == (len(robot.coordinates), len(robot.rates))


def test_random_configurations_keep_limits_and_have_unit_quaternions(robot) -> None:
    q = robot.random(np.random.default_rng(0), 500)
    slide = q[:, robot.coordinates.index("mast.slide_z")]
    assert slide.min() < -0.4
    assert slide.min() >= -0.5
    assert 0.9 < slide.max() <= 1.0
    np.testing.assert_allclose(np.linalg.norm(q[:, robot.places("wrist")[0]], axis=1), 1.0, rtol=1e-14)
    assert pendulum().random(np.random.default_rng(0), 100).min() >= -1.0


def test_joints_that_close_loops_or_only_couple_are_cut() -> None:
    scene = rb.Scene()
    places = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    bars = [
        scene.add_body(rb.Sphere(0.1), position=np.add(place, (0.1, 0.2, 0)), name=f"bar{k}")
        for k, place in enumerate(places)
    ]
    for k in range(4):
        scene.add_joint(rb.Revolute(bars[k - 1], bars[k], at=places[k], axis=(0, 0, 1)), f"hinge{k}")
    scene.add_joint(rb.VelocityJoint(scene.world, bars[0], linear=(1.0, None, None)), "belt")
    robot = rb.dynamics.Articulation(scene)
    assert robot.cut_joints == ("hinge3", "belt")
    assert robot.bodies == tuple(bars[k].name for k in (0, 3, 1, 2))
    assert robot.nv == 6 + 3


def test_bodies_on_static_bodies_hang_on_the_ground() -> None:
    scene = rb.Scene()
    wall = scene.add_static(rb.Box(1, 1, 1), position=(0, 0, 2), orientation=(0, 0, 0.6, 0.8), name="wall")
    door = scene.add_body(rb.Box(1, 0.1, 2), mass=3.0, position=(1.5, 0, 2), name="door")
    scene.add_joint(rb.Revolute(wall, door, at=(1, 0, 2), axis=(0, 0, 1)), "hinge")
    robot = rb.dynamics.Articulation(scene)
    assert robot.bodies == ("door",)
    np.testing.assert_allclose(robot.frames(robot.neutral())[0][:3, 3], (1.5, 0, 2), atol=1e-15)
    turned = robot.frames([np.pi / 2])[0]
    np.testing.assert_allclose(turned[:3, 3], (1.0, 0.5, 2), atol=1e-15)


def test_hinges_whose_axes_face_each_other_start_at_zero() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), orientation=(1, 0, 0, 0), name="ball")
    here = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    scene.add_joint(rb.Revolute(scene.world, "ball", frame_a=here, frame_b=here), "hinge")
    robot = rb.dynamics.Articulation(scene)
    np.testing.assert_allclose(robot.frames([0.0])[0], np.diag([1.0, -1.0, -1.0, 1.0]), atol=1e-15)
    sim = rb.Simulation(scene, time_step=0.01)
    np.testing.assert_allclose(robot.coordinates_of(sim)[0], 0.0, atol=1e-15)


def test_a_moving_simulation_is_read_with_full_turns_in_all_worlds() -> None:
    robot = pendulum()
    sim = rb.Simulation(robot.scene, time_step=0.01, worlds=3)
    q, v = np.array([[0.2], [7.0], [-0.5]]), np.array([[1.0], [20.0], [0.0]])
    robot.move_to(sim, q, v)
    found, rates = robot.coordinates_of(sim)
    np.testing.assert_allclose(found, q, atol=1e-14)
    np.testing.assert_allclose(rates, v, atol=1e-13)
    sim.step(10)
    np.testing.assert_allclose(robot.coordinates_of(sim)[0][:, 0], sim.joints.position[:, 0], atol=1e-9)


def test_a_simulation_moves_as_forward_dynamics_says() -> None:
    robot = rb.dynamics.Articulation(machine())
    sim = rb.Simulation(robot.scene, time_step=1e-4, joints="direct", contacts="none", position_tolerance=1e-12)
    rng = np.random.default_rng(8)
    q, v = (
        robot.integrate(robot.coordinates_of(sim)[0], 0.1 * rng.standard_normal(robot.nv)),
        0.3 * rng.standard_normal(robot.nv),
    )
    robot.move_to(sim, q, v)
    sim.step(20)
    for _ in range(20):
        half = v + 0.5e-4 * robot.forward(q, v, np.zeros(robot.nv))
        middle = robot.integrate(q, v, 0.5e-4)
        q, v = robot.integrate(q, half, 1e-4), v + 1e-4 * robot.forward(middle, half, np.zeros(robot.nv))
    for found, expected in zip(robot.motion(*robot.coordinates_of(sim)), robot.motion(q, v), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    alone, shared = (rb.dynamics.Articulation(machine(), threads=threads) for threads in (1, 3))
    rng = np.random.default_rng(9)
    q, v, tau = alone.random(rng, 1000), rng.standard_normal((1000, alone.nv)), rng.standard_normal(alone.nv)
    np.testing.assert_array_equal(shared.forward(q, v, tau), alone.forward(q, v, tau))
    v[[501, 700], 0] = np.nan
    with pytest.raises(rb.InputError, match="Configuration 501 of 1000 gives numbers that are not finite"):
        shared.forward(q, v, tau)


@pytest.mark.cuda
def test_a_gpu_agrees_with_the_cpu() -> None:
    here, there = (rb.dynamics.Articulation(machine(), on=on) for on in ("cpu", "cuda"))
    rng = np.random.default_rng(10)
    q, v, tau = here.random(rng, 100), rng.standard_normal((100, here.nv)), rng.standard_normal((100, here.nv))
    np.testing.assert_allclose(there.forward(q, v, tau), here.forward(q, v, tau), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there.inverse(q, v, tau), here.inverse(q, v, tau), rtol=1e-10, atol=1e-10)
    for found, expected in zip(there.forward_derivatives(q, v, tau), here.forward_derivatives(q, v, tau), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def test_a_scene_without_joints_floats() -> None:
    scene = rb.Scene()
    scene.add_body(
        rb.Box(1.0, 0.2, 0.1), position=(1, 2, 3), orientation=(0, 0, 0.6, 0.8), velocity=(1, 0, 0), name="box"
    )
    robot, sim = rb.dynamics.Articulation(scene), rb.Simulation(scene, time_step=0.01)
    q, v = robot.coordinates_of(sim)
    np.testing.assert_allclose(q, (1, 2, 3, 0, 0, 0.6, 0.8), atol=1e-15)
    np.testing.assert_allclose(v, (1, 0, 0, 0, 0, 0), atol=1e-15)
    np.testing.assert_allclose(robot.forward(q, v, np.zeros(6)), (0, 0, -9.81, 0, 0, 0), atol=1e-13)
    robot.move_to(sim, robot.integrate(q, v, 1.0), v)
    np.testing.assert_allclose(sim["box"].position, (2, 2, 3), atol=1e-15)
