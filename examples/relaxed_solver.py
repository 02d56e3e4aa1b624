"""A contact solver of one's own, in one file: successive over-relaxation (SOR), point by point.

p ← P(p + factor (p* − p)),     p* what projected Gauss–Seidel would give the point,   P projection on the friction cone

rattleback run tower --contacts "impulse(solver='examples.relaxed_solver:Relaxed(factor=1.3)')"
python examples/relaxed_solver.py
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

import rattleback as rb
from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import solve_normal_point
from rattleback.solvers.contacts.kernels.friction import clamp_to_cone, solve_friction_point
from rattleback.solvers.contacts.kernels.twist import apply_wrench, make_twist
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, moment_at, to_world, twist_of
from rattleback.solvers.contacts.solvers.gauss_seidel import Sweeps, drivers
from rattleback.solvers.contacts.solvers.iteration import iterate


def relaxed_by(factor: float) -> Any:
    """The correction of a manifold with a factor, as a Warp function."""

    @wp.func
    def solve(bodies: Bodies, system: ContactSystem, motion: Motion, k: int) -> tuple[real, real]:
        manifolds = system.manifolds
        points = system.points
        normal = real(0.0)
        tangential = real(0.0)
        for c in range(manifolds.first[k], manifolds.first[k] + manifolds.count[k]):
            u, w = twist_of(manifolds, motion, k)
            twist = make_twist(u + manifolds.bias[k], w + manifolds.angular_bias[k])
            before = points.impulse[c]
            twist = solve_normal_point(manifolds.block_nn[k], points, c, twist)
            twist.tangent += manifolds.block_tn[k] * twist.normal_impulse
            twist = solve_friction_point(manifolds.block_tt[k], manifolds.friction[k], points, c, twist)
            p = clamp_to_cone(before + real(factor) * (points.impulse[c] - before), manifolds.friction[k])
            points.impulse[c] = p
            force = to_world(manifolds.normal[k], manifolds.tangent[k], p - before)
            moment = to_world(manifolds.normal[k], manifolds.tangent[k], moment_at(points.place[c], p - before))
            apply_wrench(bodies, system, motion, k, force, moment)
            normal = wp.max(normal, twist.normal_residual)
            tangential = wp.max(tangential, wp.sqrt(twist.tangential_residual_squared))
        return normal, tangential

    return solve


@dataclass(frozen=True)
class Relaxed:
    """Points one after the other, each corrected by more than it asks for.

    Attributes:
        factor: Above 1 for over-relaxation, below 2.
        sweeps: Most sweeps of one problem.
    """

    factor: float = 1.3
    sweeps: int = 50

    def bind(self, problem: Any) -> "BoundRelaxed":
        """The solver of a problem."""
        return BoundRelaxed(self.factor, problem)


class BoundRelaxed:
    """Records the sweeps."""

    def __init__(self, factor: float, problem: Any) -> None:
        self.problem, self.sweeps = problem, Sweeps(problem, drivers(relaxed_by(factor)))

    def record(self, motion: Motion, goal: Any, which: Any, response: Any = None) -> None:
        """Record what solves the problem in the worlds where ``which`` is 1."""
        iterate(self.problem, lambda: self.sweeps.record(motion, goal), motion, goal, which, response)


def tower(count: int = 8) -> rb.Scene:
    """Cubes on each other."""
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for k in range(count):
        scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0, 0, 0.5 + k), name=f"cube_{k}")
    return scene


if __name__ == "__main__":
    for solver in (rb.contacts.ProjectedGaussSeidel(sweeps=500), Relaxed(1.3, sweeps=500)):
        contacts = rb.contacts.Impulse(solver=solver, load_propagation=False)
        sim = rb.Simulation(tower(), contacts=contacts, time_step=0.005)
        sim.step()
        print(f"{type(solver).__name__:22}", "first step:", sim.report.contact_sweeps, "sweeps")
