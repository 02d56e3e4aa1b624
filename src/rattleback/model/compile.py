"""From scene to model and state: friendly objects become flat arrays, one block of rows per world."""

from __future__ import annotations

from typing import Any

import numpy as np

from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real
from rattleback.model.model import Bodies, Model
from rattleback.model.scene import Scene
from rattleback.model.state import State


def compile_scene(scene: Scene, worlds: int | None, device: Any) -> tuple[Model, State]:
    """The model of a scene and its starting state.

    Args:
        scene: What to simulate; later changes to it do not reach the model.
        worlds: Number of copies side by side; None for one, without a world axis in the user's view.
        device: Warp device.
    """
    if not isinstance(scene, Scene):
        raise InputError(f"Simulation got {scene!r}; it needs a Scene, made with rb.Scene() or rb.Scene.load(path).")
    if not scene.bodies:
        raise InputError(f"Scene {scene.name!r} has no bodies; add one with scene.add_body(rb.Sphere(0.1)).")
    scene, copies = scene.copy(), 1 if worlds is None else worlds
    bodies = arrays.allocate(Bodies, {"bodies": copies * len(scene.bodies)}, device)
    arrays.write(bodies, _body_arrays(scene, copies), f"scene {scene.name!r}")
    dynamic = np.array([i for i, body in enumerate(scene.bodies) if not body.static], dtype=np.int64)
    names = tuple(body.name for body in scene.bodies)
    model = Model(scene, names, copies, worlds is not None, dynamic, bodies, device)
    return model, _starting_state(scene, model)


def _body_arrays(scene: Scene, copies: int) -> dict[str, Any]:
    mass = np.array([body.mass for body in scene.bodies])
    inertia = np.array([body.inertia for body in scene.bodies])
    inverse = np.array([np.zeros((3, 3)) if body.static else np.linalg.inv(body.inertia) for body in scene.bodies])
    columns = {
        "mass": mass,
        "inverse_mass": np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0.0),
        "inertia": inertia,
        "inverse_inertia": 0.5 * (inverse + inverse.transpose(0, 2, 1)),
        "center_of_mass": np.array([body.center_of_mass for body in scene.bodies]),
    }
    flat = {name: _tile(column, copies) for name, column in columns.items()}
    flat["world"] = np.repeat(np.arange(copies, dtype=np.int32), len(scene.bodies))
    return flat


def _starting_state(scene: Scene, model: Model) -> State:
    state = State.allocate(model)
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        column = np.array([getattr(body, name) for body in scene.bodies])
        getattr(state.motion, name).assign(_tile(column, model.worlds))
    return state


def _tile(column: np.ndarray, copies: int) -> np.ndarray:
    return np.tile(column, (copies,) + (1,) * (column.ndim - 1)).astype(numpy_real)
