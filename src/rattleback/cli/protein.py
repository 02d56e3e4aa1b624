"""Open a protein: click a residue, turn its dihedrals with sliders, minimise its energy; or draw it to a file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rattleback.cli import output
from rattleback.cli.output import FINE
from rattleback.cli.targets import check_target, write_target
from rattleback.cli.view import add_door_options, door_wishes

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", type=Path, help="a PDB or mmCIF file, also as .gz")
    parser.add_argument("--style", default="ribbon", metavar="NAME", help="ribbon (default), trace or sticks")
    parser.add_argument("--residue", metavar="NAME", help="the residue chosen at first, such as A:23")
    parser.add_argument("--render", metavar="FILE", type=Path, help="write a picture instead, as .png")
    parser.add_argument(
        "--ramachandran", metavar="FILE", type=Path, help="plot ψ over φ instead, as .png, .svg or .pdf"
    )
    add_door_options(parser.add_argument_group("the page"))


def execute(arguments: argparse.Namespace) -> int:
    """Show the page until Ctrl-C, or write pictures."""
    if arguments.render is not None or arguments.ramachandran is not None:
        return _draw(arguments)
    wishes = door_wishes(arguments)
    from rattleback.viewer.protein.page import view_protein

    browser = wishes.pop("browser", None)
    shown = view_protein(arguments.file, browser, style=arguments.style, residue=arguments.residue, **wishes)
    with suppress(KeyboardInterrupt), shown:
        shown.wait()
    return FINE


def _draw(arguments: argparse.Namespace) -> int:
    from rattleback.molecules import load

    protein = load(arguments.file)
    if arguments.render is not None:
        from rattleback.recording.molecule_picture import render_molecule

        check_target(arguments.render)
        write_target(arguments.render, lambda path: render_molecule(protein, path, arguments.style))
        output.write(f"Wrote the picture to {arguments.render}")
    if arguments.ramachandran is not None:
        from rattleback.recording.plots import check_picture_path
        from rattleback.recording.ramachandran import plot_ramachandran

        check_target(check_picture_path(arguments.ramachandran))
        write_target(arguments.ramachandran, lambda path: plot_ramachandran(protein, path))
        output.write(f"Wrote the plot to {arguments.ramachandran}")
    return FINE
