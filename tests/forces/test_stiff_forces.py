"""Forces too stiff for the step: what fails names them, with the longest step that would do."""

import math
import re
import warnings
from typing import Any

import numpy as np
import pytest

import rattleback as rb


def pulled(force: Any, at: tuple[float, float, float] = (1, 0, 0)) -> rb.Scene:
    """A ball of 2 kg beside the world."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=2.0, position=at, velocity=(1, 0, 0), name="ball")
    scene.add_force(force, "brace")
    return scene


def named(message: str) -> float:
    """The step that is named [s]."""
    found = re.search(r"Force 'brace' is too stiff for a step of [\d.e-]+ s: .* below ([\d.e-]+) s", message)
    assert found, message
    return float(found[1])


def spring(stiffness: float, damping: float = 0.0) -> rb.Spring:
    return rb.Spring("world", "ball", at=(0, 0, 0), at_b=(1, 0, 0), stiffness=stiffness, damping=damping)


@pytest.mark.parametrize(
    ("force", "longest"),
    [
        (spring(2e6), 2.0 / 1e3),
        (spring(0.0, 4e3), 2.0 / 2e3),
        (rb.Drag(linear=4e3), 2.0 / 2e3),
        (rb.Drag(quadratic=1e4), 2.0 / 1e4),
    ],
)
def test_a_run_that_diverges_names_the_force_and_the_step_it_needs(force: Any, longest: float) -> None:
    sim = rb.Simulation(pulled(force), time_step=0.01)
    with pytest.raises(rb.DivergenceError) as caught:
        sim.step(1000)
    assert named(str(caught.value)) == pytest.approx(longest, rel=0.05)
    assert "or integrator='implicit_euler'." in str(caught.value)


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_spring_is_followed_up_to_the_step_named(factor: float) -> None:
    """A ball on a spring of 1,000 rad/s: a central difference holds up to ω h = 2 and grows beyond."""
    sim = rb.Simulation(pulled(spring(2e6)), time_step=factor * 2e-3)
    if factor < 1.0:
        sim.step(1000)
        assert np.abs(sim.state.velocity).max() < 10.0
        assert sim.report.reason == ""
    else:
        with pytest.raises(rb.DivergenceError):
            sim.step(1000)


def test_joints_that_give_way_to_a_stiff_torsion_spring_name_it() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", axis=(0, 0, 1)), "hinge")
    scene.add_force(rb.TorsionSpring("hinge", stiffness=1e6, angle=0.1), "brace")
    free = scene["arm"].principal_moments.max()
    sim = rb.Simulation(scene, time_step=0.01, strict=True)
    with pytest.raises((rb.NotConverged, rb.DivergenceError)) as caught:
        sim.step(1000)
    assert named(str(caught.value)) == pytest.approx(2.0 / math.sqrt(1e6 / free), rel=0.05)


def test_a_lever_and_a_second_body_make_a_spring_stiffer() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", 2.0)):
        scene.add_body(rb.Sphere(0.5), mass=2.0, position=(x, 0, 0), velocity=(0, x, 0), name=name)
    ends = {"at": (0, 0.4, 0), "at_b": (2, 0.4, 0)}
    scene.add_force(rb.Spring("a", "b", stiffness=1e6, **ends), "brace")
    moment = 0.4 * 2.0 * 0.5**2
    sim = rb.Simulation(scene, time_step=0.01)
    with pytest.raises(rb.DivergenceError) as caught:
        sim.step(1000)
    ease = 2.0 * (1.0 / 2.0 + 0.4**2 / moment)
    assert named(str(caught.value)) == pytest.approx(2.0 / math.sqrt(1e6 * ease), rel=0.05)


@pytest.mark.parametrize("integrator", ["implicit_euler", "rk45"])
def test_what_stiff_forces_do_not_limit_does_not_name_them(integrator: str) -> None:
    sim = rb.Simulation(pulled(spring(2e6, 1e3)), time_step=0.01, integrator=integrator, warn=False)
    sim.step(20)
    assert "brace" not in sim.report.reason


def test_a_healthy_run_is_not_warned_of_a_stiff_force() -> None:
    """At rest a stiff spring does no harm."""
    sim = rb.Simulation(pulled(spring(2e6)), time_step=0.01)
    sim["ball"].velocity = (0, 0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step(50)
    assert sim.report.converged
    assert sim.report.reason == ""


def test_damping_that_joints_share_is_not_blamed() -> None:
    """Damping of jointed bodies does not limit the step; a servo beside it that does is."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", axis=(0, 0, 1)), "hinge")
    scene.add_force(rb.TorsionSpring("hinge", stiffness=0.0, damping=1e4), "brace")
    scene.add_force(rb.Servo("hinge", control="velocity", target=1.0, gain=1e4), "motor")
    sim = rb.Simulation(scene, time_step=0.01, warn=False)
    sim.step(10)
    assert "Servo 'motor'" in sim.report.reason
    assert "brace" not in sim.report.reason
