"""The door of a state: whether arrays that come from outside are the state of a scene, before a kernel sees them.

    form and range   every array as it is declared: shape, kind, finite, each index of something that exists
    relations        contacts are divided among their colliders, and of two colliders that can have them; an island has
                     the number of a body that sleeps in it; rings of servos are those of the servos

Kernels do not check indices: a wrong one would write anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.model.collider_list import ColliderList, list_colliders
from rattleback.model.row_counts import row_counts, servo_places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Columns = Mapping[str, NDArray[Any]]

# Groups that hold contacts.
CONTACT_GROUPS = ("contacts", "sleeping_contacts")


class StateFit:
    """What the arrays of a state of a scene must be.

    Args:
        scene: The scene.
        worlds: Number of worlds.
        kinds: The groups of a state, by name.
    """

    def __init__(self, scene: Any, worlds: int, kinds: Mapping[str, Any]) -> None:
        self.scene, self.worlds, self.kinds = scene, worlds, kinds
        self._sizes = row_counts(scene, worlds)
        self._rings = [count for _, _, count in servo_places(scene).values()]
        self._listed: ColliderList | None = None

    @property
    def colliders(self) -> ColliderList:
        """The colliders of the scene, listed when they are first asked for."""
        if self._listed is None:
            self._listed = list_colliders(self.scene)
        return self._listed

    def checked(self, values: Mapping[str, Columns]) -> dict[str, Columns]:
        """Groups of arrays that fit the scene; without contacts, where they are of other colliders than it has.

        Raises:
            InputError: Which array does not fit, and how.
        """
        left = dict(values)
        rows = np.shape(values.get("contacts", {}).get("first", ()))
        if rows not in ((), (0,), (len(self.colliders) * self.worlds + 1,)):
            left = {group: columns for group, columns in values.items() if group not in CONTACT_GROUPS}
        relations = {"servos": self._check_rings, "sleep": self._check_islands}
        relations |= {"contacts": self._check_contacts, "sleeping_contacts": self._check_sleeping}
        for group, columns in left.items():
            what = f"group {group!r}"
            arrays.check(self.kinds[group], columns, self._sizes_of(group, columns, what), what)
            if group in relations:
                relations[group](columns)
        return left

    def _sizes_of(self, group: str, columns: Columns, what: str) -> dict[str, int]:
        """Rows along every axis that fields of a group or their ranges name."""
        sizes = {**self._sizes, "ring": max([1, *self._rings])}
        if group in CONTACT_GROUPS:
            for axis, name in (("contacts", "part"), ("rows", "first")):
                if name in arrays.fields(self.kinds[group]) and np.ndim(columns.get(name, 0)) != 1:
                    raise InputError(f"{what} has no list {name!r}.")
                sizes[axis] = len(columns.get(name, ()))
            sizes["colliders"] = len(self.colliders) * self.worlds if sizes["contacts"] else 0
            sizes["triangles"] = int(self.colliders.triangles.max(initial=0)) if sizes["contacts"] else 0
        return sizes

    def _check_rings(self, servos: Columns) -> None:
        """The newest stretch of a servo is one of its own."""
        bad = np.flatnonzero(servos["newest"] >= np.maximum(np.tile(self._rings, self.worlds), 1))
        if len(bad):
            raise InputError(f"group 'servos': newest is {servos['newest'][bad[0]]} in row {bad[0]}, beyond its ring.")

    def _check_islands(self, sleep: Columns) -> None:
        """An island has the number of a body that sleeps in it, in the same world."""
        asleep, each = sleep["asleep"], len(self.scene.bodies)
        rows = np.flatnonzero(asleep)
        first = asleep[rows] - 1
        bad = rows[(asleep[first] != asleep[rows]) | (first // each != rows // each)]
        if len(bad):
            raise InputError(f"group 'sleep': asleep is {asleep[bad[0]]} in row {bad[0]}, which is no island's number.")

    def _check_contacts(self, contacts: Columns) -> None:
        first, count = contacts["first"], int(contacts["count"][0])
        ends = (first[0], first[-1]) if len(first) else (0, 0)
        if ends != (0, len(contacts["part"])) or count != ends[1] or (np.diff(first) < 0).any():
            raise InputError("group 'contacts': first and count do not divide the contacts among their colliders.")
        owner = np.repeat(np.arange(max(len(first) - 1, 0)), np.diff(first))
        self._check_pairs("contacts", owner, contacts["collider"], contacts["part"])

    def _check_sleeping(self, kept: Columns) -> None:
        if int(kept["count"][0]) != len(kept["part"]):
            raise InputError("group 'sleeping_contacts': count is not the number of its contacts.")
        self._check_pairs("sleeping_contacts", kept["collider_a"], kept["collider_b"], kept["part"])
        for side in "ab" if len(kept["part"]) else "":
            world, own = np.divmod(kept[f"collider_{side}"], len(self.colliders))
            bad = np.flatnonzero(kept[f"body_{side}"] != world * len(self.scene.bodies) + self.colliders.body[own])
            if len(bad):
                raise InputError(
                    f"group 'sleeping_contacts': body_{side} is {kept[f'body_{side}'][bad[0]]} in row {bad[0]}, which "
                    f"is not the body of collider_{side}."
                )

    def _check_pairs(self, group: str, a: NDArray[Any], b: NDArray[Any], part: NDArray[Any]) -> None:
        """Contacts are of two colliders of one world, sorted, at a triangle where one of them is a surface."""
        if not len(part):
            return
        triangles, each = self.colliders.triangles, len(self.colliders)
        most = np.where(triangles[a % each] > 0, triangles[a % each], triangles[b % each])
        apart = (a // each != b // each) | (a >= b)
        # A part below zero says that neither is a surface.
        bad = np.flatnonzero(apart | np.where(most > 0, (part < 0) | (part >= most), part != -1))
        if len(bad):
            k = bad[0]
            raise InputError(
                f"group {group!r}: row {k} is a contact of the colliders {a[k]} and {b[k]} at the triangle {part[k]}, "
                "which cannot have one."
            )
