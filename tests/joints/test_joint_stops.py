"""Limits of joints as a user writes them: what is kept, what is refused, and what a file holds."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.joints.stop import StopSpec, stops_of


def scene_with(joint: Any) -> rb.Scene:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(joint, name="joint")
    return scene


def test_limits_are_kept_as_numbers_and_infinity_is_none() -> None:
    assert rb.Revolute("world", "arm", limits=[-1, 2]).limits == (-1.0, 2.0)
    assert rb.Revolute("world", "arm", limits=np.array([-1, 2])).limits == (-1.0, 2.0)
    assert rb.Revolute("world", "arm", limits=(-math.inf, 2)).limits == (None, 2.0)
    assert rb.Revolute("world", "arm", limits=(None, math.inf)).limits is None
    assert rb.Revolute("world", "arm").stops() == []


def test_every_freedom_has_its_stop() -> None:
    far = math.inf
    across = {"axis": (1, 0, 0), "axis_b": (0, 1, 0)}
    assert rb.Prismatic("world", "arm", limits=(0, None)).stops() == [StopSpec("slide_z", 0.0, far, 0.0)]
    both = rb.Cylindrical("world", "arm", limits=(0, 1), turn_limits=(None, 2), restitution=0.5)
    assert both.stops() == [StopSpec("slide_z", 0.0, 1.0, 0.5), StopSpec("turn_z", -far, 2.0, 0.5)]
    crossed = rb.Universal("world", "arm", **across, limits=(-1, 1), limits_b=(-2, 0.5))
    assert [stop.freedom for stop in crossed.stops()] == ["turn_a", "turn_b"]
    assert rb.Screw("world", "arm", pitch=1, limits=(0, 9)).stops() == [StopSpec("turn_z", 0.0, 9.0, 0.0)]
    assert stops_of(rb.Ball("world", "arm")) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"limits": (1, 0)}, "The limits of Revolute are 1.0 and 0.0; the lower one must be below the upper one."),
        ({"limits": 1.0}, "The limits of Revolute are 1.0; they must be a pair (lower, upper), None where there is no"),
        ({"limits": (0, 1, 2)}, "they must be a pair"),
        ({"limits": ("a", 1)}, "The lower of the limits of Revolute is 'a'; it must be a number."),
        ({"limits": (0, -math.inf)}, "The upper of the limits of Revolute is -inf; it must be finite."),
        ({"restitution": 1.5}, "The restitution of Revolute is 1.5; it must be between 0 and 1."),
        ({"restitution": "bouncy"}, "The restitution of Revolute is 'bouncy'; it must be a number."),
    ],
)
def test_limits_that_make_no_sense_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(rb.InputError) as caught:
        rb.Revolute("world", "arm", **given)
    assert message in str(caught.value)


@pytest.mark.parametrize("limits", [(None, 1), (-1, 3.2)])
def test_a_universal_joint_needs_both_limits_within_half_a_turn(limits: Any) -> None:
    with pytest.raises(rb.InputError, match="The limits_b of Universal are .*needs both, each less than half a turn"):
        rb.Universal("world", "arm", axis=(1, 0, 0), axis_b=(0, 1, 0), limits_b=limits)


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        (rb.Revolute("world", "arm", limits=(0.1, 1)), "starts at 0 rad, outside its limits from 0.1 to 1 rad"),
        (rb.Prismatic("world", "arm", at_b=(0, 0, 2), limits=(None, 1)), "starts at 2 m, outside its limits from -inf"),
        (
            rb.Universal("world", "arm", axis=(1, 0, 0), axis_b=(0, 1, 0), limits_b=(-1, -0.5)),
            "starts at 0 rad, outside its limits from -1 to -0.5 rad; move its bodies or its limits.",
        ),
    ],
)
def test_a_start_outside_the_limits_is_refused(joint: Any, message: str) -> None:
    with pytest.raises(rb.InputError) as caught:
        rb.Simulation(scene_with(joint))
    assert str(caught.value).startswith("Joint 'joint' starts at ")
    assert message in str(caught.value)


def test_a_scene_without_limits_records_nothing_for_them() -> None:
    def kernels(nodes: Any) -> set[str]:
        inner = [kernels(node.nodes) for node in nodes if hasattr(node, "nodes")]
        return {node.kernel.module.name for node in nodes if hasattr(node, "kernel")}.union(*inner)

    for limits, expected in ((None, False), ((-1, 1), True)):
        stages = rb.Simulation(scene_with(rb.Revolute("world", "arm", limits=limits)))._step.program.stages
        modules = set().union(*(kernels(nodes) for nodes in stages.values()))
        assert any("joint_limit" in module or "limit_choice" in module for module in modules) == expected


def test_limits_come_back_from_a_file(tmp_path: Path) -> None:
    across = {"axis": (1, 0, 0), "axis_b": (0, 1, 0)}
    for joint in (
        rb.Revolute("world", "arm", limits=(-4 * math.pi, None), restitution=0.25),
        rb.Prismatic("world", "arm", limits=(-0.1, 0.2)),
        rb.Cylindrical("world", "arm", turn_limits=(None, 1.0)),
        rb.Universal("world", "arm", **across, limits=(-1, 1), limits_b=(-0.5, 0.5), restitution=1.0),
        rb.Screw("world", "arm", pitch=0.1, limits=(0, 1)),
        rb.Ball("world", "arm", axis=(1, 0, 0), swing=0.5, twist=(-1, 0.25), restitution=0.5),
    ):
        scene_with(joint).save(tmp_path / "limits.json")
        assert rb.Scene.load(tmp_path / "limits.json").joints["joint"] == joint


def test_assembling_keeps_the_limits_and_the_zero_of_the_angles() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(1.5, 0, 0), name="hand")
    across = {"axis": (0, 0, 1), "axis_b": (0, 1, 0)}
    scene.add_joint(rb.Universal("arm", "hand", at=(1, 0, 0), **across, limits=(-1, 1), limits_b=(-1, 1)), name="wrist")
    scene.add_joint(rb.Ball("world", "arm", at=(0.1, 0, 0), at_b=(0, 0, 0)))
    scene.assemble()
    assert scene.joints["wrist"].limits == (-1.0, 1.0)
    sim = rb.Simulation(scene)
    sim.run(0.2)
    assert sim.report.converged


@pytest.mark.parametrize("turning", [3.5, 5.0, 6.3])
def test_a_body_that_would_turn_by_more_than_half_a_turn_in_a_step_is_held_by_its_stop(turning: float) -> None:
    """By its pose alone it would end just below the lower limit, or within both after a full turn."""
    rate = 60
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(0.3, 0.3, 0.3), mass=100.0, name="frame")
    scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=1.0, name="rotor", angular_velocity=(0, 0, turning * rate))
    scene.add_joint(rb.Revolute("frame", "rotor", axis=(0, 0, 1), limits=(-0.6, 0.35)), name="hinge")
    sim = rb.Simulation(scene, time_step=1 / rate)
    frame, rotor = (sim.scene.bodies[i].inertia[2, 2] for i in range(2))
    sim.step()
    # Without rebound both turn alike afterwards, with the angular momentum they had.
    spin = rotor / (frame + rotor) * turning * rate
    np.testing.assert_allclose(sim["rotor"].angular_velocity, (0, 0, spin), atol=1e-6 * turning * rate)
    np.testing.assert_allclose(sim["frame"].angular_velocity, (0, 0, spin), atol=1e-6 * turning * rate)
    turned = [2 * np.arctan2(*sim[name].orientation[2:]) for name in ("frame", "rotor")]
    assert turned[1] - turned[0] == pytest.approx(0.35, abs=1e-3)
