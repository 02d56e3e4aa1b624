"""Light links with heavy rotors that strong motors drive: by themselves they would turn by radians in a step."""

import numpy as np
import pytest

import rattleback as rb

ROTOR, TORQUE, MASS, MOMENT = 5e-3, 2.5, 0.01, 1e-6


def arm(count: int, lever: float, joints: str) -> rb.Simulation:
    """Links of 3 cm in a row without gravity, with rotors that are thousands of times their inertia."""
    scene = rb.Scene(gravity=(0, 0, 0))
    last = scene.world
    for k in range(count):
        given = {"mass": MASS, "inertia": [MOMENT] * 3, "position": (0.03 * k + lever, 0, 0), "name": f"link {k}"}
        link = scene.add_body(**given)
        hinge = rb.Revolute(last, link, at=(0.03 * k, 0, 0), axis=(0, 1, 0), armature=ROTOR)
        scene.add_joint(hinge, name=f"hinge {k}")
        last = link
    return rb.Simulation(scene, time_step=0.002, joints=joints)


@pytest.mark.parametrize("lever", [0.0, 0.015])
@pytest.mark.parametrize("joints", ["direct", "iterative"])
def test_a_motor_on_a_light_link_turns_its_rotor(lever: float, joints: str) -> None:
    sim = arm(1, lever, joints)
    sim["hinge 0"].torque = TORQUE
    sim.run(0.04)
    assert sim.report.converged, sim.report.reason
    expected = 0.04 * TORQUE / (ROTOR + MOMENT + MASS * lever**2)
    assert sim["hinge 0"].velocity == pytest.approx(expected, rel=1e-7)
    assert sim["hinge 0"].angle == pytest.approx(0.02 * expected, rel=1e-4)


def test_a_chain_of_light_links_moves_as_in_reduced_coordinates() -> None:
    found = []
    for joints in ("direct", "reduced"):
        sim = arm(3, 0.015, joints)
        sim["hinge 0"].torque, sim["hinge 2"].torque = TORQUE, -0.5 * TORQUE
        sim.run(0.02)
        assert sim.report.converged, sim.report.reason
        found.append([*sim.joints.velocity, *sim.joints.position])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)
