"""The hanging bridge: how it hangs, how walkers cross it, and every parameter it refuses."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import hanging_bridge

pytestmark = pytest.mark.contacts


def test_a_bridge_hangs_at_rest_from_the_start_and_pulls_at_its_ends_as_a_parabola_does():
    """H = W L / (8 s) along, W/2 up, of both joints at an end together; the sag s is L/17.

    Across the bridge joints may strain against each other: weights do not determine that.
    """
    sim = rb.Simulation(hanging_bridge(planks=12), time_step=0.005)
    start, weight = sim.state.position.copy(), 12 * 8.0 * 9.81
    sim.run(0.5)
    assert sim.report.converged
    np.testing.assert_allclose(sim.state.position, start, atol=1e-9)
    # On plank_1 from the left bank, and on the right bank from plank_12.
    for gap in (1, 13):
        pull = sim[f"left_{gap}"].reaction_force + sim[f"right_{gap}"].reaction_force
        up = 0.5 * weight if gap == 1 else -0.5 * weight
        np.testing.assert_allclose(pull[[0, 2]], (-weight * 17.0 / 8.0, up), rtol=1e-6)


def test_planks_lie_from_joint_to_joint_and_two_joints_hold_every_gap():
    scene = hanging_bridge(planks=5)
    assert len(scene.joints) == 2 * 6
    for k in range(5):
        plank = scene[f"plank_{k + 1}"]
        ends = [np.mean([scene.joints[f"{side}_{k + j}"].at for side in ("left", "right")], axis=0) for j in (1, 2)]
        way = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        np.testing.assert_allclose(plank.position, np.mean(ends, axis=0), atol=1e-14)
        np.testing.assert_allclose(rb.rotation.rotate(plank.orientation, (1, 0, 0)), way, atol=1e-14)


def test_walkers_stay_upright_and_keep_their_pace_on_the_bank_and_on_the_planks():
    sim = rb.Simulation(hanging_bridge(planks=10, walkers=2), time_step=0.005, warn=False)
    start = sim["walkers"].position.copy()
    # Up to here the first has only walked on the bank; it leaves it 0.42 m from where it starts.
    sim.run(0.3)
    np.testing.assert_allclose(sim["walkers"].position, start + np.array([0.3, 0.0, 0.0]), atol=1e-4)
    sim.run(1.7)
    walkers = sim["walkers"]
    assert walkers.position[0, 0] == pytest.approx(start[0, 0] + 2.0, abs=0.15)
    assert walkers.position[0, 2] < start[0, 2] - 0.05
    np.testing.assert_allclose(walkers.position[:, 1], 0.0, atol=1e-3)
    np.testing.assert_allclose(rb.rotation.rotate(walkers.orientation, (0, 0, 1)), [(0, 0, 1)] * 2, atol=1e-3)


def test_walkers_load_the_bridge_by_their_weight_and_not_along_it():
    """What pulls a walker along and the normals of the planks are all that acts on it beside its weight."""
    scene = hanging_bridge(walkers=1)
    sole, wood = scene["walker_1"].material, scene["plank_1"].material
    assert scene.pairs[sole, wood].dynamic_friction == 0.0


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"planks": 1}, "The planks of hanging_bridge is 1; it must be at least 2."),
        ({"walkers": -1}, "The walkers of hanging_bridge is -1; it must be at least 0."),
    ],
)
def test_a_bridge_refuses_what_cannot_be_built(parameters, said):
    with pytest.raises(rb.InputError, match=said):
        hanging_bridge(**parameters)
