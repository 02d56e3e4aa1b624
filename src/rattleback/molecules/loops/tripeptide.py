"""Closing a tripeptide: all places of the atoms between two fixed ends that keep bond lengths, bond angles and ω.

    N1-CA1 fixed, C1 N2 CA2 C2 N3 to be found, CA3-C3 fixed;   turned: φ₁ ψ₁ φ₂ ψ₂ φ₃ ψ₃, six for six conditions

The two peptide units are rigid; what is left are three angles, and one trigonometric polynomial of degree 8 for the
first of them (see ``resultant``), whose roots are isolated without missing one (see ``isolation``).

1. Units from lengths, angles and ω.  2. All roots.  3. Each refined on the equations themselves and placed.

Cost: some 10 µs a closure in batches.
Use it: for three residues, or three pivots with rigid pieces between them, whenever all solutions are wanted. Not for
more freedom than six dihedrals: fix the others first, as ``close_loop`` does.
Reference: Coutsias, Seok, Jacobson and Dill, "A kinematic view of loop closure", Journal of Computational Chemistry 25
(2004), 510-528.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import warp as wp

from rattleback.core import checks, device
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real, real, vec3
from rattleback.kinematics.forward import lanes_on
from rattleback.molecules.loops.closing_kernel import ATOMS, SCRATCH, close_chains
from rattleback.molecules.loops.isolation import arc_matrices
from rattleback.molecules.loops.scan import MOST

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


class Closures(NamedTuple):
    """All closures of tripeptides.

    Attributes:
        counts: How many there are, (n,) or one number.
        positions: Their atoms (..., solutions, 3, 3, 3) [Å]: residue, then N, CA, C; rows past ``counts`` are NaN.
    """

    counts: NDArray[np.int64]
    positions: Floats


class Geometry(NamedTuple):
    """What a tripeptide keeps.

    Attributes:
        lengths: CA1-C1, C1-N2, N2-CA2, CA2-C2, C2-N3, N3-CA3 (..., 6) [Å].
        angles: At CA1, C1, N2, CA2, C2, N3, CA3 (..., 7) [rad].
        omegas: Of CA1-C1-N2-CA2 and CA2-C2-N3-CA3 (..., 2) [rad].
    """

    lengths: Floats
    angles: Floats
    omegas: Floats


def close_tripeptide(
    ends: ArrayLike, lengths: ArrayLike, angles: ArrayLike, omegas: ArrayLike = (np.pi, np.pi), on: str = "cpu"
) -> Closures:
    """All closures of a tripeptide between fixed ends, or of a batch of them.

    Args:
        ends: N1, CA1, CA3 and C3 (4, 3) or (n, 4, 3) [Å].
        lengths: CA1-C1, C1-N2, N2-CA2, CA2-C2, C2-N3, N3-CA3 (6,) or (n, 6) [Å].
        angles: Bond angles at CA1, C1, N2, CA2, C2, N3 and CA3 (7,) or (n, 7) [rad].
        omegas: ω of both peptide bonds (2,) or (n, 2) [rad]; trans if left out.
        on: Where a batch is computed: ``"cpu"``, ``"cuda"`` or ``"cuda:0"``.

    Returns:
        How many there are and where their atoms are. One tripeptide has exactly its solutions (count, 3, 3, 3), a batch
        has 16 places for each, those that are not needed NaN.
    """
    given = checks.finite(ends, "The ends of a tripeptide")
    if given.shape[-2:] != (4, 3) or given.ndim > 3:
        raise InputError(f"The ends of a tripeptide have shape {given.shape}; they must be N1, CA1, CA3, C3.")
    rows = given.reshape(-1, 4, 3)
    parts = [
        _rows(value, width, len(rows), f"The {what} of a tripeptide")
        for value, width, what in ((lengths, 6, "lengths"), (angles, 7, "angles"), (omegas, 2, "omegas"))
    ]
    geometry = Geometry(*parts)
    if not (geometry.lengths > 0.0).all():
        raise InputError("A bond length of a tripeptide is not greater than zero.")
    bends = np.cos(geometry.angles[:, [0, 3, 6]])
    found = close_pivots(rows, _units(geometry), bends, device.find(on))
    if given.ndim == 3:
        return found
    return Closures(found.counts[0], found.positions[0, : found.counts[0]])


def close_pivots(ends: Floats, units: Floats, bends: Floats, where: object) -> Closures:
    """All closures of chains over three pivots.

    Args:
        ends: N1, CA1, CA3, C3 (n, 4, 3) [Å].
        units: CA1, C1, N2, CA2 and CA2, C2, N3, CA3 of the rigid pieces, each four in a frame of their own (n, 8, 3).
        bends: Cosines of the angles N-Cα-C at the pivots (n, 3).
        where: The device.
    """
    count, spot = len(ends), device.find(str(where))
    lanes = lanes_on(spot, count)
    arrays = [
        wp.array(np.ascontiguousarray(part, dtype=numpy_real), dtype=vec3, device=spot) for part in (ends, units, bends)
    ]
    matrices = wp.array(arc_matrices().astype(numpy_real), dtype=real, device=spot)
    stack = wp.empty((lanes, SCRATCH), dtype=real, device=spot)
    found = wp.empty((count, MOST, 3), dtype=real, device=spot)
    atoms = wp.full((count, MOST, ATOMS), vec3(np.nan, np.nan, np.nan), dtype=vec3, device=spot)
    counts = wp.empty(count, dtype=wp.int32, device=spot)
    wp.launch(close_chains, lanes, [*arrays, matrices, stack, found, atoms, counts], device=spot)
    positions = atoms.numpy().astype(np.float64, copy=False).reshape(count, MOST, 3, 3, 3)
    return Closures(counts.numpy().astype(np.int64), positions)


def _units(geometry: Geometry) -> Floats:
    """Atoms of both peptide units in frames of their own (n, 8, 3)."""
    lengths, angles, omegas = geometry
    one = _unit(lengths[:, 0:3], angles[:, 1:3], omegas[:, 0])
    two = _unit(lengths[:, 3:6], angles[:, 4:6], omegas[:, 1])
    return np.concatenate([one, two], axis=1)


def _unit(lengths: Floats, angles: Floats, omega: Floats) -> Floats:
    """CA, C, N, CA of a peptide unit: the second CA from the bond C-N and ω (n, 4, 3)."""
    found = np.zeros((len(lengths), 4, 3))
    cos, sin = np.cos(angles), np.sin(angles)
    # C at the origin, N along x, the first CA in the plane of x and y.
    found[:, 0, 0], found[:, 0, 1] = lengths[:, 0] * cos[:, 0], lengths[:, 0] * sin[:, 0]
    found[:, 2, 0] = lengths[:, 1]
    found[:, 3, 0] = lengths[:, 1] - lengths[:, 2] * cos[:, 1]
    found[:, 3, 1] = lengths[:, 2] * sin[:, 1] * np.cos(omega)
    found[:, 3, 2] = lengths[:, 2] * sin[:, 1] * np.sin(omega)
    return found


def _rows(value: ArrayLike, width: int, count: int, what: str) -> Floats:
    given = checks.finite(value, what)
    if given.shape not in ((width,), (count, width)):
        raise InputError(f"{what} have shape {given.shape}; they must be {width} numbers, or {count}x{width}.")
    return np.broadcast_to(given, (count, width))


def measured(backbone: Floats) -> tuple[Floats, Geometry]:
    """Ends and geometry of three residues as they stand.

    Args:
        backbone: N, CA, C of three residues (n, 3, 3, 3) [Å].
    """
    from rattleback.molecules.geometry import angle, dihedral, distance

    chain = backbone.reshape(len(backbone), 9, 3)
    lengths = np.stack([distance(chain[:, k], chain[:, k + 1]) for k in range(1, 7)], axis=1)
    angles = np.stack([angle(chain[:, k - 1], chain[:, k], chain[:, k + 1]) for k in range(1, 8)], axis=1)
    omegas = np.stack([dihedral(*(chain[:, k + i] for i in range(4))) for k in (1, 4)], axis=1)
    return chain[:, [0, 1, 7, 8]], Geometry(lengths, angles, omegas)
