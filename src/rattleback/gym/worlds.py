"""The worlds of an environment: one simulation of a task, with an episode in each world that begins and ends alone.

act      write actions of all worlds into the simulation
advance  take the steps of one action; a world that diverges is put back, and the others go on
begin    put some worlds back to the start, and draw where that is
look     observations of all worlds
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import DivergenceError, InputError
from rattleback.gym.acting import Actuators
from rattleback.gym.draws import Streams
from rattleback.gym.starting import Start
from rattleback.gym.task import Step
from rattleback.model.worlds.draws import Distribution
from rattleback.model.worlds.parameters import is_live, split_name
from rattleback.recording.observer import Observer
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from rattleback.gym.draws import Draws
    from rattleback.gym.task import Task

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]


class Worlds:
    """The worlds of an environment.

    Attributes:
        task: What they do.
        simulation: What they are simulated by.
        actuators: What actions drive.
        observer: What reads observations.
        bounds: Least and largest observations, each (n,).

    Args:
        task: See above.
        count: How many.
    """

    def __init__(self, task: Task, count: int) -> None:
        self.task, self.count = task, count
        self._steps = checks.count(task.steps, "The steps of an environment")
        limit = task.max_episode_steps
        self._limit = None if limit is None else checks.count(limit, "The max_episode_steps of an environment")
        self.simulation = Simulation(task.scene, worlds=count, **{"warn": False, **task.settings})
        self._start = self._starter()
        self.actuators = Actuators(task.act, self.simulation)
        self.observer = Observer(task.observe, self.simulation)
        self.bounds = self._bounds()
        self._streams, self._elapsed = Streams(count), np.zeros(count, dtype=np.int64)
        self.diverged: Mask = np.zeros(count, dtype=np.bool_)
        self.observation = self.look()

    @property
    def duration(self) -> float:
        """Time of one step of the environment [s]."""
        return self._steps * self.simulation.time_step

    def seed(self, worlds: NDArray[np.int64], seeds: NDArray[np.uint64]) -> None:
        """Seed some worlds."""
        self._streams.seed(worlds, seeds)

    def vary(self, seed: int) -> None:
        """Draw the parameters that ``vary`` gives distributions anew, in all worlds and in place."""
        entries, simulation = self.task.settings.get("vary"), self.simulation
        drawn = {}
        if isinstance(entries, dict):
            drawn = {entry: value for entry, value in entries.items() if isinstance(value, Distribution)}
        if not drawn:
            raise InputError("There is nothing to draw anew: vary has no distributions such as rb.uniform(0.2, 0.8).")
        for entry in drawn:
            if not is_live(simulation.scene, *split_name(simulation.scene, entry)):
                raise InputError(f"{entry!r} cannot be drawn anew in worlds that exist; make another environment.")
        worlds = range(self.count)
        simulation.parameters.update({e: np.array([d.value(e, w, seed) for w in worlds]) for e, d in drawn.items()})

    def begin(self, worlds: NDArray[np.int64]) -> None:
        """Begin new episodes in some worlds."""
        if not len(worlds):
            return
        draws = self._streams.begin(worlds)
        self.simulation.reset(worlds)
        self._start(draws)
        self._elapsed[worlds] = 0

    def look(self) -> Floats:
        """Observations of all worlds, which are kept as those before the next step."""
        self.observation = self.observer.look()
        return self.observation

    def step(self, actions: ArrayLike, ended: Mask) -> tuple[Floats, Mask, Mask]:
        """Take one step in all worlds; those where the last episode has ended begin a new one instead.

        Args:
            actions: Actions (worlds, actions).
            ended: Where episodes have ended (worlds,).

        Returns:
            Rewards, which worlds have terminated, and which were cut off, each (worlds,).
        """
        action, before = self.actuators.clipped(actions), self.observation
        self.actuators.write(action)
        self._advance()
        self._elapsed += 1
        if ended.any():
            self.begin(np.flatnonzero(ended))
            self.diverged &= ~ended
        seen = Step(self.simulation, before, action, self.look())
        reward = self._judged(self.task.reward, "reward", seen, np.float64)
        done = np.zeros(self.count, dtype=np.bool_)
        if self.task.done is not None:
            done |= self._judged(self.task.done, "done", seen, np.bool_)
        done |= self.diverged
        reward[ended] = 0.0
        done[ended] = False
        cut = np.zeros_like(done) if self._limit is None else ~done & (self._elapsed >= self._limit)
        return reward, done, cut

    def shown(self) -> NDArray[np.float32]:
        """The last observations as environments give them: clipped to their bounds, single precision."""
        return np.clip(self.observation, *self.bounds).astype(np.float32)

    def _advance(self) -> None:
        """Take the steps of one action."""
        simulation, self.diverged = self.simulation, np.zeros(self.count, dtype=np.bool_)
        goal = simulation.state.steps + self._steps
        while (left := goal - simulation.state.steps) > 0:
            try:
                simulation.step(left)
            except DivergenceError as error:
                world = error.world or 0
                if self.diverged[world]:
                    raise
                self.diverged[world] = True
                others = simulation.state.steps
                self.begin(np.array([world]))
                if simulation.state.steps != others:
                    return

    def _judged(self, function: Callable[[Step], Any], name: str, seen: Step, kind: Any) -> NDArray[Any]:
        """What a function of the task says of a step, as an array of its own (worlds,)."""
        found = np.asarray(function(seen))
        if found.shape not in ((), (self.count,)):
            raise InputError(f"The {name} of the environment has shape {found.shape}; it must be ({self.count},).")
        return np.array(np.broadcast_to(found, (self.count,)), dtype=kind)

    def _bounds(self) -> tuple[Floats, Floats]:
        given = self.task.bounds
        if given is None:
            return np.full(self.observer.size, -np.inf), np.full(self.observer.size, np.inf)
        try:
            low, high = (np.array(np.broadcast_to(side, self.observer.size), dtype=np.float64) for side in given)
        except (TypeError, ValueError):
            names = ", ".join(self.observer.names)
            raise InputError(f"The bounds of observations must be a least and a largest for each of {names}.") from None
        return low, high

    def _starter(self) -> Callable[[Draws], None]:
        """What writes how episodes begin."""
        start = self.task.start
        if start is None:
            return lambda draws: None
        if callable(start):
            return lambda draws: start(self.simulation, draws)
        return Start(start, self.simulation).write
