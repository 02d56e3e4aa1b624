"""The recorded step: launches noted once, grouped in named stages, captured and replayed as a whole.

A recipe writes its launches into a Program. The program compiles their kernels, captures the whole step, on CUDA
as a graph and on a CPU as a list that a kernel works through, and replays n steps with one call. A call into
Python splits what is captured at that place. All this is done before the first step.
"""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import warp as wp

from rattleback.core import host_read
from rattleback.core.device import load_kernels
from rattleback.core.kernel import kernel
from rattleback.core.native_replay import native_replay, replay
from rattleback.core.node import (
    Branch,
    HostCall,
    Launch,
    Loop,
    Node,
    direct,
    inner_nodes,
    launches_of,
    may_stop,
    together,
)

__all__ = ["Branch", "HostCall", "Launch", "Loop", "Node", "Program"]

# The stage that runs in every step, also where all others are skipped.
SLEEP = "sleep"


@kernel
def count_down(steps_left: wp.array[wp.int32], stop: wp.array[wp.int32]) -> None:
    """One step is done; none is left when the fault flag is up."""
    steps_left[0] = wp.where(stop[0] != 0, 0, steps_left[0] - 1)


@kernel
def heed_stop(steps_left: wp.array[wp.int32], stop: wp.array[wp.int32]) -> None:
    """No step at all where the prologue has raised the fault flag."""
    if stop[0] != 0:
        steps_left[0] = 0


# Modules whose kernels are there, by device; should one have changed since, a launch loads it anew by itself.
_loaded: defaultdict[str, set[Any]] = defaultdict(set)


def _record(launches: list[Launch], device: Any) -> None:
    """Compile the kernels of launches, which spares other programs the threads it takes, and record them."""
    there = _loaded[device.alias]
    modules = [launch.kernel.module for launch in launches] + ([replay.module] if device.is_cpu else [])
    if new := [module for module in dict.fromkeys(modules) if module not in there]:
        load_kernels(new, device)
        there.update(new)
    for launch in launches:
        launch.command = wp.launch(
            launch.kernel, dim=launch.dim, inputs=list(launch.inputs), device=device, record_cmd=True
        )


def recorded(kernel: Any, dim: int, inputs: tuple[Any, ...], device: Any) -> Callable[[], None]:
    """A call that makes one launch, outside any step."""
    launch = Launch(kernel, dim, inputs)
    _record([launch], device)
    return native_replay([launch], device) if device.is_cpu else direct(launch)


class Program:
    """The launches of one step, by stage.

    Args:
        device: Warp device it runs on.
        stop: One-entry array; when a step sets it, no further step is run.
    """

    def __init__(self, device: Any, stop: Any) -> None:
        self.device, self.stop = device, stop
        self.stages: dict[str, list[Node]] = {}
        self._prologue: list[Node] = []
        self._open: list[Node] = []
        self._awake: Any = None
        self._idle: list[Node] = []
        self._steps_left = wp.zeros(1, dtype=wp.int32, device=device)
        self._guards = [Launch(kernel, 1, (self._steps_left, stop)) for kernel in (heed_stop, count_down)]
        self._pieces: dict[str, Callable[[], None]] = {}
        self._whole: Any = None
        self._timed: list[tuple[Callable[[], None], Any]] = []
        self._fixed = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Everything recorded inside belongs to this stage."""
        self._open = self.stages.setdefault(name, [])
        yield

    @contextmanager
    def prologue(self) -> Iterator[None]:
        """Everything recorded inside runs once before the steps of a call: what each step leaves for the next."""
        self._open = self._prologue
        yield

    @contextmanager
    def idle(self, awake: Any) -> Iterator[None]:
        """Everything recorded inside is the whole step where ``awake[0]`` is zero after its stage ``"sleep"``."""
        self._awake, self._open = awake, self._idle
        yield

    def launch(self, kernel: Any, dim: int, *inputs: Any) -> None:
        """Record a kernel launch over ``dim`` threads; over none, there is nothing to record."""
        if dim > 0:
            self._open.append(Launch(kernel, dim, inputs))

    def share(self, kernel: Any, count: int, *inputs: Any) -> None:
        """Record a kernel whose threads share ``count`` rows: thread i takes the rows i, i + lanes and so on.

        On the CPU one thread takes them all, which spares it what beginning a thread costs; on CUDA there is one for
        each. The number of threads is the last argument of the kernel.
        """
        lanes = min(count, 1) if self.device.is_cpu else count
        self.launch(kernel, lanes, *inputs, lanes)

    def call(self, function: Callable[[], None]) -> None:
        """Record a call into Python; it splits what is captured."""
        self._open.append(HostCall(function))

    @contextmanager
    def loop(self, flag: Any, may_stop: bool = False) -> Iterator[None]:
        """Everything recorded inside is repeated while ``flag[0]`` is not zero.

        Args:
            flag: One-entry array.
            may_stop: Whether the step may continue from any round, so that a deadline may end the loop.
        """
        with self._inside(Loop(flag, may_stop)):
            yield

    @contextmanager
    def when(self, flag: Any) -> Iterator[None]:
        """Everything recorded inside is done only where ``flag[0]`` is not zero."""
        with self._inside(Branch(flag)):
            yield

    @contextmanager
    def _inside(self, inner: Loop | Branch) -> Iterator[None]:
        outer = self._open
        outer.append(inner)
        self._open = inner.nodes
        yield
        self._open = outer

    def compile(self) -> None:
        """Compile the kernels and capture the step. Call once, after recording."""
        _record([*launches_of([*self._prologue, *self._nodes, *self._idle]), *self._guards], self.device)
        self._capture_whole()

    def _capture_whole(self) -> None:
        """Capture prologue and step as one, where nothing in them splits it."""
        first, then = self.stages.get(SLEEP, []), self._nodes_after_sleep
        nodes = [*first, *then] if self._awake is None else [*first, Branch(self._awake, then, self._idle)]
        if nodes and all(map(self._capturable, [*self._prologue, *nodes])) and self._can_loop():
            begin, end = self._guards
            self._whole = self._capture([*self._prologue, begin, Loop(self._steps_left, nodes=[*nodes, end])])

    @property
    def _nodes(self) -> list[Node]:
        """All nodes of a step in which something is awake."""
        return [*self.stages.get(SLEEP, []), *self._nodes_after_sleep]

    @property
    def _nodes_after_sleep(self) -> list[Node]:
        return [node for name, stage in self.stages.items() if name != SLEEP for node in stage]

    @property
    def _is_idle(self) -> bool:
        """Whether nothing was awake at the last host read."""
        return self._awake is not None and not host_read.first(self._awake)

    @property
    def is_whole(self) -> bool:
        """Whether steps are replayed as a whole, without Python in between."""
        return self._whole is not None

    def run(self, steps: int) -> None:
        """Replay the prologue once and the step ``steps`` times, fewer if it raises the stop flag."""
        if self._whole is not None:
            host_read.set_first(self._steps_left, steps)
            self._whole()
            return
        self._piece("prologue")()
        while steps > 0 and not host_read.first(self.stop):
            self._piece("first")()
            self._piece("idle" if self._is_idle else "then")()
            steps -= 1

    def _piece(self, name: str) -> Callable[[], None]:
        """The replay of a part of the step, made when it is first needed."""
        if name not in self._pieces:
            first, then = self.stages.get(SLEEP, []), self._nodes_after_sleep
            nodes = {"prologue": self._prologue, "first": first, "then": then, "idle": self._idle}[name]
            self._pieces[name] = together(self._captured(nodes))
        return self._pieces[name]

    def run_until(self, deadline: float) -> None:
        """Replay the prologue and one step; its loops end so that all that has to follow ends at a deadline.

        Each loop that may stop has an equal part of the time that is left to it and those after it, beside what the
        other launches took the last time; one round is always done. The host reads the flags between rounds. Such
        loops of the prologue are left out.

        Args:
            deadline: As ``time.perf_counter`` counts [s].
        """
        if self._is_idle:
            self.run(1)
            return
        if not self._timed:
            prologue = [node for node in self._prologue if not may_stop(node)]
            self._timed = list(self._in_rounds([*prologue, *self._nodes]))
        loops, fixed = sum(flag is not None for _, flag in self._timed), 0.0
        for call, flag in self._timed:
            begun = time.perf_counter()
            if flag is None:
                call()
                wp.synchronize_device(self.device)
                fixed += time.perf_counter() - begun
                continue
            end = begun + (deadline - begun - max(0.0, self._fixed - fixed)) / loops
            longest = -math.inf
            while host_read.first(flag) and (now := time.perf_counter()) + longest < end:
                call()
                wp.synchronize_device(self.device)
                longest = max(longest, time.perf_counter() - now)
            loops -= 1
        self._fixed = fixed

    def _in_rounds(self, nodes: list[Node]) -> Iterator[tuple[Callable[[], None], Any]]:
        """Calls that replay the nodes, with the flag of those that are to be repeated."""
        run: list[Node] = []
        for node in [*nodes, None]:
            if node is not None and not may_stop(node):
                run.append(node)
                continue
            for call in self._captured(run):
                yield call, None
            run = []
            if isinstance(node, Loop):
                yield together(self._captured(node.nodes)), node.flag

    def time_stages(self, steps: int) -> dict[str, float]:
        """Run ``steps`` steps stage by stage and return the seconds spent in each [s]."""
        stages = {SLEEP: self.stages.get(SLEEP, []), **self.stages}
        pieces = {name: self._captured(nodes) for name, nodes in stages.items() if nodes}
        seconds = dict.fromkeys(pieces, 0.0)
        self._piece("prologue")()
        for _ in range(steps):
            for name, calls in pieces.items():
                begun = time.perf_counter()
                if name != SLEEP and self._is_idle:
                    break
                together(calls)()
                if name == SLEEP and self._is_idle:
                    self._piece("idle")()
                wp.synchronize_device(self.device)
                seconds[name] += time.perf_counter() - begun
        return seconds

    def _can_loop(self) -> bool:
        return bool(self.device.is_cpu or wp.is_conditional_graph_supported())

    def _capturable(self, node: Node) -> bool:
        if isinstance(node, Loop | Branch):
            return self._can_loop() and all(map(self._capturable, inner_nodes(node)))
        return isinstance(node, Launch)

    def _captured(self, nodes: list[Node]) -> list[Callable[[], None]]:
        """Calls that replay the nodes: runs of launches captured, what cannot be captured as it is."""
        calls: list[Callable[[], None]] = []
        run: list[Node] = []
        for node in [*nodes, None]:
            if node is not None and self._capturable(node):
                run.append(node)
                continue
            if run:
                calls.append(self._capture(run))
                run = []
            if node is not None:
                calls.append(direct(node))
        return calls

    def _capture(self, nodes: list[Node]) -> Callable[[], None]:
        if self.device.is_cpu:
            return native_replay(nodes, self.device)
        with wp.ScopedCapture(device=self.device) as capture:
            for node in nodes:
                direct(node)()
        return partial(wp.capture_launch, capture.graph)
