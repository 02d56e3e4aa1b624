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
    from rattleback.model.body import Body
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


def joint_columns(model: Model, counts: np.ndarray, pairs: np.ndarray, aligns: list[bool]) -> dict[str, np.ndarray]:
    """Bodies, anchors, frames and rows of the joints of all worlds; which of them keep z axes parallel is told."""
    worlds, n = np.arange(model.worlds), len(model.names)
    shift = np.where(pairs >= 0, n, 0)
    rows = pairs[None] + worlds[:, None, None] * shift[None]
    first = np.cumsum(counts) - counts
    flat: dict[str, np.ndarray] = {
        "world": np.repeat(worlds, len(counts)),
        "body_a": rows[:, :, 0].ravel(),
        "body_b": rows[:, :, 1].ravel(),
        "first": (first[None] + worlds[:, None] * counts.sum()).ravel(),
        "count": np.tile(counts, model.worlds),
    }
    flat = {name: column.astype(np.int32) for name, column in flat.items()}
    found = model.scenes.joints()
    placed = _placed_columns(found.items)
    flat |= {name: found.spread(column) for name, column in placed.items()}
    flat["facing"] = np.where(np.tile(aligns, model.worlds), found.spread(_facing(found.items, placed)), 0)
    flat["facing"] = flat["facing"].astype(np.int32)
    _check_levers(model, flat)
    return flat


def _placed_columns(items: list[Any]) -> dict[str, np.ndarray]:
    """Anchors and frames of joints with their bodies A and B, as these see them from their centres of mass.

    A point and a frame are given in the frame of the body, or in the world at the start.
    """
    joints = {id(joint): joint for joint, *_ in items}
    ends = {key: (joint.points(), joint.frames()) for key, joint in joints.items()}
    inside = np.array([joint.in_bodies for joint, *_ in items])
    found = {}
    for s, letter in enumerate("ab"):
        point, turn = (np.array([ends[id(joint)][which][s] for joint, *_ in items]) for which in range(2))
        held, place = np.array([item[1 + s] is not None for item in items]), poses([item[1 + s] for item in items])
        in_frame, in_world = held & inside, held & ~inside
        back = rotation.conjugate(place["orientation"])
        anchor = np.where(in_frame[:, None], point - place["center_of_mass"], point)
        seen = rotation.rotate(back, point - place["position"])
        found[f"anchor_{letter}"] = np.where(in_world[:, None], seen, anchor).astype(numpy_real)
        found[f"turn_{letter}"] = np.where(in_world[:, None], rotation.multiply(back, turn), turn).astype(numpy_real)
    return found


def poses(bodies: list[Body | None]) -> dict[str, np.ndarray]:
    """Where bodies lie at the start, and their centres of mass; the world lies at its origin."""
    nowhere = {"position": np.zeros(3), "orientation": np.array([0.0, 0.0, 0.0, 1.0]), "center_of_mass": np.zeros(3)}
    return {
        name: np.array([value if body is None else getattr(body, name) for body in bodies])
        for name, value in nowhere.items()
    }


def aligns_axes(rows: list[RowSpec]) -> bool:
    """Whether rows of a joint hold its z axes parallel."""
    return any(row.kind == "cross" and row.axis_a != row.axis_b and not yields([row]) for row in rows)


def _facing(items: list[Any], placed: dict[str, np.ndarray]) -> np.ndarray:
    """Which way the z axes of joints point at the start: 1 alike, −1 against each other."""
    axes = []
    for s, side in enumerate("ab"):
        turns = poses([item[1 + s] for item in items])["orientation"]
        frame = np.asarray(placed[f"turn_{side}"], dtype=np.float64)
        axes.append(rotation.rotate(rotation.multiply(turns, frame), np.array((0, 0, 1.0))))
    return np.where((axes[0] * axes[1]).sum(axis=1) >= 0.0, 1, -1)


def mass_columns(model: Model, pairs: np.ndarray) -> dict[str, np.ndarray]:
    """How easily the bodies of each joint are moved and turned; the world is not."""
    ends = np.bincount(pairs[pairs >= 0], minlength=len(model.names))
    mass, inverse = (
        model.by_world(array.numpy()) for array in (model.bodies.inverse_mass, model.bodies.inverse_inertia)
    )
    ease = 2.0 * ends * np.linalg.eigvalsh(inverse).max(axis=2)
    named = {name: np.pad(values, ((0, 0), (0, 1))) for name, values in (("inverse_mass", mass), ("ease", ease))}
    return {
        f"{name}_{side_}": model.scenes.tiled(values[:, pairs[:, s]].ravel()).astype(numpy_real)
        for name, values in named.items()
        for s, side_ in enumerate("ab")
    }


def _check_levers(model: Model, flat: dict[str, np.ndarray]) -> None:
    """Refuse a joint so far from its body that the numbers of its matrix leave their range."""
    names = list(model.scene.joints)
    for side_ in ("anchor_a", "anchor_b"):
        with np.errstate(over="ignore"):
            far = ~np.isfinite((flat[side_] ** 4).sum(axis=1))
        if far.any():
            name = names[int(np.argmax(far)) % len(names)]
            raise InputError(f"Joint {name!r} is too far from its body to be computed with.")


def definition_columns(model: Model, listed: list[RowSpec]) -> dict[str, np.ndarray]:
    """Which condition each row is, in all worlds, from the rows of those that ``model.scenes`` tells apart."""
    places: dict[RowSpec, int] = {}
    index = np.array([places.setdefault(spec, len(places)) for spec in listed], dtype=np.int64)
    return {name: model.scenes.tiled(column[index]) for name, column in _definitions(list(places)).items()}


def _definitions(specs: list[RowSpec]) -> dict[str, np.ndarray]:
    return {
        "kind": np.array([KINDS.get(spec.kind, -1) for spec in specs], dtype=np.int32),
        "axis_a": np.array([spec.axis_a for spec in specs], dtype=np.int32),
        "axis_b": np.array([spec.axis_b for spec in specs], dtype=np.int32),
        **{name: np.array([getattr(spec, name) for spec in specs], dtype=numpy_real) for name in NUMBERS},
        "bend": np.array([spec.bend for spec in specs], dtype=numpy_real).reshape(-1, 3),
        "is_length": np.array([spec.kind in LENGTHS for spec in specs], dtype=np.int32),
        "is_velocity": np.array([spec.kind in VELOCITY_ONLY for spec in specs], dtype=np.int32),
    }
