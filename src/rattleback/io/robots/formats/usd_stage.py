"""A USD stage: opened after a look at every layer it is made of, with units, up axis, and which properties were read.

    x = L U A p        L metres a unit, U the turn that makes the up axis z, A the transform of a prim, p a local point

A prim may be scaled. Its frame is then the rotation nearest to its transform, and local points are scaled with it.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import FileError
from rattleback.io.robots.formats.usd_instances import expand, prims_of
from rattleback.io.robots.source.folders import Outside
from rattleback.io.robots.source.placing import about_x, inverse
from rattleback.kinematics.pose import make_pose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.io.robots.read import Source
    from rattleback.io.robots.report import Report

    Floats = NDArray[np.float64]

MOST_BYTES, MOST_LAYERS, MOST_PRIMS = 256 * 2**20, 200, 200_000
# Columns of a transform this far from right angles are sheared.
SHEAR = 1e-6
# What stands before the name of an attribute whose value is that of another one in double precision.
EXACT = "rattleback:"
IGNORED = ("xformOp", "xformOpOrder", "extent", "visibility", "purpose", "primvars:displayColor", "kind")
UNKNOWN = "this reader does not know the property"


def pxr(path: str, name: str) -> Any:
    """A module of USD, imported when it is first needed."""
    try:
        return import_module("pxr." + name)
    except ImportError:
        raise FileError(
            f"Reading the USD file {path!r} needs usd-core; install it with: pip install 'rattleback[formats]'."
        ) from None


@contextmanager
def refused(path: str) -> Iterator[None]:
    """What USD complains about inside is told as a fault of the file."""
    tf = pxr(path, "Tf")
    try:
        yield
    except tf.ErrorException as error:
        raise FileError(f"The USD file {path!r} cannot be read: {_said(error)}") from None
    except UnicodeError:
        raise FileError(f"The USD file {path!r} cannot be read: it holds text that is not UTF-8.") from None


class Stage:
    """An open stage.

    Attributes:
        path: The file.
        stage: The stage of USD.
        meters: Metres a unit.
        kilograms: Kilograms a unit of mass.
        up: The turn that makes its up axis z (4, 4).
        prims: All prims, in order, point instances among them.
    """

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.usd, self.geom = pxr(self.path, "Usd"), pxr(self.path, "UsdGeom")
        self.physics = pxr(self.path, "UsdPhysics")
        if os.path.getsize(self.path) > MOST_BYTES:
            raise FileError(f"The USD file {self.path!r} has more than {MOST_BYTES} bytes.")
        self._check_layers(source)
        self.stage = self.usd.Stage.Open(self.path)
        physics = self.physics
        self.meters = float(self.geom.GetStageMetersPerUnit(self.stage))
        self.kilograms = float(physics.GetStageKilogramsPerUnit(self.stage))
        if not (0.0 < self.meters < np.inf and 0.0 < self.kilograms < np.inf):
            raise FileError(f"The USD file {self.path!r} has a unit that is not above zero.")
        self.up = about_x(0.5 * np.pi) if self.geom.GetStageUpAxis(self.stage) == "Y" else np.eye(4)
        self._read: dict[Any, set[str]] = expand(self, source.report)
        self.prims = [prim for prim, _ in zip(prims_of(self), range(MOST_PRIMS), strict=False)]
        self._cache = self.geom.XformCache()

    def _check_layers(self, source: Source) -> None:
        """Refuse layers outside the folders, before any is composed."""
        sdf = pxr(self.path, "Sdf")
        waiting, seen = [self.path], {self.path}
        while waiting:
            layer = sdf.Layer.FindOrOpen(waiting.pop())
            if layer is None:
                raise FileError(f"The USD file {self.path!r} cannot be read: it is not a USD layer.")
            for name in layer.GetCompositionAssetDependencies():
                full = layer.ComputeAbsolutePath(name)
                if not name or full in seen or "[" in full:
                    continue
                try:
                    found = source.folders.find(full)
                except Outside:
                    raise FileError(
                        f"The USD file {self.path!r} is made of {name!r}, which lies outside the folder of the file "
                        "and those of search=."
                    ) from None
                if found is None:
                    source.report.drop(f"layer {name!r}", "there is no such file")
                    continue
                seen.add(full)
                waiting.append(full)
                if len(seen) > MOST_LAYERS:
                    raise FileError(f"The USD file {self.path!r} is made of more than {MOST_LAYERS} files.")

    def value(self, prim: Any, name: str, default: Any = None) -> Any:
        """A property of a prim; a value that is not finite, or none, is the default."""
        self._read.setdefault(prim.GetPath(), set()).update((name, EXACT + name))
        found, exact = (
            attribute.Get() if attribute and attribute.HasAuthoredValue() else None
            for attribute in (prim.GetAttribute(name), prim.GetAttribute(EXACT + name))
        )
        if type(found).__name__ == "UnregisteredValue":
            raise self.error(prim, f"{name} is of a type that USD does not know.")
        if found is None or exact is None or not _agree(found, exact):
            return default if found is None else found
        return exact

    def number(self, prim: Any, name: str, default: float = 0.0) -> float:
        """A property as a number, infinite where the file says so."""
        found = self.value(prim, name)
        try:
            number = default if found is None else float(found)
        except (TypeError, ValueError):
            raise self.error(prim, f"{name} is {found!r}; it must be a number.") from None
        if np.isnan(number):
            raise self.error(prim, f"{name} is not a number.")
        # The largest single-precision number stands for infinity in many files.
        return number if abs(number) < 3e38 else float(np.copysign(np.inf, number))

    def vector(self, prim: Any, name: str, default: Any) -> Floats:
        """A property as finite numbers, as many as the default has."""
        found = self.value(prim, name)
        try:
            values = np.array(default if found is None else tuple(found), dtype=np.float64)
        except (TypeError, ValueError):
            values = np.array([])
        if values.shape != np.shape(default) or not np.isfinite(values).all():
            raise self.error(prim, f"{name} must be {np.size(default)} finite numbers.")
        return values

    def targets(self, prim: Any, name: str) -> list[Any]:
        """Paths a relationship leads to."""
        self._read.setdefault(prim.GetPath(), set()).add(name)
        relation = prim.GetRelationship(name)
        return list(relation.GetTargets()) if relation else []

    def error(self, prim: Any, message: str) -> FileError:
        """A fault at a prim."""
        return FileError(f"The USD file {self.path!r} has a fault at {prim.GetPath()}: {message}")

    def transform(self, prim: Any) -> Floats:
        """From local points of a prim to the world (4, 4), in metres, z up."""
        matrix = np.array(self._cache.GetLocalToWorldTransform(prim), dtype=np.float64).T
        if not np.isfinite(matrix).all():
            raise self.error(prim, "its transform is not finite.")
        found = self.up @ matrix
        found[:3] *= self.meters
        return np.asarray(found)

    def frame(self, prim: Any) -> Floats:
        """The frame of a prim in the world (4, 4): its transform without scale and shear."""
        matrix = self.transform(prim)
        first, stretch, second = np.linalg.svd(matrix[:3, :3])
        if stretch[2] <= 0.0 or stretch[2] < 1e-12 * stretch[0]:
            raise self.error(prim, "its scale is zero along an axis.")
        turn = first @ second
        if np.linalg.det(turn) < 0.0:
            turn = first @ np.diag([1.0, 1.0, -1.0]) @ second
        return make_pose(matrix[:3, 3], turn)

    def local(self, prim: Any) -> Floats:
        """From local points of a prim to its frame (4, 4): scale and shear alone."""
        return np.asarray(inverse(self.frame(prim)) @ self.transform(prim))

    def tell(self, report: Report) -> None:
        """Write what became of every prim and property into the report."""
        for prim in self.prims:
            place, read = str(prim.GetPath()), self._read.get(prim.GetPath())
            kind = str(prim.GetTypeName())
            authored = [str(entry.GetName()) for entry in prim.GetAuthoredProperties()]
            if read is None and kind not in ("", "Xform", "Scope", "PhysicsScene", "PhysicsCollisionGroup"):
                report.drop(place, f"this reader does not know prims of the type {kind}")
                continue
            report.keep(place)
            for name in authored:
                if name.startswith(IGNORED) or name in (read or ()):
                    report.keep(f"{place}.{name}")
                else:
                    report.drop(f"{place}.{name}", UNKNOWN)


def _agree(found: Any, exact: Any) -> bool:
    """Whether a value in single precision is that of another in double, so that it was not changed by itself."""
    single, double = (np.array(_numbers(value), dtype=np.float64) for value in (found, exact))
    return single.shape == double.shape and np.array_equal(np.float32(single), np.float32(double))


def _numbers(value: Any) -> Any:
    """A number, a vector or a quaternion as plain numbers; nothing for what is none of these."""
    if hasattr(value, "GetImaginary"):
        return (*value.GetImaginary(), value.GetReal())
    try:
        return tuple(float(part) for part in value) if hasattr(value, "__len__") else float(value)
    except (TypeError, ValueError):
        return ()


def _said(error: Exception) -> str:
    """The first sentence of an error of USD, without its place in USD's own source."""
    try:
        whole = str(error)
    except UnicodeError:
        return "it holds text that is not UTF-8."
    text = " ".join(whole.split()).split(" : '", 1)[-1]
    return re.sub(r" matching \S+|pxrInternal\w*::", "", text)[:300] or "it is damaged."
