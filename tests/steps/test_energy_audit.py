"""The energy audit tells what is gained, in joules, against the change of kinetic and potential energy itself."""

import re

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts


def sunk_box(jointed: bool) -> rb.Simulation:
    """A box at rest that is 5 cm deep in the ground; the report names the overlap, and has to name the lift."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.05), name="box")
    if jointed:
        scene.add_joint(rb.Prismatic("world", "box", axis=(0, 0, 1)), name="rail")
    return rb.Simulation(scene, time_step=1 / 60, warn=False)


@pytest.mark.parametrize("jointed", [False, True])
def test_weight_that_is_lifted_out_of_an_overlap_is_told_in_joules(jointed: bool) -> None:
    sim = sunk_box(jointed)
    told, before = 0, sim.energy().total
    for _ in range(20):
        sim.step()
        after = sim.energy().total
        if sim.report.energy_gained > 0.0:
            assert sim.report.energy_gained == pytest.approx(after - before, rel=1e-6)
        if sim.report.energy_gained > 0.01:
            told += 1
            assert not sim.report.converged
            assert not jointed or re.search(
                r"Joints, contacts and their corrections added .* J to the energy in a step, more than the .* J that "
                r"tolerances allow, most of it at body 'box'",
                sim.report.reason,
            )
        else:
            assert after - before < 0.01
        before = after
    assert told > 0


def test_a_call_of_many_steps_tells_the_largest_gain() -> None:
    sim, single = sunk_box(True), sunk_box(True)
    sim.step(20)
    gains = []
    for _ in range(20):
        single.step()
        gains.append(single.report.energy_gained)
    assert sim.report.energy_gained == max(gains)


def test_what_motors_springs_and_the_user_put_in_is_no_gain() -> None:
    """The arm is lifted by a servo and pulled by a spring, the cart is pushed by hand; energy rises by far."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=2.0, position=(0.5, 0, 2.0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", at=(0, 0, 2.0), axis=(0, 1, 0)), name="hinge")
    scene.add_force(rb.Servo("hinge", target=-1.0, gain=200.0, rate_time=0.1, limit=40.0), name="motor")
    scene.add_force(rb.Spring("world", "arm", at=(0.5, 0.5, 2.5), at_b=(0.9, 0, 2.0), stiffness=50.0), name="spring")
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(3, 0, 0.1), name="cart")
    sim = rb.Simulation(scene, time_step=1 / 240)
    start = sim.energy().total
    for _ in range(240):
        sim["cart"].applied_force = (5.0, 0, 0)
        sim.step()
        assert sim.report.energy_gained == 0.0
        assert sim.report.converged
    assert sim.energy().total - start > 5.0


def test_what_the_user_has_put_apart_may_be_lifted_together() -> None:
    """The lower of two bars is put 2 cm too low; closing lifts it, which is not held against the joint."""
    scene = rb.Scene()
    for k in range(2):
        scene.add_body(rb.Box(0.1, 0.1, 1.0), mass=1.0, position=(0, 0, -k - 0.5), name=f"bar_{k}")
        scene.add_joint(rb.Ball(f"bar_{k - 1}" if k else "world", f"bar_{k}", at=(0, 0, -k)), name=f"joint_{k}")
    sim = rb.Simulation(scene, time_step=1 / 60, contacts="none")
    sim["bar_1"].position = (0, 0, -1.52)
    before = sim.energy().total
    sim.step()
    assert sim.energy().total - before == pytest.approx(9.81 * 0.02, rel=0.05)
    assert (sim.report.energy_gained, sim.report.converged) == (0.0, True)


def test_bodies_on_a_belt_are_driven_and_not_audited() -> None:
    scene = rb.Scene()
    scene.add_static(rb.Box(4, 4, 0.2), position=(0, 0, -0.1), velocity=(1.0, 0, 0), name="belt")
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.1), name="box")
    sim = rb.Simulation(scene, time_step=1 / 60)
    sim.run(1.0)
    assert sim.energy().kinetic > 0.5
    assert sim.report.energy_gained == 0.0


def test_worlds_are_audited_for_themselves() -> None:
    scene = sunk_box(True).scene
    sim = rb.Simulation(scene, time_step=1 / 60, worlds=2, warn=False)
    position = np.array(sim["box"].position)
    position[0, 2] = 0.2
    sim["box"].position = position
    sim.step()
    assert sim.report.energy_gained > 0.0
    assert "body 'box' of world 1" in sim.report.reason
