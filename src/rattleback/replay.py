"""Whole steps from a recorded one: replayed in bites, in sub-steps, within a budget, with buffers that grow.

A step of length h in n sub-steps is the recorded step replayed n times with h/n. While a replay runs the clock counts
sub-steps and holds their length; before and after, whole steps and h. So states, files and observers know whole steps
only, and how many steps a replay bites off makes no difference to any bit.
"""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rattleback.core import arrays, host_read
from rattleback.core.device import NotCompiled, without_compiling
from rattleback.core.errors import DivergenceError
from rattleback.core.report import Profile, Report
from rattleback.core.unbroken import Unbroken
from rattleback.recorded_step import RecordedStep
from rattleback.steps.impulse import LIGHT, WHIRL

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
        self._called, self._is_new = 0.0, False
        self._steps_at_once = 16
        self._done = 0  # sub-steps of the step under way
        self._found = self._solved = (-1, -1)
        self._reported: tuple[Any, Report] | None = None

    def choose(self, methods: Methods) -> None:
        """Record the step with other methods; where they do not fit the scene, everything stays as it was."""
        old = self.step
        try:
            self.step = RecordedStep(old.forces, self.state, methods, old)
        except NotCompiled:
            # Forces may have been told of the rows of the step that did not come about.
            with without_compiling(False):
                self.choose(old.methods)
            raise
        if old.sleep is not None:
            old.sleep.end()
        self._found, self._done = (-1, -1), 0
        self.state.note_written()

    def begin(self, budget: float | None = None) -> None:
        """A call begins.

        Args:
            budget: Time each of its steps may take [s]; None for as long as it takes.
        """
        self._called, self._budget, self._done = time.perf_counter(), budget, 0
        self.state.freeze()
        self.renew()
        self.step.forget()
        self._is_new = True

    def report(self) -> Report:
        """What the last call says about itself."""
        moment = (self.state.moment, self.step)
        if self._reported is None or self._reported[0] != moment:
            self._reported = moment, self.step.report()
        return self._reported[1]

    def contacts(self) -> ContactStages | None:
        """Contact detection, with the contacts of this moment; None if contacts are not found."""
        self.state.send()
        stages = self.step.looking()
        if stages is not None and self._found != (self.state.version, self.state.steps):
            with self._in_substeps():
                stages.finder.find()
            self._found = (self.state.version, self.state.steps)
        return stages

    def advance(self, steps: int) -> None:
        """Replay steps in bites that leave the keyboard a chance, checking for a body that is not finite."""
        if not self._is_new:
            self.state.freeze()
            self.renew()
        self._is_new = False
        while steps > 0:
            if self.step.methods.substeps == 1 and self.step.program.is_whole:
                steps -= self._bite(steps)
            else:
                with Unbroken():
                    steps -= self._bite(steps)

    def _bite(self, most: int) -> int:
        """Replay some steps at once and say how many were taken; none is left in its midst."""
        bite = min(most, self._steps_at_once) if self._budget is None else 1
        begun = time.perf_counter()
        # Only where contacts are found can a replay end early and go on; else the clock need not be read.
        first = 0 if self.step.contacts is None else self.state.steps
        self._replay(bite, first)
        if self._is_short_of_room():
            with Unbroken():
                self._complete()
            return self.state.steps - first
        if self.step.contacts is not None:
            self.step.contacts.refresh()
            self._found = self._solved = (self.state.version, self.state.steps)
        seconds = max(time.perf_counter() - begun, 1e-7)
        if bite == self._steps_at_once:
            self._steps_at_once = max(1, int(bite * min(SECONDS_PER_REPLAY / seconds, 8.0)))
        return bite

    def _is_short_of_room(self) -> bool:
        """Whether a buffer was too small for the contacts of the last replay.

        Raises:
            DivergenceError: A body was not finite.
        """
        if not (fault := int(host_read.first(self.step.program.stop))):
            return False
        self.step.program.stop.zero_()
        if fault > 0:
            self._raise_divergence(fault)
        return True

    def _complete(self) -> None:
        """Enlarge the buffers that were too small and do what is left of the step under way."""
        while True:
            self.step = self.step.grown()
            if self._done:
                self._replay(1, self.state.steps)
            else:
                with self._in_substeps():
                    self.step.program.run(0)
            if not self._is_short_of_room():
                break
        self._found = self._solved = (self.state.version, self.state.steps)

    def profile(self, steps: int) -> Profile:
        """Where the time of a step goes, measured over some steps from here; the state stays as it is."""
        self.state.freeze()
        before, seen = self.state.copy(), arrays.clone(self.step.context.worst)
        with self._in_substeps():
            seconds = self.step.program.time_stages(steps * self.step.methods.substeps)
        self.state.assign(before)
        arrays.copy_into(self.step.context.worst, seen)
        self.step.program.stop.zero_()
        return Profile(steps, {name: value / steps for name, value in seconds.items()})

    def renew(self) -> None:
        """Record the step anew where it does not fit any more: another state was taken over, a joint is driven now."""
        self.state.send()
        if self.step.scenes_version != self.model.scenes.version:
            self.step.forces.renew()
            self.choose(self.step.methods)
        self.step.forces.look_for_efforts()
        if self.step.outdated:
            self.step = self.step.grown()

    def _replay(self, steps: int, first: int) -> None:
        """Replay steps from the one with this number, or one within the budget."""
        if self.step.contacts is not None and self._solved != (self.state.version, first):
            self.step.contacts.stale.fill_(1)
        parts = self.step.methods.substeps
        left = steps * parts - self._done
        if parts == 1 and self._budget is None:
            self.step.program.run(left)
            return
        with self._in_substeps():
            if self._budget is None:
                self.step.program.run(left)
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
            if host_read.first(program.stop):
                return

    @contextmanager
    def _in_substeps(self) -> Iterator[None]:
        """While this is open the clock counts sub-steps; then whole steps again, those that are done."""
        parts = self.step.methods.substeps
        if parts == 1:
            yield
            return
        length, steps = (self.state.mirror("clock", name) for name in ("time_step", "steps"))
        usual = length.take()
        with Unbroken():
            length.put(usual / parts)
            steps.put(steps.take() * parts + self._done)
            try:
                yield
            finally:
                taken = steps.take()
                length.put(usual)
                steps.put(taken // parts)
                self._done = int(taken[0] % parts)

    def _raise_divergence(self, fault: int) -> None:
        """Raise for a body, counted from the last: of the prediction, or beyond their number of the velocities."""
        count, step = self.model.count, self.state.steps
        name, world = self.model.locate((count - fault) % count)
        where, at = f" of world {world}" if self.model.batched else "", f"t = {self.state.time:.6g} s"
        how = self._fault((count - fault) % count)
        said = (
            f"Body {name!r}{where} {how} in step {step + 1}, after {at}; the state is the last good one. "
            "A shorter time_step or another integrator may help."
        )
        if fault > count:
            said = (
                f"The velocity of body {name!r}{where} that fits its joints and contacts at {at} is not finite; the "
                "state has the one before. A shorter time_step may help, or masses and speeds that differ less."
            )
        said = f"{said} {self.step.held_back()}".rstrip()
        said = f"{said} {self.step.limit_of_step()}".rstrip()
        step += fault <= count
        raise DivergenceError(said, body=name, world=world, time=self.state.time, step=step)

    def _fault(self, row: int) -> str:
        """What is wrong with the prediction of a body."""
        motion = self.step.context.predicted
        parts = (motion.position, motion.orientation, motion.velocity, motion.angular_velocity)
        if not all(math.isfinite(sum(part.numpy()[row].tolist())) for part in parts):
            return "is no longer finite"
        if math.hypot(*motion.velocity.numpy()[row].tolist()) < float(LIGHT):
            return f"turns faster than {float(WHIRL):g} rad/s"
        return "moves faster than light"
