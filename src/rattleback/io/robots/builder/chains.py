"""Chains of joints that writers of our own make of one joint, as that joint again.

    hip.slide_z, hip.turn_z        ``cylindrical``, or a ``screw`` where the slide follows the turn
    hip.turn_a, hip.turn_b         ``universal``
    hip.turn_x, _y, _z             ``ball``
    hip.slide_x, _y, hip.turn_z    ``planar``               and on, see ``KINDS``

    T = F₁ M₁(q₁) G₁⁻¹ F₂ M₂(q₂) G₂⁻¹ …  =  F M(q) G⁻¹        F = T(0) G, G the frame of the joint on the child

Links between have neither mass nor anything on them. A chain whose axes do not lie as the names say, or whose parts are
braked, driven or coupled, stays as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import FAR, Keyframe
from rattleback.io.robots.source.placing import inverse, with_axes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Coupling, Description, Joint
    from rattleback.io.robots.report import Report

    Floats = NDArray[np.float64]

WAYS = ("slide_x", "slide_y", "slide_z")
KINDS = {
    ("slide_z", "turn_z"): "cylindrical",
    ("turn_a", "turn_b"): "universal",
    ("turn_x", "turn_y", "turn_z"): "ball",
    ("slide_x", "slide_y", "turn_z"): "planar",
    ("slide_z", "turn"): "point_on_line",
    ("slide_x", "slide_y", "turn"): "point_on_plane",
    WAYS: "fixed_orientation",
    (*WAYS, "turn_z"): "common_direction",
    (*WAYS, "turn_a", "turn_b"): "double_rotation",
}
TWO = ("cylindrical", "universal", "planar")
CLOSE = 1e-9


def join_chains(description: Description, report: Report) -> None:
    """Join all chains, and tell of each."""
    above = {joint.child: joint for joint in description.joints.values() if not joint.closes}
    children: dict[str, list[Joint]] = {}
    for joint in above.values():
        children.setdefault(joint.parent, []).append(joint)
    used = _used(description)
    for joint in list(above.values()):
        stem, _, end = joint.name.rpartition(".")
        chain = [joint]
        if joint.name not in description.joints:
            continue
        while stem and len(below := children.get(chain[-1].child, [])) == 1 and below[0].name.startswith(f"{stem}."):
            if chain[-1].child in used or description.links[chain[-1].child].inertia is not None:
                break
            chain.append(below[0])
        if end and len(chain) > 1 and stem not in description.joints:
            _join(description, stem, chain)
            if stem in description.joints:
                names = ", ".join(repr(one.name) for one in chain)
                report.keep(f"joints {names}", f"they are one {description.joints[stem].kind} joint, {stem!r}")


def _used(description: Description) -> set[str]:
    """Links that something lies on, or that a joint which closes a loop holds."""
    found = {name for name, link in description.links.items() if link.geometries or link.velocity is not None}
    found |= {site.link for site in description.sites.values()} | {view.link for view in description.cameras.values()}
    return found | {end for joint in description.joints.values() if joint.closes for end in (joint.parent, joint.child)}


def _join(description: Description, stem: str, chain: list[Joint]) -> None:
    """Put one joint in the place of a chain, if the chain is one."""
    kind = KINDS.get(tuple(joint.name.rpartition(".")[2] for joint in chain), "")
    screw = _lead(description, chain) if kind == "cylindrical" else None
    if not kind or not all(map(_as_named, chain)) or _held(description, chain, screw):
        return
    frame = _frame(chain)
    if frame is None:
        return
    rest = np.eye(4)
    for joint in chain:
        rest = rest @ joint.frame_parent @ inverse(joint.frame_child)
    made = replace(
        chain[-1], name=stem, kind=kind, parent=chain[0].parent, frame_parent=rest @ frame, frame_child=frame
    )
    limits = tuple(joint.limits[0] if joint.limits else None for joint in chain)
    made.limits = limits if kind in TWO and any(limits) else ()
    made.start = np.array([joint.start or 0.0 for joint in chain]) if kind in TWO else None
    if screw is not None:
        made.kind, made.pitch = "screw", 2.0 * np.pi * screw.coefficients[1]
        made.limits, made.start = chain[1].limits, chain[1].start
        description.couplings.remove(screw)
    _replace(description, made, chain)


def _held(description: Description, chain: list[Joint], screw: Coupling | None) -> bool:
    """Whether parts of a chain are coupled, braked or driven; the turn of a screw may be."""
    names = {joint.name for joint in chain}
    driven = {name for actuator in description.actuators for name in actuator.joints} & names
    held = driven | {joint.name for joint in chain if _loaded(joint)}
    others = [one for one in description.couplings if {one.follower, one.leader} & names and one is not screw]
    return bool(others or held - ({chain[-1].name} if screw is not None else set()))


def _as_named(joint: Joint) -> bool:
    """Whether a joint is of the kind that the end of its name says."""
    end = joint.name.rpartition(".")[2]
    return joint.kind == ("prismatic" if end in WAYS else "ball" if end == "turn" else "revolute")


def _loaded(joint: Joint) -> bool:
    driven = joint.effort_limit is not None and joint.effort_limit < FAR
    return bool(joint.damping or joint.stiffness or joint.armature or joint.friction_loss or driven)


def _lead(description: Description, chain: list[Joint]) -> Coupling | None:
    """The coupling that makes a slide follow the turn after it, from zero."""
    for coupling in description.couplings:
        slope = coupling.value(1.0) - coupling.value(0.0)
        ends = (coupling.follower, coupling.leader) == (chain[0].name, chain[1].name)
        if ends and coupling.linear and slope and abs(coupling.value(0.0)) < CLOSE:
            return coupling
    return None


def _frame(chain: list[Joint]) -> Floats | None:
    """Frame of the joint on the child: where its axes lie when all coordinates are zero; None where they do not fit."""
    axes: dict[str, Floats] = {}
    point, back = chain[-1].frame_child[:3, 3], np.eye(4)
    for joint in chain[::-1]:
        here = back @ joint.frame_child
        name = joint.name.rpartition(".")[2]
        axes[name] = here[:3, 2]
        if joint.kind in ("revolute", "ball") and np.linalg.norm(np.cross(here[:3, 3] - point, here[:3, 2])) > CLOSE:
            return None
        back = here @ inverse(joint.frame_parent)
    first = {"turn_a": "z", "turn_b": "x", "turn": ""}
    told = {name: first.get(name, name[-1]) for name in axes}
    known = {letter: axes[name] for name, letter in told.items() if letter}
    if "turn_z" in axes and "slide_z" in axes and np.linalg.norm(axes["turn_z"] - axes["slide_z"]) > CLOSE:
        return None
    up = known.get("z", np.cross(known["x"], known["y"]) if {"x", "y"} <= known.keys() else None)
    if up is None:
        return None
    aside = known.get("x", np.eye(3)[int(np.argmin(np.abs(up)))])
    made = with_axes(aside, up, point)
    fits = all(np.linalg.norm(made[:3, "xyz".index(letter)] - axis) < CLOSE for letter, axis in known.items())
    return made if fits or "x" not in known else None


def _replace(description: Description, made: Joint, chain: list[Joint]) -> None:
    """Take the chain and the links between out of the description, and put the joint in."""
    order = {}
    for name, joint in description.joints.items():
        if name == chain[0].name:
            order[made.name] = made
        if all(joint is not one for one in chain):
            order[name] = joint
    description.joints.clear()
    description.joints.update(order)
    for joint in chain[:-1]:
        del description.links[joint.child]
    for actuator in description.actuators:
        actuator.joints = {
            made.name if name == chain[-1].name else name: value for name, value in actuator.joints.items()
        }
    for key in description.keyframes.values():
        _merge(key, made, chain)


def _merge(key: Keyframe, made: Joint, chain: list[Joint]) -> None:
    values: list[Any] = [key.coordinates.pop(joint.name, None) for joint in chain]
    if made.kind == "screw":
        key.coordinates[made.name] = values[1]
    elif made.kind in TWO and None not in values:
        key.coordinates[made.name] = np.array(values)
