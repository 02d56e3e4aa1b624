"""Proteins: files of molecules, dihedrals as joints, loops that close, and an energy to learn from."""

from rattleback.molecules.energy.field import TVH, Energy
from rattleback.molecules.energy.minimise import Minimum, minimise
from rattleback.molecules.loops import METHODS as LOOP_METHODS
from rattleback.molecules.loops.analytic import Analytic
from rattleback.molecules.loops.ccd import LoopCCD
from rattleback.molecules.loops.clashes import Clash, find_clashes
from rattleback.molecules.loops.close import LoopClosures, close_loop
from rattleback.molecules.loops.lm import LoopLM
from rattleback.molecules.loops.tripeptide import Closures, close_tripeptide
from rattleback.molecules.protein import Protein, load
from rattleback.molecules.sequence import peptide

__all__ = [
    "LOOP_METHODS",
    "TVH",
    "Analytic",
    "Clash",
    "Closures",
    "Energy",
    "LoopCCD",
    "LoopClosures",
    "LoopLM",
    "Minimum",
    "Protein",
    "close_loop",
    "close_tripeptide",
    "find_clashes",
    "load",
    "minimise",
    "peptide",
]
