"""A joint placed by a frame on each body is the joint placed in the world where the two frames are."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.core import arrays
from rattleback.core.device import find
from rattleback.joints import MENU
from rattleback.model.compile import compile_scene
from rattleback.problem.joint_rows import compile_joints

PAIRS = [("world", "arm"), ("base", "arm"), ("arm", "wall"), ("arm", "world")]
AXIS = np.array([0.6, 0.0, 0.8])
ACROSS = np.array([0.8, 0.0, -0.6])
AT = np.array([0.3, -0.2, 0.5])


def bodies() -> rb.Scene:
    """Two bodies whose centres of mass are not the origins of their frames, and a static one."""
    scene, rng = rb.Scene(gravity=(0, 0, 0)), np.random.default_rng(5)
    for name in ("base", "arm"):
        place = {"origin": rng.uniform(-1, 1, 3), "orientation": Rotation.random(rng=rng).as_quat()}
        scene.add_body(mass=2.0, inertia=(0.1, 0.2, 0.25), center_of_mass=rng.uniform(-0.3, 0.3, 3), name=name, **place)
    scene.add_static(rb.Box(1, 1, 1), position=(0, 0, -2), orientation=(0, 0.6, 0, 0.8), name="wall")
    return scene


def in_world(name: str, a: str, b: str) -> Any:
    given: dict[str, Any] = {
        "double_rotation": {"axis_b": ACROSS},
        "universal": {"axis_b": ACROSS},
        "distance": {"at_b": AT + 0.3},
        "distance_to_line": {"at_b": AT + 0.3},
        "distance_to_plane": {"at_b": AT + 0.3},
        "screw": {"pitch": 0.1},
        "gear": {"at_b": AT + 0.9 * ACROSS, "ratio": 2.0},
        "rack": {"axis_b": ACROSS, "radius": 0.4},
        "velocity_joint": {"linear": (0.1, None, None), "angular": (None, None, 2.0)},
    }.get(name, {})
    return MENU[name](a, b, at=AT, axis=AXIS, **given)


def in_bodies(scene: rb.Scene, joint: Any) -> Any:
    """The same joint, its frames worked out with SciPy from where the bodies' own frames are."""
    frames = {}
    for side, point, turn in zip("ab", joint.points(), joint.frames(), strict=True):
        name = getattr(joint, side)
        origin, own = np.zeros(3), Rotation.identity()
        if name != "world":
            origin, own = scene[name].origin, Rotation.from_quat(scene[name].orientation)
        frames[f"frame_{side}"] = (own.inv().apply(point - origin), (own.inv() * Rotation.from_quat(turn)).as_quat())
    needed = {
        key: getattr(joint, key)
        for key in ("length", "pitch", "radii", "radius", "linear", "angular")
        if hasattr(joint, key)
    }
    return type(joint)(joint.a, joint.b, **frames, **needed)


def compiled(scene: rb.Scene, joint: Any) -> dict[str, np.ndarray]:
    whole = scene.copy()
    whole.add_joint(joint, name="joint")
    held = compile_joints(compile_scene(whole, None, find("cpu"))[0])
    found = {**arrays.read(held.joints), **arrays.read(held.definitions)}
    for name in ("turn_a", "turn_b"):
        found[name] = Rotation.from_quat(found[name]).as_matrix()
    return found


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize("name", MENU)
def test_frames_on_the_bodies_are_frames_in_the_world(name: str, a: str, b: str) -> None:
    scene = bodies()
    world = in_world(name, a, b)
    placed = in_bodies(scene, world)
    assert placed.in_bodies
    assert placed.at is placed.axis is placed.at_b is placed.axis_b is None
    expected, found = compiled(scene, world), compiled(scene, placed)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=0, atol=1e-14, err_msg=key)


def test_a_joint_violated_at_the_start_is_closed_by_the_first_steps() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, name="arm")
    frame = ((-0.5, 0.0, 0.0), (0, 0, 0, 1))
    scene.add_joint(
        rb.Revolute("world", "arm", frame_a=((-0.51, 0.01, 0.0), (0, 0, 0, 1)), frame_b=frame), name="hinge"
    )
    sim = rb.Simulation(scene)
    sim.step(3)
    assert sim.report.converged
    end = sim["arm"].position - Rotation.from_quat(sim["arm"].orientation).apply([0.5, 0, 0])
    np.testing.assert_allclose(end, (-0.51, 0.01, 0.0), atol=1e-6)


def test_the_angle_of_a_hinge_placed_by_frames_is_that_between_the_frames() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, name="arm")
    turn = Rotation.from_rotvec([0, 0, 0.7]).as_quat()
    scene.add_joint(rb.Revolute("world", "arm", frame_a=((0, 0, 0), (0, 0, 0, 1)), frame_b=((0, 0, 0), turn)), name="x")
    sim = rb.Simulation(scene)
    sim.step()
    assert sim["x"].angle == pytest.approx(0.7, abs=1e-12)


@pytest.mark.parametrize("internal", [False, True])
def test_gears_placed_by_frames_turn_by_their_radii(internal: bool) -> None:
    """The ring, or the second gear, is 0.2 m wide and lies at the distance the radii ask for."""
    scene, apart = rb.Scene(gravity=(0, 0, 0)), 0.1 if internal else 0.3
    for name, x in (("first", 0.0), ("second", apart)):
        scene.add_body(mass=1.0, inertia=(0.02,) * 3, position=(x, 0, 0), name=name)
        scene.add_joint(rb.Revolute("world", name, at=(x, 0, 0)))
    frames = {"frame_a": ((0, 0, 0), (0, 0, 0, 1)), "frame_b": ((0, 0, 0), (0, 0, 1, 0))}
    scene.add_joint(rb.Gear("first", "second", radii=(0.1, 0.2), internal=internal, **frames))
    scene.add_force(rb.Wrench("first", torque=(0, 0, 0.1)))
    sim = rb.Simulation(scene, time_step=0.01)
    sim.run(1.0)
    assert sim.report.converged
    ratio = sim["first"].angular_velocity[2] / sim["second"].angular_velocity[2]
    assert ratio == pytest.approx(2.0 if internal else -2.0, rel=1e-5)
