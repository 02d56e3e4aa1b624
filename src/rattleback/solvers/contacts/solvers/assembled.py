"""Any method of ``rattleback.lcp`` in the run: W is assembled with the joints inside, the method solves it.

    u = W r + q,   r ∈ K,   u complementary to r by the law           see ``lcp.problem``

    while the residual is above the tolerance, at most ``sweeps`` times, for every active world:
        W and q of the active points;   r of the method, from the impulses so far;   v ← v + M⁻¹ Jᵀ (r − p)
        joints answer, and the residual is measured at the velocities that this leaves

One solution is enough unless joints yield or the method ends before its tolerance. The step is interrupted for the
method, as for a force in Python; the rest of it stays captured. Gauss–Seidel sweeps correct positions, and solve worlds
in which joints with limits hold what touches: a stop that acts has no row in W, and solutions without it diverge.

Cost: that of the method, beside some milliseconds to assemble; dense matrices, so up to ``MOST_POINTS`` points. Use it
to see what an exact method does with a small scene, as a reference, and for a method of your own.

Reference: see the methods, ``lcp.methods``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback import lcp
from rattleback.core import checks
from rattleback.core.choice import choose
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.lcp.laws import law_of
from rattleback.solvers.contacts.kernels.by_law import block_correction
from rattleback.solvers.contacts.problem.assembled import (
    AssembledContacts,
    assemble,
    flat_velocities,
    put_velocities,
)
from rattleback.solvers.contacts.problem.status import begin_sweep, check_convergence
from rattleback.solvers.contacts.solvers.gauss_seidel import Sweeps, drivers
from rattleback.solvers.contacts.solvers.iteration import begin, iterate

if TYPE_CHECKING:
    from rattleback.model.state import Motion
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
    from rattleback.solvers.contacts.problem.goal import Goal

MOST_POINTS = 600
# Part of the tolerance to which the method solves.
PRECISION = 0.01
# Sweeps where there are to be sweeps, which cost less than solutions.
LEAST_SWEEPS = 50


@sealed
@dataclass(frozen=True)
class Assembled:
    """A method of ``rattleback.lcp`` in the run, for small scenes.

    Attributes:
        method: Its name on the menu ``rb.lcp.MENU``, or a method object.
        sweeps: Most solutions of one problem, between which joints answer.
    """

    method: Any = "auto"
    sweeps: int = 5

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.count(self.sweeps, "sweeps of Assembled")
        choose("contact method", self.method, lcp.MENU, ("solve",))

    @property
    def laws(self) -> tuple[str, ...]:
        """Laws of friction that the method solves."""
        return tuple(choose("contact method", self.method, lcp.MENU, ("solve",)).laws)

    def bind(self, problem: ContactProblem) -> BoundAssembled:
        """The solver of a problem."""
        return BoundAssembled(self.method, problem)


class BoundAssembled:
    """Records the calls; see ``core.protocols.BoundContactSolver``."""

    def __init__(self, method: Any, problem: ContactProblem) -> None:
        self.method, self.problem, self.law = method, problem, law_of(problem.law)
        self.swept = Sweeps(problem, *(drivers(block_correction(law)) for law in (problem.law, "coulomb")))
        self.posed: dict[int, tuple[AssembledContacts, lcp.Problem]] = {}

    def record(self, motion: Motion, goal: Goal, which: Any, response: Any = None) -> None:
        """Record what solves the problem in the worlds where ``which`` is 1."""
        problem, program, status = self.problem, self.problem.program, self.problem.status
        if goal.posed == "positions" or (response is not None and response.has_stops):
            goal = replace(goal, sweeps=max(goal.sweeps, LEAST_SWEEPS))
            iterate(problem, lambda: self.swept.record(motion, goal), motion, goal, which, response)
            return
        if response is not None:
            response.note(motion, which)
        begin(problem, goal, which)
        program.launch(begin_sweep, problem.worlds, status)
        program.call(partial(self._pose, motion, response))
        program.launch(check_convergence, problem.worlds, status, goal.tolerance, goal.sweeps + 1, 1)
        with program.loop(status.any_busy, may_stop=True):
            program.launch(begin_sweep, problem.worlds, status)
            program.call(partial(self._solve, motion, goal))
            if response is not None:
                response.answer(motion, status.busy)
            program.call(partial(self._measure, motion))
            program.launch(check_convergence, problem.worlds, status, goal.tolerance, goal.sweeps + 1, 1)

    def _active(self) -> list[int]:
        return [int(w) for w in np.flatnonzero(self.problem.status.busy.numpy())]

    def _pose(self, motion: Motion, response: Any) -> None:
        """Assemble the problems of the active worlds, and measure with which residual they begin."""
        self.posed = {}
        for world in self._active():
            found = assemble(self.problem, motion, response, world)
            if found is None:
                continue
            if len(found.points) > MOST_POINTS:
                raise InputError(
                    f"Assembled is for small scenes: world {world} has {len(found.points)} contact points, more than "
                    f"{MOST_POINTS}. Choose 'apgd', 'bb', 'pgs' or 'block_gauss_seidel', which need no matrix."
                )
            self.posed[world] = found, found.problem(f"contacts of world {world}")
        self._measure(motion)

    def _solve(self, motion: Motion, goal: Goal) -> None:
        """Solve the problems of the active worlds, at the velocities that joints have left.

        Where the method ends before its tolerance it is not asked again: it would end there once more.
        """
        points, status = self.problem.system.points, self.problem.status
        impulse, sweeps = np.array(points.impulse.numpy()), np.array(status.sweeps.numpy())
        flat, tolerance = flat_velocities(motion), goal.tolerance.numpy()
        for world in self._active():
            if world not in self.posed:
                continue
            found, posed = self.posed[world]
            p = np.asarray(impulse[found.points], dtype=np.float64).ravel()
            u = found.velocity(motion)
            # Joints have moved velocities since, where stops act otherwise or yield.
            now = lcp.Problem(W=posed.W, q=u - posed.W @ p, mu=posed.mu, dimension=3, name=posed.name)
            result = lcp.solve(now, self.method, self.problem.law, PRECISION * float(tolerance[world]), start=p)
            r, sweeps[world] = result.impulse, sweeps[world] if result.converged else goal.sweeps
            flat += found.response @ (r - p)
            impulse[found.points] = r.reshape(-1, 3)
        put_velocities(motion, flat)
        points.impulse.assign(impulse)
        status.sweeps.assign(sweeps)

    def _measure(self, motion: Motion) -> None:
        """The residuals of the active worlds, along the normal and across."""
        status, impulses = self.problem.status, self.problem.system.points.impulse.numpy()
        normal, tangential = (np.array(part.numpy()) for part in (status.normal_residual, status.tangential_residual))
        for world in self._active():
            if world in self.posed:
                found, posed = self.posed[world]
                r = np.asarray(impulses[found.points], dtype=np.float64).ravel()
                u = self.law.shift(posed, found.velocity(motion))
                rest = ((r - self.law.project(posed, r - posed.rho * u)) / posed.rho).reshape(-1, 3)
                normal[world] = np.abs(rest[:, 0]).max()
                tangential[world] = np.hypot(rest[:, 1], rest[:, 2]).max()
        status.normal_residual.assign(normal)
        status.tangential_residual.assign(tangential)
