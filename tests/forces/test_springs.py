"""Springs against closed forms: periods, decay, energy, momentum, places where the law has no direction."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rattleback as rb
from rattleback.core.precision import PRECISION

DOUBLE = PRECISION == "double"


def hung(mass: float = 2.0, stretch: float = 0.2, **law: float) -> rb.Scene:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=mass, position=(1 + stretch, 0, 0), name="bob")
    scene.add_force(rb.Spring(scene.world, "bob", at=(0, 0, 0), at_b=(1 + stretch, 0, 0), length=1.0, **law), "spring")
    return scene


def two_bodies() -> rb.Scene:
    """Two free bodies on a spring that is fastened beside their centres of mass."""
    scene = rb.Scene(gravity=(0, 0, 0))
    spin = {"velocity": (0.1, -0.3, 0.2), "angular_velocity": (0.5, 1.0, -0.7)}
    scene.add_body(rb.Box(0.4, 0.2, 0.3), mass=2.0, position=(0, 0, 0), name="a", **spin)
    scene.add_body(rb.Box(0.2, 0.5, 0.1), mass=0.7, position=(1, 0.5, 0), name="b")
    return scene


def test_an_undamped_spring_swings_with_the_period_of_the_textbook(device: str) -> None:
    sim = rb.Simulation(hung(stiffness=50.0), time_step=1e-3, integrator="rk4", device=device)
    sim.run(2 * math.pi / math.sqrt(50.0 / 2.0))
    np.testing.assert_allclose(sim["bob"].position, [1.2, 0, 0], atol=1e-9 if DOUBLE else 1e-4)
    sim.run(1.0)
    assert sim["bob"].position[0] == pytest.approx(1 + 0.2 * math.cos(5.0), abs=1e-9 if DOUBLE else 1e-4)


def test_a_damped_spring_decays_as_the_textbook_says(device: str) -> None:
    sim = rb.Simulation(hung(stiffness=50.0, damping=3.0), time_step=1e-3, integrator="rk4", device=device)
    sim.run(1.0)
    decay = 3.0 / (2 * 2.0)
    rate = math.sqrt(25.0 - decay**2)
    expected = 1 + 0.2 * math.exp(-decay) * (math.cos(rate) + decay / rate * math.sin(rate))
    assert sim["bob"].position[0] == pytest.approx(expected, abs=1e-9 if DOUBLE else 1e-4)


def test_damping_acts_along_the_spring_only(device: str) -> None:
    """A bob on a circle changes no length; the force towards the middle is that of the stretch alone."""
    scene = rb.Scene(gravity=(0, 0, 0))
    speed = math.sqrt(50.0 * 0.2 * 1.2 / 2.0)
    scene.add_body(rb.Sphere(0.1), mass=2.0, position=(1.2, 0, 0), velocity=(0, speed, 0), name="bob")
    scene.add_force(rb.Spring("world", "bob", at=(0, 0, 0), at_b=(1.2, 0, 0), stiffness=50, damping=7, length=1))
    sim = rb.Simulation(scene, time_step=1e-3, integrator="rk4", device=device)
    sim.run(2 * math.pi * 1.2 / speed)
    np.testing.assert_allclose(sim["bob"].position, [1.2, 0, 0], atol=1e-8 if DOUBLE else 1e-3)


@pytest.mark.parametrize("integrator", ["lie_midpoint", "rk4"])
def test_energy_is_kept_and_momentum_to_rounding(integrator: str, device: str) -> None:
    scene = two_bodies()
    scene.add_force(rb.Spring("a", "b", at=(0.1, 0.1, 0.15), at_b=(0.9, 0.6, 0), stiffness=80, length=0.5))
    sim = rb.Simulation(scene, time_step=1e-3, integrator=integrator, device=device)
    energy, before = sim.energy().total, sim.momentum()
    kinetic = sim.energy().kinetic
    sim.run(2.0)
    bound = {"rk4": 1e-7, "lie_midpoint": 1e-3}[integrator] if DOUBLE else 5e-3
    assert sim.energy().total == pytest.approx(energy, abs=bound)
    assert abs(sim.energy().kinetic - kinetic) > 0.1
    np.testing.assert_allclose(sim.momentum().linear, before.linear, atol=1e-12 if DOUBLE else 1e-4)
    tolerance = {"rk4": 1e-9, "lie_midpoint": 1e-5}[integrator] if DOUBLE else 1e-3
    np.testing.assert_allclose(sim.momentum().angular, before.angular, atol=tolerance)


def test_one_evaluation_has_no_net_force_and_no_net_torque(device: str) -> None:
    scene = two_bodies()
    scene.add_force(rb.Spring("a", "b", at=(0.1, 0.1, 0.15), at_b=(0.9, 0.6, 0), stiffness=80, damping=5, length=0.5))
    h = 1e-3
    sim = rb.Simulation(scene, time_step=h, integrator="explicit_euler", device=device)
    before = sim.momentum()
    sim.step()
    pull = 80 * (math.dist((0.1, 0.1, 0.15), (0.9, 0.6, 0)) - 0.5)
    assert np.linalg.norm(0.7 * sim["b"].velocity) / h > 0.5 * pull
    np.testing.assert_allclose(sim.momentum().linear, before.linear, atol=1e-15 if DOUBLE else 1e-6)


def test_both_bodies_move_as_newton_and_euler_say(device: str) -> None:
    """Against SciPy on the equations of two point-like spheres with an eccentric fastening on one of them."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.3), mass=2.0, position=(0, 0, 0), name="a")
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(1, 0.2, 0), name="b")
    scene.add_force(rb.Spring("a", "b", at=(0, 0.3, 0), at_b=(1, 0.2, 0), stiffness=40, damping=2, length=0.4))
    sim = rb.Simulation(scene, time_step=1e-3, integrator="rk4", device=device)
    inertia = 0.4 * 2.0 * 0.3**2

    def rates(_t: float, y: np.ndarray) -> np.ndarray:
        xa, va, xb, vb, angle, spin = y[:2], y[2:4], y[4:6], y[6:8], y[8], y[9]
        lever = 0.3 * np.array([-math.sin(angle), math.cos(angle)])
        d = xb - xa - lever
        velocity = vb - va - spin * np.array([-lever[1], lever[0]])
        length = np.linalg.norm(d)
        force = -(40 * (length - 0.4) + 2 * (velocity @ d) / length) * d / length
        torque = lever[0] * -force[1] - lever[1] * -force[0]
        return np.concatenate([va, -force / 2.0, vb, force / 1.0, [spin, torque / inertia]])

    start = np.array([0, 0, 0, 0, 1, 0.2, 0, 0, 0, 0], dtype=float)
    end = solve_ivp(rates, (0, 1.5), start, rtol=1e-11, atol=1e-12).y[:, -1]
    sim.run(1.5)
    tolerance = 1e-7 if DOUBLE else 1e-3
    np.testing.assert_allclose(sim["a"].position[:2], end[:2], atol=tolerance)
    np.testing.assert_allclose(sim["b"].position[:2], end[4:6], atol=tolerance)
    assert sim["a"].angular_velocity[2] == pytest.approx(end[9], abs=tolerance)


@pytest.mark.parametrize("length", [0.0, 0.5])
@pytest.mark.parametrize("offset", [0.0, 1e-200, 5e-324])
def test_ends_that_meet_give_no_nan(length: float, offset: float, device: str) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(offset, 0, 0), name="bob")
    scene.add_force(rb.Spring("world", "bob", at=(0, 0, 0), at_b=(offset, 0, 0), stiffness=9, damping=1, length=length))
    sim = rb.Simulation(scene, device=device)
    sim.step(10)
    assert np.isfinite(sim.state.position).all()
    assert sim.energy().total == pytest.approx(0.5 * 9 * length**2, abs=0.2)
    if offset == 0.0:
        np.testing.assert_array_equal(sim.state.position, 0)


def test_a_spring_without_length_swings_through_the_middle(device: str) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0.5, 0, 0), name="bob")
    scene.add_force(rb.Spring("world", "bob", at=(0, 0, 0), at_b=(0.5, 0, 0), stiffness=16, length=0))
    sim = rb.Simulation(scene, time_step=1e-3, integrator="rk4", device=device)
    sim.run(1.0)
    assert sim["bob"].position[0] == pytest.approx(0.5 * math.cos(4.0), abs=1e-9 if DOUBLE else 1e-4)


def test_without_a_length_the_spring_starts_relaxed_and_needs_no_second_point() -> None:
    assert rb.Spring("a", "b", at=(0, 0, 0), at_b=(0, 3, 4), stiffness=1).length == 5.0
    assert rb.Spring("a", "b", at=(1, 2, 3), stiffness=1).at_b == (1.0, 2.0, 3.0)


def test_a_spring_acts_in_every_world(device: str) -> None:
    sim = rb.Simulation(hung(stiffness=50.0), worlds=3, time_step=1e-3, integrator="rk4", device=device)
    sim["bob"].position = np.array([[1.2, 0, 0], [1.0, 0, 0], [0.7, 0, 0]])
    np.testing.assert_allclose(sim.energy().potential, 25 * np.array([0.04, 0, 0.09]), atol=1e-6)
    sim.run(1.0)
    expected = 1 + np.array([0.2, 0, -0.3]) * math.cos(5.0)
    np.testing.assert_allclose(sim["bob"].position[:, 0], expected, atol=1e-8 if DOUBLE else 1e-4)


def hinged(**law: float) -> rb.Scene:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Cylinder(0.2, 0.1), mass=3.0, name="disk")
    scene.add_joint(rb.Revolute("world", "disk"), "hinge")
    scene.add_force(rb.TorsionSpring("hinge", **law), "spring")
    return scene


INERTIA = 0.5 * 3.0 * 0.2**2


def test_a_torsion_spring_swings_and_decays_as_the_textbook_says(device: str) -> None:
    law = {"stiffness": 2.0, "damping": 0.04, "angle": 0.8}
    sim = rb.Simulation(hinged(**law), time_step=1e-3, integrator="rk45", device=device)
    assert sim.energy().potential == pytest.approx(0.64)
    sim.run(1.0)
    decay = 0.04 / (2 * INERTIA)
    rate = math.sqrt(2.0 / INERTIA - decay**2)
    expected = 0.8 - 0.8 * math.exp(-decay) * (math.cos(rate) + decay / rate * math.sin(rate))
    assert sim["hinge"].angle == pytest.approx(expected, abs=1e-7 if DOUBLE else 1e-3)


def test_a_torsion_spring_counts_full_turns(device: str) -> None:
    """Wound up by a blow to three turns, it holds the energy of three turns and gives it back."""
    sim = rb.Simulation(hinged(stiffness=0.5), time_step=1e-3, device=device)
    top = 6 * math.pi
    sim["disk"].angular_velocity = (0, 0, top * math.sqrt(0.5 / INERTIA))
    total = sim.energy().total
    quarter = 0.5 * math.pi / math.sqrt(0.5 / INERTIA)
    sim.run(quarter)
    assert sim["hinge"].angle == pytest.approx(top, abs=1e-3)
    assert sim.energy().potential == pytest.approx(0.25 * top**2, rel=1e-4)
    sim.run(2 * quarter)
    assert sim["hinge"].angle == pytest.approx(-top, abs=1e-2)
    assert sim.energy().total == pytest.approx(total, rel=1e-4)


def test_a_torsion_spring_between_two_free_bodies_keeps_momentum(device: str) -> None:
    scene = two_bodies()
    joint = scene.add_joint(rb.Revolute("a", "b", at=(0.5, 0.2, 0), axis=(0, 1, 1)))
    scene.add_force(rb.TorsionSpring(joint, stiffness=3.0, angle=1.0))
    sim = rb.Simulation(scene, time_step=1e-3, worlds=2, device=device)
    sim.step()
    before = sim.momentum()
    sim.run(0.5)
    np.testing.assert_allclose(sim.momentum().linear, before.linear, atol=1e-10 if DOUBLE else 1e-3)
    np.testing.assert_allclose(sim.momentum().angular, before.angular, atol=1e-5 if DOUBLE else 1e-2)
    assert np.ptp(sim[joint].angle) == 0.0
    assert abs(sim[joint].angle[0]) > 0.1
