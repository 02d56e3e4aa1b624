"""When a CPU captures a step: once its launches have been done often enough one by one, and without a trace."""

from typing import Any

import numpy as np
import pytest
import warp as wp

import rattleback as rb
from rattleback.core import stages
from rattleback.core.device import find
from rattleback.core.stages import Program


@wp.kernel(enable_backward=False)
def halve_and_add(values: wp.array[wp.float64], rounds: wp.array[wp.int32]) -> None:
    values[0] = wp.float64(0.5) * values[0] + wp.float64(1.0)
    rounds[0] = rounds[0] - 1


@wp.kernel(enable_backward=False)
def begin(rounds: wp.array[wp.int32], count: int) -> None:
    rounds[0] = count


@pytest.fixture
def captures(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows by one with every capture of a whole step."""
    made: list[int] = []
    real = Program._capture
    monkeypatch.setattr(Program, "_capture", lambda self, nodes: made.append(len(nodes)) or real(self, nodes))
    return made


def program(rounds: int) -> tuple[Program, Any]:
    """A step of so many rounds, each of one launch, and what it changes."""
    device = find("cpu")
    values, left, stop = (wp.zeros(1, dtype=kind, device=device) for kind in (wp.float64, wp.int32, wp.int32))
    made = Program(device, stop)
    with made.stage("all"):
        made.launch(begin, 1, left, rounds)
        with made.loop(left):
            made.launch(halve_and_add, 1, values, left)
    made.compile()
    return made, values


def after(rounds: int) -> float:
    """What so many rounds make of zero."""
    return 2.0 * (1.0 - 0.5**rounds)


def test_few_steps_are_not_captured(captures: list[int]) -> None:
    made, values = program(1)
    for _ in range(20):
        made.run(1)
    assert captures == []
    assert values.numpy()[0] == after(20)


def test_a_call_for_many_steps_captures_before_the_first(captures: list[int]) -> None:
    made, values = program(1)
    made.run(1000)
    assert len(captures) == 1
    assert made._stepwise.launched == 0
    assert values.numpy()[0] == pytest.approx(2.0, abs=1e-15)


@pytest.mark.parametrize("at_once", [1, 7])
def test_many_calls_for_a_few_steps_capture_once_in_their_midst(captures: list[int], at_once: int) -> None:
    made, values = program(1)
    for _ in range(0, 700, at_once):
        made.run(at_once)
    assert len(captures) == 1
    assert 0 < made._stepwise.launched <= stages.LAUNCHES_BEFORE_CAPTURE * made._recorded
    assert values.numpy()[0] == pytest.approx(2.0, abs=1e-15)


def test_a_step_of_many_roundscaptured_soon(captures: list[int]) -> None:
    made, values = program(1000)
    made.run(2)
    assert len(captures) == 1
    assert made._stepwise.launched == 1001
    assert values.numpy()[0] == 2.0


def test_a_step_may_be_captured_when_somebody_wants_it(captures: list[int]) -> None:
    made, values = program(3)
    made.capture()
    made.capture()
    assert len(captures) == 1
    made.run(2)
    assert made._stepwise.launched == 0
    assert values.numpy()[0] == after(6)


def swinging_and_falling() -> rb.Scene:
    """Two links that swing into a tower, and a ball that falls beside it."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor")
    for k in range(3):
        scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, position=(0.0, 0.0, 0.1 + 0.2 * k), name=f"cube{k}")
    for k, owner in enumerate(("world", "link0")):
        place = (0.55 + 0.4 * k, 0.0, 0.9)
        scene.add_body(rb.Box(0.4, 0.05, 0.05), mass=1.0, position=place, name=f"link{k}")
        scene.add_joint(rb.Revolute(owner, f"link{k}", at=(place[0] - 0.2, 0, 0.9), axis=(0, 1, 0)))
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 0.5, 0.5), name="ball")
    return scene


def test_a_step_that_takes_the_place_of_a_captured_one_is_captured_at_once(captures: list[int]) -> None:
    sim = rb.Simulation(swinging_and_falling(), contacts="none")
    sim.use(integrator="rk4")
    assert not sim._step.program.captured
    sim.step(200)
    assert sim._step.program._stepwise.launched == 0
    assert sim._step.program.captured
    sim.use(integrator="lie_midpoint")
    assert sim._step.program.captured


@pytest.mark.contacts
@pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
@pytest.mark.parametrize(
    "settings",
    [{}, {"sleep": True}, {"substeps": 2}, {"joints": "iterative"}, {"contact_time": "bisect"}],
    ids=lambda given: next(iter(given), "plain"),
)
def test_a_simulation_has_the_same_bits_captured_or_not(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Captured from the first step, in the midst of its steps, and never."""
    hashes = []
    for launches in (-1, 15, 10**9):
        monkeypatch.setattr(stages, "LAUNCHES_BEFORE_CAPTURE", launches)
        sim = rb.Simulation(swinging_and_falling(), **settings)
        for _ in range(60):
            sim.step()
        hashes.append(sim.hash())
        done = sim._step.program._stepwise.launched
        assert (done == 0) is (launches == -1)
        assert sim._step.program.captured is (launches < 10**9)
    assert hashes[0] == hashes[1] == hashes[2]
    assert np.isfinite(sim.state.position).all()
