"""The recorded step: stages, loops, calls into Python, the stop flag, and the same answer however it is replayed."""

import numpy as np
import pytest
import warp as wp

from rattleback.core.device import find
from rattleback.core.stages import Program


@wp.kernel(enable_backward=False)
def add(values: wp.array[wp.float64], amount: wp.float64) -> None:
    i = wp.tid()
    values[i] = values[i] + amount


@wp.kernel(enable_backward=False)
def double(values: wp.array[wp.float64]) -> None:
    i = wp.tid()
    values[i] = wp.float64(2.0) * values[i]


@wp.kernel(enable_backward=False)
def set_flag(flag: wp.array[wp.int32], value: int) -> None:
    flag[0] = value


@wp.kernel(enable_backward=False)
def count_down(flag: wp.array[wp.int32]) -> None:
    flag[0] = flag[0] - 1


@wp.kernel(enable_backward=False)
def stop_above(values: wp.array[wp.float64], limit: wp.float64, stop: wp.array[wp.int32]) -> None:
    if values[0] > limit:
        stop[0] = 1


class Bench:
    """A program over three numbers."""

    def __init__(self, device: str) -> None:
        where = find(device)
        self.values = wp.zeros(3, dtype=wp.float64, device=where)
        self.flag = wp.zeros(1, dtype=wp.int32, device=where)
        self.stop = wp.zeros(1, dtype=wp.int32, device=where)
        self.program = Program(where, self.stop)

    def run(self, steps: int) -> list[float]:
        self.program.compile()
        self.program.run(steps)
        return self.values.numpy().tolist()


def test_a_program_replays_its_launches_in_order(device: str) -> None:
    bench = Bench(device)
    with bench.program.stage("grow"):
        bench.program.launch(add, 3, bench.values, 1.0)
        bench.program.launch(double, 3, bench.values)
    assert bench.run(3) == [14.0] * 3


def test_a_loop_runs_until_its_flag_falls(device: str) -> None:
    bench = Bench(device)
    with bench.program.stage("loop"):
        bench.program.launch(set_flag, 1, bench.flag, 4)
        with bench.program.loop(bench.flag):
            bench.program.launch(add, 3, bench.values, 1.0)
            bench.program.launch(count_down, 1, bench.flag)
        bench.program.launch(double, 3, bench.values)
    assert bench.run(2) == [24.0] * 3


def test_a_call_into_python_comes_in_its_place(device: str) -> None:
    bench, seen = Bench(device), []
    with bench.program.stage("mixed"):
        bench.program.launch(add, 3, bench.values, 1.0)
        bench.program.call(lambda: seen.append(bench.values.numpy()[0]))
        bench.program.launch(double, 3, bench.values)
    assert bench.run(2) == [6.0] * 3
    assert seen == [1.0, 3.0]


def test_a_call_into_python_inside_a_loop_is_made_every_time(device: str) -> None:
    bench, seen = Bench(device), []
    with bench.program.stage("loop"):
        bench.program.launch(set_flag, 1, bench.flag, 3)
        with bench.program.loop(bench.flag):
            bench.program.launch(add, 3, bench.values, 1.0)
            bench.program.call(lambda: seen.append(bench.values.numpy()[0]))
            bench.program.launch(count_down, 1, bench.flag)
    assert bench.run(1) == [3.0] * 3
    assert seen == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("with_call", [False, True])
def test_the_stop_flag_ends_a_run_of_many_steps(device: str, with_call: bool) -> None:
    bench = Bench(device)
    with bench.program.stage("grow"):
        bench.program.launch(add, 3, bench.values, 1.0)
        bench.program.launch(stop_above, 1, bench.values, 4.5, bench.stop)
        if with_call:
            bench.program.call(lambda: None)
    assert bench.run(100) == [5.0] * 3


def test_stages_are_timed_one_by_one_and_do_the_same_work(device: str) -> None:
    bench = Bench(device)
    with bench.program.stage("grow"):
        bench.program.launch(add, 3, bench.values, 1.0)
    with bench.program.stage("empty"):
        pass
    with bench.program.stage("double"):
        bench.program.launch(double, 3, bench.values)
    bench.program.compile()
    seconds = bench.program.time_stages(3)
    np.testing.assert_array_equal(bench.values.numpy(), 14.0)
    assert list(seconds) == ["grow", "double"]
    assert all(value > 0 for value in seconds.values())
