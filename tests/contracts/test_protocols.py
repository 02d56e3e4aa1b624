"""Every entry of every menu fits the protocol of its slot: the methods are there, with the parameters it names."""

import inspect
from typing import Any

import pytest

import rattleback as rb
from rattleback import integrators, lcp, steps
from rattleback.collision import broadphase, narrowphase
from rattleback.collision.broadphase import bounds
from rattleback.core import protocols
from rattleback.solvers import contacts, joints
from rattleback.solvers.contacts import SOLVERS

MENUS: dict[str, dict[str, Any]] = {
    "StepMethod": steps.MENU,
    "Integrator": integrators.MENU,
    # What moves whole trees prepares no joints of its own.
    "JointMethod": {name: kind for name, kind in joints.IMPULSES.items() if not hasattr(kind, "trees")},
    "JointForceMethod": joints.FORCES,
    "ContactScheme": {name: kind for name, kind in contacts.MENU.items() if kind.resolves},
    "ContactSolver": SOLVERS,
    "ComplementarityMethod": lcp.MENU,
    "BroadPhase": broadphase.MENU,
    "BoundingVolume": bounds.MENU,
    "NarrowPhase": narrowphase.MENU,
    "Shape": {
        kind.__name__: kind
        for kind in (rb.Sphere, rb.Box, rb.Capsule, rb.Cylinder, rb.Cone, rb.Ellipsoid, rb.ConvexHull, rb.Mesh)
    },
}
ENTRIES = [(slot, name) for slot, menu in MENUS.items() for name in menu]


def methods(protocol: type[Any]) -> dict[str, Any]:
    """What a protocol asks for, by name."""
    return {name: what for name, what in vars(protocol).items() if inspect.isfunction(what) and name[0] != "_"}


@pytest.mark.parametrize(("slot", "name"), ENTRIES, ids=[f"{slot}-{name}" for slot, name in ENTRIES])
def test_an_entry_has_the_methods_of_its_slot_with_their_parameters(slot: str, name: str) -> None:
    kind = MENUS[slot][name]
    for called, wanted in methods(getattr(protocols, slot)).items():
        own = getattr(kind, called, None)
        assert callable(own), f"{kind.__name__} lacks {called}"
        asked = [parameter for parameter in inspect.signature(wanted).parameters if parameter != "self"]
        found = [parameter for parameter in inspect.signature(own).parameters if parameter != "self"]
        assert found[: len(asked)] == asked


def test_every_protocol_of_a_slot_is_tried_here() -> None:
    """Those that are left are what an entry makes, or have contract tests of their own."""
    named = {
        name for name, kind in vars(protocols).items() if getattr(kind, "_is_protocol", False) and name != "Protocol"
    }
    made = {"PreparedJoints", "BoundBroadPhase", "BoundContactSolver", "ContactResponse"}
    own = {"Force", "CompiledForce", "Controller", "Step", "Observer"}
    assert named == set(MENUS) | made | own
