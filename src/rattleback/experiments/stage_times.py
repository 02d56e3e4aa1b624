"""What each stage of finding contacts takes.

The launches of a finder are told apart by where their kernels stand; every stage becomes a program of its own, run one
after the other. Starting one costs 4 µs on a CPU.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.collision.finder import Finder
from rattleback.core import arrays
from rattleback.core.stages import Launch, Program

if TYPE_CHECKING:
    from rattleback.collision.detection import Detection
    from rattleback.collision.geometry.compile import Geometry
    from rattleback.model.state import Motion

# Where the kernels of each stage stand, in the room of collisions; other kernels belong to the stage they follow.
KERNELS = {
    "place": ("geometry.world_poses",),
    "broad": ("broadphase",),
    "split": ("narrowphase.midphase",),
    "narrow": tuple(f"narrowphase.{part}" for part in ("axis_cache", "closed_forms", "gjk", "vclip", "surface")),
    "regions": ("manifold.build", "manifold.box_box"),
    "gather": ("manifold.match",),
}


class StageTimes:
    """A finder whose stages are timed one by one: CPU time there, by the clock elsewhere.

    Attributes:
        finder: The finder.

    Args:
        geometry: The colliders.
        motion: Motion of as many bodies; a copy is taken.
        how: How contacts are found.
    """

    def __init__(self, geometry: Geometry, motion: Motion, how: Detection) -> None:
        self.finder = Finder(geometry, len(motion.position), arrays.clone(motion), how)
        self._clock = time.process_time if geometry.device.is_cpu else time.perf_counter
        self._stop = wp.zeros(1, dtype=wp.int32, device=geometry.device)
        self._programs: dict[str, Program] = {}
        self._version = 0

    def find(self, motion: Motion) -> dict[str, float]:
        """Find the contacts where the bodies of another motion are; time of every stage [s]."""
        arrays.copy_into(self.finder.motion, motion)
        while True:
            if self._version != self.finder.version:
                self._record()
            seconds = {name: self._seconds(program) for name, program in self._programs.items()}
            if self._stop.numpy()[0] == 0:
                return seconds
            self._stop.zero_()
            self.finder.grow()

    def counts(self) -> dict[str, int]:
        """Number of pairs of boxes, of collisions and of contact points found last."""
        contacts = self.finder.contacts
        many = int(contacts.needed.numpy()[0])
        bodies = np.stack([contacts.body_a.numpy()[:many], contacts.body_b.numpy()[:many]])
        pairs = int(self.finder.pairs.needed.numpy()[0])
        return {"pairs": pairs, "collisions": np.unique(bodies, axis=1).shape[1], "contacts": many}

    def _seconds(self, program: Program) -> float:
        wp.synchronize_device(program.device)
        begun = self._clock()
        program.run(1)
        wp.synchronize_device(program.device)
        return self._clock() - begun

    def _record(self) -> None:
        """Record the finder and take its launches apart."""
        device = self.finder.geometry.device
        whole, now = Program(device, self._stop), "place"
        with whole.stage(now):
            self.finder.record(whole, self._stop)
        programs = {name: Program(device, wp.zeros(1, dtype=wp.int32, device=device)) for name in KERNELS}
        for node in whole.stages[now]:
            now = later(now, node)
            programs[now].stages.setdefault(now, []).append(node)
        for program in programs.values():
            program.compile()
        self._programs, self._version = programs, self.finder.version


def later(stage: str, node: Any) -> str:
    """The stage a node belongs to that follows one of another stage: the same or a later one."""
    while hasattr(node, "nodes"):
        node = node.nodes[0]
    if isinstance(node, Launch):
        names = list(KERNELS)
        for name in reversed(names[names.index(stage) :]):
            if any(node.kernel.module.name.startswith(f"rattleback.collision.{place}") for place in KERNELS[name]):
                return name
    return stage


def medians(found: list[dict[str, float]]) -> dict[str, float]:
    """Median of every stage over several times."""
    return {name: float(np.median([seconds[name] for seconds in found])) for name in found[0]}
