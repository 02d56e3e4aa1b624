"""Every integrator on the menu: its order, its parabola, its momentum, its answer against SciPy, its bits."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj

import rattleback as rb
from rattleback.integrators import MENU

EXACT_PARABOLA = ["lie_midpoint", "taylor2", "rk4", "rk45"]
KEEPS_MOMENTUM = {"lie_midpoint": 1e-9, "implicit_euler": 1e-9}


def fixed_step(name: str) -> object:
    """The method as one step per step, so that its order can be measured."""
    return rb.integrators.RK45(error=math.inf) if name == "rk45" else MENU[name]()


def torque_free_angular_velocity(t: float) -> np.ndarray:
    """Closed form for moments (1, 2, 3) and ω = (1, 0.4, 0.8) turned so that ω₂ starts at zero.

    Jacobi's solution for 2 E I₂ < L²: ω₁ = a cn, ω₂ = b sn, ω₃ = c dn with the middle moment I₂.
    """
    i1, i2, i3 = 1.0, 2.0, 3.0
    energy2, momentum2 = i1 * 1.0**2 + i3 * 0.8**2, (i1 * 1.0) ** 2 + (i3 * 0.8) ** 2
    assert momentum2 > energy2 * i2
    a = math.sqrt((energy2 * i3 - momentum2) / (i1 * (i3 - i1)))
    b = math.sqrt((energy2 * i3 - momentum2) / (i2 * (i3 - i2)))
    c = math.sqrt((momentum2 - energy2 * i1) / (i3 * (i3 - i1)))
    rate = math.sqrt((i3 - i2) * (momentum2 - energy2 * i1) / (i1 * i2 * i3))
    m = (i2 - i1) * (energy2 * i3 - momentum2) / ((i3 - i2) * (momentum2 - energy2 * i1))
    sn, cn, dn, _ = ellipj(rate * t, m)
    return np.array([a * cn, b * sn, c * dn])


def spinning(name: str, h: float, device: str) -> rb.Simulation:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(1, 2, 3), angular_velocity=(1.0, 0.0, 0.8), name="body")
    return rb.Simulation(scene, time_step=h, integrator=fixed_step(name), device=device)


def local_angular_velocity(sim: rb.Simulation) -> np.ndarray:
    body = sim["body"]
    return rb.rotation.rotate(rb.rotation.conjugate(body.orientation), body.angular_velocity)


@pytest.mark.parametrize("name", MENU)
def test_free_rotation_converges_to_jacobis_solution_with_the_order_of_its_name(name: str, device: str) -> None:
    steps = {1: (800, 1600), 2: (200, 400), 4: (40, 80), 5: (40, 80)}[MENU[name].order]
    errors = []
    for count in steps:
        sim = spinning(name, 2.0 / count, device)
        sim.step(count)
        errors.append(np.abs(local_angular_velocity(sim) - torque_free_angular_velocity(2.0)).max())
    measured = math.log2(errors[0] / errors[1])
    assert measured == pytest.approx(MENU[name].order, abs=0.1)


@pytest.mark.parametrize("name", MENU)
def test_orientation_converges_with_the_same_order(name: str, device: str) -> None:
    """The orientation must carry the body's momentum to the momentum in space, which nothing changes."""
    steps = {1: (800, 1600), 2: (200, 400), 4: (40, 80), 5: (40, 80)}[MENU[name].order]
    start = np.array([1.0, 0.0, 2.4])
    errors = []
    for count in steps:
        sim = spinning(name, 2.0 / count, device)
        sim.step(count)
        local = np.array([1.0, 2.0, 3.0]) * torque_free_angular_velocity(2.0)
        errors.append(np.abs(rb.rotation.rotate(sim["body"].orientation, local) - start).max())
    assert math.log2(errors[0] / errors[1]) > MENU[name].order - 0.1


@pytest.mark.parametrize("name", EXACT_PARABOLA)
def test_a_constant_force_gives_the_exact_parabola(name: str, device: str) -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), position=(1, 2, 3), velocity=(4, -5, 6), name="ball")
    sim = rb.Simulation(scene, time_step=0.05, integrator=name, device=device)
    sim.step(40)
    expected = np.array([1, 2, 3]) + 2.0 * np.array([4, -5, 6]) + 0.5 * 4.0 * np.array([0, 0, -9.81])
    np.testing.assert_allclose(sim["ball"].position, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(sim["ball"].velocity, [4, -5, 6 - 2.0 * 9.81], rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["explicit_euler", "semi_implicit_euler", "implicit_euler"])
def test_the_euler_methods_miss_the_parabola_by_half_a_step_of_fall(name: str, device: str) -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), name="ball")
    sim = rb.Simulation(scene, time_step=0.01, integrator=name, device=device)
    sim.step(100)
    sign = 1.0 if name == "explicit_euler" else -1.0
    assert sim["ball"].position[2] == pytest.approx(-0.5 * 9.81 + sign * 0.5 * 9.81 * 0.01, abs=1e-12)


@pytest.mark.parametrize("name", MENU)
def test_a_thrown_body_with_drag_follows_scipy_with_the_order_of_the_method(name: str, device: str) -> None:
    mass, k, c = 0.2, 0.011, 0.02
    radius = 0.05
    spin_inertia = 0.4 * mass * radius**2

    def rate(_t: float, y: np.ndarray) -> np.ndarray:
        v, w = y[3:6], y[6:9]
        a = -(c + k * np.linalg.norm(v)) * v / mass + np.array([0, 0, -9.81])
        return np.concatenate([v, a, -1e-4 * w / spin_inertia])

    start = np.concatenate([[0, 0, 1], [20, 3, 15], [10, -40, 5]]).astype(float)
    truth = solve_ivp(rate, (0, 1.0), start, rtol=1e-12, atol=1e-13).y[:, -1]
    order, errors = MENU[name].order, []
    for count in {1: (400, 800), 2: (50, 100), 4: (10, 20), 5: (10, 20)}[order]:
        scene = rb.Scene()
        scene.add_body(
            rb.Sphere(radius),
            mass=mass,
            position=start[:3],
            velocity=start[3:6],
            angular_velocity=start[6:],
            name="ball",
        )
        scene.add_force(rb.Drag(linear=c, quadratic=k, angular=1e-4))
        sim = rb.Simulation(scene, time_step=1.0 / count, integrator=fixed_step(name), device=device)
        sim.step(count)
        ball = sim["ball"]
        found = np.concatenate([ball.position, ball.velocity, ball.angular_velocity])
        errors.append(np.abs(found - truth).max() / np.abs(truth).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
    assert errors[1] < {1: 1e-2, 2: 1e-3, 4: 1e-6, 5: 1e-7}[order]


@pytest.mark.parametrize("name", KEEPS_MOMENTUM)
def test_angular_momentum_of_free_rotation_is_kept(name: str, device: str) -> None:
    sim = spinning(name, 0.01, device)
    before = sim.momentum().angular
    sim.step(2000)
    np.testing.assert_allclose(sim.momentum().angular, before, rtol=0, atol=KEEPS_MOMENTUM[name])


@pytest.mark.parametrize("name", MENU)
def test_a_driven_body_turns_and_moves_at_its_own_velocity(name: str, device: str) -> None:
    scene = rb.Scene()
    scene.add_static(rb.Box(1, 1, 1), velocity=(1, 0, 0), angular_velocity=(0, 0, math.pi / 2), name="platform")
    sim = rb.Simulation(scene, time_step=0.001, integrator=name, device=device)
    sim.step(1000)
    np.testing.assert_allclose(sim["platform"].position, [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(sim["platform"].velocity, [1, 0, 0], atol=0)
    half = math.sqrt(0.5)
    np.testing.assert_allclose(sim["platform"].orientation, [0, 0, half, half], atol=2e-6)


@pytest.mark.parametrize("name", MENU)
def test_two_runs_and_a_restored_copy_give_the_same_bits(name: str, device: str) -> None:
    def run() -> rb.Simulation:
        sim = spinning(name, 0.01, device)
        sim.step(50)
        return sim

    first, second = run(), run()
    assert first.hash() == second.hash()
    middle = first.state.copy()
    first.step(70)
    second.state = middle
    second.step(70)
    assert first.hash() == second.hash()


@pytest.mark.parametrize("name", MENU)
def test_many_steps_at_once_equal_single_steps_bit_for_bit(name: str, device: str) -> None:
    together, apart = spinning(name, 0.01, device), spinning(name, 0.01, device)
    together.step(64)
    for _ in range(64):
        apart.step()
    assert together.hash() == apart.hash()


@pytest.mark.parametrize("name", MENU)
def test_every_method_can_be_swapped_in_on_a_running_scene(name: str, device: str) -> None:
    sim = spinning("lie_midpoint", 0.001, device)
    sim.step(500)
    sim.use(integrator=name)
    sim.step(500)
    tolerance = 2e-3 if MENU[name].order == 1 else 2e-6
    np.testing.assert_allclose(local_angular_velocity(sim), torque_free_angular_velocity(1.0), atol=tolerance)


@pytest.mark.cuda
@pytest.mark.parametrize("name", MENU)
def test_the_gpu_agrees_with_the_processor(name: str) -> None:
    found = []
    for device in ("cpu", "cuda"):
        sim = spinning(name, 0.01, device)
        sim.step(200)
        found.append(np.concatenate([sim["body"].orientation, sim["body"].angular_velocity]))
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-11)
