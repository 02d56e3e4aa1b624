"""Sleep: what falls asleep, what stays awake, and what wakes; and that nothing else comes of it."""

import math
import time

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError

# Towers that fall over may take more sweeps than there are, asleep before or not.
pytestmark = pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
ROUGH = rb.Material(friction=0.3)
EDGE = 0.1
FAST = 0.05e-3


def floor():
    """A scene with a floor."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor", material=ROUGH)
    return scene


def add_tower(scene, name, x=0.0, bottom=0.0, cubes=3):
    """Cubes on top of each other."""
    for k in range(cubes):
        place = (x, 0, bottom + EDGE * (k + 0.5))
        scene.add_body(rb.Box(EDGE, EDGE, EDGE), mass=1.0, position=place, name=f"{name}{k}", material=ROUGH)


def towers():
    """A tower on the floor, one on a table, and a ball that lies on a table of its own."""
    scene = floor()
    scene.add_static(rb.Box(0.5, 0.5, 0.5), position=(1, 0, 0.25), name="table", material=ROUGH)
    add_tower(scene, "a")
    add_tower(scene, "b", x=1.0, bottom=0.5)
    scene.add_static(rb.Box(0.2, 0.2, 0.15), position=(-1, 0, 0.075), name="stand", material=ROUGH)
    scene.add_body(rb.Box(0.06, 0.06, 0.06), mass=1.0, position=(-1, 0, 0.18), name="stone", material=ROUGH)
    return scene


def simulation(scene, **settings):
    """A simulation with contacts and sleep."""
    return rb.Simulation(scene, contacts="impulse", **{"sleep": True, **settings})


def asleep(sim):
    """Names of the bodies that sleep."""
    return {name for name in sim.model.names if sim[name].asleep}


A, B = {"a0", "a1", "a2"}, {"b0", "b1", "b2"}
ALL = A | B | {"stone"}


@pytest.fixture
def resting():
    """The towers asleep."""
    sim = simulation(towers())
    sim.step(70)
    assert asleep(sim) == ALL
    return sim


def test_towers_fall_asleep_after_half_a_second_at_rest_and_not_before():
    sim = simulation(towers())
    sim.step(49)
    assert asleep(sim) == set()
    sim.step(11)
    assert asleep(sim) == ALL
    assert not sim.state.velocity.any()
    assert not sim.state.angular_velocity.any()


def test_nothing_sleeps_unless_it_is_asked_for():
    sims = [rb.Simulation(towers(), contacts="impulse", **given) for given in ({}, {"sleep": False})]
    for sim in sims:
        sim.step(100)
        assert asleep(sim) == set()
    assert sims[0].hash() == sims[1].hash()
    assert all(not array.any() for array in sims[0].state.read()["sleep"].values())


def test_until_something_sleeps_no_bit_of_the_motion_changes():
    sims = [rb.Simulation(towers(), contacts="impulse", sleep=sleep) for sleep in (True, False)]
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


def test_a_tower_wakes_when_it_is_hit_and_the_others_sleep_on(resting):
    resting["stone"].velocity = (4.0, 0.0, 0.5)
    resting.step(15)
    assert asleep(resting) == A | B
    resting.step(10)
    assert asleep(resting) == B
    assert resting["a1"].velocity[0] > 0.1


def test_what_was_hit_falls_asleep_again(resting):
    resting["stone"].velocity = (4.0, 0.0, 0.5)
    resting.run(4.0)
    assert asleep(resting) == ALL


def test_a_tower_that_is_hit_asleep_moves_as_one_that_was_awake():
    ends = []
    for sleep in (True, False):
        sim = simulation(towers(), sleep=sleep)
        sim.step(70)
        sim["stone"].velocity = (4.0, 0.0, 0.5)
        sim.step(30)
        ends.append(sim.state.position.copy())
    np.testing.assert_allclose(*ends, atol=0.02 * EDGE)


def test_a_tower_falls_when_its_support_is_taken_away(resting):
    resting["b0"].position = (3.0, 0.0, 1.0)
    assert asleep(resting) == A | {"stone"}
    resting.step(5)
    # The loads it had are taken back to within the tolerance of contacts.
    assert resting["b2"].velocity[2] == pytest.approx(-9.81 * 0.05, abs=resting.report.contact_velocity_tolerance)


def test_a_tower_falls_when_the_table_under_it_is_taken_away(resting):
    resting["table"].position = (5.0, 0.0, 0.25)
    assert asleep(resting) == A | {"stone"}
    resting.step(5)
    assert resting["b0"].velocity[2] == pytest.approx(-9.81 * 0.05, abs=resting.report.contact_velocity_tolerance)


def test_a_tower_wakes_when_the_table_under_it_moves_and_stays_awake_while_it_does(resting):
    resting["table"].velocity = (0.0, 0.0, 1e-3)
    assert asleep(resting) == A | {"stone"}
    resting.step(100)
    assert asleep(resting) == A | {"stone"}
    assert resting["b2"].position[2] == pytest.approx(0.75 + 1e-3, abs=1e-4)
    resting["table"].velocity = (0.0, 0.0, 0.0)
    resting.step(70)
    assert asleep(resting) == ALL


def test_a_moving_wall_wakes_what_it_runs_into(resting):
    scene = floor()
    add_tower(scene, "a")
    scene.add_static(rb.Box(0.1, 1, 1), position=(-1, 0, 0.5), velocity=(0.5, 0, 0), name="wall", material=ROUGH)
    sim = simulation(scene)
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
def test_writing_to_a_body_wakes_its_island(resting, window, value):
    setattr(resting["a2"], window, value)
    assert asleep(resting) == B | {"stone"}
    resting.step()
    assert asleep(resting) == B | {"stone"}


def test_reading_and_writing_the_same_again_wakes_nothing(resting):
    resting["a2"].velocity = resting["a2"].velocity
    resting.state.position[...] = resting.state.position.copy()
    resting.step()
    assert asleep(resting) == ALL


def test_nobody_is_put_to_sleep_by_hand(resting):
    with pytest.raises(InputError, match="falls asleep by itself"):
        resting["a0"].asleep = True
    with pytest.raises(InputError, match="sleep is 1; it must be True or False"):
        simulation(floor_with_a_cube(), sleep=1)


def floor_with_a_cube():
    """A cube on a floor."""
    scene = floor()
    add_tower(scene, "a", cubes=1)
    return scene


def under_a_ball():
    """A tall stack, and a light ball that falls on it after it has fallen asleep."""
    scene = floor()
    add_tower(scene, "a", cubes=20)
    scene.add_body(rb.Sphere(0.03), mass=0.01, position=(0, 0, 4), name="ball", material=ROUGH)
    return scene


def test_a_stack_that_a_ball_wakes_carries_its_load_at_once():
    sims = [simulation(under_a_ball(), sleep=sleep) for sleep in (True, False)]
    woke = False
    for _ in range(90):
        slept = sims[0]["a0"].asleep
        for sim in sims:
            sim.step()
        if slept and not sims[0]["a0"].asleep:
            woke = True
            assert sims[0].report.contact_sweeps <= sims[1].report.contact_sweeps + 1
    assert woke
    np.testing.assert_allclose(*(sim.state.position for sim in sims), atol=1e-4 * EDGE)


def test_a_stack_that_is_woken_for_nothing_stays_where_it_is_and_sleeps_again():
    scene = floor()
    add_tower(scene, "a", cubes=20)
    sim = simulation(scene)
    sim.step(80)
    before = sim.state.position.copy()
    sim["a0"].asleep = False
    sim.step()
    assert asleep(sim) == set()
    assert abs(sim.state.position - before).max() < 1e-5 * EDGE
    sim.step(70)
    assert len(asleep(sim)) == 20
    assert abs(sim.state.position - before).max() < 1e-3 * EDGE


def test_a_force_that_begins_wakes_what_it_acts_on():
    scene = towers()
    scene.add_force(rb.Wrench("b1", force=(3.0, 0, 0), start=1.0))
    sim = simulation(scene)
    sim.step(99)
    assert asleep(sim) == ALL
    sim.step(3)
    assert asleep(sim) == A | {"stone"}


def test_a_force_that_begins_where_everything_sleeps_is_noticed_in_the_midst_of_many_steps():
    scene = towers()
    scene.add_force(rb.Wrench("b1", force=(20.0, 0, 0), start=2.0))
    sims = [simulation(scene) for _ in range(2)]
    sims[0].step(300)
    for _ in range(300):
        sims[1].step()
    assert sims[0]["b1"].position[0] > 1.05
    assert sims[0].hash() == sims[1].hash()


def hinged():
    """An arm on a hinge with a servo, and a tower."""
    scene = floor()
    arm = scene.add_body(rb.Box(0.3, 0.02, 0.02), mass=0.1, position=(0.15, 0, 1), name="arm")
    scene.add_joint(rb.Revolute(scene.world, arm, at=(0, 0, 1), axis=(0, 0, 1)), name="hinge")
    scene.add_force(rb.Servo("hinge", gain=0.2, rate_time=0.15), name="motor")
    add_tower(scene, "a", x=-1)
    return scene


def test_a_servo_that_gets_another_target_wakes_what_it_drives():
    sim = simulation(hinged())
    sim.step(100)
    assert asleep(sim) == A | {"arm"}
    sim.servo("motor").target = 0.5
    sim.step(2)
    assert asleep(sim) == A
    sim.run(4.0)
    assert asleep(sim) == A | {"arm"}
    assert sim["hinge"].angle == pytest.approx(0.5, abs=0.05)


def jointed():
    """Two cubes far apart on a floor that a rod joins, and a third one."""
    scene = floor()
    for name, x in (("left", 0.0), ("right", 1.0), ("other", 2.0)):
        scene.add_body(rb.Box(EDGE, EDGE, EDGE), mass=1.0, position=(x, 0, EDGE / 2), name=name, material=ROUGH)
    scene.add_joint(rb.Distance(scene["left"], scene["right"], at=(0, 0, 0.05), at_b=(1, 0, 0.05)), name="rod")
    return scene


@pytest.mark.parametrize("joints", ["direct", "iterative"])
def test_a_joint_connects(joints):
    sim = simulation(jointed(), joints=joints)
    sim.step(70)
    assert asleep(sim) == {"left", "right", "other"}
    sim["left"].velocity = (0, 0.3, 0)
    assert asleep(sim) == {"other"}
    sim.step(3)
    assert asleep(sim) == {"other"}
    sim.step(200)
    assert asleep(sim) == {"left", "right", "other"}


@pytest.mark.parametrize("joints", ["direct", "iterative"])
def test_a_mechanism_sleeps_beside_one_that_swings(joints):
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


def test_a_joint_that_drives_at_a_rate_keeps_its_bodies_awake():
    scene = rb.Scene(gravity=(0, 0, 0))
    wheel = scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 0, 0), name="wheel")
    scene.add_joint(rb.VelocityJoint(scene.world, wheel, at=(0, 0, 0), linear=(0, 0, 0), angular=(0, 0, 1e-4)))
    sim = rb.Simulation(scene, sleep=True)
    sim.step(100)
    assert asleep(sim) == set()
    assert sim["wheel"].angular_velocity[2] == pytest.approx(1e-4)


def test_a_body_at_the_top_of_its_flight_does_not_fall_asleep():
    scene = floor()
    scene.add_body(rb.Sphere(0.05), mass=1.0, position=(0, 0, 1), velocity=(0, 0, 4), name="ball")
    sim = simulation(scene, time_step=0.001)
    for _ in range(80):
        sim.step(10)
        assert not sim["ball"].asleep
    assert sim["ball"].position[2] == pytest.approx(1 + 4 * 0.8 - 0.5 * 9.81 * 0.8**2)


def test_sleep_that_is_switched_on_in_flight_waits_half_a_second():
    scene = floor()
    scene.add_body(rb.Sphere(0.05), mass=1.0, position=(0, 0, 9), velocity=(0, 0, 9.81), name="ball")
    sim = simulation(scene, sleep=False)
    sim.step(100)
    sim.use(sleep=True)
    sim.step(20)
    assert not sim["ball"].asleep
    assert sim["ball"].velocity[2] == pytest.approx(-9.81 * 0.2)


def test_a_force_in_python_may_wake_sleepers():
    def push(now, bodies):
        force = np.zeros_like(bodies.position)
        force[..., 0] = 8.0 if now >= 0.8 else 0.0
        return force

    scene = floor_with_a_cube()
    scene.add_force(rb.PythonForce(push, bodies="a0"))
    sim = simulation(scene)
    sim.step(75)
    assert asleep(sim) == {"a0"}
    sim.step(10)
    assert asleep(sim) == set()
    assert sim["a0"].velocity[0] > 0.0
