"""The connection graph of the joints: a spanning tree, and the joints that close its loops.

Moving bodies are nodes, everything that does not move is one node together, joints are edges. Joints are taken into the
tree one by one; one whose two nodes hang together already closes a loop. Those with the most rows are taken first, so
that the joints that are cut have few unknowns; among equals those nearest to what does not move, so that a loop is cut
at its far end, and trees stay flat; then in the order of the scene.

Reference: Bender, dissertation, §3.3.2.3; Kruskal, On the shortest spanning subtree of a graph, 1956.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from rattleback.problem.joint_rows import JointRows

STILL = -1


def find_closing(problem: JointRows, members: Collection[int] | None = None) -> set[int]:
    """The joints of a world, or of some of them, that close loops."""
    some = range(len(problem.names)) if members is None else sorted(members)
    ends = {j: (int(problem.pairs[j, 0]), int(problem.pairs[j, 1])) for j in some}
    depth = _depths(ends)
    order = sorted(ends, key=lambda j: (-int(problem.counts[j]), max(depth[body] for body in ends[j]), j))
    root: dict[int, int] = {}

    def find(body: int) -> int:
        while body in root:
            body = root[body]
        return body

    closing = set()
    for joint in order:
        a, b = find(ends[joint][0]), find(ends[joint][1])
        if a != b:
            root[max(a, b)] = min(a, b)
        else:
            closing.add(joint)
    return closing


def _depths(ends: dict[int, tuple[int, int]]) -> dict[int, int]:
    """Joints between each body and what does not move; in a part that hangs from nothing, from its first body."""
    beside: dict[int, list[int]] = {STILL: []}
    for a, b in ends.values():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    depth: dict[int, int] = {}
    for start in sorted(beside):
        if start in depth:
            continue
        depth[start], waiting = 0, [start]
        for body in waiting:
            for other in beside[body]:
                if other not in depth:
                    depth[other] = depth[body] + 1
                    waiting.append(other)
    return depth
