"""Denavit–Hartenberg tables: a chain from its four numbers a row, in both conventions, and the table of any chain.

    modified:  T_i = T_x(a) R_x(α) T_z(d) R_z(θ)          standard:  T_i = R_z(θ) T_z(d) T_x(a) R_x(α)

a length, α twist, d offset, θ angle of a row; a revolute joint adds its variable to θ, a prismatic one to d. In the
modified form the joint turns about the z axis of its own frame, in the standard form about that of the frame before.

The table of a chain, modified form: z_i is the axis of joint i at q = 0, x_i the common normal from z_i to z_{i+1}
(where both are parallel the one through the origin of frame i, where they meet z_i × z_{i+1}), the origin of frame i
the foot of that normal on z_i. Then

    a = (o_{i+1} − o_i) · x_i                    α = ∠(z_i, z_{i+1}) about x_i
    d = (o_{i+1} − o_i) · z_{i+1}                θ = ∠(x_i, x_{i+1}) about z_{i+1}

References: Denavit and Hartenberg, 1955; Craig, Introduction to Robotics, §3.4; lecture notes on forward and inverse
kinematics, §4.2, whose form is the modified one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.kinematics.link import Link

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CONVENTIONS = ("modified", "standard")
# Directions closer than this are taken for parallel, and lines closer than this to meet [rad, m].
CLOSE = 1e-10


class Table(NamedTuple):
    """A chain as a Denavit–Hartenberg table in the modified form: T(q) = base · ∏ T_i(q) · tool.

    Attributes:
        rows: a [m], α [rad], d [m], θ [rad] of each joint (joints, 4).
        kinds: ``"revolute"`` or ``"prismatic"`` for each joint.
        limits: Least and greatest value of each joint variable (joints, 2); infinite for none.
        base: Frame the first row starts from, in the world (4, 4).
        tool: Frame of the tool on the last joint (4, 4).
        coordinates: Names of the coordinates the rows belong to.
    """

    rows: Floats
    kinds: tuple[str, ...]
    limits: Floats
    base: Floats
    tool: Floats
    coordinates: tuple[str, ...]


def row_matrix(row: Any, convention: str = "modified") -> Floats:
    """The matrix of one row (a, α, d, θ) (4, 4)."""
    a, alpha, d, theta = row
    along, about = _screw(0, a, alpha), _screw(2, d, theta)
    return along @ about if convention == "modified" else about @ along


def links_from_rows(rows: Any, convention: str, kinds: Any, limits: Any) -> tuple[list[Link], Floats]:
    """The links of a table, ``joint1`` and on, and the frame of the tip on the last."""
    table = _checked_rows(rows)
    checks.one_of(convention, CONVENTIONS, "The convention of a Denavit–Hartenberg table")
    kinds, limits = _kinds(kinds, len(table)), _limits(limits, len(table))
    links, before = [], np.eye(4)
    for i, (a, alpha, d, theta) in enumerate(table):
        along, about = _screw(0, a, alpha), _screw(2, d, theta)
        place, rest = (before @ along @ about, np.eye(4)) if convention == "modified" else (before @ about, along)
        parent = f"joint{i}" if i else ""
        links.append(Link(f"joint{i + 1}", parent, kinds[i], place, limits=limits[i]))
        before = rest
    return links, before


def table_of(tree: Any, tool: str) -> Table:
    """The table of the chain from the base of a tree to a tool or a link."""
    joints = _moving(tree, tool)
    zero = np.zeros(len(tree.coordinates))
    frames, tip = tree.frames(zero), tree.forward(zero, tool)
    axes = [frames[i, :3, :3] @ tree.links[i].axis for i in joints]
    places = [frames[i, :3, 3] for i in joints]
    own = _frames(axes, places, tip)
    rows = [np.zeros(4), *(_between(first, second) for first, second in pairwise(own))]
    names = tuple(tree.links[i].name for i in joints)
    columns = [tree.coordinates.index(name) for name in names]
    limits = np.stack([tree.lower[columns], tree.upper[columns]], axis=1)
    kinds = tuple(tree.links[i].joint for i in joints)
    return Table(np.array(rows), kinds, limits, own[0], np.linalg.inv(own[-1]) @ tip, names)


def _moving(tree: Any, tool: str) -> list[int]:
    """Joints that move a tool, base first."""
    found = []
    for i in tree.path(tool):
        link = tree.links[i]
        if link.mimic is not None:
            raise InputError(
                f"Link {link.name!r} of {tree.name!r} follows {link.mimic.link!r}; a table has a variable of its own "
                "in every row, so a chain with such a joint has none."
            )
        if link.moves:
            found.append(i)
    if not found:
        raise InputError(f"No joint of {tree.name!r} moves {tool!r}; a table needs at least one.")
    return found


def _frames(axes: list[Floats], places: list[Floats], tip: Floats) -> list[Floats]:
    """Frames on the axes as the modified form wants them; the last one is as near to the tip as it can be."""
    found: list[Floats] = []
    for i, (z, place) in enumerate(zip(axes, places, strict=True)):
        if i + 1 < len(axes):
            x, origin = _normal(place, z, places[i + 1], axes[i + 1], found[-1] if found else None)
        else:
            origin = place + ((tip[:3, 3] - place) @ z) * z
            x = _across(z, found[-1][:3, 0] if found else tip[:3, 0])
        frame = np.eye(4)
        frame[:3, 0], frame[:3, 1], frame[:3, 2], frame[:3, 3] = x, np.cross(z, x), z, origin
        found.append(frame)
    return found


def _normal(p: Floats, z: Floats, other: Floats, z_other: Floats, before: Floats | None) -> tuple[Floats, Floats]:
    """Direction of the common normal of two axes, and its foot on the first."""
    cross, gap = np.cross(z, z_other), other - p
    square = float(cross @ cross)
    if square < CLOSE**2:  # parallel: any normal will do, the one through the frame before keeps d at zero
        across = gap - (gap @ z) * z
        foot = p if before is None else p + ((before[:3, 3] - p) @ z) * z
        length = float(np.linalg.norm(across))
        return (across / length if length > CLOSE else _across(z, _seed(before))), foot
    foot = p + (np.cross(gap, z_other) @ cross / square) * z
    x = cross / np.sqrt(square)
    return (x if gap @ x > -CLOSE else -x), foot


def _seed(before: Floats | None) -> Floats:
    return np.array([1.0, 0.0, 0.0]) if before is None else before[:3, 0]


def _across(z: Floats, wish: Floats) -> Floats:
    """A unit vector perpendicular to z, near a wish."""
    for guess in (wish, np.eye(3)[int(np.argmin(np.abs(z)))]):
        across = guess - (guess @ z) * z
        if (length := float(np.linalg.norm(across))) > 1e-6:
            break
    return across / length


def _between(first: Floats, second: Floats) -> Floats:
    """The row (a, α, d, θ) that leads from one frame to the next."""
    x, z = first[:3, 0], second[:3, 2]
    gap = second[:3, 3] - first[:3, 3]
    alpha = np.arctan2(np.cross(first[:3, 2], z) @ x, first[:3, 2] @ z)
    theta = np.arctan2(np.cross(x, second[:3, 0]) @ z, x @ second[:3, 0])
    return np.array([gap @ x, alpha, gap @ z, theta])


def _screw(axis: int, way: float, angle: float) -> Floats:
    """A turn about a coordinate axis and a way along it (4, 4)."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    found = np.eye(4)
    found[i, i] = found[j, j] = np.cos(angle)
    found[j, i], found[i, j] = np.sin(angle), -np.sin(angle)
    found[axis, 3] = way
    return found


def _checked_rows(rows: Any) -> Floats:
    table = checks.finite(rows, "A Denavit–Hartenberg table")
    if table.ndim != 2 or table.shape[1] != 4 or not len(table):
        raise InputError(
            f"A Denavit–Hartenberg table has shape {table.shape}; it must be a row (a, α, d, θ) for each joint."
        )
    return table


def _kinds(kinds: Any, count: int) -> list[str]:
    found = ["revolute"] * count if kinds is None else [kinds] * count if isinstance(kinds, str) else list(kinds)
    if len(found) != count:
        raise InputError(f"There are {len(found)} kinds of joints for {count} rows; give one for each, or one for all.")
    for kind in found:
        checks.one_of(kind, ("revolute", "prismatic"), "A joint of a Denavit–Hartenberg table")
    return found


def _limits(limits: Any, count: int) -> list[Any]:
    found = [None] * count if limits is None else list(limits)
    if len(found) != count:
        raise InputError(f"There are {len(found)} limits for {count} rows; give a pair, or None, for each.")
    return found
