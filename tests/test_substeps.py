"""Sub-steps: n of them have the bits of n steps of h/n, and everybody outside sees whole steps of h."""

import os
import signal
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback import scenes
from rattleback.collision import finder
from rattleback.recorded_step import RecordedStep

# Sub-steps of 2⁻ᵏ s add up without rounding, so that times can be compared to the bit.
STEP, PARTS = 1.0 / 64.0, 4


def both(make: Any, **settings: Any) -> tuple[rb.Simulation, rb.Simulation]:
    """A simulation with sub-steps, and one whose steps are as long as those."""
    return (
        rb.Simulation(make(), time_step=STEP, substeps=PARTS, **settings),
        rb.Simulation(make(), time_step=STEP / PARTS, **settings),
    )


def bits(sim: rb.Simulation) -> dict[str, bytes]:
    """Every array of the state but the length and the number of the steps, and what acted over a whole one."""
    sim.state.send()
    return {
        f"{part}.{name}": array.tobytes()
        for part, group in sim.state.read().items()
        for name, array in group.items()
        if f"{part}.{name}" not in ("clock.time_step", "clock.steps", "contacts.impulse") and part != "impulses"
    }


def driven() -> rb.Scene:
    """An arm with a controller that follows a target, and a wind that Python blows."""
    scene = rb.Scene()
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", axis=(0, 1, 0)), "hinge")
    target = rb.Schedule([0.0, 0.5], [0.0, 1.0])
    scene.add_force(rb.Servo("hinge", target=target, gain=20.0, reset_time=0.5, rate_time=0.1, window=0.3), "motor")
    scene.add_force(rb.PythonForce(lambda time, state: (0.0, 0.0, np.sin(9.0 * time)), bodies="arm"), "wind")
    return scene


SCENES = {
    "tower": (lambda: scenes.tower(4), {"contacts": "impulse"}),
    "heap": (lambda: scenes.cubes_1000(2, 3), {"contacts": "impulse", "warn": False}),
    "chain": (lambda: scenes.chain(6), {}),
    "servo": (driven, {}),
    "rk45": (lambda: scenes.tumbling(), {"integrator": "rk45"}),
    "batch": (lambda: scenes.tower(2), {"contacts": "impulse", "worlds": 3}),
    "asleep": (lambda: scenes.tower(3), {"contacts": "impulse", "sleep": True}),
    "time of contact": (lambda: scenes.cubes_1000(2, 2), {"contacts": "detect", "contact_time": "bisect"}),
}


@pytest.mark.parametrize("name", SCENES)
def test_a_step_in_sub_steps_has_the_bits_of_as_many_steps(name: str) -> None:
    make, settings = SCENES[name]
    parted, plain = both(make, **settings)
    for steps in (1, 2, 60):
        parted.step(steps)
        plain.step(steps * PARTS)
        assert bits(parted) == bits(plain)
        assert parted.state.steps * PARTS == plain.state.steps
        assert parted.time_step == STEP
    assert parted.report.step * PARTS == plain.report.step


def test_the_report_of_a_call_is_the_worst_of_its_sub_steps() -> None:
    parted, plain = both(lambda: scenes.chain(6))
    parted.step()
    plain.step(PARTS)
    assert parted.report.position_error == plain.report.position_error
    assert parted.report.iterations == plain.report.iterations


def test_observers_see_whole_steps() -> None:
    sim = rb.Simulation(scenes.tumbling(), time_step=0.01, substeps=3)
    recorder = rb.Recorder(sim, every=2)
    sim.step(6)
    np.testing.assert_allclose(recorder.time, [0.0, 0.02, 0.04, 0.06], rtol=0, atol=1e-15)
    assert sim.state.steps == 6


@pytest.mark.parametrize("step", [0.01, 1.0 / 3.0, 0.1])
@pytest.mark.parametrize("parts", [3, 7, 49])
def test_the_length_of_a_step_stays_what_was_set_to_the_bit(step: float, parts: int) -> None:
    sim = rb.Simulation(scenes.tumbling(), time_step=step, substeps=parts)
    sim.step(3)
    assert sim.time_step == step
    assert sim.time == pytest.approx(3 * step, rel=1e-13)


def test_a_run_that_does_not_fit_ends_with_a_shorter_step_in_as_many_sub_steps() -> None:
    sim = rb.Simulation(scenes.thrown(drag=0.0), time_step=0.02, substeps=3)
    start, speed = sim.state.position.copy(), sim.state.velocity.copy()
    sim.run(0.05)
    assert sim.time == pytest.approx(0.05, rel=1e-14)
    assert sim.state.steps == 3
    assert sim.time_step == 0.02
    wanted = start + 0.05 * speed + 0.5 * 0.05**2 * np.array([0, 0, -9.81])
    np.testing.assert_allclose(sim.state.position, wanted, rtol=0, atol=1e-13)


def test_a_copy_and_a_file_go_on_bit_for_bit(tmp_path: Any) -> None:
    sim = rb.Simulation(scenes.tower(3), time_step=0.01, substeps=3, contacts="impulse")
    sim.step(4)
    sim.save(tmp_path / "half.rb.npz")
    kept = sim.state.copy()
    sim.step(5)
    wanted = sim.hash()
    sim.state = kept
    sim.step(5)
    assert sim.hash() == wanted
    loaded = rb.load(tmp_path / "half.rb.npz")
    assert loaded.methods.substeps == 3
    loaded.step(5)
    assert loaded.hash() == wanted


def test_a_state_copied_with_other_sub_steps_keeps_the_length_of_its_step() -> None:
    sim = rb.Simulation(scenes.chain(3), time_step=0.01)
    kept = sim.state.copy()
    sim.use(substeps=4)
    sim.state = kept
    sim.step()
    assert sim.time_step == 0.01
    assert sim.time == pytest.approx(0.01, rel=1e-14)


def test_sub_steps_change_on_a_running_scene() -> None:
    parted, plain = both(lambda: scenes.chain(4))
    for sim in (parted, plain):
        sim.use(substeps=2)
    parted.use(substeps=PARTS)
    plain.use(substeps=1)
    parted.step(3)
    plain.step(3 * PARTS)
    assert bits(parted) == bits(plain)


def test_buffers_grow_between_two_sub_steps_without_changing_a_bit() -> None:
    settings = {"time_step": STEP, "substeps": PARTS, "contacts": "impulse", "warn": False}
    ample, tight = (rb.Simulation(scenes.cubes_1000(2, 3), **settings) for _ in range(2))
    finder = tight._step.contacts.finder
    finder.room.update(dict.fromkeys(finder.room, 1))
    finder._allocate()
    before = tight._step.contacts.version
    for _ in range(3):
        for sim in (ample, tight):
            sim.step(20)
        assert tight.hash() == ample.hash()
    assert tight._step.contacts.version > before
    assert tight.state.steps == 60


def steps_with_interrupts(sim: rb.Simulation, steps: int) -> int:
    """Take steps in spite of Ctrl-C, which must never leave one in its midst; says how often it came."""
    interrupts = 0
    while sim.state.steps < steps:
        try:
            sim.step()
        except KeyboardInterrupt:
            interrupts += 1
        assert sim.time == sim.state.steps * STEP
        assert sim.time_step == STEP
    return interrupts


def test_an_interrupt_while_buffers_grow_leaves_whole_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they grow between two sub-steps of a step."""
    settings = {"time_step": STEP, "substeps": PARTS, "contacts": "impulse", "warn": False}
    whole, broken = (rb.Simulation(scenes.cubes_1000(3, 3), **settings) for _ in range(2))
    tight, real = broken._step.contacts.finder, RecordedStep.grown
    tight.room.update(dict.fromkeys(tight.room, 1))
    tight._allocate()
    monkeypatch.setattr(finder, "GROWTH", 1.0)

    def interrupted(self: RecordedStep) -> RecordedStep:
        if broken._replay._done:
            os.kill(os.getpid(), signal.SIGINT)
        return real(self)

    monkeypatch.setattr(RecordedStep, "grown", interrupted)
    assert steps_with_interrupts(broken, 40) > 0
    whole.step(40)
    assert broken.hash() == whole.hash()


def test_an_interrupt_in_a_force_of_python_leaves_whole_steps() -> None:
    calls: list[float] = []

    def wind(time: float, state: Any) -> tuple[float, float, float]:
        calls.append(time)
        if interrupting and len(calls) - quiet in (6, 22, 39):
            os.kill(os.getpid(), signal.SIGINT)
        return 0.0, 0.0, np.sin(9.0 * time)

    scene = driven()
    scene.replace_force("wind", rb.PythonForce(wind, bodies="arm"))
    whole, broken = (rb.Simulation(scene, time_step=STEP, substeps=PARTS) for _ in range(2))
    interrupting, quiet = False, 0
    whole.step(12)
    interrupting, quiet = True, len(calls)
    assert steps_with_interrupts(broken, 12) == 3
    assert broken.hash() == whole.hash()


def test_a_budget_that_suffices_changes_no_bit() -> None:
    plain, timed = (rb.Simulation(scenes.chain(8), time_step=0.02, substeps=3) for _ in range(2))
    for _ in range(5):
        plain.step()
        timed.step(budget_ms=60_000.0)
        assert timed.hash() == plain.hash()


def test_a_tiny_budget_still_takes_whole_steps() -> None:
    sim = rb.Simulation(scenes.chain(8), time_step=0.02, substeps=3, warn=False)
    sim.step(4, budget_ms=1e-6)
    assert sim.state.steps == 4
    assert sim.time == pytest.approx(0.08, rel=1e-13)


def test_a_body_that_is_lost_in_a_sub_step_leaves_the_last_good_one_and_the_length_of_the_step() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, name="ball")
    # Faster than light, 2.998e8 m/s, from t = 0.8 s on.
    sim = rb.Simulation(scene, time_step=0.3, substeps=3)
    sim["ball"].applied_force = (4e8, 0.0, 0.0)
    with pytest.raises(rb.DivergenceError, match="in step 3") as caught:
        sim.step(100)
    assert caught.value.step == 3
    assert sim.time_step == 0.3
    assert sim.state.steps == 2
    assert sim.time == pytest.approx(0.7, rel=1e-12)
    assert sim["ball"].velocity[0] == pytest.approx(2.8e8, rel=1e-12)
    sim["ball"].applied_force = (0.0, 0.0, 0.0)
    sim["ball"].velocity = (1.0, 0.0, 0.0)
    sim["ball"].position = (0.0, 0.0, 0.0)
    sim.step()
    assert sim.state.steps == 3
    assert sim["ball"].position[0] == pytest.approx(0.3, rel=1e-12)


def test_an_error_in_a_force_of_ones_own_leaves_the_length_of_the_step() -> None:
    def push(time: float, state: Any) -> Any:
        if time > 0.015:
            raise ValueError("enough")
        return (0.0, 0.0, 0.0)

    scene = scenes.tumbling()
    scene.add_force(rb.PythonForce(push), "push")
    sim = rb.Simulation(scene, time_step=0.01, substeps=5)
    with pytest.raises(ValueError, match="enough"):
        sim.step(5)
    assert sim.time_step == 0.01
    assert sim.state.steps == 1


def test_a_joint_carries_its_load_in_sub_steps_too() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), mass=2.0, position=(0, 0, -1), name="bob")
    scene.add_joint(rb.Ball("world", "bob", at=(0, 0, 0)), "hook")
    sim = rb.Simulation(scene, time_step=0.01, substeps=8)
    sim.step(3)
    np.testing.assert_allclose(sim["hook"].reaction_force, (0, 0, 2.0 * 9.81), rtol=0, atol=1e-9)


@pytest.mark.contacts
def test_contacts_asked_for_between_steps_are_those_of_the_step() -> None:
    sim = rb.Simulation(scenes.tower(3), time_step=0.01, substeps=4)
    sim.step(2)
    found = len(sim.contacts)
    sim["cube_1"].velocity = (0.0, 0.0, 0.0)
    assert len(sim.contacts) == found == 12
    assert sim.time_step == 0.01
    assert sim.state.steps == 2


def test_a_profile_is_of_whole_steps_and_leaves_the_simulation_where_it_is() -> None:
    sim = rb.Simulation(scenes.chain(5), time_step=0.01, substeps=4)
    sim.step(2)
    before = sim.hash()
    assert sim.profile(3).steps == 3
    assert sim.hash() == before


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "substeps is 0; it must be at least 1"),
        (2.0, "substeps is 2.0; it must be a whole number"),
        (True, "substeps is True; it must be a whole number"),
        (100_000, "substeps is 100000; it must be at most 10000"),
    ],
)
def test_a_wrong_number_of_sub_steps_is_refused(value: Any, said: str) -> None:
    with pytest.raises(rb.InputError, match=said):
        rb.Simulation(scenes.tumbling(), substeps=value)
    sim = rb.Simulation(scenes.tumbling())
    with pytest.raises(rb.InputError, match=said):
        sim.use(substeps=value)
    assert sim.methods.substeps == 1
