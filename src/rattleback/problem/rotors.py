"""What the drives of its joints add to the inertia of a body against turning, where its stiffness is judged.

    I + Σ A a aᵀ

A armature of a row that a drive moves with, a the angular part of the row on the body. A light link with heavy rotors
turns no faster than they do, however light it is. That is exact where what is on the other side of a joint does not
turn, and an upper bound of the inertia elsewhere.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, quat, real, vec3
from rattleback.maths.small_solve import symmetric_axes
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem.corrections import Links
from rattleback.problem.joint_rows import Inertias, Joints, RowDefinitions, Rows


@kernel
def note_rotors(
    bodies: Bodies,
    joints: Joints,
    links: Links,
    definitions: RowDefinitions,
    rows: Rows,
    inertias: Inertias,
    which: wp.array[wp.int32],
) -> None:
    """Σ A a aᵀ of one body, in the worlds that are wanted."""
    i = wp.tid()
    if which[bodies.world[i]] == 0:
        return
    total = mat33()
    for e in range(links.first[i], links.first[i] + links.count[i]):
        j = links.joint[e]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            if definitions.armature[r] > real(0.0) and joints.broken[j] == 0:
                a = wp.where(links.is_b[e] == 1, rows.angular_b[r], rows.angular_a[r])
                total += definitions.armature[r] * wp.outer(a, a)
    inertias.rotors[i] = total


@wp.func
def turned_inertia(bodies: Bodies, motion: Motion, inertias: Inertias, i: int) -> tuple[quat, vec3]:
    """Principal axes and moments of a body with its rotors, in the world."""
    turn = motion.orientation[i] * bodies.axes[i]
    moments = bodies.moments[i]
    rotors = inertias.rotors[i]
    if wp.trace(rotors) > real(0.0):
        axes = wp.quat_to_matrix(turn)
        whole = axes * wp.diag(moments) * wp.transpose(axes) + rotors
        axes = symmetric_axes(whole)
        if wp.determinant(axes) < real(0.0):
            axes = -axes
        turn = wp.quat_from_matrix(axes)
        moments = wp.get_diag(wp.transpose(axes) * whole * axes)
    return turn, moments
