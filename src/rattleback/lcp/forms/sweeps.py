"""Gauss–Seidel sweeps over the rows of a sparse W, as one Warp kernel on one thread of the CPU.

    u_i = q_i + Σ_j W_ij r_j with the newest r,   r_i ← r_i + ω (local(r_i, u_i, W_ii) − r_i), projected

Three local rules: ``ROWS`` takes each row by itself (bounds of a tangent are ±μ times the newest normal impulse),
``BLOCKS`` projects a whole contact onto its set, with the step 1 / ‖W_ii‖, ``EXACT`` solves the contact
(``lcp.forms.local_contact``). W comes in compressed rows, whatever its blocks are.

Cost: 1.0 to 1.5 ns an entry of W and sweep on one thread, and 10 µs a call.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core import device
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, real, vec3
from rattleback.lcp.forms.local_contact import onto_cone, solve_contact
from rattleback.lcp.laws import Law
from rattleback.lcp.problem import Problem

ROWS, BLOCKS, EXACT = 0, 1, 2
# How the laws are numbered in the kernel.
FRICTIONLESS, PYRAMID, CONE, COULOMB = 0, 1, 2, 3
NUMBERS = {"frictionless": FRICTIONLESS, "pyramid": PYRAMID, "cone": CONE, "coulomb": COULOMB}


@wp.struct
class SweepProblem:
    """A contact problem in compressed rows."""

    starts: wp.array[int]  # first entry of every row, shape (rows + 1,)
    columns: wp.array[int]  # column of every entry
    entries: wp.array[real]  # W_ij [1/kg]
    diagonal: wp.array[real]  # W_ii of every row [1/kg]
    q: wp.array[real]  # [m/s]
    lower: wp.array[real]  # bounds of the plain rows [N s]
    upper: wp.array[real]
    mu: wp.array[real]  # shape (contacts,)
    step: wp.array[real]  # of every row [kg]
    plain: int  # plain rows before the contacts
    contacts: int
    dimension: int  # rows of a contact


@wp.func
def row_velocity(p: SweepProblem, r: wp.array[real], i: int) -> real:
    """Velocity of a row with the newest impulses."""
    u = p.q[i]
    for k in range(p.starts[i], p.starts[i + 1]):
        u += p.entries[k] * r[p.columns[k]]
    return u


@wp.func
def block_entry(p: SweepProblem, i: int, j: int) -> real:
    """An entry of W; zero where none is stored."""
    value = real(0.0)
    for k in range(p.starts[i], p.starts[i + 1]):
        if p.columns[k] == j:
            value = p.entries[k]
    return value


@wp.func
def relax_row(p: SweepProblem, r: wp.array[real], i: int, low: real, high: real, omega: real) -> None:
    """One row by itself, within bounds."""
    step = p.step[i]
    if p.diagonal[i] > real(0.0):
        step = real(1.0) / p.diagonal[i]
    r[i] = wp.clamp(r[i] - omega * step * row_velocity(p, r, i), low, high)


@wp.func
def relax_rows(p: SweepProblem, r: wp.array[real], c: int, law: int, omega: real) -> None:
    """A contact row by row: the normal, then the tangents within ± μ times it."""
    i = p.plain + p.dimension * c
    relax_row(p, r, i, real(0.0), real(wp.inf), omega)
    bound = real(0.0)
    if law == PYRAMID:
        bound = p.mu[c] * r[i]
    for k in range(1, p.dimension):
        relax_row(p, r, i + k, -bound, bound, omega)


@wp.func
def read_contact(p: SweepProblem, values: wp.array[real], i: int) -> vec3:
    """The rows of a contact; the third is zero in the plane."""
    third = real(0.0)
    if p.dimension == 3:
        third = values[i + 2]
    return vec3(values[i], values[i + 1], third)


@wp.func
def write_contact(p: SweepProblem, r: wp.array[real], i: int, value: vec3) -> None:
    """Set the rows of a contact."""
    r[i] = value[0]
    r[i + 1] = value[1]
    if p.dimension == 3:
        r[i + 2] = value[2]


@wp.func
def contact_velocity(p: SweepProblem, r: wp.array[real], i: int) -> vec3:
    """Velocity of a contact with the newest impulses."""
    third = real(0.0)
    if p.dimension == 3:
        third = row_velocity(p, r, i + 2)
    return vec3(row_velocity(p, r, i), row_velocity(p, r, i + 1), third)


@wp.func
def relax_block(p: SweepProblem, r: wp.array[real], c: int, law: int, omega: real) -> None:
    """A contact as a whole: one projected step."""
    i = p.plain + p.dimension * c
    u = contact_velocity(p, r, i)
    if law == COULOMB:
        u[0] = u[0] + p.mu[c] * wp.sqrt(u[1] * u[1] + u[2] * u[2])
    z = read_contact(p, r, i) - omega * p.step[i] * u
    write_contact(p, r, i, onto_cone(z, p.mu[c]))


@wp.func
def solve_block(p: SweepProblem, r: wp.array[real], c: int, law: int) -> None:
    """A contact exactly, all others held."""
    i = p.plain + p.dimension * c
    W = wp.identity(n=3, dtype=real)
    for a in range(p.dimension):
        for b in range(p.dimension):
            W[a, b] = block_entry(p, i + a, i + b)
    old = read_contact(p, r, i)
    free = contact_velocity(p, r, i) - W * old
    if p.dimension == 2:
        W[2, 2] = W[1, 1]
        free[2] = real(0.0)
    write_contact(p, r, i, solve_contact(W, free, p.mu[c], old, law == CONE))


@kernel
def sweep(p: SweepProblem, r: wp.array[real], sweeps: int, law: int, rule: int, omega: real) -> None:
    """Sweeps over all rows and contacts in order."""
    for _ in range(sweeps):
        for i in range(p.plain):
            relax_row(p, r, i, p.lower[i], p.upper[i], omega)
        for c in range(p.contacts):
            if rule == EXACT and law != FRICTIONLESS:
                solve_block(p, r, c, law)
            elif rule == BLOCKS and law >= CONE:
                relax_block(p, r, c, law, omega)
            else:
                relax_rows(p, r, c, law, omega)


class Sweeps:
    """Sweeps over one problem: its rows in Warp arrays, the impulses in place.

    Args:
        problem: The problem, dense or sparse.
        law: The law.
        rule: ``ROWS``, ``BLOCKS`` or ``EXACT``.
        omega: Over-relaxation factor.
        start: Impulses to start from [N s].
    """

    def __init__(self, problem: Problem, law: Law, rule: int, omega: float, start: Any) -> None:
        device.start()
        W = problem.sparse
        self.bag = SweepProblem()
        self.bag.starts = wp.array(W.indptr.astype(np.int32), dtype=int, device="cpu")
        self.bag.columns = wp.array(W.indices.astype(np.int32), dtype=int, device="cpu")
        for name, values in (("entries", W.data), ("diagonal", W.diagonal()), ("step", block_steps(problem))):
            setattr(self.bag, name, _numbers(values))
        for name in ("q", "lower", "upper", "mu"):
            setattr(self.bag, name, _numbers(getattr(problem, name)))
        self.bag.plain, self.bag.contacts, self.bag.dimension = problem.plain_rows, problem.contacts, problem.dimension
        self.impulse = _numbers(start)
        self.inputs = (NUMBERS[law.name], rule, real(omega))

    def run(self, count: int) -> Any:
        """Impulses [N s] after some more sweeps."""
        number, rule, omega = self.inputs
        wp.launch(sweep, dim=1, inputs=[self.bag, self.impulse, count, number, rule, omega], device="cpu")
        return self.impulse.numpy().astype(np.float64)


def block_steps(problem: Problem) -> Any:
    """Steps of rows [kg], shape (rows,): one over the largest eigenvalue of the symmetric part of their block."""
    steps = problem.rho.copy()
    blocks = problem.diagonal[1]
    if len(blocks):
        largest = np.linalg.eigvalsh(0.5 * (blocks + np.swapaxes(blocks, 1, 2)))[:, -1]
        of_rows = np.repeat(largest, problem.dimension)
        steps[problem.plain_rows :] = np.where(of_rows > 0.0, 1.0 / of_rows, steps[problem.plain_rows :])
    return steps


def _numbers(values: Any) -> Any:
    return wp.array(np.asarray(values, dtype=numpy_real), dtype=real, device="cpu")
