"""Named states of MJCF: the start of the scene with its velocities and controls, and those of the file it came from.

V = Σ S_k q̇_k        V twist of a body against the one it hangs on, in the body's frame; S screw axes of its joint
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD
from rattleback.io.robots.source.placing import parts
from rattleback.io.robots.writers.mjcf.chains import BALL, FREE
from rattleback.io.robots.writers.xml_tree import element

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Keyframe
    from rattleback.io.robots.writers.mjcf.chains import Chain
    from rattleback.io.robots.writers.mjcf.model import Model

    Floats = NDArray[np.float64]

START = "rattleback:start"
SAME = (1.0, 0.0, 0.0, 0.0)
# Part of a velocity that a joint forbids and that is told of.
FORBIDDEN = 1e-9


def add_keyframes(model: Model) -> None:
    """Add the start and the named states."""
    model.names["key"].reserve(START)
    rates = np.concatenate([_rates(model, chain) for chain in model.chains] or [np.zeros(0)])
    controls = [actuator.control for actuator in _written(model)]
    if model.chains:
        qpos = np.concatenate([_start(model, chain) for chain in model.chains])
        made = {"qpos": qpos, "qvel": rates if rates.any() else None, "ctrl": controls if any(controls) else None}
        element(model.section("keyframe"), "key", name=START, **made)
        model.report.keep("start", f"as the configuration of the file, and with velocities and controls as {START!r}")
    for key in model.description.keyframes.values():
        _add(model, key)


def _written(model: Model) -> list[Any]:
    names = model.names["actuator"]
    return [actuator for actuator in model.description.actuators if actuator.name in names]


def _start(model: Model, chain: Chain) -> Floats:
    """Coordinates of a joint at the start, as MuJoCo has them."""
    found: list[float] = []
    for move, reference in zip(chain.moves, chain.references, strict=True):
        if move.kind == FREE:
            point, (x, y, z, w) = parts(model.frames[chain.joint.child])
            found += [*point, w, x, y, z]
        else:
            found += SAME if move.kind == BALL else [reference]
    return np.array(found)


def _rates(model: Model, chain: Chain) -> Floats:
    """Rates of a joint at the start, as MuJoCo has them."""
    joint = chain.joint
    turn = model.frames[chain.body][:3, :3]
    child = _velocity(model, joint.child, chain.body)
    if joint.kind == "free":
        return np.concatenate([child[:3], turn.T @ child[3:]])
    if not chain.screws:
        return np.zeros(0)
    apart = child - _velocity(model, joint.parent, chain.body)
    twist = np.concatenate([turn.T @ apart[:3], turn.T @ apart[3:]])
    axes = np.stack(chain.screws, axis=-1)
    found = np.linalg.lstsq(axes, twist, rcond=None)[0]
    left = float(np.abs(twist - axes @ found).max())
    if left > FORBIDDEN * max(1.0, float(np.abs(twist).max())):
        told = f"the joint {joint.name!r} forbids {left:.3g} of it"
        model.report.approximate(f"body {joint.child!r} velocity", told)
    return np.asarray(found)


def _velocity(model: Model, link: str, at: str) -> Floats:
    """Velocity of a link's material at the frame of another link, and its angular velocity (6,)."""
    own = None if link == WORLD else model.description.links[link].velocity
    if own is None:
        return np.zeros(6)
    way = model.frames[at][:3, 3] - model.frames[link][:3, 3]
    return np.concatenate([own[:3] + np.cross(own[3:], way), own[3:]])


def _add(model: Model, key: Keyframe) -> None:
    found: list[float] = []
    for chain in model.chains:
        value = key.coordinates.get(chain.joint.name)
        found.extend(_coordinates(model, chain, value))
    names = {actuator.name: actuator.control for actuator in _written(model)}
    controls = [key.controls.get(name, 0.0) for name in names]
    made = {"qpos": found, "ctrl": controls if any(controls) else None}
    element(model.section("keyframe"), "key", name=model.names["key"].add(key.name), **made)
    model.report.keep(f"named state {key.name!r}")


def _coordinates(model: Model, chain: Chain, value: Any) -> list[float]:
    """Coordinates of a joint at a value of the description's, as MuJoCo counts them from the start."""
    joint = chain.joint
    if value is None:
        return [float(part) for part in _start(model, chain)]
    if joint.kind == "free":
        x, y, z, *turn = value
        return [x, y, z, turn[3], *turn[:3]]
    if joint.kind == "ball":
        return _ball(chain, value)
    if joint.kind == "screw":
        return [float(value) * joint.pitch / (2.0 * np.pi), float(value)]
    return [float(part) for part in np.atleast_1d(value)]


def _ball(chain: Chain, value: Any) -> list[float]:
    """Turn of the body in its own frame against the start: R = F M(q₀)ᵀ M(q) Fᵀ."""
    from rattleback.maths.rotation import matrix_from_quaternion, quaternion_from_matrix

    turn = chain.joint.frame_child[:3, :3]
    first, last = (matrix_from_quaternion(np.array(q)) for q in (chain.joint.start, value))
    x, y, z, w = quaternion_from_matrix(turn @ first.T @ last @ turn.T).tolist()
    return [w, x, y, z]
