"""From scene to model and state: friendly objects become flat arrays, one block of rows per world."""

from __future__ import annotations

from typing import Any

import numpy as np

from rattleback.core import arrays
from rattleback.core.device import memory
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real
from rattleback.maths import rotation
from rattleback.model.breaks import limit_columns
from rattleback.model.model import Bodies, Model
from rattleback.model.pairing import material_kinds
from rattleback.model.scene import Scene
from rattleback.model.state import State
from rattleback.model.surfaces import compile_surfaces

# A body's rows in the model, the state, the prediction and a typical integrator's scratch arrays.
BYTES_PER_BODY = 1024


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
    _check_size(scene, copies, device)
    bodies = arrays.allocate(Bodies, {"bodies": copies * len(scene.bodies)}, device)
    arrays.write(bodies, _body_arrays(scene, copies), f"scene {scene.name!r}")
    dynamic = np.array([i for i, body in enumerate(scene.bodies) if not body.static], dtype=np.int64)
    names = tuple(body.name for body in scene.bodies)
    surfaces, rules = compile_surfaces(scene, copies, device)
    kinds = material_kinds(scene)
    model = Model(scene, names, copies, worlds is not None, dynamic, bodies, surfaces, rules, kinds, device)
    return model, _starting_state(scene, model)


def _check_size(scene: Scene, copies: int, device: Any) -> None:
    rows, room = copies * len(scene.bodies), memory(device)
    if rows * BYTES_PER_BODY > room or rows >= 2**31:
        raise InputError(
            f"{copies} worlds of {len(scene.bodies)} bodies ({rows * BYTES_PER_BODY / 2**30:.3g} GiB) do not fit into "
            f"device {str(device)!r} ({room / 2**30:.3g} GiB); ask for fewer worlds."
        )


def _body_arrays(scene: Scene, copies: int) -> dict[str, Any]:
    flat: dict[str, Any] = {name: _rows(scene, name, column, copies) for name, column in _columns(scene).items()}
    flat["world"] = np.repeat(np.arange(copies, dtype=np.int32), len(scene.bodies))
    return flat


def _columns(scene: Scene) -> dict[str, np.ndarray]:
    """The arrays of one world in double precision."""
    mass = np.array([body.mass for body in scene.bodies])
    with np.errstate(over="ignore"):
        inverse_mass = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0.0)
    inverse = np.array([np.zeros((3, 3)) if body.static else np.linalg.inv(body.inertia) for body in scene.bodies])
    moments, axes = zip(*(_principal(body.inertia) for body in scene.bodies), strict=True)
    return {
        "moments": np.array(moments),
        "ratios": _ratios(np.array(moments)),
        "axes": np.array(axes),
        "mass": mass,
        "inverse_mass": inverse_mass,
        "inertia": np.array([body.inertia for body in scene.bodies]),
        "inverse_inertia": 0.5 * inverse + 0.5 * inverse.transpose(0, 2, 1),
        "center_of_mass": np.array([body.center_of_mass for body in scene.bodies]),
    }


def _principal(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments and the orientation of their axes; exactly the body's own where these are principal already."""
    if not (inertia - np.diag(np.diag(inertia))).any():
        return np.diag(inertia), np.array([0.0, 0.0, 0.0, 1.0])
    moments, axes = np.linalg.eigh(inertia)
    return moments, rotation.quaternion_from_matrix(axes * np.sign(np.linalg.det(axes)))


def _ratios(moments: np.ndarray) -> np.ndarray:
    """(J_z − J_y) / J_x, (J_x − J_z) / J_y, (J_y − J_x) / J_z of principal moments (bodies, 3)."""
    differences = np.roll(moments, 1, axis=1) - np.roll(moments, -1, axis=1)
    return np.divide(differences, moments, out=np.zeros_like(moments), where=moments > 0.0)


def _starting_state(scene: Scene, model: Model) -> State:
    state = State.allocate(model)
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        column = np.array([getattr(body, name) for body in scene.bodies])
        getattr(state.motion, name).assign(_rows(scene, name, column, model.worlds))
    for name, limits in limit_columns(scene, model.worlds).items():
        getattr(state.breaks, name).assign(limits)
    return state


def _rows(scene: Scene, name: str, column: np.ndarray, copies: int) -> np.ndarray:
    """A column of one world, in the precision of this process, repeated for every world."""
    with np.errstate(over="ignore"):
        narrow = column.astype(numpy_real)
    bad = np.flatnonzero(~np.isfinite(narrow).reshape(len(narrow), -1).all(axis=1))
    if bad.size:
        body = scene.bodies[bad[0]].name
        raise InputError(f"The {name} of body {body!r} is outside the range of numbers; change its mass or size.")
    return np.tile(narrow, (copies,) + (1,) * (narrow.ndim - 1))
