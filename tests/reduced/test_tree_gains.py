"""What steps of trees remember of the last ones: one round instead of two, and nothing else but rounding."""

import numpy as np

import rattleback as rb
from rattleback.core import arrays


def chain(**settings) -> rb.Simulation:
    """Ten rods on hinges, swinging."""
    scene, parent = rb.Scene(), "world"
    for k in range(10):
        rod = scene.add_body(rb.Box(0.1, 0.1, 1.0), mass=1.0, position=(0, 0, -0.5 - k), name=f"rod_{k}")
        scene.add_joint(rb.Revolute(parent, rod, at=(0, 0, -k), axis=((0, 1, 0), (1, 0, 0))[k % 2]))
        parent = rod.name
    sim = rb.Simulation(scene, time_step=0.001, joints="reduced", contacts="none", **settings)
    sim["rod_9"].angular_velocity = (1.0, 2.0, 0)
    return sim


def test_a_step_that_remembers_the_last_ones_takes_one_round_and_one_that_does_not_two():
    sim = chain()
    sim.step(200)
    start, ends = sim.state.copy(), []
    for forget in (False, True):
        state = start.copy()
        if forget:
            for _, array in arrays.each(state.trees):
                array.zero_()
        sim.state = state
        sim.step()
        ends.append((sim.report.iterations, np.array(sim.state.position), np.array(sim.state.angular_velocity)))
    assert [rounds for rounds, _, _ in ends] == [1, 2]
    assert np.abs(ends[0][1] - ends[1][1]).max() < 1e-10
    assert np.abs(ends[0][2] - ends[1][2]).max() < 1e-7


def test_what_is_remembered_is_part_of_the_state():
    sim = chain()
    sim.step(100)
    kept = sim.state.copy()
    sim.step(50)
    end, place = sim.hash(), np.array(sim.state.position)
    sim.state = kept
    for _ in range(50):
        sim.step()
    assert sim.hash() == end
    batch = chain(worlds=2)
    batch.step(150)
    np.testing.assert_array_equal(batch.state.position[1], place)
