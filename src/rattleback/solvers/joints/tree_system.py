"""The kernels of ``baraff``: blocks of bodies and joints, eliminated from the leaves to the root, a thread a world.

    I_c = L D Lᵀ,   S = J_c I_c⁻¹ J_cᵀ,   I_p += J_pᵀ S⁻¹ J_p

Symbols: c and p the bodies of a joint away from the root and towards it, I their inertias with all that hangs from
them, J_c and J_p the joint's rows on them, f forces, y accelerations, λ multipliers, b what the rows want.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.maths.block_sparse import factor_block, solve_block
from rattleback.maths.dense_factor import DenseSystems
from rattleback.maths.small_solve import symmetric_inverse, vec6
from rattleback.model.model import Bodies
from rattleback.problem.delassus import AA, BB, REDUNDANT, entry
from rattleback.problem.joint_rows import Inertias, JointRows, Joints, Rows

BLOCK = 36


@group(axis="steps")
class TreeData:
    """The order of elimination in one world, and the blocks of all worlds."""

    joint: wp.int32 = field("1", "joint of a step of the elimination, leaves first")
    child_is_b: wp.int32 = field("1", "1 where B is on its side away from the root")
    parent_moves: wp.int32 = field("1", "1 where the body on its other side moves")
    closing: wp.int32 = field("1", "joint that closes a loop", axis="closing")
    root: wp.int32 = field("1", "moving body that is the root of a part", axis="roots")
    inertia: real = field("kg, kg m²", "inertia of a body with what hangs from it; its factor", axis="body_entries")
    body_least: real = field("1", "zero: no pivot of an inertia is too small", axis="body_rows")
    body_order: wp.int32 = field("1", "coordinate that was eliminated in this place", axis="body_rows")
    force: real = field("N, N m", "f of a body", axis="body_rows")
    acceleration: real = field("m/s², rad/s²", "y of a body", axis="body_rows")
    compliance: real = field("1/kg", "S of a joint; its factor", axis="joint_entries")
    least: real = field("1/kg", "smallest pivot a row may have", axis="rows")
    order: wp.int32 = field("1", "row of the joint that was eliminated in this place", axis="rows")
    wanted: real = field("m/s²", "b of a row in a substitution", axis="rows")
    found: real = field("N", "λ of a row in a substitution", axis="rows")
    dropped: wp.int32 = field("1", "rows of a joint left out because others imply them", axis="joints")


@wp.struct
class Tree:
    """The same with the numbers of joints and bodies of one world."""

    data: TreeData
    joints: wp.int32
    bodies: wp.int32


@wp.struct
class Hold:
    """A joint in a step of the elimination, with its two bodies; a side is 1 for B and 0 for A."""

    joint: wp.int32
    child: wp.int32
    parent: wp.int32
    side: wp.int32
    first: wp.int32
    count: wp.int32


@wp.func
def hold_of(joints: Joints, tree: Tree, world: int, step: int) -> Hold:
    """The joint of a step in a world; its parent is −1 where that does not move."""
    found = Hold()
    found.joint = world * tree.joints + tree.data.joint[step]
    found.side = tree.data.child_is_b[step]
    found.child = wp.where(found.side == 1, joints.body_b[found.joint], joints.body_a[found.joint])
    found.parent = wp.where(found.side == 1, joints.body_a[found.joint], joints.body_b[found.joint])
    if tree.data.parent_moves[step] == 0:
        found.parent = -1
    found.first = joints.first[found.joint]
    found.count = joints.count[found.joint]
    return found


@wp.func
def row_on(rows: Rows, r: int, side: int) -> vec6:
    """A row on one of its bodies."""
    n = rows.linear[r]
    turn = rows.angular_b[r]
    if side == 0:
        n = -n
        turn = rows.angular_a[r]
    return vec6(n[0], n[1], n[2], turn[0], turn[1], turn[2])


@wp.func
def read6(values: wp.array[real], body: int) -> vec6:
    """Six numbers of a body."""
    x = vec6()
    for k in range(6):
        x[k] = values[6 * body + k]
    return x


@wp.func
def write6(values: wp.array[real], body: int, x: vec6) -> None:
    """Write six numbers of a body."""
    for k in range(6):
        values[6 * body + k] = x[k]


@wp.func
def answer_of(data: TreeData, body: int, f: vec6) -> vec6:
    """I⁻¹ f of a body that is factored."""
    return solve_block(data.inertia, BLOCK * body, 6, data.body_order, 6 * body, f)


@wp.func
def begin_inertia(bodies: Bodies, inertias: Inertias, data: TreeData, i: int) -> None:
    """The inertia of a body alone."""
    turn, _determinant = symmetric_inverse(inertias.inverse[i])
    for m in range(6):
        for n in range(6):
            value = real(0.0)
            if m < 3 and m == n:
                value = bodies.mass[i]
            if m > 2 and n > 2:
                value = turn[m - 3, n - 3]
            data.inertia[BLOCK * i + 6 * m + n] = value


@wp.func
def eliminate_joint(rows: Rows, data: TreeData, hold: Hold) -> None:
    """S of a joint, factored, and what it adds to the inertia of its other body."""
    n = hold.count
    at = BLOCK * hold.joint
    for q in range(n):
        y = answer_of(data, hold.child, row_on(rows, hold.first + q, hold.side))
        for m in range(n):
            data.compliance[at + m * n + q] = wp.dot(row_on(rows, hold.first + m, hold.side), y)
    for m in range(n):
        data.least[hold.first + m] = REDUNDANT * data.compliance[at + m * n + m]
    dropped = factor_block(data.compliance, at, n, data.least, data.order, hold.first)
    data.dropped[hold.joint] = dropped
    if hold.parent < 0:
        return
    for k in range(6):
        column = vec6()
        for m in range(n):
            j = row_on(rows, hold.first + m, 1 - hold.side)
            column[m] = j[k]
        column = solve_block(data.compliance, at, n, data.order, hold.first, column)
        for m in range(n):
            j = row_on(rows, hold.first + m, 1 - hold.side)
            for i in range(6):
                entry = BLOCK * hold.parent + 6 * i + k
                data.inertia[entry] = data.inertia[entry] + j[i] * column[m]


@wp.func
def factor_body(data: TreeData, i: int) -> None:
    """Factor the inertia of a body."""
    factor_block(data.inertia, BLOCK * i, 6, data.body_least, data.body_order, 6 * i)


@kernel
def factor_tree(
    joints: Joints, bodies: Bodies, rows: Rows, tree: Tree, inertias: Inertias, which: wp.array[wp.int32]
) -> None:
    """Factor the tree of one world, where it is wanted."""
    world = wp.tid()
    if which[world] == 0:
        return
    steps = tree.data.joint.shape[0]
    for s in range(steps):
        begin_inertia(bodies, inertias, tree.data, hold_of(joints, tree, world, s).child)
    for k in range(tree.data.root.shape[0]):
        begin_inertia(bodies, inertias, tree.data, world * tree.bodies + tree.data.root[k])
    for s in range(steps):
        hold = hold_of(joints, tree, world, s)
        factor_body(tree.data, hold.child)
        eliminate_joint(rows, tree.data, hold)
    for k in range(tree.data.root.shape[0]):
        factor_body(tree.data, world * tree.bodies + tree.data.root[k])


@wp.func
def substitute_joint(rows: Rows, data: TreeData, hold: Hold) -> None:
    """On the way to the root: r of a joint, and what it adds to the forces on its other body."""
    y = answer_of(data, hold.child, read6(data.force, hold.child))
    r = vec6()
    for m in range(hold.count):
        r[m] = data.wanted[hold.first + m] - wp.dot(row_on(rows, hold.first + m, hold.side), y)
        data.found[hold.first + m] = r[m]
    if hold.parent >= 0:
        r = solve_block(data.compliance, BLOCK * hold.joint, hold.count, data.order, hold.first, r)
        f = read6(data.force, hold.parent)
        for m in range(hold.count):
            f += r[m] * row_on(rows, hold.first + m, 1 - hold.side)
        write6(data.force, hold.parent, f)


@wp.func
def substitute_back(rows: Rows, data: TreeData, hold: Hold) -> None:
    """On the way to the leaves: λ of a joint and y of its body away from the root."""
    r = vec6()
    for m in range(hold.count):
        r[m] = data.found[hold.first + m]
        if hold.parent >= 0:
            r[m] = r[m] - wp.dot(row_on(rows, hold.first + m, 1 - hold.side), read6(data.acceleration, hold.parent))
    r = solve_block(data.compliance, BLOCK * hold.joint, hold.count, data.order, hold.first, r)
    f = read6(data.force, hold.child)
    for m in range(hold.count):
        data.found[hold.first + m] = r[m]
        f += r[m] * row_on(rows, hold.first + m, hold.side)
    write6(data.acceleration, hold.child, answer_of(data, hold.child, f))


@wp.func
def substitute_tree(joints: Joints, rows: Rows, tree: Tree, world: int) -> None:
    """The accelerations ``y`` and the multipliers ``found`` for the forces ``f`` and ``wanted``."""
    steps = tree.data.joint.shape[0]
    for s in range(steps):
        substitute_joint(rows, tree.data, hold_of(joints, tree, world, s))
    for k in range(tree.data.root.shape[0]):
        i = world * tree.bodies + tree.data.root[k]
        write6(tree.data.acceleration, i, answer_of(tree.data, i, read6(tree.data.force, i)))
    for back in range(steps):
        substitute_back(rows, tree.data, hold_of(joints, tree, world, steps - 1 - back))


@wp.func
def begin(joints: Joints, rows: Rows, tree: Tree, world: int, part: real) -> None:
    """No force acts, and rows want this part of what they want."""
    for i in range(world * tree.bodies, (world + 1) * tree.bodies):
        write6(tree.data.force, i, vec6())
        write6(tree.data.acceleration, i, vec6())
    for s in range(tree.data.joint.shape[0]):
        j = world * tree.joints + tree.data.joint[s]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            tree.data.wanted[r] = part * rows.wanted[r]


@wp.func
def push(joints: Joints, rows: Rows, data: TreeData, j: int, r: int, p: real) -> None:
    """F += J_rᵀ p on the bodies of a joint that move."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    if a >= 0:
        write6(data.force, a, read6(data.force, a) + p * row_on(rows, r, 0))
    if b >= 0:
        write6(data.force, b, read6(data.force, b) + p * row_on(rows, r, 1))


@wp.func
def felt(joints: Joints, rows: Rows, data: TreeData, j: int, r: int) -> real:
    """J_r y; what does not move has no y."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    total = real(0.0)
    if a >= 0:
        total += wp.dot(row_on(rows, r, 0), read6(data.acceleration, a))
    if b >= 0:
        total += wp.dot(row_on(rows, r, 1), read6(data.acceleration, b))
    return total


@kernel
def respond_to_closing(
    joints: Joints, rows: Rows, tree: Tree, systems: DenseSystems, which: wp.array[wp.int32]
) -> None:
    """K of one world, a column for every closing row, and the least pivot of each."""
    world = wp.tid()
    if which[world] == 0:
        return
    size = systems.x.shape[0] // which.shape[0]
    column = int(0)
    for c in range(tree.data.closing.shape[0]):
        j = world * tree.joints + tree.data.closing[c]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            begin(joints, rows, tree, world, real(0.0))
            push(joints, rows, tree.data, j, r, real(1.0))
            substitute_tree(joints, rows, tree, world)
            row = int(0)
            for d in range(tree.data.closing.shape[0]):
                i = world * tree.joints + tree.data.closing[d]
                for q in range(joints.first[i], joints.first[i] + joints.count[i]):
                    value = felt(joints, rows, tree.data, i, q)
                    systems.value[(world * size + row) * size + column] = value
                    row += 1
            systems.least[world * size + column] = REDUNDANT * entry(joints, rows, AA + BB, j, r, r)
            column += 1


@kernel
def solve_tree(joints: Joints, rows: Rows, tree: Tree) -> None:
    """Accelerations and multipliers of one world without its closing joints."""
    world = wp.tid()
    begin(joints, rows, tree, world, real(1.0))
    substitute_tree(joints, rows, tree, world)
    give_multipliers(joints, rows, tree, world)


@wp.func
def give_multipliers(joints: Joints, rows: Rows, tree: Tree, world: int) -> None:
    """Write the multipliers of the tree into the rows."""
    for s in range(tree.data.joint.shape[0]):
        j = world * tree.joints + tree.data.joint[s]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            rows.impulse[r] = tree.data.found[r]


@kernel
def want_of_closing(joints: Joints, rows: Rows, tree: Tree, systems: DenseSystems) -> None:
    """b_L − J_L y of one world."""
    world = wp.tid()
    at = world * (systems.x.shape[0] // (joints.world.shape[0] // tree.joints))
    for c in range(tree.data.closing.shape[0]):
        j = world * tree.joints + tree.data.closing[c]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            systems.x[at] = rows.wanted[r] - felt(joints, rows, tree.data, j, r)
            at += 1


@kernel
def solve_with_closing(joints: Joints, rows: Rows, tree: Tree, systems: DenseSystems) -> None:
    """Multipliers of one world, those of its closing joints being found."""
    world = wp.tid()
    begin(joints, rows, tree, world, real(1.0))
    at = world * (systems.x.shape[0] // (joints.world.shape[0] // tree.joints))
    for c in range(tree.data.closing.shape[0]):
        j = world * tree.joints + tree.data.closing[c]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            rows.impulse[r] = systems.x[at]
            push(joints, rows, tree.data, j, r, systems.x[at])
            at += 1
    substitute_tree(joints, rows, tree, world)
    give_multipliers(joints, rows, tree, world)


def make_tree(
    problem: JointRows, order: Sequence[tuple[int, int, int]], roots: Sequence[int], closing: Sequence[int]
) -> Any:
    """The order of elimination on the device, and room for the blocks.

    Args:
        problem: The joints as rows.
        order: Joints of a world, leaves first, each with its body away from the root and the one towards it.
        roots: Moving bodies of a world that are roots.
        closing: Joints of a world that close loops.
    """
    model, joints = problem.model, problem.joint_count
    lists = {
        "joint": [joint for joint, _, _ in order],
        "child_is_b": [int(problem.pairs[joint, 1] == child) for joint, child, _ in order],
        "parent_moves": [int(parent >= 0) for _, _, parent in order],
        "closing": list(closing),
        "root": list(roots),
    }
    counts = {
        "steps": len(order),
        "closing": len(closing),
        "roots": len(roots),
        "body_entries": BLOCK * model.count,
        "body_rows": 6 * model.count,
        "joint_entries": BLOCK * joints,
        "rows": problem.row_count,
        "joints": joints,
    }
    tree: Any = Tree()
    tree.data = arrays.allocate(TreeData, counts, model.device)
    for name, values in lists.items():
        getattr(tree.data, name).assign(np.array(values, dtype=np.int32))
    tree.joints, tree.bodies = len(problem.names), model.count // model.worlds
    return tree
