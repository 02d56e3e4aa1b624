"""The pairs of fat boxes, which come and go one by one: for every collider a chain of its partners of a higher row.

    chain(a) = b₁ → b₂ → …        b₁ < b₂ < …

Every world has its own store of links. A link that is taken out goes to a chain of free ones. To add or remove a pair
costs a walk along one chain; big colliders, whose chains would be long, are kept out. When many pairs have come and
gone, the links are laid side by side again in the order in which they are read.
"""

import warp as wp

END = wp.constant(-1)


@wp.struct
class PairLists:
    """Chains of partners: ``link`` holds the partner and the next link; ``column`` and ``spare`` are for rebuilding."""

    room: wp.int32
    head: wp.array[wp.int32]
    column: wp.array[wp.int32]
    link: wp.array[wp.vec2i]
    spare: wp.array[wp.vec2i]
    used: wp.array[wp.int32]
    free: wp.array[wp.int32]
    changes: wp.array[wp.int32]


@wp.func
def take_link(lists: PairLists, w: int) -> int:
    """A link that is not in use; END when there is none."""
    k = lists.free[w]
    if k != END:
        lists.free[w] = lists.link[k][1]
        return k
    k = lists.used[w]
    if k >= lists.room:
        return END
    lists.used[w] = k + 1
    return w * lists.room + k


@wp.func
def add_pair(lists: PairLists, w: int, a: int, b: int) -> bool:
    """Add a pair unless it is there; False when there is no room for it."""
    before = int(END)
    k = lists.head[a]
    while k != END:
        entry = lists.link[k]
        if entry[0] >= b:
            if entry[0] == b:
                return True
            break
        before = k
        k = entry[1]
    new = take_link(lists, w)
    if new == END:
        return False
    lists.link[new] = wp.vec2i(b, k)
    if before == END:
        lists.head[a] = new
    else:
        lists.link[before] = wp.vec2i(lists.link[before][0], new)
    lists.changes[w] = lists.changes[w] + 1
    return True


@wp.func
def remove_pair(lists: PairLists, w: int, a: int, b: int) -> None:
    """Remove a pair if it is there."""
    before = int(END)
    k = lists.head[a]
    while k != END:
        entry = lists.link[k]
        if entry[0] >= b:
            if entry[0] == b:
                if before == END:
                    lists.head[a] = entry[1]
                else:
                    lists.link[before] = wp.vec2i(lists.link[before][0], entry[1])
                lists.link[k] = wp.vec2i(0, lists.free[w])
                lists.free[w] = k
                lists.changes[w] = lists.changes[w] + 1
            return
        before = k
        k = entry[1]


@wp.func
def empty_lists(lists: PairLists, w: int, start: int, each: int) -> None:
    """Remove all pairs of a world."""
    for i in range(start, start + each):
        lists.head[i] = END
        lists.column[i] = END
    lists.used[w] = 0
    lists.free[w] = END
    lists.changes[w] = 0


@wp.func
def note_pair(lists: PairLists, w: int, count: int, a: int, b: int) -> None:
    """Note a pair for ``chain_up``, the one after ``count`` others, if there is room; b has the higher row."""
    if count < lists.room:
        k = w * lists.room + count
        lists.spare[k] = wp.vec2i(a, lists.column[b])
        lists.column[b] = k


@wp.func
def chain_up(lists: PairLists, w: int, start: int, each: int) -> None:
    """Make sorted chains of the pairs that were noted: going down through b, each goes to the front of its chain."""
    at = w * lists.room
    for n in range(each):
        b = start + each - 1 - n
        k = lists.column[b]
        while k != END:
            entry = lists.spare[k]
            a = entry[0]
            lists.link[at] = wp.vec2i(b, lists.head[a])
            lists.head[a] = at
            at = at + 1
            k = entry[1]
    lists.used[w] = at - w * lists.room


@wp.func
def lay_side_by_side(lists: PairLists, w: int, start: int, each: int) -> None:
    """Move the links of a world into the order in which they are read."""
    begin = w * lists.room
    at = begin
    for a in range(start, start + each):
        k = lists.head[a]
        if k != END:
            lists.head[a] = at
        while k != END:
            entry = lists.link[k]
            k = entry[1]
            lists.spare[at] = wp.vec2i(entry[0], wp.where(k == END, END, at + 1))
            at = at + 1
    for k in range(begin, at):
        lists.link[k] = lists.spare[k]
    lists.used[w] = at - begin
    lists.free[w] = END
    lists.changes[w] = 0
