"""A rod on a ball joint with a cone and a twist: where it comes to rest, how it rebounds, how it goes around."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb

METHODS = ("direct", "iterative", "reduced")
LENGTH = 0.5


def rod(joint: Any, spin: tuple[float, float, float] = (0, 0, 0), up: bool = False, gravity: float = 9.81) -> rb.Scene:
    """A rod along x, or along z, from the origin on."""
    scene = rb.Scene(gravity=(0, 0, -gravity))
    place = (0, 0, 0.5 * LENGTH) if up else (0.5 * LENGTH, 0, 0)
    scene.add_body(
        mass=2.0,
        inertia=(0.02, 0.03, 0.03),
        position=place,
        velocity=np.cross(spin, place),
        angular_velocity=spin,
        name="rod",
    )
    scene.add_joint(joint, name="hip")
    return scene


def dip(sim: rb.Simulation) -> float:
    """Angle of the rod below x [rad]."""
    x, _, z = sim["rod"].position
    return math.atan2(-z, x)


@pytest.mark.parametrize("joints", METHODS)
def test_a_rod_falls_onto_its_cone_and_rests_there(joints: str) -> None:
    sim = rb.Simulation(rod(rb.Ball("world", "rod", axis=(1, 0, 0), swing=0.6)), time_step=0.01, joints=joints)
    sim.run(1.5)
    assert np.isclose(dip(sim), 0.6, atol=1e-6)
    np.testing.assert_allclose(sim["rod"].angular_velocity, 0.0, atol=1e-6)
    # The stop carries the weight.
    torque = sim["hip"].reaction_torque
    assert np.isclose(abs(torque[1]), 2.0 * 9.81 * 0.5 * LENGTH * math.cos(0.6), rtol=1e-5)


@pytest.mark.parametrize("joints", METHODS)
def test_a_rod_rebounds_from_its_cone_as_from_the_stop_of_a_hinge(joints: str) -> None:
    cone = rb.Ball("world", "rod", axis=(1, 0, 0), swing=0.6, restitution=0.5)
    hinge = rb.Revolute("world", "rod", axis=(0, 1, 0), limits=(None, 0.6), restitution=0.5)
    sims = [rb.Simulation(rod(joint), time_step=0.002, joints=joints) for joint in (cone, hinge)]
    highest, hit = 1.0, False
    for _ in range(350):
        for sim in sims:
            sim.step()
        assert np.isclose(dip(sims[0]), dip(sims[1]), atol=1e-5)
        hit = hit or sims[0]["rod"].angular_velocity[1] < 0.0
        highest = min(highest, dip(sims[0])) if hit else highest
    # What is left of the energy is e²:  sin 0.6 − sin φ = e² sin 0.6.
    assert np.isclose(highest, math.asin(0.75 * math.sin(0.6)), atol=2e-4)


@pytest.mark.parametrize("joints", METHODS)
def test_a_rod_goes_around_on_its_cone_without_losing_speed(joints: str) -> None:
    swing, rate = 0.7, 2.0
    tilted = (math.sin(swing), 0.0, math.cos(swing))
    scene = rb.Scene()
    place = 0.5 * LENGTH * np.array(tilted)
    turn = rb.rotation.quaternion_from_axis_angle((0, 1, 0), swing)
    # It turns about z without spinning about itself, so that what is kept is known.
    spin = np.array((-rate * math.sin(swing) * math.cos(swing), 0.0, rate * math.sin(swing) ** 2))
    scene.add_body(
        mass=2.0,
        inertia=(0.03, 0.03, 0.02),
        position=place,
        orientation=turn,
        velocity=np.cross(spin, place),
        angular_velocity=spin,
        name="rod",
    )
    scene.add_joint(rb.Ball("world", "rod", axis=(0, 0, 1), axis_b=tilted, swing=swing), name="hip")
    sim = rb.Simulation(scene, time_step=0.002, joints=joints)
    start = sim.energy().total
    for k in range(1, 6):
        sim.run(0.2)
        x, y, z = sim["rod"].position
        assert np.isclose(math.acos(z / (0.5 * LENGTH)), swing, atol=1e-6)
        assert np.isclose(math.atan2(y, x), math.remainder(0.2 * k * rate, 2 * math.pi), atol=5e-3)
    assert np.isclose(sim.energy().total, start, rtol=1e-3)


@pytest.mark.parametrize("joints", METHODS)
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_rod_that_twists_turns_back_at_its_limit(joints: str, side: float) -> None:
    joint = rb.Ball("world", "rod", axis=(1, 0, 0), swing=1.0, twist=(-0.8, 0.5), restitution=0.5)
    sim = rb.Simulation(rod(joint, spin=(side * 2.0, 0, 0), gravity=0.0), time_step=0.003, joints=joints)
    limit = 0.5 if side > 0 else 0.8
    sim.run(0.6)
    twist = 2.0 * math.atan2(sim["rod"].orientation[0], sim["rod"].orientation[3])
    left = 0.6 - limit / 2.0
    assert np.isclose(twist, side * (limit - 0.5 * 2.0 * left), atol=1e-6)
    assert np.isclose(sim["rod"].angular_velocity[0], -side, atol=1e-6)


def test_limits_of_a_ball_joint_that_make_no_sense_are_refused() -> None:
    for options, message in (
        ({"swing": 3.2}, "The swing of Ball is 3.2 rad; it must be less than half a turn"),
        ({"swing": 0.0}, "The swing of Ball"),
        ({"twist": (None, 1.0)}, "it needs both, each less than half a turn"),
        ({"twist": (1.0, -1.0)}, "the lower one must be below the upper one"),
        ({"restitution": 2.0}, "The restitution of Ball is 2.0; it must be between 0 and 1"),
    ):
        with pytest.raises(rb.InputError, match=message):
            rb.Ball("world", "rod", **options)
    beyond = rb.Ball("world", "rod", axis=(0, 0, 1), axis_b=(1, 0, 0), swing=1.0)
    with pytest.raises(rb.InputError, match="Joint 'hip' starts at 1.5708 rad, outside its limits from -inf to 1 rad"):
        rb.Simulation(rod(beyond))


@pytest.mark.parametrize("options", [{"step": "composed"}, {"joints": "implicit"}, {"joints": "multipliers"}])
def test_methods_without_stops_refuse_a_cone_by_name(options: dict[str, str]) -> None:
    with pytest.raises(rb.InputError, match="'hip' has limits"):
        rb.Simulation(rod(rb.Ball("world", "rod", swing=1.0)), **options)


def test_files_of_robots_say_that_they_have_no_cone(tmp_path: Path) -> None:
    report = rod(rb.Ball("world", "rod", swing=1.0)).export(tmp_path / "rod.xml")
    assert "no cone and no twist" in str(report)


@pytest.mark.parametrize("joints", ["direct", "reduced"])
def test_a_chain_of_rods_with_cones_falls_as_by_the_iterative_method(joints: str) -> None:
    scene = rb.Scene()
    for k in range(3):
        scene.add_body(mass=1.0, inertia=(0.01, 0.02, 0.02), position=(LENGTH * (k + 0.5), 0, 0), name=f"rod_{k}")
        above = "world" if k == 0 else f"rod_{k - 1}"
        scene.add_joint(rb.Ball(above, f"rod_{k}", at=(LENGTH * k, 0, 0), axis=(1, 0, 0), swing=0.3, twist=(-0.4, 0.4)))
    scene.change_body("rod_2", angular_velocity=(5.0, 0.0, 0.0))
    sims = [rb.Simulation(scene, time_step=0.001, joints=name) for name in (joints, "iterative")]
    for sim in sims:
        sim.run(0.4)
    np.testing.assert_allclose(sims[0].state.position, sims[1].state.position, atol=2e-4)


@pytest.mark.parametrize("joints", METHODS)
def test_light_rods_that_whip_through_the_axes_of_narrow_cones_stay_within_them(joints: str) -> None:
    scene = rb.Scene()
    for k, mass in enumerate((1.0, 0.3, 0.3)):
        place = (LENGTH * (k + 0.5), 0, 0)
        scene.add_body(mass=mass, inertia=(0.002, 0.01, 0.01), position=place, name=f"rod_{k}")
        above = "world" if k == 0 else f"rod_{k - 1}"
        scene.add_joint(rb.Ball(above, f"rod_{k}", at=(LENGTH * k, 0, 0), axis=(1, 0, 0), swing=0.1, twist=(-0.4, 0.4)))
    spin = (5.0, 15.0, -20.0)
    scene.change_body("rod_2", angular_velocity=spin, velocity=np.cross(spin, (0.5 * LENGTH, 0, 0)))
    sim = rb.Simulation(scene, time_step=1 / 120, joints=joints, warn=False)
    energy = sim.energy().total
    for _ in range(60):
        sim.step()
        assert sim.report.converged, sim.report.reason
        axes = rb.rotation.rotate(np.concatenate([[[0, 0, 0, 1.0]], sim.state.orientation]), (1.0, 0, 0))
        assert np.arccos(np.clip((axes[1:] * axes[:-1]).sum(axis=1), -1.0, 1.0)).max() < 0.1 + 1e-5
        assert sim.energy().total < energy + 1e-3
