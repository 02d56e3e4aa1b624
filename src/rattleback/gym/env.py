"""One world as an environment of Gymnasium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import gymnasium
import numpy as np

from rattleback.core.errors import InputError
from rattleback.gym.drawing import Drawing
from rattleback.gym.spaces import action_space, observation_space, seeds_of
from rattleback.gym.task import Options, as_task
from rattleback.gym.worlds import Worlds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.simulation import Simulation


class Env(gymnasium.Env):
    """One world as an environment of Gymnasium 1.x, with the bits of the same world of a vector environment.

    Args:
        scene: The scene, a function that returns one, or a :class:`~rattleback.gym.task.Task`.
        render_mode: ``"rgb_array"`` for pictures; None for none.
        **options: As those of :class:`~rattleback.gym.vector_env.VectorEnv`.
    """

    def __init__(self, scene: Any, render_mode: str | None = None, **options: Unpack[Options]) -> None:
        self._worlds = Worlds(as_task(scene, "Env", **options), 1)
        self._drawing = Drawing(self._worlds, render_mode)
        self.render_mode = render_mode
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": round(1.0 / self._worlds.duration)}
        self.observation_space, self.action_space = observation_space(self._worlds), action_space(self._worlds)
        self._seeded = False

    @property
    def simulation(self) -> Simulation:
        """The simulation, with one world."""
        return self._worlds.simulation

    @property
    def observation_names(self) -> list[str]:
        """Names of the numbers of an observation."""
        return list(self._worlds.observer.names)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a new episode.

        Args:
            seed: A seed, or None to go on with the next episode.
            options: Not used.
        """
        super().reset(seed=seed)
        self._worlds.seed(*seeds_of(seed, 1, None if self._seeded else self.np_random))
        self._seeded = True
        self._worlds.begin(np.array([0]))
        self._worlds.look()
        return self._worlds.shown()[0], {}

    def step(self, action: ArrayLike) -> tuple[Any, ...]:
        """Take one step.

        Args:
            action: The action (actions,); what is out of bounds is clipped.

        Returns:
            Observation, reward, whether it has terminated, whether it was cut off, and information.
        """
        if not self._seeded:
            raise InputError("An Env is reset before its first step: env.reset(seed=0).")
        given = np.asarray(action, dtype=np.float64)
        reward, done, cut = self._worlds.step(given[None], np.zeros(1, dtype=np.bool_))
        info = {"diverged": True} if self._worlds.diverged[0] else {}
        return self._worlds.shown()[0], float(reward[0]), bool(done[0]), bool(cut[0]), info

    def render(self) -> NDArray[np.uint8] | None:
        """A picture (height, width, 3); None without a render mode."""
        return self._drawing.draw()

    def close(self) -> None:
        """Give back what pictures are drawn in."""
        self._drawing.close()
