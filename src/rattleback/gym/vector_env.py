"""Many worlds as one vector environment of Gymnasium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.gym.drawing import Drawing
from rattleback.gym.spaces import action_space, observation_space, seeds_of
from rattleback.gym.task import Options, as_task
from rattleback.gym.worlds import Worlds
from rattleback.model.world_choice import choose_worlds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.simulation import Simulation

MODES = {"next_step": AutoresetMode.NEXT_STEP, "same_step": AutoresetMode.SAME_STEP, "disabled": AutoresetMode.DISABLED}


class VectorEnv(gymnasium.vector.VectorEnv):
    """Worlds of one simulation as a vector environment of Gymnasium 1.x.

    Observations, rewards, terminations and truncations are arrays of NumPy with one row a world, each a new one.
    ``reset(seed=s)`` seeds world w with s + w, and a list gives each its own; a world draws the same numbers whatever
    other worlds do. ``reset(options={"reset_mask": mask})`` resets some worlds. A world that diverges is terminated,
    put back, and named in ``infos["diverged"]``; the others go on.

    Args:
        scene: The scene, a function that returns one, or a :class:`~rattleback.gym.task.Task`.
        autoreset: ``"next_step"`` (the default), where the step after the end of an episode begins the next one and has
            no reward; ``"same_step"``, where the step that ends an episode begins the next one and gives the last
            observation in ``infos["final_obs"]``; or ``"disabled"``.
        render_mode: ``"rgb_array"`` for pictures of the first world; None for none.
        **options: ``worlds``, their number (default 1); ``observe``, ``act``, ``reward``, ``done``, ``start``,
            ``bounds``, ``steps``, ``max_episode_steps`` and ``camera``, as the attributes of a
            :class:`~rattleback.gym.task.Task`; and settings of the simulation.

    Attributes:
        simulation: The simulation.
    """

    def __init__(
        self,
        scene: Any,
        autoreset: str = "next_step",
        render_mode: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._mode = MODES[checks.one_of(autoreset, MODES, "The autoreset of a VectorEnv")]
        worlds = checks.count(options.pop("worlds", 1), "worlds")
        self._worlds = Worlds(as_task(scene, "VectorEnv", **options), worlds)
        self._drawing = Drawing(self._worlds, render_mode)
        self.num_envs, self.render_mode = self._worlds.count, render_mode
        fps = round(1.0 / self._worlds.duration)
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": fps, "autoreset_mode": self._mode}
        self.single_observation_space = observation_space(self._worlds)
        self.single_action_space = action_space(self._worlds)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._ended = np.ones(self.num_envs, dtype=np.bool_)
        self._seeded = False

    @property
    def simulation(self) -> Simulation:
        """The simulation."""
        return self._worlds.simulation

    @property
    def observation_names(self) -> list[str]:
        """Names of the numbers of an observation."""
        return list(self._worlds.observer.names)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin new episodes.

        Args:
            seed: A seed, from which those of the worlds are counted on; a list of one for each; or None to go on.
            options: ``reset_mask``, which worlds begin (worlds,); all without it. ``vary``, a seed with which all that
                ``vary`` gives a distribution is drawn anew, where running worlds take it: masses, materials, gains.

        Returns:
            Observations of all worlds, and no information.
        """
        wanted = options or {}
        chosen = choose_worlds(wanted.get("reset_mask"), self.num_envs).astype(np.int64)
        if wanted.get("vary") is not None:
            self._worlds.vary(checks.count(wanted["vary"], "The seed of vary", least=0))
        if seed is None or isinstance(seed, (int, np.integer)):
            super().reset(seed=None if seed is None else int(seed))
        worlds, seeds = seeds_of(seed, self.num_envs, None if self._seeded else self.np_random)
        self._worlds.seed(worlds, seeds)
        self._seeded = True
        self._worlds.begin(chosen)
        self._ended[chosen] = False
        self._worlds.look()
        return self._worlds.shown(), {}

    def step(self, actions: ArrayLike) -> tuple[Any, ...]:
        """Take one step in all worlds.

        Args:
            actions: Actions (worlds, actions); those out of bounds are clipped.

        Returns:
            Observations, rewards, terminations, truncations, and information.
        """
        if not self._seeded:
            raise InputError("A VectorEnv is reset before its first step: env.reset(seed=0).")
        if self._mode is AutoresetMode.DISABLED and self._ended.any():
            raise InputError(
                f"The episode of world {int(self._ended.argmax())} has ended; reset it: "
                "env.reset(options={'reset_mask': terminated | truncated})."
            )
        nothing = np.zeros(self.num_envs, dtype=np.bool_)
        begin = self._ended if self._mode is AutoresetMode.NEXT_STEP else nothing
        reward, done, cut = self._worlds.step(actions, begin)
        info: dict[str, Any] = {"diverged": self._worlds.diverged.copy()} if self._worlds.diverged.any() else {}
        self._ended = done | cut
        if self._mode is AutoresetMode.SAME_STEP and self._ended.any():
            info |= self._final(self._ended)
            self._worlds.begin(np.flatnonzero(self._ended))
            self._worlds.look()
            self._ended = nothing
        return self._worlds.shown(), reward, done, cut, info

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """A picture of the first world (height, width, 3), the only entry of a tuple; None without a render mode."""
        drawn = self._drawing.draw()
        return None if drawn is None else (drawn,)

    def close_extras(self, **kwargs: Any) -> None:
        """Give back what pictures are drawn in."""
        self._drawing.close()

    def _final(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """The last observations of episodes that have ended."""
        shown, last = self._worlds.shown(), np.full(self.num_envs, None, dtype=object)
        for world in np.flatnonzero(ended):
            last[world] = shown[world]
        return {"final_obs": last, "_final_obs": ended.copy()}
