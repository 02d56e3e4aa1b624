"""Positions of all atoms in any number of conformations, from their coordinates: forward kinematics of a linkage.

    x_a = p_i + R_i l_a

One thread walks the links of a conformation, parents before children, and then its atoms; on the CPU a single thread
takes all conformations. The walk over the links is that of kinematic trees.

Symbols: p_i, R_i frame of the link of atom a; l_a place of the atom in it [Å].
Cost: one turn a link and one rotation an atom, about 30 ns each. Memory: the positions, and one frame a link and
thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.precision import numpy_real, quat, real, vec3
from rattleback.kinematics.arrays import Links
from rattleback.kinematics.forward import as_pose, lanes_on
from rattleback.kinematics.link import HERE, Frame
from rattleback.maths.rotation import matrix_from_quaternion, quaternion_from_matrix
from rattleback.molecules.geometry import dihedral, unit
from rattleback.molecules.placing_kernel import place_atoms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.linkage import Linkage

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

REVOLUTE = 1


class Frames(NamedTuple):
    """The frames of a linkage in the conformation it was read in.

    Attributes:
        position: Origins of the links (links, 3) [Å].
        matrix: Their turns (links, 3, 3).
        place: Places of their joints in the parents (links, 3) [Å].
        turn: Turns of their joints in the parents, quaternions x, y, z, w (links, 4).
        q: Dihedrals of the joints (joints,) [rad].
    """

    position: Floats
    matrix: Floats
    place: Floats
    turn: Floats
    q: Floats


def frames_of(linkage: Linkage, positions: Floats) -> Frames:
    """Frames of all links, from the positions of the atoms."""
    count = len(linkage.parents)
    position, matrix = np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1))
    for segment in linkage.segments:
        position[segment.root] = positions[linkage.primary[segment.residues[0]]["CA"]]
    four = np.array([turn.atoms for turn in linkage.turns], dtype=np.int64).reshape(-1, 4)
    links = np.array([turn.link for turn in linkage.turns], dtype=np.int64)
    a, b, c, d = (positions[four[:, k]] for k in range(4))
    z, q = unit(c - b), dihedral(a, b, c, d)
    x = unit((d - c) - np.sum((d - c) * z, axis=1, keepdims=True) * z)
    position[links] = c
    matrix[links] = np.stack([x, np.cross(z, x), z], axis=-1)
    parent = np.array(linkage.parents)
    base_position, base_matrix = np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1))
    hung = parent >= 0
    base_position[hung], base_matrix[hung] = position[parent[hung]], matrix[parent[hung]]
    place = np.einsum("ikj,ik->ij", base_matrix, position - base_position)
    cis = matrix.copy()
    cos, sin = np.cos(q)[:, None], np.sin(q)[:, None]
    cis[links, :, 0] = cos * matrix[links, :, 0] - sin * matrix[links, :, 1]
    cis[links, :, 1] = sin * matrix[links, :, 0] + cos * matrix[links, :, 1]
    turn = quaternion_from_matrix(np.einsum("ikj,ikl->ijl", base_matrix, cis))
    return Frames(position, matrix, place, turn, q)


class Placing:
    """Places the atoms of a linkage.

    Attributes:
        q: Dihedrals of the joints as read (joints,) [rad].
        local: Places of the atoms in their links (atoms, 3) [Å].
        links: The links as kernels see them.
        device: Where it is computed.

    Args:
        linkage: The linkage.
        positions: Its atoms as read (atoms, 3) [Å].
        device: Where to compute.
    """

    def __init__(self, linkage: Linkage, positions: Floats, device: Any) -> None:
        frames = frames_of(linkage, positions)
        own = linkage.link
        # The walk composes quaternions; places are taken against the frames it will come back to.
        self.q, self.device = frames.q, device
        self.local = np.einsum("akj,ak->aj", frames.matrix[own], positions - frames.position[own])
        self.links = _links(linkage, frames, device)
        self._own = wp.array(own.astype(np.int32), dtype=wp.int32, device=device)
        self._local = wp.array(self.local.astype(numpy_real), dtype=vec3, device=device)
        self._count = len(linkage.parents)

    def positions(self, q: Floats) -> Floats:
        """Positions of all atoms in conformations (n, joints): (n, atoms, 3) [Å]."""
        given = wp.array(np.ascontiguousarray(q, dtype=numpy_real), dtype=real, device=self.device)
        found = wp.empty((len(q), len(self._own)), dtype=vec3, device=self.device)
        lanes = lanes_on(self.device, len(q))
        place = wp.empty((lanes, self._count), dtype=vec3, device=self.device)
        turn = wp.empty((lanes, self._count), dtype=quat, device=self.device)
        inputs = [self.links, as_pose(Frame(*HERE)), given, place, turn, self._own, self._local, found]
        wp.launch(place_atoms, lanes, inputs, device=self.device)
        return np.asarray(found.numpy(), dtype=np.float64)

    def frames(self, q: Floats) -> tuple[Floats, Floats]:
        """Origins (links, 3) [Å] and turns (links, 3, 3) of the links in one conformation (joints,)."""
        given = wp.array(np.ascontiguousarray(q[None], dtype=numpy_real), dtype=real, device=self.device)
        place = wp.empty((1, self._count), dtype=vec3, device=self.device)
        turn = wp.empty((1, self._count), dtype=quat, device=self.device)
        none, nowhere = wp.empty(0, dtype=wp.int32, device=self.device), wp.empty(0, dtype=vec3, device=self.device)
        found = wp.empty((1, 0), dtype=vec3, device=self.device)
        inputs = [self.links, as_pose(Frame(*HERE)), given, place, turn, none, nowhere, found]
        wp.launch(place_atoms, 1, inputs, device=self.device)
        matrix = matrix_from_quaternion(turn.numpy()[0].astype(np.float64))
        return np.asarray(place.numpy()[0], dtype=np.float64), matrix


def _links(linkage: Linkage, frames: Frames, device: Any) -> Links:
    """The links as arrays; those of joints turn about z."""
    count, turning = len(linkage.parents), np.array([turn.link for turn in linkage.turns], dtype=np.int64)
    coordinate, kind = np.full(count, -1), np.zeros(count)
    coordinate[turning], kind[turning] = np.arange(len(turning)), REVOLUTE
    values = {
        "parent": np.array(linkage.parents),
        "kind": kind,
        "place": frames.place,
        "turn": frames.turn,
        "axis": np.tile((0.0, 0.0, 1.0), (count, 1)),
        "coordinate": coordinate,
        "ratio": np.ones(count),
        "offset": np.zeros(count),
    }
    result = Links()
    for name, declared in arrays.fields(Links).items():
        number = np.int32 if declared.dtype is wp.int32 else numpy_real
        setattr(result, name, wp.array(values[name].astype(number), dtype=declared.dtype, device=device))
    return result
