"""Masses and inertias of the bodies of all worlds as flat arrays, from their scenes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real
from rattleback.maths import rotation
from rattleback.model.worlds.scenes import Distinct, WorldScenes


def body_arrays(scenes: WorldScenes) -> dict[str, Any]:
    """What the arrays of the bodies of all worlds hold."""
    found = scenes.bodies()
    flat: dict[str, Any] = {name: narrowed(found, name, column) for name, column in _columns(found.items).items()}
    flat["world"] = np.repeat(np.arange(scenes.count, dtype=np.int32), len(scenes.first.bodies))
    return flat


def _columns(bodies: list[Any]) -> dict[str, np.ndarray]:
    """The arrays of some bodies in double precision."""
    mass = np.array([body.mass for body in bodies])
    with np.errstate(over="ignore"):
        inverse_mass = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0.0)
    inverse = np.array([np.zeros((3, 3)) if body.static else np.linalg.inv(body.inertia) for body in bodies])
    moments, axes = zip(*(_principal(body.inertia) for body in bodies), strict=True)
    return {
        "moments": np.array(moments),
        "ratios": _ratios(np.array(moments)),
        "axes": np.array(axes),
        "mass": mass,
        "inverse_mass": inverse_mass,
        "inertia": np.array([body.inertia for body in bodies]),
        "inverse_inertia": 0.5 * inverse + 0.5 * inverse.transpose(0, 2, 1),
        "center_of_mass": np.array([body.center_of_mass for body in bodies]),
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


def narrowed(found: Distinct, name: str, column: np.ndarray) -> np.ndarray:
    """A column of some bodies, in the precision of this process, for the bodies of every world."""
    with np.errstate(over="ignore"):
        narrow = column.astype(numpy_real)
    bad = np.flatnonzero(~np.isfinite(narrow).reshape(len(narrow), -1).all(axis=1))
    if bad.size:
        body = found.items[bad[0]].name
        raise InputError(f"The {name} of body {body!r} is outside the range of numbers; change its mass or size.")
    return found.spread(narrow)
