"""USD: rigid bodies, colliders, joints and drives of UsdPhysics, in metres and kilograms with z up.

UsdPhysics has most numbers in single precision. Beside each that is not exact there stands an attribute of the same
name after ``rattleback:`` in double precision, which the reader takes where the two agree.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import FileError
from rattleback.io.robots.builder.motion import places, starts
from rattleback.io.robots.description import COORDINATES, WORLD
from rattleback.io.robots.source.placing import parts
from rattleback.io.robots.survey.borrowed import NONE
from rattleback.io.robots.writers.names import Names
from rattleback.io.robots.writers.usd.bodies import add_body, tell_rest
from rattleback.io.robots.writers.usd.filters import add_filters
from rattleback.io.robots.writers.usd.joints import FREEDOMS, OWN, add_couplings, add_joint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.writers.writing import Writing

    Floats = NDArray[np.float64]

ABLE = tuple(kind for kind in (*COORDINATES, *FREEDOMS) if kind not in ("free", "screw"))
MASSLESS = NONE
JOINTS, MATERIALS = "joints", "materials"


def write(writing: Writing) -> bytes:
    """The bytes of the file."""
    return Stage(writing).document()


def pxr() -> Any:
    """The modules of USD, imported when they are first needed."""
    try:
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade
    except ImportError:
        raise FileError("Writing USD needs usd-core; install it with: pip install 'rattleback[formats]'.") from None
    return {
        "Gf": Gf,
        "Sdf": Sdf,
        "Tf": Tf,
        "Usd": Usd,
        "UsdGeom": UsdGeom,
        "UsdPhysics": UsdPhysics,
        "UsdShade": UsdShade,
    }


class Stage:
    """A stage under way.

    Attributes:
        writing: The file.
        frames: Frames of all links at the start (4, 4).
        paths: Paths of the prims of links.
    """

    def __init__(self, writing: Writing) -> None:
        self.writing, self.description, self.report = writing, writing.description, writing.report
        modules = pxr()
        self.gf, self.sdf, self.tf = (modules[name] for name in ("Gf", "Sdf", "Tf"))
        self.geom, self.physics, self.shade = (modules[name] for name in ("UsdGeom", "UsdPhysics", "UsdShade"))
        self.stage = modules["Usd"].Stage.CreateInMemory()
        self.frames = places(self.description, starts(self.description))
        self.paths: dict[str, str] = {}
        self.surfaces: dict[Any, Any] = {}
        self._names: dict[str, Names] = {}

    def document(self) -> bytes:
        """The whole file."""
        self.geom.SetStageUpAxis(self.stage, self.geom.Tokens.z)
        self.geom.SetStageMetersPerUnit(self.stage, 1.0)
        self.physics.SetStageKilogramsPerUnit(self.stage, 1.0)
        self.root = f"/{self.tf.MakeValidIdentifier(self.description.name)}"
        top = self.geom.Xform.Define(self.stage, self.root).GetPrim()
        self.stage.SetDefaultPrim(top)
        self._add_gravity()
        for name in (JOINTS, MATERIALS):
            self.names(self.root).reserve(name)
        for link in self.description.links.values():
            add_body(self, link)
        tree = [joint for joint in self.description.joints.values() if not joint.closes and joint.kind != "fixed"]
        if any(joint.kind != "free" for joint in tree):
            self.physics.ArticulationRootAPI.Apply(top)
        for joint in self.description.joints.values():
            add_joint(self, joint)
        add_couplings(self)
        add_filters(self)
        self._add_frames()
        tell_rest(self)
        return self._bytes()

    def _bytes(self) -> bytes:
        """The stage as text, or in the binary form where the ending asks for it."""
        layer = self.stage.GetRootLayer()
        ending = os.path.splitext(self.writing.path)[1].lower()
        if ending != ".usdc":
            return str(layer.ExportToString()).encode()
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "stage.usdc")
            layer.Export(target)
            return Path(target).read_bytes()

    def names(self, above: str) -> Names:
        """Names of the prims in one."""
        if above not in self._names:
            legal = self.tf.MakeValidIdentifier
            self._names[above] = Names(self.report, "prim", legal, f"its attribute {OWN}name")
        return self._names[above]

    def define(self, kind: Any, above: str, name: str, told: bool = False) -> Any:
        """A prim of a kind in another, under its name as far as that is legal.

        Args:
            kind: Its class.
            above: Path of the prim it is in.
            name: Its name.
            told: Whether an attribute has the name in any case, because a prim elsewhere may have the same.
        """
        given = self.names(above).add(name)
        made = kind.Define(self.stage, f"{above}/{given}").GetPrim()
        if told or given != name:
            made.CreateAttribute(f"{OWN}name", self.sdf.ValueTypeNames.String, True).Set(name)
        return made

    def number(self, prim: Any, name: str, value: float) -> None:
        """Set an attribute in single precision, and beside it in double where that differs."""
        types = self.sdf.ValueTypeNames
        self._attribute(prim, name, types.Float).Set(float(value))
        if float(np.float32(value)) != float(value) and np.isfinite(value):
            prim.CreateAttribute(OWN + name, types.Double, True).Set(float(value))

    def vector(self, prim: Any, name: str, value: Any, kind: str = "Float3") -> None:
        """Set three numbers in the same way; ``kind`` is the type that UsdPhysics gives them."""
        types, told = self.sdf.ValueTypeNames, [float(part) + 0.0 for part in value]
        self._attribute(prim, name, getattr(types, kind)).Set(self.gf.Vec3f(*told))
        if any(float(np.float32(part)) != part for part in told):
            prim.CreateAttribute(OWN + name, types.Double3, True).Set(self.gf.Vec3d(*told))

    def turn(self, prim: Any, name: str, quaternion: Any) -> None:
        """Set a quaternion (x, y, z, w) in the same way."""
        types, (x, y, z, w) = self.sdf.ValueTypeNames, (float(part) for part in quaternion)
        self._attribute(prim, name, types.Quatf).Set(self.gf.Quatf(w, x, y, z))
        if any(float(np.float32(part)) != part for part in (x, y, z, w)):
            prim.CreateAttribute(OWN + name, types.Quatd, True).Set(self.gf.Quatd(w, x, y, z))

    def _attribute(self, prim: Any, name: str, kind: Any) -> Any:
        found = prim.GetAttribute(name)
        return found if found else prim.CreateAttribute(name, kind, False)

    def place(self, prim: Any, frame: Floats, scale: Any = None) -> None:
        """Put a prim at a frame in that of the prim above, stretched along its axes."""
        form, precision = self.geom.Xformable(prim), self.geom.XformOp.PrecisionDouble
        point, (x, y, z, w) = parts(frame)
        form.AddTranslateOp(precision).Set(self.gf.Vec3d(*point))
        form.AddOrientOp(precision).Set(self.gf.Quatd(w, x, y, z))
        if scale is not None:
            form.AddScaleOp(precision).Set(self.gf.Vec3d(*(float(part) for part in scale)))

    def path(self, link: str) -> str:
        """Path of the prim of a link, or of the root for the world."""
        return self.root if link == WORLD else self.paths[link]

    def joint_path(self, name: str) -> str:
        """Path of the prim of a joint."""
        above = f"{self.root}/{JOINTS}"
        return f"{above}/{self.names(above)[name]}"

    def _add_gravity(self) -> None:
        made = self.define(self.physics.Scene, self.root, "physics")
        size = float(np.linalg.norm(self.description.gravity))
        down = np.array(self.description.gravity) / size if size > 0.0 else np.array([0.0, 0.0, -1.0])
        self.vector(made, "physics:gravityDirection", down, "Vector3f")
        self.number(made, "physics:gravityMagnitude", size)
        self.report.keep("gravity")

    def _add_frames(self) -> None:
        """Add named frames as prims that are marked as such, and cameras."""
        for site in self.description.sites.values():
            made = self.define(self.geom.Xform, self.path(site.link), site.name, told=True)
            made.CreateAttribute(f"{OWN}frame", self.sdf.ValueTypeNames.Bool, True).Set(True)
            self.place(made, site.place)
            self.report.keep(f"frame {site.name!r}", "as an Xform")
        for view in self.description.cameras.values():
            made = self.define(self.geom.Camera, self.path(view.link), view.name, told=True)
            self.place(made, view.place)
            self.number(made, "focalLength", FOCAL)
            self.number(made, "verticalAperture", 2.0 * FOCAL * float(np.tan(0.5 * view.field_of_view)))
            self.report.keep(f"camera {view.name!r}")


# Focal length of cameras [tenths of a unit of the stage].
FOCAL = 50.0
