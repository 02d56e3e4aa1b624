"""Whole steps from a recorded one: replayed in bites, in sub-steps, within a budget, with buffers that grow.

A step of length h in n sub-steps is the recorded step replayed n times with h/n. While a replay runs the clock counts
sub-steps and holds their length; before and after, whole steps and h. So states, files and observers know whole steps
only, and how many steps a replay bites off makes no difference to any bit.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import arrays, glance
from rattleback.core.errors import DivergenceError
from rattleback.core.report import Profile
from rattleback.model.contact_memory import WRITTEN
from rattleback.recorded_step import RecordedStep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rattleback.collision.stages import ContactStages
    from rattleback.forces.field import ForceField
    from rattleback.model.state import State
    from rattleback.settings import Methods

# What happens around a step with a budget takes about this long [s].
AROUND_A_STEP = 5e-5
# One replay of the captured step lasts about this long, so that an interrupt from the keyboard gets through.
SECONDS_PER_REPLAY = 0.05


class Replay:
    """What takes the steps of a simulation.

    Attributes:
        step: The recorded step; another one when methods change or buffers grow.

    Args:
        forces: The forces of the scene, with its model.
        state: What is stepped.
        methods: How.
    """

    def __init__(self, forces: ForceField, state: State, methods: Methods) -> None:
        self.state, self.model = state, forces.model
        self.step = RecordedStep(forces, state, methods)
        self._budget: float | None = None
        self._called = 0.0
        self._steps_at_once = 16
        self._done = 0  # sub-steps of the step under way
        self._found = self._solved = (-1, -1)

    def choose(self, methods: Methods) -> None:
        """Record the step with other methods; where they do not fit the scene, everything stays as it was."""
        old, self.step = self.step, RecordedStep(self.step.forces, self.state, methods, self.step)
        if old.sleep is not None:
            old.sleep.end()
        self._found, self._done = (-1, -1), 0
        self.state.contacts.pending.fill_(int(WRITTEN))

    def begin(self, budget: float | None = None) -> None:
        """A call begins.

        Args:
            budget: Time each of its steps may take [s]; None for as long as it takes.
        """
        self._called, self._budget, self._done = time.perf_counter(), budget, 0
        self.state.freeze()
        self._renew()
        self.step.forget()

    def contacts(self) -> ContactStages | None:
        """What finds contacts, with those of this moment; None if nobody wants them."""
        self.state.send()
        stages = self.step.looking()
        if stages is not None and self._found != (self.state.version, self.state.steps):
            with self._in_substeps():
                stages.finder.find()
            self._found = (self.state.version, self.state.steps)
        return stages

    def advance(self, steps: int) -> None:
        """Replay steps in bites that leave the keyboard a chance, checking for a body that is not finite."""
        self._renew()
        while steps > 0:
            bite = min(steps, self._steps_at_once) if self._budget is None else 1
            begun = time.perf_counter()
            # Only where contacts are found can a replay end early and go on; else the clock need not be read.
            first = 0 if self.step.contacts is None else self.state.steps
            self._replay(bite, first, steps - bite)
            if fault := int(glance.first(self.step.program.stop)):
                self.step.program.stop.zero_()
                if fault > 0:
                    self._raise_divergence(fault)
                steps -= self.state.steps - first
                self.step = self.step.grown()
                if steps == 0:
                    self._finish()
                continue
            if self.step.contacts is not None:
                self.step.contacts.refresh()
                self._found = self._solved = (self.state.version, self.state.steps)
            seconds = max(time.perf_counter() - begun, 1e-7)
            if bite == self._steps_at_once:
                self._steps_at_once = max(1, int(bite * min(SECONDS_PER_REPLAY / seconds, 8.0)))
            steps -= bite

    def profile(self, steps: int) -> Profile:
        """Where the time of a step goes, measured over some steps from here; the state stays as it is."""
        self.state.freeze()
        before, seen = self.state.copy(), arrays.clone(self.step.bench.worst)
        with self._in_substeps():
            seconds = self.step.program.time_stages(steps * self.step.methods.substeps)
        self.state.assign(before)
        arrays.copy_into(self.step.bench.worst, seen)
        self.step.program.stop.zero_()
        return Profile(steps, {name: value / steps for name, value in seconds.items()})

    def _renew(self) -> None:
        """Record the step anew where another state was taken over since, as observers may do within a call."""
        if self.step.outdated:
            self.step = self.step.grown()

    def _replay(self, steps: int, first: int, later: int) -> None:
        """Replay steps from the one with this number, or one within the budget; so many more follow later."""
        self.state.freeze()
        if self.step.contacts is not None and self._solved != (self.state.version, first):
            self.step.contacts.stale.fill_(1)
        left = steps * self.step.methods.substeps - self._done
        with self._in_substeps():
            if self._budget is None:
                self.step.program.run(left, later * self.step.methods.substeps)
            else:
                self._replay_until(self._called + self._budget - AROUND_A_STEP, left)
                self._called = time.perf_counter()

    def _replay_until(self, deadline: float, left: int) -> None:
        """Replay the sub-steps that are left to a step; each may take an equal part of the time that is left."""
        program = self.step.program
        if left == 1:
            program.run_until(deadline)
            return
        for more in range(left, 0, -1):
            now = time.perf_counter()
            program.run_until(now + (deadline - now) / more)
            if glance.first(program.stop):
                return

    @contextmanager
    def _in_substeps(self) -> Iterator[None]:
        """While this is open the clock counts sub-steps; then whole steps again, those that are done."""
        clock, parts = self.state.clock, self.step.methods.substeps
        if parts == 1:
            yield
            return
        length, steps = np.array(clock.time_step.numpy()), np.array(clock.steps.numpy())
        clock.time_step.assign(length / parts)
        clock.steps.assign(steps * parts + self._done)
        try:
            yield
        finally:
            taken = np.array(clock.steps.numpy())
            clock.time_step.assign(length)
            clock.steps.assign(taken // parts)
            self._done = int(taken[0] % parts)

    def _finish(self) -> None:
        """Do what was left of the last step when a buffer was too small for its contacts."""
        while True:
            with self._in_substeps():
                self.step.program.run(0)
            fault = int(glance.first(self.step.program.stop))
            if not fault:
                break
            self.step.program.stop.zero_()
            if fault > 0:
                self._raise_divergence(fault)
            self.step = self.step.grown()
        self._found = self._solved = (self.state.version, self.state.steps)

    def _raise_divergence(self, fault: int) -> None:
        """Raise for a body, counted from the last: of the prediction, or beyond their number of the velocities."""
        count, step = self.model.count, self.state.steps
        name, world = self.model.locate((count - fault) % count)
        where, at = f" of world {world}" if self.model.batched else "", f"t = {self.state.time:.6g} s"
        velocity = self.step.bench.predicted.velocity.numpy()[(count - fault) % count]
        how = "moves faster than light" if np.isfinite(velocity).all() else "is no longer finite"
        said = (
            f"Body {name!r}{where} {how} in step {step + 1}, after {at}; the state is the last good one. "
            "A shorter time_step or another integrator may help."
        )
        if fault > count:
            said = (
                f"The velocity of body {name!r}{where} that fits its joints and contacts at {at} is not finite, or "
                "beyond that of light; the state has the one before. A shorter time_step may help, or masses and speeds that differ less."
            )
        step += fault <= count
        raise DivergenceError(said, body=name, world=world, time=self.state.time, step=step)
