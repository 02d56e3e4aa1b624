"""Environments for learning, after Gymnasium 1.x: scenes with observations, actions, rewards and ends of episodes.

    env = rb.gym.VectorEnv(scene, worlds=1024, observe=["rail.position", "hinge.angle"],
                           act=[rb.gym.Effort("rail", scale=10)], reward=..., done=...)
    observations, _ = env.reset(seed=0)
    observations, rewards, terminated, truncated, infos = env.step(env.action_space.sample())

:class:`Env` has one world. ``rb.gym.ready`` has tasks that are made, which ``gymnasium.make("rattleback/CartPole-v0")``
and ``gymnasium.make_vec`` find, too. Gymnasium comes with the extra ``gym`` and is loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import RattlebackError

if TYPE_CHECKING:
    from rattleback.gym import ready
    from rattleback.gym.acting import Effort, Push, Target
    from rattleback.gym.draws import Draws
    from rattleback.gym.env import Env
    from rattleback.gym.registration import register
    from rattleback.gym.starting import Start
    from rattleback.gym.task import Step, Task
    from rattleback.gym.vector_env import VectorEnv

_HOME = {
    "acting": ("Effort", "Push", "Target"),
    "draws": ("Draws",),
    "env": ("Env",),
    "ready": ("ready",),
    "registration": ("register",),
    "starting": ("Start",),
    "task": ("Step", "Task"),
    "vector_env": ("VectorEnv",),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    home = next((module for module, names in _HOME.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'rattleback.gym' has no attribute {name!r}")
    try:
        module = import_module(f"rattleback.gym.{home}")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "gymnasium":
            raise
        raise RattlebackError(f"rb.gym.{name} needs Gymnasium: pip install 'rattleback[gym]'.") from None
    value = module if home == name else getattr(module, name)
    globals()[name] = value
    return value


__all__ = ["Draws", "Effort", "Env", "Push", "Start", "Step", "Target", "Task", "VectorEnv", "ready", "register"]
