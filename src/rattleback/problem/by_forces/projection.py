"""Projection: after a step bodies are moved to the nearest poses and velocities at which joints hold.

    J M⁻¹ Jᵀ λ = −C,   x ← x + M⁻¹ Jᵀ λ        until C is within the tolerance
    J M⁻¹ Jᵀ λ = −Ċ,   V ← V + M⁻¹ Jᵀ λ

C errors of the joints, J their Jacobian, M masses and inertias, x poses, V velocities. Nearest means that no other
change, weighed with masses and inertias, is smaller. The first is Newton's method with rows made anew each time.

Reference: Bender, dissertation, §2.1.3.3; Lubich, Extrapolation integrators for constrained multibody systems, 1991.
"""

from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import quat_from_rotation_vector
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem import stiffness
from rattleback.problem.corrections import Limits, Links
from rattleback.problem.joint_rows import Inertias, Joints, RowDefinitions, Rows, evaluate_rows
from rattleback.problem.preview import Preview


@group(axis="worlds")
class ProjectionStatus:
    """How far the projection of each world is."""

    off: wp.int32 = field("1", "1 where a joint is outside its tolerance")
    busy: wp.int32 = field("1", "1 while bodies are to be moved")
    rounds: wp.int32 = field("1", "how often they were")
    any_busy: wp.int32 = field("1", "1 while those of any world are", axis="flags")


@kernel
def begin(status: ProjectionStatus) -> None:
    """A projection begins; all worlds are measured."""
    w = wp.tid()
    status.busy[w] = 1
    status.off[w] = 0
    status.rounds[w] = 0


@kernel
def measure(joints: Joints, definitions: RowDefinitions, limits: Limits, rows: Rows, status: ProjectionStatus) -> None:
    """Whether a joint is outside its tolerance, and the changes that its rows want."""
    j = wp.tid()
    w = joints.world[j]
    lengths = real(0.0)
    angles = real(0.0)
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        e = real(0.0)
        if definitions.is_velocity[r] == 0:
            e = rows.error[r]
        rows.wanted[r] = -e
        if definitions.is_length[r] == 1:
            lengths += e * e
        else:
            angles += e * e
    error = wp.max(wp.sqrt(lengths) / limits.position, wp.sqrt(angles) / limits.orientation)
    if not (error <= wp.min(limits.share[w], limits.part)):
        wp.atomic_max(status.off, w, 1)


@kernel
def decide(limits: Limits, status: ProjectionStatus) -> None:
    """Which worlds continue."""
    w = wp.tid()
    if status.busy[w] == 1:
        status.busy[w] = wp.where(status.rounds[w] < limits.most, status.off[w], 0)
        status.rounds[w] = status.rounds[w] + status.busy[w]
    status.off[w] = 0
    if status.busy[w] == 1:
        status.any_busy[0] = 1


@kernel
def lower(status: ProjectionStatus) -> None:
    """No world is known to continue."""
    status.any_busy[0] = 0


@kernel
def displace(
    bodies: Bodies,
    joints: Joints,
    links: Links,
    inertias: Inertias,
    rows: Rows,
    status: ProjectionStatus,
    motion: Motion,
) -> None:
    """X + M⁻¹ Jᵀ λ of one body, joint by joint in a fixed order."""
    i = wp.tid()
    if status.busy[bodies.world[i]] == 0 or links.count[i] == 0:
        return
    way = vec3()
    turn = vec3()
    for k in range(links.first[i], links.first[i] + links.count[i]):
        j = links.joint[k]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            if links.is_b[k] == 1:
                way += rows.impulse[r] * rows.linear[r]
                turn += rows.impulse[r] * rows.angular_b[r]
            else:
                way -= rows.impulse[r] * rows.linear[r]
                turn += rows.impulse[r] * rows.angular_a[r]
    motion.position[i] = motion.position[i] + bodies.inverse_mass[i] * way
    quarter = quat_from_rotation_vector(inertias.inverse[i] * turn)
    motion.orientation[i] = wp.normalize(quarter * motion.orientation[i])


class JointProjection:
    """Projects the motions of a simulation on its joints.

    Args:
        preview: The joints, with the method that solves for the changes.
    """

    def __init__(self, preview: Preview) -> None:
        self.preview, self.context = preview, preview.context
        counts = {"worlds": self.context.model.worlds, "flags": 1}
        self.status: Any = arrays.allocate(ProjectionStatus, counts, self.context.model.device)

    def record_positions(self) -> None:
        """Record that bodies move to where the joints hold, at the end of the step."""
        preview, program, motion = self.preview, self.context.program, self.context.predicted
        self.context.for_worlds(begin, self.status)
        self._measure(motion)
        with program.loop(self.status.any_busy, may_stop=True):
            preview.solver.record_preparation(program, self.status.busy)
            preview.solver.record_solution(program)
            given = (preview.problem.joints, preview.links, preview.inertias, preview.problem.rows, self.status)
            self.context.for_bodies(displace, *given, motion)
            self._measure(motion)

    def record_velocities(self) -> None:
        """Record that velocities of the state become the nearest that agree with the joints; the rows are there."""
        preview = self.preview
        preview.solver.record_preparation(self.context.program, preview.everywhere)
        preview.correct_velocities(preview.everywhere)

    def _measure(self, motion: Motion) -> None:
        preview, context = self.preview, self.context
        record_rows(preview, motion, self.status.busy)
        given = (preview.problem.joints, preview.problem.definitions, preview.limits, preview.problem.rows)
        context.program.launch(measure, preview.problem.joint_count, *given, self.status)
        context.for_worlds(lower, self.status)
        context.for_worlds(decide, preview.limits, self.status)


def record_rows(preview: Preview, motion: Motion, which: Any) -> None:
    """Record the rows of the joints at a motion, in the worlds where ``which`` is 1."""
    context, problem = preview.context, preview.problem
    context.for_bodies(stiffness.weigh, motion, preview.inertias, which)
    given = (problem.fixed, problem.definitions, motion, context.state.joints, preview.inertias, problem.rows)
    context.program.launch(evaluate_rows, problem.joint_count, *given, preview.levers, which)
