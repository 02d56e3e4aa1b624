"""The skins and meshes of a glTF file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.skin import Skin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.formats.gltf_file import GltfFile
    from rattleback.characters.skeleton import Skeleton

TRIANGLES, STRIP, FAN = 4, 5, 6
GREY = (0.75, 0.72, 0.68)


def read_skins(file: GltfFile, skeleton: Skeleton, number: dict[int, int]) -> dict[str, Skin]:
    """All meshes of a file as skins, by name.

    Args:
        file: The file.
        skeleton: Its skeleton.
        number: Number of a joint by that of its node.
    """
    found: dict[str, Skin] = {}
    for n, node in enumerate(file.rows("nodes")):
        if "mesh" not in node:
            continue
        mesh = file.pick("meshes", node["mesh"])
        name = str(mesh.get("name") or node.get("name") or f"mesh_{node['mesh']}")
        unique, again = name, 2
        while unique in found:
            unique, again = f"{name}_{again}", again + 1
        if "skin" in node:
            binding = _skin_binding(file, file.pick("skins", node["skin"]), skeleton, number)
        else:
            binding = (np.array([number[n]]), np.tile(np.eye(4), (len(skeleton), 1, 1)))
            mesh = {**mesh, "primitives": [_without_joints(row) for row in file.rows("primitives", mesh)]}
        found[unique] = _skin(file, mesh, skeleton, binding, unique)
    return found


def _without_joints(row: dict[str, Any]) -> dict[str, Any]:
    """A part of a mesh that follows its node: without a skin, its joints mean nothing."""
    given = row.get("attributes")
    if not isinstance(given, dict):
        return row
    return {**row, "attributes": {key: value for key, value in given.items() if not key.startswith("JOINTS_")}}


def _skin_binding(file: GltfFile, skin: dict[str, Any], skeleton: Skeleton, number: dict[int, int]) -> tuple[Any, Any]:
    """Joints of a skin as numbers in the skeleton, and the inverse frames of all joints of the skeleton."""
    joints = np.array([number[node] for node in skin.get("joints", [])], dtype=np.int32)
    if not len(joints):
        raise file.fault("a skin has no joints")
    bind = np.tile(np.eye(4), (len(skeleton), 1, 1))
    if "inverseBindMatrices" in skin:
        given = file.array(skin["inverseBindMatrices"], "the inverse bind matrices").astype(np.float64)
        if len(given) < len(joints) or given.shape[1] != 16:
            raise file.fault(f"a skin has {len(given)} inverse bind matrices for {len(joints)} joints")
        bind[joints] = given[: len(joints)].reshape(-1, 4, 4).swapaxes(1, 2)
        # The last row says (0, 0, 0, 1) but for rounding.
        bind[:, 3] = (0.0, 0.0, 0.0, 1.0)
    return joints, bind


def _skin(file: GltfFile, mesh: dict[str, Any], skeleton: Skeleton, binding: tuple[Any, Any], name: str) -> Skin:
    followed, bind = binding
    read = (_primitive(file, row, followed, name) for row in file.rows("primitives", mesh))
    parts = [part for part in read if part is not None]
    if not parts:
        raise file.fault(f"mesh {name!r} has no triangles")
    width = max(part[2].shape[1] for part in parts)
    starts = np.cumsum([0, *(len(part[0]) for part in parts)])
    padded = [np.pad(array, ((0, 0), (0, width - array.shape[1]))) for part in parts for array in part[2:4]]
    return Skin(
        skeleton,
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] + start for part, start in zip(parts, starts[:-1], strict=True)]),
        joints=np.concatenate(padded[0::2]),
        weights=np.concatenate(padded[1::2]),
        bind=bind,
        color=_color(file, file.rows("primitives", mesh)[0]),
        name=name,
    )


def _primitive(file: GltfFile, row: dict[str, Any], followed: Any, name: str) -> tuple[Any, Any, Any, Any] | None:
    """Points, faces, joints and weights of a part of a mesh; None where it has no triangles."""
    attributes = row.get("attributes")
    mode = row.get("mode", TRIANGLES)
    if not isinstance(attributes, dict) or mode not in (TRIANGLES, STRIP, FAN) or "POSITION" not in attributes:
        return None
    points = file.array(attributes["POSITION"], f"mesh {name!r}").astype(np.float64)
    order = np.arange(len(points))[:, None] if "indices" not in row else file.array(row["indices"], f"mesh {name!r}")
    faces = _triangles(order[:, 0].astype(np.int64), mode)
    if points.shape[1] != 3 or (len(faces) and faces.max() >= len(points)):
        raise file.fault(f"mesh {name!r} names a vertex that it does not have")
    follows = _shares(file, attributes, followed, len(points), name)
    return (points, faces, *follows)


def _shares(file: GltfFile, attributes: dict[str, Any], followed: Any, count: int, name: str) -> tuple[Any, Any]:
    """Joints that the vertices of a part of a mesh follow, and how much (vertices, k)."""
    joints: list[Any] = []
    weights: list[Any] = []
    while f"JOINTS_{len(joints)}" in attributes and f"WEIGHTS_{len(joints)}" in attributes:
        k = len(joints)
        joints.append(file.array(attributes[f"JOINTS_{k}"], f"mesh {name!r}").astype(np.int64))
        weights.append(file.array(attributes[f"WEIGHTS_{k}"], f"mesh {name!r}").astype(np.float64))
    if not joints:
        return np.full((count, 1), followed[0]), np.ones((count, 1))
    places, shares = np.concatenate(joints, axis=1), np.concatenate(weights, axis=1)
    if places.shape != shares.shape or len(places) != count:
        raise file.fault(f"mesh {name!r} has weights that do not fit its vertices")
    # A weight of zero may stand with any number.
    places = np.where(shares > 0.0, places, 0)
    if count and (places.max() >= len(followed) or shares.min() < 0.0):
        raise file.fault(
            f"mesh {name!r} follows joint {int(places.max())} of a skin of {len(followed)}, or by less than zero"
        )
    return followed[places], shares


def _triangles(order: NDArray[np.int64], mode: int) -> NDArray[np.int64]:
    if mode == TRIANGLES:
        return order[: len(order) // 3 * 3].reshape(-1, 3)
    if len(order) < 3:
        return np.zeros((0, 3), np.int64)
    if mode == FAN:
        return np.stack([np.full(len(order) - 2, order[0]), order[1:-1], order[2:]], axis=1)
    strip = np.stack([order[:-2], order[1:-1], order[2:]], axis=1)
    strip[1::2] = strip[1::2, [1, 0, 2]]
    return strip


def _color(file: GltfFile, row: dict[str, Any]) -> Any:
    """The base colour of the material of a part of a mesh."""
    if "material" not in row:
        return GREY
    look = file.pick("materials", row["material"]).get("pbrMetallicRoughness", {})
    if not isinstance(look, dict) or "baseColorFactor" not in look:
        return GREY
    return file.numbers(look["baseColorFactor"], 4, "a colour")[:3]
