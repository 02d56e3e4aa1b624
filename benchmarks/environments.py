"""Cart-poles for learning: vector environments beside Gymnasium's own, whose physics is MuJoCo's, on one core.

Both simulate the cart-pole of Gymnasium's InvertedPendulum-v5: its file, its actions, its ends of episodes, two steps
of 20 ms for each action. First answers: from the same starts and with the same actions, at steps so short that their
errors do not show, observations must agree. Then both run the same number of environments with random actions, by
turns, each with its own beginnings of new episodes; CPU time of all that a call does.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from machine import main, markdown

import rattleback as rb
from rattleback.gym.registration import register

FILE = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "inverted_pendulum.xml"
HEAD = ["environment", "physics", "vectorised by", "environments", "steps a second", "beside MuJoCo"]
ENVIRONMENTS, CALLS, REPEATS = 1024, 20, 5
AGREE = 1e-4  # metres, radians, and those a second
NAMES = ["slider.position", "hinge.angle", "slider.velocity", "hinge.velocity"]


def scene(stops: bool = True) -> rb.Scene:
    """The cart-pole of the file, with dampers as the damping of its joints, with or without ends of the rail."""
    found = rb.Scene.from_file(FILE)
    for joint in ("slider", "hinge"):
        found.remove_joint(f"{joint} damper")
        found.change_joint(joint, damping=1.0, **({} if stops else {"limits": None}))
    return found


def ours(worlds: int, stops: bool = True, **options: Any) -> Any:
    """Its environment here."""
    task = {
        "observe": NAMES,
        "act": rb.gym.Effort("slider", low=-3.0, high=3.0, scale=100.0),
        "reward": lambda step: 1.0 * (np.abs(step.observation[:, 1]) <= 0.2),
        "done": lambda step: np.abs(step.observation[:, 1]) > 0.2,
        "start": dict.fromkeys(NAMES, (-0.01, 0.01)),
        "time_step": 0.02,
        "steps": 2,
        "max_episode_steps": 1000,
        "joints": "reduced",
        "contacts": "none",
    }
    return rb.gym.VectorEnv(scene(stops), worlds=worlds, **{**task, **options})


def theirs(count: int) -> Any:
    """Its environment at Gymnasium, in one process."""
    return gymnasium.make_vec("InvertedPendulum-v5", num_envs=count, vectorization_mode="sync")


def disagreement() -> float:
    """Largest difference of observations over ten actions, at steps of half a millisecond."""
    starts = np.random.default_rng(0).uniform(-0.01, 0.01, (8, 4))
    actions = np.random.default_rng(1).uniform(-0.3, 0.3, (10, 8, 1))
    robot = rb.dynamics.Articulation(scene())

    def begin(sim: rb.Simulation, draws: Any) -> None:
        robot.move_to(sim, starts[:, :2], starts[:, 2:])

    mine = ours(8, start=begin, time_step=0.0005, steps=80, done=None)
    mine.reset(seed=0)
    env = gymnasium.make("InvertedPendulum-v5").unwrapped
    env.model.opt.timestep, env.frame_skip = 0.0005, 80
    worst, seen = 0.0, [mine.step(action)[0] for action in actions]
    for k, start in enumerate(starts):
        env.reset()
        env.set_state(start[:2], start[2:])
        for action, observed in zip(actions[:, k], seen, strict=True):
            worst = max(worst, np.abs(env.step(action)[0] - observed[k]).max())
    return float(worst)


def rates(runs: dict[str, tuple[Any, int]]) -> dict[str, float]:
    """Steps of an environment in a second of CPU time of each, by turns."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    steps: dict[str, Callable[[], None]] = {}
    for name, (env, _) in runs.items():
        env.reset(seed=0)
        env.action_space.seed(0)
        actions = [env.action_space.sample() for _ in range(CALLS)]
        steps[name] = lambda env=env, actions=actions: [env.step(action) for action in actions] and None
        steps[name]()
    for _ in range(REPEATS):
        for name, (_, count) in runs.items():
            begun = time.process_time()
            steps[name]()
            found[name].append(count * CALLS / (time.process_time() - begun))
    return {name: statistics.median(values) for name, values in found.items()}


def tables(device: str) -> str:
    """The table of the documentation."""
    if (off := disagreement()) > AGREE:
        raise SystemExit(f"Observations differ by {off:.2g}; no time counts.")
    register()
    ready = gymnasium.make_vec("rattleback/CartPole-v0", num_envs=ENVIRONMENTS, device=device)
    runs = {
        "InvertedPendulum-v5": (theirs(ENVIRONMENTS), ENVIRONMENTS),
        "the same": (ours(ENVIRONMENTS, device=device), ENVIRONMENTS),
        "the same, no stops": (ours(ENVIRONMENTS, stops=False, device=device), ENVIRONMENTS),
        "rattleback/CartPole-v0": (ready, ENVIRONMENTS),
    }
    found = rates(runs)
    kinds = [("MuJoCo", "SyncVectorEnv"), *[("rattleback", "rb.gym.VectorEnv")] * 3]
    base = found["InvertedPendulum-v5"]
    rows = [
        [name, *kind, str(runs[name][1]), f"{rate:,.0f}", f"{rate / base:.1f} ×"]
        for (name, rate), kind in zip(found.items(), kinds, strict=True)
    ]
    note = f"Before, observations agreed to {off:.1g} over ten actions at steps of 0.5 ms."
    return f"{markdown(HEAD, rows)}\n\n{note}"


if __name__ == "__main__":
    main("environments", tables)
