"""The page of a protein: click a residue, turn its dihedrals, and all that hangs on them follows.

All reckoning is done in a thread of its own, the newest wish first, so that the page never waits.
"""

from __future__ import annotations

import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.molecules import TVH, Protein, find_clashes, load, minimise
from rattleback.molecules.drawing import STYLES
from rattleback.viewer.arm.work import Worker
from rattleback.viewer.door import Door
from rattleback.viewer.host import Host
from rattleback.viewer.opened import Opened
from rattleback.viewer.protein.panel import Panel
from rattleback.viewer.protein.stage import Stage

if TYPE_CHECKING:
    from os import PathLike

# Kinds of jobs, those first that go first.
JOBS = ("turn", "minimise", "say")
# Steps of a minimisation between two pictures, and most of them.
STEPS, MOST_STEPS = 5, 400


class Wishes(TypedDict, total=False):
    """Options of :class:`ProteinPage`."""

    style: str
    residue: Any
    door: Door | None


class ProteinPage(Opened):
    """A page with a protein whose dihedrals can be turned.

    Attributes:
        protein: The protein; turn it with ``set`` while the page is open.
        host: What serves the page.
        panel: Its controls.
        stage: What is drawn.

    Args:
        protein: The protein, or its file.
        **wishes: ``style``, ``"ribbon"`` (the default), ``"trace"`` or ``"sticks"``; ``residue``, which is chosen at
            first; ``door``, the address it is served at.
    """

    def __init__(self, protein: Protein | str | PathLike[str], **wishes: Unpack[Wishes]) -> None:
        checks.options(wishes, Wishes.__annotations__, "a protein's page")
        shown = protein if isinstance(protein, Protein) else load(protein)
        style = checks.one_of(wishes.get("style", "ribbon"), STYLES, "The style of a protein")
        if not shown.residues:
            raise InputError(f"{shown.name!r} has no amino acid; there are no dihedrals to turn.")
        first = 0 if wishes.get("residue") is None else shown.row(wishes["residue"])
        super().__init__()
        self.protein, self._field, self._lock = shown, TVH(shown), threading.RLock()
        self._read = shown.q
        self.host = Host(f"rattleback protein {shown.name}", wishes.get("door"))
        self.panel = Panel(self.host.server.gui, shown, style)
        self.stage = Stage(self.host, shown, style)
        self._worker = Worker(JOBS, partial(self.host.notify, fault=True))
        self._wire()
        self.choose(first)

    @property
    def address(self) -> str:
        """The address of the page, good for every browser for as long as it is served."""
        return self.host.address

    def choose(self, key: Any) -> None:
        """Choose a residue, by its row or as for ``protein.row``."""
        with self._lock, self.host.server.atomic():
            self.panel.choose(key if isinstance(key, int) else self.protein.row(key))
            for kind, slider in self.panel.renew():
                slider.on_update(partial(self._slid, kind))
        self._worker.ask("turn", self._show)

    def set(self, kind: str, degrees: float) -> None:
        """Turn a dihedral of the chosen residue, ``"phi"`` or ``"chi1"``, as if by its slider [°]."""
        self._worker.ask("turn", partial(self._turn, kind, self.panel.chosen, float(np.radians(degrees))))

    def settle(self, seconds: float = 30.0) -> bool:
        """Wait until all is reckoned and shown; False if that took longer."""
        return self._worker.wait(seconds)

    def _take_down(self) -> None:
        self._worker.close()
        self.host.stop()

    # What follows is done by the worker.

    def _turn(self, kind: str, row: int, value: float) -> None:
        self._worker.drop("minimise")
        residue = self.protein.residues[row]
        if kind.startswith("chi"):
            self.protein.chi[residue.label, int(kind[3:])] = value
        else:
            getattr(self.protein, kind)[residue] = value
        self._show()

    def _show(self) -> None:
        """Draw the protein as it is now, and say its energy once there is time for it."""
        with self._lock, self.host.server.atomic():
            self.stage.style = self.panel.style.value
            self.stage.show(self.panel.chosen)
        self._worker.ask("say", self._say)

    def _say(self) -> None:
        energy, clashes = self._field.energy(), find_clashes(self.protein, self.protein.positions)
        self.panel.say(energy, len(clashes))

    def _minimise(self, left: int) -> None:
        """A few steps down, and again."""
        found = minimise(self._field, steps=STEPS)
        self.protein.q = found.q
        with self._lock, self.host.server.atomic():
            self.stage.show(self.panel.chosen)
            self.panel.follow()
        self._say()
        if not found.converged and len(found.energies) > STEPS and left > STEPS:
            self._worker.ask("minimise", partial(self._minimise, left - STEPS))

    def _back(self) -> None:
        self._worker.drop("minimise")
        self.protein.q = self._read
        with self._lock, self.host.server.atomic():
            self.panel.follow()
        self._show()

    # What follows is called by the page.

    # A function that does not wait is called in the order of what happened.
    async def _clicked(self, event: Any) -> None:
        ray = np.array(event.ray_origin, dtype=np.float64), np.array(event.ray_direction, dtype=np.float64)
        found = self.stage.pick(*ray)
        if found is not None:
            self.choose(found)

    def _slid(self, kind: str, event: Any) -> None:
        if event.client is not None and event.target is self.panel.sliders.get(kind):
            self.set(kind, float(self.panel.sliders[kind].value))

    def _download(self, event: Any) -> None:
        """Send the protein to the client that asks for it."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{self.protein.name}.pdb"
            self.protein.save(path)
            event.client.send_file_download(path.name, path.read_bytes())

    def _wire(self) -> None:
        """Have the controls do what they say."""
        panel, ask = self.panel, self._worker.ask

        def by_hand(act: Any) -> Any:
            return lambda event: None if event.client is None else act()

        panel.style.on_update(by_hand(lambda: ask("turn", self._show)))
        panel.residue.on_update(by_hand(lambda: self.choose(panel.chosen)))
        panel.minimise.on_click(lambda _: ask("minimise", partial(self._minimise, MOST_STEPS)))
        panel.back.on_click(lambda _: ask("turn", self._back))
        panel.download.on_click(self._download)
        scene: Any = self.host.server.scene
        scene.on_click()(self._clicked)


def view_protein(
    protein: Protein | str | PathLike[str], browser: bool | None = None, **wishes: Unpack[Wishes]
) -> ProteinPage:
    """Open the page of a protein, say where it is, and open a browser where there is a screen or one is wished for."""
    from rattleback.viewer.view import announce

    shown = ProteinPage(protein, **wishes)
    announce(shown.address, browser, "protein")
    return shown
