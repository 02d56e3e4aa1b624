"""A contact problem of one world as arrays: what methods of ``rattleback.lcp`` solve, and what they found put back.

    W = J M⁻¹ Jᵀ,  with joints inside   W − J M⁻¹ Gᵀ (G M⁻¹ Gᵀ)⁺ G M⁻¹ Jᵀ
    q = J v + b − W p

p impulses of the points so far, v velocities with them, b bias; rows n, t, s of every point. Velocities of a solution r
are u = W r + q. Resistance to rolling and spinning has no rows here; a problem with it is refused.

Cost: reads all manifolds to the host; W is dense where joints are inside, else as sparse as bodies are shared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from rattleback.core.errors import InputError
from rattleback.lcp import Problem
from rattleback.solvers.contacts.problem.delassus import active_rows, inverse_mass, jacobian, matrix

if TYPE_CHECKING:
    from rattleback.model.state import Motion
    from rattleback.solvers.contacts.coupling.joint_response import JointResponse
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem

# Points up to which W is dense.
DENSE_POINTS = 300


@dataclass(frozen=True)
class AssembledContacts:
    """The active points of a world.

    Attributes:
        points: Their rows in the problem, shape (points,).
        pairs: Rows of body A and of body B, shape (points, 2).
        W: Delassus matrix [1/kg], shape (3 points, 3 points), rows n, t, s of each point.
        q: Velocities without impulses [m/s], shape (3 points,).
        mu: Friction coefficients, shape (points,).
        impulse: Impulses so far [N s], shape (3 points,).
        response: What a change of the impulses does to the bodies without joints, M⁻¹ Jᵀ, shape (6 bodies, 3 points).
        J: Jacobian of the points, shape (3 points, 6 bodies).
        bias: Bias of the points [m/s], shape (3 points,).
    """

    points: np.ndarray
    pairs: np.ndarray
    W: Any
    q: np.ndarray
    mu: np.ndarray
    impulse: np.ndarray
    response: Any
    J: Any
    bias: np.ndarray

    def velocity(self, motion: Motion) -> np.ndarray:
        """Velocities of the points with their bias [m/s], shape (3 points,)."""
        return np.asarray(self.J @ flat_velocities(motion)) + self.bias

    def problem(self, name: str, remark: str = "") -> Problem:
        """The same as pure mathematics."""
        return Problem(W=self.W, q=self.q, mu=self.mu, dimension=3, name=name, remark=remark)


def flat_velocities(motion: Motion) -> np.ndarray:
    """Velocities and angular velocities of all bodies, shape (6 bodies,)."""
    parts = (np.asarray(part.numpy(), dtype=np.float64) for part in (motion.velocity, motion.angular_velocity))
    return np.concatenate(list(parts), axis=1).ravel()


def put_velocities(motion: Motion, flat: np.ndarray) -> None:
    """Write velocities and angular velocities of all bodies."""
    both = flat.reshape(-1, 6)
    motion.velocity.assign(np.ascontiguousarray(both[:, :3]))
    motion.angular_velocity.assign(np.ascontiguousarray(both[:, 3:]))


def point_bias(problem: ContactProblem, manifold: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Bias of points in the axes of their manifolds [m/s], shape (points, 3)."""
    manifolds = problem.system.manifolds
    bias = np.array(manifolds.bias.numpy()[manifold], dtype=np.float64)
    turn = np.asarray(manifolds.angular_bias.numpy()[manifold], dtype=np.float64)
    place = np.asarray(problem.system.points.place.numpy()[point], dtype=np.float64)
    bias[:, 0] += turn[:, 1] * place[:, 1] - turn[:, 2] * place[:, 0] + place[:, 2]
    bias[:, 1] -= turn[:, 0] * place[:, 1]
    bias[:, 2] += turn[:, 0] * place[:, 0]
    return bias


def assemble(
    problem: ContactProblem, motion: Motion, response: JointResponse | None, world: int
) -> AssembledContacts | None:
    """The active points of a world as arrays; None where it has none.

    Args:
        problem: The contact problem.
        motion: Velocities that include the impulses so far.
        response: What joints answer; None to leave joints out.
        world: Which world.

    Raises:
        InputError: A manifold resists rolling or spinning.
    """
    manifolds = problem.system.manifolds
    manifold, point = active_rows(problem)
    mine = manifolds.world.numpy()[manifold] == world
    if not mine.any():
        return None
    J, inverse = jacobian(problem)[np.repeat(mine, 3)], inverse_mass(problem)
    manifold, point = manifold[mine], point[mine]
    _check_resistance(manifolds.rolling.numpy()[manifold] + manifolds.spinning.numpy()[manifold])
    through = scipy.sparse.csc_matrix(inverse @ J.T)
    W = J @ through
    if response is not None:
        rows = np.flatnonzero(np.repeat(mine, 3))
        W = matrix(problem, response)[np.ix_(rows, rows)]
    elif len(point) <= DENSE_POINTS:
        W = W.toarray()
    p = np.asarray(problem.system.points.impulse.numpy()[point], dtype=np.float64).ravel()
    bias = point_bias(problem, manifold, point).ravel()
    u = J @ flat_velocities(motion) + bias
    pairs = np.stack([getattr(manifolds, f"body_{side}").numpy()[manifold] for side in "ab"], axis=1)
    mu = np.asarray(manifolds.friction.numpy()[manifold], dtype=np.float64)
    return AssembledContacts(point, pairs, W, u - W @ p, mu, p, through, J, bias)


def _check_resistance(arms: np.ndarray) -> None:
    if arms.any():
        raise InputError(
            "Rolling and spinning friction have no rows in an assembled contact problem; choose another solver, such "
            "as 'block_gauss_seidel', 'pgs' or 'apgd', or take them out of the materials."
        )
