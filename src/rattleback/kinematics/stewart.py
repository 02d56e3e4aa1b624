"""The Stewart platform: six legs of variable length between six pairs of anchors carry a platform.

    l_i = |d_i|,   d_i = p + R b_i − a_i,   n_i = d_i / l_i                    inverse, in closed form
    l̇ = J V,   J_i = (n_i, R b_i × n_i)                                        Jacobian (6, 6)
    J(T_k) δ = l − l(T_k),   T_{k+1} = T_k moved by δ                            forward, by Newton's method

a_i anchors on the base, b_i on the platform in its frame, (p, R) pose T of the platform, V velocity of its origin above
its angular velocity, l lengths of the legs.

    forward from a guess   Newton's method, each step halved until the legs fit better than before
    without a guess        the lengths lead from those at home to those asked for in ten stages, so that the platform
                           stays in the mode it is in at home as long as no singular pose lies between
    all modes              ``assemblies``, by continuation in complex numbers

J is singular where the six legs belong to one linear complex of lines: the platform then gives way though all legs are
held. It is the transpose of the matrix that maps forces of the legs to the force and torque on the platform.

Cost: inverse 6 square roots; Newton some 4 factorisations 6 × 6, side by side for all poses asked for.

Reference: Stewart, Proc. Inst. Mech. Eng. 180 (1965); Merlet, Parallel Robots (2006), chapters 3, 4 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, NotConverged
from rattleback.core.sealed import sealed
from rattleback.kinematics.assembly import Assemblies, assemblies_of
from rattleback.kinematics.continuation import solve_stack
from rattleback.kinematics.grid import Region, region
from rattleback.kinematics.pose import check_poses, make_pose, moved

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

STAGES = 10
MOST_STEPS, MOST_HALVINGS = 50, 12
# A pose is found when no leg is off by more than this part of the size of the machine.
FOUND = 1e-12


class Postures(NamedTuple):
    """What the forward problem found.

    Attributes:
        pose: Poses (..., 4, 4).
        reached: Whether the legs have the lengths asked for there (...).
        residual: Largest error of a leg (...) [m].
        iterations: Newton steps taken for all of them together.
    """

    pose: Floats
    reached: Flags
    residual: Floats
    iterations: int


@sealed
@dataclass(frozen=True, eq=False)
class Stewart:
    """A platform on six legs.

    Args:
        base: Anchors on the base, in the world (6, 3) [m].
        platform: Anchors on the platform, in its frame (6, 3) [m].
        limits: Least and greatest length of a leg [m]; None for none.
        home: Pose in which it is at home (4, 4); if left out, unturned above the middle of the base, as high as the
            farthest anchor is from there.
        name: What it is called.
    """

    base: Any
    platform: Any
    limits: Any = None
    home: Any = None
    name: str = "stewart"

    def __post_init__(self) -> None:
        """Check it and keep arrays."""
        base = checks.array(self.base, (6, 3), "The base of Stewart")
        middle = base.mean(axis=0)
        height = float(np.linalg.norm(base - middle, axis=1).max())
        above = make_pose(middle + np.array([0.0, 0.0, height]))
        keep = {
            "base": base,
            "platform": checks.array(self.platform, (6, 3), "The platform of Stewart"),
            "limits": _limits(self.limits),
            "home": check_poses(above if self.home is None else self.home, "The home of Stewart"),
            "name": checks.text(self.name, "The name of Stewart"),
        }
        for field, value in keep.items():
            object.__setattr__(self, field, value)

    @classmethod
    def symmetric(
        cls,
        base_radius: float = 1.0,
        platform_radius: float = 0.6,
        height: float = 1.0,
        base_gap: float = 0.5,
        platform_gap: float = 0.5,
        limits: Any = None,
    ) -> Stewart:
        """A machine with three pairs of anchors on a circle on either side, as most are built.

        Args:
            base_radius: Radius of the circle of the base [m].
            platform_radius: Radius of the circle of the platform [m].
            height: Height of the platform at home [m].
            base_gap: Angle between the two anchors of a pair on the base [rad]; zero where they share one.
            platform_gap: The same on the platform, whose pairs stand between those of the base [rad].
            limits: Least and greatest length of a leg [m]; None for none.
        """
        low = _circle(checks.positive(base_radius, "The base_radius of Stewart"), base_gap, 0.0)
        high = _circle(checks.positive(platform_radius, "The platform_radius of Stewart"), platform_gap, np.pi / 3.0)
        home = make_pose((0.0, 0.0, checks.positive(height, "The height of Stewart")))
        # Every pair of the base shares its legs between the two pairs of the platform beside it.
        return cls(low, np.roll(high, 1, axis=0), limits, home)

    @property
    def size(self) -> float:
        """Mean distance of the platform's anchors from their middle [m]."""
        return float(np.linalg.norm(self.platform - self.platform.mean(axis=0), axis=1).mean())

    def legs(self, pose: ArrayLike) -> Floats:
        """The legs from base to platform as vectors (..., 6, 3) [m]."""
        found = check_poses(pose, "A pose of Stewart")
        carried = np.einsum("...ij,kj->...ki", found[..., :3, :3], self.platform)
        return found[..., None, :3, 3] + carried - self.base

    def inverse(self, pose: ArrayLike) -> Floats:
        """Lengths of the legs (..., 6) [m] in poses (..., 4, 4)."""
        return np.linalg.norm(self.legs(pose), axis=-1)

    def within_limits(self, pose: ArrayLike) -> Flags:
        """Whether all legs can have the lengths that poses (..., 4, 4) take."""
        return self.allows(self.inverse(pose))

    def allows(self, lengths: ArrayLike) -> Flags:
        """Whether all lengths (..., 6) [m] are within the limits."""
        found = self._lengths(lengths)
        low, high = (0.0, np.inf) if self.limits is None else self.limits
        return np.asarray(((found >= low) & (found <= high)).all(axis=-1))

    def jacobian(self, pose: ArrayLike) -> Floats:
        """How fast the legs grow (..., 6, 6): l̇ = J V, V velocity above angular velocity, in the world frame."""
        legs = self.legs(pose)
        along = legs / np.linalg.norm(legs, axis=-1, keepdims=True)
        lever = np.einsum("...ij,kj->...ki", np.asarray(pose, dtype=np.float64)[..., :3, :3], self.platform)
        return np.concatenate([along, np.cross(lever, along)], axis=-1)

    def determinant(self, pose: ArrayLike) -> Floats:
        """Determinant of the Jacobian (...) with lengths in units of ``size``; zero in a singular pose."""
        return np.linalg.det(self._scaled(pose))

    def condition(self, pose: ArrayLike) -> Floats:
        """Condition of the Jacobian (...) with lengths in units of ``size``; infinite in a singular pose."""
        values = np.linalg.svd(self._scaled(pose), compute_uv=False)
        with np.errstate(divide="ignore"):
            return values[..., 0] / values[..., -1]

    def forward(self, lengths: ArrayLike, guess: ArrayLike | None = None) -> Floats:
        """Poses (..., 4, 4) in which the legs have given lengths.

        Args:
            lengths: Lengths of the legs (..., 6) [m].
            guess: Poses near those looked for (..., 4, 4); left out, the modes that belong to home.

        Raises:
            NotConverged: Where a pose is not found; ``solve`` says which and how far it is off.
        """
        found = self.solve(lengths, guess)
        if not found.reached.all():
            missed = int((~found.reached).sum())
            raise NotConverged(
                f"{missed} of {found.reached.size} poses of {self.name!r} are not found, the legs are off by up to "
                f"{found.residual.max():.2g} m; the lengths may not fit together, or a guess may be too far off."
            )
        return found.pose

    def solve(self, lengths: ArrayLike, guess: ArrayLike | None = None) -> Postures:
        """As ``forward``, with what was found and whether it is what was asked for."""
        wanted = self._lengths(lengths)
        rows = wanted.reshape(-1, 6)
        pose = np.broadcast_to(
            self.home if guess is None else check_poses(guess, "A guess"), (*wanted.shape[:-1], 4, 4)
        )
        pose, steps = pose.reshape(-1, 4, 4).copy(), 0
        first = self.inverse(pose)
        for stage in range(1, STAGES + 1) if guess is None else (STAGES,):
            pose, taken = self._newton(pose, first + stage / STAGES * (rows - first))
            steps += taken
        residual = np.abs(self.inverse(pose) - rows).max(axis=-1, initial=0.0)
        reached = residual <= FOUND * self._extent()
        shape = wanted.shape[:-1]
        return Postures(pose.reshape(*shape, 4, 4), reached.reshape(shape), residual.reshape(shape), steps)

    def assemblies(self, lengths: ArrayLike) -> Assemblies:
        """Every pose in which the legs have given lengths (6,) [m], however it may be reached."""
        wanted = checks.array(lengths, (6,), "The lengths of Stewart")
        found = assemblies_of(self.base, self.platform, wanted)
        polished, _ = self._newton(found.pose, np.broadcast_to(wanted, (len(found.pose), 6)))
        return found._replace(pose=polished)

    def workspace(self, turn: ArrayLike | None = None, cells: int = 60, above: float = 0.0) -> Region:
        """Where the origin of the platform can be while it is turned in one way, within the limits of the legs.

        It is what six spherical shells about a_i − R b_i have in common, as thick as the stroke of a leg.

        Args:
            turn: Rotation matrix of the platform (3, 3); unturned if left out.
            cells: Number of cells along the longest side of the box it lies in.
            above: Least height [m]; the mirror image below the base is left out.
        """
        if self.limits is None:
            raise InputError(f"{self.name!r} has no limits of its legs, so that it can be anywhere; give limits=.")
        matrix = np.eye(3) if turn is None else checks.array(turn, (3, 3), "The turn of the platform")
        centres = self.base - self.platform @ matrix.T
        reach = self.limits[1]
        low, high = (centres - reach).max(axis=0), (centres + reach).min(axis=0)
        low[2] = max(low[2], above)
        return region(lambda points: self.within_limits(make_pose(points, matrix)), low, high, cells)

    def _scaled(self, pose: ArrayLike) -> Floats:
        return self.jacobian(pose) / np.repeat([1.0, self.size], 3)

    def _extent(self) -> float:
        return float(np.abs(self.base).max() + np.abs(self.platform).max() + np.abs(self.home[:3, 3]).max())

    def _lengths(self, lengths: ArrayLike) -> Floats:
        found = checks.finite(lengths, "The lengths of Stewart")
        if found.shape[-1:] != (6,) or (found <= 0.0).any():
            raise InputError(
                f"The lengths of Stewart have shape {found.shape}; the last axis must be 6, and all above zero."
            )
        return found

    def _newton(self, pose: Floats, wanted: Floats) -> tuple[Floats, int]:
        """Poses (n, 4, 4) whose legs fit the lengths (n, 6) as well as can be had, and the steps taken."""
        error = self.inverse(pose) - wanted
        for count in range(MOST_STEPS):
            step = solve_stack(self.jacobian(pose), -error)
            after, left = self._shortened(pose, step, wanted, np.abs(error).max(axis=-1, initial=0.0))
            better = np.abs(left).max(axis=-1, initial=0.0) < np.abs(error).max(axis=-1, initial=0.0)
            if not better.any():
                return pose, count
            pose, error = np.where(better[:, None, None], after, pose), np.where(better[:, None], left, error)
        return pose, MOST_STEPS

    def _shortened(self, pose: Floats, step: Floats, wanted: Floats, before: Floats) -> tuple[Floats, Floats]:
        """Poses after steps, each halved until the legs fit better than before."""
        # A turn by more than a radian says that the linear model has nothing more to say.
        step = step / np.maximum(1.0, np.linalg.norm(step[:, 3:], axis=1, keepdims=True))
        part = np.ones((len(pose), 1))
        for _ in range(MOST_HALVINGS):
            after = moved(pose, part * step)
            left = self.inverse(after) - wanted
            worse = np.abs(left).max(axis=-1, initial=0.0) > before
            if not worse.any():
                break
            part[worse] *= 0.5
        return after, left


def _circle(radius: float, gap: float, turn: float) -> Floats:
    angle = np.add.outer(np.arange(3) * 2.0 * np.pi / 3.0, (-0.5 * gap, 0.5 * gap)).ravel() + turn
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(6)], axis=1)


def _limits(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    low, high = checks.array(value, (2,), "The limits of Stewart").tolist()
    if not 0.0 <= low < high:
        raise InputError(
            f"The limits of Stewart are {low:g} and {high:g}; they must be from zero up, each above the last."
        )
    return low, high
