"""Point instancers of USD, as prims of their own: one for each instance, referring to its prototype.

    X_k = T(position_k) R(orientation_k) S(scale_k) X_prototype

They are written into the session layer of the open stage, so that no file changes, beside the instancer; bodies, shapes
and joints of a prototype are then read as those of any other prim. Inactive and invisible instances are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rattleback.io.robots.formats.usd_stage import Stage
    from rattleback.io.robots.report import Report

MOST_INSTANCES = 10_000
PROPERTIES = (
    *("positions", "orientations", "orientationsf", "scales", "protoIndices", "prototypes", "ids", "invisibleIds"),
    *("velocities", "angularVelocities"),
)


def expand(stage: Stage, report: Report) -> dict[Any, set[str]]:
    """Write prims for the instances of all point instancers; the properties that were read, by path."""
    usd, geom = stage.usd, stage.geom
    stage.stage.SetEditTarget(stage.stage.GetSessionLayer())
    done: dict[Any, set[str]] = {}
    made = 0
    while waiting := [prim for prim in prims_of(stage) if prim.IsA(geom.PointInstancer) and prim.GetPath() not in done]:
        prim = waiting[0]
        if prim.IsInstanceProxy():
            _dissolve(prim)
            continue
        instancer = geom.PointInstancer(prim)
        done[prim.GetPath()] = set(PROPERTIES)
        indices = list(instancer.GetProtoIndicesAttr().Get() or [])
        made += len(indices)
        if made > MOST_INSTANCES:
            report.drop(f"{prim.GetPath()} instances", f"a file has {MOST_INSTANCES} instances at most")
        elif reason := _fault(instancer, indices):
            report.drop(f"{prim.GetPath()} instances", reason)
        else:
            _write(stage, instancer, indices, usd.TimeCode.Default())
            report.keep(f"{prim.GetPath()} instances", "each is a prim of its own")
    return done


def prims_of(stage: Stage) -> Any:
    """All prims in order, those of instances, too, each where it is; without the prototypes of point instancers."""
    usd = stage.usd
    every = iter(usd.PrimRange.Stage(stage.stage, usd.TraverseInstanceProxies()))
    for prim in every:
        if prim.IsA(stage.geom.PointInstancer):
            every.PruneChildren()
        yield prim


def _dissolve(prim: Any) -> None:
    """Make the instance around a prim one of plain prims, which may get others beside them."""
    while not prim.IsInstance():
        prim = prim.GetParent()
    prim.SetInstanceable(False)


def _fault(instancer: Any, indices: list[int]) -> str:
    """Why the instances cannot be made; empty where they can."""
    prim = instancer.GetPrim()
    prototypes = instancer.GetPrototypesRel().GetTargets()
    if any(not prim.GetStage().GetPrimAtPath(path) for path in prototypes):
        return "a prototype is missing"
    if any(prim.GetPath().HasPrefix(path) for path in prototypes):
        return "a prototype holds its own instancer"
    lengths = [
        len(value) for name in ("positions", "orientations", "scales") if (value := prim.GetAttribute(name).Get())
    ]
    if not prim.GetAttribute("positions").Get() or any(length != len(indices) for length in lengths):
        return "its arrays are not as long as protoIndices"
    if any(not 0 <= index < len(prototypes) for index in indices):
        return "protoIndices name prototypes that it does not have"
    return ""


def _write(stage: Stage, instancer: Any, indices: list[int], time: Any) -> None:
    prim, geom = instancer.GetPrim(), stage.geom
    kinds = geom.PointInstancer
    frames = instancer.ComputeInstanceTransformsAtTime(time, time, kinds.IncludeProtoXform, kinds.IgnoreMask)
    shown = instancer.ComputeMaskAtTime(time) or [True] * len(indices)
    holder, number = f"{prim.GetPath()}_instances", 0
    while stage.stage.GetPrimAtPath(holder):
        holder, number = f"{prim.GetPath()}_instances_{number}", number + 1
    above = geom.Xform.Define(stage.stage, holder)
    above.MakeMatrixXform().Set(geom.Xformable(prim).GetLocalTransformation(time))
    prototypes = instancer.GetPrototypesRel().GetTargets()
    for k, (index, frame) in enumerate(zip(indices, frames, strict=True)):
        if shown[k]:
            made = stage.stage.DefinePrim(f"{holder}/{prim.GetName()}_{k}")
            made.GetReferences().AddInternalReference(prototypes[index])
            geom.Xformable(made).MakeMatrixXform().Set(frame)
            _give_velocity(stage, instancer, made, k)


def _give_velocity(stage: Stage, instancer: Any, made: Any, k: int) -> None:
    """A rigid body starts with the velocity that the instancer has for it."""
    if not made.HasAPI(stage.physics.RigidBodyAPI):
        return
    body = stage.physics.RigidBodyAPI(made)
    for told, attribute in (
        (instancer.GetVelocitiesAttr().Get(), body.CreateVelocityAttr),
        (instancer.GetAngularVelocitiesAttr().Get(), body.CreateAngularVelocityAttr),
    ):
        if told and k < len(told):
            attribute().Set(told[k])
