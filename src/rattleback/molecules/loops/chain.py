"""A loop as a chain: the backbone from its first residue to the one behind it, and the dihedrals that turn it.

    points N, Cα, C of residues first … last and of the anchor last + 1;   φ_i turns all behind Cα_i, ψ_i all behind C_i

The residue before the first one and the anchor stay where they are in the protein; where a chain ends or breaks behind
the last residue, that one is the anchor. The loop is closed where the last
three points are on the anchor; what it misses by is √(Σ d²/3), the measure of Canutescu and Dunbrack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real, real, vec3
from rattleback.kinematics.forward import lanes_on
from rattleback.molecules.geometry import wrapped
from rattleback.molecules.loops.ccd_kernel import descend_chains

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.protein import Protein

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

NAMES = ("N", "CA", "C")


class Descent(NamedTuple):
    """Chains after sweeps of cyclic coordinate descent.

    Attributes:
        q: Dihedrals (n, joints) [rad].
        points: Backbones (n, residues + 1, 3, 3) [Å].
        miss: Distance of the last three points from the anchor, root of the mean square (n,) [Å].
        sweeps: Sweeps taken (n,).
    """

    q: Floats
    points: Floats
    miss: Floats
    sweeps: Integers


class LoopChain:
    """A loop of a protein.

    Attributes:
        protein: The protein.
        residues: Rows of its residues in ``protein.residues``.
        columns: Columns of its dihedrals in ``protein.q`` (joints,).
        pivots: The point each dihedral turns behind, the second of its bond (joints,).
        before: Carbonyl carbon of the residue before the loop (3,) [Å].
        native: Backbone as the protein stands (residues + 1, 3, 3) [Å].
        start: Dihedrals as the protein stands (joints,) [rad].

    Args:
        protein: The protein.
        chain: Name of the chain.
        first: Number of the first residue of the loop, with its insertion code if it has one.
        last: That of the last one.
    """

    def __init__(self, protein: Protein, chain: str, first: object, last: object) -> None:
        self.protein = protein
        rows = [protein.row((chain, end)) for end in (first, last)]
        if rows[0] > rows[1]:
            raise InputError(f"The loop from {first} to {last} of chain {chain!r} ends before it begins.")
        self.residues = list(range(rows[0], rows[1] + 1))
        groups = self._groups()
        primary = protein.linkage.primary
        places = protein.positions
        self.native = np.array([[places[primary[group][name]] for name in NAMES] for group in groups])
        self.before = places[int(protein.phi.atoms[self.residues[0], 0])]
        columns, pivots = [], []
        for k, row in enumerate(self.residues):
            for kind, point in ((protein.phi, 1), (protein.psi, 2)):
                if kind.columns[row] >= 0:
                    columns.append(int(kind.columns[row]))
                    pivots.append(3 * k + point)
        self.columns, self.pivots = np.array(columns, dtype=np.int64), np.array(pivots, dtype=np.int64)
        self.start = protein.q[self.columns]

    @property
    def name(self) -> str:
        """First and last residue."""
        ends = (self.protein.residues[row].label for row in (self.residues[0], self.residues[-1]))
        return "–".join(ends)

    def starts(self, wish: object, seed: int) -> Floats:
        """Dihedrals to start from (n, joints) [rad].

        Args:
            wish: A number of random conformations, rows of dihedrals, or ``"current"``.
            seed: Of the random numbers.
        """
        if isinstance(wish, str):
            checks.one_of(wish, ("current",), "The starts of a loop")
            return self.start[None].copy()
        if np.ndim(wish) == 0:  # type: ignore[arg-type]
            count = checks.count(wish, "The number of starts of a loop")
            draw = np.random.default_rng(checks.count(seed, "The seed", least=0))
            return draw.uniform(-np.pi, np.pi, (count, len(self.columns)))
        return checks.array(wish, (-1, len(self.columns)), f"The starts of loop {self.name}")

    def descend(self, q: Floats, tolerance: float, sweeps: int) -> Descent:
        """Cyclic coordinate descent from dihedrals (n, joints); with no sweep, the chains as they are."""
        where, count = self.protein.device, len(q)
        lanes = lanes_on(where, count)
        turns = wp.array(np.ascontiguousarray(wrapped(q - self.start), dtype=numpy_real), dtype=real, device=where)
        pivots = wp.array(self.pivots.astype(np.int32), dtype=wp.int32, device=where)
        native = wp.array(self.native.reshape(-1, 3).astype(numpy_real), dtype=vec3, device=where)
        points = wp.empty((count, len(native)), dtype=vec3, device=where)
        miss = wp.empty(count, dtype=real, device=where)
        taken = wp.empty(count, dtype=wp.int32, device=where)
        inputs = [native, pivots, turns, points, miss, taken, real(tolerance), wp.vec2i(sweeps, lanes)]
        wp.launch(descend_chains, lanes, inputs, device=where)
        found = wrapped(self.start + turns.numpy().astype(np.float64))
        backbone = points.numpy().astype(np.float64).reshape(count, *self.native.shape)
        return Descent(found, backbone, miss.numpy().astype(np.float64), taken.numpy().astype(np.int64))

    def _groups(self) -> list[int]:
        """Rows of the loop's residues and of its anchor among the groups, checked."""
        protein, label = self.protein, self.name
        groups = [protein.rows[row] for row in self.residues]
        segment = next(one for one in protein.linkage.segments if groups[0] in one.residues)
        if groups[-1] not in segment.residues:
            raise InputError(f"The chain is broken between the ends of loop {label}; it cannot be closed by turning.")
        if groups[0] == segment.residues[0]:
            raise InputError(f"Loop {label} begins its tree; it needs a residue before it to hang on.")
        if groups[-1] == segment.residues[-1]:
            self.residues = self.residues[:-1]
            if not self.residues:
                raise InputError(f"Loop {label} is the last residue of its tree; there is nothing behind it to close.")
            return groups
        return [*groups, segment.residues[segment.residues.index(groups[-1]) + 1]]
