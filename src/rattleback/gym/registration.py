"""Gymnasium's registry: its entry point names :func:`register`, so that ``gymnasium.make`` finds what is ready.

Nothing heavy is imported before one of them is made.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Names at Gymnasium, and how long episodes are there.
ENVIRONMENTS = {
    "cart_pole": ("rattleback/CartPole-v0", 500),
    "pendulum": ("rattleback/Pendulum-v0", 200),
    "reacher": ("rattleback/Reacher-v0", 50),
    "quadruped": ("rattleback/Quadruped-v0", 500),
    "ball_on_plate": ("rattleback/BallOnPlate-v0", 300),
}


def register() -> None:
    """Register the ready environments with Gymnasium, those that are not."""
    registration = import_module("gymnasium.envs.registration")
    for task, (name, steps) in ENVIRONMENTS.items():
        if name not in registration.registry:
            registration.register(
                id=name,
                entry_point="rattleback.gym.registration:single",
                vector_entry_point="rattleback.gym.registration:vector",
                max_episode_steps=steps,
                kwargs={"task": task},
            )


def single(task: str, **options: Any) -> Any:
    """A ready environment with one world; Gymnasium's wrapper cuts its episodes off."""
    env = import_module("rattleback.gym.env")
    return env.Env(_task(task), **{"max_episode_steps": None, **options})


def vector(task: str, num_envs: int = 1, **options: Any) -> Any:
    """A ready environment with many worlds."""
    vector_env = import_module("rattleback.gym.vector_env")
    return vector_env.VectorEnv(_task(task), worlds=num_envs, **options)


def _task(name: str) -> Any:
    return import_module("rattleback.gym.ready").MENU[name]()
