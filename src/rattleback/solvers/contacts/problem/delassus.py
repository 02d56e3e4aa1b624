"""The Delassus operator of a contact problem, assembled: for solvers that need a matrix, for files and for tests.

    A = J M⁻¹ Jᵀ,     J of a point:   [ nᵀ  (r_a × n)ᵀ | −nᵀ  −(r_b × n)ᵀ ],  the same for t and s
    with joints       A − J M⁻¹ Gᵀ (G M⁻¹ Gᵀ)⁺ G M⁻¹ Jᵀ,      G rows of the joints

Joints inside are eliminated: the rest is the response of contacts, and of the stops of joints, whose rows follow those
of the points, to each other through the mechanisms. The pseudo-inverse leaves out redundant rows. Where trees hold
joints, M⁻¹ goes through them first.

Cost: O(points · 12) to fill J; A is as dense as bodies are shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from rattleback.problem.through import is_through_trees

if TYPE_CHECKING:
    from rattleback.solvers.contacts.coupling.joint_response import JointResponse
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem


def active_rows(problem: ContactProblem) -> tuple[np.ndarray, np.ndarray]:
    """Manifold and point of every active contact point, in the order of the list."""
    manifolds = problem.system.manifolds
    listed = problem.active.listed.numpy()[: int(problem.active.count.numpy()[0])]
    first, count = manifolds.first.numpy()[listed], manifolds.count.numpy()[listed]
    manifold = np.repeat(listed, count)
    offset = np.arange(len(manifold)) - np.repeat(np.cumsum(count) - count, count)
    return manifold, np.repeat(first, count) + offset


def jacobian(problem: ContactProblem) -> scipy.sparse.csr_matrix:
    """J of the active points, shape (3 points, 6 bodies): rows n, t, s; columns velocity and angular velocity."""
    manifolds, points = problem.system.manifolds, problem.system.points
    manifold, point = active_rows(problem)
    n, t = (np.asarray(axis.numpy()[manifold], dtype=np.float64) for axis in (manifolds.normal, manifolds.tangent))
    axes = np.stack([n, t, np.cross(n, t)], axis=1)
    place = np.asarray(points.place.numpy()[point], dtype=np.float64)
    offset = place[:, :1] * axes[:, 1] + place[:, 1:2] * axes[:, 2]
    rows, columns, values = [], [], []
    for side, sign in (("a", 1.0), ("b", -1.0)):
        arm = getattr(manifolds, f"arm_{side}").numpy()[manifold] + offset
        block = sign * np.concatenate([axes, np.cross(arm[:, None], axes)], axis=2)
        body = getattr(manifolds, f"body_{side}").numpy()[manifold]
        rows.append(np.repeat(np.arange(3 * len(point)), 6))
        columns.append((6 * body[:, None, None] + np.arange(6) + np.zeros((1, 3, 1), dtype=int)).ravel())
        values.append(block.ravel())
    shape = (3 * len(point), 6 * len(problem.bodies.world))
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return scipy.sparse.csr_matrix(entries, shape=shape)


def inverse_mass(problem: ContactProblem) -> scipy.sparse.csr_matrix:
    """M⁻¹ of all bodies, block diagonal, world frame; zero for static ones."""
    mass = np.asarray(problem.bodies.inverse_mass.numpy(), dtype=np.float64)
    inertia = np.asarray(problem.system.inertias.inverse_inertia.numpy(), dtype=np.float64)
    blocks = np.zeros((len(mass), 6, 6))
    blocks[:, range(3), range(3)] = mass[:, None]
    blocks[:, 3:, 3:] = np.where(mass[:, None, None] > 0.0, inertia, 0.0)
    count = np.arange(len(mass) + 1)
    return scipy.sparse.bsr_matrix((blocks, count[:-1], count), shape=(6 * len(mass),) * 2).tocsr()


def through_trees(inverse: scipy.sparse.csr_matrix, response: JointResponse) -> scipy.sparse.csr_matrix:
    """M⁻¹ as bodies answer that trees hold; as it is without trees."""
    solver = response.joints.preview.solver
    if not is_through_trees(solver):
        return inverse
    return scipy.sparse.csr_matrix(solver.through.changed(inverse.toarray()))


def joint_jacobians(
    problem: ContactProblem, response: JointResponse
) -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
    """G of the rows that hold in every step, shape (rows, 6 bodies), and J of the stops, shape (stops, 6 bodies).

    Rows that yield are left out.
    """
    preview = response.joints.preview
    joints, fixed, rows = preview.problem.joints, preview.problem.fixed, preview.problem.rows
    first, held, count = joints.first.numpy(), fixed.count.numpy(), joints.count.numpy()
    found = np.zeros((len(rows.linear), 6 * len(problem.bodies.world)))
    linear = np.asarray(rows.linear.numpy(), dtype=np.float64)
    for side, sign in (("a", -1.0), ("b", 1.0)):
        angular = np.asarray(getattr(rows, f"angular_{side}").numpy(), dtype=np.float64)
        for i, r, n in zip(getattr(joints, f"body_{side}").numpy(), first, count, strict=True):
            if i >= 0:
                found[r : r + n, 6 * i : 6 * i + 3] += sign * linear[r : r + n]
                found[r : r + n, 6 * i + 3 : 6 * i + 6] += angular[r : r + n]
    stops = preview.stops.system.stops.row.numpy()
    fixed_rows = np.concatenate([np.arange(r, r + n) for r, n in zip(first, held, strict=True)])
    return scipy.sparse.csr_matrix(found[fixed_rows]), scipy.sparse.csr_matrix(found[stops])


def matrix(problem: ContactProblem, response: JointResponse | None = None) -> np.ndarray:
    """J M⁻¹ Jᵀ of the active points, and of stops where joints answer, dense; see ``ContactProblem.matrix``."""
    J, inverse = jacobian(problem), inverse_mass(problem)
    if response is None:
        return np.asarray((J @ inverse @ J.T).toarray())
    inverse = through_trees(inverse, response)
    G, stops = joint_jacobians(problem, response)
    J = scipy.sparse.vstack([J, stops]).tocsr()
    both = (G @ inverse @ J.T).toarray()
    joints = np.linalg.pinv((G @ inverse @ G.T).toarray(), rcond=1e-10, hermitian=True)
    return np.asarray((J @ inverse @ J.T).toarray() - both.T @ joints @ both)
