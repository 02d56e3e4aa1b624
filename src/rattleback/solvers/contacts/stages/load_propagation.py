"""Load propagation: one pass from the top down sends each supported body's momentum to its supports.

    f_c = F_c (a + b × (r_c − q)),    Σ f_c = −P,    Σ r_c × f_c = −L

P, L momentum and angular momentum to remove from a body, with those of the bodies above; F_c loads of the points below
it, r_c from its centre of mass, q their middle weighted with F_c. The opposite of f_c goes to the bodies below. If
every point then still pushes and sticks, this solves the contact problem of those bodies; sweeps would need one for
every level of a stack, and as many back. Bodies whose points would pull or slide, and all bodies on them, are left to
the sweeps, as are jointed ones. Every world is solved for itself.

    twice a step: velocity to remove of every body; from the top down pass momentum down, excluding bodies whose points
    would pull or slide, until none does; then apply the impulses

A load that is off by rounding moves a body by less than the rounding of its position, which the start of a step does
not see. The end of the step corrects the load.

Cost: about two sweeps over bodies that move a little and their supports; at rest one pass over every body. Use it
wherever bodies lie on each other; it does nothing for fast ones.
"""

from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.model.step_context import StepContext
from rattleback.solvers.contacts.kernels.friction import clamp_to_cone
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
from rattleback.solvers.contacts.problem.manifolds import (
    ContactSystem,
    ManifoldPoints,
    moment_at,
    to_manifold,
    to_world,
)
from rattleback.solvers.contacts.schemes.displacements import Prediction
from rattleback.solvers.contacts.schemes.inputs import ContactLimits
from rattleback.solvers.contacts.stages.support import (
    SpeedScales,
    SupportLoads,
    arm_of,
    drop_excluded,
    exclude_unsupported,
    find_support,
    list_candidates,
    load_weight,
    other_body,
    set_displacement_targets,
    set_velocity_targets,
)

# Trials, each of which excludes bodies whose points would pull or slide, before all bodies are left to the sweeps.
MAX_TRIALS = wp.constant(8)
# Part of the tolerance that may be left to a supported body.
LEFT_FRACTION = wp.constant(real(0.1))
# Part of an impulse up to which a change of it is rounding.
ROUNDING_FRACTION = wp.constant(real(epsilon**0.5))


@wp.func
def set_distribution(support: SupportLoads, i: int) -> None:
    """Distribution (a, b) of the momentum of a body over its supports."""
    support.distributed[i] = 1
    support.force_per_load[i] = -support.momentum[i] / support.load[i]
    around = support.angular_momentum[i] - wp.cross(support.load_centre[i], support.momentum[i])
    support.moment_per_load[i] = -(support.inverse_moments[i] * around)


@wp.struct
class LoadShare:
    """Impulse of the points of a manifold for each unit of their weight: (a, b) at its middle, in its axes, on A."""

    force_per_load: vec3
    moment_per_load: vec3


@wp.func
def load_share(system: ContactSystem, support: SupportLoads, k: int, i: int) -> LoadShare:
    """Share of a manifold in the momentum of a body."""
    n = system.manifolds.normal[k]
    t = system.manifolds.tangent[k]
    side = wp.where(system.manifolds.body_a[k] == i, real(1.0), real(-1.0))
    force_per_load = support.force_per_load[i] + wp.cross(
        support.moment_per_load[i], arm_of(system, k, i) - support.load_centre[i]
    )
    share = LoadShare()
    share.force_per_load = side * to_manifold(n, t, force_per_load)
    share.moment_per_load = side * to_manifold(n, t, support.moment_per_load[i])
    return share


@wp.func
def point_impulse(system: ContactSystem, share: LoadShare, k: int, c: int) -> vec3:
    """Impulse of a point for its share, within its friction cone."""
    x = system.points.place[c][0]
    y = system.points.place[c][1]
    a = share.force_per_load
    b = share.moment_per_load
    f = vec3(a[0] + b[1] * y - b[2] * x, a[1] - b[0] * y, a[2] + b[0] * x)
    return clamp_to_cone(system.points.impulse[c] + load_weight(system, k, c) * f, system.manifolds.friction[k])


@wp.func
def pass_down(system: ContactSystem, support: SupportLoads, k: int, i: int) -> None:
    """Pass the share of a manifold down to the body below."""
    f = vec3()
    m = vec3()
    share = load_share(system, support, k, i)
    first = system.manifolds.first[k]
    for c in range(first, first + system.manifolds.count[k]):
        impulse = point_impulse(system, share, k, c)
        support.impulse[c] = impulse
        p = impulse - system.points.impulse[c]
        f += p
        m += moment_at(system.points.place[c], p)
    side = wp.where(system.manifolds.body_a[k] == i, real(1.0), real(-1.0))
    force = side * to_world(system.manifolds.normal[k], system.manifolds.tangent[k], f)
    moment = side * to_world(system.manifolds.normal[k], system.manifolds.tangent[k], m)
    below = other_body(system, k, i)
    support.momentum[i] = support.momentum[i] + force
    support.angular_momentum[i] = support.angular_momentum[i] + moment + wp.cross(arm_of(system, k, i), force)
    support.momentum[below] = support.momentum[below] - force
    support.angular_momentum[below] = (
        support.angular_momentum[below] - moment - wp.cross(arm_of(system, k, below), force)
    )


@wp.func
def pass_all_down(bodies: Bodies, system: ContactSystem, support: SupportLoads, listed: int) -> None:
    """Pass all momenta down, from the top, in worlds that are tried."""
    for n in range(support.members[0]):
        i = support.member[n]
        if support.trying[bodies.world[i]] == 1:
            support.distributed[i] = 0
            support.momentum[i] = support.velocity[i]
            support.angular_momentum[i] = support.angular_velocity[i]
    for n in range(listed):
        k = support.listed[n]
        i = system.manifolds.supported_body[k]
        if support.trying[system.manifolds.world[k]] == 1:
            if support.distributed[i] == 0:
                set_distribution(support, i)
            pass_down(system, support, k, i)


@wp.func
def try_propagation(
    bodies: Bodies, system: ContactSystem, support: SupportLoads, listed: int, speeds: wp.array[real]
) -> bool:
    """Pass all momenta down and exclude bodies whose points would pull or slide; whether none did in any world."""
    pass_all_down(bodies, system, support, listed)
    for w in range(support.trying.shape[0]):
        support.succeeded[w] = 1
    all_succeeded = bool(True)
    for n in range(support.members[0]):
        i = support.member[n]
        w = bodies.world[i]
        if support.distributed[i] == 1 and support.trying[w] == 1:
            left = bodies.inverse_mass[i] * wp.length(support.momentum[i])
            left += wp.length(system.inertias.inverse_inertia[i] * support.angular_momentum[i]) * wp.length(
                support.load_centre[i]
            )
            if left > LEFT_FRACTION * speeds[bodies.world[i]]:
                support.supported[i] = 0
                support.succeeded[w] = 0
                all_succeeded = False
    for w in range(support.trying.shape[0]):
        support.trying[w] = 1 - support.succeeded[w]
    return all_succeeded


@wp.func
def apply_point_load(points: ManifoldPoints, support: SupportLoads, c: int) -> None:
    """Add the impulse of a point; a load that was off by rounding is corrected."""
    p = points.impulse[c]
    change = support.impulse[c] - p
    if wp.dot(change, change) < ROUNDING_FRACTION * ROUNDING_FRACTION * p[0] * p[0]:
        # The load is twice the impulse by the length of the step; one half of it has acted at the start.
        points.load[c] = points.load[c] + (real(0.5) * points.load[c][0] / p[0]) * change
    points.impulse[c] = support.impulse[c]


@wp.func
def apply_loads(bodies: Bodies, system: ContactSystem, support: SupportLoads, motion: Motion, listed: int) -> None:
    """Apply the impulses of all supported bodies, in worlds where every point pushes and sticks."""
    for n in range(listed):
        k = support.listed[n]
        first = system.manifolds.first[k]
        if support.succeeded[system.manifolds.world[k]] == 1:
            for c in range(first, first + system.manifolds.count[k]):
                apply_point_load(system.points, support, c)
    for n in range(support.members[0]):
        i = support.member[n]
        if support.distributed[i] == 1 and support.succeeded[bodies.world[i]] == 1:
            turned = system.inertias.inverse_inertia[i] * (support.angular_momentum[i] - support.angular_velocity[i])
            gained = bodies.inverse_mass[i] * (support.momentum[i] - support.velocity[i])
            motion.velocity[i] = motion.velocity[i] + gained
            motion.angular_velocity[i] = motion.angular_velocity[i] + turned


@kernel
def propagate_loads(
    bodies: Bodies, system: ContactSystem, graph: Graph, support: SupportLoads, motion: Motion, speeds: wp.array[real]
) -> None:
    """Find supported bodies and apply their impulses, on one thread."""
    listed = list_candidates(system, graph, support)
    if listed == 0:
        return
    find_support(bodies, system, support, listed)
    listed = drop_excluded(system, support, listed)
    for w in range(support.trying.shape[0]):
        support.trying[w] = 1
    trials = int(0)
    done = bool(False)
    while trials < MAX_TRIALS and not done:
        done = try_propagation(bodies, system, support, listed, speeds)
        if not done:
            exclude_unsupported(system, support, listed)
            listed = drop_excluded(system, support, listed)
        trials += 1
    apply_loads(bodies, system, support, motion, listed)


class LoadPropagation:
    """Records load propagation: on one thread, so not on CUDA.

    Args:
        context: What the step works on.
        problem: The contact problem.
        limits: What contacts aim at.
        unjointed: 1 for every body without joints.
    """

    def __init__(self, context: StepContext, problem: ContactProblem, limits: ContactLimits, unjointed: Any) -> None:
        self.context, self.problem, self.scales = context, problem, SpeedScales()
        self.scales.speed, self.scales.rebound = limits.speed, limits.rebound
        self.scales.gravity, self.scales.clock = context.model.world_numbers(context.model.gravity), context.state.clock
        model = context.model
        counts = {"bodies": model.count, "contacts": problem.room, "worlds": model.worlds, "flags": 1}
        self.support = arrays.allocate(SupportLoads, counts, model.device)
        wp.copy(self.support.unjointed, unjointed)

    def remove_velocity(self, motion: Motion, which: Any) -> None:
        """Record that supported bodies lose their velocities, in the worlds where ``which`` is 1."""
        self._propagate(set_velocity_targets, motion, motion, which)

    def remove_displacement(self, prediction: Prediction, which: Any) -> None:
        """Record that supported bodies stay over the predicted step, in the worlds where ``which`` is 1."""
        self._propagate(set_displacement_targets, prediction.start, prediction.displacements, which)

    def _propagate(self, set_targets: Any, motion: Motion, source: Any, which: Any) -> None:
        program, bodies, problem = self.context.program, self.context.model.bodies, self.problem
        program.share(set_targets, self.context.model.count, bodies, source, self.support, self.scales, which)
        given = (bodies, problem.system, problem.graph, self.support, motion, self.scales.speed)
        program.launch(propagate_loads, 1, *given)
