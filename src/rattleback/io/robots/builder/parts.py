"""Bodies of a description: links that fixed joints hold together become one, their names stay as frames.

    m = Σ m_k      c = Σ m_k c_k / m      J = Σ (R_k J_k R_kᵀ + m_k (|d_k|² 1 − d_k d_kᵀ)),   d_k = c_k − c

What hangs on the world by fixed joints alone is the world: it becomes static bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rattleback.io.robots.builder.motion import tree_joints
from rattleback.io.robots.description import WORLD, Inertia
from rattleback.io.robots.source.placing import inverse
from rattleback.maths import inertia as inertia_maths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Description, Joint, Link
    from rattleback.io.robots.report import Report

    Floats = NDArray[np.float64]

# A moment of inertia below the first part of the largest one is none; it is raised to the second.
NO_MOMENT, LEAST_MOMENT = 1e-14, 1e-6
# Radius of gyration of a body without any moments [m].
NO_SIZE = 0.01
SLACK = 1e-10


@dataclass
class Part:
    """Links that move as one.

    Attributes:
        name: Name of the link the others hang on; the part has its frame.
        members: Frames of its links in that of the part (4, 4), by name.
        inertia: Mass properties in its frame; None without mass.
        dot: Radius of the ball it is shown as where it has no shape, as its mass is borrowed [m]; zero for none.
    """

    name: str
    members: dict[str, Floats] = field(default_factory=dict)
    inertia: Inertia | None = None
    dot: float = 0.0


@dataclass
class Bodies:
    """Parts and the joints between them.

    Attributes:
        parts: Parts by name; the world is one of them.
        home: Name of the part of each link.
        joints: Joints of the trees and of loops, between parts, their frames in those of the parts.
    """

    parts: dict[str, Part]
    home: dict[str, str]
    joints: dict[str, Joint]

    def place(self, link: str) -> tuple[str, Floats]:
        """Part of a link, and the frame of the link in the part's."""
        part = self.home[link]
        return part, self.parts[part].members[link]


def find_bodies(description: Description, report: Report) -> Bodies:
    """Join what is fixed, and add up the masses."""
    world = Part(WORLD, {WORLD: np.eye(4)})
    bodies = Bodies({WORLD: world}, {WORLD: WORLD}, {})
    joints = tree_joints(description)
    hanging = {joint.child: joint for joint in joints}
    for name in description.links:
        if name not in hanging and name != WORLD:
            _begin(bodies, name)
    for joint in joints:
        if joint.kind == "fixed":
            home, frame = bodies.place(joint.parent)
            bodies.home[joint.child] = home
            bodies.parts[home].members[joint.child] = frame @ joint.frame_parent @ inverse(joint.frame_child)
        else:
            _begin(bodies, joint.child)
    for joint in description.joints.values():
        if joint.kind != "fixed" or joint.closes:
            bodies.joints[joint.name] = _between_parts(bodies, joint)
    for part in bodies.parts.values():
        if part.name != WORLD:
            part.inertia = _added_up(part, description.links, report)
    return bodies


def _begin(bodies: Bodies, name: str) -> None:
    bodies.parts[name] = Part(name, {name: np.eye(4)})
    bodies.home[name] = name


def _between_parts(bodies: Bodies, joint: Joint) -> Joint:
    parent, above = bodies.place(joint.parent)
    child, below = bodies.place(joint.child)
    first, second = above @ joint.frame_parent, below @ joint.frame_child
    return replace(joint, parent=parent, child=child, frame_parent=first, frame_child=second)


def _added_up(part: Part, links: dict[str, Link], report: Report) -> Inertia | None:
    """Mass properties of all links of a part, in its frame."""
    found = []
    for name, frame in part.members.items():
        own = links[name].inertia
        if own is not None and own.mass > 0.0:
            turn = frame[:3, :3]
            found.append((own.mass, turn @ own.center + frame[:3, 3], turn @ own.tensor @ turn.T))
    if not found:
        return None
    mass, center, tensor = inertia_maths.combine([(m, c, 0.5 * (j + j.T)) for m, c, j in found])
    mended = possible(tensor, mass)
    if mended is not tensor:
        place = links[part.name].where or f"link {part.name!r}"
        moments = ", ".join(f"{one:.6g}" for one in np.linalg.eigvalsh(tensor))
        now = ", ".join(f"{one:.6g}" for one in np.linalg.eigvalsh(mended))
        report.approximate(
            f"{place} inertia", f"no body has the principal moments {moments} kg m²; they are raised to {now} kg m²"
        )
    return Inertia(mass, center, mended)


def possible(tensor: Floats, mass: float) -> Floats:
    """The tensor itself where a rigid body of a mass can have it, else one with moments raised until a body can."""
    moments, axes = np.linalg.eigh(tensor)
    top = moments[2] if moments[2] > 0.0 else mass * NO_SIZE**2 / LEAST_MOMENT
    raised = np.where(moments > NO_MOMENT * top, moments, LEAST_MOMENT * top)
    lacking = 0.5 * (raised[2] - raised[0] - raised[1])
    if lacking > SLACK * top:
        raised[:2] += lacking
    # A tensor that is fine stays as it is, bit for bit.
    if np.array_equal(raised, moments):
        return tensor
    made = axes @ np.diag(raised) @ axes.T
    return np.asarray(0.5 * (made + made.T))
