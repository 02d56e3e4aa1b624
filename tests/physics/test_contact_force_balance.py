"""The forces that contacts and bodies tell are those of the step: they change momentum by exactly as much."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb

G = np.array([0.0, 0.0, -9.81])
# Rounding of velocities of some metres a second, added up over a step [m/s]; and where masses differ a thousandfold, of
# which conjugate directions make sums with large terms.
ROUNDING, UNEQUAL = 1e-11, 1e-8
CONTACTS: dict[str, Any] = {
    "impulse": rb.contacts.Impulse(),
    "poisson": rb.contacts.Impulse(restitution="poisson"),
    "stronge": rb.contacts.Impulse(restitution="stronge", impact="simultaneous"),
    "simultaneous": rb.contacts.Impulse(impact="simultaneous"),
    "few sweeps": rb.contacts.Impulse(rb.contacts.BlockGaussSeidel(sweeps=3)),
    "shock propagation": rb.contacts.ShockPropagation(after=2),
    "time stepping": rb.contacts.TimeStepping(),
    "time stepping with blows": rb.contacts.TimeStepping(restitution="stronge", impact="simultaneous"),
}


def stack() -> rb.Scene:
    """A leaning stack whose masses grow upwards, which topples."""
    scene, rough = rb.Scene(), rb.Material(friction=0.5, restitution=0.2)
    scene.add_static(rb.Plane(), material=rough)
    for k in range(6):
        at = (0.06 * k, 0, 0.1 + 0.2 * k)
        scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=0.1 * 4.0**k, position=at, material=rough, name=f"box_{k}")
    return scene


def bouncing() -> rb.Scene:
    """Balls and a box that fall on each other and rebound."""
    scene, springy = rb.Scene(), rb.Material(friction=0.3, restitution=0.8)
    scene.add_static(rb.Plane(), material=springy)
    turning = {"velocity": (1, 0, 0), "angular_velocity": (3, 9, 1)}
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 0, 0.5), material=springy, name="first", **turning)
    scene.add_body(rb.Sphere(0.1), mass=3.0, position=(0.05, 0, 0.8), material=springy, name="second")
    scene.add_body(rb.Box(0.2, 0.1, 0.3), mass=2.0, position=(0, 0.1, 1.2), material=springy, name="box")
    return scene


def sliding() -> rb.Scene:
    scene, slippery = rb.Scene(), rb.Material(friction=0.3)
    scene.add_static(rb.Plane(), material=slippery)
    at, fast = (0, 0, 0.1), (2, 0.3, 0)
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, position=at, velocity=fast, material=slippery, name="cube")
    return scene


def chain() -> rb.Scene:
    """Three rods on ball joints that fall to the ground."""
    scene, rough = rb.Scene(), rb.Material(friction=0.5, restitution=0.3)
    scene.add_static(rb.Plane(), material=rough)
    rods = [
        scene.add_body(rb.Box(0.4, 0.1, 0.1), mass=1.0 + k, position=(0.4 * k, 0, 0.5), material=rough, name=f"rod_{k}")
        for k in range(3)
    ]
    for k in range(2):
        scene.add_joint(rb.Ball(rods[k], rods[k + 1], at=(0.4 * k + 0.2, 0, 0.5)))
    return scene


def unbalanced(scene: rb.Scene, steps: int, apart: bool = True, **settings: Any) -> float:
    """Largest velocity by which the forces of a step and gravity do not say how momentum changes [m/s]."""
    sim = rb.Simulation(scene, **{"time_step": 5e-3, "warn": False, "contacts": "impulse", **settings})
    names = [body.name for body in scene.bodies if not body.static]
    mass, worst = np.array([sim[name].mass for name in names])[:, None], 0.0
    for _ in range(steps):
        time, before = sim.time, np.array([sim[name].velocity for name in names])
        sim.step()
        lasted = sim.time - time
        force = np.array([sim[name].contact_force for name in names])
        off = force * lasted - mass * (np.array([sim[name].velocity for name in names]) - before - G * lasted)
        off = off / mass if apart else off.sum(axis=0) / mass.sum()
        worst = max(worst, float(np.abs(off).max()))
    return worst


@pytest.mark.parametrize("method", CONTACTS)
@pytest.mark.parametrize(("make", "most"), [(stack, UNEQUAL), (bouncing, ROUNDING), (sliding, ROUNDING)])
def test_contact_forces_and_gravity_change_the_momentum_of_every_body(make: Any, most: float, method: str) -> None:
    assert unbalanced(make(), 200, contacts=CONTACTS[method]) < most


@pytest.mark.parametrize(
    "settings", [{"substeps": 4}, {"contact_time": "interpolate"}, {"contact_every": 3}, {"sleep": True}], ids=str
)
def test_they_do_over_sub_steps_steps_that_are_cut_short_and_before_sleep(settings: dict[str, Any]) -> None:
    assert unbalanced(bouncing(), 150, **settings) < ROUNDING


@pytest.mark.parametrize("contacts", ["impulse", "time_stepping", "shock"])
def test_they_change_the_momentum_of_jointed_bodies_together(contacts: str) -> None:
    assert unbalanced(chain(), 200, apart=False, contacts=contacts) < ROUNDING


@pytest.mark.cuda
@pytest.mark.parametrize("contacts", ["impulse", "time_stepping", "shock"])
@pytest.mark.parametrize("make", [stack, bouncing])
def test_they_balance_on_a_gpu_too(make: Any, contacts: str) -> None:
    assert unbalanced(make(), 100, device="cuda:0", contacts=contacts) < UNEQUAL


def test_listed_forces_add_up_to_that_of_their_body_while_contacts_last() -> None:
    sim = rb.Simulation(sliding(), time_step=5e-3, contacts="impulse")
    for _ in range(20):
        sim.step()
        contacts = sim.contacts
        sign = np.where(contacts.body_a == sim.model.names.index("cube"), 1.0, -1.0)[:, None]
        np.testing.assert_allclose((sign * contacts.force).sum(axis=0), sim["cube"].contact_force, atol=1e-10)


def test_a_ball_that_rebounds_is_hit_with_its_change_of_momentum_over_the_step() -> None:
    scene, springy = rb.Scene(), rb.Material(restitution=0.9)
    scene.add_static(rb.Plane(), material=springy)
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 0, 0.5), material=springy, name="ball")
    sim = rb.Simulation(scene, time_step=1e-3, contacts="impulse")
    most = 0.0
    for _ in range(400):
        sim.step()
        most = max(most, sim["ball"].contact_force[2])
    assert most == pytest.approx((1 + 0.9**2) * np.sqrt(2 * 9.81 * 0.4) / 1e-3, rel=0.01)


def test_forces_are_zero_before_a_step_and_what_fits_written_velocities_counts_with_the_next() -> None:
    scene, rough = rb.Scene(), rb.Material(friction=0.5)
    scene.add_static(rb.Plane(), material=rough)
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.1), material=rough, name="crate")
    sim = rb.Simulation(scene, time_step=1e-2, contacts="impulse")
    assert not sim["crate"].contact_force.any()
    sim.step(50)
    np.testing.assert_allclose(sim["crate"].contact_force, (0, 0, 2.0 * 9.81), atol=1e-9)
    sim["crate"].velocity = (0, 0, -3.0)
    sim.step()
    np.testing.assert_allclose(sim["crate"].contact_force, (0, 0, 2.0 * (9.81 + 3.0 / 1e-2)), rtol=1e-9, atol=1e-9)


def test_sleeping_bodies_tell_what_holds_them_and_worlds_and_groups_have_their_axes() -> None:
    scene, rough = rb.Scene(), rb.Material(friction=0.5)
    scene.add_static(rb.Plane(), material=rough)
    for k in range(2):
        at = (k, 0, 0.1)
        scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=2.0, position=at, material=rough, name=f"crate_{k}", group="crates")
    sim = rb.Simulation(scene, time_step=1e-2, contacts="impulse", sleep=True, worlds=3)
    sim.step(100)
    assert sim["crates"].asleep.all()
    assert sim["crates"].contact_force.shape == (3, 2, 3)
    np.testing.assert_allclose(sim["crate_1"].contact_force, np.tile((0, 0, 2.0 * 9.81), (3, 1)), atol=1e-6)


def test_a_static_body_has_no_contact_force() -> None:
    scene = sliding()
    scene.add_static(rb.Sphere(0.1), position=(9, 0, 0), name="rock")
    sim = rb.Simulation(scene, contacts="impulse")
    with pytest.raises(rb.InputError, match=r"^'rock' is static, .*-sim\[\"crate\"\]\.contact_force\.$"):
        _ = sim["rock"].contact_force
