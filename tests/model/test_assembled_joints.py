"""What an assembled scene takes along: joints, gears, screws and springs stay where they are on their bodies."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb


def pose(scene, name):
    """Position and rotation of a body."""
    return scene[name].position, Rotation.from_quat(scene[name].orientation)


def test_a_simulation_starts_closed_and_finds_joints_by_name_and_angle():
    scene = rb.Scene()
    scene.add_body(
        rb.Box(1, 0.1, 0.1), name="arm", position=(3, 1, 0), orientation=(0, 0, math.sin(0.2), math.cos(0.2))
    )
    place = ((0, 0, 0), (0, 0, 0, 1))
    mount = rb.Fixed("world", "arm", frame_a=place, frame_b=place)
    hinge = rb.Revolute("world", "arm", at=(0, 0, 0), at_b=(2.5, 1, 0))
    scene.add_joint(hinge, name="hinge")
    scene.assemble(tolerance=1e-10)
    assert scene.joint_name(hinge) == scene.joint_name("hinge") == "hinge"
    assert scene.copy().joint_name(hinge) == "hinge"
    assert scene.joint_name(mount) is None
    assert scene.joint_name("mount") is None
    turned = Rotation.from_quat(scene["arm"].orientation).as_rotvec()[2] - 0.4
    sim = rb.Simulation(scene, time_step=1e-6)
    sim.step()
    assert sim.report.position_error < 1e-9
    assert sim["hinge"].angle == pytest.approx(turned, abs=1e-9)  # counted from where the hinge was placed
    reached = scene["arm"].position + Rotation.from_quat(scene["arm"].orientation).apply(
        Rotation.from_rotvec((0, 0, 0.4)).inv().apply((-0.5, 0, 0))
    )
    np.testing.assert_allclose(reached, (0, 0, 0), atol=1e-9)


def test_a_screw_and_the_points_of_a_spring_are_carried_along():
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 0.1, 0.1), name="nut", position=(0, 0, 1))
    scene.add_body(rb.Box(1, 0.1, 0.1), name="arm", position=(5, 0, 1))
    scene.add_joint(rb.Screw("world", "nut", at=(0, 0, 0), at_b=(0, 0, 1), pitch=0.3), name="screw")
    scene.add_joint(rb.Fixed("nut", "arm", at=(0.5, 0, 1), at_b=(4.5, 0, 2)))
    scene.add_force(rb.Spring("nut", "arm", at=(-0.5, 0, 1), at_b=(5.5, 0, 1), stiffness=1.0), name="spring")
    scene.assemble()
    (point, turn), nut = pose(scene, "nut"), scene["nut"]
    np.testing.assert_allclose(nut.position[:2], 0.0, atol=1e-9)
    assert nut.position[2] - 1.0 == pytest.approx(0.3 / (2 * math.pi) * turn.as_rotvec()[2], abs=1e-8)
    np.testing.assert_allclose(scene.forces["spring"].at, point + turn.apply((-0.5, 0, 0)), atol=1e-12)
    origin, turn = pose(scene, "arm")
    np.testing.assert_allclose(scene.forces["spring"].at_b, origin + turn.apply((0.5, 0, 0)), atol=1e-12)
    assert scene.assemble().iterations == 0
    sim = rb.Simulation(scene, time_step=1e-6)
    sim.step()
    assert sim.report.position_error < 1e-8


def test_gears_are_carried_along_and_keep_their_radii():
    scene = rb.Scene()
    for name, x in (("sun", 0.0), ("planet", 0.7)):
        scene.add_body(rb.Cylinder(0.4, 0.1), name=name, position=(x, 0, 3))
    scene.add_joint(rb.Revolute("world", "sun", at=(0, 0, 0), at_b=(0, 0, 3)))
    scene.add_joint(rb.Revolute("world", "planet", at=(0, 0.7, 0), at_b=(0.7, 0, 3)))
    scene.add_joint(rb.Gear("sun", "planet", at=(0, 0, 3), at_b=(0.7, 0, 3), ratio=0.4), name="mesh")
    scene.assemble()
    angles = [Rotation.from_quat(scene[name].orientation).as_rotvec()[2] for name in ("sun", "planet")]
    # The line of centres has turned by a quarter, seen from gears that turned themselves.
    assert 0.5 * (0.5 * math.pi - angles[0]) + 0.2 * (0.5 * math.pi - angles[1]) == pytest.approx(0.0, abs=1e-8)
    assert scene.joints["mesh"].radii == pytest.approx((0.5, 0.2))
    assert scene.assemble().iterations == 0


def test_a_rack_that_no_longer_touches_its_pinion_is_refused():
    scene = rb.Scene()
    pinion = scene.add_body(rb.Cylinder(0.3, 0.1), name="pinion")
    rack = scene.add_body(rb.Box(1, 0.1, 0.1), name="rack", position=(0, -0.3, 0))
    scene.add_joint(rb.Revolute("world", pinion, at=(0, 0, 0)))
    scene.add_joint(rb.Prismatic("world", rack, at=(0, -1, 0), at_b=(0, -0.3, 0), axis=(1, 0, 0)))
    scene.add_joint(rb.Rack(pinion, rack, at=(0, 0, 0), at_b=(0.1, -0.3, 0), axis_b=(1, 0, 0)), name="teeth")
    before = [body.position.tobytes() for body in scene.bodies]
    with pytest.raises(rb.InputError, match="Joint 'teeth' does not fit where its bodies have to go: .* Place it by"):
        scene.assemble()
    assert [body.position.tobytes() for body in scene.bodies] == before


def test_a_velocity_joint_keeps_its_directions_on_the_body():
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 0.1, 0.1), name="arm", position=(3, 0, 0))
    scene.add_body(rb.Box(1, 0.1, 0.1), name="hand", position=(6, 0, 0))
    scene.add_joint(rb.Fixed("world", "arm", at=(0, 0, 0), at_b=(3, 0, 0), axis=(0, 0, 1), axis_b=(1, 0, 0)))
    scene.add_joint(rb.VelocityJoint("arm", "hand", at=(3, 0, 0), linear=(0.0, 2.0, None)), name="drift")
    before = scene.joints["drift"].frames()[0]
    scene.assemble()
    _, turn = pose(scene, "arm")
    assert turn.magnitude() > 1.0
    found = turn * Rotation.from_quat(scene.joints["drift"].frames()[0])
    np.testing.assert_allclose(found.as_matrix(), (turn * Rotation.from_quat(before)).as_matrix(), atol=1e-12)
