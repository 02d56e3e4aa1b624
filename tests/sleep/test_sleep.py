"""Sleep: what falls asleep, what stays awake, and what wakes; and that nothing else comes of it."""

import math
import time

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError

# Towers that fall over may take more sweeps than there are, asleep before or not.
pytestmark = pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
FAST = 0.05e-3
A, B = {"a0", "a1", "a2"}, {"b0", "b1", "b2"}
ALL = A | B | {"stone"}


def test_towers_fall_asleep_after_half_a_second_at_rest_and_not_before(towers, simulation, asleep):
    sim = simulation(towers)
    sim.step(49)
    assert asleep(sim) == set()
    sim.step(11)
    assert asleep(sim) == ALL
    assert not sim.state.velocity.any()
    assert not sim.state.angular_velocity.any()


def test_nothing_sleeps_unless_it_is_asked_for(towers, asleep):
    sims = [rb.Simulation(towers, contacts="impulse", **given) for given in ({}, {"sleep": False})]
    for sim in sims:
        sim.step(100)
        assert asleep(sim) == set()
    assert sims[0].hash() == sims[1].hash()
    assert all(not array.any() for array in sims[0].state.read()["sleep"].values())


def test_until_something_sleeps_no_bit_of_the_motion_changes(towers):
    sims = [rb.Simulation(towers, contacts="impulse", sleep=sleep) for sleep in (True, False)]
    for sim in sims:
        sim.step(50)
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        np.testing.assert_array_equal(*(getattr(sim.state, name) for sim in sims))


def test_a_sleeping_heap_does_not_move_a_bit_and_only_the_clock_goes_on(resting):
    before, at = resting.state.copy(), resting.time
    resting.step(1000)
    assert resting.time == pytest.approx(at + 10.0)
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        np.testing.assert_array_equal(getattr(resting.state, name), getattr(before, name))


def test_steps_in_which_all_sleep_cost_next_to_nothing(resting):
    resting.step(2000)
    begun = time.perf_counter()
    resting.step(20000)
    assert (time.perf_counter() - begun) / 20000 < FAST


def test_a_tower_wakes_when_it_is_hit_and_the_others_sleep_on(resting, asleep):
    resting["stone"].velocity = (4.0, 0.0, 0.5)
    resting.step(15)
    assert asleep(resting) == A | B
    resting.step(10)
    assert asleep(resting) == B
    assert resting["a1"].velocity[0] > 0.1


def test_what_was_hit_falls_asleep_again(resting, asleep):
    resting["stone"].velocity = (4.0, 0.0, 0.5)
    resting.run(4.0)
    assert asleep(resting) == ALL


def test_a_tower_that_is_hit_asleep_moves_as_one_that_was_awake(towers, simulation, edge):
    ends = []
    for sleep in (True, False):
        sim = simulation(towers, sleep=sleep)
        sim.step(70)
        sim["stone"].velocity = (4.0, 0.0, 0.5)
        sim.step(30)
        ends.append(sim.state.position.copy())
    np.testing.assert_allclose(*ends, atol=0.02 * edge)


def test_a_tower_falls_when_its_support_is_taken_away(resting, asleep):
    resting["b0"].position = (3.0, 0.0, 1.0)
    assert asleep(resting) == A | {"stone"}
    resting.step(5)
    # The loads it had are taken back to within the tolerance of contacts.
    assert resting["b2"].velocity[2] == pytest.approx(-9.81 * 0.05, abs=resting.report.contact_velocity_tolerance)


def test_a_tower_falls_when_the_table_under_it_is_taken_away(resting, asleep):
    resting["table"].position = (5.0, 0.0, 0.25)
    assert asleep(resting) == A | {"stone"}
    resting.step(5)
    assert resting["b0"].velocity[2] == pytest.approx(-9.81 * 0.05, abs=resting.report.contact_velocity_tolerance)


def test_a_tower_wakes_when_the_table_under_it_moves_and_stays_awake_while_it_does(resting, asleep):
    resting["table"].velocity = (0.0, 0.0, 1e-3)
    assert asleep(resting) == A | {"stone"}
    resting.step(100)
    assert asleep(resting) == A | {"stone"}
    assert resting["b2"].position[2] == pytest.approx(0.75 + 1e-3, abs=1e-4)
    resting["table"].velocity = (0.0, 0.0, 0.0)
    resting.step(70)
    assert asleep(resting) == ALL


def test_a_moving_wall_wakes_what_it_runs_into(floor, add_tower, simulation, asleep, rough):
    add_tower(floor, "a")
    floor.add_static(rb.Box(0.1, 1, 1), position=(-1, 0, 0.5), velocity=(0.5, 0, 0), name="wall", material=rough)
    sim = simulation(floor)
    sim.step(100)
    assert asleep(sim) == A
    sim.step(100)
    assert asleep(sim) == set()
    assert sim["a0"].velocity[0] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("window", "value"),
    [
        ("applied_force", (0, 0, 1.0)),
        ("applied_torque", (0, 0, 0.01)),
        ("velocity", (0, 0, 0.1)),
        ("angular_velocity", (0, 0, 0.1)),
        ("position", (0, 0, 0.252)),
        ("material", rb.Material(friction=0.0)),
        ("asleep", False),
    ],
)
def test_writing_to_a_body_wakes_its_island(resting, window, value, asleep):
    setattr(resting["a2"], window, value)
    assert asleep(resting) == B | {"stone"}
    resting.step()
    assert asleep(resting) == B | {"stone"}


def test_reading_and_writing_the_same_again_wakes_nothing(resting, asleep):
    resting["a2"].velocity = resting["a2"].velocity
    resting.state.position[...] = resting.state.position.copy()
    resting.step()
    assert asleep(resting) == ALL


def test_nobody_is_put_to_sleep_by_hand(resting, simulation, floor_with_a_cube):
    with pytest.raises(InputError, match="falls asleep by itself"):
        resting["a0"].asleep = True
    with pytest.raises(InputError, match="sleep is 1; it must be True or False"):
        simulation(floor_with_a_cube, sleep=1)


@pytest.fixture
def floor_with_a_cube(floor, add_tower):
    """A cube on a floor."""
    add_tower(floor, "a", cubes=1)
    return floor


@pytest.fixture
def under_a_ball(floor, add_tower, rough):
    """A tall stack, and a light ball that falls on it after it has fallen asleep."""
    add_tower(floor, "a", cubes=20)
    floor.add_body(rb.Sphere(0.03), mass=0.01, position=(0, 0, 4), name="ball", material=rough)
    return floor


def test_a_stack_that_a_ball_wakes_carries_its_load_at_once(simulation, under_a_ball, edge):
    sims = [simulation(under_a_ball, sleep=sleep) for sleep in (True, False)]
    woke = False
    for _ in range(90):
        slept = sims[0]["a0"].asleep
        for sim in sims:
            sim.step()
        if slept and not sims[0]["a0"].asleep:
            woke = True
            assert sims[0].report.contact_sweeps <= sims[1].report.contact_sweeps + 1
    assert woke
    np.testing.assert_allclose(*(sim.state.position for sim in sims), atol=1e-4 * edge)


def test_a_stack_that_is_woken_for_nothing_stays_where_it_is_and_sleeps_again(
    floor, add_tower, simulation, asleep, edge
):
    add_tower(floor, "a", cubes=20)
    sim = simulation(floor)
    sim.step(80)
    before = sim.state.position.copy()
    sim["a0"].asleep = False
    sim.step()
    assert asleep(sim) == set()
    assert abs(sim.state.position - before).max() < 1e-5 * edge
    sim.step(70)
    assert len(asleep(sim)) == 20
    assert abs(sim.state.position - before).max() < 1e-3 * edge


def test_a_force_that_begins_wakes_what_it_acts_on(towers, simulation, asleep):
    towers.add_force(rb.Wrench("b1", force=(3.0, 0, 0), start=1.0))
    sim = simulation(towers)
    sim.step(99)
    assert asleep(sim) == ALL
    sim.step(3)
    assert asleep(sim) == A | {"stone"}


def test_a_force_that_begins_where_everything_sleeps_is_noticed_in_the_midst_of_many_steps(towers, simulation):
    towers.add_force(rb.Wrench("b1", force=(20.0, 0, 0), start=2.0))
    sims = [simulation(towers) for _ in range(2)]
    sims[0].step(300)
    for _ in range(300):
        sims[1].step()
    assert sims[0]["b1"].position[0] > 1.05
    assert sims[0].hash() == sims[1].hash()


@pytest.fixture
def hinged(floor, add_tower):
    """An arm on a hinge with a servo, and a tower."""
    arm = floor.add_body(rb.Box(0.3, 0.02, 0.02), mass=0.1, position=(0.15, 0, 1), name="arm")
    floor.add_joint(rb.Revolute(floor.world, arm, at=(0, 0, 1), axis=(0, 0, 1)), name="hinge")
    floor.add_force(rb.Servo("hinge", gain=0.2, rate_time=0.15), name="motor")
    add_tower(floor, "a", x=-1)
    return floor


def test_a_servo_that_gets_another_target_wakes_what_it_drives(simulation, asleep, hinged):
    sim = simulation(hinged)
    sim.step(100)
    assert asleep(sim) == A | {"arm"}
    sim.servo("motor").target = 0.5
    sim.step(2)
    assert asleep(sim) == A
    sim.run(4.0)
    assert asleep(sim) == A | {"arm"}
    assert sim["hinge"].angle == pytest.approx(0.5, abs=0.05)


@pytest.fixture
def jointed(floor, edge, rough):
    """Two cubes far apart on a floor that a rod joins, and a third one."""
    for name, x in (("left", 0.0), ("right", 1.0), ("other", 2.0)):
        floor.add_body(rb.Box(edge, edge, edge), mass=1.0, position=(x, 0, edge / 2), name=name, material=rough)
    floor.add_joint(rb.Distance(floor["left"], floor["right"], at=(0, 0, 0.05), at_b=(1, 0, 0.05)), name="rod")
    return floor


@pytest.mark.parametrize("joints", ["direct", "iterative"])
def test_a_joint_connects(joints, simulation, asleep, jointed):
    sim = simulation(jointed, joints=joints)
    sim.step(70)
    assert asleep(sim) == {"left", "right", "other"}
    sim["left"].velocity = (0, 0.3, 0)
    assert asleep(sim) == {"other"}
    sim.step(3)
    assert asleep(sim) == {"other"}
    sim.step(200)
    assert asleep(sim) == {"left", "right", "other"}


@pytest.mark.parametrize("joints", ["direct", "iterative"])
def test_a_mechanism_sleeps_beside_one_that_swings(joints, asleep):
    scene = rb.Scene()
    for k, (x, tilt) in enumerate(((0.0, 0.0), (1.0, 1.0))):
        place = (x + 0.2 * math.sin(tilt), 0, -0.2 * math.cos(tilt))
        bob = scene.add_body(rb.Sphere(0.05), mass=1.0, position=place, name=f"bob{k}")
        scene.add_joint(rb.Revolute(scene.world, bob, at=(x, 0, 0), axis=(0, 1, 0)))
    sim = rb.Simulation(scene, sleep=True, joints=joints)
    energy = sim.energy().total
    sim.step(60)
    assert asleep(sim) == {"bob0"}
    before = sim["bob0"].position.copy()
    sim.step(300)
    assert asleep(sim) == {"bob0"}
    np.testing.assert_array_equal(sim["bob0"].position, before)
    assert sim.report.converged
    assert sim.energy().total == pytest.approx(energy, rel=1e-3)


def test_a_joint_that_drives_at_a_rate_keeps_its_bodies_awake(asleep):
    scene = rb.Scene(gravity=(0, 0, 0))
    wheel = scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 0, 0), name="wheel")
    scene.add_joint(rb.VelocityJoint(scene.world, wheel, at=(0, 0, 0), linear=(0, 0, 0), angular=(0, 0, 1e-4)))
    sim = rb.Simulation(scene, sleep=True)
    sim.step(100)
    assert asleep(sim) == set()
    assert sim["wheel"].angular_velocity[2] == pytest.approx(1e-4)


def test_a_body_at_the_top_of_its_flight_does_not_fall_asleep(floor, simulation):
    floor.add_body(rb.Sphere(0.05), mass=1.0, position=(0, 0, 1), velocity=(0, 0, 4), name="ball")
    sim = simulation(floor, time_step=0.001)
    for _ in range(80):
        sim.step(10)
        assert not sim["ball"].asleep
    assert sim["ball"].position[2] == pytest.approx(1 + 4 * 0.8 - 0.5 * 9.81 * 0.8**2)


def test_sleep_that_is_switched_on_in_flight_waits_half_a_second(floor, simulation):
    floor.add_body(rb.Sphere(0.05), mass=1.0, position=(0, 0, 9), velocity=(0, 0, 9.81), name="ball")
    sim = simulation(floor, sleep=False)
    sim.step(100)
    sim.use(sleep=True)
    sim.step(20)
    assert not sim["ball"].asleep
    assert sim["ball"].velocity[2] == pytest.approx(-9.81 * 0.2)


def test_a_force_in_python_may_wake_sleepers(simulation, asleep, floor_with_a_cube):
    def push(now, bodies):
        force = np.zeros_like(bodies.position)
        force[..., 0] = 8.0 if now >= 0.8 else 0.0
        return force

    floor_with_a_cube.add_force(rb.PythonForce(push, bodies="a0"))
    sim = simulation(floor_with_a_cube)
    sim.step(75)
    assert asleep(sim) == {"a0"}
    sim.step(10)
    assert asleep(sim) == set()
    assert sim["a0"].velocity[0] > 0.0
