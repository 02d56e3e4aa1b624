"""The recorded step: stages, loops, branches, calls into Python, the stop flag; one answer however it is replayed."""

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


@pytest.mark.parametrize(("flag", "expected"), [(0, 2.0), (1, 6.0), (-3, 6.0)])
def test_what_hangs_on_a_flag_is_done_only_where_it_is_up(device: str, flag: int, expected: float) -> None:
    bench = Bench(device)
    with bench.program.stage("branch"):
        bench.program.launch(set_flag, 1, bench.flag, flag)
        bench.program.launch(add, 3, bench.values, 1.0)
        with bench.program.when(bench.flag):
            bench.program.launch(double, 3, bench.values)
    assert bench.run(2) == [expected] * 3


@wp.kernel(enable_backward=False)
def is_odd(number: wp.array[wp.int32], flag: wp.array[wp.int32]) -> None:
    flag[0] = number[0] % 2


@pytest.mark.parametrize("with_call", [False, True])
def test_a_flag_inside_a_loop_is_looked_at_in_every_round(device: str, with_call: bool) -> None:
    """Rounds 5, 4, 3, 2, 1: one is added in each and the sum doubled in the odd ones."""
    bench, seen = Bench(device), []
    odd = wp.zeros(1, dtype=wp.int32, device=bench.program.device)
    with bench.program.stage("loop"):
        bench.program.launch(set_flag, 1, bench.flag, 5)
        with bench.program.loop(bench.flag):
            bench.program.launch(add, 3, bench.values, 1.0)
            bench.program.launch(is_odd, 1, bench.flag, odd)
            with bench.program.when(odd):
                bench.program.launch(double, 3, bench.values)
                if with_call:
                    bench.program.call(lambda: seen.append(bench.values.numpy()[0]))
            bench.program.launch(count_down, 1, bench.flag)
    assert bench.run(1) == [20.0] * 3
    assert seen == ([2.0, 8.0, 20.0] if with_call else [])


@pytest.mark.parametrize("with_call", [False, True])
@pytest.mark.parametrize("outer", [0, 1])
@pytest.mark.parametrize("inner", [0, 1])
def test_flags_inside_flags_must_both_be_up(device: str, outer: int, inner: int, with_call: bool) -> None:
    bench, seen = Bench(device), []
    second = wp.full(1, inner, dtype=wp.int32, device=bench.program.device)
    bench.flag.fill_(outer)
    with bench.program.stage("branches"):
        with bench.program.when(bench.flag):
            bench.program.launch(add, 3, bench.values, 1.0)
            with bench.program.when(second):
                bench.program.launch(add, 3, bench.values, 10.0)
                if with_call:
                    bench.program.call(lambda: seen.append(bench.values.numpy()[0]))
            bench.program.launch(double, 3, bench.values)
        bench.program.launch(add, 3, bench.values, 100.0)
    assert bench.run(1) == [100.0 + outer * 2.0 * (1.0 + 10.0 * inner)] * 3
    assert seen == ([11.0] if outer and inner and with_call else [])


def test_a_loop_inside_a_flag_runs_only_where_it_is_up(device: str) -> None:
    bench = Bench(device)
    allowed = wp.zeros(1, dtype=wp.int32, device=bench.program.device)
    with bench.program.stage("loop"):
        with bench.program.when(allowed):
            bench.program.launch(set_flag, 1, bench.flag, 3)
            with bench.program.loop(bench.flag):
                bench.program.launch(add, 3, bench.values, 1.0)
                bench.program.launch(count_down, 1, bench.flag)
        bench.program.launch(set_flag, 1, allowed, 1)
    assert bench.run(3) == [6.0] * 3


def test_a_flag_taken_down_inside_does_not_cut_short_what_hangs_on_it(device: str) -> None:
    bench = Bench(device)
    with bench.program.stage("branch"):
        bench.program.launch(set_flag, 1, bench.flag, 1)
        with bench.program.when(bench.flag):
            bench.program.launch(set_flag, 1, bench.flag, 0)
            bench.program.launch(add, 3, bench.values, 1.0)
        with bench.program.when(bench.flag):
            bench.program.launch(add, 3, bench.values, 10.0)
    assert bench.run(2) == [2.0] * 3


def test_what_hangs_on_a_flag_belongs_to_its_stage(device: str) -> None:
    bench = Bench(device)
    bench.flag.fill_(1)
    with bench.program.stage("branch"), bench.program.when(bench.flag):
        bench.program.launch(add, 3, bench.values, 1.0)
    with bench.program.stage("after"):
        bench.program.launch(double, 3, bench.values)
    bench.program.compile()
    assert list(bench.program.time_stages(2)) == ["branch", "after"]
    np.testing.assert_array_equal(bench.values.numpy(), 6.0)


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
