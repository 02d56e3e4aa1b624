"""Every object a user holds refuses fields it does not have, and suggests the one that may have been meant."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback import joints
from rattleback.collision import broadphase, narrowphase
from rattleback.collision.broadphase import bounds
from rattleback.core.errors import FieldError
from rattleback.core.sealed import writable
from rattleback.problem.joint_view import JointView
from rattleback.solvers import joints as joint_methods

ROOMS = ("collision", "contacts", "forces", "ik", "integrators", "kinematics", "shapes")
MENUS = (joints, joint_methods, bounds, broadphase, narrowphase)


def public_classes() -> dict[str, type[Any]]:
    """The classes of the public face, by their names there."""
    found = {f"rb.{name}": getattr(rb, name) for name in rb.__all__}
    for room in ROOMS:
        found |= {f"rb.{room}.{name}": thing for name, thing in vars(getattr(rb, room)).items() if name[0] != "_"}
    for menu in MENUS:
        found |= {f"{menu.__name__}[{name}]": kind for name, kind in menu.MENU.items()}
    return {
        name: kind
        for name, kind in sorted(found.items())
        if inspect.isclass(kind) and kind.__module__.startswith("rattleback.") and not issubclass(kind, BaseException)
    }


FROZEN = {name: kind for name, kind in public_classes().items() if dataclasses.is_dataclass(kind)}


@pytest.mark.parametrize("name", FROZEN)
def test_every_frozen_thing_refuses_with_a_sentence(name: str) -> None:
    thing = object.__new__(FROZEN[name])
    with pytest.raises(FieldError, match="has no 'no_such_field'; nothing was changed"):
        thing.no_such_field = 1
    for field in dataclasses.fields(FROZEN[name]):
        object.__setattr__(thing, field.name, None)
        with pytest.raises(FieldError, match=f"The {field.name} of .* cannot be changed"):
            setattr(thing, field.name, 1)


def scene() -> rb.Scene:
    made = rb.Scene()
    made.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(0.5, 0, 2), name="arm", group="limbs")
    made.add_static(rb.Plane(), name="floor")
    made.add_joint(rb.Revolute("world", "arm", at=(0, 0, 2), axis=(0, 1, 0)), name="hinge")
    made.add_force(rb.Servo("hinge", gain=1.0), name="motor")
    made.add_force(rb.Drag(linear=0.1), name="air")
    return made


_ready: list[rb.Simulation] = []


def sim() -> rb.Simulation:
    if not _ready:
        _ready.append(rb.Simulation(scene(), contacts="detect"))
        _ready[0].step()
    return _ready[0]


# What users hold, with a field and how it may be misspelt.
HELD: dict[str, tuple[Callable[[], Any], str, str]] = {
    "simulation": (sim, "time_step", "timestep"),
    "body": (lambda: sim()["arm"], "velocity", "velocty"),
    "group": (lambda: sim()["limbs"], "position", "posiiton"),
    "joint": (lambda: sim()["hinge"], "torque", "torqe"),
    "joints": (lambda: sim().joints, "torque", "torques"),
    "servo": (lambda: sim().servo("motor"), "target", "taget"),
    "contacts": (lambda: sim().contacts, "force", "forces"),
    "state": (lambda: sim().state, "angular_velocity", "angular_velocty"),
    "report": (lambda: sim().report, "converged", "convergd"),
    "energy": (lambda: sim().energy(), "kinetic", "kinetc"),
    "momentum": (lambda: sim().momentum(), "linear", "liner"),
    "profile": (lambda: sim().profile(1), "seconds", "secnds"),
    "scene": (scene, "gravity", "gravty"),
    "world": (lambda: scene().world, "name", "nme"),
    "body of a scene": (lambda: scene()["arm"], "mass", "mas"),
    "joint of a scene": (lambda: scene().joints["hinge"], "limits", "limit"),
    "force of a scene": (lambda: scene().forces["motor"], "gain", "gian"),
    "recorder": (lambda: rb.Recorder(rb.Simulation(scene())), "every", "evry"),
    "tree": (lambda: rb.kinematics.Tree.from_scene(scene()), "lower", "lowr"),
    "space": (lambda: rb.collision.Space(scene()), "names", "nams"),
    "contact events": (lambda: rb.ContactEvents(print), "every", "evry"),
    "break events": (lambda: rb.BreakEvents(print), "every", "evry"),
}


@pytest.mark.parametrize("what", HELD)
def test_what_a_user_holds_refuses_a_misspelt_field_and_names_the_right_one(what: str) -> None:
    make, right, wrong = HELD[what]
    thing = make()
    with pytest.raises(FieldError, match=f"has no {wrong!r}; nothing was changed.*Did you mean {right!r}\\?"):
        setattr(thing, wrong, 1.0)
    with pytest.raises((FieldError, AttributeError), match=wrong):
        getattr(thing, wrong)


@pytest.mark.parametrize("what", HELD)
def test_what_is_read_only_says_so(what: str) -> None:
    thing, kind = HELD[what][0](), type(HELD[what][0]())
    names = [name for name in dir(thing) if name[0] != "_" and name not in getattr(kind, "_open", ())]
    fixed = [name for name in names if name not in writable(kind)]
    assert fixed
    for name in fixed:
        with pytest.raises(FieldError, match=f"The {name} of .* cannot be (written|changed)"):
            setattr(thing, name, 1.0)


def test_a_simulation_goes_on_as_if_nothing_had_been_tried() -> None:
    untouched, tried = (rb.Simulation(scene(), contacts="detect") for _ in range(2))
    for thing in (tried, tried["arm"], tried["hinge"], tried.joints, tried.servo("motor"), tried.contacts, tried.state):
        for name in ("no_such_field", "angle", "error", "position_", "time"):
            with pytest.raises(FieldError):
                setattr(thing, name, np.ones(3))
    untouched.step(20)
    tried.step(20)
    assert tried.hash() == untouched.hash()


def test_a_wrong_setting_says_where_it_is_changed() -> None:
    cases = {
        "integrator": r"sim.use\(integrator=...\)",
        "substeps": r"sim.use\(substeps=...\)",
        "worlds": r"Make another simulation with worlds=...",
        "scene": r"sim.rebuild\(scene\)",
    }
    for name, said in cases.items():
        with pytest.raises(FieldError, match=said):
            setattr(sim(), name, 2)
    with pytest.raises(FieldError, match=r"scene.change_body\('arm', inertia=...\) and sim.rebuild\(scene\)"):
        sim()["arm"].inertia = 2.0
    with pytest.raises(FieldError, match="Write its applied_torque"):
        sim()["arm"].torque = (0, 0, 1)
    with pytest.raises(FieldError, match="Write its torque; applied_force and applied_torque are of bodies"):
        sim()["hinge"].applied_torque = 5.0
    with pytest.raises(FieldError, match="There are add_joint, change_joint and remove_joint"):
        scene().joints = {}
    with pytest.raises(rb.InputError, match="The gravity of the scene"):
        scene().gravity = "down"
    with pytest.raises(rb.InputError, match="warn is 3; it must be True or False"):
        sim().warn = 3


def test_a_name_that_is_no_body_says_where_it_is_found() -> None:
    with pytest.raises(rb.UnknownName, match=r"'motor' is a servo; it is found as sim.servo\('motor'\)"):
        _ = sim()["motor"]
    with pytest.raises(
        rb.UnknownName, match=r"'air' is a force of the scene; it is found as sim.scene.forces\['air'\]"
    ):
        _ = sim()["air"]
    with pytest.raises(rb.UnknownName, match="There is no body, group or joint 'hinges'. Did you mean 'hinge'?"):
        _ = sim()["hinges"]


def test_views_are_made_once() -> None:
    assert sim()["hinge"] is sim()["hinge"]
    assert isinstance(sim()["hinge"], JointView)
    assert sim()["arm"] is sim()[sim().scene["arm"]]
