"""``close_loop``: ask a method for conformations in which a loop meets its anchor again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.choice import choose
from rattleback.core.errors import InputError, listing
from rattleback.core.sealed import sealed
from rattleback.molecules.loops.chain import LoopChain
from rattleback.molecules.loops.clashes import Clash, find_clashes
from rattleback.molecules.protein import Protein

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.loops.found import Found

    Floats = NDArray[np.float64]


@sealed
class LoopClosures:
    """Conformations of a loop, those of each start one after the other.

    Attributes:
        chain: The loop.
        method: Name of the method.
        q: Dihedrals of the loop (n, joints) [rad]; ``coordinates`` names them.
        start: The start each came from (n,).
        miss: Distance of the end from the anchor, root of the mean square of N, Cα and C (n,) [Å].
        closed: Whether that is within the method's tolerance (n,).
        starts: How many starts there were.

    Args:
        chain: The loop.
        method: Name of the method.
        found: What it found.
        starts: How many starts there were.
    """

    def __init__(self, chain: LoopChain, method: str, found: Found, starts: int) -> None:
        self.chain, self.method, self.starts = chain, method, starts
        self.q, self.start, self.miss, self.closed = found

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        done = f"{int(self.closed.sum())} of {len(self)} conformations closed"
        return f"<loop {self.chain.name} by {self.method}: {done}, from {self.starts} starts>"

    @property
    def closed_share(self) -> float:
        """Share of the starts that led to a closed conformation."""
        return len(np.unique(self.start[self.closed])) / self.starts

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the loop's dihedrals, ``"A:5.phi"``, in the order of q."""
        names = self.chain.protein.coordinates
        return tuple(names[column] for column in self.chain.columns)

    def conformation(self, k: int) -> Floats:
        """Dihedrals of the whole protein with the loop in its k-th conformation (coordinates,) [rad]."""
        q = self.chain.protein.q
        q[self.chain.columns] = self.q[self._row(k)]
        return q

    def positions(self, k: int) -> Floats:
        """Atoms of the whole protein with the loop in its k-th conformation (atoms, 3) [Å]."""
        return self.chain.protein.rebuild(self.conformation(k))

    def apply(self, k: int) -> None:
        """Turn the protein's loop to its k-th conformation; what is behind it follows by what it misses."""
        self.chain.protein.turn(self.chain.columns, self.q[self._row(k)])

    def clashes(self, k: int) -> list[Clash]:
        """Atoms of the loop that overlap with others in its k-th conformation, the worst first."""
        return find_clashes(self.chain.protein, self.positions(k), self.chain.residues)

    def _row(self, k: int) -> int:
        return checks.count(k, "The number of a conformation", least=0, most=len(self) - 1)


def close_loop(
    protein: Protein, chain: str, first: Any, last: Any, method: Any = "ccd_analytic", **options: Any
) -> LoopClosures:
    """Conformations of a loop in which it meets the residue behind it again.

    φ and ψ of its residues turn; ω, bond lengths and bond angles stay as they are. The protein is not changed:
    ``closures.apply(0)`` does that.

    Args:
        protein: The protein, which has the loop closed: where its anchor is now is where the loop shall end.
        chain: Name of the chain.
        first: Number of the first residue, ``52`` or ``"52B"``.
        last: Number of the last one.
        method: A name from ``rb.molecules.LOOP_METHODS``, or an object such as ``rb.molecules.LoopCCD(sweeps=500)``.
        **options: ``starts``, a number of random conformations to start from (default 1), rows of dihedrals
            (n, joints), or ``"current"``; ``seed`` of the random numbers (default 0); the rest are parameters of a
            method that is given by name.
    """
    from rattleback.molecules.loops import METHODS

    checks.instance(protein, Protein, "The protein of close_loop", 'rb.molecules.load("1ubi.pdb")')
    wish, seed = options.pop("starts", 1), options.pop("seed", 0)
    chosen, name = choose("method of loop closure", method, METHODS, ("close",)), method
    if isinstance(method, str):
        checks.options(options, chosen.__dataclass_fields__, f"Method {method!r}")
        chosen = replace(chosen, **options)
    elif options:
        raise InputError(
            f"The options {listing(list(options))} come beside a method that is an object; set them there."
        )
    else:
        name = type(method).__name__
    loop = LoopChain(protein, chain, first, last)
    starts = loop.starts(wish, seed)
    return LoopClosures(loop, name, chosen.close(loop, starts), len(starts))
