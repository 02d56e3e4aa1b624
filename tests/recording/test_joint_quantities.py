"""What is recorded of joints."""

import numpy as np
import pytest

import rattleback as rb


def pendulum(**settings: object) -> rb.Simulation:
    scene = rb.Scene()
    rod = scene.add_body(rb.Box(1.0, 0.02, 0.02), mass=1.0, position=(0.5, 0, 0), name="rod")
    scene.add_joint(rb.Revolute(scene.world, rod, at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    return rb.Simulation(scene, time_step=0.01, position_tolerance=1e-11, **settings)


def test_angle_rate_and_reaction_of_a_joint_are_recorded_by_its_name() -> None:
    sim = pendulum()
    recorder = rb.Recorder(sim, quantities=["hinge.angle", "hinge.velocity", "hinge.reaction_force", "rod.position"])
    sim.run(0.5)
    x = recorder["rod.position"]
    np.testing.assert_allclose(recorder["hinge.angle"], np.arctan2(-x[:, 2], x[:, 0]), atol=1e-8)
    assert recorder["hinge.velocity"][-1] == sim["hinge"].velocity
    assert recorder["hinge.reaction_force"].shape == (51, 3)
    assert "hinge.reaction_force.z [N]" in recorder.columns


def test_worlds_have_joints_of_their_own() -> None:
    sim = pendulum(worlds=2)
    recorder = rb.Recorder(sim, quantities=["hinge.angle"])
    sim.step(3)
    assert recorder["hinge.angle"].shape == (4, 2)


def test_what_a_joint_does_not_have_cannot_be_recorded() -> None:
    with pytest.raises(rb.InputError, match="Joint 'hinge' is a Revolute, which has no position of its own"):
        rb.Recorder(pendulum(), quantities=["hinge.position"])
    with pytest.raises(rb.UnknownName, match="'hinge.angle' and others of a joint"):
        rb.Recorder(pendulum(), quantities=["hinge.angel"])
