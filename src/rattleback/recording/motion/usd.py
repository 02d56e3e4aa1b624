"""A take as USD: a transform for every body with time samples in double precision, what was recorded as attributes.

    /run/bodies/NAME       translate and orient over time; custom attributes rattleback:velocity and others
    /run/bodies/NAME/…     its solids, instances of /meshes/look_N; the points of its joints
    /run/vectors/…         arrows of velocities and forces          /run/recorded   numbers of the world

The time code k is frame k, with ``fps`` time codes in a second. Metres, z up. Solids of one shape share a mesh, those
of one colour as well are instances of one look.

Reference: Pixar, OpenUSD, UsdGeomXformable, UsdGeomMesh, scene graph instancing.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import DeviceError
from rattleback.recording.look import light
from rattleback.recording.motion.layout import ARROWS, ASPECT, Pose, arrows_of, camera_of, joint_points, lens, reach_of
from rattleback.recording.motion.solids import Piece, arrow, solids_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from rattleback.recording.motion.take import Take, Track

NO_PACKAGE = "USD files need usd-core, which is not installed: pip install 'rattleback[formats]'."
ROUGH = 0.55
# Height of the film of a camera [mm]; only its ratio to the focal length counts.
FILM = 24.0


class Usd:
    """A take on its way into a USD stage.

    Args:
        take: The take.
        joints: Whether joints are marked and their points written.
        arrows: Whether velocities and forces that were recorded are drawn as arrows.
    """

    def __init__(self, take: Take, joints: bool, arrows: bool) -> None:
        from pxr import Usd, UsdGeom

        self.take, self.reach, self.stage = take, reach_of(take), Usd.Stage.CreateInMemory()
        self._meshes: dict[Hashable, str] = {}
        self._looks: dict[tuple[Hashable, tuple[float, ...]], str] = {}
        self._prepare()
        self.stage.CreateClassPrim("/meshes")
        self._names: dict[str, str] = {}
        for folder in ("bodies", "vectors"):
            UsdGeom.Scope.Define(self.stage, f"/run/{folder}")
        self._bodies = [self._body(row) for row in range(len(take.scene.bodies))]
        self._draw(joints)
        for entry in arrows_of(take, self.reach) if arrows else ():
            prim = self._moving(f"/run/vectors/{self._name('vectors', entry.name)}", entry.pose, entry.length)
            self._instance(prim, "arrow", arrow(), light(ARROWS[entry.quantity]))
            self._attribute(prim, "metres_per_unit", np.array([entry.scale]), "m")
        self._camera()
        for track in take.tracks:
            self._track(track)

    def _prepare(self) -> None:
        """Units, axes and the frames."""
        from pxr import UsdGeom

        stage, take = self.stage, self.take
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        stage.SetTimeCodesPerSecond(take.fps)
        stage.SetFramesPerSecond(take.fps)
        stage.SetStartTimeCode(0)
        stage.SetEndTimeCode(take.frames - 1)
        root = UsdGeom.Xform.Define(stage, "/run").GetPrim()
        stage.SetDefaultPrim(root)
        told = {"fps": take.fps, "speed": take.speed, "start": take.start, "scene": take.scene.name}
        told |= {"position_error": take.position_error, "orientation_error": take.orientation_error}
        root.SetCustomData({"rattleback": told})

    def _body(self, row: int) -> Any:
        take, body = self.take, self.take.scene.bodies[row]
        pose = Pose(take.origin[:, row], take.orientation[:, row])
        prim = self._moving(f"/run/bodies/{self._name('bodies', body.name)}", pose)
        prim.SetDisplayName(body.name)
        return prim

    def _draw(self, joints: bool) -> None:
        """The solids of the bodies and the points of the joints, each below its body."""
        solids = solids_of(self.take.scene, self.reach, joints)
        for number, solid in enumerate(solids.solids):
            path = self._bodies[solid.body].GetPath().AppendChild(f"solid_{number}")
            prim = self.stage.DefinePrim(path, "Xform")
            self._instance(prim, solid.mesh, solids.meshes[solid.mesh], solids.colours[solid.colour])
        for point in joint_points(self.take.scene) if joints else ():
            owner = "/run" if point.body < 0 else str(self._bodies[point.body].GetPath())
            self._moving(f"{owner}/{self._name(owner, point.name)}", point.pose)

    def _moving(self, path: str, pose: Pose, size: Any = None) -> Any:
        """A transform at a pose; where it has one for each frame and it changes, with time samples."""
        from pxr import Gf, UsdGeom

        form = UsdGeom.Xform.Define(self.stage, path)
        place, turn = np.atleast_2d(pose.position), np.atleast_2d(pose.orientation)
        double = UsdGeom.XformOp.PrecisionDouble
        self._sample(form.AddTranslateOp(double), [Gf.Vec3d(*entry) for entry in place.tolist()])
        self._sample(form.AddOrientOp(double), [Gf.Quatd(w, x, y, z) for x, y, z, w in turn.tolist()])
        if size is not None:
            self._sample(form.AddScaleOp(double), [Gf.Vec3d(one, one, one) for one in size.tolist()])
        return form.GetPrim()

    def _sample(self, attribute: Any, values: list[Any]) -> None:
        """One value, or one for each frame."""
        if all(value == values[0] for value in values):
            attribute.Set(values[0])
            return
        for frame, value in enumerate(values):
            attribute.Set(value, frame)

    def _instance(self, prim: Any, name: Hashable, piece: Piece, colour: Any) -> None:
        """An instance of a mesh in a colour, below a prim."""
        shade = tuple(np.round(colour, 6).tolist())
        if (name, shade) not in self._looks:
            self._looks[name, shade] = self._look(self._mesh(name, piece), shade)
        drawn = self.stage.DefinePrim(prim.GetPath().AppendChild("drawn"), "Xform")
        drawn.GetReferences().AddInternalReference(self._looks[name, shade])
        drawn.SetInstanceable(True)

    def _mesh(self, name: Hashable, piece: Piece) -> str:
        """A mesh that others refer to; it is not drawn itself."""
        from pxr import UsdGeom, Vt

        if name in self._meshes:
            return self._meshes[name]
        path = self._meshes[name] = f"/meshes/mesh_{len(self._meshes) + 1}"
        mesh = UsdGeom.Mesh.Define(self.stage, path)
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        points = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(piece.vertices, dtype=np.float32))
        mesh.CreatePointsAttr(points)
        mesh.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(points))
        mesh.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(piece.normals, dtype=np.float32)))
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
        mesh.CreateFaceVertexCountsAttr([3] * len(piece.triangles))
        mesh.CreateFaceVertexIndicesAttr(piece.triangles.reshape(-1).tolist())
        return path

    def _look(self, mesh: str, shade: tuple[float, ...]) -> str:
        """A mesh with its colour, which instances refer to: a binding must not point out of what is referred to."""
        from pxr import Gf, Sdf, UsdShade

        path = f"/meshes/look_{len(self._looks) + 1}"
        self.stage.DefinePrim(path, "Xform")
        material = UsdShade.Material.Define(self.stage, f"{path}/colour")
        shader = UsdShade.Shader.Define(self.stage, f"{path}/colour/surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*shade))
        shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(ROUGH)
        shader.CreateInput("metallic", Sdf.ValueTypeNames.Float).Set(0.0)
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        solid = self.stage.DefinePrim(f"{path}/mesh")
        solid.GetReferences().AddInternalReference(mesh)
        UsdShade.MaterialBindingAPI.Apply(solid).Bind(material)
        return path

    def _camera(self) -> None:
        """The camera of pictures."""
        from pxr import Gf, UsdGeom

        camera, pose = camera_of(self.take)
        form = UsdGeom.Camera.Define(self.stage, "/run/camera")
        form.AddTranslateOp().Set(Gf.Vec3d(*pose.position.tolist()))
        x, y, z, w = pose.orientation.tolist()
        form.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(w, x, y, z))
        form.CreateVerticalApertureAttr(FILM)
        form.CreateHorizontalApertureAttr(FILM * ASPECT)
        form.CreateFocalLengthAttr(float(0.5 * FILM / np.tan(0.5 * lens(camera))))
        near = max(1e-3, 0.01 * (camera.distance or 1.0))
        form.CreateClippingRangeAttr(Gf.Vec2f(near, 1e5 * near))

    def _track(self, track: Track) -> None:
        """A recorded quantity as an attribute of its body, or of the prim of all that was recorded."""
        rows = {body.name: row for row, body in enumerate(self.take.scene.bodies)}
        if track.owner in rows:
            prim, name = self._bodies[rows[track.owner]], track.name
        else:
            prim, name = self.stage.DefinePrim("/run/recorded"), track.label
        self._attribute(prim, name, track.values, track.unit)

    def _attribute(self, prim: Any, name: str, values: Any, unit: str) -> None:
        from pxr import Gf, Sdf

        double = Sdf.ValueTypeNames
        kinds = {1: (double.Double, float), 3: (double.Double3, Gf.Vec3d), 4: (double.Double4, Gf.Vec4d)}
        kind, make = kinds.get(values.reshape(len(values), -1).shape[1], (double.DoubleArray, list))
        parts = [_identifier(part) for part in name.split(".")]
        attribute = prim.CreateAttribute(":".join(["rattleback", *parts]), kind, custom=True)
        attribute.SetCustomData({"name": name, "unit": unit})
        rows = values.reshape(len(values), -1).tolist()
        self._sample(attribute, [make(row) if make is list else make(*row) for row in rows])

    def _name(self, folder: str, wanted: str) -> str:
        """A name as USD takes them, used once in its folder."""
        plain, number = _identifier(wanted), 1
        found = plain
        while f"{folder}/{found}" in self._names:
            number += 1
            found = f"{plain}_{number}"
        self._names[f"{folder}/{found}"] = wanted
        return found


def stage_of(take: Take, suffix: str, joints: bool, arrows: bool) -> bytes:
    """The take as a USD file: text for ``.usda``, else binary.

    Raises:
        DeviceError: usd-core is missing; the sentence says what to install.
    """
    try:
        import pxr  # noqa: F401
    except ImportError:
        raise DeviceError(NO_PACKAGE) from None
    stage = Usd(take, joints, arrows).stage
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / f"motion{'.usda' if suffix == '.usda' else '.usdc'}"
        stage.GetRootLayer().Export(str(whole))
        return whole.read_bytes()


def _identifier(text: str) -> str:
    from pxr import Tf

    return str(Tf.MakeValidIdentifier(text))
