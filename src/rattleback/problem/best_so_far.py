"""The best that the corrections of a world have found, kept while they go on beyond the tolerance, and taken back."""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.model.step_context import move
from rattleback.problem.corrections import JointStatus, Reactions
from rattleback.problem.joint_rows import Joints


@kernel
def keep_motion(bodies: Bodies, status: JointStatus, motion: Motion, kept: Motion) -> None:
    """Keep the motion of worlds that are within their tolerance and go on all the same."""
    i = wp.tid()
    if status.keep[bodies.world[i]] == 1:
        move(motion, kept, i)


@kernel
def undo_motion(bodies: Bodies, status: JointStatus, kept: Motion, motion: Motion) -> None:
    """Go back to the motion that was kept."""
    i = wp.tid()
    if status.undo[bodies.world[i]] == 1:
        move(kept, motion, i)


@kernel
def keep_reactions(joints: Joints, status: JointStatus, reactions: Reactions, kept: Reactions) -> None:
    """Keep what the joints of such worlds have done so far."""
    j = wp.tid()
    if status.keep[joints.world[j]] == 1:
        kept.impulse[j] = reactions.impulse[j]
        kept.couple[j] = reactions.couple[j]


@kernel
def undo_reactions(joints: Joints, status: JointStatus, kept: Reactions, reactions: Reactions) -> None:
    """Go back to what was kept."""
    j = wp.tid()
    if status.undo[joints.world[j]] == 1:
        reactions.impulse[j] = kept.impulse[j]
        reactions.couple[j] = kept.couple[j]


@kernel
def measure_undone(status: JointStatus) -> None:
    """Only worlds that went back are measured again; nothing is left to be undone."""
    w = wp.tid()
    status.going[w] = status.undo[w]
    status.any_undo[0] = 0
