"""Learns to balance a cart-pole with PPO of Stable-Baselines3, in 64 worlds of one simulation.

    pip install "rattleback[gym]" stable-baselines3
    python examples/learning/cart_pole.py

Episodes end after 500 steps. Training stops when a hundred episodes in a row have lasted that long, after some ten
seconds of one core; then the policy balances a hundred new starts that it has not seen.
"""

import time
from collections import deque
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

import rattleback as rb

LIMIT = 500


class Worlds(VecEnv):
    """Worlds of a vector environment as Stable-Baselines3 wants them."""

    def __init__(self, env: rb.gym.VectorEnv) -> None:
        self.env, self.lengths = env, np.zeros(env.num_envs, dtype=int)
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self.recent: deque[int] = deque(maxlen=100)

    def reset(self) -> np.ndarray:
        return self.env.reset(seed=self._seeds[0])[0]

    def step_async(self, actions: np.ndarray) -> None:
        self.actions = actions

    def step_wait(self) -> Any:
        seen, reward, done, cut, told = self.env.step(self.actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self.lengths += 1
        for world in np.flatnonzero(done | cut):
            infos[world] = {"terminal_observation": told["final_obs"][world], "TimeLimit.truncated": bool(cut[world])}
            self.recent.append(int(self.lengths[world]))
            self.lengths[world] = 0
        return seen, reward.astype(np.float32), done | cut, infos

    def close(self) -> None:
        self.env.close()

    def get_attr(self, name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.env, name)] * self.num_envs

    def set_attr(self, name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError

    def env_method(self, name: str, *given: Any, indices: Any = None, **named: Any) -> list[Any]:
        raise NotImplementedError

    def env_is_wrapped(self, wrapper: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


class UntilItBalances(BaseCallback):
    """Ends training when the last hundred episodes have all lasted as long as they can."""

    def __init__(self, worlds: Worlds) -> None:
        super().__init__()
        self.worlds = worlds

    def _on_step(self) -> bool:
        recent = self.worlds.recent
        return not (len(recent) == recent.maxlen and min(recent) == LIMIT)


def train(seed: int = 0) -> tuple[PPO, Worlds]:
    """A policy that balances the pole, and the worlds it has learnt in."""
    worlds = Worlds(rb.gym.VectorEnv(rb.gym.ready.cart_pole(), worlds=64, autoreset="same_step"))
    worlds.seed(seed)
    torch.set_num_threads(1)  # networks this small are slower on two
    policy = PPO(
        "MlpPolicy",
        worlds,
        n_steps=64,
        batch_size=512,
        n_epochs=10,
        learning_rate=lambda left: 1e-3 * left,
        gamma=0.98,
        gae_lambda=0.9,
        policy_kwargs={"net_arch": [64, 64]},
        seed=seed,
        device="cpu",
    )
    policy.learn(600_000, callback=UntilItBalances(worlds))
    return policy, worlds


def judge(policy: PPO, worlds: int = 100) -> np.ndarray:
    """How long new episodes last with the policy (worlds,)."""
    env = rb.gym.VectorEnv(rb.gym.ready.cart_pole(), worlds=worlds)
    seen, _ = env.reset(seed=1_000_000)
    lasted, going = np.zeros(worlds, dtype=int), np.ones(worlds, dtype=bool)
    for _ in range(LIMIT):
        action, _ = policy.predict(seen, deterministic=True)
        seen, _, done, cut, _ = env.step(action)
        lasted += going
        going &= ~(done | cut)
    return lasted


if __name__ == "__main__":
    begun = time.perf_counter()
    policy, worlds = train()
    print(f"Trained in {time.perf_counter() - begun:.0f} s and {policy.num_timesteps} steps.")
    lasted = judge(policy)
    print(
        f"{(lasted == LIMIT).mean():.0%} of {len(lasted)} new episodes last {LIMIT} steps, the shortest {lasted.min()}."
    )
