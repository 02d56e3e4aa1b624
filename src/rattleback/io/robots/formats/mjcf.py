"""MJCF: what MuJoCo's own compiler makes of a file, with names, nested defaults and replicas resolved.

Several joints on a body are a chain of links without mass. A coordinate is MuJoCo's own: a joint with a reference
stands at it at the start. Bodies without a joint are fixed to their parents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import FAR, WORLD, Description, Inertia, Joint, Link, Site, View
from rattleback.io.robots.formats.loops import add_loops
from rattleback.io.robots.formats.mjcf_drives import add_actuators, add_equalities, add_keyframes, add_sensors
from rattleback.io.robots.formats.mjcf_files import compiled, mujoco_module
from rattleback.io.robots.formats.mjcf_flags import switch_off
from rattleback.io.robots.formats.mjcf_geometry import add_geometries, listed_pairs
from rattleback.io.robots.formats.mjcf_report import judge
from rattleback.io.robots.formats.mjcf_tendons import add_tendons
from rattleback.io.robots.source.placing import about_z, along_axis, from_quaternion, shift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.read import Source

    Floats = NDArray[np.float64]

FREE, BALL, SLIDE, HINGE = range(4)
KINDS = {FREE: "free", BALL: "ball", SLIDE: "prismatic", HINGE: "revolute"}


def read(source: Source) -> Description:
    """The description of an MJCF file."""
    assert source.document is not None
    root = source.document.root
    model, documents = compiled(source)
    switch_off(model)
    described = Described(model, root.attributes.get("model", "") or "robot")
    for number in range(1, model.nbody):
        described.add_body(number)
    add_geometries(described)
    add_equalities(described, source.report)
    add_tendons(described, source.report)
    add_actuators(described, source.report)
    add_keyframes(described)
    add_sensors(described)
    described.add_frames()
    described.add_exclusions()
    add_loops(described.description, source)
    for document in (source.document, *documents):
        judge(document.root, described.lost)
        if document is not source.document:
            document.tell(source.report)
    return described.description


def placed(position: Any, quaternion: Any) -> Floats:
    """A frame from a position and a quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return from_quaternion(position, (x, y, z, w))


class Described:
    """A compiled model and the description that is made from it.

    Attributes:
        model: The compiled model.
        description: What is made.
        links: Names of the links by number of the body.
        joints: Names of the joints by their number.
        lost: Names of the actuators that are dropped.
    """

    def __init__(self, model: Any, name: str) -> None:
        self.model = model
        self.description = Description(name, gravity=tuple(model.opt.gravity.tolist()))
        self.description.time_step = float(model.opt.timestep)
        # Sliding, torsional and rolling coefficients of two bodies combine to the larger one.
        self.description.combine = dict.fromkeys(("friction", "rolling", "spinning"), "max")
        self.links = {0: WORLD}
        self.joints: dict[int, str] = {}
        self.lost: set[str] = set()
        self.description.links[WORLD] = Link(WORLD, "worldbody")

    def name(self, kind: str, number: int, taken: Any = ()) -> str:
        """Name of a thing, or its kind and number where it has none."""
        found = getattr(self.model, kind)(number).name or f"{kind} {number}"
        while found in taken:
            found += "'"
        return str(found)

    def add_body(self, number: int) -> None:
        """Add a body and the joints it has."""
        model, description = self.model, self.description
        name = self.name("body", number, description.links)
        self.links[number] = name
        parent = self.links[int(model.body_parentid[number])]
        frame = placed(model.body_pos[number], model.body_quat[number])
        link = Link(name, f"body {name!r}", frame, self._inertia(number))
        link.gravity_compensation = float(model.body_gravcomp[number])
        first, count = int(model.body_jntadr[number]), int(model.body_jntnum[number])
        if count == 0:
            label = f"{name} mount"
            description.joints[label] = Joint(label, "fixed", parent, name, frame_parent=frame)
        above, base = parent, frame
        for k in range(first, first + count):
            last = k == first + count - 1
            below = name if last else f"{name} {k - first + 1}"
            if not last:
                description.links[below] = Link(below, f"body {name!r}, between its joints")
            self._add_joint(k, (above, below), base)
            above, base = below, np.eye(4)
        description.links[name] = link
        if count > 1 and parent != WORLD:
            description.exclusions.append((parent, name))

    def _inertia(self, number: int) -> Inertia | None:
        model = self.model
        mass = float(model.body_mass[number])
        if mass <= 0.0:
            return None
        turn = placed(np.zeros(3), model.body_iquat[number])[:3, :3]
        tensor = turn @ np.diag(model.body_inertia[number]) @ turn.T
        return Inertia(mass, model.body_ipos[number].copy(), 0.5 * (tensor + tensor.T))

    def _add_joint(self, k: int, ends: tuple[str, str], base: Floats) -> None:
        """Add a joint whose child has the frame ``base`` in that of its parent, where it is at its reference."""
        model = self.model
        name = self.name("joint", k, self.description.joints)
        kind, q = int(model.jnt_type[k]), int(model.jnt_qposadr[k])
        joint = Joint(name, KINDS[kind], *ends, where=f"joint {name!r}")
        self.joints[k] = name
        if kind == FREE:
            joint.start = self.coordinate(k, model.qpos0)
        elif kind == BALL:
            joint.frame_child = shift(*model.jnt_pos[k])
            joint.frame_parent = base @ joint.frame_child
        else:
            reference = float(model.qpos0[q])
            frame = along_axis(model.jnt_axis[k], model.jnt_pos[k])
            back = about_z(-reference) if kind == HINGE else shift(0.0, 0.0, -reference)
            joint.frame_parent, joint.frame_child, joint.start = base @ frame @ back, frame, reference
            joint.rest, joint.stiffness = float(model.qpos_spring[q]), float(model.jnt_stiffness[k])
        if model.jnt_limited[k]:
            lower, upper = model.jnt_range[k].tolist()
            joint.limits = ((None if lower <= -FAR else lower, None if upper >= FAR else upper),)
            if kind in (SLIDE, HINGE) and not lower <= joint.start <= upper:
                joint.start = None
        self._add_resistance(joint, k)
        self.description.joints[name] = joint

    def _add_resistance(self, joint: Joint, k: int) -> None:
        """What a joint puts against its motion."""
        model, dof = self.model, int(self.model.jnt_dofadr[k])
        if model.jnt_actfrclimited[k]:
            joint.effort_limit = float(np.abs(model.jnt_actfrcrange[k]).max())
        joint.damping, joint.armature = float(model.dof_damping[dof]), float(model.dof_armature[dof])
        joint.friction_loss = float(model.dof_frictionloss[dof])

    def coordinate(self, k: int, qpos: Floats) -> Any:
        """Coordinate of a joint in MuJoCo's configuration, in our order."""
        kind, q = int(self.model.jnt_type[k]), int(self.model.jnt_qposadr[k])
        if kind == FREE:
            w, x, y, z = qpos[q + 3 : q + 7].tolist()
            return (*qpos[q : q + 3].tolist(), x, y, z, w)
        if kind == BALL:
            w, x, y, z = qpos[q : q + 4].tolist()
            return x, y, z, w
        return float(qpos[q])

    def add_frames(self) -> None:
        """Add sites and cameras."""
        model, description = self.model, self.description
        for k in range(model.nsite):
            name = self.name("site", k, description.sites)
            link = self.links[int(model.site_bodyid[k])]
            description.sites[name] = Site(name, link, placed(model.site_pos[k], model.site_quat[k]))
        for k in range(model.ncam):
            name, link = self.name("camera", k, description.cameras), self.links[int(model.cam_bodyid[k])]
            frame, field = placed(model.cam_pos[k], model.cam_quat[k]), float(np.radians(model.cam_fovy[k]))
            description.cameras[name] = View(name, link, frame, field)

    def add_exclusions(self) -> None:
        """Add pairs that never collide, and those that do although a joint holds them, as MuJoCo decides."""
        model, description = self.model, self.description
        for signature in model.exclude_signature:
            pair = self.links[int(signature) >> 16], self.links[int(signature) & 0xFFFF]
            description.exclusions.append(pair)
        for first, second in listed_pairs(model):
            self._allow(first, second, set())
        kept = {frozenset(pair) for pair in description.exclusions}
        bits = model.geom_contype | model.geom_conaffinity
        solid = {int(model.geom_bodyid[k]) for k in range(model.ngeom) if bits[k]}
        for number in solid:
            parent = int(model.body_parentid[number])
            # A parent that is welded to the world is no parent for MuJoCo's filter.
            if parent in solid and parent != 0 and model.body_weldid[parent] == 0 != model.body_weldid[number]:
                self._allow(parent, number, kept)
        if int(model.opt.disableflags) & int(mujoco_module("").mjtDisableBit.mjDSBL_FILTERPARENT):
            for number in sorted(solid):
                parent = int(model.body_parentid[number])
                if parent in solid and model.body_weldid[parent] != model.body_weldid[number]:
                    self._allow(parent, number, kept)
        for k in range(model.neq):
            ends = self.closed.get(k)
            if ends is not None and ends[0] in solid and ends[1] in solid:
                self._allow(*ends, kept)

    def _allow(self, first: int, second: int, kept: set[frozenset[str]]) -> None:
        pair = self.links[first], self.links[second]
        if frozenset(pair) not in kept and WORLD not in pair and pair not in self.description.allowed:
            self.description.allowed.append(pair)

    @property
    def closed(self) -> dict[int, tuple[int, int]]:
        """Numbers of the bodies of every equality between bodies."""
        model, found = self.model, {}
        for k in range(model.neq):
            if int(model.eq_type[k]) in (0, 1):
                ends = [int(getattr(model, f"eq_obj{side}id")[k]) for side in (1, 2)]
                if int(model.eq_objtype[k]) != 1:
                    ends = [int(model.site_bodyid[site]) for site in ends]
                found[k] = ends[0], ends[1]
        return found
