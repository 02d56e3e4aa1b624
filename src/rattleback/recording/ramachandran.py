"""Ramachandran plots: ψ over φ of the residues of proteins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.plots import check_picture_path, save_figure
from rattleback.recording.style import ACCENT, FAINT, OTHERS, QUIET, label, tidy

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

# Where residues mostly are, (φ, ψ) at the middle and half widths [°]: right-handed helix, strands, left-handed helix.
REGIONS = ((-63.0, -43.0, 28.0, 28.0), (-110.0, 135.0, 52.0, 38.0), (57.0, 43.0, 18.0, 22.0))
KINDS = {"GLY": (ACCENT, "^", "glycine"), "PRO": (OTHERS[2], "s", "proline")}
ALL = (QUIET[0], "o", "others")


def plot_ramachandran(protein: Any, path: str | os.PathLike[str] | None = None) -> Figure:
    """ψ over φ of all residues that have both, in degrees; glycine and proline are marked.

    Args:
        protein: The protein, with ``phi``, ``psi`` and ``residues``.
        path: Where to save the figure; None for nowhere.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Ellipse

    target = None if path is None else check_picture_path(path)
    phi, psi = np.degrees(np.asarray(protein.phi)), np.degrees(np.asarray(protein.psi))
    names = np.array([residue.name for residue in protein.residues])
    figure = Figure(figsize=(5.4, 5.2), dpi=120, layout="constrained")
    axes = figure.subplots()
    tidy(axes)
    for x, y, across, up in REGIONS:
        for scale, strength in ((1.35, 0.25), (1.0, 0.45)):
            axes.add_patch(Ellipse((x, y), 2.0 * scale * across, 2.0 * scale * up, color=FAINT, alpha=strength, lw=0.0))
    for name, (colour, mark, text) in {"": ALL, **KINDS}.items():
        own = np.isfinite(phi) & np.isfinite(psi) & (names == name if name else ~np.isin(names, list(KINDS)))
        axes.plot(phi[own], psi[own], mark, color=colour, markersize=4.0, linestyle="none", label=text)
    axes.set(xlim=(-180.0, 180.0), ylim=(-180.0, 180.0), aspect="equal")
    axes.set_xticks(range(-180, 181, 60))
    axes.set_yticks(range(-180, 181, 60))
    axes.legend(loc="upper right", frameon=False, fontsize=9)
    label(axes, "φ [°]", "ψ [°]")
    if target is not None:
        save_figure(figure, target)
    return figure
