"""A contact problem under a convex law as a conic program: min ½ xᵀW x + qᵀx with G x + g in cones.

Rows whose impulse is fixed (tangents without friction, equal bounds) are left out. A row with a bound gives a half line
for each, a contact with friction one second-order cone with the slack (μ x_n, x_t). Impulses are scaled by contact as
in ``lcp.forms.scaled``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.lcp.forms.scaled import Scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem


@dataclass(frozen=True)
class Group:
    """Cones of one dimension d: the slack of cone k is factor × x[rows] + offset.

    Attributes:
        rows: Variables of every cone, shape (cones, d).
        factor: Shape (cones, d).
        offset: Shape (cones, d).
        size: Number of variables.
    """

    rows: NDArray[np.int64]
    factor: NDArray[np.float64]
    offset: NDArray[np.float64]
    size: int

    def forth(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """G x, shape (cones, d)."""
        return self.factor * x[self.rows]

    def slack(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """G x + g, shape (cones, d)."""
        return self.forth(x) + self.offset

    def back(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gᵀ z, shape (variables,)."""
        whole = np.zeros(self.size)
        np.add.at(whole, self.rows, self.factor * z)
        return whole

    def add_to(self, matrix: NDArray[np.float64], blocks: NDArray[np.float64]) -> None:
        """Add Gᵀ blocks G."""
        whole = self.factor[:, :, None] * blocks * self.factor[:, None, :]
        i = np.broadcast_to(self.rows[:, :, None], whole.shape)
        j = np.broadcast_to(self.rows[:, None, :], whole.shape)
        np.add.at(matrix, (i, j), whole)


class ConicProgram:
    """The conic program of a problem under a convex law.

    Args:
        problem: The problem.
        law: ``frictionless`` or ``cone``.
    """

    def __init__(self, problem: Problem, law: Law) -> None:
        self.problem, self.law = problem, law
        self.scaled = scaled = Scaled(problem, law)
        m, d = problem.plain_rows, problem.dimension
        fixed = np.concatenate([scaled.lower == scaled.upper, np.zeros(problem.size - m, dtype=bool)])
        self.constant = np.concatenate([np.where(fixed[:m], scaled.lower, 0.0), np.zeros(problem.size - m)])
        slides = (problem.mu > 0.0) & (law.name == "cone")
        tangents = m + (np.arange(problem.size - m).reshape(-1, d)[~slides][:, 1:]).ravel()
        fixed[tangents] = True
        self.kept = np.flatnonzero(~fixed)
        place = np.cumsum(~fixed) - 1
        W = scaled.dense()
        self.W = W[np.ix_(self.kept, self.kept)]
        self.q = (W @ self.constant + scaled.q)[self.kept]
        first = m + d * np.arange(problem.contacts)
        self.groups = [*self._lines(place, fixed, first[~slides]), *self._cones(place, first[slides], slides)]

    def _lines(self, place: NDArray[np.int64], fixed: NDArray[np.bool_], normals: NDArray[np.int64]) -> list[Group]:
        """Half lines: bounds of plain rows, normals without friction."""
        scaled, m = self.scaled, self.problem.plain_rows
        below = np.flatnonzero(np.isfinite(scaled.lower) & ~fixed[:m])
        above = np.flatnonzero(np.isfinite(scaled.upper) & ~fixed[:m])
        rows = place[np.concatenate([below, normals, above])]
        factor = np.concatenate([np.ones(len(below) + len(normals)), -np.ones(len(above))])
        offset = np.concatenate([-scaled.lower[below], np.zeros(len(normals)), scaled.upper[above]])
        return [Group(rows[:, None], factor[:, None], offset[:, None], len(self.kept))] if len(rows) else []

    def _cones(self, place: NDArray[np.int64], first: NDArray[np.int64], slides: NDArray[np.bool_]) -> list[Group]:
        """Second-order cones of contacts with friction."""
        if not len(first):
            return []
        d = self.problem.dimension
        factor = np.ones((len(first), d))
        factor[:, 0] = self.problem.mu[slides]
        rows = place[first[:, None] + np.arange(d)]
        return [Group(rows, factor, np.zeros((len(first), d)), len(self.kept))]

    def inside(self) -> NDArray[np.float64]:
        """A point strictly inside all cones, of the size of the free velocities."""
        size = max(float(np.abs(self.q).max(initial=0.0)), 1e-12)
        x = np.zeros(len(self.kept))
        for group in self.groups:
            head = group.rows[:, 0]
            x[head] = np.where(group.factor[:, 0] > 0.0, size - group.offset[:, 0], x[head]) / np.abs(
                group.factor[:, 0]
            )
        m = self.problem.plain_rows
        lower, upper = self.scaled.lower, self.scaled.upper
        middle = np.where(np.isinf(lower), upper - size, np.minimum(lower + size, 0.5 * (lower + upper)))
        plain = self.kept[self.kept < m]
        x[: len(plain)] = np.where(np.isfinite(middle[plain]), middle[plain], 0.0)
        return x

    def impulse(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Admissible impulses of the variables [N s], shape (rows,)."""
        whole = self.constant.copy()
        whole[self.kept] = x
        return self.law.project(self.problem, self.scaled.leave(whole))
