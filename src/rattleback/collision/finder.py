"""Contact detection: from the poses of bodies to the list of contact points. This file is the table of contents.

    place       reference poses of colliders, and AABBs, stretched along their motion by a speculative margin
    broad       pairs of colliders whose AABBs overlap
    split       meshes and height fields into the triangles near the other collider (mid-phase)
    narrow      gap or penetration, normal and nearest points of every pair of convex solids
    manifolds   support faces clipped against each other, feature ids, reduction to n points
    match       the list of contacts, each matched with its row in the last list

Nothing is dropped: every buffer counts what it would have needed. Where one was too small, the stop flag is raised, the
host enlarges it and detection runs again.

Reference: Bender, dissertation, §4.3.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp

from rattleback.collision import broadphase
from rattleback.collision.broadphase.bounds import BoxBounds
from rattleback.collision.broadphase.inactive_pairs import InactivePairFilter
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.detection import Detection
from rattleback.collision.geometry.colliders import PlacedColliders, Places
from rattleback.collision.geometry.compile import Geometry
from rattleback.collision.geometry.solid import MESH
from rattleback.collision.geometry.world_poses import place
from rattleback.collision.manifold.build import ManifoldOutput, record_manifolds
from rattleback.collision.manifold.clip import Manifolds
from rattleback.collision.manifold.match import ContactList
from rattleback.collision.manifold.persistent import LIMIT, LastItems, ReferencePoses, place_at_references, record_kept
from rattleback.collision.manifold.refresh import ManifoldRefresher
from rattleback.collision.manifold.update import ManifoldUpdater, make_phase
from rattleback.collision.narrowphase.axis_cache import AxisCache
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.midphase import record_split
from rattleback.collision.narrowphase.surface.normals import record_surface_normals
from rattleback.collision.overlap_volume.measure import Volumes, record_volumes
from rattleback.collision.speculative.new_impacts import record_new_impacts, widen_by_new_impacts
from rattleback.collision.speculative.speculative import SpeculativeContacts
from rattleback.core import arrays, host_read
from rattleback.core.errors import InputError
from rattleback.core.kernel import kernel
from rattleback.core.stages import Program
from rattleback.model.contact_memory import WRITTEN, enlarged, make_memory
from rattleback.model.contacts import Contacts
from rattleback.model.state import Clock, Motion

# A buffer that was too small grows to this many times what was needed; so does one that lacks room for this many times.
GROWTH, NEARLY = 2.0, 1.25


def room_before(colliders: int) -> int:
    """Room for pairs or contacts before any were counted: four each; more in small scenes, where it costs little."""
    return 4 * colliders + min(12 * colliders, 4096) + 16


@kernel
def raise_when_full(needed: wp.array[wp.int32], room: int, stop: wp.array[wp.int32]) -> None:
    """Stop where a buffer was too small, unless something worse has stopped the step."""
    if needed[0] > room and stop[0] == 0:
        stop[0] = -1


class Finder:
    """Finds the contacts between the bodies of a model.

    Args:
        geometry: The colliders.
        each_body: Number of bodies of one world.
        motion: Where the bodies are.
        how: How contacts are detected.
        holder: Its ``contacts`` are the contact memory, as those of a state are; None for one of its own.
        ahead: Clock of the coming step, for speculative contacts; None for none.
    """

    def __init__(
        self,
        geometry: Geometry,
        each_body: int,
        motion: Motion,
        how: Detection,
        holder: Any = None,
        ahead: "Clock | None" = None,
    ) -> None:
        self.geometry, self.each_body, self.motion, self.how = geometry, each_body, motion, how
        rows = geometry.count + 1
        if holder is None:
            worlds = len(geometry.bodies.world) // each_body
            holder = SimpleNamespace(contacts=make_memory(0, rows, worlds, geometry.device), impulses=None)
            holder.contacts.pending.fill_(int(WRITTEN))
        self.holder = holder
        usual = 1e-3 * _usual_size(geometry, how)
        self.distance = usual if how.distance is None else float(how.distance)
        self.unit = self.distance or usual
        room = room_before(geometry.count)
        self.room = {"pairs": room, "items": room, "contacts": room}
        self.places = arrays.allocate(Places, {"colliders": geometry.count}, geometry.device)
        self.speculative = (
            None
            if ahead is None
            else SpeculativeContacts(geometry, self.places, motion, ahead, self.distance, self.unit)
        )
        if self.speculative is not None:
            self.speculative.set_horizon(how.every)
        self.clock, self.phase, self.version = ahead, make_phase(geometry.device), 0
        self.still: Any = None
        self._alone: Program | None = None
        self._place()
        self._allocate()

    def record(self, program: Program, stop: Any) -> None:
        """Record the launches that find all contacts.

        Args:
            program: Where to record.
            stop: One-entry array; set to −1 where a buffer was too small.
        """
        if self.updater is not None:
            self.updater.record_held(program)
        items, found = self.record_answers(program, stop)
        record_manifolds(program, self.geometry, items, self.places, found, self.contact_list.output)
        if self.how.volumes:
            record_volumes(program, self.geometry, items, self.places, found, self.volumes)
        self.contact_list.record(program)
        self.record_update(program, anew=True)
        program.launch(raise_when_full, 1, self.contacts.needed, self.room["contacts"], stop)

    def record_update(self, program: Program, anew: bool) -> None:
        """Record what moves contacts with their bodies, where they are detected every few steps only.

        Args:
            program: Where to record.
            anew: Whether contacts have just been detected.
        """
        if self.updater is None:
            return
        self.updater.record(program, anew)
        self.refresher.record(program)

    def skip_still(self, still: Any) -> None:
        """Leave out pairs of still colliders from now on; then record again.

        Args:
            still: 1 for every collider that is still, on the device; None to keep all pairs.
        """
        if still is not self.still:
            self.still = still
            self._allocate()

    def record_memory(self, program: Program, stop: Any) -> None:
        """Record what stores the contacts as those of the last detection, unless a buffer was too small."""
        self.contact_list.record_memory(program, stop)

    def record_answers(self, program: Program, stop: Any) -> tuple[Items, Found]:
        """Record broad phase, mid-phase and narrow phase, and return the items and their results."""
        geometry, items, speculative = self.geometry, self.items, self.speculative
        self._record_places(program)
        if speculative is None:
            self._record_items(program)
        else:
            self._record_items_ahead(program, speculative)
        for name, (needed, room) in self.buffers().items():
            if name != "contacts":
                program.launch(raise_when_full, 1, needed, room, stop)
        if speculative is not None:
            speculative.record_reach(program, items)
        record_kept(program, items, self.places, self.last_items)
        answers = (program, geometry, items, self.places, self.distance, self.found)
        self.axis_cache.record_start(program, self.places, self.distance, self.found)
        if not isinstance(self.how.bounds, BoxBounds):
            self.axis_cache.record_bounds(program, self.how.bounds, self.places, 0.5 * self.distance, self.found)
        self.how.narrowphase.record(*answers)
        self.axis_cache.record_end(program, self.distance, self.found)
        record_surface_normals(*answers)
        if speculative is not None:
            speculative.record_margins(program, items, self.found)
        return items, self.found

    def find(self) -> None:
        """Detect contacts at once, outside any step; buffers grow as they must."""
        while True:
            if self._alone is None:
                self._alone = Program(self.geometry.device, wp.zeros(1, dtype=wp.int32, device=self.geometry.device))
                with self._alone.stage("contacts"):
                    self.record(self._alone, self._alone.stop)
                self._alone.compile()
            self._alone.run(1)
            if int(self._alone.stop.numpy()[0]) == 0:
                return
            self.grow()

    def buffers(self) -> dict[str, tuple[Any, int]]:
        """For every buffer, the array that counts what is needed, and what there is."""
        pairs = self.pairs if self.pair_filter is None else self.pair_filter.all_pairs
        own = {"pairs": pairs.needed, "items": self.items.needed, "contacts": self.contacts.needed}
        return {name: (needed, self.room[name]) for name, needed in own.items()} | self.broad.buffers()

    def grow(self) -> None:
        """Enlarge the buffers that were too small; everything must be recorded again."""
        self.broad.grow()
        for name, (needed, room) in self.buffers().items():
            limits = int(needed.numpy()[0])
            # One that is nearly full grows with the others, for each time the whole step is recorded anew.
            if name in self.room and NEARLY * limits > room:
                self.room[name] = max(room, int(GROWTH * limits) + 16)
        self.room["items"] = max(self.room["items"], self.room["pairs"])
        self._allocate()

    def reserve(self, contacts: int) -> None:
        """See to it that there is room for so many contacts when the buffers have grown."""
        if contacts > self.room["contacts"]:
            self.room["contacts"] = int(GROWTH * contacts) + 16

    def refresh(self) -> None:
        """Between steps: let a broad phase that has become slow rebuild itself."""
        flag = getattr(self.broad, "wants_renewal", None)
        if flag is not None and host_read.first(flag):
            self.broad.renew()

    def _record_items_ahead(self, program: Program, speculative: SpeculativeContacts) -> None:
        """Record what lists pairs by stretched boxes: where these are new, and again where new impacts are possible."""
        speculative.record_boxes(program)
        if self.pair_filter is None and int(MESH) not in self.geometry.kinds:
            with program.when(speculative.margins.changed):
                self._record_items(program)
        else:
            self._record_items(program)
        record_new_impacts(program, speculative.inputs, self.pairs)
        with program.when(speculative.margins.has_new_impacts):
            program.share(widen_by_new_impacts, self.geometry.count, speculative.inputs)
            self._record_items(program)

    def _record_items(self, program: Program) -> None:
        """Record what lists pairs by their boxes, and items."""
        self.broad.record(program)
        if self.pair_filter is not None:
            self.pair_filter.record(program)
        margins = None if self.speculative is None else self.speculative.margins
        given = (self.geometry, self.places, self.pairs, self.items, 0.5 * self.distance)
        record_split(program, *given, margins=margins)

    def _record_places(self, program: Program) -> None:
        geometry, references = self.geometry, ReferencePoses()
        references.motion, references.memory = self.motion, self.contact_list.memory
        references.limit = 0.0 if self.speculative is None else LIMIT * self.distance
        references.held = self.phase.held
        given = (geometry.colliders, geometry.hulls, references, 0.5 * self.distance, self.places)
        program.share(place_at_references, geometry.count, *given)

    def _place_inputs(self) -> tuple[Any, ...]:
        return (self.geometry.colliders, self.geometry.hulls, self.motion, 0.5 * self.distance, self.places)

    def _place(self) -> None:
        """Place the colliders where their bodies are now, at once: some broad phases begin from there."""
        if self.geometry.count:
            device = self.geometry.device
            wp.launch(place, self.geometry.count, inputs=list(self._place_inputs()), device=device)

    def _allocate(self) -> None:
        geometry, room = self.geometry, self.room
        rows = geometry.count + 1
        counts = {**room, "one": 1, "colliders_and_one": rows, "rows": rows, "pairs_and_one": room["pairs"] + 1}
        counts["slots"] = room["items"] * self.how.points * (1 if self.speculative is None else 2)
        device = geometry.device
        self.pairs = arrays.allocate(Pairs, counts, device)
        self.items = arrays.allocate(Items, counts, device)
        self.found = arrays.allocate(Found, counts, device)
        self.last_items = arrays.allocate(LastItems, counts, device)
        self.contacts = arrays.allocate(Contacts, counts, device)
        self.volumes = arrays.allocate(Volumes, counts if self.how.volumes else {"items": 0}, device)
        manifolds = arrays.allocate(Manifolds, counts, device)
        output = ManifoldOutput(manifolds, self.distance, self.how.points, self.speculative)
        cheap: frozenset[tuple[int, int]] = getattr(self.how.narrowphase, "cheap", frozenset())
        self.axis_cache = AxisCache(geometry, self.items, self.pairs, cheap)
        self.pair_filter = None if self.still is None else InactivePairFilter(self.still, self.pairs)
        pairs = self.pairs if self.pair_filter is None else self.pair_filter.all_pairs
        if self.version == 0:
            method = self.how.broadphase or broadphase.default(geometry)
            self.broad = method.bind(geometry, self.places, pairs, self.each_body)
        else:
            self.broad.write_to(pairs)
        self._gather_into(output)
        self.version, self._alone = self.version + 1, None

    def _gather_into(self, output: ManifoldOutput) -> None:
        """Make room in the memory, and list contacts from these manifolds."""
        geometry = self.geometry
        memory = enlarged(self.holder.contacts, self.room["contacts"], geometry.count + 1, geometry.device)
        self.holder.contacts = memory
        if self.speculative is not None:
            self.speculative.remember(memory)
        placed = PlacedColliders()
        placed.colliders, placed.places, placed.hulls = geometry.colliders, self.places, geometry.hulls
        self.contact_list = ContactList(placed, self.pairs, self.items, output, self.contacts, memory)
        self.updater = None
        if self.how.every > 1:
            given = (self.contact_list, self.motion, self.how.every, self.clock, self.phase, self.unit)
            self.updater = ManifoldUpdater(*given)
            self.refresher = ManifoldRefresher(geometry, self.how.narrowphase, self.updater.update, output)


def _usual_size(geometry: Geometry, how: Detection) -> float:
    """Median size of the colliders of a world that move and have an end [m]; the same in all worlds."""
    every = geometry.colliders.reach.numpy().reshape(-1, max(1, geometry.each))
    moving = (every >= 0.0) & (geometry.colliders.movable.numpy().reshape(every.shape) == 1)
    rows = np.unique(np.where(moving, every, -1.0), axis=0)
    sizes = [2.0 * float(np.median(row[row >= 0.0])) if (row >= 0.0).any() else 1.0 for row in rows]
    if how.distance is None and len(set(sizes)) > 1:
        raise InputError(
            f"The worlds have bodies of {min(sizes):.3g} m to {max(sizes):.3g} m in the median, and each would have a "
            f"contact distance of its own; give one for all, such as contact_distance={1e-3 * min(sizes):.2g}."
        )
    return sizes[0] if sizes else 1.0
