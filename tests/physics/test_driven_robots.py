"""Robots of exact joints with servos, armature and friction of joints: standing, gripping, agreement with MuJoCo."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts
RUBBER = rb.Material(friction=1.0)
STIFF = {"gain": 1e5, "rate_time": 0.02}
DRIVEN = {"armature": 0.05, "friction": 1.0}


def quadruped(servo: dict[str, float], h: float, **joint: float) -> rb.Simulation:
    """A body on four legs that are bent at the knees by 1 rad, with a servo at each hinge and spheres for feet."""
    scene, bend, length = rb.Scene(), 0.5, 0.22
    scene.add_static(rb.Plane(), material=RUBBER)
    z = 2.0 * length * np.cos(bend) + 0.03
    scene.add_body(rb.Box(0.6, 0.3, 0.12), mass=8.0, position=(0, 0, z), name="base", material=RUBBER)
    for x, y, name in ((-0.25, -0.17, "a"), (-0.25, 0.17, "b"), (0.25, -0.17, "c"), (0.25, 0.17, "d")):
        hip = np.array((x, y, z))
        knee = hip - length * np.array((np.sin(bend), 0, np.cos(bend)))
        foot = knee + length * np.array((np.sin(bend), 0, -np.cos(bend)))
        for part, width, mass, ends, angle in (
            ("thigh", 0.06, 0.6, (hip, knee), bend),
            ("shank", 0.05, 0.4, (knee, foot), -bend),
        ):
            turned = (0, np.sin(0.5 * angle), 0, np.cos(0.5 * angle))
            given = {"orientation": turned, "name": f"{part}_{name}", "material": RUBBER}
            scene.add_body(rb.Box(width, width, length), mass=mass, position=0.5 * (ends[0] + ends[1]), **given)
        scene.add_body(rb.Sphere(0.03), mass=0.1, position=foot, name=f"foot_{name}", material=RUBBER)
        scene.add_joint(rb.Fixed(f"shank_{name}", f"foot_{name}", at=foot))
        for a, b, at in (("base", f"thigh_{name}", hip), (f"thigh_{name}", f"shank_{name}", knee)):
            hinge = scene.add_joint(rb.Revolute(a, b, at=at, axis=(0, 1, 0), **joint), name=f"to_{b}")
            scene.add_force(rb.Servo(hinge, **servo))
    return rb.Simulation(scene, time_step=h, joints="reduced")


def gripper(**joint: float) -> rb.Simulation:
    """Two fingers with servos on slides below a palm, held up by one, and a kilogram between them."""
    scene = rb.Scene()
    scene.add_body(rb.Box(0.3, 0.1, 0.05), mass=1.0, position=(0, 0, 0.5), name="palm", material=RUBBER)
    scene.add_joint(rb.Prismatic(scene.world, "palm", at=(0, 0, 0.5), axis=(0, 0, 1), **joint), name="lift")
    scene.add_force(rb.Servo("lift", gain=1e5, rate_time=0.05, control="position"))
    for side, name in ((-1, "left"), (1, "right")):
        at = (side * 0.07, 0, 0.38)
        scene.add_body(rb.Box(0.02, 0.08, 0.2), mass=0.2, position=at, name=name, material=RUBBER)
        grip = rb.Prismatic("palm", name, at=(side * 0.07, 0, 0.45), axis=(-side, 0, 0), **joint)
        scene.add_joint(grip, name=f"grip_{name}")
        # Each wants to go two centimetres into the load and may press with 20 N.
        given = {"target": 0.02, "gain": 1e5, "rate_time": 0.05, "limit": 20.0}
        scene.add_force(rb.Servo(f"grip_{name}", control="position", **given))
    scene.add_body(rb.Box(0.12, 0.06, 0.1), mass=1.0, position=(0, 0, 0.34), name="load", material=RUBBER)
    return rb.Simulation(scene, time_step=0.002, joints="reduced")


@pytest.mark.parametrize(
    ("servo", "h", "joint"),
    [
        (STIFF, 1.0 / 60.0, {}),
        (STIFF, 1.0 / 60.0, DRIVEN),
        ({"gain": 1e3, "rate_time": 0.02}, 0.005, DRIVEN),
        ({"gain": 300.0}, 0.002, {"damping": 3.0, "armature": 0.1, "friction": 0.5}),
    ],
)
def test_a_quadruped_stands_on_bent_legs_for_a_minute(
    servo: dict[str, float], h: float, joint: dict[str, float]
) -> None:
    sim = quadruped(servo, h, **joint)
    sim.run(1.0)
    before = np.array(sim["base"].position)
    sim.run(60.0)
    assert sim.report.converged, sim.report.reason
    assert np.abs(sim["base"].position - before).max() <= 5e-5
    assert np.abs(sim.joints.position).max() <= 4.0 / servo["gain"]


@pytest.mark.parametrize("joint", [{}, {"armature": 0.5}, {"armature": 0.5, "friction": 3.0}])
def test_a_gripper_with_servos_holds_a_kilogram_for_a_minute(joint: dict[str, float]) -> None:
    sim = gripper(**joint)
    sim.run(1.0)
    before = sim["load"].position - sim["palm"].position
    sim.run(60.0)
    assert sim.report.converged, sim.report.reason
    assert np.abs(sim["load"].position - sim["palm"].position - before).max() <= 1e-5
    assert sim["load"].position[2] > 0.335
    assert sim.servo("servo_2").effort == 20.0


def arm(h: float) -> rb.Simulation:
    """Two rods of 0.5 m with armature and friction that fall on a plane with their tips."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.0))
    level = (0, 0.5**0.5, 0, 0.5**0.5)
    for k, (armature, friction) in enumerate(zip(ARMATURE, FRICTION, strict=True)):
        at = (0.25 + 0.5 * k, 0, 0.4)
        scene.add_body(rb.Capsule(0.04, 0.48), density=300.0, position=at, orientation=level, name=f"rod_{k}")
        hinge = {"at": (0.5 * k, 0, 0.4), "axis": (0, 1, 0), "armature": armature, "friction": friction}
        scene.add_joint(rb.Revolute(("world", "rod_0")[k], f"rod_{k}", **hinge), name=f"hinge_{k}")
    return rb.Simulation(scene, time_step=h, joints="reduced")


ARMATURE, FRICTION = (0.05, 0.02), (0.3, 0.1)


def mujoco_arm(h: float, end: float) -> np.ndarray:
    """Angles of the same arm in MuJoCo, with contacts and friction of joints as stiff as its step allows."""
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo, pip install mujoco")
    hard = f'solref="{2.0 * h} 1" solimp="0.9999 0.9999 0.001"'
    rough = f'solreffriction="{2.0 * h} 1" solimpfriction="0.9999 0.9999 0.001"'
    rod = (
        '<body pos="{0} 0 {1}"><joint type="hinge" axis="0 1 0" armature="{2}" frictionloss="{3}" ' + rough + "/>"
        '<geom type="capsule" fromto="0.05 0 0 0.45 0 0" size="0.04" density="300" friction="0" '
        + hard
        + "/>{4}</body>"
    )
    inner = rod.format(0.5, 0.0, ARMATURE[1], FRICTION[1], "")
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{h}" gravity="0 0 -9.81" cone="elliptic" iterations="200" tolerance="1e-12"/>'
        f'<worldbody><geom type="plane" size="5 5 1" friction="0" {hard}/>'
        + rod.format(0.0, 0.4, ARMATURE[0], FRICTION[0], inner)
        + "</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    for _ in range(round(end / h)):
        mujoco.mj_step(model, data)
    return np.array(data.qpos)


def test_an_arm_with_drives_falls_and_lies_as_in_mujoco() -> None:
    """While it falls and once it lies; in between the impacts of MuJoCo depend on the softness of its contacts."""
    for end, off in ((0.15, 1e-4), (4.0, 1e-3)):
        truth, sim = mujoco_arm(1e-4, end), arm(5e-4)
        sim.run(end)
        assert sim.report.converged, sim.report.reason
        np.testing.assert_allclose(sim.joints.position, truth, atol=off)
    assert np.abs(sim.joints.velocity).max() <= 1e-6


def test_worlds_copies_and_calls_of_a_driven_quadruped_have_the_same_bits() -> None:
    given: Any = ({"gain": 1e3, "rate_time": 0.02, "reset_time": 1.0}, 0.005)
    alone = quadruped(*given, **DRIVEN)
    batch = rb.Simulation(alone.scene, time_step=0.005, joints="reduced", worlds=2)
    higher = np.array(batch.state.velocity)
    higher[1, :, 2] += 0.5
    batch.state.velocity = higher
    alone.step(60)
    kept = alone.state.copy()
    batch.step(60)
    np.testing.assert_array_equal(batch.state.position[0], alone.state.position)
    assert np.abs(batch.state.position[1] - batch.state.position[0]).max() > 1e-3
    alone.step(40)
    end = alone.hash()
    alone.state = kept
    for _ in range(40):
        alone.step()
    assert alone.hash() == end
