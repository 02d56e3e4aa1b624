"""The recorded step: stages, loops, branches, calls into Python, the stop flag; one answer however it is replayed."""

import time
from collections.abc import Callable

import numpy as np
import pytest
import warp as wp

from rattleback.core import stages
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


@pytest.fixture(autouse=True, params=[True, False], ids=["captured", "one_by_one"])
def captured(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """What holds of a captured step holds of one whose launches Python makes one by one."""
    if not request.param:
        monkeypatch.setattr(Program, "_capturable", lambda self, node: False)
    return bool(request.param)


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


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def takes(self, seconds: float) -> Callable[[], None]:
        """A call that lasts so long [s]."""

        def wait() -> None:
            self.now += seconds

        return wait


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that ``run_until`` reads."""
    clock = Clock()
    monkeypatch.setattr(stages, "time", clock)
    return clock


def record_rounds(bench: Bench, clock: Clock, amount: float, rounds: int = 10, seconds: float = 1.0) -> None:
    """A loop that would do many rounds, each of which adds to the values and takes its time."""
    flag = wp.zeros(1, dtype=wp.int32, device=bench.program.device)
    bench.program.launch(set_flag, 1, flag, rounds)
    with bench.program.loop(flag, may_stop=True):
        bench.program.launch(add, 3, bench.values, amount)
        bench.program.call(clock.takes(seconds))
        bench.program.launch(count_down, 1, flag)


@pytest.mark.parametrize(
    ("deadline", "rounds"),
    [(-5.0, 1), (0.0, 1), (0.5, 1), (1.5, 1), (2.5, 2), (3.5, 3), (9.5, 9), (10.5, 10), (99, 10)],
)
def test_a_loop_ends_before_a_deadline_that_one_more_round_would_miss(
    device: str, clock: Clock, deadline: float, rounds: int
) -> None:
    """Rounds of a second; the first is done however late it is, and none that is not asked for."""
    bench = Bench(device)
    with bench.program.stage("loop"):
        record_rounds(bench, clock, 1.0)
    bench.program.compile()
    bench.program.run_until(deadline)
    assert bench.values.numpy().tolist() == [float(rounds)] * 3
    assert clock.now == rounds


def test_a_loop_whose_flag_is_down_does_no_round_before_a_deadline(device: str, clock: Clock) -> None:
    bench = Bench(device)
    with bench.program.stage("loop"):
        record_rounds(bench, clock, 1.0, rounds=0)
    bench.program.compile()
    bench.program.run_until(99.0)
    assert bench.values.numpy().tolist() == [0.0] * 3


@pytest.mark.parametrize(("deadline", "first", "second"), [(0.0, 1, 1), (6.5, 3, 3), (6.0, 2, 3), (21.5, 10, 10)])
def test_loops_share_the_time_that_is_left(device: str, clock: Clock, deadline: float, first: int, second: int) -> None:
    """The first may use half of it; what it leaves, the second has: 6 s are 2 rounds and then 3."""
    bench = Bench(device)
    with bench.program.stage("loops"):
        record_rounds(bench, clock, 1.0)
        record_rounds(bench, clock, 100.0)
    bench.program.compile()
    bench.program.run_until(deadline)
    assert bench.values.numpy()[0] == first + 100.0 * second


def test_what_a_loop_leaves_unused_goes_to_the_next_one(device: str, clock: Clock) -> None:
    bench = Bench(device)
    with bench.program.stage("loops"):
        record_rounds(bench, clock, 1.0, rounds=1)
        record_rounds(bench, clock, 100.0)
    bench.program.compile()
    bench.program.run_until(8.5)
    assert bench.values.numpy()[0] == 1.0 + 100.0 * 7


def test_time_is_set_aside_for_what_came_after_the_loop_the_last_time(device: str, clock: Clock) -> None:
    """Two seconds before the loop and three after it: the first time only those before are known."""
    bench = Bench(device)
    with bench.program.stage("step"):
        bench.program.call(clock.takes(2.0))
        record_rounds(bench, clock, 1.0)
        bench.program.call(clock.takes(3.0))
    bench.program.compile()
    bench.program.run_until(8.5)
    assert (bench.values.numpy()[0], clock.now) == (6.0, 11.0)
    clock.now = 0.0
    bench.program.run_until(8.5)
    assert (bench.values.numpy()[0], clock.now) == (6.0 + 3.0, 8.0)


def test_a_round_that_took_long_is_expected_to_take_as_long_again(device: str, clock: Clock) -> None:
    """Rounds of 1, 3, 1, 1 … s: after the long one a second at the end is not enough."""
    bench, lengths = Bench(device), iter([1.0, 3.0, 1.0, 1.0, 1.0])

    def wait() -> None:
        clock.now += next(lengths)

    with bench.program.stage("loop"):
        bench.program.launch(set_flag, 1, bench.flag, 5)
        with bench.program.loop(bench.flag, may_stop=True):
            bench.program.launch(add, 3, bench.values, 1.0)
            bench.program.call(wait)
            bench.program.launch(count_down, 1, bench.flag)
    bench.program.compile()
    bench.program.run_until(6.5)
    assert (bench.values.numpy()[0], clock.now) == (2.0, 4.0)


def test_a_loop_of_the_prologue_is_left_out_before_a_deadline(device: str, clock: Clock) -> None:
    bench = Bench(device)
    with bench.program.prologue():
        bench.program.launch(add, 3, bench.values, 1.0)
        record_rounds(bench, clock, 1000.0)
    with bench.program.stage("step"):
        record_rounds(bench, clock, 10.0, rounds=2)
    bench.program.compile()
    bench.program.run_until(99.0)
    assert bench.values.numpy()[0] == 21.0


def test_a_deadline_that_is_far_away_changes_nothing(device: str) -> None:
    """Loops in stages, loops and launches under flags, loops in loops."""
    answers = []
    for late in (False, True):
        bench = Bench(device)
        inner = wp.zeros(1, dtype=wp.int32, device=bench.program.device)
        with bench.program.stage("first"):
            bench.program.launch(add, 3, bench.values, 1.0)
            bench.program.launch(set_flag, 1, bench.flag, 3)
            with bench.program.loop(bench.flag):
                bench.program.launch(add, 3, bench.values, 0.5)
                bench.program.launch(set_flag, 1, inner, 2)
                with bench.program.loop(inner):
                    bench.program.launch(double, 3, bench.values)
                    bench.program.launch(count_down, 1, inner)
                bench.program.launch(count_down, 1, bench.flag)
        with bench.program.stage("second"):
            bench.program.launch(set_flag, 1, inner, 1)
            with bench.program.when(inner):
                bench.program.launch(add, 3, bench.values, 0.25)
        bench.program.compile()
        for _ in range(3):
            bench.program.run_until(time.perf_counter() + 1e6) if late else bench.program.run(1)
        answers.append(bench.values.numpy().tolist())
    assert answers[0] == answers[1]
    assert answers[0][0] > 1e5
