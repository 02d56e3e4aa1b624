"""Masked reset: worlds that go back continue as new simulations do, and the others keep every bit."""

import time
from typing import Any

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts


def pile() -> rb.Scene:
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for k in range(3):
        place, name = (0.05 * k, 0, 0.15 + 0.25 * k), f"box{k}"
        scene.add_body(rb.Box(0.2, 0.2, 0.2), density=500.0, position=place, velocity=(0.5, 0, 0), name=name)
    return scene


def arm() -> rb.Scene:
    """Two links with a servo that integrates over a window, and a joint that breaks."""
    scene = rb.Scene()
    upper = scene.add_body(rb.Box(1, 0.1, 0.1), mass=1, position=(0.5, 0, 0), name="upper")
    lower = scene.add_body(rb.Box(1, 0.1, 0.1), mass=1, position=(1.5, 0, 0), name="lower")
    scene.add_joint(rb.Revolute(scene.world, upper, at=(0, 0, 0), axis=(0, 1, 0)), name="shoulder")
    scene.add_joint(rb.Revolute(upper, lower, at=(1, 0, 0), axis=(0, 1, 0), breaking_force=30), name="elbow")
    scene.add_force(
        rb.Servo("shoulder", target=0.5, gain=5, reset_time=0.3, rate_time=0.05, window=0.2), name="controller"
    )
    return scene


def of_world(sim: rb.Simulation, world: int) -> dict[str, Any]:
    """Every bit of a world, but for lists of contacts and what is counted over all worlds."""
    found = {}
    for group, part in sim.state.read().items():
        for name, array in part.items():
            if group not in ("contacts", "sleeping_contacts") and name not in ("steps", "asleep") and len(array):
                found[group, name] = array.reshape(len(sim.state.clock.time), -1)[world].tobytes()
    return found


CASES = {
    "pile": (pile, {}),
    "direct": (arm, {"joints": "direct"}),
    "iterative": (arm, {"joints": "iterative", "integrator": "rk45"}),
    "reduced": (arm, {"joints": "reduced"}),
}


@pytest.mark.parametrize("case", CASES)
def test_worlds_that_go_back_continue_as_new_ones_and_others_keep_every_bit(case: str, device: str) -> None:
    build, settings = CASES[case]
    settings = settings | {"time_step": 0.01, "device": device, "warn": False}
    sim, left_alone = (rb.Simulation(build(), worlds=4, **settings) for _ in range(2))
    for run in (sim, left_alone):
        run.state.velocity[2, -1] += 0.1
        run.step(37)
    sim.reset([1, 3])
    new = rb.Simulation(build(), **settings)
    for run in (sim, left_alone, new):
        run.step(43)
    assert [of_world(sim, w) == of_world(left_alone, w) for w in (0, 2)] == [True, True]
    assert [of_world(sim, w) == of_world(new, 0) for w in (1, 3)] == [True, True]
    # To a state in the midst of it, also that of other worlds.
    kept = left_alone.state.copy()
    sim.step(7)
    sim.reset(np.array([True, False, False, True]), kept, from_worlds=[2, 1])
    sim.step(41)
    left_alone.step(41)
    assert of_world(sim, 0) == of_world(left_alone, 2)
    assert of_world(sim, 3) == of_world(left_alone, 1)


def test_a_reset_of_all_worlds_is_the_start_to_the_last_bit(device: str) -> None:
    sim = rb.Simulation(pile(), worlds=3, device=device)
    start = sim.hash()
    sim.step(30)
    sim.reset()
    assert (sim.hash(), sim.time) == (start, 0.0)


def test_every_third_detection_stays_in_step_over_all_worlds() -> None:
    """Where contacts are found every third step, a reset after a multiple of three gives the bits of a new run."""
    sim, left_alone = (rb.Simulation(pile(), worlds=2, contact_every=3) for _ in range(2))
    new = rb.Simulation(pile(), contact_every=3)
    sim.step(36)
    left_alone.step(36)
    sim.reset([0])
    for run in (sim, left_alone, new):
        run.step(20)
    assert np.array_equal(sim.state.position[0], new.state.position)
    assert np.array_equal(sim.state.position[1], left_alone.state.position[1])


def test_sleeping_worlds_go_back_and_wake_alone() -> None:
    sim = rb.Simulation(pile(), worlds=3, time_step=0.02, sleep=True, warn=False)
    sim.step(100)
    asleep, places = sim.state.copy(), sim.state.position
    assert sim["box2"].asleep.all()
    sim.reset([1])
    assert sim["box2"].asleep.tolist() == [True, False, True]
    sim.step(10)
    assert np.array_equal(sim.state.position[[0, 2]], places[[0, 2]])
    assert (sim["box2"].position[1] != places[1, -1]).any()
    sim.reset([1], asleep, from_worlds=2)
    assert np.array_equal(sim.state.position, places)
    assert sim["box2"].asleep.all()
    # Its island has the number of a body of this world: it wakes, and nothing in other worlds.
    sim["box2"].velocity = [[0, 0, 0], [3, 0, 0], [0, 0, 0]]
    sim.step()
    assert sim["box2"].asleep.tolist() == [True, False, True]


def test_the_state_of_a_single_world_spreads_to_many() -> None:
    one, many = rb.Simulation(pile()), rb.Simulation(pile(), worlds=3)
    one.step(40)
    many.reset([0, 2], one.state.copy())
    one.step(30)
    many.step(30)
    assert np.array_equal(many.state.position[0], one.state.position)
    assert np.array_equal(many.state.position[2], one.state.position)
    assert many.state.clock.time.numpy().tolist() == pytest.approx([0.7, 0.3, 0.7])


def test_ten_of_4096_worlds_go_back_in_less_than_a_step() -> None:
    sim = rb.Simulation(arm(), worlds=4096, joints="reduced", warn=False)
    sim.step(2)
    sim.reset(range(10))
    times = []
    for action in (lambda: sim.step(), lambda: sim.reset(range(10))):
        taken = []
        for _ in range(5):
            begun = time.perf_counter()
            action()
            taken.append(time.perf_counter() - begun)
        times.append(min(taken))
    assert times[1] < times[0]


def test_a_reset_forgets_what_was_written_before_it() -> None:
    sim = rb.Simulation(arm(), worlds=2, warn=False)
    start = sim.state.position.copy()
    sim["upper"].position = (9, 9, 9)
    sim.reset([0])
    assert np.array_equal(sim.state.position[0], start[0])
    assert sim["upper"].position[1].tolist() == [9, 9, 9]


def test_a_scene_that_was_exchanged_is_the_new_start() -> None:
    sim = rb.Simulation(pile(), worlds=2)
    sim.step(5)
    scene = sim.scene.copy()
    scene.change_body("box0", velocity=(0, 0, 1))
    sim.rebuild(scene)
    sim.step(5)
    sim.reset()
    assert sim.hash() == rb.Simulation(scene, worlds=2).hash()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([True, False],), "The mask of worlds has shape (2,); it must be (3,), one entry a world."),
        (([3],), "The worlds to reset name world 3; there are 3, the first is 0."),
        (([1, 1],), "The worlds to reset name world 1 twice; each may be named once."),
        ((0.5,), "The worlds to reset are 0.5; they must be a mask of one True or False a world, or whole numbers."),
        (([[1], [1, 2]],), "they must be a mask of one True or False a world"),
        ((None, 7), "A reset cannot go to 7; use what sim.state.copy() returned."),
        (([1], None, [2]), "The from_worlds of a reset are those of a state; give it by state=..."),
    ],
)
def test_what_cannot_be_reset_is_refused(given: Any, message: str) -> None:
    sim = rb.Simulation(pile(), worlds=3)
    with pytest.raises(rb.InputError) as refused:
        sim.reset(*given)
    assert message in str(refused.value)


def test_a_state_that_does_not_fit_is_refused() -> None:
    sim = rb.Simulation(pile(), worlds=3)
    two = rb.Simulation(pile(), worlds=2).state.copy()
    with pytest.raises(rb.InputError, match="which are those to reset, name world 2; there are 2, the first is 0"):
        sim.reset(state=two)
    with pytest.raises(rb.InputError, match="from_worlds of a reset are numbers: one for all, or 3, one for each"):
        sim.reset(state=two, from_worlds=[0, 1])
    with pytest.raises(rb.InputError, match="has 2 bodies a world; this simulation has 4"):
        sim.reset(state=rb.Simulation(arm()).state)
    other = rb.Scene()
    for _ in range(4):
        other.add_body(rb.Sphere(0.1))
    other.add_joint(rb.Ball("sphere_1", "sphere_2", at=(0, 0, 0)))
    with pytest.raises(rb.InputError, match="does not fit this simulation: group"):
        sim.reset(state=rb.Simulation(other, warn=False).state)


@pytest.mark.cuda
def test_a_state_on_another_device_is_refused() -> None:
    sim = rb.Simulation(pile(), worlds=3, device="cuda")
    with pytest.raises(rb.InputError, match="The state given lies on 'cpu', the simulation on 'cuda:0'"):
        sim.reset(state=rb.Simulation(pile(), worlds=3).state.copy())
