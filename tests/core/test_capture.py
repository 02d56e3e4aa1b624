"""Captured steps: ready before the first one, without a trace in the bits, and alive as long as they are replayed."""

import gc
from typing import Any

import numpy as np
import pytest
import warp as wp

import rattleback as rb
from rattleback.core.device import find
from rattleback.core.native_replay import native_replay
from rattleback.core.node import HostCall
from rattleback.core.stages import Program


@wp.kernel(enable_backward=False)
def halve_and_add(values: wp.array[wp.float64], rounds: wp.array[wp.int32]) -> None:
    values[0] = wp.float64(0.5) * values[0] + wp.float64(1.0)
    rounds[0] = rounds[0] - 1


@wp.kernel(enable_backward=False)
def begin(rounds: wp.array[wp.int32], count: int) -> None:
    rounds[0] = count


@wp.struct
class Given:
    """Arguments of several kinds in one."""

    rows: wp.array[wp.float64]
    weights: wp.vec3d
    last: wp.int32


@wp.kernel(enable_backward=False)
def weigh(given: Given, scale: float, step: wp.int64, more: wp.vec2) -> None:
    i = wp.tid()
    given.rows[i] = given.weights[i % 3] * wp.float64(scale) + wp.float64(step) + wp.float64(more[1])
    if i == given.last:
        given.rows[i] = wp.float64(-1.0)


@pytest.fixture
def captures(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows by one with every capture of launches."""
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


def test_a_step_is_captured_once_and_before_the_first(captures: list[int]) -> None:
    made, values = program(1)
    assert len(captures) == 1
    for _ in range(20):
        made.run(1)
    made.run(10)
    assert len(captures) == 1
    assert values.numpy()[0] == after(30)


def test_arguments_of_every_kind_arrive_as_they_are() -> None:
    device = find("cpu")
    given, stop = Given(), wp.zeros(1, dtype=wp.int32, device=device)
    given.rows, given.weights, given.last = wp.zeros(5, dtype=wp.float64, device=device), wp.vec3d(1.0, 2.0, 4.0), 4
    made = Program(device, stop)
    with made.stage("all"):
        made.launch(weigh, 5, given, 0.5, 2**40, wp.vec2(7.0, 0.25))
    made.compile()
    made.run(1)
    assert given.rows.numpy().tolist() == [2.0**40 + 0.25 + w for w in (0.5, 1.0, 2.0, 0.5)] + [-1.0]


def test_a_captured_step_holds_what_it_works_on() -> None:
    """Its addresses stay good when all else is forgotten and the memory is asked for again."""
    made, values = program(3)
    host = values.numpy()
    del values
    for stage in made.stages.values():
        stage.clear()
    gc.collect()
    others = [wp.zeros(1, dtype=wp.float64, device="cpu") for _ in range(100)]
    made.run(4)
    assert host[0] == after(12)
    assert all(other.numpy()[0] == 0.0 for other in others)


def test_what_cannot_be_worked_through_by_a_kernel_is_refused() -> None:
    with pytest.raises(TypeError, match="no part of a list"):
        native_replay([HostCall(lambda: None)], find("cpu"))


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


@pytest.mark.contacts
@pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
@pytest.mark.parametrize("settings", [{}, {"sleep": True}], ids=["awake", "sleep"])
def test_no_step_of_a_run_is_captured_in_its_midst(captures: list[int], settings: Any) -> None:
    sim = rb.Simulation(swinging_and_falling(), **settings)
    ready = len(captures)
    for _ in range(120):
        sim.step()
    sim.step(50)
    sim.capture()
    assert len(captures) == ready == 1


@pytest.mark.contacts
@pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
@pytest.mark.parametrize(
    "settings",
    [{}, {"sleep": True}, {"substeps": 2}, {"joints": "iterative"}, {"contact_time": "bisect"}],
    ids=lambda given: next(iter(given), "plain"),
)
def test_a_simulation_has_the_same_bits_captured_or_not(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Captured, and launched one by one by Warp itself."""
    hashes = []
    for captured in (True, False):
        if not captured:
            monkeypatch.setattr(Program, "_capturable", lambda self, node: False)
        sim = rb.Simulation(swinging_and_falling(), **settings)
        assert (sim._step.program._whole is not None) is captured
        for _ in range(60):
            sim.step()
        hashes.append(sim.hash())
    assert hashes[0] == hashes[1]
    assert np.isfinite(sim.state.position).all()
