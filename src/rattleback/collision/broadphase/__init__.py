"""Broad phases: which colliders may touch, by name.

| name | what it does | cost of a step | when |
|---|---|---|---|
| ``all_pairs`` | tests every pair of a world | n² | a few dozen colliders, many small worlds |
| ``sweep`` | sorted ends of boxes along three axes, insertion | n + ends passed | the default on a CPU |
| ``grid`` | uniform cells | n | sizes alike, everything moves; the default on CUDA |
| ``tree`` | refitted tree of boxes | n log n | sizes over decades |
| ``cached`` | another method on wider boxes, now and then | n + pairs | everything is at rest |

All of them write the same list, bit for bit. A method is a small frozen object; ``bind(geometry, places, pairs,
each_body)`` makes its arrays on the device where the colliders now are and returns an object with:

- ``record(program)``: records the launches that write ``pairs``;
- ``write_to(pairs)``: writes another list from now on; the program must then be recorded again;
- ``buffers()``: for each buffer of its own by name, a one-entry array with the number of entries the last step needed,
  and the number there are; a list is good only where none lacks room;
- ``grow()``: enlarges those that lack room; the program must then be recorded again;
- where there is an attribute ``wants_renewal``, a one-entry array: when it is not zero, ``renew()``, called between
  steps, makes the next ones faster. The list is right without it.
"""

from typing import Any

from rattleback.collision.broadphase.all_pairs import AllPairs
from rattleback.collision.broadphase.cached import Cached
from rattleback.collision.broadphase.grid import Grid
from rattleback.collision.broadphase.sweep import Sweep
from rattleback.collision.broadphase.tree import BoxTree

MENU: dict[str, type[Any]] = {
    "all_pairs": AllPairs,
    "sweep": Sweep,
    "grid": Grid,
    "tree": BoxTree,
    "cached": Cached,
}
NEEDS = ("bind",)
# Up to so many colliders of a world nothing beats testing every pair; measured by benchmarks/broadphase.py.
FEW_ON_CPU, FEW_ON_CUDA = 48, 128


def default(geometry: Any) -> Any:
    """The default broad phase, by the number of colliders of a world and the device.

    Args:
        geometry: The colliders.
    """
    on_cpu = geometry.device.is_cpu
    if geometry.each <= (FEW_ON_CPU if on_cpu else FEW_ON_CUDA):
        return AllPairs()
    return Sweep() if on_cpu else Grid()


def needed(bound: Any) -> dict[str, tuple[int, int]]:
    """For every buffer of a bound method, the entries the last step needed and those there are; reads the device."""
    return {name: (int(array.numpy()[0]), room) for name, (array, room) in bound.buffers().items()}


__all__ = ["AllPairs", "BoxTree", "Cached", "Grid", "Sweep", "default", "needed"]
