"""Sleep as part of a simulation: copies, files, worlds, methods, buffers, and what is seen of sleepers."""

import numpy as np
import pytest

import rattleback as rb

# Towers that fall over may take more sweeps than there are, asleep before or not.
pytestmark = pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
A, B = {"a0", "a1", "a2"}, {"b0", "b1", "b2"}
ALL = A | B | {"stone"}
ADAPTIVE = {"time_step": 0.05, "integrator": "rk45", "contacts": "impulse", "sleep": True}


@pytest.mark.parametrize("settings", [{"sleep": False}, {"integrator": "rk4"}, {"contacts": "detect"}])
def test_other_methods_wake_everything(resting, settings, asleep):
    resting.use(**settings)
    assert asleep(resting) == set()
    resting.step(3)
    assert asleep(resting) == set()
    falls = -9.81 * 0.03 if "contacts" in settings else 0.0
    assert resting["a0"].velocity[2] == pytest.approx(falls, abs=1e-3)


def test_a_state_that_sleeps_wakes_in_a_simulation_that_does_not(resting, towers, simulation, asleep):
    other = simulation(towers, sleep=False)
    other.state = resting.state
    assert asleep(other) == set()
    other.step(10)
    assert abs(other.state.velocity).max() < 1e-3


@pytest.mark.parametrize("throw", [False, True], ids=["asleep", "half asleep"])
def test_copies_and_files_go_on_bit_for_bit(resting, tmp_path, throw, towers, simulation, asleep):
    if throw:
        resting["stone"].velocity = (4.0, 0.0, 0.5)
        resting.step(8)
        assert asleep(resting) == A | B
    copied = simulation(towers)
    copied.step(3)
    copied.state = resting.state.copy()
    resting.save(tmp_path / "towers.state")
    loaded = rb.load(tmp_path / "towers.state")
    again = simulation(towers)
    again.state = resting.state
    again["a0"].asleep = False
    assert copied.hash() == loaded.hash() == resting.hash() != again.hash()
    assert asleep(loaded) == asleep(resting)
    for steps in (1, 3, 12, 40):
        for sim in (resting, copied, loaded):
            sim.step(steps)
        assert copied.hash() == loaded.hash() == resting.hash()


def test_a_state_that_is_changed_before_it_is_taken_over_wakes(resting, asleep):
    state = resting.state.copy()
    state.velocity[resting.model.index("a0")] = (0, 0, 0.1)
    resting.state = state
    assert asleep(resting) == B | {"stone"}


def test_steps_one_by_one_and_buffers_that_have_to_grow_change_no_bit(resting, towers, simulation):
    hashes = []
    for room in (None, 60, 41):
        sim = simulation(towers)
        if room is not None:
            sim._step.contacts.finder.room["contacts"] = room
            sim._step.contacts.finder._allocate()
        sim.step(70)
        sim["stone"].velocity = (4.0, 0.0, 0.5)
        sim.step(70)
        hashes.append(sim.hash())
    resting["stone"].velocity = (4.0, 0.0, 0.5)
    for _ in range(70):
        resting.step()
    assert {*hashes} == {resting.hash()}


@pytest.mark.parametrize("broadphase", ["all_pairs", "sweep", "grid", "tree", "cached"])
def test_every_broad_phase_leaves_sleepers_alone_and_finds_them_when_they_wake(broadphase, towers, simulation):
    sim = simulation(towers, broadphase=broadphase)
    sim.step(70)
    sim["stone"].velocity = (4.0, 0.0, 0.5)
    sim.step(30)
    other = simulation(towers)
    other.step(70)
    other["stone"].velocity = (4.0, 0.0, 0.5)
    other.step(30)
    assert sim.hash() == other.hash()


def test_contacts_of_sleepers_are_still_seen_and_persist(towers, simulation, asleep):
    told = []
    sim = simulation(towers)
    sim.observe(rb.ContactEvents(begin=told.append, end=told.append))
    sim.step(30)
    awake = (sim.contacts.point.copy(), sim.contacts.bodies)
    sim.step(70)
    assert asleep(sim) == ALL
    assert {event.kind for event in told} == {"begin"}
    assert len(told) == 7
    np.testing.assert_allclose(sim.contacts.point, awake[0], atol=1e-5)
    assert sim.contacts.bodies == awake[1]
    sim["a2"].position = (0, 0, 0.4)
    assert ("a1", "a2") not in sim.contacts.pairs
    assert ("a0", "a1") in sim.contacts.pairs
    sim.step()
    assert [(event.kind, event.a, event.b) for event in told[7:]] == [("end", "a1", "a2")]


def test_worlds_sleep_by_themselves_and_have_the_bits_of_single_runs(towers, simulation):
    sim = simulation(towers, worlds=3)
    sim.step(70)
    assert sim["a0"].asleep.tolist() == [True] * 3
    sim["stone"].velocity[1] = (4.0, 0.0, 0.5)
    sim.step(30)
    assert sim["a0"].asleep.tolist() == [True, False, True]
    single = simulation(towers)
    single.step(70)
    single["stone"].velocity = (4.0, 0.0, 0.5)
    single.step(30)
    np.testing.assert_array_equal(sim.state.position[1], single.state.position)


def test_groups_say_who_sleeps(floor, simulation, edge):
    for k in range(2):
        floor.add_body(rb.Box(edge, edge, edge), mass=1.0, position=(k, 0, edge / 2 + k), name=f"{k}", group="cubes")
    sim = simulation(floor)
    sim.step(60)
    assert sim["cubes"].asleep.tolist() == [True, False]


def test_a_budget_and_a_profile_find_sleepers_asleep(resting, asleep):
    state = resting.state.copy()
    resting.step(3, budget_ms=5.0)
    one = resting.hash()
    resting.state = state
    assert resting.profile(5).total < 1e-3
    resting.step(3)
    assert resting.hash() == one
    assert asleep(resting) == ALL


def test_who_is_woken_at_once_has_the_contacts_of_a_fresh_start(towers, simulation):
    sim = simulation(towers)
    while not sim["a0"].asleep:
        sim.step()
    sim["a0"].asleep = False
    fresh = simulation(towers)
    fresh.state = sim.state.copy()
    for _ in range(3):
        sim.step()
        fresh.step()
        assert sim.hash() == fresh.hash()
        np.testing.assert_array_equal(sim.contacts.point, fresh.contacts.point)


def bob_beside_a_box():
    """A box that sleeps soon, and a ball on a damped spring that may be kicked."""
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(0, 0, 0.1), name="box")
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(3, 0, 1), name="bob")
    scene.add_force(rb.Spring("world", "bob", at=(3, 0, 2), at_b=(3, 0, 1), stiffness=500.0, damping=40.0))
    return scene


def test_adaptive_sub_steps_outlast_a_sleep_in_copies_and_files(tmp_path):
    """What the integrator will try next is of the last step that was predicted, however long ago that was."""
    sims = [rb.Simulation(bob_beside_a_box(), **ADAPTIVE) for _ in range(2)]
    sims[0].run(6.0)
    assert sims[0]["box"].asleep
    assert sims[0]["bob"].asleep
    tried = sims[0].state.clock.substep.numpy()[0]
    sims[1].state = sims[0].state
    sims[0].save(tmp_path / "asleep.npz")
    sims.append(rb.load(tmp_path / "asleep.npz"))
    for velocity in (None, (0, 0, 3.0)):
        for sim in sims:
            if velocity is not None:
                sim["bob"].velocity = velocity
            sim.step(3)
        assert sims[0].hash() == sims[1].hash() == sims[2].hash()
        assert (sims[0].state.clock.substep.numpy()[0] == tried) == (velocity is None)


def test_a_world_that_sleeps_beside_one_that_does_not_keeps_its_sub_steps():
    """As it does alone, where nothing is predicted."""
    both, alone = (rb.Simulation(bob_beside_a_box(), worlds=worlds, **ADAPTIVE) for worlds in (2, None))
    for k in range(80):
        if k % 8 == 0:
            both.state.velocity[1, 2, 2] = 3.0
        both.step()
        alone.step()
    assert both["bob"].asleep.tolist() == [True, False]
    assert both.state.clock.substep.numpy()[0] == alone.state.clock.substep.numpy()[0]
