"""The contact finder: from the poses of bodies to the points where they touch.

    place       colliders where their bodies are, boxes around them, stretched along their ways to look ahead
    broad       pairs of colliders whose boxes overlap
    split       meshes into the triangles that matter
    narrow      distance or depth, normal and nearest points of every pair of solids, and which will touch
    regions     the corners of the region where they touch
    gather      the list of contacts, each with its former self

Nothing is dropped: every buffer counts what it would have needed. Where one was too small, the stop flag goes up, the
host enlarges it and the contacts are found again.

Reference: Bender, dissertation, §4.3.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp

from rattleback.collision import broadphase
from rattleback.collision.anchor import LIMIT, Anchoring, Answered, place_at_anchors, record_spared
from rattleback.collision.bounds import BoxBounds
from rattleback.collision.carry import Carrying, make_phase
from rattleback.collision.closest import Found
from rattleback.collision.coherence import Coherence
from rattleback.collision.colliders import PlacedColliders, Places
from rattleback.collision.compile import Geometry
from rattleback.collision.detection import Detection
from rattleback.collision.gather import Gathering
from rattleback.collision.items import Items
from rattleback.collision.look_ahead import LookAhead
from rattleback.collision.measure_overlap import Volumes, record_volumes
from rattleback.collision.narrowphase.region import Into, record_regions
from rattleback.collision.narrowphase.surface_normals import record_surface_normals
from rattleback.collision.pairs import Pairs
from rattleback.collision.place import place
from rattleback.collision.regions import Regions
from rattleback.collision.renew import Renewing
from rattleback.collision.solid import MESH
from rattleback.collision.split import record_split
from rattleback.collision.still import Sieve
from rattleback.collision.strikes_ahead import record_strikes, widen_struck
from rattleback.core import arrays, glance
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
        how: How contacts are found.
        holder: Whose ``contacts`` hold the memory of the last ones, as those of a state do; None for one of its own.
        ahead: How long the coming step is, to find also what will touch in it; None to find only what touches.
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
        usual = 1e-3 * _median_size(geometry)
        self.distance = usual if how.distance is None else float(how.distance)
        self.unit = self.distance or usual
        room = room_before(geometry.count)
        self.room = {"pairs": room, "items": room, "contacts": room}
        self.places = arrays.allocate(Places, {"colliders": geometry.count}, geometry.device)
        self.look = None if ahead is None else LookAhead(geometry, self.places, motion, ahead, self.distance, self.unit)
        if self.look is not None:
            self.look.foresee(how.every)
        self.clock, self.phase = ahead, make_phase(geometry.device)
        self.version = 0
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
        if self.carrying is not None:
            self.carrying.record_held(program)
        items, found = self.record_answers(program, stop)
        record_regions(program, self.geometry, items, self.places, found, self.gathering.into)
        if self.how.volumes:
            record_volumes(program, self.geometry, items, self.places, found, self.volumes)
        self.gathering.record(program)
        self.record_carried(program, anew=True)
        program.launch(raise_when_full, 1, self.contacts.needed, self.room["contacts"], stop)

    def record_carried(self, program: Program, anew: bool) -> None:
        """Record what puts contacts where their bodies are if they are found after every few steps only.

        Args:
            program: Where to record.
            anew: Whether they have just been found.
        """
        if self.carrying is None:
            return
        self.carrying.record(program, anew)
        self.renewing.record(program)

    def skip_still(self, still: Any) -> None:
        """Find no contacts between still colliders from now on; then record again.

        Args:
            still: 1 for every collider that is still, on the device; None to look at all.
        """
        if still is not self.still:
            self.still = still
            self._allocate()

    def record_memory(self, program: Program, stop: Any) -> None:
        """Record what makes the contacts found the last ones, unless a buffer was too small."""
        self.gathering.record_memory(program, stop)

    def record_answers(self, program: Program, stop: Any) -> tuple[Items, Found]:
        """Record the launches that look at all pairs of solids that may touch, and where their answers are."""
        geometry, items, look = self.geometry, self.items, self.look
        self._record_places(program)
        if look is None:
            self._record_items(program)
        else:
            self._record_items_ahead(program, look)
        for name, (needed, room) in self.buffers().items():
            if name != "contacts":
                program.launch(raise_when_full, 1, needed, room, stop)
        if look is not None:
            look.record_reach(program, items)
        record_spared(program, items, self.places, self.answered)
        answers = (program, geometry, items, self.places, self.distance, self.found)
        self.coherence.record_start(program, self.places, self.distance, self.found)
        if not isinstance(self.how.bounds, BoxBounds):
            self.coherence.record_bounds(program, self.how.bounds, self.places, 0.5 * self.distance, self.found)
        self.how.narrowphase.record(*answers)
        self.coherence.record_end(program, self.distance, self.found)
        record_surface_normals(*answers)
        if look is not None:
            look.record_touching(program, items, self.found)
        return items, self.found

    def find(self) -> None:
        """Find the contacts at once, outside any step; buffers grow as they must."""
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
        pairs = self.pairs if self.sieve is None else self.sieve.all_pairs
        own = {"pairs": pairs.needed, "items": self.items.needed, "contacts": self.contacts.needed}
        return {name: (needed, self.room[name]) for name, needed in own.items()} | self.broad.buffers()

    def grow(self) -> None:
        """Enlarge the buffers that were too small; everything must be recorded again."""
        self.broad.grow()
        for name, (needed, room) in self.buffers().items():
            wanted = int(needed.numpy()[0])
            # One that is nearly full grows with the others, for each time the whole step is recorded anew.
            if name in self.room and NEARLY * wanted > room:
                self.room[name] = max(room, int(GROWTH * wanted) + 16)
        self.room["items"] = max(self.room["items"], self.room["pairs"])
        self._allocate()

    def reserve(self, contacts: int) -> None:
        """See to it that there is room for so many contacts when the buffers have grown."""
        if contacts > self.room["contacts"]:
            self.room["contacts"] = int(GROWTH * contacts) + 16

    def refresh(self) -> None:
        """Between steps: let a broad phase that has become slow put itself in order."""
        flag = getattr(self.broad, "wants_renewal", None)
        if flag is not None and glance.first(flag):
            self.broad.renew()

    def _record_items_ahead(self, program: Program, look: LookAhead) -> None:
        """Record what lists pairs by boxes that look ahead: where these are new, and again where strikes lie ahead."""
        look.record_boxes(program)
        if self.sieve is None and int(MESH) not in self.geometry.kinds:
            with program.when(look.prospects.changed):
                self._record_items(program)
        else:
            self._record_items(program)
        record_strikes(program, look.outlook, self.pairs)
        with program.when(look.prospects.unforeseen):
            program.share(widen_struck, self.geometry.count, look.outlook)
            self._record_items(program)

    def _record_items(self, program: Program) -> None:
        """Record what lists the pairs and what of them is to be looked at: by their boxes; of meshes, by places too."""
        self.broad.record(program)
        if self.sieve is not None:
            self.sieve.record(program)
        prospects = None if self.look is None else self.look.prospects
        given = (self.geometry, self.places, self.pairs, self.items, 0.5 * self.distance)
        record_split(program, *given, prospects=prospects)

    def _record_places(self, program: Program) -> None:
        geometry, anchoring = self.geometry, Anchoring()
        anchoring.motion, anchoring.memory = self.motion, self.gathering.memory
        anchoring.limit = 0.0 if self.look is None else LIMIT * self.distance
        anchoring.held = self.phase.held
        given = (geometry.colliders, geometry.hulls, anchoring, 0.5 * self.distance, self.places)
        program.share(place_at_anchors, geometry.count, *given)

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
        counts["slots"] = room["items"] * self.how.points * (1 if self.look is None else 2)
        device = geometry.device
        self.pairs = arrays.allocate(Pairs, counts, device)
        self.items = arrays.allocate(Items, counts, device)
        self.found = arrays.allocate(Found, counts, device)
        self.answered = arrays.allocate(Answered, counts, device)
        self.contacts = arrays.allocate(Contacts, counts, device)
        self.volumes = arrays.allocate(Volumes, counts if self.how.volumes else {"items": 0}, device)
        into = Into(arrays.allocate(Regions, counts, device), self.distance, self.how.points, self.look)
        cheap: frozenset[tuple[int, int]] = getattr(self.how.narrowphase, "cheap", frozenset())
        self.coherence = Coherence(geometry, self.items, self.pairs, cheap)
        self.sieve = None if self.still is None else Sieve(self.still, self.pairs)
        pairs = self.pairs if self.sieve is None else self.sieve.all_pairs
        if self.version == 0:
            method = self.how.broadphase or broadphase.default(geometry)
            self.broad = method.bind(geometry, self.places, pairs, self.each_body)
        else:
            self.broad.write_to(pairs)
        self._gather_into(into)
        self.version += 1
        self._alone = None

    def _gather_into(self, into: Into) -> None:
        """Make room in the memory, and gather contacts from these regions."""
        geometry = self.geometry
        memory = enlarged(self.holder.contacts, self.room["contacts"], geometry.count + 1, geometry.device)
        self.holder.contacts = memory
        if self.look is not None:
            self.look.remember(memory)
        placed = PlacedColliders()
        placed.colliders, placed.places, placed.hulls = geometry.colliders, self.places, geometry.hulls
        self.gathering = Gathering(placed, self.pairs, self.items, into, self.contacts, memory)
        self.carrying = None
        if self.how.every > 1:
            given = (self.gathering, self.motion, self.how.every, self.clock, self.phase, self.unit)
            self.carrying = Carrying(*given)
            self.renewing = Renewing(geometry, self.how.narrowphase, self.carrying.carriage, into)


def _median_size(geometry: Geometry) -> float:
    """Median size of the colliders that move and have an end [m]."""
    reach = geometry.colliders.reach.numpy()
    reach = reach[(reach >= 0.0) & (geometry.colliders.movable.numpy() == 1)]
    return 2.0 * float(np.median(reach)) if len(reach) else 1.0
