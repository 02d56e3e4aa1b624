"""Newton's system of an implicit step: the kernels that fill its blocks, factor them and solve.

    [ H    −τ J_τᵀ ] [δu]   [ −g ]      g = M (u − u₀) − τ (F + J_τᵀ λ),   e = error of the hard rows at the end
    [ h J₁    ε    ] [δλ] = [ −e ]      H = M + τ G T − τ (τ ∂F/∂q T + ∂F/∂V)

u velocities looked for, λ forces of the hard rows, F all other forces and torques at the pose y₀ exp(τ u), J_τ the hard
rows there, J₁ and e those at the end of the step y₀ exp(h u); G the change of the angular momentum R I Rᵀ ω by a turn,
T the left Jacobian of turns, δθ = τ T δω. A small ε beside J M⁻¹ Jᵀ keeps the matrix regular where rows nearly
depend on each other and changes nothing of the solution, as e is not changed; rows that others imply are left out.
Which second derivatives ∂F/∂q has is the method's choice.

Here the blocks and the right-hand side are filled; ``elimination`` solves.
"""

import warp as wp

from rattleback.constraints.frame import Row
from rattleback.constraints.row import row_of
from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, quat, real, vec3
from rattleback.maths.quat import rotate_back
from rattleback.maths.small_solve import mat66, vec6
from rattleback.model.joint_memory import JointState
from rattleback.model.model import Bodies
from rattleback.model.state import Loads, Motion
from rattleback.problem.joint_rows import Joints, RowDefinitions, counted_frames_of, definition_of
from rattleback.problem.soft.forces import MOTIONS, SoftForces
from rattleback.problem.soft.layout import Order, Places, Unknowns
from rattleback.problem.stiffness import inertia_of
from rattleback.problem.yielding import is_yielding

# How much rows yield in the matrix, beside their bodies.
LEAST = wp.constant(real(1e-12))
SIX = wp.constant(6)


@wp.struct
class System:
    """The pattern of a world, and the numbers of all worlds."""

    places: Places
    order: Order
    unknowns: Unknowns
    body_node: wp.array[wp.int32]
    body_block: wp.array[wp.int32]
    nodes: wp.int32
    blocks: wp.int32
    joints: wp.int32
    bodies: wp.int32


@wp.struct
class Held:
    """The rows that hold, at the pose where forces act and at the end of the step, and which of the blocks are used."""

    acting: wp.array[Row]
    end: wp.array[Row]
    slopes: wp.int32
    crossed: wp.int32


@wp.struct
class Side:
    """One side of a joint: A or B, the joint's block by it, T of its body at the end of the step, the step's length."""

    b: wp.int32
    block: wp.int32
    turn: mat33
    length: real


@wp.struct
class Search:
    """What Newton's method looks for, lengths of the step and of the way to where forces act, start poses, and rank.

    ``size`` is what a row that holds responds with alone, ``dropped`` is 1 where others imply it.
    """

    u: wp.array[vec6]
    change: wp.array[real]
    force: wp.array[real]
    busy: wp.array[wp.int32]
    step: wp.array[real]
    acting: wp.array[real]
    turn: wp.array[quat]
    size: wp.array[real]
    dropped: wp.array[wp.int32]


@wp.func
def skew(v: vec3) -> mat33:
    """The matrix of v ×."""
    zero = real(0.0)
    return mat33(zero, -v[2], v[1], v[2], zero, -v[0], -v[1], v[0], zero)


@wp.func
def turn_slope(phi: vec3) -> mat33:
    """T: how the turn exp(φ) changes on the left with φ."""
    square = wp.dot(phi, phi)
    a = real(0.5) - square / real(24.0)
    b = real(1.0) / real(6.0) - square / real(120.0)
    if square > real(1e-4):
        angle = wp.sqrt(square)
        a = (real(1.0) - wp.cos(angle)) / square
        b = (angle - wp.sin(angle)) / (square * angle)
    x = skew(phi)
    return wp.identity(n=3, dtype=real) + a * x + b * (x * x)


@wp.func
def spin_of(u: vec6) -> vec3:
    """The angular velocity in an unknown."""
    return vec3(u[3], u[4], u[5])


@wp.func
def slope_of(search: Search, i: int, t: real) -> mat33:
    """T of a body over a time; for the world any."""
    if i < 0:
        return wp.identity(n=3, dtype=real)
    return turn_slope(t * spin_of(search.u[i]))


@kernel
def find_rows(
    joints: Joints, definitions: RowDefinitions, motion: Motion, remembered: JointState, rows: wp.array[Row]
) -> None:
    """Error and Jacobian of the rows of a joint that hold; others and those of broken joints are zero."""
    j = wp.tid()
    frames = counted_frames_of(joints, motion, remembered, j)
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows[r] = Row()
        if joints.broken[j] == 0 and not is_yielding(definitions, r):
            rows[r] = row_of(definition_of(definitions, r), frames)


@kernel
def clear(system: System, search: Search) -> None:
    """No block of a world has anything yet."""
    k = wp.tid()
    if search.busy[k // system.blocks] == 1:
        system.unknowns.value[k] = mat66()


@kernel
def add_bodies(bodies: Bodies, system: System, search: Search, start: Motion, acting: Motion, loads: Loads) -> None:
    """The part of a body in its own block, and its balance of momentum without the forces of rows."""
    i = wp.tid()
    w = bodies.world[i]
    node = system.body_node[i % system.bodies]
    if search.busy[w] == 0 or node < 0:
        return
    tau = search.acting[w]
    u = search.u[i]
    v = vec3(u[0], u[1], u[2])
    omega = spin_of(u)
    inertia = inertia_of(bodies, acting, i)
    momentum = inertia * omega
    before = inertia_of(bodies, start, i) * start.angular_velocity[i]
    growth = (inertia * skew(omega) - skew(momentum)) * turn_slope(tau * omega)
    own = inertia + tau * growth
    block = mat66()
    for m in range(3):
        block[m, m] = bodies.mass[i]
        for n in range(3):
            block[3 + m, 3 + n] = own[m, n]
    p = tau * loads.force[i] - bodies.mass[i] * (v - start.velocity[i])
    t = tau * loads.torque[i] - momentum + before
    system.unknowns.value[w * system.blocks + system.body_block[i % system.bodies]] = block
    system.unknowns.right[w * system.nodes + node] = vec6(p[0], p[1], p[2], t[0], t[1], t[2])


@wp.func
def turned(column: int, at: int, slopes: wp.array[vec6], t: mat33) -> vec6:
    """A column of a block by poses, with the turn told by the angular velocity."""
    if column < 3:
        return slopes[at + column]
    m = column - 3
    return t[0, m] * slopes[at + 3] + t[1, m] * slopes[at + 4] + t[2, m] * slopes[at + 5]


@wp.func
def add_slope(system: System, forces: SoftForces, at: int, block: int, tau: real, t: mat33) -> None:
    """−τ (τ ∂F/∂q T + ∂F/∂V) of one pair of sides."""
    value = system.unknowns.value[block]
    for c in range(SIX):
        column = tau * tau * turned(c, at, forces.by_pose, t) + tau * forces.by_rate[at + c]
        for m in range(SIX):
            value[m, c] = value[m, c] - column[m]
    system.unknowns.value[block] = value


@wp.func
def side_of(row: Row, b: int) -> tuple[vec3, vec3]:
    """The Jacobian of a row by A, or by B."""
    if b == 1:
        return row.linear_b, row.angular_b
    return row.linear_a, row.angular_a


@wp.func
def hold_columns(
    system: System, held: Held, search: Search, first: int, count: int, b: int, block: int, tau: real
) -> None:
    """−τ Jᵀ of the rows of a joint, in the block of one of its bodies by the joint."""
    value = mat66()
    for k in range(count):
        if search.dropped[first + k] == 1:
            continue
        linear, angular = side_of(held.acting[first + k], b)
        for m in range(3):
            value[m, k] = -tau * linear[m]
            value[3 + m, k] = -tau * angular[m]
    system.unknowns.value[block] = value


@wp.func
def hold_rows(
    system: System, held: Held, search: Search, definitions: RowDefinitions, first: int, count: int, side: Side
) -> None:
    """The derivative of what the rows of a joint hold, in its block by one of its bodies; ``turn`` is T at the end."""
    value = mat66()
    for k in range(count):
        if search.dropped[first + k] == 1:
            continue
        linear, angular = side_of(held.end[first + k], side.b)
        linear = side.length * linear
        angular = side.length * (wp.transpose(side.turn) * angular)
        if definitions.is_velocity[first + k] == 1:
            linear, angular = side_of(held.acting[first + k], side.b)
        for m in range(3):
            value[k, m] = linear[m]
            value[k, 3 + m] = angular[m]
    system.unknowns.value[side.block] = value


@wp.func
def response_of(bodies: Bodies, orientation: wp.array[quat], row: Row, b: int, i: int) -> real:
    """J M⁻¹ Jᵀ of a row by one body."""
    if i < 0:
        return real(0.0)
    linear, angular = side_of(row, b)
    local = rotate_back(orientation[i], angular)
    return bodies.inverse_mass[i] * wp.dot(linear, linear) + wp.dot(local, bodies.inverse_inertia[i] * local)


@wp.func
def row_rate(row: Row, search: Search, a: int, b: int) -> real:
    """J u of a row."""
    rate = real(0.0)
    if a >= 0:
        u = search.u[a]
        rate += wp.dot(row.linear_a, vec3(u[0], u[1], u[2])) + wp.dot(row.angular_a, spin_of(u))
    if b >= 0:
        u = search.u[b]
        rate += wp.dot(row.linear_b, vec3(u[0], u[1], u[2])) + wp.dot(row.angular_b, spin_of(u))
    return rate


@wp.func
def own_block(
    bodies: Bodies, joints: Joints, definitions: RowDefinitions, system: System, search: Search, held: Held, j: int
) -> tuple[mat66, vec6]:
    """The block of a joint by itself, and what its rows are off by, with a minus."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    w = joints.world[j]
    value = wp.identity(n=6, dtype=real)
    right = vec6()
    for k in range(joints.count[j]):
        r = joints.first[j] + k
        if joints.broken[j] == 0 and not is_yielding(definitions, r):
            row = held.acting[r]
            give = search.step[w] * search.acting[w]
            off = held.end[r].error
            if definitions.is_velocity[r] == 1:
                give = search.acting[w]
                off = row_rate(row, search, a, b) - definitions.rate[r]
            response = response_of(bodies, search.turn, row, 0, a) + response_of(bodies, search.turn, row, 1, b)
            search.size[r] = give * response
            if search.dropped[r] == 0:
                value[k, k] = LEAST * give * response
                right[k] = -off
    return value, right


@wp.func
def add_joint(
    bodies: Bodies,
    joints: Joints,
    definitions: RowDefinitions,
    forces: SoftForces,
    system: System,
    search: Search,
    held: Held,
    j: int,
) -> None:
    """What a joint adds to the system of its world."""
    w = joints.world[j]
    p = j % system.joints
    base = w * system.blocks
    a = joints.body_a[j]
    b = joints.body_b[j]
    tau = search.acting[w]
    h = search.step[w]
    first = joints.first[j]
    at = 2 * MOTIONS * j
    turn_a = slope_of(search, a, tau)
    turn_b = slope_of(search, b, tau)
    if system.places.aa[p] >= 0:
        node = w * system.nodes + system.body_node[a % system.bodies]
        system.unknowns.right[node] = system.unknowns.right[node] + tau * forces.on_a[j]
        if held.slopes == 1:
            add_slope(system, forces, at, base + system.places.aa[p], tau, turn_a)
    if system.places.bb[p] >= 0:
        node = w * system.nodes + system.body_node[b % system.bodies]
        system.unknowns.right[node] = system.unknowns.right[node] + tau * forces.on_b[j]
        if held.slopes == 1:
            add_slope(system, forces, at + MOTIONS + 6, base + system.places.bb[p], tau, turn_b)
    if system.places.ab[p] >= 0 and held.slopes == 1 and held.crossed == 1:
        add_slope(system, forces, at + 6, base + system.places.ab[p], tau, turn_b)
        add_slope(system, forces, at + MOTIONS, base + system.places.ba[p], tau, turn_a)
    if system.places.node[p] >= 0:
        side = Side()
        side.length = h
        if system.places.ja[p] >= 0:
            side.block = base + system.places.ja[p]
            side.turn = slope_of(search, a, h)
            hold_columns(system, held, search, first, joints.count[j], 0, base + system.places.aj[p], tau)
            hold_rows(system, held, search, definitions, first, joints.count[j], side)
        if system.places.jb[p] >= 0:
            side.b = 1
            side.block = base + system.places.jb[p]
            side.turn = slope_of(search, b, h)
            hold_columns(system, held, search, first, joints.count[j], 1, base + system.places.bj[p], tau)
            hold_rows(system, held, search, definitions, first, joints.count[j], side)
        value, right = own_block(bodies, joints, definitions, system, search, held, j)
        system.unknowns.value[base + system.places.jj[p]] = value
        system.unknowns.right[w * system.nodes + system.places.node[p]] = right


@kernel
def add_joints(
    bodies: Bodies,
    joints: Joints,
    definitions: RowDefinitions,
    forces: SoftForces,
    system: System,
    search: Search,
    held: Held,
) -> None:
    """What the joints of a world add to its system, in order."""
    w = wp.tid()
    if search.busy[w] == 1:
        for p in range(system.joints):
            add_joint(bodies, joints, definitions, forces, system, search, held, w * system.joints + p)
