"""A session: simulations stepped by a thread of their own, told what to do by commands, looked at through frames.

Commands wait in a queue and are carried out between two steps, in the order in which they came; each is a function of
a simulation and is given all of the session, one after the other. Readers get the last frame: a whole step of all
simulations. So the page never waits for the simulation, and the simulation never for the page.

Reference: Bender, dissertation, §6.2.1.2.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.viewer.faults import Notice, sentence_of
from rattleback.viewer.frame import Frame, take_picture
from rattleback.viewer.interaction.hand import most_steps, step_in
from rattleback.viewer.pace import Pace
from rattleback.viewer.save_point import SavePoint, SavePoints, save_point, says_the_same
from rattleback.viewer.timeline.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation
    from rattleback.viewer.interaction.hand import Hand
    from rattleback.viewer.sampler import Sampler

    Command = Callable[[Simulation], Any]

# Frames a second; of a simulation that runs, one in a few holds what takes the simulation's time to find out.
FRAME_RATE = 30.0
FRAMES_PER_ENERGY = 4
# Steps are taken in bites of about this long [s], so that commands get in between.
SECONDS_PER_BITE = 0.008


class Session:
    """Simulations that run in a thread of their own.

    Attributes:
        sims: The simulations; touch them by commands only.
        labels: What they are called.
        frame: The last whole step of all of them.
        hands: What acts on them before each step; change it by commands.
        wanted: Names of ``frame.WANTS`` that frames are to hold.
        probes: Functions of a simulation by name, whose answers frames are to hold.
        notices: The last things the user is to be told.
        watchers: Set when there is a new frame.
        record: What was recorded, where the page looks back at it, and how to go on from there.
        sampler: Notes what is plotted between frames, too; None for nothing.
        busy_since: When the command or the steps under way began [s, of ``time.perf_counter``]; None between them.

    Args:
        sims: The simulations, all of one scene.
        labels: What they are called; by default their numbers.
        speed: Simulated seconds in a second.
    """

    def __init__(self, sims: Sequence[Simulation], labels: Sequence[str] | None = None, speed: float = 1.0) -> None:
        if not sims:
            raise InputError("A session has no simulation; give it one.")
        self.sims = list(sims)
        self.labels = tuple(map(str, range(len(sims)))) if labels is None else tuple(labels)
        self.hands: list[Hand] = []
        self.wanted: set[str] = set()
        self.probes: dict[str, Callable[[Simulation], Any]] = {}
        self.notices: deque[Notice] = deque(maxlen=50)
        self.watchers: list[threading.Event] = []
        self.busy_since: float | None = None
        self._pace = Pace(speed)
        self._commands: deque[tuple[Callable[[], Any], Future[Any], bool]] = deque()
        self._news = threading.Condition()
        self._playing, self._stopping, self._steps_wanted = False, False, 0
        self._version, self._bite, self._step_seconds, self._told = 0, 1, 0.0, 0
        self.record = Record(self._queue, self._stand_still, FRAME_RATE)
        self._budget_ms: float | None = None
        self._thread, self.sampler = cast("threading.Thread | None", None), cast("Sampler | None", None)
        for sim in self.sims:
            _prepare(sim)
        self._points = SavePoints(save_point(self.sims))
        self.frame = self._look(0)

    def start(self) -> None:
        """Start the thread; the simulation waits until ``play`` is asked for."""
        if self._thread is None:
            self._stopping = False
            self._thread = threading.Thread(target=self._live, name="rattleback simulation", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread after the steps under way; it can be started again."""
        thread, self._thread = self._thread, None
        if thread is not None:
            with self._news:
                self._stopping = True
                self._news.notify_all()
            if thread is not threading.current_thread():
                thread.join()

    def do(self, command: Command) -> Future[list[Any]]:
        """Have a command carried out on every simulation between two steps.

        Args:
            command: Function of a simulation.

        Returns:
            What it returned for every simulation, once it is done. What it raises is told to the user as well.
        """
        return self._queue(lambda: [command(sim) for sim in self.sims])

    def read(self, command: Command | None = None) -> Future[list[Any]]:
        """Have a frame taken, before it a command carried out that changes nothing; the page goes on looking back."""
        return self._queue(lambda: [None if command is None else command(sim) for sim in self.sims], acts=False)

    def play(self) -> Future[Any]:
        """Run."""
        return self._queue(lambda: self._set_playing(True))

    def pause(self) -> Future[Any]:
        """Stand still after the step under way."""
        return self.record.stop()

    def step(self, steps: int = 1) -> Future[Any]:
        """Take some steps and stand still."""
        count = checks.count(steps, "The number of steps")

        def begin() -> None:
            self._set_playing(False)
            self._steps_wanted += count

        return self._queue(begin)

    def set_speed(self, speed: float) -> Future[Any]:
        """Simulate so many seconds in a second; infinite for as many as can be."""
        wanted = speed if speed == math.inf else checks.positive(speed, "The speed")

        def change() -> None:
            self._pace.speed = wanted
            self._pace.restart()

        return self._queue(change, acts=False)

    def set_budget(self, budget_ms: float | None) -> Future[Any]:
        """Let a step take so long [ms], see ``Simulation.step``; None for as long as it needs."""

        def change() -> None:
            self._budget_ms = None if budget_ms is None else checks.positive(budget_ms, "The budget")

        return self._queue(change)

    def save_point(self) -> Future[Any]:
        """Remember this moment, to go back to by ``undo``."""
        return self._queue(lambda: self._points.keep(save_point(self.sims)))

    def undo(self) -> Future[Any]:
        """Go back to the last save point; without one, to the start."""
        return self._queue(lambda: self._go_to(self._points.back(save_point(self.sims)), changed=True))

    def redo(self) -> Future[Any]:
        """Go to the moment that was undone last."""
        return self._queue(lambda: self._go_to(self._points.forth(save_point(self.sims)), changed=True))

    def reset(self) -> Future[Any]:
        """Go back to the start; what was edited stays, and ``undo`` takes it back."""

        def restart() -> None:
            edited = [sim.scene.copy() for sim in self.sims]
            self._go_to(self._points.first)
            for sim, scene in zip(self.sims, edited, strict=True):
                if not says_the_same(sim.scene, scene):
                    sim.rebuild(scene)
                    self._version += 1

        return self._queue(restart)

    def rebuild(self, edit: Callable[[Scene], Scene], then: Command | None = None) -> Future[Any]:
        """Go on with another scene, made from the one there is; the moment before is a save point.

        Args:
            edit: Makes the scene, from one that it must leave as it is.
            then: A command to be carried out with it. Where anything is refused, everything stays as it was.
        """

        def act(sim: Simulation) -> Any:
            sim.rebuild(edit(sim.scene))
            return None if then is None else then(sim)

        def change() -> list[Any]:
            answers = self._try(act)
            self._version += 1
            return answers

        return self._queue(change)

    def change(self, command: Command) -> Future[list[Any]]:
        """Do a command that can be undone: the moment before is a save point, and where it is refused all stays."""
        return self._queue(lambda: self._try(command))

    def _try(self, command: Command) -> list[Any]:
        moment = save_point(self.sims)
        try:
            answers = [command(sim) for sim in self.sims]
        except Exception:
            self._go_to(moment)
            raise
        self._points.keep(moment)
        self.record.note(moved=True, disturbed=True)
        return answers

    def open(self, make: Callable[[], Simulation]) -> Future[Any]:
        """Put another simulation in the place of all of them; save points are forgotten."""

        def change() -> None:
            sim = make()
            _prepare(sim)
            self.sims, self.labels, self._version = [sim], self.labels[:1], self._version + 1
            self.hands.clear()
            self.probes.clear()
            self.record.clear()
            self._points = SavePoints(save_point(self.sims))
            self._bite, self._step_seconds = 1, 0.0
            self._stand_still()

        return self._queue(change)

    def tell(self, text: str, fault: bool = False) -> None:
        """Tell the user something."""
        self._told += 1
        self.notices.append(Notice(self._told, text, fault))

    def _queue(self, command: Callable[[], Any], acts: bool = True) -> Future[Any]:
        future: Future[Any] = Future()
        with self._news:
            self._commands.append((command, future, acts))
            self._news.notify_all()
        return future

    def _live(self) -> None:
        """What the thread does."""
        due = time.perf_counter()
        while not self._stopping:
            answers = self._obey()
            if bite := self._steps_due():
                self._take(bite)
            now, idle = time.perf_counter(), not self._playing and self._steps_wanted == 0
            if again := self.record.player.is_due(now):
                self.record.player.advance(now, self._pace.speed)
            if answers or again or (bite and (idle or now >= due)):
                # Bites are not cut short for a frame; one that comes late is followed the sooner by the next.
                self.frame, due = self._look(self.frame.number + 1), max(due + 1.0 / FRAME_RATE, now)
                for watcher in self.watchers:
                    watcher.set()
            elif not bite:
                self._wait()
            for answer in answers:
                answer()

    def _obey(self) -> list[Callable[[], None]]:
        """Carry out the commands that wait; returns what answers them, once a frame shows their effect."""
        answers: list[Callable[[], None]] = []
        while self._commands:
            command, future, acts = self._commands.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            self.busy_since = time.perf_counter()
            try:
                if acts:
                    self._go_on()
                answers.append(partial(future.set_result, command()))
            except Exception as error:
                self.tell(sentence_of(error), fault=True)
                answers.append(partial(future.set_exception, error))
            self.busy_since = None
        return answers

    def _steps_due(self) -> int:
        """How many steps to take now."""
        if self._steps_wanted:
            return min(self._steps_wanted, most_steps(self.hands, self.sims, self._bite))
        if not self._playing:
            return 0
        sim = self.sims[0]
        due = self._pace.due(time.perf_counter(), sim.time)
        steps = self._bite if math.isinf(due) else min(self._bite, math.floor(due / sim.time_step + 1e-9))
        return max(0, most_steps(self.hands, self.sims, steps))

    def _take(self, steps: int) -> None:
        """Take steps with all simulations; a fault ends the run with a notice."""
        self.busy_since = begun = time.perf_counter()
        # What a hand or a clock does to a step is not in the moment before it.
        self.record.note(moved=True, disturbed=bool(self.hands) or self._budget_ms is not None)
        try:
            for piece, sampled in self._pieces(steps):
                for sim in self.sims:
                    step_in(self.hands, sim, piece, self._budget_ms)
                if self.sampler is not None:
                    self.sampler.taken(piece, sampled)
                    if sampled:
                        self.sampler.read(self.sims, self.labels, self.probes)
        except Exception as error:  # a function of the user's that is called between steps may raise anything
            self.tell(sentence_of(error), fault=True)
            self._stand_still()
            return
        finally:
            self.busy_since = None
        now = time.perf_counter()
        each = (now - begun) / steps
        self._step_seconds = each if self._step_seconds == 0.0 else 0.9 * self._step_seconds + 0.1 * each
        self._bite = max(1, min(2 * self._bite, int(SECONDS_PER_BITE / self._step_seconds)))
        self._steps_wanted = max(0, self._steps_wanted - steps)
        self._pace.note(now, self.sims[0].time)

    def _pieces(self, steps: int) -> Iterable[tuple[int, bool]]:
        """Steps that are taken at once, and whether there is a sample after them."""
        if self.sampler is None:
            return ((steps, False),)
        busy, length = steps * self._step_seconds, self.sims[0].time_step
        idle = max(0.0, steps * length / self._pace.speed - busy) if self._playing else 0.0
        return self.sampler.pieces(steps, busy, idle)

    def _wait(self) -> None:
        """Wait for a command or for the next step to be due."""
        left = self.record.player.wait(time.perf_counter())
        if self._playing:
            sim = self.sims[0]
            left = max(0.0, (sim.time_step - self._pace.due(time.perf_counter(), sim.time)) / self._pace.speed)
        with self._news:
            if not self._commands and not self._stopping:
                self._news.wait(left)

    def _stand_still(self) -> None:
        self._set_playing(False)
        self._steps_wanted = 0

    def _go_on(self) -> None:
        """Go to where the page looks back at, so that what is done next is done there."""
        if self.record.player.shot is not None:
            self._pace.restart()
        self._version += self.record.restore(self.sims)

    def _set_playing(self, playing: bool) -> None:
        self._playing = playing
        self._pace.restart()

    def _look(self, number: int) -> Frame:
        """What is to be seen: the simulations, or what the page looks back at."""
        saved, undone = self._points.counts
        frame = self.record.shown(number, lambda: self._present(number), self.sims)
        return replace(frame, speed=self._pace.speed, save_points=saved, undone=undone)

    def _present(self, number: int) -> Frame:
        first = self.sims[0]
        wanted = self.wanted - {"energy"} if self._playing and number % FRAMES_PER_ENERGY else self.wanted
        pictures = (
            take_picture(sim, label, wanted, self.probes) for sim, label in zip(self.sims, self.labels, strict=True)
        )
        frame = Frame(
            number,
            self._version,
            time=first.time,
            steps=first.state.steps,
            time_step=first.time_step,
            playing=self._playing or self._steps_wanted > 0,
            speed=self._pace.speed,
            real_time=self._pace.reached if self._playing else 0.0,
            step_seconds=self._step_seconds,
            budget_ms=self._budget_ms,
            save_points=0,
            pictures=tuple(pictures),
        )
        if self.sampler is not None and wanted is self.wanted:
            self.sampler.note(frame)
        return frame

    def _go_to(self, point: SavePoint, changed: bool = False) -> None:
        """Go to a save point; ``changed`` where what was recorded from there on no longer holds."""
        self.record.note(moved=changed, disturbed=True)
        self._version += point.restore(self.sims)
        self._pace.restart()


def _prepare(sim: Simulation) -> None:
    """Make a simulation fit for a session: reports say what warnings would, and no step is longer than the others."""
    sim.warn = False
    sim.capture()
