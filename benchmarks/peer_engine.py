"""One engine that runs scenes for a comparison: told by lines of JSON what to run, it answers with lines of JSON.

``peer_engine.py FOLDER MODULE [INTEGRATOR]`` imports ``common`` and the engine's module from the peers' folder, or ours
from this one; it needs nothing of rattleback, so that it runs in the peers' Python. Every engine is timed by the same
loop, and its errors come from its poses and velocities by the same code.

The first step is not timed: it takes the twist of the trees, and may allocate or compile. Energy changes of the trees
count from after it, those of the chains from the start. What is measured of contacts is in ``contact_measures.py``.

What an engine prints goes to its errors, so that nothing comes between the answers.
"""

import importlib
import json
import os
import sys
import time
from typing import Any

import contact_measures
import numpy as np

# How far the start of an engine may be off its scene, in single precision too.
START = 1e-4
# How far bodies of a scene are moved that is to go another way [m].
STIRRED = 0.01
SAMPLES = 100


def build(common: Any, kind: Any, task: dict[str, Any]) -> tuple[Any, Any]:
    """The peers' scene of a task and an engine's world of it, checked at the start."""
    scene = getattr(common, task["scene"])(*([task["count"]] if "count" in task else []))
    scene.h = task.get("time_step", scene.h)
    if "stir" in task:
        rng = np.random.default_rng(task["stir"])
        for body in scene.bodies:
            body.p = body.p + rng.uniform(-STIRRED, STIRRED, 3)
    world = kind(scene)
    wanted = [np.array([getattr(body, name) for body in scene.bodies]) for name in "pRvw"]
    off = max(float(np.abs(found - right).max()) for found, right in zip(world.state(), wanted, strict=True))
    if not off < START:
        raise SystemExit(f"{kind.__module__} starts {scene.name} off by {off:g}; a time would mean nothing.")
    if task["scene"] == "tree":
        world.torque(0, np.array([0.0, 0.0, 10.0]))
    return scene, world


def run(common: Any, kind: Any, task: dict[str, Any]) -> dict[str, Any]:
    """Do what a task asks: time it, driven step by step or all at once, find its errors, or both with contacts."""
    scene, world = build(common, kind, task)
    if task["what"] == "contacts":
        return contact_measures.measure(common, scene, world, task)
    before = common.energy(scene, *world.state())
    world.step()
    if task["what"] == "errors":
        return errors(common, scene, world, (task, before))
    steps = task["steps"] - 1
    begun, watch = time.process_time(), time.perf_counter()
    if task["what"] == "at once":
        world.advance(steps)
    else:
        for _ in range(steps):
            world.step()
    cpu, wall = time.process_time() - begun, time.perf_counter() - watch
    return {"cpu_ms": 1e3 * cpu / steps, "wall_ms": 1e3 * wall / steps}


def answer(common: Any, kind: Any, task: dict[str, Any]) -> dict[str, Any]:
    """What a task asks for; a run with contacts that ends in an error has that for its fault."""
    try:
        return run(common, kind, task)
    except Exception as error:
        if task["what"] != "contacts":
            raise
        return {"fault": f"{type(error).__name__}: {error}"}


def errors(common: Any, scene: Any, world: Any, start: tuple[dict[str, Any], float]) -> dict[str, Any]:
    """Largest separation of a joint [m], and change of the energy [J]: at the end, and the largest on the way."""
    task, before = start
    reference = common.energy(scene, *world.state()) if task["scene"] == "tree" else before
    every, apart, changes, fastest = max(1, task["steps"] // SAMPLES), 0.0, [0.0], 0.0
    for step in range(1, task["steps"]):
        world.step()
        if step % every == 0 or step == task["steps"] - 1:
            state = world.state()
            if not all(np.isfinite(part).all() for part in state):
                return {"stable": False}
            apart = max(apart, common.separation(scene, state[0], state[1]))
            changes.append(common.energy(scene, *state) - reference)
            fastest = max(fastest, float(np.abs(state[2]).max()))
    largest = max(map(abs, changes))
    return {"stable": fastest < 50.0, "apart": apart, "drift": changes[-1], "largest": largest}


def mujoco_world(engine: Any, integrator: str) -> Any:
    """MuJoCo's world with an integrator by name, and with many steps in one call."""
    mujoco = engine.mujoco

    class World(engine.World):
        def __init__(self, scene: Any) -> None:
            super().__init__(scene)
            self.m.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")

        def advance(self, steps: int) -> None:
            mujoco.mj_step(self.m, self.d, steps)

    return World


def main() -> None:
    """Answer one line for every line, until there are no more."""
    folder, name, *integrator = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.append(folder)
    common, engine = importlib.import_module("common"), importlib.import_module(name)
    kind = mujoco_world(engine, integrator[0]) if integrator else engine.World
    for line in sys.stdin:
        print(json.dumps(answer(common, kind, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
