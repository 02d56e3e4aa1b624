"""From scene to model and state: friendly objects become flat arrays, one block of rows per world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import arrays
from rattleback.core.device import memory
from rattleback.core.errors import InputError
from rattleback.model.bodies import body_arrays, narrowed
from rattleback.model.breaks import limit_columns
from rattleback.model.model import Bodies, Model
from rattleback.model.scene import Scene
from rattleback.model.state import State
from rattleback.model.surfaces import compile_surfaces
from rattleback.model.worlds.scenes import WorldScenes
from rattleback.model.worlds.structure import check_structure

if TYPE_CHECKING:
    from collections.abc import Sequence

# A body's rows in the model, the state, the prediction and a typical integrator's scratch arrays.
BYTES_PER_BODY = 1024


def compile_scene(given: Scene | Sequence[Scene], worlds: int | None, device: Any) -> tuple[Model, State]:
    """The model of a scene and its starting state.

    Args:
        given: What to simulate, or what to simulate in each world, of one structure; later changes do not reach it.
        worlds: Number of worlds side by side; None for one, without a world axis in the user's view.
        device: Warp device.
    """
    scenes = [_checked(scene).copy() for scene in (given if isinstance(given, (list, tuple)) else (given,))]
    scene, copies = scenes[0], 1 if worlds is None else worlds
    _check_size(scene, copies, device)
    check_structure(scenes)
    every = WorldScenes(scenes, copies)
    bodies = arrays.allocate(Bodies, {"bodies": copies * len(scene.bodies)}, device)
    arrays.write(bodies, body_arrays(every), f"scene {scene.name!r}")
    dynamic = np.array([i for i, body in enumerate(scene.bodies) if not body.static], dtype=np.int64)
    names = tuple(body.name for body in scene.bodies)
    surfaces, rules, kinds = compile_surfaces(every, device)
    model = Model(every, names, worlds is not None, dynamic, bodies, surfaces, rules, kinds, device)
    return model, _starting_state(model)


def _checked(scene: Any) -> Scene:
    if not isinstance(scene, Scene):
        raise InputError(f"Simulation got {scene!r}; it needs a Scene, made with rb.Scene() or rb.Scene.load(path).")
    if not scene.bodies:
        raise InputError(f"Scene {scene.name!r} has no bodies; add one with scene.add_body(rb.Sphere(0.1)).")
    return scene


def _check_size(scene: Scene, copies: int, device: Any) -> None:
    rows, room = copies * len(scene.bodies), memory(device)
    if rows * BYTES_PER_BODY > room or rows >= 2**31:
        raise InputError(
            f"{copies} worlds of {len(scene.bodies)} bodies ({rows * BYTES_PER_BODY / 2**30:.3g} GiB) do not fit into "
            f"device {str(device)!r} ({room / 2**30:.3g} GiB); ask for fewer worlds."
        )


def _starting_state(model: Model) -> State:
    state, found = State.allocate(model), model.scenes.bodies()
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        column = np.array([getattr(body, name) for body in found.items])
        getattr(state.motion, name).assign(narrowed(found, name, column))
    for name, limits in limit_columns(model.scenes).items():
        getattr(state.breaks, name).assign(limits)
    return state
