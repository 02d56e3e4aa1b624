"""Cut loops: a tree of joints is solved directly, the joints that close loops iteratively, each seeing the other.

    A_TT λ_T = b_T − A_TC λ_C,     S λ_C = b_C − A_CT A_TT⁻¹ b_T,     S = A_CC − A_CT A_TT⁻¹ A_TC

T the joints of a spanning tree of the connection graph (moving bodies are its nodes, all that does not move is one
node, joints are its edges), C the joints that close loops, b the wanted changes, λ the impulses.

    one round: an impulse on the cut joints changes the velocities; the tree follows by one substitution; what the cut
    joints then feel is S times the impulse
    conjugate residuals on S, with every cut joint's own block K_c as the preconditioner, end after some rounds, or as
    soon as what is left cannot be reached; at last the tree follows the impulses found

The alternation of the reference is λ_C += K_C⁻¹ (residual), which takes hundreds of rounds where loops are stiff;
conjugate residuals need as many as S has different eigenvalues, at most the rows of the cut joints. S is singular where
rows are redundant; the search never divides by what it cannot change, and leaves the least error in those rows.

Cost: the tree makes no fill, so factor and memory are linear in the joints whatever the loops; each round costs one
substitution. Use it where loops are so entangled that elimination fills the matrix; otherwise leaving out redundant
rows is faster. Redundant rows are not counted, for none is left out.

Reference: Bender, dissertation, §3.3.2.3; Saad, Iterative Methods for Sparse Linear Systems, §6.8.
"""

from collections.abc import Collection
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, real, vec3
from rattleback.core.stages import Program
from rattleback.maths.block_sparse import find_pattern, solve_block
from rattleback.maths.small_solve import vec6
from rattleback.model.state import Motion
from rattleback.problem.delassus import REDUNDANT, Entries, Sizes, fill, make_delassus, shared_bodies
from rattleback.problem.joint_rows import JointRows, Joints, Rows, row_velocity
from rattleback.solvers.joints.connections import find_closing
from rattleback.solvers.joints.direct import SHARE, PreparedDirect, backward, forward
from rattleback.solvers.joints.elimination import Elimination
from rattleback.solvers.joints.iterative import factor_own

# The search ends where zᵀ S z is this small beside its start; near singular positions less is not exact enough.
SOLVED = wp.constant(real(epsilon**1.7))


@group(axis="parts")
class Mechanisms:
    """Independent parts of the scene: columns of the tree's elimination and cut joints."""

    first_column: wp.int32 = field("1", "its first column")
    columns: wp.int32 = field("1", "number of its columns")
    column: wp.int32 = field("1", "a column, part by part in the order of elimination", axis="columns")
    first_cut: wp.int32 = field("1", "its first cut joint")
    cuts: wp.int32 = field("1", "number of its cut joints")
    cut: wp.int32 = field("1", "a cut joint", axis="cuts")
    at: wp.int32 = field("1", "where the factor of its own block starts", axis="cuts")


@group(axis="rows")
class Search:
    """The vectors of the search, used in the rows of cut joints."""

    found: real = field("N s or N m s", "impulse found so far")
    residual: real = field("m/s or rad/s", "change that is still wanted, r")
    scaled: real = field("N s or N m s", "z = K⁻¹ r")
    answer: real = field("m/s or rad/s", "S z")
    way: real = field("N s or N m s", "direction p")
    moved: real = field("m/s or rad/s", "q = S p")
    cured: real = field("N s or N m s", "K⁻¹ q")


@wp.struct
class Cut:
    """What the search works on: the factor of the tree, own blocks of the cut joints, the rows, and its scratch."""

    entries: Entries
    elimination: Elimination
    sizes: Sizes
    own: Entries
    own_sizes: Sizes
    parts: Mechanisms
    rows: Rows
    work: Rows
    search: Search
    change: Motion


@wp.func
def stop_bodies(joints: Joints, change: Motion, j: int) -> None:
    """The bodies of a joint have not changed yet."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    if a >= 0:
        change.velocity[a] = vec3()
        change.angular_velocity[a] = vec3()
    if b >= 0:
        change.velocity[b] = vec3()
        change.angular_velocity[b] = vec3()


@wp.func
def push(joints: Joints, rows: Rows, change: Motion, impulse: wp.array[real], j: int) -> None:
    """Δv += M⁻¹ J_jᵀ λ_j."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        p = impulse[r]
        if a >= 0:
            change.velocity[a] = change.velocity[a] - p * joints.inverse_mass_a[j] * rows.linear[r]
            change.angular_velocity[a] = change.angular_velocity[a] + p * rows.spin_a[r]
        if b >= 0:
            change.velocity[b] = change.velocity[b] + p * joints.inverse_mass_b[j] * rows.linear[r]
            change.angular_velocity[b] = change.angular_velocity[b] + p * rows.spin_b[r]


@wp.func
def feel(joints: Joints, cut: Cut, along: wp.array[real], world: int, part: int) -> real:
    """Response of the cut joints' rows to impulses ``along``, into ``answer``, and its product with them."""
    product = real(0.0)
    first = cut.parts.first_cut[part]
    for m in range(first, first + cut.parts.cuts[part]):
        j = world * cut.sizes.joints + cut.parts.cut[m]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            cut.search.answer[r] = row_velocity(joints, cut.rows, cut.change, j, r)
            if cut.rows.compliance[r] > real(0.0):
                cut.search.answer[r] = cut.search.answer[r] + cut.rows.compliance[r] * along[r]
            product += along[r] * cut.search.answer[r]
    return product


@wp.func
def let_tree_follow(joints: Joints, cut: Cut, impulse: wp.array[real], given: real, world: int, part: int) -> real:
    """The changes of velocity by impulses on the cut joints and those of the tree that respond to them.

    The tree's rows change by ``given`` times what is wanted of them. Returns λᵀ A_CC λ of the cut joints alone.
    """
    shift = world * cut.sizes.joints
    parts = cut.parts
    first = parts.first_column[part]
    count = parts.columns[part]
    for c in range(first, first + count):
        stop_bodies(joints, cut.change, shift + cut.elimination.column[cut.elimination.diagonal[parts.column[c]]])
    for m in range(parts.first_cut[part], parts.first_cut[part] + parts.cuts[part]):
        stop_bodies(joints, cut.change, shift + parts.cut[m])
    for m in range(parts.first_cut[part], parts.first_cut[part] + parts.cuts[part]):
        push(joints, cut.rows, cut.change, impulse, shift + parts.cut[m])
    alone = feel(joints, cut, impulse, world, part)
    for c in range(first, first + count):
        j = shift + cut.elimination.column[cut.elimination.diagonal[parts.column[c]]]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            cut.work.wanted[r] = given * cut.rows.wanted[r] - row_velocity(joints, cut.rows, cut.change, j, r)
    for c in range(first, first + count):
        forward(joints, cut.entries, cut.elimination, cut.sizes, cut.work, world, parts.column[c])
    for back in range(count):
        c = first + count - 1 - back
        backward(joints, cut.entries, cut.elimination, cut.sizes, cut.work, world, parts.column[c])
    for c in range(first, first + count):
        j = shift + cut.elimination.column[cut.elimination.diagonal[parts.column[c]]]
        push(joints, cut.rows, cut.change, cut.work.impulse, j)
    return alone


@wp.func
def cure(joints: Joints, cut: Cut, of: wp.array[real], into: wp.array[real], world: int, part: int) -> None:
    """K⁻¹ times a vector, cut joint by cut joint."""
    first = cut.parts.first_cut[part]
    for m in range(first, first + cut.parts.cuts[part]):
        j = world * cut.sizes.joints + cut.parts.cut[m]
        n = joints.count[j]
        at = world * cut.own_sizes.entries + cut.parts.at[m]
        own = joints.first[j]
        x = vec6()
        for k in range(n):
            x[k] = of[own + k]
        x = solve_block(cut.own.value, at, n, cut.own.order, own, x)
        for k in range(n):
            into[own + k] = x[k]


@wp.func
def advance(joints: Joints, cut: Cut, product: real, world: int, part: int) -> None:
    """One step along p: the residual becomes as small as it can there, α = zᵀ S z / qᵀ K⁻¹ q."""
    search = cut.search
    cure(joints, cut, search.moved, search.cured, world, part)
    first = cut.parts.first_cut[part]
    square = real(0.0)
    for m in range(first, first + cut.parts.cuts[part]):
        j = world * cut.sizes.joints + cut.parts.cut[m]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            square += search.moved[r] * search.cured[r]
    alpha = product / square
    for m in range(first, first + cut.parts.cuts[part]):
        j = world * cut.sizes.joints + cut.parts.cut[m]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            search.found[r] = search.found[r] + alpha * search.way[r]
            search.residual[r] = search.residual[r] - alpha * search.moved[r]
            search.scaled[r] = search.scaled[r] - alpha * search.cured[r]


@wp.func
def turn_way(joints: Joints, cut: Cut, beta: real, world: int, part: int) -> None:
    """The next direction, p = z + β p and q = S z + β q."""
    first = cut.parts.first_cut[part]
    for m in range(first, first + cut.parts.cuts[part]):
        j = world * cut.sizes.joints + cut.parts.cut[m]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            cut.search.way[r] = cut.search.scaled[r] + beta * cut.search.way[r]
            cut.search.moved[r] = cut.search.answer[r] + beta * cut.search.moved[r]


@wp.func
def begin_search(joints: Joints, cut: Cut, world: int, part: int) -> None:
    """No impulse on the cut joints yet: the tree does what is wanted of it, the rest is the first residual."""
    first = cut.parts.first_cut[part]
    for m in range(first, first + cut.parts.cuts[part]):
        j = world * cut.sizes.joints + cut.parts.cut[m]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            cut.search.found[r] = real(0.0)
            cut.search.way[r] = real(0.0)
            cut.search.moved[r] = real(0.0)
    let_tree_follow(joints, cut, cut.search.found, real(1.0), world, part)
    feel(joints, cut, cut.search.found, world, part)
    for m in range(first, first + cut.parts.cuts[part]):
        j = world * cut.sizes.joints + cut.parts.cut[m]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            cut.search.residual[r] = cut.rows.wanted[r] - cut.search.answer[r]
    cure(joints, cut, cut.search.residual, cut.search.scaled, world, part)


@kernel
def close_loops(joints: Joints, cut: Cut, rounds: int, parts: int) -> None:
    """Impulses of one part: rounds between its cut joints and its tree, then the tree once more."""
    part = wp.tid() % parts
    world = wp.tid() // parts
    begin_search(joints, cut, world, part)
    begun = real(0.0)
    before = real(1.0)
    left = wp.where(cut.parts.cuts[part] > 0, rounds, 0)
    while left > 0:
        alone = let_tree_follow(joints, cut, cut.search.scaled, real(0.0), world, part)
        product = feel(joints, cut, cut.search.scaled, world, part)
        begun = wp.max(begun, product)
        left -= 1
        # What S hardly changes beside the cut joints alone is redundant.
        if product <= REDUNDANT * alone or product <= SOLVED * begun:
            left = int(0)
        else:
            turn_way(joints, cut, product / before, world, part)
            before = product
            advance(joints, cut, product, world, part)
    if cut.parts.cuts[part] > 0:
        let_tree_follow(joints, cut, cut.search.found, real(1.0), world, part)
    shift = world * cut.sizes.joints
    for m in range(cut.parts.first_cut[part], cut.parts.first_cut[part] + cut.parts.cuts[part]):
        j = shift + cut.parts.cut[m]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            cut.rows.impulse[r] = cut.search.found[r]
    for c in range(cut.parts.first_column[part], cut.parts.first_column[part] + cut.parts.columns[part]):
        j = shift + cut.elimination.column[cut.elimination.diagonal[cut.parts.column[c]]]
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            cut.rows.impulse[r] = cut.work.impulse[r]


class PreparedCut:
    """The direct method for the joints of one model whose loops are cut.

    Attributes:
        closing: The joints of one world that are cut.
        tree: The direct method for all others.
        fill: Blocks of the tree's factor that are zero in its matrix: none.
        share: Part of the tolerances each world may use up; rows that others imply fit only as far as those do.
    """

    def __init__(self, problem: JointRows, closing: set[int], rounds: int, members: Collection[int] | None) -> None:
        self.problem, self.closing, self.rounds, model = problem, closing, rounds, problem.model
        some = set(range(len(problem.names)) if members is None else members)
        self.tree = PreparedDirect(problem, some - closing)
        self.fill = self.tree.fill
        self.share = wp.full(model.worlds, float(SHARE), dtype=real, device=model.device)
        self.own = make_delassus(problem, set(), closing)
        self.parts, self.part_count = self._make_parts(some)
        self.cut = self._make_cut()

    def record_preparation(self, program: Program, which: Any) -> None:
        """Factor the tree and the own blocks of the cut joints, in the worlds where ``which`` is 1."""
        self.tree.record_preparation(program, which)
        joints, own = self.problem.joints, self.own
        count = own.sizes.blocks * self.problem.model.worlds
        program.launch(fill, count, joints, self.problem.rows, own.blocks, own.entries, own.sizes, which)
        program.launch(factor_own, count, joints, own.blocks, own.entries, own.sizes, which)

    def record_solution(self, program: Program) -> None:
        """Impulses for the wanted changes."""
        count = self.part_count * self.problem.model.worlds
        program.launch(close_loops, count, self.problem.joints, self.cut, self.rounds, self.part_count)

    def redundant_rows(self) -> np.ndarray:
        """No row of a cut loop is left out; only a joint of the tree that repeats itself has such rows."""
        return self.tree.redundant_rows()

    def _make_parts(self, members: set[int]) -> tuple[Mechanisms, int]:
        """The columns and the cut joints of each independent part."""
        whole = find_pattern(len(self.problem.names), shared_bodies(self.problem), members)
        number = np.empty(len(self.problem.names), dtype=np.int64)
        number[whole.order] = np.repeat(np.arange(len(whole.chains)), whole.chains)
        tree, own = self.tree.delassus.pattern.order, self.own.pattern.order
        lists: dict[str, np.ndarray] = {}
        for order, first, count in ((tree, "first_column", "columns"), (own, "first_cut", "cuts")):
            lists[count] = np.bincount(number[order], minlength=len(whole.chains))
            lists[first] = np.cumsum(lists[count]) - lists[count]
        lists["column"] = np.argsort(number[tree], kind="stable")
        places = np.argsort(number[own], kind="stable")
        lists["cut"], lists["at"] = np.array(own)[places], self.own.starts[places]
        counts = {"parts": len(whole.chains), "columns": len(tree), "cuts": len(own)}
        made = arrays.allocate(Mechanisms, counts, self.problem.model.device)
        arrays.write(made, {name: values.astype(np.int32) for name, values in lists.items()}, "the mechanisms")
        return made, len(whole.chains)

    def _make_cut(self) -> Any:
        problem, model, tree = self.problem, self.problem.model, self.tree
        counts = {"rows": problem.row_count, "bodies": model.count}
        cut: Any = Cut()
        cut.entries, cut.elimination, cut.sizes = tree.delassus.entries, tree.elimination, tree.delassus.sizes
        cut.own, cut.own_sizes, cut.parts, cut.rows = self.own.entries, self.own.sizes, self.parts, problem.rows
        kinds: tuple[type[Any], ...] = (Rows, Search, Motion)
        cut.work, cut.search, cut.change = (arrays.allocate(kind, counts, model.device) for kind in kinds)
        return cut


def prepare_cut(problem: JointRows, rounds: int, members: Collection[int] | None) -> PreparedCut | None:
    """The method for some or all joints of a world; None where they make no loop."""
    closing = find_closing(problem, members)
    return PreparedCut(problem, closing, rounds, members) if closing else None
