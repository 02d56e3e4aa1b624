"""Everyday scenes in which joints, limits and contacts meet, at the steps of games: what stands stays, nothing gains.

Energy may rise by what joints and contacts are allowed to be off: with steps of 1/1000 s and less it rises by
0.005 J in a second of the ankle or the ragdoll, in all.
"""

from collections.abc import Iterator

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts
# The most that energy may rise in a step [J].
RISE = 0.1
# The part of the kinetic energy of late that joints and contacts may add: docs/joints.md.
SHARE = 0.02


def steps_of(sim: rb.Simulation, duration: float) -> Iterator[float]:
    """Take the steps; after each, by how much the energy rose in it beyond a part of the largest kinetic one [J]."""
    before, peak = sim.energy().total, 0.0
    for _ in range(round(duration / sim.time_step)):
        peak = max(peak, sim.energy().kinetic)
        sim.step()
        now = sim.energy().total
        yield now - before - SHARE * peak
        before = now


def names_a_joint(sim: rb.Simulation) -> bool:
    """Whether joints are within their tolerance, or the report names one that is not."""
    report = sim.report
    if report.position_error <= report.position_tolerance:
        return True
    return not report.converged and report.worst_joint in sim.scene.joints


@pytest.mark.slow
@pytest.mark.parametrize("rate", [120, 60, 30])
def test_a_hanging_bridge_stays_where_it_hangs(rate: int) -> None:
    sim = rb.Simulation(rb.scenes.hanging_bridge(), time_step=1 / rate, warn=False)
    start = sim.state.position.copy()
    for rise in steps_of(sim, 10.0):
        assert rise <= 1e-3
        assert names_a_joint(sim)
    assert sim.report.converged
    np.testing.assert_allclose(sim.state.position, start, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [240, 120, 60])
def test_ten_walkers_cross_a_hanging_bridge(rate: int) -> None:
    """They weigh 3.3 times what the bridge does; it gives by some decimetres and carries them."""
    sim = rb.Simulation(rb.scenes.hanging_bridge(walkers=10), time_step=1 / rate, warn=False)
    planks, walkers = sim["bridge"], sim["walkers"]
    for _ in steps_of(sim, 10.0):
        assert names_a_joint(sim)
        assert sim.report.position_error <= 1e-3
        assert sim.report.penetration <= 0.01
        assert np.linalg.norm(planks.velocity, axis=1).max() < 4.0
    assert planks.position[:, 2].min() > -0.9
    assert walkers.position[0, 0] > 9.0
    # The soles of the walkers are on the planks or the banks, the highest of which are at zero.
    heights = walkers.position[:, 2] - 0.85
    assert (heights > -0.9).all()
    assert (heights < 0.1).all()


def falling_leg() -> rb.Scene:
    """A leg of 64 kg that falls over the foot it is hinged to, until the hinge stops and the foot tips."""
    scene, smooth = rb.Scene(), rb.Material(friction=0.15)
    scene.add_static(rb.Plane(), name="ground", material=smooth)
    scene.add_body(rb.Box(0.3, 0.2, 0.05), mass=1.0, position=(0.085, 0, 0.025), name="foot", material=smooth)
    moving = {"velocity": (3.15, 0, 0), "angular_velocity": (0, 4.5, 0)}
    scene.add_body(rb.Box(0.1, 0.1, 1.4), mass=64.0, position=(0, 0, 0.75), name="leg", collision=None, **moving)
    ankle = rb.Revolute("foot", "leg", at=(0, 0, 0.05), axis=(0, 1, 0), limits=(-0.6, 0.35))
    scene.add_joint(ankle, name="ankle")
    return scene


def ragdoll_on_the_landing() -> rb.Scene:
    """The ragdoll of the stairs, 0.6 m further back and to the side."""
    scene, way = rb.scenes.ragdoll_on_stairs(), np.array([-0.6, -0.6, 0.0])
    for body in [body for body in scene.bodies if not body.static]:
        scene.change_body(body, position=body.position + way)
    for name, joint in list(scene.joints.items()):
        scene.change_joint(name, at=joint.at + way, at_b=joint.at_b + way)
    return scene


@pytest.mark.parametrize("rate", [60, 120, 240])
@pytest.mark.parametrize("scene", [falling_leg, ragdoll_on_the_landing])
def test_a_limit_that_is_reached_with_the_foot_on_the_floor_gives_no_energy(scene, rate: int) -> None:
    sim = rb.Simulation(scene(), time_step=1 / rate, warn=False)
    start, rises = sim.energy().total, np.array(list(steps_of(sim, 1.0)))
    assert rises.max() <= RISE
    assert sim.energy().total < start


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{"time_step": 1 / 60}, {"time_step": 1 / 120}, {"time_step": 1 / 240}, {"time_step": 1 / 60, "preset": "fast"}],
)
def test_twenty_ragdolls_fall_down_the_stairs_and_come_to_rest(settings) -> None:
    sim = rb.Simulation(rb.scenes.twenty_ragdolls(), warn=False, **settings)
    moving = [body.name for body in sim.scene.bodies if not body.static]
    for rise in steps_of(sim, 10.0):
        assert rise <= 20 * RISE
        assert names_a_joint(sim)
    places = np.array([sim[name].position for name in moving])
    assert (places[:, 2] > 0.0).all()
    assert (np.abs(places[:, :2]) < 15.0).all()
    # 1400 kg that lie; most of them fell by 3 m and more.
    assert sim.energy().kinetic < 300.0
