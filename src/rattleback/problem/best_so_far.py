"""The best motion that the corrections of a world have found, stored while they aim lower, and restored."""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.model.step_context import move
from rattleback.problem.corrections import JointStatus, Reactions
from rattleback.problem.joint_rows import Joints


@kernel
def keep_motion(bodies: Bodies, status: JointStatus, motion: Motion, kept: Motion) -> None:
    """Store the motion of worlds that are within their tolerance and continue all the same."""
    i = wp.tid()
    if status.keep[bodies.world[i]] == 1:
        move(motion, kept, i)


@kernel
def undo_motion(bodies: Bodies, status: JointStatus, kept: Motion, motion: Motion) -> None:
    """Restore the stored motion."""
    i = wp.tid()
    if status.undo[bodies.world[i]] == 1:
        move(kept, motion, i)


@kernel
def keep_reactions(joints: Joints, status: JointStatus, reactions: Reactions, kept: Reactions) -> None:
    """Store the reactions of the joints of such worlds."""
    j = wp.tid()
    if status.keep[joints.world[j]] == 1:
        kept.impulse[j] = reactions.impulse[j]
        kept.couple[j] = reactions.couple[j]


@kernel
def undo_reactions(joints: Joints, status: JointStatus, kept: Reactions, reactions: Reactions) -> None:
    """Restore the stored reactions."""
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
