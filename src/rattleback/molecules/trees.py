"""A tree of amino acids as a kinematic tree, for inverse kinematics, limits and workspaces; lengths in ångström."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.kinematics.link import HERE, Frame, Link
from rattleback.kinematics.tree import Tree
from rattleback.molecules.placing import frames_of

if TYPE_CHECKING:
    from rattleback.molecules.protein import Protein


def tree_of(protein: Protein, row: int) -> Tree:
    """The tree that holds an amino acid.

    Args:
        protein: The protein.
        row: Row of the amino acid in ``residues``.
    """
    linkage, group = protein.linkage, protein.rows[row]
    segment = next(found for found in linkage.segments if group in found.residues)
    frames = frames_of(linkage, protein.atoms.position)
    labels, members = protein.coordinates, set(segment.residues)
    names = {segment.root: "root"}
    links = [Link("root", joint="fixed", place=(frames.place[segment.root], HERE[1]))]
    for column, turn in enumerate(linkage.turns):
        if turn.residue in members:
            place = Frame(tuple(frames.place[turn.link].tolist()), tuple(frames.turn[turn.link].tolist()))
            names[turn.link] = labels[column]
            links.append(Link(labels[column], names[turn.parent], place=place))
    tools = {}
    for other in segment.residues:
        alpha = int(linkage.link[linkage.primary[other]["CA"]])
        local = protein.placing.local[linkage.primary[other]["CA"]]
        tools[protein.groups[other].label] = (names[alpha], (tuple(local.tolist()), HERE[1]))
    tip = {"tip": tools[protein.groups[segment.residues[-1]].label]}
    label = protein.groups[segment.residues[0]].chain or "protein"
    return Tree(links, tools={**tip, **tools}, name=f"chain {label}", on=str(protein.device))


def columns_of(protein: Protein, tree: Tree) -> np.ndarray:
    """Columns of a protein's q that are the coordinates of a tree, in the tree's order."""
    place = {name: column for column, name in enumerate(protein.coordinates)}
    return np.array([place[name] for name in tree.coordinates], dtype=np.int64)
