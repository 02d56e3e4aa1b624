"""The contacts of a running simulation, as a user reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.collision.manifold.limits import FEATURE_IDS
from rattleback.collision.overlap_volume.measure import OVERLAPPING
from rattleback.collision.overlap_volume.volume import OverlapSolid
from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.mirror import seen
from rattleback.core.sealed import sealed
from rattleback.model.body_impulses import mean_force

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.collision.finder import Finder
    from rattleback.model.contact_memory import ContactMemory
    from rattleback.model.model import Model

# Makes one number of the four that name a point; odd and large, so that hardly two points share one.
MIXING = np.array([0x9E3779B97F4A7C1, 0x3C6EF372FE94F82B, 0x2545F4914F6CDD1D, 0x5851F42D4C957F2D], dtype=np.int64)


@sealed
@dataclass(frozen=True)
class Overlap:
    """The overlap of two solids of bodies A and B.

    Attributes:
        a: Name of body A.
        b: Name of body B.
        world: World they are in.
        solid: The overlap as a solid, with the contact normal.
    """

    a: str
    b: str
    world: int
    solid: OverlapSolid


@sealed
class ContactView:
    """The contacts of one moment, as arrays with one row a contact; sorted by body A, then by body B.

    Attributes:
        point: Middle between the two surfaces, world frame (contacts, 3) [m].
        normal: Unit normal from B to A (contacts, 3).
        separation: Signed distance of the surfaces along it (contacts,) [m]; negative where they overlap.
        world: World each is in (contacts,).
        body_a: Index of body A in its world (contacts,), as in ``sim.state``.
        body_b: Index of body B (contacts,).
        force: Mean force on A over the last step, world frame (contacts, 3) [N]: the sum of all its impulses by the
            length of the step; of sleeping bodies the force that holds them.
        feature: Feature id of the point within its pair of solids (contacts,); small motions leave it as it is.
        previous: Row of the same point in the last detection (contacts,); −1 for a new one and for those of
            sleeping bodies, which do not count in these rows.

    Args:
        finder: What found them.
        model: The model.
        sleeping: Contacts of sleeping bodies, column by column, which were found before.
    """

    def __init__(self, finder: Finder, model: Model, sleeping: dict[str, NDArray[Any]] | None = None) -> None:
        self._model = model
        count = int(seen(finder.contacts.needed)[0])
        found = {name: seen(array)[:count].copy() for name, array in arrays.each(finder.contacts)}
        found["force"] = _forces(found, finder.holder, len(model.names))
        if sleeping is not None:
            found = _together(found, {**sleeping, "force": sleeping["load"]})
        self.body_a: NDArray[Any] = found["body_a"] % len(model.names)
        self.body_b: NDArray[Any] = found["body_b"] % len(model.names)
        self.world: NDArray[Any] = found["body_a"] // len(model.names)
        self.point: NDArray[Any] = found["point"]
        self.normal: NDArray[Any] = found["normal"]
        self.separation: NDArray[Any] = found["separation"]
        self.force: NDArray[Any] = found["force"]
        self.feature: NDArray[Any] = found["feature"] % int(FEATURE_IDS)
        self.previous: NDArray[Any] = found["previous"]
        self._finder = finder

    def __len__(self) -> int:
        return len(self.separation)

    @property
    def bodies(self) -> list[tuple[str, str]]:
        """Names of bodies A and B of every contact."""
        names = self._model.names
        return [(names[a], names[b]) for a, b in zip(self.body_a, self.body_b, strict=True)]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of the bodies that touch, each pair once; with worlds, in any of them."""
        return list(dict.fromkeys(self.bodies))

    @property
    def overlaps(self) -> list[Overlap]:
        """The overlaps of bodies as solids, for every pair of solids that has one; needs ``contact_volumes=True``."""
        if not self._finder.how.volumes:
            raise InputError("Overlaps are not measured; make the simulation with contact_volumes=True.")
        finder, names = self._finder, self._model.names
        count = min(int(finder.items.needed.numpy()[0]), finder.room["items"])
        found = {name: array.numpy()[:count] for name, array in arrays.each(finder.volumes)}
        a, b = (array.numpy()[:count] for array in (finder.items.a, finder.items.b))
        body, origin = finder.geometry.colliders.body.numpy(), finder.places.position.numpy()
        normals = finder.found.normal.numpy()
        solids = []
        for row in np.flatnonzero(found.pop("status") == OVERLAPPING):
            own = {name: column[row] for name, column in found.items()}
            for name in ("centroid", "region_centroid"):
                own[name] = own[name] + origin[a[row]]
            world, one = divmod(int(body[a[row]]), len(names))
            solid = OverlapSolid(normal=normals[row], **own)
            solids.append(Overlap(names[one], names[int(body[b[row]]) % len(names)], world, solid))
        return solids

    def of(self, body: Any, other: Any = None) -> NDArray[np.int64]:
        """Rows of the contacts of a body, or of those between two bodies.

        Args:
            body: A body, by name or as ``add_body`` returned it.
            other: The other body; None for any.
        """
        one = self._model.index(body)
        touching = (self.body_a == one) | (self.body_b == one)
        if other is not None:
            two = self._model.index(other)
            touching &= (self.body_a == two) | (self.body_b == two)
        return np.flatnonzero(touching)

    def __repr__(self) -> str:
        return f"<{len(self)} contacts of {len(self.pairs)} pairs of bodies>"


def _forces(found: dict[str, NDArray[Any]], holder: Any, bodies: int) -> NDArray[Any]:
    """Mean force of each contact over the last step, matched by feature id (contacts, 3) [N].

    Args:
        found: The contacts.
        holder: What remembers their impulses; the length of the step is known where it is a state.
        bodies: Number of bodies of a world.
    """
    memory: ContactMemory = holder.contacts
    count = 0 if holder.impulses is None else int(seen(memory.count)[0])
    force = np.zeros((len(found["part"]), 3), dtype=found["normal"].dtype)
    if count == 0:
        return force
    collider_a = np.searchsorted(seen(memory.first), np.arange(count), side="right") - 1
    others = (seen(array)[:count] for array in (memory.collider, memory.part, memory.feature))
    known = np.stack([collider_a, *others]).astype(np.int64)
    asked = np.stack([found[name] for name in ("collider_a", "collider_b", "part", "feature")]).astype(np.int64)
    marks, wanted = MIXING @ known, MIXING @ asked
    order = np.argsort(marks, kind="stable")
    row = order[np.minimum(np.searchsorted(marks[order], wanted), count - 1)]
    same = np.all(known[:, row] == asked, axis=0)
    force[same] = mean_force(seen(memory.impulse)[row[same]], holder.impulses, found["body_a"][same] // bodies)
    return force


def _together(found: dict[str, NDArray[Any]], sleeping: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Contacts of bodies that are awake and of those that sleep, sorted by their colliders."""
    both = {name: np.concatenate([found[name], column]) for name, column in sleeping.items() if name in found}
    both["previous"] = np.concatenate([found["previous"], np.full(len(sleeping["part"]), -1, dtype=np.int32)])
    order = np.lexsort((both["collider_b"], both["collider_a"]))
    return {name: column[order] for name, column in both.items()}
