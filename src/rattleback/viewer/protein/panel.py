"""The controls of the page: style, residue, its dihedrals, energy and file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.molecules.angles import GREEK
from rattleback.molecules.drawing import STYLES

if TYPE_CHECKING:
    from rattleback.molecules.protein import Protein


class Panel:
    """The controls.

    Attributes:
        style: Drop-down of the styles.
        residue: Drop-down of the amino acids.
        minimise: Button that goes down to the nearest minimum of the energy.
        back: Button that takes all dihedrals to where they were read.
        download: Button that sends the protein as it is now.
        reading: What is said of it.
        sliders: One for each dihedral of the chosen residue, by its kind, such as ``"phi"``.

    Args:
        gui: Panel of the page.
        protein: The protein.
        style: The style at first.
    """

    def __init__(self, gui: Any, protein: Protein, style: str) -> None:
        self._gui, self._protein = gui, protein
        labels = [f"{residue.label} {residue.name}" for residue in protein.residues]
        self.style = gui.add_dropdown("Style", STYLES, initial_value=style, hint="How the protein is drawn.")
        self.residue = gui.add_dropdown(
            "Residue",
            labels,
            initial_value=labels[0],
            hint="Its dihedrals are below; click one to choose it.",
        )
        self._rows = {label: row for row, label in enumerate(labels)}
        self._labels = labels
        self._folder = gui.add_folder("Dihedrals [°]")
        self.sliders: dict[str, Any] = {}
        with gui.add_folder("Protein"):
            self.reading = gui.add_html("")
            self.minimise = gui.add_button("Minimise the energy", hint="To the nearest minimum of TVH.")
            self.back = gui.add_button("Back to the file", hint="All dihedrals as they were read.")
            self.download = gui.add_button("Download", hint="As it is now, a PDB file.")

    @property
    def chosen(self) -> int:
        """Row of the chosen residue."""
        return self._rows[self.residue.value]

    def choose(self, row: int) -> None:
        """Choose a residue."""
        self.residue.value = self._labels[row]

    def renew(self) -> list[tuple[str, Any]]:
        """Sliders for the chosen residue instead of those before; each with its kind."""
        for slider in self.sliders.values():
            slider.remove()
        self.sliders = {}
        with self._folder:
            for kind, value in dihedrals(self._protein, self.chosen).items():
                self.sliders[kind] = self._gui.add_slider(GREEK[kind], -180.0, 180.0, 0.1, value)
        return list(self.sliders.items())

    def follow(self) -> None:
        """Move the sliders to where the dihedrals are."""
        for kind, value in dihedrals(self._protein, self.chosen).items():
            self.sliders[kind].value = value

    def say(self, energy: Any, clashes: int) -> None:
        """Show energy [kcal/mol] and clashes."""
        rows = "".join(f"{name.replace('_', ' ')} {value:.1f}<br>" for name, value in energy._asdict().items())
        self.reading.content = (
            '<div style="margin:0.2em 0.75em 0.6em;font-size:0.85em;line-height:1.45">'
            f"<b>Energy {energy.total:.1f} kcal/mol</b><br>{rows}{clashes} clashes</div>"
        )


def dihedrals(protein: Protein, row: int) -> dict[str, float]:
    """The dihedrals of a residue that can be turned, by kind [°]."""
    kinds = {"phi": protein.phi, "psi": protein.psi, "omega": protein.omega}
    kinds |= {f"chi{k}": angles for k, angles in enumerate(protein.chi.each, 1)}
    return {
        kind: round(float(np.degrees(angles.values[row])), 1)
        for kind, angles in kinds.items()
        if angles.columns[row] >= 0
    }
