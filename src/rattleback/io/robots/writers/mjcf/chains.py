"""Joints of the trees in MJCF: chains of hinges, slides and balls on one body, each moving after the one before.

    T = T₀ exp(S₁ (q₁ − r₁)) exp(S₂ (q₂ − r₂)) …        S screw axes in the frame of the body at the start, r ``ref``

A joint of several freedoms called ``hip`` becomes joints called ``hip.slide_z``, ``hip.turn_z`` and so on, from which
the reader makes one joint again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.io.robots.description import FAR
from rattleback.io.robots.source.placing import inverse
from rattleback.io.robots.writers.xml_tree import element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from numpy.typing import NDArray

    from rattleback.io.robots.description import Joint
    from rattleback.io.robots.writers.mjcf.model import Model

    Floats = NDArray[np.float64]

SLIDE, HINGE, BALL, FREE = "slide", "hinge", "ball", "free"
X, Y, Z = range(3)


class Move(NamedTuple):
    """One MuJoCo joint of a chain.

    Attributes:
        end: What its name has after the joint's and a dot; empty for the joint's own name.
        kind: What MuJoCo calls it.
        axis: Axis of the joint's frame, that of the parent, or where ``of_child`` of the child.
        place: Which coordinate of the joint it has; None where it starts at zero.
        of_child: Whether its axis is fixed to the child.
    """

    end: str
    kind: str
    axis: int = Z
    place: int | None = None
    of_child: bool = False


WAYS = (Move("slide_x", SLIDE, X), Move("slide_y", SLIDE, Y), Move("slide_z", SLIDE, Z))
TURNS = (Move("turn_a", HINGE, Z), Move("turn_b", HINGE, X, None, True))
CHAINS: dict[str, tuple[Move, ...]] = {
    "fixed": (),
    "revolute": (Move("", HINGE, Z, 0),),
    "prismatic": (Move("", SLIDE, Z, 0),),
    "screw": (Move("slide_z", SLIDE), Move("turn_z", HINGE, Z, 0)),
    "cylindrical": (Move("slide_z", SLIDE, Z, 0), Move("turn_z", HINGE, Z, 1)),
    "universal": (Move("turn_a", HINGE, Z, 0), Move("turn_b", HINGE, X, 1, True)),
    "ball": (Move("", BALL),),
    "planar": (Move("slide_x", SLIDE, X, 0), Move("slide_y", SLIDE, Y, 1), Move("turn_z", HINGE, Z, 2)),
    "point_on_line": (WAYS[2], Move("turn", BALL)),
    "point_on_plane": (*WAYS[:2], Move("turn", BALL)),
    "fixed_orientation": WAYS,
    "common_direction": (*WAYS, Move("turn_z", HINGE)),
    "double_rotation": (*WAYS, *TURNS),
    "free": (Move("", FREE),),
}


@dataclass
class Chain:
    """A joint in the file.

    Attributes:
        joint: The joint.
        moves: Its moves.
        body: Link that has them in the file.
        names: Names of the MuJoCo joints, one a move.
        references: Coordinates of hinges and slides at the start, one a move.
        screws: Screw axes of all freedoms in the frame of the body: way above turn (6, freedoms).
    """

    joint: Joint
    moves: tuple[Move, ...]
    body: str
    names: list[str] = field(default_factory=list)
    references: list[float] = field(default_factory=list)
    screws: list[Floats] = field(default_factory=list)

    @property
    def single(self) -> str:
        """Name of the MuJoCo joint that has the one coordinate of the joint; empty where there is none."""
        placed = [name for name, move in zip(self.names, self.moves, strict=True) if move.place is not None]
        return placed[0] if self.joint.kind in ("revolute", "prismatic", "screw") else ""


def add_chain(model: Model, body: Element, joint: Joint, link: str) -> None:
    """Add the MuJoCo joints of a joint to a body: that which hangs by it, or one that hangs on that without mass."""
    chain = Chain(joint, CHAINS[joint.kind], link)
    start = np.atleast_1d(0.0 if joint.start is None else joint.start)
    back = inverse(model.frames[link])
    ahead = back @ model.frames[joint.parent] @ joint.frame_parent
    here = back @ model.frames[joint.child] @ joint.frame_child
    for move in chain.moves:
        name = model.names["joint"].add(f"{joint.name}.{move.end}" if move.end else joint.name)
        chain.names.append(name)
        reference = 0.0 if move.place is None else float(start[move.place])
        if joint.kind == "screw" and move.kind == SLIDE:
            reference = float(start[0]) * joint.pitch / (2.0 * np.pi)
        chain.references.append(reference)
        if move.kind == FREE:
            element(body, "freejoint", name=name)
            continue
        point, axis = here[:3, 3], (here if move.of_child else ahead)[:3, move.axis]
        chain.screws.extend(_screws(move.kind, point, axis))
        made = element(body, "joint", name=name, type=move.kind, pos=point)
        if move.kind != BALL:
            made.set("axis", " ".join(repr(float(part) + 0.0) for part in axis))
        if reference:
            made.set("ref", repr(reference))
        _add_law(made, joint, move)
    model.chains.append(chain)
    _tell(model, chain)


def _screws(kind: str, point: Floats, axis: Floats) -> list[Floats]:
    axes = np.eye(3) if kind == BALL else [axis]
    if kind == SLIDE:
        return [np.concatenate([axis, np.zeros(3)])]
    return [np.concatenate([np.cross(point, one), one]) for one in axes]


def _add_law(made: Element, joint: Joint, move: Move) -> None:
    """Add limits, and what a joint puts against its motion, to the part of it that has its coordinate."""
    if move.place is not None and move.place < len(joint.limits) and joint.limits[move.place] is not None:
        lower, upper = joint.limits[move.place] or (None, None)
        # MuJoCo has both limits or none; one alone has its other end far away.
        ends = -FAR if lower is None else lower, FAR if upper is None else upper
        made.set("range", " ".join(repr(float(end)) for end in ends))
    whole = len(CHAINS[joint.kind]) == 1 or (joint.kind == "screw" and move.kind == HINGE)
    if not whole:
        return
    told = {"damping": joint.damping, "armature": joint.armature, "frictionloss": joint.friction_loss}
    if joint.stiffness and move.kind != BALL:
        told |= {"stiffness": joint.stiffness, "springref": joint.rest}
    for name, value in told.items():
        if value:
            made.set(name, repr(float(value)))
    if joint.effort_limit is not None and 0.0 < joint.effort_limit < FAR and move.kind != BALL:
        made.set("actuatorfrcrange", f"{-float(joint.effort_limit)!r} {float(joint.effort_limit)!r}")


def _tell(model: Model, chain: Chain) -> None:
    joint, report = chain.joint, model.report
    where = f"joint {joint.name!r}"
    if joint.kind in ("fixed", "free"):
        if joint.where == where:
            report.keep(where, "the body is inside the other, without a joint")
    elif len(chain.names) > 1:
        report.keep(where, f"as the joints {', '.join(map(repr, chain.names))} of one body")
    else:
        report.keep(where)
    if any(joint.limits):
        report.keep(f"{where} limits")
    for name in ("damping", "armature", "friction_loss", "stiffness"):
        if getattr(joint, name) and joint.kind not in ("fixed", "free"):
            report.keep(f"{where} {name}")
    if joint.velocity_limit is not None and joint.velocity_limit < FAR:
        report.drop(f"{where} velocity limit", "MJCF has none")
    if joint.effort_limit is not None and 0.0 < joint.effort_limit < FAR:
        report.keep(f"{where} effort limit")
    if joint.breaking_force is not None or joint.breaking_torque is not None:
        report.drop(f"{where} strength", "joints of MJCF do not break")
