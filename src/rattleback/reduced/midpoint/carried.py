"""What the joints of trees carry: impulses on body B and angular impulses about its anchor.

    f_k = I_k a_k + p_k

I_k articulated inertia of a link, a_k its acceleration by the solution, p_k what it is short of with all that it
carries. Over a step it is h times the wrench with which the mean rates are settled; where something else changes
velocities at once, the impulse with which the joints make them fit.

Cost: a pass over the links.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import rotate
from rattleback.model.state import Clock
from rattleback.problem.corrections import JointStatus, Reactions
from rattleback.reduced.midpoint.links import Trees


@wp.func
def frame_of(trees: Trees, link: int, first: int) -> tuple[quat, vec3]:
    """Orientation and centre of mass of the body that a link ends in; of what carries its tree for −1."""
    step = trees.step
    if link < 0:
        return step.base_turn[first], step.base_way[first]
    k = first + link
    return step.q[k] * trees.links.body_turn[k], step.x[k] + step.frame[k] * trees.links.body_way[k]


@wp.func
def anchor_of(trees: Trees, link: int, first: int, j: int) -> vec3:
    """The anchor of body B of the joint of a link, from the origin of its tree."""
    at = int(link)
    if trees.links.back[link] == 1:
        at = trees.links.parent[link]
        while at >= 0 and trees.links.body[wp.max(at, 0)] < 0:
            at = trees.links.parent[at]
        if at < 0:
            root = first + trees.links.root[link]
            return trees.step.base_way[root] + rotate(trees.step.base_turn[root], trees.joints.anchor_b[j])
    q, c = frame_of(trees, at, first)
    return c + rotate(q, trees.joints.anchor_b[j])


@wp.func
def carry(trees: Trees, reactions: Reactions, link: int, w: int, force: vec3, couple: vec3) -> None:
    """Add an impulse on a link, with its moment about the origin of the tree, to what its joint carries."""
    if trees.links.joint[link] < 0 or trees.links.body[link] < 0:
        return
    j = w * int(trees.joint_count) + trees.links.joint[link]
    about = couple - wp.cross(anchor_of(trees, link, w * int(trees.count), j), force)
    if trees.links.back[link] == 1:
        force = -force
        about = -about
    reactions.impulse[j] = reactions.impulse[j] + force
    reactions.couple[j] = reactions.couple[j] + about


@wp.func
def carry_fit(trees: Trees, reactions: Reactions, w: int) -> None:
    """Add the impulses of a fit of velocities."""
    step = trees.step
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        alpha = step.spin_rate[k]
        a = step.drift_rate[k]
        force = step.force[k] + wp.transpose(step.mixed[k]) * alpha + step.moving[k] * a
        couple = step.couple[k] + step.turning[k] * alpha + step.mixed[k] * a
        carry(trees, reactions, link, w, force, couple + wp.cross(step.x[k], force))


@kernel
def carry_step(trees: Trees, status: JointStatus, reactions: Reactions) -> None:
    """Add the impulses of the last step."""
    w = wp.tid()
    h = status.time_step[w]
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        force = h * trees.step.force[k]
        couple = h * trees.step.couple[k] + wp.cross(trees.step.x[k], force)
        carry(trees, reactions, link, w, force, couple)


@kernel
def begin_step(clock: Clock, status: JointStatus, reactions: Reactions, count: int) -> None:
    """No joint of a world carries anything yet."""
    w = wp.tid()
    status.time_step[w] = wp.where(clock.steps[w] > wp.int64(0), real(clock.time_step[w]), real(0.0))
    for j in range(w * count, w * count + count):
        reactions.impulse[j] = vec3()
        reactions.couple[j] = vec3()
