"""A mechanism as one thread sees it: bodies, joints, and the equations of their impulses with a pattern of zeros.

    A = G W Pᵀ,    W = diag(1/m, D)

P Jacobian of the rows where the impulses act, G where the rows are to hold, m masses, D change of the turn of a body by
an angular impulse. Where both are at the same pose A is symmetric, else only its pattern is.

    order the joints so that elimination fills in little; the pattern is that of the joints that share bodies, and fill
    A = L U without exchanges, touching only the pattern; rows that are left out are passed over
    solve
Cost: linear in the number of joints for chains and trees, whose elimination fills in nothing.

Rows that others imply: their number is counted once, where the scene starts, by the singular values of J with angular
columns divided by radii of gyration, so that masses have no say. Which rows are left out is chosen at the start of
every step, by elimination with the largest pivot first; the impulses on the bodies do not depend on that choice.

Reference: Golub and Van Loan, Matrix Computations, §4.2.8 (pivoting) and §11.1 (sparse factors).
"""

from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, real, vec3
from rattleback.model.model import Bodies, Model
from rattleback.problem.delassus import AA, AB, BA, BB
from rattleback.problem.joint_rows import JointRows, Joints, RowDefinitions
from rattleback.steps.symmetric.pattern import Pattern, make_pattern
from rattleback.steps.symmetric.tops import Tops, make_tops

# A pivot of a scaled matrix below this is nothing but rounding.
NOTHING = wp.constant(real(1e-12))
# Singular values of the scaled Jacobian below this part of the largest belong to rows that others imply.
IMPLIED = 1e-8


@wp.struct
class Mechanism:
    """What does not change: all worlds, and the sizes and the pattern of one."""

    bodies: Bodies
    tops: Tops
    joints: Joints
    definitions: RowDefinitions
    pattern: Pattern
    body_count: wp.int32
    joint_count: wp.int32
    row_count: wp.int32
    rank: wp.int32
    rates: wp.int32


@group(axis="rows")
class Node:
    """The rows at one pose, and what acts along them there."""

    linear: vec3 = field("1", "Jacobian by the velocity of B; that of A is its negative")
    angular_a: vec3 = field("m or 1", "Jacobian by the angular velocity of A")
    angular_b: vec3 = field("m or 1", "Jacobian by the angular velocity of B")
    response_a: vec3 = field("1/(kg m)", "change of the turn of A by a unit impulse")
    response_b: vec3 = field("1/(kg m)", "change of the turn of B")
    error: real = field("m or rad", "error")
    force: real = field("N or N m", "half of an impulse at this pose, for each second of its step")
    impulse: real = field("N s or N m s", "impulse found last at this pose")
    inverse: mat33 = field("1/(kg m²)", "inverse inertia of a body, world frame", axis="bodies")


@group(axis="rows")
class System:
    """The equations of all worlds, and how it goes with them."""

    x: real = field("1", "right-hand side, then solution, by equation")
    pivot: real = field("1", "inverse pivot of an equation; zero where it is left out")
    kept: wp.int32 = field("1", "1 where a row takes part")
    value: real = field("1", "entries of the matrices, row by row", axis="entries")
    slope: mat33 = field("1/(kg m²)", "D of a body", axis="bodies")
    active: wp.int32 = field("1", "1 where a world takes part in this step", axis="worlds")
    trouble: wp.int32 = field("1", "1 where the impulses of the joints were not found", axis="worlds")
    iterations: wp.int32 = field("1", "most iterations a step needed", axis="worlds")
    goal: real = field("m or rad", "error of the rows that is left", axis="worlds")
    left: real = field("m or rad", "largest error left so far", axis="worlds")
    busy: wp.int32 = field("1", "1 while velocities and forces of a world do not agree", axis="worlds")
    rounds: wp.int32 = field("1", "rounds that took", axis="worlds")
    share: real = field("1", "part of the disagreement that the next of them takes away", axis="worlds")
    change: real = field("m/s or rad/s", "change of velocities by the last of them", axis="worlds")


@wp.func
def respond(m: Mechanism, node: Node, change: wp.array[mat33], w: int) -> None:
    """The responses of all rows of a world, by a matrix of every body."""
    for j in range(w * m.joint_count, (w + 1) * m.joint_count):
        a = m.joints.body_a[j]
        b = m.joints.body_b[j]
        for r in range(m.joints.first[j], m.joints.first[j] + m.joints.count[j]):
            if a >= 0:
                node.response_a[r] = change[a] * node.angular_a[r]
            if b >= 0:
                node.response_b[r] = change[b] * node.angular_b[r]


@wp.func
def clear(m: Mechanism, system: System, w: int) -> None:
    """Zeros on the pattern."""
    n = m.row_count
    base = w * n * n
    for k in range(n):
        system.value[base + k * n + k] = real(0.0)
        for p in range(m.pattern.first[k], m.pattern.first[k] + m.pattern.count[k]):
            i = m.pattern.later[p]
            system.value[base + k * n + i] = real(0.0)
            system.value[base + i * n + k] = real(0.0)


@wp.func
def shared_mass(m: Mechanism, shared: int, i: int) -> real:
    """Inverse masses that two joints share, with the signs of their ends; ``i`` is the first joint."""
    mass = real(0.0)
    if shared & AA:
        mass += m.joints.inverse_mass_a[i]
    if shared & AB:
        mass -= m.joints.inverse_mass_a[i]
    if shared & BA:
        mass -= m.joints.inverse_mass_b[i]
    if shared & BB:
        mass += m.joints.inverse_mass_b[i]
    return mass


@wp.func
def assemble_pair(m: Mechanism, system: System, grows: Node, acts: Node, p: int, mirrored: int, w: int) -> None:
    """The block of A of two joints: change of the rows of one by unit impulses along those of the other."""
    n = m.row_count
    base = w * n * n
    shift = w * n
    i = w * m.joint_count + m.pattern.one[p]
    j = w * m.joint_count + m.pattern.other[p]
    shared = m.pattern.shared[p]
    mass = shared_mass(m, shared, i)
    for r in range(m.joints.first[i], m.joints.first[i] + m.joints.count[i]):
        row = m.pattern.place[r - shift]
        linear = grows.linear[r]
        a = grows.angular_a[r]
        b = grows.angular_b[r]
        for s in range(m.joints.first[j], m.joints.first[j] + m.joints.count[j]):
            column = m.pattern.place[s - shift]
            value = mass * wp.dot(linear, acts.linear[s])
            if shared & AA:
                value += wp.dot(a, acts.response_a[s])
            if shared & AB:
                value += wp.dot(a, acts.response_b[s])
            if shared & BA:
                value += wp.dot(b, acts.response_a[s])
            if shared & BB:
                value += wp.dot(b, acts.response_b[s])
            system.value[base + row * n + column] = value
            if mirrored == 1:
                system.value[base + column * n + row] = value


@wp.func
def assemble(m: Mechanism, system: System, grows: Node, acts: Node, w: int) -> None:
    """A of a world, where rows hold at another pose than impulses act."""
    clear(m, system, w)
    for p in range(m.pattern.one.shape[0]):
        assemble_pair(m, system, grows, acts, p, 0, w)


@wp.func
def assemble_symmetric(m: Mechanism, system: System, node: Node, w: int) -> None:
    """A of a world, where both are at the same pose: one block of a pair gives the other."""
    clear(m, system, w)
    for p in range(m.pattern.one.shape[0]):
        if m.pattern.one[p] <= m.pattern.other[p]:
            assemble_pair(m, system, node, node, p, 1, w)


@wp.func
def factor(m: Mechanism, system: System, w: int) -> None:
    """A = L U in its place, along the pattern; rows that are left out are passed over."""
    n = m.row_count
    base = w * n * n
    for k in range(n):
        system.pivot[w * n + k] = real(0.0)
        if system.kept[w * n + m.pattern.row[k]] == 1:
            inverse = real(1.0) / system.value[base + k * n + k]
            system.pivot[w * n + k] = inverse
            begin = m.pattern.first[k]
            end = begin + m.pattern.count[k]
            for p in range(begin, end):
                line = base + m.pattern.later[p] * n
                f = system.value[line + k] * inverse
                system.value[line + k] = f
                if f != real(0.0):
                    for q in range(begin, end):
                        j = m.pattern.later[q]
                        system.value[line + j] = system.value[line + j] - f * system.value[base + k * n + j]


@wp.func
def solve(m: Mechanism, system: System, w: int) -> None:
    """The solution in the place of the right-hand side; zero for rows that are left out."""
    n = m.row_count
    base = w * n * n
    own = w * n
    for k in range(n):
        x = system.x[own + k]
        if system.pivot[own + k] != real(0.0):
            for p in range(m.pattern.first[k], m.pattern.first[k] + m.pattern.count[k]):
                i = m.pattern.later[p]
                system.x[own + i] = system.x[own + i] - system.value[base + i * n + k] * x
    for back in range(n):
        k = n - 1 - back
        x = system.x[own + k]
        for p in range(m.pattern.first[k], m.pattern.first[k] + m.pattern.count[k]):
            j = m.pattern.later[p]
            x -= system.value[base + k * n + j] * system.x[own + j]
        system.x[own + k] = x * system.pivot[own + k]


@wp.func
def choose_rows(m: Mechanism, system: System, node: Node, w: int) -> None:
    """Which rows take part: as many as are independent, those with the largest pivots beside their diagonal.

    The responses of the node are there.
    """
    n = m.row_count
    base = w * n * n
    if m.rank < n:
        for e in range(base, base + n * n):
            system.value[e] = real(0.0)
    assemble_symmetric(m, system, node, w)
    for k in range(n):
        whole = system.value[base + k * n + k]
        system.x[w * n + k] = whole
        system.kept[w * n + m.pattern.row[k]] = wp.where(m.rank == n and whole > real(0.0), 1, 0)
    if m.rank == n:
        return
    for _turn in range(m.rank):
        best = int(-1)
        most = real(NOTHING)
        for k in range(n):
            whole = system.x[w * n + k]
            if system.kept[w * n + m.pattern.row[k]] == 0 and whole > real(0.0):
                ratio = system.value[base + k * n + k] / whole
                if ratio > most:
                    most = ratio
                    best = k
        if best >= 0:
            system.kept[w * n + m.pattern.row[best]] = 1
            inverse = real(1.0) / system.value[base + best * n + best]
            for i in range(n):
                f = system.value[base + i * n + best] * inverse
                if f != real(0.0) and system.kept[w * n + m.pattern.row[i]] == 0:
                    for j in range(n):
                        at = base + i * n + j
                        system.value[at] = system.value[at] - f * system.value[base + best * n + j]


def make_mechanism(problem: JointRows | None, model: Model) -> Any:
    """The mechanism of a model, with the pattern of one world; its rank is that of all rows."""
    m: Any = Mechanism()
    m.bodies, m.tops = model.bodies, make_tops(model)
    m.body_count, m.joint_count, m.row_count = len(model.names), 0, 0
    sizes = dict.fromkeys(("rows", "couplings", "pairs", "joints"), 0)
    if problem is None:
        m.joints, m.definitions, m.pattern = (
            arrays.allocate(kind, sizes, model.device) for kind in (Joints, RowDefinitions, Pattern)
        )
        return m
    m.joints, m.definitions = problem.joints, problem.definitions
    m.joint_count, m.row_count = len(problem.names), int(problem.counts.sum())
    m.rank = m.row_count
    m.rates = int(problem.definitions.is_velocity.numpy().any())
    m.pattern = make_pattern(problem)
    return m


def make_system(m: Any, model: Model) -> Any:
    """Room for the equations of all worlds."""
    n = m.row_count * model.worlds
    sizes = {"rows": n, "entries": n * m.row_count, "bodies": model.count, "worlds": model.worlds}
    return arrays.allocate(System, sizes, model.device)


def make_node(m: Any, model: Model) -> Any:
    """Room for the rows of all worlds at one pose."""
    return arrays.allocate(Node, {"rows": m.row_count * model.worlds, "bodies": model.count}, model.device)
