"""The Stewart platform in dynamics: closed, with six freedoms, and led around its circle by its motors."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.kinematics.stewart import Stewart
from rattleback.scenes.stewart import PLATFORM_MASS, ROD_MASS, circle, felt_inertia, moments_of, stewart


def test_it_has_six_freedoms_and_no_redundant_condition():
    scene = stewart()
    sim = rb.Simulation(scene, time_step=0.001)
    sim.step()
    moving = [body for body in scene.bodies if body.name != "world"]
    rows = sum(len(joint.rows()) for joint in scene.joints.values())
    assert 6 * len(moving) - rows == 6
    assert sim.report.redundant_rows == 0


def test_joints_hold_in_every_step_and_the_platform_stays_on_the_circle():
    sim = rb.Simulation(stewart(), time_step=0.001, joints="direct")
    machine, errors, slides = Stewart.symmetric(), [], [f"slide_{k}" for k in range(6)]
    start = machine.inverse(np.array([[1, 0, 0, 0.1], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1.0]]))
    while sim.time < 3.0:
        sim.step()
        assert sim.report.converged
        assert sim.report.position_error < 1e-6
        assert sim.report.orientation_error < 1e-6
        errors.append((sim.time, np.linalg.norm(sim["platform"].position - circle(sim.time, 0.1, 2.0))))
    time, off = np.array(errors).T
    # At the start the motors bear no load yet: it sags by 1.8 mm, until their integral parts have learned its weight.
    assert off.max() < 3e-3
    assert off[time > 0.6].max() < 1e-3
    # The slides have grown as far as the platform's pose takes.
    body = sim["platform"]
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rb.rotation.matrix_from_quaternion(body.orientation), body.position
    grown = [sim[name].position for name in slides]
    np.testing.assert_allclose(grown, machine.inverse(pose) - start, atol=1e-6)


def test_the_circle_starts_from_rest_and_goes_on_evenly():
    h = 1e-4
    time = np.array([0.0, h, 2 * h])
    assert np.abs(np.diff(circle(time, 0.1, 2.0), axis=0)).max() < 1e-11
    before, after = circle(np.array([2.0 - h, 2.0, 2.0 + h]), 0.1, 2.0), 2.0 * np.pi / 2.0 * 0.1
    speeds = np.linalg.norm(np.diff(before, axis=0), axis=1) / h
    np.testing.assert_allclose(speeds, after, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(circle(np.linspace(0, 6, 50), 0.1, 2.0)[:, :2], axis=1), 0.1)


def test_the_motors_feel_the_least_of_the_energies_of_a_unit_rate():
    # A disc of 20 kg and 0.6 m: m r²/4 across its axis, m r²/2 about it.
    machine, moments = Stewart.symmetric(), np.array([1.8, 1.8, 3.6])
    np.testing.assert_allclose(moments_of(machine), moments)
    generator = np.random.default_rng(1)
    rates = generator.standard_normal((2000, 6))
    rates /= np.linalg.norm(rates, axis=1, keepdims=True)
    motion = np.linalg.solve(machine.jacobian(machine.home), rates.T).T
    twice = PLATFORM_MASS * (motion[:, :3] ** 2).sum(axis=1) + (moments * motion[:, 3:] ** 2).sum(axis=1) + ROD_MASS
    least = felt_inertia(machine)
    assert least <= twice.min() < 2.0 * least


WRONG = [
    ({"radius": -1}, "The radius of stewart is -1; it must be zero or more."),
    ({"radius": 0.5}, "The radius of stewart is 0.5; it must be less than 0.5, as far as the legs reach."),
    ({"period": 0}, "The period of stewart is 0; it must be greater than zero."),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_a_parameter_that_cannot_be_is_refused(options, said):
    with pytest.raises(rb.InputError) as caught:
        stewart(**options)
    assert str(caught.value) == said
