"""A problem as methods see it: a tree, what is asked of it, where to start, and when it is solved.

Methods that take steps ask it for e and J of configurations, many at a time; see ``tasks`` for what they are.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.precision import quat, real, vec3
from rattleback.kinematics.forward import as_pose, lanes_on, on_device
from rattleback.kinematics.ik.tasks import ROWS, Bench, Goals, Tasks, linearise_all, measure_all
from rattleback.maths import rotation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rattleback.kinematics.ik.target import Target
    from rattleback.kinematics.tree import Tree

    Floats = NDArray[np.float64]


# More threads than this take turns on a GPU: enough to fill any, and scratch for each still fits its memory.
MOST_LANES = 131072
# A tree forgets what it kept for kernels when it has been asked this many kinds of questions.
MOST_KEPT = 100


class View(NamedTuple):
    """Configurations seen from their targets.

    Attributes:
        error: Weighted rows e (n, rows) [m].
        jacobian: Weighted rows J (n, rows, coordinates).
        square: E = |e|² (n,) [m²].
        miss: Largest length [m] and largest angle [rad] a target is missed by (n, 2).
    """

    error: Floats
    jacobian: Floats
    square: Floats
    miss: Floats


@dataclass(frozen=True)
class Problem:
    """Inverse kinematics, as many problems at once as there are starts.

    Args:
        tree: The tree.
        targets: What is asked of it.
        start: Configurations to start from (n, coordinates).
        tolerance: What counts as reached: a length [m] and an angle [rad].
        lower: Least value of each coordinate (coordinates,).
        upper: Greatest value of each coordinate.
        radian: What a radian counts against lengths [m].
    """

    tree: Tree
    targets: tuple[Target, ...]
    start: Floats
    tolerance: tuple[float, float]
    lower: Floats
    upper: Floats
    radian: float

    @property
    def count(self) -> int:
        """How many problems."""
        return len(self.start)

    @cached_property
    def rows(self) -> list[slice]:
        """The rows of each target."""
        ends = np.cumsum([0, *(ROWS[target.kind] for target in self.targets)]).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]

    @cached_property
    def tasks(self) -> Tasks:
        """The targets for kernels."""
        key = ("tasks", self.radian, *(_signature(target) for target in self.targets))
        if key not in self.tree.kept:
            if len(self.tree.kept) > MOST_KEPT:
                self.tree.kept.clear()
            columns = [self._column(target, rows.start) for target, rows in zip(self.targets, self.rows, strict=True)]
            filled = {name: [entry[name] for entry in columns] for name in columns[0]}
            self.tree.kept[key] = _filled(Tasks, filled, self.tree)
        found: Tasks = self.tree.kept[key]
        return found

    @cached_property
    def goals(self) -> Goals:
        """The goals for kernels, target by target of one problem after the other."""
        shape = (self.count, len(self.targets))
        columns = {"point": np.zeros((*shape, 3)), "turn": np.zeros((*shape, 4)), "value": np.zeros(shape)}
        columns["turn"][..., 3] = 1.0
        for i, target in enumerate(self.targets):
            for name, goal in target.goals().items():
                columns[name][:, i] = goal
        flat = {name: column.reshape(-1, *column.shape[2:]) for name, column in columns.items()}
        return _filled(Goals, flat, self.tree)

    def part(self, rows: Any) -> Problem:
        """Some of the problems."""
        picked = tuple(_picked(target, rows, self.count) for target in self.targets)
        return replace(self, targets=picked, start=self.start[rows])

    def bench(self, lanes: int) -> Bench:
        """Room to look at configurations, one in each lane."""
        links, size = len(self.tree.links), len(self.tree.coordinates)
        bench, device = Bench(), self.tree.device
        bench.q, bench.position = scratch((lanes, size), real, device), scratch((lanes, links), vec3, device)
        bench.turn = scratch((lanes, links), quat, device)
        bench.error = scratch((lanes, self.rows[-1].stop), real, device)
        bench.jacobian = scratch((lanes, self.rows[-1].stop, size), real, device)
        return bench

    def look(self, q: Floats) -> View:
        """Errors and Jacobians of one configuration a problem (n, coordinates)."""
        bench, device = self.bench(len(q)), self.tree.device
        bench.q = on_device(self.tree, q)
        found, lanes = wp.empty((len(q), 3), dtype=real, device=device), lanes_on(device, len(q))
        inputs = [self.tree.arrays, as_pose(self.tree.base), self.tasks, self.goals, bench, found, lanes]
        wp.launch(linearise_all, lanes, inputs, device=device)
        error, jacobian, misses = (
            np.array(array.numpy(), dtype=np.float64) for array in (bench.error, bench.jacobian, found)
        )
        return View(error, jacobian, misses[:, 0], misses[:, 1:])

    def miss(self, q: Floats) -> Floats:
        """Largest length [m] and largest angle [rad] a target is missed by (n, 2); one configuration a problem."""
        device, count = self.tree.device, len(q)
        lanes = min(lanes_on(device, count), MOST_LANES)
        found = wp.empty((count, 2), dtype=real, device=device)
        before = [self.tree.arrays, as_pose(self.tree.base), self.tasks, self.goals]
        with borrowed(self.tree, ("bench", lanes, self.rows[-1].stop), lambda: self.bench(lanes)) as bench:
            inputs = [*before, bench, on_device(self.tree, q), found, lanes]
            wp.launch(measure_all, lanes, inputs, device=device)
        return np.array(found.numpy(), dtype=np.float64)

    def is_reached(self, miss: Floats) -> NDArray[np.bool_]:
        """Whether misses (n, 2) are within the tolerance."""
        return np.asarray((miss <= self.tolerance).all(axis=-1))

    def _column(self, target: Target, first: int) -> dict[str, Any]:
        link, frame = self.tree.tool(target.tool)
        turn = np.array(frame.orientation)
        return {
            "kind": target.kind,
            "link": link,
            "point": np.array(frame.position) + rotation.rotate(turn, np.array(target.point)),
            "turn": turn,
            "axis": rotation.rotate(turn, np.array(getattr(target, "axis", (0.0, 0.0, 1.0)))),
            "first": first,
            "weight": target.weight,
            "radian": self.radian,
        }


def batch_of(targets: tuple[Target, ...]) -> int | None:
    """How many problems the goals are for; None where none of them has a leading axis."""
    found = {len(goal) for target in targets for goal in _leading(target)}
    if len(found) > 1:
        raise InputError(
            f"The targets have goals for {' and '.join(map(str, sorted(found)))} problems; give each as many, or one."
        )
    return found.pop() if found else None


@contextmanager
def borrowed(tree: Tree, key: tuple[Any, ...], make: Callable[[], Any]) -> Iterator[Any]:
    """Scratch of a single lane is kept with the tree and lent to one caller at a time; the rest is made anew."""
    pool = tree.kept.setdefault(key, []) if key[1] == 1 else []
    try:
        thing = pool.pop()
    except IndexError:
        thing = make()
    try:
        yield thing
    finally:
        pool.append(thing)


def scratch(shape: tuple[int, ...], kind: Any, device: Any) -> Any:
    """An array with one row a lane; on CUDA neighbouring lanes are neighbours in memory."""
    if not device.is_cuda:
        return wp.empty(shape, dtype=kind, device=device)
    turned = wp.empty((*shape[1:], shape[0]), dtype=kind, device=device)
    return turned.transpose((len(shape) - 1, *range(len(shape) - 1)))


def _signature(target: Target) -> tuple[Any, ...]:
    return target.kind, target.tool, target.point, target.weight, getattr(target, "axis", None)


def _leading(target: Target) -> list[Floats]:
    own = {"point": 1, "turn": 1, "value": 0}
    return [goal for name, goal in target.goals().items() if np.ndim(goal) > own[name]]


def _picked(target: Target, rows: Any, count: int) -> Target:
    changed = {}
    for name in ("place", "turn", "matrix", "at", "along", "centre", "distance"):
        value = getattr(target, name, None)
        least = {"matrix": 2, "distance": 0}.get(name, 1)
        if isinstance(value, np.ndarray) and value.ndim > least and len(value) == count:
            changed[name] = value[rows]
    return replace(target, **changed)


def _filled(kind: Any, columns: dict[str, Any], tree: Tree) -> Any:
    result = kind()
    for name, declared in arrays.fields(kind).items():
        setattr(result, name, on_device(tree, columns[name], declared.dtype))
    return result
