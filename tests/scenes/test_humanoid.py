"""The humanoid: its parts, its mirror image, and that it stands on its feet."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.scenes import humanoid


def test_the_right_side_of_the_humanoid_is_the_mirror_image_of_the_left_one():
    scene = humanoid()
    bodies = {body.name: body for body in scene.bodies}
    pairs = [(body, bodies[name.replace("left", "right")]) for name, body in bodies.items() if name.startswith("left")]
    assert len(scene.joints) == 27
    assert len(pairs) == 12
    for left, right in pairs:
        assert left.mass == right.mass
        assert np.allclose(left.position * (1, -1, 1), right.position)
    turns = {"left_hip_roll_hinge": (-0.5, 0.8), "right_hip_roll_hinge": (-0.8, 0.5), "right_thigh_hinge": (-2.0, 0.6)}
    assert {name: scene.joints[name].limits for name in turns} == turns


@pytest.mark.contacts
def test_the_humanoid_stands_and_its_feet_carry_its_weight():
    scene = humanoid()
    sim = rb.Simulation(scene, time_step=0.001, joints="reduced")
    sim.step(300)
    weight = 9.81 * sum(body.mass for body in scene.bodies)
    assert np.abs(sim.contacts.force[:, 2]).sum() == pytest.approx(weight, rel=1e-3)
    assert {name for pair in sim.contacts.pairs for name in pair} == {"ground", "left_foot", "right_foot"}
    assert np.linalg.norm(sim["head"].position - (0, 0, 1.62)) < 1e-3
    assert sim.report.converged


@pytest.mark.contacts
def test_a_limp_humanoid_collapses_and_falls_freely_before():
    sim = rb.Simulation(humanoid(height=0.5, limp=True, lean=0.3), time_step=0.001, joints="reduced", warn=False)
    start = sim["pelvis"].position.copy()
    sim.step(200)
    assert np.allclose(sim["pelvis"].position - start, (0, 0, -0.5 * 9.81 * 0.2**2), atol=1e-9)
    sim.run(1.0)
    assert sim["head"].position[2] < 1.4


def test_the_lowest_point_of_a_humanoid_that_leans_is_on_the_ground():
    scene = humanoid(lean=1.2, limp=True)
    parts = [body for body in scene.bodies if body.shape is not None and not body.static]
    lowest = []
    for body in parts:
        turn = Rotation.from_quat(body.orientation)
        lowest.append(body.position[2] + turn.apply(body.shape.support(turn.inv().apply((0, 0, -1))))[2])
    assert abs(min(lowest)) < 1e-12
