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
from rattleback.solvers.contacts.kernels.block import push_point
from rattleback.solvers.contacts.kernels.friction import allowed, grip_point
from rattleback.solvers.contacts.kernels.twist import apply, make_twist
from rattleback.solvers.contacts.problem.manifolds import Pressing, moment_at, twist_of, world
from rattleback.solvers.contacts.solvers.gauss_seidel import Sweeps, drivers
from rattleback.solvers.contacts.solvers.iteration import iterate


def relaxed_by(factor: float) -> Any:
    """The correction of a manifold with a factor, as a Warp function."""

    @wp.func
    def solve(bodies: Bodies, pressing: Pressing, motion: Motion, k: int) -> tuple[real, real]:
        patches = pressing.patches
        points = pressing.points
        along = real(0.0)
        across = real(0.0)
        for c in range(patches.first[k], patches.first[k] + patches.count[k]):
            u, w = twist_of(patches, motion, k)
            twist = make_twist(u + patches.drive[k], w + patches.spin[k])
            before = points.impulse[c]
            twist = push_point(patches.rise[k], points, c, twist)
            twist.side += patches.drag[k] * twist.push
            twist = grip_point(patches.skid[k], patches.grip[k], points, c, twist)
            p = allowed(before + real(factor) * (points.impulse[c] - before), patches.grip[k])
            points.impulse[c] = p
            force = world(patches.normal[k], patches.tangent[k], p - before)
            moment = world(patches.normal[k], patches.tangent[k], moment_at(points.place[c], p - before))
            apply(bodies, pressing, motion, k, force, moment)
            along = wp.max(along, twist.along)
            across = wp.max(across, wp.sqrt(twist.across))
        return along, across

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
