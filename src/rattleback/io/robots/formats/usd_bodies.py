"""Mass properties of bodies of USD: as said, or from what collides, by the rules of UsdPhysics.

    mass        that of the body, else Σ of its colliders, each its own mass or its density times its volume
    centre      as said, else that of the colliders; inertia likewise, in proportion to the mass
    nothing     1 kg, and the moments of a ball of 0.1 m

Density of a collider: its own, else that of the body, else of its material, else 1000 kg/m³.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.io.robots.description import Inertia
from rattleback.maths import inertia as inertia_maths
from rattleback.maths.rotation import matrix_from_quaternion
from rattleback.shapes import Plane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Link
    from rattleback.io.robots.formats.usd import Described
    from rattleback.io.robots.formats.usd_geometry import Solid

    Floats = NDArray[np.float64]

WATER = 1000.0
NOTHING = (1.0, 0.1)


def fill_body(described: Described, prim: Any, link: Link, solids: list[Solid]) -> None:
    """Give a link its mass, its start velocity, and whether gravity acts."""
    stage = described.stage
    density = stage.number(prim, "physics:density") * stage.kilograms / stage.meters**3
    mass = stage.number(prim, "physics:mass") * stage.kilograms
    found = _from_colliders(solids, density)
    if found is None:
        size, radius = NOTHING
        found = Inertia(size, np.zeros(3), 0.4 * size * radius**2 * np.eye(3))
    if mass > 0.0:
        found = Inertia(mass, found.center, found.tensor * mass / found.mass)
    center = _center(stage, prim)
    if center is not None:
        found.center = (stage.local(prim) @ np.append(center, 1.0))[:3]
    diagonal = stage.vector(prim, "physics:diagonalInertia", (0.0, 0.0, 0.0))
    if diagonal.any():
        turn = quaternion(stage.value(prim, "physics:principalAxes"))
        found.tensor = turn @ np.diag(diagonal * stage.kilograms * stage.meters**2) @ turn.T
    else:
        stage.value(prim, "physics:principalAxes")
    link.inertia = found
    if stage.value(prim, "physxRigidBody:disableGravity", False):
        link.gravity_compensation = 1.0
    _fill_velocity(described, prim, link)


def _center(stage: Any, prim: Any) -> Floats | None:
    """The centre of mass that is said; None where it is not, or not finite, which is how UsdPhysics says so."""
    told = stage.value(prim, "physics:centerOfMass")
    try:
        center = None if told is None else np.array(tuple(told), dtype=np.float64)
    except (TypeError, ValueError):
        center = np.zeros(0)
    if center is not None and center.shape != (3,):
        raise stage.error(prim, "physics:centerOfMass must be three numbers.")
    return center if center is not None and np.isfinite(center).all() else None


def quaternion(value: Any) -> Floats:
    """A quaternion of USD as a rotation matrix; the identity where it is none or zero."""
    if value is None:
        return np.eye(3)
    if not hasattr(value, "GetImaginary"):
        raise InputError(f"Something that must be a quaternion is {str(value)[:60]!r}.")
    q = np.array([*value.GetImaginary(), value.GetReal()], dtype=np.float64)
    length = float(np.linalg.norm(q))
    if not 1e-9 < length < np.inf:
        return np.eye(3)
    return np.asarray(matrix_from_quaternion(q / length))


def _from_colliders(solids: list[Solid], density: float) -> Inertia | None:
    parts = []
    for solid in solids:
        shape, place = solid.geometry.shape, solid.geometry.place
        if isinstance(shape, Plane):
            continue
        try:
            own = shape.mass_properties(solid.density or density or WATER)
        except InputError:
            continue
        own = own.with_mass(solid.mass) if solid.mass > 0.0 else own
        turn = place[:3, :3]
        tensor = turn @ np.array(own.inertia) @ turn.T
        parts.append((own.mass, turn @ np.array(own.center_of_mass) + place[:3, 3], 0.5 * (tensor + tensor.T)))
    if not parts:
        return None
    mass, center, tensor = inertia_maths.combine(parts)
    return Inertia(mass, center, tensor)


def _fill_velocity(described: Described, prim: Any, link: Link) -> None:
    """Velocities are said in the space of the prim's parent, angular ones in degrees."""
    stage = described.stage
    linear = stage.vector(prim, "physics:velocity", (0.0, 0.0, 0.0))
    angular = np.radians(stage.vector(prim, "physics:angularVelocity", (0.0, 0.0, 0.0)))
    if not (linear.any() or angular.any()):
        return
    above = stage.transform(prim.GetParent()) if not prim.GetParent().IsPseudoRoot() else _root(stage)
    turn = np.linalg.svd(above[:3, :3])
    link.velocity = np.concatenate([above[:3, :3] @ linear, turn[0] @ turn[2] @ angular])


def _root(stage: Any) -> Floats:
    found = stage.up.copy()
    found[:3] *= stage.meters
    return np.asarray(found)
