"""Swaps of methods: at once where all kernels are there, else after a rehearsal, while the old method goes on.

A swap is first tried without compiling anything. Where kernels lack, the simulation stays as it was, its state is
written to a file, and a process of its own compiles what the swap needs; then the swap is done, with kernels from the
cache. A scene that cannot be written, as one with forces in Python, is swapped at once, and so is a method on no menu.
"""

from __future__ import annotations

import tempfile
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.core.device import NotCompiled, without_compiling
from rattleback.core.errors import RattlebackError
from rattleback.io.scene_data import carries_code
from rattleback.viewer.swapping.rehearsal import rehearse

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.simulation import Simulation
    from rattleback.viewer.panels.slots import Slot
    from rattleback.viewer.session import Session


@dataclass(eq=False)
class Wish:
    """A choice that is asked for.

    Attributes:
        slot: Where.
        option: What.
        answer: Done when the choice holds, was refused, or was replaced by a later one.
        given_up: Set when it is no longer wanted.
        waiting: Simulations that lack kernels for it.
        folder: Where these are written to; None before one is.
    """

    slot: Slot
    option: str
    answer: Future[Any] = field(default_factory=Future)
    given_up: threading.Event = field(default_factory=threading.Event)
    waiting: list[Simulation] = field(default_factory=list)
    folder: tempfile.TemporaryDirectory[str] | None = None

    def attempt(self, sim: Simulation) -> str | None:
        """Swap a simulation without compiling; where kernels lack, gives the file of it for a rehearsal."""
        try:
            with without_compiling():
                self.slot.choose(sim, self.option)
        except NotCompiled:
            file = self._write(sim)
            if file is None:
                self.slot.choose(sim, self.option)
            return file
        return None

    def swap(self, sim: Simulation) -> None:
        """Swap a simulation after the rehearsal; one that was opened since keeps its methods."""
        if any(sim is one for one in self.waiting):
            self.slot.choose(sim, self.option)

    def _write(self, sim: Simulation) -> str | None:
        """A state file of a simulation; None where it cannot be written or would lack what carries code."""
        scene = sim.scene
        if scene.predicates or any(map(carries_code, (*scene.joints.values(), *scene.forces.values()))):
            return None
        try:
            self.folder = self.folder or tempfile.TemporaryDirectory(prefix="rattleback")
            path = str(Path(self.folder.name) / f"{len(self.waiting)}.state")
            sim.save(path)
        except (RattlebackError, OSError):
            return None
        self.waiting.append(sim)
        return path


class Swaps:
    """Swaps methods of a session, one choice after the other; of two choices for a slot the later one holds.

    Args:
        session: Its simulations are swapped.
        say: Shows words while something is compiled; called with none when that is over.
    """

    def __init__(self, session: Session, say: Callable[[str], Any]) -> None:
        self._session, self._say = session, say
        self._lock, self._closed = threading.RLock(), False
        # The first of them is under way.
        self._wishes: deque[Wish] = deque()

    def ask(self, slot: Slot, option: str) -> Future[Any]:
        """Ask for a choice; what it raises is told to the user by the session."""
        wish = Wish(slot, option)
        with self._lock:
            self._give_up(lambda other: other.slot is slot)
            self._wishes.append(wish)
            if self._wishes[0] is wish:
                self._try(wish)
        return wish.answer

    def close(self) -> None:
        """Give up what is not done yet, and end the process that compiles."""
        with self._lock:
            self._closed = True
            self._give_up(lambda _: True)

    def _give_up(self, unwanted: Callable[[Wish], bool]) -> None:
        """Give up some of the wishes; the one under way ends by itself."""
        for wish in filter(unwanted, tuple(self._wishes)):
            wish.given_up.set()
            if wish is not self._wishes[0]:
                self._wishes.remove(wish)
                wish.answer.set_result(None)

    def _try(self, wish: Wish) -> None:
        self._session.do(wish.attempt).add_done_callback(lambda tried: self._tried(wish, tried))

    def _tried(self, wish: Wish, tried: Future[list[str | None]]) -> None:
        files = [] if tried.exception() else [file for file in tried.result() if file is not None]
        if not files:
            self._end(wish, tried)
            return
        # The simulation wakes and records anew what it does, which a look back has to know of.
        self._session.record.note(moved=False, disturbed=True)
        threading.Thread(target=self._rehearse, args=(wish, files), name="rattleback rehearsal", daemon=True).start()

    def _rehearse(self, wish: Wish, files: list[str]) -> None:
        """Wait for the rehearsal, then have the swap done."""
        slot, sim = wish.slot, wish.waiting[0]
        before = slot.read(sim.methods)
        self._say(f"Compiling {slot.label.lower()} {wish.option!r}, once per machine. Until then {before!r} goes on.")
        rehearse(slot.name, wish.option, sim.device.alias, files, wish.given_up)
        self._say("")
        if wish.folder is not None:
            wish.folder.cleanup()
        if wish.given_up.is_set():
            self._end(wish, None)
        else:
            self._session.do(wish.swap).add_done_callback(lambda swapped: self._end(wish, swapped))

    def _end(self, wish: Wish, done: Future[Any] | None) -> None:
        """Answer, and go on with the next."""
        with self._lock:
            self._wishes.remove(wish)
            if self._wishes and not self._closed:
                self._try(self._wishes[0])
        error = None if done is None else done.exception()
        if error is None:
            wish.answer.set_result(None)
        else:
            wish.answer.set_exception(error)
