"""Contacts of trees: how touching bodies answer to each other, alone, with stops, and where there are too many."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.scenes import humanoid

pytestmark = pytest.mark.contacts


def test_touching_bodies_answer_as_a_sweep_through_the_trees_says():
    sim = rb.Simulation(humanoid(limp=True, limits=False, lean=1.5), time_step=0.001, joints="reduced", warn=False)
    sim.step(700)
    through = sim._step.preview.solver.through
    touching, room = through.answers.touching, through.answers.room
    rows = touching.body.numpy()[: touching.count.numpy()[0]]
    blocks = {name: getattr(touching, name).numpy() for name in ("way_push", "way_twist", "turn_push", "turn_twist")}
    assert len(rows) >= 4
    for b, j in enumerate(rows):
        turn = Rotation.from_quat(sim.state.orientation[j]).as_matrix()
        inertia = turn @ sim.scene.bodies[j].inertia @ turn.T
        free = np.zeros((6 * len(sim.model.names), 6))
        free[6 * j : 6 * j + 3, :3] = np.eye(3) / sim.model.mass[0, j]
        free[6 * j + 3 : 6 * j + 6, 3:] = np.linalg.inv(inertia)
        expected = through.changed(free)
        for a, i in enumerate(rows):
            pair = b * room + a
            upper = np.hstack([blocks["way_push"][pair], blocks["way_twist"][pair]])
            lower = np.hstack([blocks["turn_push"][pair], blocks["turn_twist"][pair]])
            found = np.vstack([upper, lower])
            assert np.abs(found - expected[6 * i : 6 * i + 6]).max() <= 1e-12 * np.abs(expected).max()


def leg(joints: str) -> rb.Simulation:
    """A trunk on a leg whose knee is at its limit, and whose hip hangs on a vertical slide; it stands on the ground."""
    scene = rb.Scene()
    ground = rb.Material(friction=0.5)
    scene.add_static(rb.Plane(), material=ground)
    trunk = scene.add_body(rb.Box(0.3, 0.3, 0.3), mass=5.0, position=(0, 0, 1.15), name="trunk")
    scene.add_joint(rb.Prismatic(scene.world, trunk, at=(0, 0, 1.15), axis=(0, 0, 1)))
    thigh = scene.add_body(rb.Box(0.08, 0.08, 0.4), mass=1.0, position=(0.05, 0, 0.8), name="thigh")
    shin = scene.add_body(rb.Box(0.08, 0.08, 0.4), mass=1.0, position=(0.05, 0, 0.4), name="shin")
    foot = scene.add_body(rb.Sphere(0.05), mass=0.3, position=(0.05, 0, 0.2), name="foot", material=ground)
    scene.add_joint(rb.Revolute(trunk, thigh, at=(0.05, 0, 1.0), axis=(0, 1, 0), limits=(-0.3, 0.3)), name="hip")
    scene.add_joint(rb.Revolute(thigh, shin, at=(0.05, 0, 0.6), axis=(0, 1, 0), limits=(0.0, 1.0)), name="knee")
    scene.add_joint(rb.Fixed(shin, foot, at=(0.05, 0, 0.2)))
    return rb.Simulation(scene, time_step=0.001, joints=joints, warn=False)


def test_a_leg_on_its_stops_comes_down_as_with_the_method_of_rows():
    ends = []
    for joints in ("reduced", "direct"):
        sim = leg(joints)
        # It falls into a knee that bends until the hip is at its limit.
        sim["thigh"].angular_velocity = (0, -0.5, 0)
        sim.step(1500)
        knee, hip = sim["knee"].angle, sim["hip"].angle
        assert -1e-5 <= knee <= 1.0 + 1e-5
        assert -0.3 - 1e-5 <= hip <= 0.3 + 1e-5
        ends.append([knee, hip, sim["trunk"].position[2]])
        assert np.abs(sim.state.velocity).max() < 1e-3
        assert np.abs(sim.contacts.force[:, 2]).sum() == pytest.approx(7.3 * 9.81, rel=1e-2)
    assert np.allclose(ends[0], ends[1], atol=2e-4)


def test_more_bodies_than_there_is_room_for_lie_on_the_ground_too():
    scene, before = rb.Scene(), None
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.5))
    for k in range(30):
        ball = scene.add_body(rb.Sphere(0.1), mass=0.2, position=(0.25 * k, 0, 0.1001), name=f"bead_{k}")
        if before is not None:
            scene.add_joint(rb.Ball(before, ball, at=(0.25 * k - 0.125, 0, 0.1001)))
        before = ball
    sim = rb.Simulation(scene, time_step=0.002, joints="reduced", warn=False)
    sim.step(300)
    assert sim._step.preview.solver.through.answers.touching.count.numpy()[0] == -1
    assert np.abs(sim.contacts.force[:, 2]).sum() == pytest.approx(30 * 0.2 * 9.81, rel=1e-3)
    assert sim.report.penetration <= sim.report.penetration_tolerance
