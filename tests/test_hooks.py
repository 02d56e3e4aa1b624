"""Functions that a simulation calls between steps: when, in which order, with which rights, and what they may break."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import rattleback as rb


def drifting(**settings: Any) -> rb.Simulation:
    """A ball that drifts along x at 1 m/s."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=2.0, velocity=(1, 0, 0), name="ball")
    return rb.Simulation(scene, **{"time_step": 0.1, **settings})


def bites(sim: rb.Simulation, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps are replayed at once from now on."""
    seen: list[int] = []
    advance = sim._replay.advance
    monkeypatch.setattr(sim._replay, "advance", lambda steps: (seen.append(steps), advance(steps)))
    return seen


def test_a_function_is_called_after_every_step_and_stays_what_it_is() -> None:
    sim, seen = drifting(), []

    def note(given: rb.Simulation) -> None:
        assert given is sim
        seen.append(given.state.steps)

    assert sim.after_step(note) is note
    assert sim.after_step(every=3)(note) is note
    sim.step(6)
    assert seen == [1, 2, 3, 3, 4, 5, 6, 6]


def test_what_is_written_between_steps_is_what_the_next_step_sees() -> None:
    sim = drifting()

    @sim.at(0.5)
    def turn_back(sim: rb.Simulation) -> None:
        sim["ball"].velocity[0] = -3.0

    @sim.at(0.7)
    def strike(sim: rb.Simulation) -> None:
        sim["ball"].apply_impulse((0, 8.0, 0))

    sim.run(1.0)
    np.testing.assert_allclose(sim["ball"].position, [0.5 - 3 * 0.5, 4.0 * 0.3, 0.0], atol=1e-14)


def test_methods_and_states_may_be_swapped_between_steps() -> None:
    sim = drifting()
    start = sim.state.copy()
    sim.at(0.2)(lambda sim: sim.use(integrator="rk4", substeps=2))
    sim.after_step(lambda sim: setattr(sim, "state", start) if sim.state.steps == 4 else None)
    sim.step(7)
    assert sim.integrator == rb.integrators.RK4()
    assert (sim.state.steps, sim.methods.substeps) == (3, 2)
    np.testing.assert_allclose(sim["ball"].position, [0.3, 0, 0], atol=1e-15)


@pytest.mark.contacts
@pytest.mark.parametrize("sleep", [False, True])
def test_a_state_taken_over_between_steps_goes_on_as_one_taken_over_between_calls(sleep: bool) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    for k in range(20):
        scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(k, 0, 0), name=f"box_{k}")
    make = partial(rb.Simulation, scene, warn=False, sleep=sleep)
    other, place = make(), np.arange(20)
    # A heap makes the buffers of the contacts grow; a row then remembers impulses in the larger ones.
    other.state.position = np.random.default_rng(0).uniform(-0.02, 0.02, (20, 3))
    other.step()
    other.state.position = np.stack([0.2001 * place, 0 * place, 0 * place], axis=1)
    other.state.orientation, other.state.angular_velocity = (0, 0, 0, 1), 0.0
    other.state.velocity = np.stack([np.where(place < 10, 1.0, -1.0), 0 * place, 0 * place], axis=1)
    other.step(6)
    inside, between, late = make(), make(), other.state.copy()
    inside.at(0.04)(lambda sim: setattr(sim, "state", late))
    inside.step(4 + 5)
    between.step(4)
    between.state = late
    between.step(5)
    assert inside.hash() == between.hash()


@pytest.mark.parametrize(("when", "step"), [(0.0, 1), (0.05, 1), (0.1, 1), (0.25, 3), (0.3, 3), (0.8, 8), (0.81, 9)])
def test_a_time_is_reached_by_the_first_step_that_ends_there_or_beyond(when: float, step: int) -> None:
    sim, seen = drifting(time_step=0.1), []
    sim.at(when)(lambda sim: seen.append(sim.state.steps))
    sim.run(2.0)
    assert seen == [step]


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("step", [0.01, 1.0 / 60.0, 0.1])
def test_rounding_of_the_clock_neither_delays_nor_repeats_a_period(step: float, substeps: int) -> None:
    sim, seen = drifting(time_step=step, substeps=substeps), []
    sim.at(every=7 * step)(lambda sim: seen.append(sim.state.steps))
    sim.step(5000)
    assert seen == list(range(7, 5001, 7))


def test_several_times_and_a_period_go_together_and_a_step_calls_once() -> None:
    sim, seen = drifting(), []

    @sim.at(1.0, 0.35, 0.36, every=0.5)
    def note(sim: rb.Simulation) -> None:
        seen.append(sim.state.steps)

    sim.run(1.5)
    assert seen == [4, 5, 10, 15]


def test_steps_up_to_a_time_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sim, seen = drifting(time_step=0.01), []
    sim.at(0.5)(lambda sim: seen.append(sim.state.steps))
    sim.after_step(every=40)(lambda sim: None)
    taken = bites(sim, monkeypatch)
    sim.run(2.0)
    assert seen == [50]
    assert taken == [40, 10, 30, 40, 40, 40]


def test_without_functions_a_run_is_one_bite(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = drifting(time_step=0.01)
    sim.at(0.5)(print)
    sim.forget(print)
    taken = bites(sim, monkeypatch)
    sim.run(2.0)
    assert taken == [200]


def test_a_time_that_is_passed_again_after_going_back_calls_again() -> None:
    sim, seen = drifting(), []
    start = sim.state.copy()
    sim.at(0.3, every=0.5)(lambda sim: seen.append(sim.state.steps))
    sim.run(0.6)
    sim.state = start
    sim.run(0.4)
    assert seen == [3, 5, 3]


def test_a_state_from_later_on_does_not_call_what_lies_between() -> None:
    sim, seen = drifting(), []
    sim.at(0.3)(lambda sim: seen.append(sim.state.steps))
    ahead = drifting()
    ahead.run(1.0)
    sim.state = ahead.state
    sim.run(1.0)
    assert seen == []


def test_functions_are_called_in_the_order_of_registration_among_observers() -> None:
    sim, seen = drifting(), []
    sim.after_step(lambda sim: seen.append("first"))
    recorder = rb.Recorder(sim, quantities="ball.velocity")
    sim.at(0.1)(lambda sim: seen.append("second"))

    @sim.after_step
    def third(sim: rb.Simulation) -> None:
        seen.append("third")
        sim["ball"].velocity = (5, 0, 0)

    sim.step(2)
    assert seen == ["first", "second", "third", "first", "third"]
    assert recorder["ball.velocity"][:, 0].tolist() == [1.0, 1.0, 5.0]


def test_a_function_may_leave_and_bring_others() -> None:
    sim, seen = drifting(), []

    @sim.after_step
    def once(sim: rb.Simulation) -> None:
        seen.append("once")
        sim.forget(once)
        sim.forget(never)
        sim.after_step(later)

    def never(sim: rb.Simulation) -> None:
        seen.append("never")

    def later(sim: rb.Simulation) -> None:
        seen.append("later")

    sim.after_step(never)
    sim.step(3)
    assert seen == ["once", "later", "later"]
    sim.forget(never)


def test_methods_of_objects_can_be_forgotten() -> None:
    sim, seen = drifting(), []
    sim.after_step(seen.append)
    sim.step()
    sim.forget(seen.append)
    sim.step()
    assert len(seen) == 1


def test_an_exception_comes_through_with_a_note_and_the_simulation_goes_on() -> None:
    sim, plain = drifting(), drifting()

    @sim.at(0.3)
    def stumble(sim: rb.Simulation) -> None:
        raise ZeroDivisionError("oh")

    with pytest.raises(ZeroDivisionError) as caught:
        sim.step(10)
    assert caught.value.__notes__ == ["Raised by 'stumble', called at a time, after step 3, t = 0.3 s."]
    assert sim.state.steps == 3
    sim.step(7)
    plain.step(10)
    assert sim.hash() == plain.hash()


def test_a_value_that_cannot_be_written_is_blamed_on_the_function_that_wrote_it() -> None:
    sim = drifting()

    @sim.after_step
    def spoil(sim: rb.Simulation) -> None:
        sim["ball"].velocity[0] = math.nan

    with pytest.raises(rb.InputError, match="The velocity written is not finite in row 0") as caught:
        sim.step(5)
    assert caught.value.__notes__[0].startswith("Raised by 'spoil', called after a step, ")
    assert sim.state.steps == 1
    sim.forget(spoil)
    sim.step()
    assert sim["ball"].position[0] == pytest.approx(0.2)


@pytest.mark.parametrize("step", [lambda sim: sim.step(), lambda sim: sim.run(0.1)])
def test_what_is_called_between_steps_cannot_step(step: Any) -> None:
    sim = drifting()
    sim.after_step(step)
    with pytest.raises(rb.InputError, match="What is called between two steps cannot step the simulation itself"):
        sim.step()
    sim.forget(step)
    sim.step()
    assert sim.state.steps == 2


@pytest.mark.parametrize("after", ["off", "interpolate"])
@pytest.mark.parametrize("before", ["off", "interpolate"])
def test_a_run_whose_step_is_changed_on_the_way_ends_at_its_time(before: str, after: str) -> None:
    sim = drifting(time_step=0.1, contacts="detect", contact_time=before)
    sim.at(0.4)(lambda sim: sim.use(time_step=0.07, contact_time=after))
    sim.run(1.0)
    assert sim.time == pytest.approx(1.0, abs=1e-12)
    assert sim.time_step == 0.07
    assert sim.state.steps == 4 + 9


def test_functions_see_the_usual_step_after_a_short_one() -> None:
    sim, seen = drifting(time_step=0.4), []
    sim.after_step(lambda sim: seen.append(sim.time_step))
    sim.run(1.0)
    assert seen == [0.4, 0.4, 0.4]


def test_functions_see_whole_steps_of_all_worlds() -> None:
    sim, seen = drifting(substeps=4, worlds=3), []

    @sim.after_step
    def spread(sim: rb.Simulation) -> None:
        seen.append(sim.time)
        sim["ball"].velocity[:, 0] = [1, 2, 3]

    sim.step(3)
    np.testing.assert_allclose(seen, [0.1, 0.2, 0.3], atol=1e-15)
    np.testing.assert_allclose(sim["ball"].position[:, 0], [0.3, 0.5, 0.7], atol=1e-15)


def test_servos_take_their_targets_from_functions() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, name="arm")
    scene.add_joint(rb.Revolute("world", "arm", at=(0, 0, 0), axis=(0, 0, 1)), name="hinge")
    scene.add_force(rb.Servo("hinge", target=0.0, gain=20.0, rate_time=0.2), name="drive")
    sim = rb.Simulation(scene, time_step=0.005)
    sim.at(0.1)(lambda sim: setattr(sim.servo("drive"), "target", 0.5))
    sim.run(3.0)
    assert sim["hinge"].angle == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize(
    ("register", "message"),
    [
        (lambda sim: sim.after_step(every=0), "The every of after_step is 0; it must be at least 1."),
        (lambda sim: sim.after_step(3), "3 cannot be called after a step: it must be a function of one argument."),
        (lambda sim: sim.after_step(lambda: 0), "'<lambda>' cannot be called after a step: it must be a function of"),
        (lambda sim: sim.at(), r"at needs a time, such as @sim.at\(2.5\) or @sim.at\(every=0.5\)."),
        (lambda sim: sim.at(print), "at needs a time, such as"),
        (lambda sim: sim.at(-1.0), "A time of at is -1.0; it must be zero or more."),
        (lambda sim: sim.at("soon"), "A time of at is 'soon'; it must be a number."),
        (lambda sim: sim.at(every=0.0), "The every of at is 0.0; it must be greater than zero."),
        (lambda sim: sim.at(9.0, 0.2), "A time of at is 0.2 s, and the simulation is at 0.2 s already."),
        (lambda sim: sim.at(9.0)(lambda a, b: 0), "'<lambda>' cannot be called at a time: it must be a function of"),
    ],
)
def test_what_cannot_be_registered_is_refused(register: Any, message: str) -> None:
    sim = drifting()
    sim.step(2)
    with pytest.raises(rb.InputError, match=message):
        register(sim)
    assert len(sim.observers) == 0
