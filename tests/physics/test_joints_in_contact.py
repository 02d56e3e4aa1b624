"""Joints stay within their tolerance where contacts push their bodies, and contacts where joints do."""

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.scenes import ragdoll_on_stairs

pytestmark = pytest.mark.contacts
G, TOLERANCE = 9.81, 1e-6


@contextmanager
def unconverged_contacts() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        yield


class Seams:
    """The anchors of every joint as its two bodies carry them along."""

    def __init__(self, sim: rb.Simulation) -> None:
        self.sim = sim
        self.ends = [[self._end(body, joint.at) for body in (joint.a, joint.b)] for joint in sim.scene.joints.values()]

    def _pose(self, body: str) -> tuple[np.ndarray, Rotation]:
        if body == "world":
            return np.zeros(3), Rotation.identity()
        view = self.sim[body]
        return np.array(view.position), Rotation.from_quat(view.orientation)

    def _end(self, body: str, at: np.ndarray) -> tuple[str, np.ndarray]:
        place, turn = self._pose(body)
        return body, turn.inv().apply(np.asarray(at) - place)

    def widest(self) -> float:
        gaps = []
        for ends in self.ends:
            a, b = (place + turn.apply(arm) for (place, turn), arm in ((self._pose(body), arm) for body, arm in ends))
            gaps.append(float(np.linalg.norm(a - b)))
        return max(gaps)


def watch(sim: rb.Simulation, seconds: float, deep: float, along: Callable[[], None] = lambda: None) -> None:
    """Run, and look at every joint and at the report after every step."""
    seams = Seams(sim)
    while sim.time < seconds - 1e-9:
        sim.step()
        along()
        assert seams.widest() <= TOLERANCE
        report = sim.report
        assert max(report.position_error, report.orientation_error, report.velocity_error) <= TOLERANCE
        assert report.penetration <= deep


def gate(push: float) -> rb.Simulation:
    """A smooth bar hinged to a post at one end, level; its other end is to fall on a block."""
    scene, smooth = rb.Scene(), rb.Material(friction=0.0)
    scene.add_static(rb.Box(0.2, 0.4, 0.2), position=(1.0, 0, -0.25), name="block", material=smooth)
    bar = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=6.0, position=(0.5, 0, 0), name="bar", material=smooth)
    scene.add_joint(rb.Revolute("world", bar, at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    scene.add_force(rb.Wrench("bar", force=(0, 0, -push)))
    return rb.Simulation(scene, time_step=0.005)


def test_a_hinged_bar_that_is_pressed_on_a_block_stays_on_its_hinge_and_shares_its_load() -> None:
    """Moments about the hinge give what the block carries, along the normal there; the hinge carries the rest."""
    sim = gate(push=80.0)
    watch(sim, 1.5, 3.3e-5)
    load, (x, _, z), normal = 6.0 * G + 80.0, sim.contacts.point.mean(axis=0), sim.contacts.normal[0]
    normal = normal * np.sign(normal[2])
    carried = load * float(sim["bar"].position[0]) / (x * normal[2] - z * normal[0]) * normal
    np.testing.assert_allclose(sim["hinge"].reaction_force, [-carried[0], 0, load - carried[2]], atol=1e-3 * load)
    assert np.abs(sim["bar"].velocity).max() < 1e-4


@pytest.mark.parametrize("ratio", [1.0, 30.0, 300.0])
def test_a_light_foot_carries_a_heavy_body_with_the_default_number_of_sweeps(ratio: float) -> None:
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    foot = scene.add_body(rb.Box(0.3, 0.2, 0.05), mass=1.0, position=(0, 0, 0.025), name="foot")
    body = scene.add_body(rb.Box(0.3, 0.2, 1.0), mass=ratio, position=(0, 0, 0.6), name="body")
    scene.add_joint(rb.Fixed(foot, body, at=(0, 0, 0.1)), name="ankle")
    scene.allow("foot", "body")
    sim = rb.Simulation(scene, time_step=0.005)
    watch(sim, 0.3, 3.3e-5)
    assert sim.report.converged
    assert sim["ankle"].reaction_force[2] == pytest.approx(ratio * G, rel=1e-3)
    assert np.abs(sim["foot"].velocity).max() < 1e-3


def gripper(squeeze: float) -> rb.Simulation:
    """Two fingers on rails that push on a cube from both sides with a force each."""
    scene = rb.Scene()
    # The coefficients of two surfaces add up: μ = 0.5.
    grip = rb.Material(friction=0.25)
    scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 0), name="cube", material=grip)
    for name, side in (("left", -1.0), ("right", 1.0)):
        at = (side * 0.07, 0, 0)
        scene.add_body(rb.Box(0.04, 0.1, 0.1), mass=0.2, position=at, name=name, material=grip)
        scene.add_joint(rb.Prismatic("world", name, at=at, axis=(1, 0, 0)), name=f"{name}_rail")
        scene.add_force(rb.Wrench(name, force=(-side * squeeze, 0, 0)))
    return rb.Simulation(scene, time_step=0.005)


def off_rails(sim: rb.Simulation) -> float:
    return max(float(np.abs(sim[name].position[1:]).max()) for name in ("left", "right"))


def test_two_fingers_hold_a_cube_by_friction() -> None:
    """μ 2 N = 15 N is more than the weight of 9.81 N."""
    sim = gripper(15.0)
    while sim.time < 0.5:
        sim.step()
        assert off_rails(sim) <= TOLERANCE
        assert sim.report.penetration <= 3.3e-5
    assert abs(sim["cube"].position[2]) < 5e-4
    assert abs(sim["cube"].velocity[2]) < 1e-3


def test_a_cube_slips_through_fingers_that_are_too_weak() -> None:
    """With μ 2 N = 5 N it falls with g − 5 N / m."""
    sim = gripper(5.0)
    with unconverged_contacts():
        while sim.time < 0.1 - 1e-9:
            sim.step()
            assert off_rails(sim) <= TOLERANCE
            assert sim.report.penetration <= 3.3e-5
    fall = G - 5.0
    assert sim["cube"].velocity[2] == pytest.approx(-fall * sim.time, rel=2e-3)


@pytest.mark.parametrize("nearer", [0.0, 1e-4, -1e-4])
def test_a_double_pendulum_that_swings_against_a_wall_keeps_its_hinges(nearer: float) -> None:
    # Its lower end jams, and impulses there change next to no velocity.
    scene = rb.Scene()
    scene.add_static(rb.Box(0.2, 1.0, 4.0), position=(-0.25 + nearer, 0, 0), name="wall")
    for k, x in enumerate((0.5, 1.5)):
        scene.add_body(rb.Capsule(0.08, 0.7), mass=1.0, position=(x, 0, 0), orientation=turned(), name=f"link_{k}")
    scene.add_joint(rb.Revolute("world", "link_0", at=(0, 0, 0), axis=(0, 1, 0)), name="upper")
    scene.add_joint(rb.Revolute("link_0", "link_1", at=(1, 0, 0), axis=(0, 1, 0)), name="lower")
    sim = rb.Simulation(scene, time_step=0.005)
    energies = [sim.energy().total]
    with unconverged_contacts():
        watch(sim, 1.5, 5e-4, lambda: energies.append(sim.energy().total))
    assert min(float(sim[f"link_{k}"].position[0]) for k in (0, 1)) > -0.15
    assert max(np.diff(energies)) < 2e-3 * (max(energies) - min(energies))
    assert energies[-1] < energies[0] - 1.0


def turned() -> np.ndarray:
    """From z to x."""
    return Rotation.from_euler("y", math.pi / 2).as_quat()


@pytest.mark.parametrize("contact_time", ["off", "interpolate"])
def test_a_ragdoll_that_hits_stairs_holds_together(contact_time: str) -> None:
    sim = rb.Simulation(ragdoll_on_stairs(), time_step=0.005, contact_time=contact_time)
    energies = [sim.energy().total]
    with unconverged_contacts():
        watch(sim, 0.6, 1e-3, lambda: energies.append(sim.energy().total))
    assert max(np.diff(energies)) < 1e-4 * energies[0]


def test_a_stop_and_its_hinge_are_judged_as_they_are_reported() -> None:
    """A knee that is driven against its stop: the report adds the two as squares, and that is what must be small."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), position=(0, 0, -2.2))
    for k, z in enumerate((-0.5, -1.5)):
        scene.add_body(rb.Box(0.2, 0.2, 0.9), mass=1.0, position=(0, 0, z), name=f"leg_{k}", velocity=(3.0 * k, 0.4, 0))
    scene.add_joint(rb.Ball("world", "leg_0", at=(0, 0, 0)), name="hip")
    scene.add_joint(rb.Revolute("leg_0", "leg_1", at=(0, 0, -1), axis=(0, 1, 0), limits=(-0.3, 0.3)), name="knee")
    watch(rb.Simulation(scene, time_step=0.01), 1.0, 1e-3)
