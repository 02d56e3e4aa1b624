"""The experiment of the funnel: points that collide told apart from points that rest, and what must not happen."""

import math

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.stages import Branch, HostCall
from rattleback.experiments import funnel
from rattleback.experiments.collision_times import COLLISIONS, CollisionTimes, split
from rattleback.experiments.snapshot import snapshot

STEP, DISTANCE = 0.001, 1e-3


def cube(height: float, restitution: float = 0.8) -> rb.Simulation:
    scene = rb.Scene()
    surface = rb.Material(friction=0.05, restitution=restitution)
    scene.add_static(rb.Plane(), name="ground", material=surface)
    scene.add_body(rb.Box(1.0, 1.0, 1.0), mass=1.0, position=(0.0, 0.0, 0.5 + height), name="cube", material=surface)
    return rb.Simulation(scene, time_step=STEP, contacts="impulse", contact_distance=DISTANCE)


class Flag:
    """Something with an address."""

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


def test_nodes_are_split_around_the_branch_of_a_flag_however_deep():
    a, b, c, d = (HostCall(lambda: None) for _ in range(4))
    wanted = Branch(Flag(7), [a])
    before, at, after = split([b, Branch(Flag(1), [c, wanted, d]), a], Flag(7))
    assert before == [b, Branch(before[1].flag, [c])]
    assert at == [Branch(before[1].flag, [wanted])]
    assert after == [Branch(before[1].flag, [d]), a]
    assert before[1].flag.ptr == 1


def test_nodes_without_the_branch_are_all_before_it():
    a, b = HostCall(lambda: None), Branch(Flag(1), [])
    assert split([a, b], Flag(7)) == ([a, b], [], [])


def test_the_four_corners_of_a_cube_collide_in_the_step_in_which_it_lands():
    height = 0.05
    sim, landing = cube(height), math.sqrt(2.0 * height / 9.81)
    times = CollisionTimes(sim, DISTANCE)
    sim.step(math.floor(landing / STEP) - 5)
    seen = []
    for _ in range(10):
        seen.append(times.look())
        sim.step()
    struck = [look for look in seen if look.collisions]
    assert [look.collisions for look in struck] == [4]
    # A point rebounds up to one step before it would arrive.
    assert struck[0].time == pytest.approx(landing, abs=2.5 * STEP)
    assert struck[0].resolving > max(look.resolving for look in seen[:2])


def test_a_cube_at_rest_has_four_contacts_and_no_collision():
    sim = cube(0.0)
    sim.step(20)
    look = CollisionTimes(sim, DISTANCE).look()
    assert (look.collisions, look.contacts) == (0, 4)
    assert look.stopping > 0.0


def test_a_look_leaves_the_simulation_where_it_is_to_the_bit():
    looked, left = cube(0.02), cube(0.02)
    times = CollisionTimes(looked, DISTANCE)
    for _ in range(8):
        times.look()
        looked.step(10)
        left.step(10)
    assert COLLISIONS in looked._step.program.stages
    assert looked.hash() == left.hash()


def test_a_cube_under_the_ground_is_lost():
    sim = cube(1.0)
    sim["cube"].position = (0.0, 0.0, -0.6)
    np.testing.assert_array_equal(funnel.heights(sim), [-0.6])
    found = funnel.Findings()
    funnel.judge(found, funnel.Fall(milliseconds=[1.0], energies=[1.0, 1.0], differs=False), sim)
    assert [row.quantity for row in found.rows if row.passed is False] == ["cubes lost"]


def test_energy_is_gained_from_the_lowest_it_was_before():
    assert funnel.Fall(energies=[9.0, 5.0, 7.0, 3.0, 4.0]).gained == 2.0
    assert funnel.Fall(energies=[9.0, 5.0, 5.0, 3.0]).gained == 0.0


def test_a_simulation_that_is_loaded_goes_the_same_way():
    sim = cube(0.02)
    sim.step(60)
    seen = funnel.Fall()
    assert not funnel.goes_another_way(sim, seen)
    assert sim.state.steps == 60 + funnel.COMPARED
    assert len(seen.energies) == len(seen.milliseconds) == 1


def test_bodies_left_out_of_a_picture_are_not_painted():
    sim = cube(1.0)
    assert math.isfinite(snapshot(sim).stage.aspect)
    assert snapshot(sim, without=("cube",)).stage._polygons == []
