"""Following a path with a tree: by places, with a method of inverse kinematics, or by rates.

    places    q_k = ik(T(t_k)), started from q_{k−1}
    rates     q̇ = J# (V(t) + g e),   J# = Jᵀ (J Jᵀ + λ² I)⁻¹,   e = T(t) − f(q)

T pose and V velocity of the path, f forward kinematics, J its Jacobian, g gain of the error [1/s], λ damping [m]; λ = 0
is the pseudo-inverse. A radian counts as much as the size of the tree. With singular values σ of J,

    |q̇| ≤ |V + g e| max σ/(σ² + λ²) ≤ |V + g e| / (2 λ)

so that near a singular configuration, where σ → 0 and the pseudo-inverse answers with |V|/σ, damping trades speed of
the joints for error of the tip: of V along a singular direction only the part σ²/(σ² + λ²) is followed.

    rates are integrated by the classic Runge–Kutta method of fourth order; joints stop at their limits

Cost: a solve a sample, or four Jacobians and factorisations 6 × 6.

Reference: Whitney, IEEE Trans. Man–Mach. Syst. 10 (1969), for rates; Wampler, IEEE Trans. Syst. Man Cybern. 16 (1986),
and Nakamura and Hanafusa, J. Dyn. Syst. 108 (1986), for damping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.kinematics.pose import difference

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.kinematics.path import Path
    from rattleback.kinematics.tree import Tree

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

# Singular values below this part of the largest count as zero where there is no damping.
ZERO = 1e-12


class Motion(NamedTuple):
    """A motion of a tree along a path.

    Attributes:
        times: When (n,) [s].
        q: Configurations (n, coordinates) [rad or m].
        rates: How fast they change (n, coordinates) [rad/s or m/s]; of places, the slopes of a cubic spline.
        error: By how much the tip is off (n, 2) [m, rad].
        reached: Whether it is where it should be, within the tolerance of the method (n,).
    """

    times: Floats
    q: Floats
    rates: Floats
    error: Floats
    reached: Flags

    @property
    def peak_rate(self) -> float:
        """Greatest rate of any coordinate [rad/s or m/s]."""
        return float(np.abs(self.rates).max())


def track(
    tree: Tree, path: Path, method: Any = "lm", count: int = 100, start: ArrayLike | None = None, **options: Any
) -> Motion:
    """Follow a path place by place, each solved from the one before, so that the joints move on smoothly.

    Args:
        tree: The tree.
        path: Where its tip, or another tool, shall go.
        method: Name of a method of ``rb.ik``, or an object of one.
        count: Number of places.
        start: Configuration to start from (coordinates,); the middle of the limits if left out.
        **options: ``tool``; ``orientation=False`` where only places count; the rest goes to ``rb.ik.solve``.
    """
    from scipy.interpolate import CubicSpline

    from rattleback.kinematics.ik import Pose, Position, solve

    tool, whole = options.pop("tool", "tip"), checks.flag(options.pop("orientation", True), "The orientation of track")
    times = path.times(checks.count(count, "The number of places", least=4))
    poses, q, found = path(times), start, []
    for pose in poses:
        target = Pose(pose, tool=tool) if whole else Position(pose[:3, 3], tool=tool)
        found.append(solve(tree, target, method, q, **options))
        q = found[-1].q
    values = np.stack([entry.q for entry in found])
    error = _misses(tree.forward(values, tool), poses, whole)
    reached = np.array([bool(entry.reached) for entry in found])
    return Motion(times, values, CubicSpline(times, values).derivative()(times), error, reached)


def track_rates(
    tree: Tree, path: Path, damping: float = 0.0, count: int = 1000, start: ArrayLike | None = None, **options: Any
) -> Motion:
    """Follow a path by rates of the joints, with the pseudo-inverse or with damped least squares.

    Args:
        tree: The tree.
        path: Where its tip, or another tool, shall go.
        damping: λ [m]; zero for the pseudo-inverse.
        count: Number of samples; there is a step between two of them.
        start: Configuration to start from (coordinates,), in which the tip should be at the start of the path; the
            middle of the limits if left out.
        **options: ``tool``; ``orientation=False`` where only places count; ``gain`` of the error [1/s], 10 if left out;
            ``tolerance`` [m, and rad of the size of the tree] within which it counts as reached, 1e-3 if left out.
    """
    checks.options(options, ("tool", "orientation", "gain", "tolerance"), "track_rates")
    damping = checks.not_negative(damping, "The damping of track_rates")
    times = path.times(2 * checks.count(count, "The number of samples", least=2) - 1)
    law = _RateLaw(tree, path(times), path.velocity(times), damping, options)
    rows, _ = tree.configurations(tree.middle if start is None else start, "The start")
    values, rates, step = [rows[0]], [law.rate(0, rows[0])], 2.0 * times[1]
    for now in range(0, len(times) - 2, 2):
        q, first = values[-1], rates[-1]
        second = law.rate(now + 1, q + 0.5 * step * first)
        third = law.rate(now + 1, q + 0.5 * step * second)
        last = law.rate(now + 2, q + step * third)
        way = step / 6.0 * (first + 2.0 * second + 2.0 * third + last)
        values.append(np.clip(q + way, tree.lower, tree.upper))
        rates.append(law.rate(now + 2, values[-1]))
    found = np.stack(values)
    error = _misses(tree.forward(found, law.tool), law.poses[::2], law.whole)
    near = np.asarray((error <= law.tolerance).all(axis=1))
    return Motion(times[::2], found, np.stack(rates), error, near)


class _RateLaw:
    """How fast the joints should turn at one of many times, in a configuration."""

    def __init__(self, tree: Tree, poses: Floats, speeds: Floats, damping: float, options: dict[str, Any]) -> None:
        self.tree, self.poses, self.speeds, self.damping = tree, poses, speeds, damping
        self.tool = options.get("tool", "tip")
        self.whole = checks.flag(options.get("orientation", True), "The orientation of track_rates")
        self.gain = checks.not_negative(options.get("gain", 10.0), "The gain of track_rates")
        self.tolerance = checks.positive(options.get("tolerance", 1e-3), "The tolerance of track_rates")
        # Rows that count: those of the place in metres, those of the turn in radians of this many metres.
        self.weight = np.repeat([1.0, tree.size], 3)[: 6 if self.whole else 3]

    def rate(self, k: int, q: Floats) -> Floats:
        """Rates of the coordinates at time k (coordinates,) [rad/s or m/s]."""
        rows, now = len(self.weight), self.tree.forward(q, self.tool)
        off = difference(self.poses[k], now) if self.whole else self.poses[k, :3, 3] - now[:3, 3]
        wanted = self.weight * (self.speeds[k, :rows] + self.gain * off)
        scaled = self.weight[:, None] * self.tree.jacobian(q, self.tool)[:rows]
        left, values, right = np.linalg.svd(scaled, full_matrices=False)
        seen = values > ZERO * max(float(values[0]), ZERO)
        parts = np.where(seen, values, 0.0) / np.where(seen, values**2 + self.damping**2, 1.0)
        found: Floats = right.T @ (parts * (left.T @ wanted))
        return found


def _misses(found: Floats, wanted: Floats, whole: bool) -> Floats:
    """Distances [m] and angles [rad] between poses (n, 2); angles are zero where only places count."""
    off = difference(wanted, found)
    turn = np.linalg.norm(off[:, 3:], axis=1) if whole else np.zeros(len(off))
    return np.stack([np.linalg.norm(off[:, :3], axis=1), turn], axis=1)
