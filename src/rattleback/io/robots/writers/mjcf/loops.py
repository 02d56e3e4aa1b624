"""Loops and couplings of MJCF as equalities.

| joint | equality |
|---|---|
| ball | ``connect`` |
| fixed | ``weld`` |
| revolute | two ``connect`` at points of its axis |
| distance | ``tendon`` of two sites |
| universal | ``connect``; its axes may leave the right angle |
| screw of a tree | ``joint``, its slide follows its turn |
| coupling | ``joint`` with a polynomial up to the fourth power, in coordinates less their values at the start |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD
from rattleback.io.robots.source.placing import inverse, parts, shift
from rattleback.io.robots.writers.xml_tree import element

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Coupling, Joint
    from rattleback.io.robots.writers.mjcf.model import Model

    Floats = NDArray[np.float64]

SOFT = "equalities of MuJoCo are soft, and stiffest with solref and solimp of their own"
NO_SUCH = "equalities of MJCF hold points, poses and coordinates, but no {} joint"
MOST_POWERS = 5
# Distance of the two points of a hinge along its axis [m]; points of a body closer than this are the same.
REACH, CLOSE = 0.1, 1e-9


def add_loops(model: Model) -> None:
    """Add the joints that close loops."""
    for joint in model.description.joints.values():
        if not joint.closes:
            continue
        where = f"joint {joint.name!r}"
        make = {"ball": _connect, "fixed": _weld, "revolute": _hinge, "distance": _rod, "universal": _connect}
        if joint.kind not in make:
            model.report.drop(where, NO_SUCH.format(joint.kind))
            continue
        make[joint.kind](model, joint)
        if joint.kind == "universal":
            model.report.approximate(where, "as a connect: its axes may leave the right angle")
        else:
            model.report.keep(where, f"as an equality; {SOFT}")
        if any(joint.limits):
            model.report.drop(f"{where} limits", "equalities have none")
        for name in ("damping", "stiffness", "friction_loss", "armature"):
            if getattr(joint, name):
                model.report.drop(f"{where} {name}", "equalities have none")


def _ends(model: Model, joint: Joint) -> tuple[tuple[str, str], tuple[Floats, Floats]]:
    """Links and frames of a loop, the one that is not the world first."""
    if joint.parent == WORLD:
        return (joint.child, joint.parent), (joint.frame_child, joint.frame_parent)
    return (joint.parent, joint.child), (joint.frame_parent, joint.frame_child)


def _bodies(model: Model, links: tuple[str, str]) -> dict[str, Any]:
    names = model.names["body"]
    return {"body1": names[links[0]], "body2": None if links[1] == WORLD else names[links[1]]}


def _connect(model: Model, joint: Joint, along: float = 0.0, name: str = "") -> None:
    """Hold a point of both bodies together: one anchor where it is closed, else two sites."""
    links, frames = _ends(model, joint)
    points = [(frame @ (0.0, 0.0, along, 1.0))[:3] for frame in frames]
    places = [(model.frames[link] @ np.append(point, 1.0))[:3] for link, point in zip(links, points, strict=True)]
    label = model.names["equality"].add(name or joint.name)
    if np.linalg.norm(places[1] - places[0]) < CLOSE:
        made = {"anchor": points[0], **_bodies(model, links)}
        element(model.section("equality"), "connect", name=label, **made)
        return
    sites = [
        add_site(model, link, point, f"{label} {side}") for link, point, side in zip(links, points, "ab", strict=True)
    ]
    element(model.section("equality"), "connect", name=label, site1=sites[0], site2=sites[1])


def add_site(model: Model, link: str, point: Floats, name: str) -> str:
    """Add a site to a body that is already there, unless it has it; its name."""
    if model.writing.has_frame(name, link, shift(*point)):
        return model.names["site"][name]
    label = model.names["site"].add(name)
    world = model.section("worldbody")
    body = (
        world
        if link == WORLD
        else next(one for one in world.iter("body") if one.get("name") == model.names["body"][link])
    )
    element(body, "site", name=label, pos=point)
    return label


def _hinge(model: Model, joint: Joint) -> None:
    _connect(model, joint)
    _connect(model, joint, REACH, f"{joint.name} axis")


def _weld(model: Model, joint: Joint) -> None:
    """Hold a pose: where the anchor, a point of the second body, lies in the first, and how the second is turned."""
    links, frames = _ends(model, joint)
    x, y, z, w = parts(frames[0] @ inverse(frames[1]))[1]
    label = model.names["equality"].add(joint.name)
    law = {"relpose": (*frames[0][:3, 3], w, x, y, z), "anchor": frames[1][:3, 3], **_bodies(model, links)}
    element(model.section("equality"), "weld", name=label, **law)


def _rod(model: Model, joint: Joint) -> None:
    """A tendon of a length; the polynomial counts from the length at the start."""
    links, frames = (joint.parent, joint.child), (joint.frame_parent, joint.frame_child)
    places = [(model.frames[link] @ frame)[:3, 3] for link, frame in zip(links, frames, strict=True)]
    name = tendon(model, joint.name, links, (frames[0][:3, 3], frames[1][:3, 3]))
    off = joint.length - float(np.linalg.norm(places[1] - places[0]))
    label = model.names["equality"].add(joint.name)
    element(model.section("equality"), "tendon", name=label, tendon1=name, polycoef=(off, 0.0, 0.0, 0.0, 0.0))


def tendon(model: Model, name: str, links: Any, points: Any, **options: Any) -> str:
    """Add a straight tendon between two points of bodies; its name."""
    sites = [
        add_site(model, link, point, f"{name} {side}") for link, point, side in zip(links, points, "ab", strict=True)
    ]
    label = model.names["tendon"].add(name)
    made = element(model.section("tendon"), "spatial", name=label, **options)
    for site in sites:
        element(made, "site", site=site)
    return label


def add_couplings(model: Model) -> None:
    """Add joints that follow others, and the slides of screws, which follow their turns."""
    chains = {chain.joint.name: chain for chain in model.chains}
    for chain in model.chains:
        if chain.joint.kind == "screw":
            slide, turn = chain.names
            label = model.names["equality"].add(f"{chain.joint.name}.pitch")
            lead = chain.joint.pitch / (2.0 * np.pi)
            law = {"joint1": slide, "joint2": turn, "polycoef": (0.0, lead, 0.0, 0.0, 0.0)}
            element(model.section("equality"), "joint", name=label, **law)
            model.report.keep(f"joint {chain.joint.name!r} pitch", f"as an equality; {SOFT}")
    for coupling in model.description.couplings:
        ends = [chains.get(name) for name in (coupling.follower, coupling.leader)]
        where = coupling.where or f"coupling of {coupling.follower!r}"
        if any(end is None or not end.single for end in ends):
            model.report.drop(where, "one of its joints has no single coordinate in the tree")
        elif len(coupling.coefficients) > MOST_POWERS:
            model.report.drop(where, "polynomials of MJCF end with the fourth power")
        else:
            _couple(model, coupling, ends)
            model.report.keep(where, f"as an equality; {SOFT}")


def _couple(model: Model, coupling: Coupling, ends: Any) -> None:
    """q_f − r_f = Σ c_k (q_l − x₀)^k − r_f, in powers of q_l − r_l."""
    follower, leader = ends
    away, base = (end.references[end.names.index(end.single)] for end in (leader, follower))
    shifted = np.polynomial.Polynomial(coupling.coefficients)(np.polynomial.Polynomial([away - coupling.origin, 1.0]))
    coefficients = np.zeros(MOST_POWERS)
    coefficients[: len(shifted.coef)] = shifted.coef
    coefficients[0] -= base
    label = model.names["equality"].add(f"{coupling.follower} coupling")
    law = {"joint1": follower.single, "joint2": leader.single, "polycoef": coefficients}
    element(model.section("equality"), "joint", name=label, **law)
