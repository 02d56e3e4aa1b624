"""Screws, gears and racks against closed forms: reduced inertias, the equation of Willis, fifty turns without drift."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.solvers.joints import IMPULSES as METHODS

TOLERANCE = 1e-8
TOLERANCES = {f"{kind}_tolerance": TOLERANCE for kind in ("position", "orientation", "velocity")}
every_method = pytest.mark.parametrize("method", METHODS)


def wheel(scene: rb.Scene, name: str, place: Any = (0, 0, 0), axis: Any = (0, 0, 1), spin: float = 0.0) -> float:
    """A body on a bearing in the world; its inertia about the axis."""
    mass, inertia = {"sun": (1.0, 0.02), "planet": (0.4, 0.006), "ring": (3.0, 0.3)}.get(name, (2.0, 0.05))
    turning = spin * np.array(axis, dtype=float)
    scene.add_body(mass=mass, inertia=(inertia,) * 3, position=place, angular_velocity=turning, name=name)
    scene.add_joint(rb.Revolute("world", name, at=place, axis=axis), name=f"{name} bearing")
    return inertia


def simulation(scene: rb.Scene, method: str = "direct", time_step: float = 0.002) -> rb.Simulation:
    return rb.Simulation(scene, time_step=time_step, joints=method, max_iterations=2000, **TOLERANCES)


@every_method
@pytest.mark.parametrize("pitch", [0.1, -0.02, 3.0])
def test_a_screw_under_an_axial_force_has_the_inertia_of_its_turning_too(method: str, pitch: float) -> None:
    """a = F/(m + I (2π/p)²), constant, so that v and x at the end are a t and a t²/2."""
    scene, axis = rb.Scene(gravity=(0, 0, 0)), np.array([0.6, 0.0, 0.8])
    scene.add_body(mass=2.0, inertia=(0.05,) * 3, position=(1, 2, 3), name="nut")
    scene.add_joint(rb.Screw("world", "nut", at=(1, 2, 3), axis=axis, pitch=pitch), name="screw")
    scene.add_force(rb.Wrench("nut", force=tuple(3.0 * axis)))
    sim = simulation(scene, method)
    sim.run(1.0)
    acceleration = 3.0 / (2.0 + 0.05 * (2.0 * np.pi / pitch) ** 2)
    assert sim.report.converged, sim.report.reason
    np.testing.assert_allclose(sim["nut"].velocity, acceleration * axis, atol=1e-7)
    np.testing.assert_allclose(sim["nut"].position, (1, 2, 3) + 0.5 * acceleration * axis, atol=2e-7)
    assert sim["screw"].angle == pytest.approx(np.pi * acceleration / pitch, abs=1e-5)


@every_method
@pytest.mark.parametrize("internal", [False, True])
@pytest.mark.parametrize("flip", [1, -1])
def test_a_gear_train_with_a_torque_has_the_reduced_inertia(method: str, internal: bool, flip: int) -> None:
    """Torque on the first of three wheels: α = τ/(I₁ + I₂/i² + I₃/(i j)²); an axis given the other way is the same."""
    scene = rb.Scene(gravity=(0, 0, 0))
    first = wheel(scene, "sun", (0, 0, 0))
    second = wheel(scene, "planet", (0.3, 0, 0))
    third = wheel(scene, "ring", (0.3, 0.5, 0))
    scene.add_joint(rb.Gear("sun", "planet", at_b=(0.3, 0, 0), ratio=2.0))
    between = {"at": (0.3, 0, 0), "at_b": (0.3, 0.5, 0), "axis_b": (0, 0, flip)}
    scene.add_joint(rb.Gear("planet", "ring", **between, ratio=3.0, internal=internal))
    scene.add_force(rb.Wrench("sun", torque=(0, 0, 0.8)))
    sim = simulation(scene, method)
    sim.run(1.0)
    assert sim.report.converged, sim.report.reason
    speed = 0.8 / (first + second / 4.0 + third / 36.0)
    spins = [sim[name].angular_velocity[2] for name in ("sun", "planet", "ring")]
    np.testing.assert_allclose(spins, [speed, -speed / 2.0, (-1 if internal else 1) * speed / 6.0], rtol=1e-7)


@pytest.mark.parametrize("side", [1, -1])
@every_method
def test_bevel_gears_turn_by_their_ratio_and_push_where_they_touch(method: str, side: int) -> None:
    """Cones at a right angle, radii 0.1 m and 0.2 m; the torque on B over its radius is the force between the teeth."""
    scene = rb.Scene(gravity=(0, 0, 0))
    first = wheel(scene, "sun", (0, 0, 0.2))
    second = wheel(scene, "planet", (0.1 * side, 0, 0), axis=(1, 0, 0))
    scene.add_joint(rb.Gear("sun", "planet", at=(0, 0, 0.2), at_b=(0.1 * side, 0, 0), axis_b=(1, 0, 0)), name="gear")
    assert scene.joints["gear"].radii == pytest.approx((0.1, 0.2), abs=1e-15)
    scene.add_force(rb.Wrench("sun", torque=(0, 0, 0.5)))
    sim = simulation(scene, method)
    sim.run(0.5)
    assert sim.report.converged, sim.report.reason
    speed = 0.5 * 0.5 / (first + second / 4.0)
    found = sim["sun"].angular_velocity[2], sim["planet"].angular_velocity[0]
    np.testing.assert_allclose(found, [speed, -side * speed / 2.0], rtol=1e-7)
    # At the pitch point (0.1 side, 0, 0.2) the teeth push B by F across the plane of the axes.
    torque = second * found[1] / 0.5
    np.testing.assert_allclose(sim["gear"].reaction_force, (0, -torque / 0.2, 0), rtol=1e-6, atol=1e-6)


def planetary(spins: tuple[float, float]) -> rb.Scene:
    """Sun (0.1 m), planet (0.05 m) on a carrier, ring (0.2 m), all on bearings; sun and carrier turn at the start."""
    scene = rb.Scene(gravity=(0, 0, 0))
    sun, carrier = spins
    ring = (carrier * 0.3 - sun * 0.1) / 0.2
    planet = carrier - 0.1 * (sun - carrier) / 0.05
    wheel(scene, "sun", spin=sun)
    wheel(scene, "ring", spin=ring)
    wheel(scene, "carrier", spin=carrier)
    place = (0.15, 0, 0)
    moving = {"velocity": (0, 0.15 * carrier, 0), "angular_velocity": (0, 0, planet)}
    scene.add_body(mass=0.4, inertia=(0.006,) * 3, position=place, name="planet", **moving)
    scene.add_joint(rb.Revolute("carrier", "planet", at=place), name="pin")
    scene.add_joint(rb.Gear("sun", "planet", at_b=place, radii=(0.1, 0.05)), name="inner")
    scene.add_joint(rb.Gear("planet", "ring", at=place, at_b=(0, 0, 0), radii=(0.05, 0.2), internal=True), name="outer")
    return scene


@every_method
def test_a_planetary_gear_obeys_the_equation_of_willis(method: str) -> None:
    """ω_s R_s + ω_r R_r = ω_c (R_s + R_r) under torques on all three, and after each step to within the tolerance."""
    scene = planetary((1.0, -0.5))
    for name, torque in (("sun", 0.4), ("ring", -0.9), ("carrier", 0.2)):
        scene.add_force(rb.Wrench(name, torque=(0, 0, torque)))
    sim = simulation(scene, method)
    for _ in range(20):
        sim.step(20)
        assert sim.report.converged, sim.report.reason
        sun, ring, carrier = (sim[name].angular_velocity[2] for name in ("sun", "ring", "carrier"))
        assert sun * 0.1 + ring * 0.2 == pytest.approx(carrier * 0.3, abs=4 * TOLERANCE)
    assert abs(sun - 1.0) > 0.5


def test_a_planetary_gear_with_a_torque_on_the_sun_has_its_reduced_inertia() -> None:
    """With the ring held, ω_c = ω_s/3 and ω_p = ω_c − 2 (ω_s − ω_c); the energy of all gives α."""
    scene = planetary((0.0, 0.0))
    scene.add_joint(rb.Fixed("world", "ring"))
    scene.add_force(rb.Wrench("sun", torque=(0, 0, 0.3)))
    sim = simulation(scene)
    sim.run(0.5)
    carrier = 0.1 / 0.3
    planet = carrier - 0.1 * (1.0 - carrier) / 0.05
    inertia = 0.02 + 0.05 * carrier**2 + 0.4 * (0.15 * carrier) ** 2 + 0.006 * planet**2
    spins = [sim[name].angular_velocity[2] for name in ("sun", "carrier", "planet")]
    np.testing.assert_allclose(spins, 0.15 / inertia * np.array([1.0, carrier, planet]), rtol=1e-7)


def test_a_differential_turns_its_carrier_at_the_mean_of_its_shafts() -> None:
    """Two bevel gears face each other, a pinion on the carrier meshes with both: ω₁ + ω₂ = 2 ω_c."""
    scene = rb.Scene(gravity=(0, 0, 0))
    for name, x in (("left", -0.1), ("right", 0.1)):
        wheel(scene, name, (x, 0, 0), axis=(1, 0, 0))
    wheel(scene, "carrier", axis=(1, 0, 0))
    scene.add_body(mass=0.4, inertia=(0.006,) * 3, position=(0, 0.1, 0), name="pinion")
    scene.add_joint(rb.Revolute("carrier", "pinion", at=(0, 0.1, 0), axis=(0, 1, 0)))
    for name, x in (("left", -0.1), ("right", 0.1)):
        scene.add_joint(rb.Gear(name, "pinion", at=(x, 0, 0), axis=(1, 0, 0), at_b=(0, 0.1, 0), axis_b=(0, 1, 0)))
    scene.add_force(rb.Wrench("left", torque=(0.3, 0, 0)))
    scene.add_force(rb.Wrench("carrier", torque=(0.1, 0, 0)))
    sim = simulation(scene)
    for _ in range(10):
        sim.step(50)
        assert sim.report.converged, sim.report.reason
        left, right, carrier = (sim[name].angular_velocity[0] for name in ("left", "right", "carrier"))
        assert left + right == pytest.approx(2.0 * carrier, abs=1e-6)
    assert left - carrier > 0.5


@every_method
@pytest.mark.parametrize("above", [False, True])
def test_a_rack_pushed_along_turns_its_pinion(method: str, above: bool) -> None:
    """a = F/(m + I/R²); above the pinion it turns it the other way."""
    scene = rb.Scene(gravity=(0, 0, 0))
    inertia = wheel(scene, "pinion")
    scene.add_body(mass=1.5, inertia=(0.1,) * 3, position=(0.4, 0.7, 0), name="bar")
    scene.add_joint(rb.Prismatic("world", "bar", at=(0.4, 0.7, 0), axis=(1, 0, 0)), name="guide")
    place = {"at_b": (0.4, 0.25, 0)} if above else {"radius": 0.25}
    scene.add_joint(rb.Rack("pinion", "bar", axis_b=(1, 0, 0), **place), name="rack")
    scene.add_force(rb.Wrench("bar", force=(2.0, 0, 0)))
    sim = simulation(scene, method)
    sim.run(1.0)
    assert sim.report.converged, sim.report.reason
    acceleration = 2.0 / (1.5 + inertia / 0.25**2)
    assert sim["bar"].velocity[0] == pytest.approx(acceleration, rel=1e-7)
    assert sim["pinion"].angular_velocity[2] == pytest.approx((-1 if above else 1) * acceleration / 0.25, rel=1e-7)


@every_method
def test_fifty_turns_do_not_drift_beyond_the_tolerance(method: str) -> None:
    """A sun at 50 turns in five seconds, with a planet, a screw and a rack on it: all where their ratios put them."""
    scene, spin = rb.Scene(gravity=(0, 0, 0)), 20.0 * np.pi
    wheel(scene, "sun", spin=spin)
    wheel(scene, "planet", (0.3, 0, 0), spin=-spin / 2.0)
    scene.add_joint(rb.Gear("sun", "planet", at_b=(0.3, 0, 0), ratio=2.0), name="gear")
    moving = {"mass": 1.0, "inertia": (0.01,) * 3}
    scene.add_body(**moving, velocity=(0, 0, 0.004 * spin / np.pi / 2.0), name="nut")
    scene.add_joint(rb.Prismatic("world", "nut"), name="guide")
    scene.add_joint(rb.Screw("nut", "sun", pitch=-0.004), name="screw")
    scene.add_body(**moving, velocity=(0.05 * spin, 0, 0), name="bar")
    scene.add_joint(rb.Prismatic("world", "bar", axis=(1, 0, 0)), name="rail")
    scene.add_joint(rb.Rack("sun", "bar", axis_b=(1, 0, 0), radius=0.05), name="rack")
    sim = simulation(scene, method)
    sim.run(5.0)
    assert sim.report.converged, sim.report.reason
    sun, planet = sim["sun bearing"].angle, sim["planet bearing"].angle
    assert sun == pytest.approx(100.0 * np.pi, rel=2e-3)
    assert 0.1 * sun + 0.2 * planet == pytest.approx(0.0, abs=4 * TOLERANCE)
    assert sim["nut"].position[2] == pytest.approx(0.004 * sun / (2.0 * np.pi), abs=4 * TOLERANCE)
    assert sim["bar"].position[0] == pytest.approx(0.05 * sun, abs=4 * TOLERANCE)
