"""The elastic energy of soft rows and of springs inside the constraint solve, and their force Jacobian, on the host.

    E = ½ Σ k (e − q)²,    Kᵢⱼ = ∂Fᵢ/∂(x, θ)ⱼ,    Dᵢⱼ = ∂Fᵢ/∂(v, ω)ⱼ

e error of a row, k its stiffness, q what it aims at; F = (force, torque) on body i. The formulas are in ``forces``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.constraints.row import row_of
from rattleback.core import arrays
from rattleback.core.errors import UnknownName, did_you_mean, listing
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.sealed import sealed
from rattleback.model.joint_memory import JointState
from rattleback.model.state import Motion
from rattleback.problem.joint_rows import JointRows, Joints, RowDefinitions, Rows, counted_frames_of, definition_of
from rattleback.problem.soft.forces import MOTIONS, THREADS, SoftForces, find_forces
from rattleback.problem.yielding import is_yielding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model.model import Model
    from rattleback.model.state import State


@kernel
def find_energy(
    joints: Joints,
    definitions: RowDefinitions,
    motion: Motion,
    remembered: JointState,
    rows: Rows,
    energy: wp.array[wp.float64],
) -> None:
    """Elastic energy of the rows of a joint."""
    j = wp.tid()
    total = wp.float64(0.0)
    frames = counted_frames_of(joints, motion, remembered, j)
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        if joints.broken[j] == 0 and is_yielding(definitions, r):
            off = wp.float64(row_of(definition_of(definitions, r), frames).error - rows.aim[r])
            total += wp.float64(0.5) * wp.float64(definitions.stiffness[r]) * off * off
    energy[j] = total


@sealed
@dataclass(frozen=True)
class ForceJacobian:
    """The derivatives of forces and torques of soft joints, in blocks of 6 × 6 for each pair of bodies.

    Rows of a block are force and torque on the first body, columns a displacement and a turn, or a velocity and an
    angular velocity, of the second, all about its centre of mass and in the axes of the world.

    Attributes:
        names: Names of the bodies.
        by_pose: ∂F/∂(x, θ), shape (..., bodies, bodies, 6, 6) [N/m, N/rad, N, N m/rad].
        by_velocity: ∂F/∂(v, ω), of the same shape [N s/m, N s/rad, N s, N m s/rad].
    """

    names: tuple[str, ...]
    by_pose: NDArray[np.float64]
    by_velocity: NDArray[np.float64]

    def __getitem__(self, pair: tuple[str, str]) -> NDArray[np.float64]:
        """The block ∂F/∂(x, θ) of the force on one body by the pose of another, by their names, shape (..., 6, 6)."""
        first, second = (self._place(name) for name in pair)
        block: NDArray[np.float64] = self.by_pose[..., first, second, :, :]
        return block

    def dense(self) -> NDArray[np.float64]:
        """∂F/∂(x, θ) of all bodies as one matrix, shape (..., 6 bodies, 6 bodies)."""
        size = 6 * len(self.names)
        return np.swapaxes(self.by_pose, -3, -2).reshape(*self.by_pose.shape[:-4], size, size)

    def _place(self, name: str) -> int:
        label = getattr(name, "name", name)
        if label not in self.names:
            raise UnknownName(
                f"There is no body {label!r}.{did_you_mean(label, self.names)} There are {listing(self.names)}."
            )
        return self.names.index(label)


class Elastic:
    """Energy and Jacobian of the soft rows of a simulation.

    Args:
        problem: Its joints as rows, with what they aim at; None without joints.
        state: Its state.
        model: Its model.
    """

    def __init__(self, problem: JointRows | None, state: State, model: Model) -> None:
        self._problem, self.state, self.model = problem, state, model
        definitions: Any = None if problem is None else problem.definitions
        names = ("stiffness", "damping") if problem is not None else ()
        self.some = any(getattr(definitions, name).numpy().any() for name in names)

    @property
    def problem(self) -> JointRows:
        """The joints as rows."""
        assert self._problem is not None
        return self._problem

    def energy(self) -> NDArray[np.float64]:
        """Elastic energy of each world [J], shape (worlds,)."""
        worlds = self.model.worlds
        if not self.some:
            return np.zeros(worlds)
        self.state.send()
        found = wp.zeros(self.problem.joint_count, dtype=wp.float64, device=self.problem.model.device)
        self._launch(find_energy, self.problem.joint_count, found)
        total: NDArray[np.float64] = found.numpy().reshape(worlds, -1).sum(axis=1)
        return total

    def jacobian(self, exact: bool) -> ForceJacobian:
        """The force Jacobian of all soft rows.

        Args:
            exact: Whether second derivatives of the rows are in it; without them it is the Gauss–Newton matrix.
        """
        model, n = self.model, len(self.model.names)
        blocks = np.zeros((2, model.worlds, n, n, 6, 6))
        if self.some:
            self._add_blocks(blocks, exact)
        shown = blocks if model.batched else blocks[:, 0]
        return ForceJacobian(tuple(model.names), *shown)

    def _add_blocks(self, blocks: NDArray[np.float64], exact: bool) -> None:
        problem, model, n = self.problem, self.model, len(self.model.names)
        self.state.send()
        count = problem.joint_count
        forces: Any = arrays.allocate(SoftForces, {"joints": count, "slopes": 2 * MOTIONS * count}, model.device)
        held = wp.zeros(max(problem.row_count, 1), dtype=real, device=model.device)
        self._launch(find_forces, THREADS * count, forces, held, int(exact))
        ends = np.stack([problem.joints.body_a.numpy(), problem.joints.body_b.numpy()], axis=1)
        for which, slopes in enumerate((forces.by_pose, forces.by_rate)):
            # Columns are stored one after the other: joint, side pushed, side moved, motion, part of the force.
            found = slopes.numpy().astype(np.float64).reshape(count, 2, 2, 6, 6).swapaxes(-1, -2)
            for s, t in np.ndindex(2, 2):
                both = (ends[:, s] >= 0) & (ends[:, t] >= 0)
                first, second = ends[both, s], ends[both, t]
                np.add.at(blocks[which], (first // n, first % n, second % n), found[both, s, t])

    def _launch(self, kernel_: Any, dim: int, *rest: Any) -> None:
        problem, state = self.problem, self.state
        given = (problem.fixed, problem.definitions, state.motion, state.joints, problem.rows, *rest)
        wp.launch(kernel_, dim, inputs=list(given), device=problem.model.device)


def force_jacobian(simulation: Any, exact: bool = True) -> ForceJacobian:
    """The derivatives of the forces of soft joints and of springs inside by poses and velocities, at this moment.

    Args:
        simulation: The simulation.
        exact: Whether second derivatives of the rows are in them; without, they are the Gauss–Newton matrix −k JᵀJ.

    Returns:
        A :class:`ForceJacobian` with a block of 6 × 6 for every pair of bodies, their own and the cross ones.
    """
    found: ForceJacobian = simulation._views.elastic().jacobian(exact)
    return found
