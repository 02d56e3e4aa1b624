"""Joint forces: what holds joints as a force Jᵀ λ, found anew wherever an integrator evaluates the loads.

    J V̇ + J̇ V + d Ċ + k C = −c λ          joints, held by their accelerations
    J V̇ + J̇ V + g (J V − r) = −c λ        velocity joints
    J (V + h V̇) = r − b C                 the same held by velocities, once a step
    V̇ = M⁻¹ (F + Jᵀ λ) with the gyroscopic torque in F,   so   (J M⁻¹ Jᵀ + c) λ = the rest

C errors of the rows, J their Jacobian, J̇ V its rate, V velocities, M masses and inertias, F all other loads, r rates of
velocity joints, h length of the step. The law (d, k, g, b, c) is the method's: Baumgarte's terms, or the spring of a
penalty, which yields by c. At the level of velocities the force is found once, at the start of the step, and stays.

    at a motion: rows and J̇ V; the matrix; what the loads alone leave of the law; λ; the forces added to the loads
Cost: that of the method, once for every evaluation of the loads.

Reference: Bender, dissertation, §2.1.1 and §2.1.3, eq. 2.5 to 2.8; Baumgarte, Stabilization of constraints and
integrals of motion in dynamical systems, 1972.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import warp as wp

from rattleback.constraints.bias import rates_of, row_bias
from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.spin import angular_acceleration
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import Moment, StepContext
from rattleback.problem import stiffness
from rattleback.problem.corrections import Links, Reactions, make_links
from rattleback.problem.joint_rows import (
    Inertias,
    JointRows,
    Joints,
    Levers,
    RowDefinitions,
    Rows,
    definition_of,
    evaluate_rows,
    frames_of,
    is_folded,
    row_velocity,
)

# What helps where joints are off by more than their tolerance, by what stabilises them.
HELP = {
    "none": "a stabilisation, a shorter time_step or an integrator of higher order helps.",
    "baumgarte": "a shorter time_step, other alpha and beta or stabilisation='projection' helps.",
    "penalty": "a larger alpha or omega or a shorter time_step helps.",
    "projection": "more max_iterations or a shorter time_step help.",
    "impulses": "more max_iterations or a shorter time_step help.",
}


@dataclass(frozen=True)
class JointLaw:
    """How a method has errors of joints decay.

    Attributes:
        damping: Factor d of Ċ [1/s].
        stiffness: Factor k of C [1/s²].
        velocity: Factor g of the errors of velocity joints [1/s].
        closing: Factor b of C where joints are held by velocities [1/s].
        compliance: Acceleration by which a row yields to a unit force [1/kg, 1/(kg m²)].
    """

    damping: float = 0.0
    stiffness: float = 0.0
    velocity: float = 0.0
    closing: float = 0.0
    compliance: float = 0.0


@wp.struct
class Law:
    """The same for kernels, with J̇ V of every row; ``by_velocity`` is 1 where joints are held by velocities."""

    damping: real
    stiffness: real
    velocity: real
    closing: real
    by_velocity: wp.int32
    bias: wp.array[real]


@wp.func
def row_acceleration(joints: Joints, rows: Rows, bodies: Bodies, motion: Motion, loads: Loads, j: int, r: int) -> real:
    """J M⁻¹ F of a row, with the gyroscopic torque."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    total = real(0.0)
    if a >= 0:
        q = motion.orientation[a]
        spin = angular_acceleration(
            q, motion.angular_velocity[a], loads.torque[a], bodies.inertia[a], bodies.inverse_inertia[a]
        )
        total += wp.dot(rows.angular_a[r], spin) - bodies.inverse_mass[a] * wp.dot(rows.linear[r], loads.force[a])
    if b >= 0:
        q = motion.orientation[b]
        spin = angular_acceleration(
            q, motion.angular_velocity[b], loads.torque[b], bodies.inertia[b], bodies.inverse_inertia[b]
        )
        total += wp.dot(rows.angular_b[r], spin) + bodies.inverse_mass[b] * wp.dot(rows.linear[r], loads.force[b])
    return total


@wp.func
def velocities_of(motion: Motion, body: int) -> tuple[vec3, vec3]:
    """Velocity and angular velocity of one side of a joint; those of the world are zero."""
    if body < 0:
        return vec3(), vec3()
    return motion.velocity[body], motion.angular_velocity[body]


@kernel
def find_biases(joints: Joints, definitions: RowDefinitions, motion: Motion, bias: wp.array[real]) -> None:
    """J̇ V of every row of a joint."""
    j = wp.tid()
    frames = frames_of(joints, motion, j)
    velocity_a, spin_a = velocities_of(motion, joints.body_a[j])
    velocity_b, spin_b = velocities_of(motion, joints.body_b[j])
    rates = rates_of(frames, velocity_a, spin_a, velocity_b, spin_b)
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        definition = definition_of(definitions, r)
        found = row_bias(definition, frames, rates)
        # A row that is folded is its own negative.
        bias[r] = wp.where(is_folded(joints, definition, frames, j), -found, found)


@kernel
def find_wanted(
    bodies: Bodies,
    joints: Joints,
    definitions: RowDefinitions,
    motion: Motion,
    loads: Loads,
    clock: Clock,
    law: Law,
    rows: Rows,
) -> None:
    """The acceleration of every row of a joint that the loads alone leave wanting."""
    j = wp.tid()
    h = real(clock.time_step[joints.world[j]])
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.wanted[r] = real(0.0)
        if joints.broken[j] == 0:
            rate = row_velocity(joints, rows, motion, j, r) - definitions.rate[r]
            free = row_acceleration(joints, rows, bodies, motion, loads, j, r)
            if law.by_velocity == 1:
                closing = wp.where(definitions.is_velocity[r] == 1, real(0.0), law.closing * rows.error[r])
                rows.wanted[r] = -free - (rate + closing) / h
            elif definitions.is_velocity[r] == 1:
                rows.wanted[r] = -free - law.bias[r] - law.velocity * rate
            else:
                rows.wanted[r] = -free - law.bias[r] - law.damping * rate - law.stiffness * rows.error[r]


@kernel
def add_forces(bodies: Bodies, joints: Joints, links: Links, rows: Rows, loads: Loads) -> None:
    """Jᵀ λ on one body, joint by joint in a fixed order."""
    i = wp.tid()
    force = vec3()
    torque = vec3()
    for k in range(links.first[i], links.first[i] + links.count[i]):
        j = links.joint[k]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            if links.is_b[k] == 1:
                force += rows.impulse[r] * rows.linear[r]
                torque += rows.impulse[r] * rows.angular_b[r]
            else:
                force -= rows.impulse[r] * rows.linear[r]
                torque += rows.impulse[r] * rows.angular_a[r]
    loads.force[i] = loads.force[i] + force
    loads.torque[i] = loads.torque[i] + torque


@kernel
def clear_loads(bodies: Bodies, loads: Loads) -> None:
    """No load."""
    i = wp.tid()
    loads.force[i] = vec3()
    loads.torque[i] = vec3()


@kernel
def add_loads(bodies: Bodies, more: Loads, loads: Loads) -> None:
    """Add loads to others."""
    i = wp.tid()
    loads.force[i] = loads.force[i] + more.force[i]
    loads.torque[i] = loads.torque[i] + more.torque[i]


@kernel
def add_reactions(joints: Joints, rows: Rows, levers: Levers, clock: Clock, reactions: Reactions) -> None:
    """What the forces of the last evaluation do in a step, as impulses on B at its anchor."""
    j = wp.tid()
    h = real(clock.time_step[joints.world[j]])
    p = vec3()
    turning = vec3()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        p += h * rows.impulse[r] * rows.linear[r]
        turning += h * rows.impulse[r] * rows.angular_b[r]
    reactions.impulse[j] = reactions.impulse[j] + p
    reactions.couple[j] = reactions.couple[j] + turning - wp.cross(levers.b[j], p)


class JointForces:
    """The joint forces of a model.

    Args:
        context: Where the step is recorded.
        method: A joint method that works by forces: its law, its level, and the equations it solves.
        problem: The joints as rows; those at the motions of the integrator have room of their own.
        external: Records all other loads of a moment.
    """

    def __init__(
        self, context: StepContext, method: Any, problem: JointRows, external: Callable[[Moment, Loads], None]
    ) -> None:
        model = context.model
        self.context, self.method, self.external = context, method, external
        counts = {"joints": problem.joint_count, "bodies": model.count, "rows": problem.row_count}
        self.problem = replace(problem, rows=arrays.allocate(Rows, counts, model.device))
        self.inertias: Any = arrays.allocate(Inertias, counts, model.device)
        self.levers: Any = arrays.allocate(Levers, counts, model.device)
        self.links = make_links(self.problem)
        self.everywhere = wp.full(model.worlds, 1, dtype=wp.int32, device=model.device)
        law = method.law
        self.problem.rows.compliance.fill_(law.compliance)
        self.law: Any = Law()
        self.law.bias = wp.zeros(self.problem.row_count, dtype=real, device=model.device)
        self.law.damping, self.law.stiffness, self.law.velocity = law.damping, law.stiffness, law.velocity
        self.law.closing, self.law.by_velocity = law.closing, int(method.level == "velocity")
        self.kept: Any = context.scratch(Loads) if self.law.by_velocity else None
        self.solver = method.prepare(self.problem, self.inertias)

    def record_start(self) -> None:
        """Record the forces that stay for a whole step, where joints are held by velocities."""
        if self.kept is not None:
            context, loads = self.context, self.context.scratch(Loads)
            self.external(context.now, loads)
            self._solve(context.start, loads)
            context.for_bodies(clear_loads, self.kept)
            context.for_bodies(add_forces, self.problem.joints, self.links, self.problem.rows, self.kept)

    def record(self, moment: Moment, loads: Loads) -> None:
        """Record the launches that add the joint forces to the other loads of a moment."""
        if self.kept is not None:
            self.context.for_bodies(add_loads, self.kept, loads)
            return
        self._solve(moment.motion, loads)
        self.context.for_bodies(add_forces, self.problem.joints, self.links, self.problem.rows, loads)

    def record_reactions(self, reactions: Reactions) -> None:
        """Record that the forces of the last evaluation join the reactions of the step."""
        given = (self.problem.joints, self.problem.rows, self.levers, self.context.state.clock, reactions)
        self._for_joints(add_reactions, *given)

    def summary(self, said: dict[str, Any]) -> dict[str, Any]:
        """What the report says of the joints, from what it says where impulses hold them."""
        redundant = self.solver.redundant_rows()
        found = {
            "redundant_rows": int(redundant.sum(axis=1).max()),
            "redundant_joints": tuple(self.problem.names[j] for j in np.flatnonzero(redundant.any(axis=0))),
        }
        if "reason" in said:
            measured = said["reason"].split(" after ")[0]
            help_with = HELP.get(self.method.stabilisation, "a shorter time_step helps.")
            found["reason"] = f"{measured}, more than its tolerance; {help_with}"
        return {**said, **found}

    def _solve(self, motion: Motion, loads: Loads) -> None:
        """λ at a motion, into the impulses of the rows."""
        context, problem, everywhere = self.context, self.problem, self.everywhere
        joints, definitions, rows = problem.joints, problem.definitions, problem.rows
        context.for_bodies(stiffness.weigh, motion, self.inertias, everywhere)
        given = (joints, definitions, motion, context.state.joints, self.inertias, rows, self.levers)
        self._for_joints(evaluate_rows, *given, everywhere)
        if not self.law.by_velocity:
            self._for_joints(find_biases, joints, definitions, motion, self.law.bias)
        self.solver.record_preparation(context.program, everywhere)
        parts = (joints, definitions, motion, loads, context.state.clock, self.law, rows)
        self._for_joints(find_wanted, context.model.bodies, *parts)
        self.solver.record_solution(context.program)

    def _for_joints(self, kernel: Any, *inputs: Any) -> None:
        self.context.program.launch(kernel, self.problem.joint_count, *inputs)
