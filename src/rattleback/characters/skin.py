"""Skins: a mesh whose vertices follow the joints of a skeleton, each vertex some of them by weights.

    linear            x = Σ w_k W_k B_k x₀
    dual_quaternion   x = q̂ (S x₀) q̂*,   q̂ = Σ ± w_k q̂_k / |Σ ± w_k q̂_k|,   S = Σ w_k S_k

x₀ vertex in the pose in which the skin was bound, B_k inverse of the frame of joint k in that pose, W_k its frame now,
w_k weights that sum to one, q̂_k dual quaternion of the rigid part of W_k B_k, S_k what scales or shears in it; signs
are such that no q̂_k points away from the one of the greatest weight.

Linear blending is fast and what files mean; where bones twist against each other it collapses: halfway between frames
that are turned by θ the radius is |cos(θ/2)|, the candy wrapper. Dual quaternions keep it, and bulge a little at bends.

Cost: with 4 weights and many poses at once 6 ns a vertex by linear blending, and 35 ns by dual quaternions.

Reference: Kavan, Collins, Žára, O'Sullivan, Geometric skinning with approximate dual quaternion blending, 2008, §4;
lecture notes on forward and inverse kinematics, §4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.skinning import SKINNING, Binding, make_binding
from rattleback.core import checks, device
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.pose import Pose
    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]


@sealed
class Skin:
    """A mesh that follows a skeleton.

    Attributes:
        skeleton: The skeleton.
        points: Vertices in the pose of binding (vertices, 3).
        faces: Triangles, numbers of vertices (faces, 3).
        joints: Numbers of the joints each vertex follows (vertices, k).
        weights: How much (vertices, k); the weights of a vertex sum to one.
        bind: Inverses of the frames of all joints in the pose of binding (joints, 4, 4).
        color: Red, green, blue from 0 to 1.
        name: What it is called.

    Args:
        skeleton: The skeleton.
        points: Vertices in the pose of binding (vertices, 3).
        faces: Triangles, numbers of vertices (faces, 3).
        joints: Numbers of the joints each vertex follows (vertices, k).
        weights: How much, not less than zero (vertices, k); they are normalised. A vertex whose weights are all zero
            follows its first joint.
        bind: Inverses of the frames of all joints in the pose of binding (joints, 4, 4); those of the pose at rest if
            left out.
        color: Red, green, blue from 0 to 1.
        name: What it is called.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        points: Any,
        faces: Any,
        *,
        joints: Any,
        weights: Any,
        bind: Any = None,
        color: Any = (0.75, 0.72, 0.68),
        name: str = "skin",
    ) -> None:
        self.skeleton, self.name = skeleton, checks.text(name, "The name of a skin")
        self.points = checks.finite(points, f"The points of skin {name!r}")
        self.color = tuple(checks.vector(color, f"The color of skin {name!r}").tolist())
        if self.points.ndim != 2 or self.points.shape[1] != 3:
            raise InputError(f"The points of skin {name!r} have shape {self.points.shape}; they must be (vertices, 3).")
        self.faces = self._numbers(faces, 3, len(self.points), "faces")
        self.joints = self._numbers(joints, None, len(skeleton), "joints")
        self.weights = self._normalised(checks.finite(weights, f"The weights of skin {name!r}"))
        rest = np.linalg.inv(skeleton.matrices(skeleton.rest)) if bind is None else bind
        self.bind = checks.array(rest, (len(skeleton), 4, 4), f"The bind of skin {name!r}")
        self._bindings: dict[str, Binding] = {}

    def __repr__(self) -> str:
        return f"<skin {self.name!r}: {len(self.points)} vertices, {len(self.faces)} faces>"

    def vertices(self, pose: Pose, method: str = "linear", on: str = "cpu", out: Any = None) -> Floats:
        """Vertices in the world, in a pose or a stack of poses (..., vertices, 3).

        Args:
            pose: The pose.
            method: ``"linear"`` or ``"dual_quaternion"``.
            on: Device that computes them.
            out: Array that they are written to (..., vertices, 3), which is then returned; for figures that move,
                where it saves the making of a new one in every frame.
        """
        blend = SKINNING[checks.one_of(method, SKINNING, "The method of skinning")]
        frames = self.skeleton.matrices(pose) @ self.bind
        flat = np.ascontiguousarray(frames.reshape(-1, len(self.skeleton), 4, 4))
        shape = (*pose.shape, len(self.points), 3)
        if out is None:
            return np.asarray(blend(self._binding(on), flat).reshape(shape))
        good = isinstance(out, np.ndarray) and out.dtype.kind == "f" and out.flags.c_contiguous
        if not good or out.shape != shape:
            given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else repr(out)
            wanted = f"an array of floats of shape {shape}, row by row in memory"
            raise InputError(f"The out of skin {self.name!r} is {given}; it must be {wanted}.")
        blend(self._binding(on), flat, out.reshape(-1, len(self.points), 3))
        return np.asarray(out)

    def _binding(self, on: str) -> Binding:
        if on not in self._bindings:
            self._bindings[on] = make_binding(self.points, self.joints, self.weights, device.find(on))
        return self._bindings[on]

    def _normalised(self, weights: Floats) -> Floats:
        if weights.shape != self.joints.shape:
            raise InputError(
                f"The weights of skin {self.name!r} have shape {weights.shape}, its joints {self.joints.shape}; they "
                "must be the same."
            )
        if (weights < 0.0).any():
            raise InputError(
                f"Skin {self.name!r} has a weight below zero at vertex {int(np.argwhere(weights < 0.0)[0, 0])}."
            )
        total = weights.sum(axis=1, keepdims=True)
        first = np.zeros_like(weights)
        first[:, 0] = 1.0
        return np.asarray(np.where(total > 0.0, weights / np.where(total > 0.0, total, 1.0), first))

    def _numbers(self, value: Any, width: int | None, most: int, what: str) -> NDArray[np.int32]:
        found = np.asarray(value)
        if found.ndim != 2 or (width and found.shape[1] != width) or not found.shape[1] or found.dtype.kind not in "iu":
            raise InputError(
                f"The {what} of skin {self.name!r} have shape {found.shape}; they must be whole numbers, "
                f"({'faces' if what == 'faces' else 'vertices'}, {width or 'k'})."
            )
        if what == "joints" and len(found) != len(self.points):
            raise InputError(f"Skin {self.name!r} has {len(self.points)} points and joints for {len(found)}.")
        if len(found) and (found.min() < 0 or found.max() >= most):
            of = "a vertex" if what == "faces" else "a joint"
            raise InputError(f"The {what} of skin {self.name!r} name {of} {int(found.max())}; there are {most}.")
        return found.astype(np.int32)
