"""The joints of a scene as columns of numbers: what ``joint_rows`` writes to the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.constraints.row import COUPLINGS, KINDS, LENGTHS, VELOCITY_ONLY
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real
from rattleback.joints.joint import RowSpec, Z
from rattleback.maths import rotation

if TYPE_CHECKING:
    from rattleback.joints.stop import StopSpec
    from rattleback.model.model import Model

# Fields of a row that are numbers, by their names in ``RowDefinitions``.
NUMBERS = ("offset", "radius_a", "radius_b", "rate", "damping", "stiffness", "armature", "friction", "limit")
BALL = [("slide", axis, 0.0) for axis in range(3)]


def yields(rows: list[Any]) -> bool:
    """Whether any row yields."""
    return any(row.stiffness + row.damping + row.armature + row.friction > 0.0 for row in rows)


def drive_rows(scene: Any, drives: bool = False) -> list[list[RowSpec]]:
    """The rows that forces inside the constraint solve add to each joint, with armature and friction if asked for."""
    found: dict[str, list[RowSpec]] = {name: [] for name in scene.joints}
    for label, force in scene.forces.items():
        if hasattr(force, "drive_rows"):
            for name, rows in force.drive_rows(scene, label).items():
                _check_free(found[name], rows, label, name)
                found[name].extend(rows)
    return [_with_drive(scene.joints[name], name, rows) if drives else rows for name, rows in found.items()]


def _with_drive(joint: Any, name: str, rows: list[RowSpec]) -> list[RowSpec]:
    """The row along what a joint leaves free with armature and friction, which are those of its only coordinate."""
    own = {field: float(getattr(joint, field, 0.0)) for field in ("armature", "friction")}
    if not any(own.values()):
        return rows
    if own["friction"] > 0.0 and any(row.limit > 0.0 for row in rows):
        raise InputError(
            f"Joint {name!r} has friction, and a force inside the constraint solve along it has a limit; only one "
            "of both bounds can act along one motion. Leave out the friction or the limit."
        )
    rows = rows or [RowSpec("turn", 0) if joint.freedoms == ("turn_z",) else RowSpec("slide", Z)]
    return [row._replace(armature=own["armature"], friction=own["friction"]) for row in rows]


def _check_free(others: list[RowSpec], rows: list[RowSpec], label: str, name: str) -> None:
    """Refuse a second force inside the constraint solve along one freedom of a joint."""
    taken = {(row.kind, row.axis_a) for row in others}
    if any((row.kind, row.axis_a) in taken for row in rows):
        raise InputError(
            f"Force {label!r} is the second one inside the constraint solve along the same freedom of joint {name!r}; "
            "add their stiffness and damping up in one of them."
        )


def body_index(model: Model, name: str) -> int:
    """Row of a body in its world; −1 for the world."""
    return -1 if name == model.scene.world.name else model.index(name)


def kind_columns(made: list[Any], specs: list[list[Any]], declared: list[list[Any]]) -> dict[str, np.ndarray]:
    """What kernels want to know of the kind of a joint, from the rows it has here and those it declares."""
    coupling = [next((KINDS[row.kind] for row in rows if row.kind in COUPLINGS), -1) for rows in declared]
    turns = [[name for name in joint.freedoms if name.startswith("turn")] == ["turn_z"] for joint in made]
    columns = {
        "coupling": coupling,
        "ball": [[(row.kind, row.axis_a, row.offset) for row in rows] == BALL and not yields(rows) for rows in specs],
        "drives": [any(row.rate != 0.0 for row in rows) for rows in specs],
        "broken": [0] * len(made),
        "counts": [turn or kind >= 0 for turn, kind in zip(turns, coupling, strict=True)],
    }
    return {name: np.array(column, dtype=np.int32) for name, column in columns.items()}


def joint_columns(model: Model, made: list[Any], counts: np.ndarray, pairs: np.ndarray) -> dict[str, np.ndarray]:
    """Bodies, anchors, frames and rows of the joints of all worlds."""
    worlds, n = np.arange(model.worlds), len(model.names)
    shift = np.where(pairs >= 0, n, 0)
    rows = pairs[None] + worlds[:, None, None] * shift[None]
    first = np.cumsum(counts) - counts
    flat: dict[str, np.ndarray] = {
        "world": np.repeat(worlds, len(made)),
        "body_a": rows[:, :, 0].ravel(),
        "body_b": rows[:, :, 1].ravel(),
        "first": (first[None] + worlds[:, None] * counts.sum()).ravel(),
        "count": np.tile(counts, model.worlds),
    }
    flat = {name: column.astype(np.int32) for name, column in flat.items()}
    sides = [
        [_placed(model, pairs[k, s], point, turn, joint.in_bodies) for s, (point, turn) in enumerate(_ends(joint))]
        for k, joint in enumerate(made)
    ]
    for s, letter in enumerate("ab"):
        for place, name in enumerate((f"anchor_{letter}", f"turn_{letter}")):
            column = np.array([side_[s][place] for side_ in sides], dtype=numpy_real)
            flat[name] = np.tile(column, (model.worlds, 1))
    _check_levers(model, flat)
    return flat


def facing_column(model: Model, specs: list[list[Any]], pairs: np.ndarray, flat: dict[str, np.ndarray]) -> np.ndarray:
    """Which way the z axes of joints that keep them parallel point at the start: 1 alike, −1 against each other."""
    turns = np.array([*(body.orientation for body in model.scene.bodies), (0.0, 0.0, 0.0, 1.0)])
    frames = [np.asarray(flat[f"turn_{side}"][: len(specs)], dtype=np.float64) for side in "ab"]
    axes = [rotation.rotate(rotation.multiply(turns[pairs[:, s]], frames[s]), np.array((0, 0, 1.0))) for s in range(2)]
    aligns = [
        any(row.kind == "cross" and row.axis_a != row.axis_b and not yields([row]) for row in rows) for rows in specs
    ]
    ways = np.where((axes[0] * axes[1]).sum(axis=1) >= 0.0, 1, -1)
    return np.where(aligns, ways, 0).astype(np.int32)


def mass_columns(model: Model, pairs: np.ndarray) -> dict[str, np.ndarray]:
    """How easily the bodies of each joint are moved and turned; the world is not."""
    ends = np.bincount(pairs[pairs >= 0], minlength=len(model.names))
    mass = np.append(model.bodies.inverse_mass.numpy()[: len(model.names)], 0.0)
    inverse = model.bodies.inverse_inertia.numpy()[: len(model.names)]
    ease = np.append(2.0 * ends * np.linalg.eigvalsh(inverse).max(axis=1), 0.0)
    named = {"inverse_mass": mass, "ease": ease}
    return {
        f"{name}_{side_}": np.tile(values[pairs[:, s]], model.worlds).astype(numpy_real)
        for name, values in named.items()
        for s, side_ in enumerate("ab")
    }


def _check_levers(model: Model, flat: dict[str, np.ndarray]) -> None:
    """Refuse a joint so far from its body that the numbers of its matrix leave their range."""
    names = list(model.scene.joints)
    for side_ in ("anchor_a", "anchor_b"):
        with np.errstate(over="ignore"):
            far = ~np.isfinite((flat[side_][: len(names)] ** 4).sum(axis=1))
        if far.any():
            raise InputError(f"Joint {names[int(np.argmax(far))]!r} is too far from its body to be computed with.")


def _ends(joint: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(zip(joint.points(), joint.frames(), strict=True))


def _placed(
    model: Model, body: int, point: np.ndarray, turn: np.ndarray, in_body: bool
) -> tuple[np.ndarray, np.ndarray]:
    """A point and a frame as seen from a body's centre of mass; given in its frame, or in the world at the start."""
    if body < 0:
        return np.array(point), turn
    found = model.scene.bodies[body]
    if in_body:
        return np.subtract(point, found.center_of_mass), turn
    back = rotation.conjugate(found.orientation)
    return rotation.rotate(back, np.subtract(point, found.position)), rotation.multiply(back, turn)


def definition_columns(model: Model, rows: list[list[Any]], stops: list[list[StopSpec]]) -> dict[str, np.ndarray]:
    """Which condition each row is, in all worlds; the rows of limits follow the others of their joint."""
    pairs = zip(rows, stops, strict=True)
    specs = [spec for own, limits in pairs for spec in (*own, *(RowSpec(limit.freedom) for limit in limits))]
    columns = {
        "kind": np.array([KINDS.get(spec.kind, -1) for spec in specs], dtype=np.int32),
        "axis_a": np.array([spec.axis_a for spec in specs], dtype=np.int32),
        "axis_b": np.array([spec.axis_b for spec in specs], dtype=np.int32),
        **{name: np.array([getattr(spec, name) for spec in specs], dtype=numpy_real) for name in NUMBERS},
        "bend": np.array([spec.bend for spec in specs], dtype=numpy_real).reshape(-1, 3),
        "is_length": np.array([spec.kind in LENGTHS for spec in specs], dtype=np.int32),
        "is_velocity": np.array([spec.kind in VELOCITY_ONLY for spec in specs], dtype=np.int32),
    }
    return {name: np.tile(column, (model.worlds, *(1,) * (column.ndim - 1))) for name, column in columns.items()}
