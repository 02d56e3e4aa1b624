"""TVH, a field of torsion, van der Waals and hydrogen-bond terms on the dihedrals of a protein, to learn from.

    E(q) = Σ ½ V (1 + cos(n q − δ))                                   torsion, one term a joint
         + Σ √(ε_a ε_b) (s⁻¹² − 2 s⁻⁶) S(r),   s = r/(ρ_a + ρ_b)       van der Waals
         + Σ ε_h (5 s⁻¹² − 6 s⁻¹⁰) cos²θ S(r),   s = r/r_h            hydrogen bonds N-H···O of the backbone
         + Σ ½ k (d − d₀)²                                            disulfides, the loops of the tree

q dihedrals, r distance of two atoms more than three bonds apart whose distance can change, or of H and O; ρ, ε sizes
and depths of the elements, θ bend at the hydrogen, d distance of two sulfurs; S a factor that fades from 1 to 0 (8 to
10 Å, 3.5 to 5 Å). Below 0.7 of the distance of least energy a law goes on straight, so that atoms on top of each
other push with a finite force. All numbers stand in ``parameters``. The gradient goes through the chain's Jacobian.

It is a teaching model. There are no charges, no water and no entropy, bonds and angles are rigid, and no number was
fitted to anything: clashes are resolved, rotamers staggered, helices and sheets held by their hydrogen bonds. It does
not fold proteins, nor do its energies compare with measured ones.

Cost: a few nanoseconds for each pair of atoms, about 1 ms for 500 atoms; the gradient comes with the energy.
Use it: to see how minimisation over dihedrals works, to relieve clashes after turning or closing a loop. Not for
numbers.
References: Scheraga's ECEPP (Momany and others, Journal of Physical Chemistry 79 (1975), 2361-2381) for energies on
dihedrals with rigid geometry; Abe, Braun, Noguti and Gō, Computers & Chemistry 8 (1984), 239-247 for their gradient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import warp as wp

from rattleback.core import arrays, checks
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real, quat, real, vec3
from rattleback.core.sealed import sealed
from rattleback.kinematics.forward import as_pose, lanes_on
from rattleback.kinematics.link import HERE, Frame
from rattleback.molecules.energy.terms_kernel import Points, Scratch, measure
from rattleback.molecules.energy.topology import Topology, topology_of
from rattleback.molecules.protein import Protein

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


class Energy(NamedTuple):
    """Parts of an energy [kcal/mol], numbers or arrays (n,).

    Attributes:
        torsion: Of the joints.
        van_der_waals: Of pairs of atoms.
        hydrogen_bonds: Of the backbone.
        bridges: Of stretched disulfides.
    """

    torsion: Any
    van_der_waals: Any
    hydrogen_bonds: Any
    bridges: Any

    @property
    def total(self) -> Any:
        """All together."""
        return self.torsion + self.van_der_waals + self.hydrogen_bonds + self.bridges


@sealed
class TVH:
    """The field TVH of a protein: torsion, van der Waals, hydrogen bonds.

    Attributes:
        protein: The protein.
        topology: What its energy is made of.

    Args:
        protein: The protein.
    """

    def __init__(self, protein: Protein) -> None:
        checks.instance(protein, Protein, "The protein of a field", 'rb.molecules.load("1ubi.pdb")')
        self.protein, self.topology = protein, topology_of(protein)
        self._points = _as_points(self.topology, protein.device)

    def energy(self, q: ArrayLike | None = None) -> Energy:
        """The energy of conformations (coordinates,) or (n, coordinates); of the protein as it is now if left out."""
        parts, _, single = self._measure(q)
        return Energy(*(parts[0].tolist() if single else parts.T))

    def gradient(self, q: ArrayLike | None = None) -> Floats:
        """How the energy changes with the dihedrals (..., coordinates) [kcal/mol/rad]."""
        _, gradient, single = self._measure(q)
        return gradient[0] if single else gradient

    def both(self, q: Floats) -> tuple[float, Floats]:
        """Total energy [kcal/mol] and gradient (coordinates,) [kcal/mol/rad] of one conformation."""
        parts, gradient, _ = self._measure(q)
        return float(parts[0].sum()), gradient[0]

    def _measure(self, q: ArrayLike | None) -> tuple[Floats, Floats, bool]:
        given = checks.finite(self.protein.q if q is None else q, "The dihedrals of a field")
        count = len(self.protein.linkage.turns)
        if given.shape[-1:] != (count,) or given.ndim > 2:
            raise InputError(f"The dihedrals of a field have shape {given.shape}; their last axis must be {count}.")
        rows, where = given.reshape(len(given) if given.ndim == 2 else 1, count), self.protein.device
        lanes = lanes_on(where, len(rows))
        turns = wp.array(np.ascontiguousarray(rows, dtype=numpy_real), dtype=real, device=where)
        energy = wp.zeros((len(rows), 4), dtype=real, device=where)
        gradient = wp.zeros((len(rows), count), dtype=real, device=where)
        links, scratch = self.protein.placing.links, self._scratch(lanes)
        inputs = [links, as_pose(Frame(*HERE)), self._points, turns, scratch, energy, gradient]
        wp.launch(measure, lanes, inputs, device=where)
        parts, slopes = (np.asarray(array.numpy(), dtype=np.float64) for array in (energy, gradient))
        return parts, slopes, given.ndim == 1

    def _scratch(self, lanes: int) -> Scratch:
        scratch, where = Scratch(), self.protein.device
        links, points = len(self.protein.linkage.parents), len(self.topology.link)
        for name, kind, count in (
            ("place", vec3, links), ("turn", quat, links), ("x", vec3, points), ("g", vec3, points),
            ("force", vec3, links), ("torque", vec3, links),
        ):  # fmt: skip
            setattr(scratch, name, wp.empty((lanes, count), dtype=kind, device=where))
        return scratch


def _as_points(topology: Topology, device: Any) -> Points:
    """A topology as kernels see it."""
    values = {
        "link": topology.link,
        "local": topology.local,
        "size": topology.size,
        "depth": topology.depth,
        "skip_from": topology.skip_from,
        "skip": topology.skip,
        "torsion": topology.torsions,
        "donor": topology.donors,
        "acceptor": topology.acceptors,
        "bridge": topology.bridges,
        "length": topology.lengths,
    }
    points = Points()
    for name, declared in arrays.fields(Points).items():
        number = np.int32 if declared.dtype in (wp.int32, wp.vec2i) else numpy_real
        setattr(points, name, wp.array(values[name].astype(number), dtype=declared.dtype, device=device))
    return points
