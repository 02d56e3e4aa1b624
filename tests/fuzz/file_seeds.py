"""Good files to be spoilt: scenes that together have everything a file can hold, and their states after some steps."""

import dataclasses
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import rattleback as rb
from fuzz.random_parts import CORNERS, CUBE

HINGE = {"limits": (-0.4, 0.3), "restitution": 0.5}


@dataclass(frozen=True)
class Good:
    """A scene that is simulated, and what its files hold.

    Attributes:
        scene: The scene as plain data.
        state: The bytes of its state file after some steps.
    """

    scene: dict[str, Any]
    state: bytes


def pile() -> tuple[rb.Scene, dict[str, Any]]:
    """Solids of every kind fall onto the ground, with materials, filters and forces."""
    scene = rb.Scene(name="pile")
    scene.add_static(rb.Plane(), name="ground")
    solids = [rb.Sphere(0.1), rb.Box(0.2, 0.2, 0.2), rb.Capsule(0.05, 0.2), rb.Cylinder(0.1, 0.2), rb.Cone(0.1, 0.2)]
    solids += [
        rb.Ellipsoid(0.1, 0.12, 0.14),
        rb.ConvexHull(0.1 * CORNERS),
        rb.Mesh(0.1 * CORNERS, CUBE, decompose=True),
    ]
    solids.append(rb.Compound([rb.Placed(rb.Box(0.1, 0.2, 0.1)), rb.Placed(rb.Sphere(0.05), (0.1, 0, 0))]))
    for k, solid in enumerate(solids):
        scene.add_body(
            solid,
            name=f"body {k}",
            group="all",
            position=(0.25 * (k % 3), 0.25 * (k // 3), 0.12),
            velocity=(0, 0, -0.1),
            material=rb.Material(friction=0.3, restitution=0.1 * k, rolling_friction=0.001 * k),
            continuous=k == 0,
        )
    scene.exclude("body 0", "body 1")
    scene.allow("body 2", "body 3")
    scene.pair(rb.Material(friction=0.3), rb.Material(friction=0.3, restitution=0.5), friction=0.2)
    scene.add_force(rb.Drag(linear=0.1, wind=(0.1, 0, 0)))
    scene.add_force(rb.Attraction(bodies=["body 0", "body 2"]))
    scene.add_force(rb.Wrench("body 1", (0.1, 0, 0), at=(0, 0, 0.1), until=3), name="push")
    return scene, {}


def landscape() -> tuple[rb.Scene, dict[str, Any]]:
    """Solids on a triangle mesh and on a height field."""
    scene = rb.Scene(name="landscape")
    scene.add_static(rb.Mesh((CORNERS - (0, 0, 1)) * (2, 2, 0.2), CUBE), name="mesh")
    scene.add_static(rb.HeightField(0.1 * np.eye(4), 1.0), name="field", position=(0, 0, 0.05))
    for k, solid in enumerate([rb.Sphere(0.1), rb.Box(0.2, 0.2, 0.2), rb.Capsule(0.05, 0.2)]):
        scene.add_body(solid, name=f"body {k}", position=(0.4 * k - 0.4, 0, 0.16))
    return scene, {"contacts": "shock", "broadphase": "grid"}


def robot() -> tuple[rb.Scene, dict[str, Any]]:
    """Joints with stops, that break, that are driven, with springs."""
    scene = rb.Scene(name="robot")
    scene.add_static(rb.Plane(), name="ground", position=(0, 0, -0.6))
    for k in range(5):
        scene.add_body(rb.Box(0.3, 0.1, 0.1), mass=1.0 + k, position=(0.15 + 0.3 * k, 0, 0), name=f"link {k}")
    scene.add_joint(rb.Revolute("world", "link 0", at=(0, 0, 0), axis=(0, 1, 0), **HINGE), name="hip")
    scene.add_joint(rb.Revolute("link 0", "link 1", at=(0.3, 0, 0), axis=(0, 1, 0), breaking_force=2e3), name="knee")
    scene.add_joint(rb.Prismatic("link 1", "link 2", at=(0.6, 0, 0), axis=(1, 0, 0), limits=(-0.01, 0.1)), name="slide")
    scene.add_joint(rb.Ball("link 2", "link 3", at=(0.9, 0, 0), breaking_force=0.01), name="weak")
    scene.add_joint(rb.Universal("link 3", "link 4", at=(1.2, 0, 0), axis=(0, 1, 0), axis_b=(0, 0, 1)), name="cross")
    target = rb.Schedule((0.0, 0.1, 1.0), (0.0, 0.3, -0.3), "linear")
    scene.add_force(rb.Servo("knee", target=target, gain=5.0, reset_time=1.0, window=0.5, limit=30.0), name="motor")
    scene.add_force(rb.Servo("slide", control="velocity", target=0.1, gain=3.0, limit=9.0), name="piston")
    scene.add_force(rb.Spring("world", "link 4", at=(1, 1, 1), at_b=(1.4, 0, 0), stiffness=50.0, damping=1.0))
    scene.add_force(rb.TorsionSpring("hip", stiffness=2.0))
    return scene, {"time_step": 1 / 240}


def sleepers() -> tuple[rb.Scene, dict[str, Any]]:
    """Boxes of which most have fallen asleep on each other."""
    scene = rb.Scene(name="sleepers")
    scene.add_static(rb.Plane(), name="ground")
    for k in range(4):
        scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(0.5 * (k // 2), 0, 0.1 + 0.2 * (k % 2)), name=f"box {k}")
    scene.add_body(rb.Sphere(0.1), position=(3, 0, 5), name="ball")
    return scene, {"sleep": True, "integrator": "semi_implicit_euler"}


def batch() -> tuple[rb.Scene, dict[str, Any]]:
    """Three worlds of a pendulum and a ball, with RK45 and the iterative method."""
    scene = rb.Scene(name="batch")
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Box(0.5, 0.1, 0.1), mass=1.0, position=(0.25, 0, 1), name="arm")
    scene.add_body(rb.Sphere(0.1), position=(1, 0, 0.1), name="ball")
    scene.add_joint(rb.Cylindrical("world", "arm", at=(0, 0, 1), axis=(0, 1, 0), turn_limits=(-1, 0.05)), name="hinge")
    return scene, {"worlds": 3, "integrator": "rk45", "joints": "iterative", "contacts": "time_stepping"}


def menu() -> tuple[rb.Scene, dict[str, Any]]:
    """A joint of every kind, most of them in the way of each other."""
    scene = rb.Scene(name="menu")
    needs = {
        rb.Screw: {"pitch": 0.2},
        rb.Gear: {"ratio": 2.5},
        rb.Rack: {"radius": 1.0, "axis_b": (1, 0, 0)},
        rb.Universal: {"axis_b": (1, 0, 0)},
        rb.DoubleRotation: {"axis_b": (1, 0, 0)},
        rb.VelocityJoint: {"linear": (None, 1.5, None), "angular": (0.5, None, None)},
    }
    for index, kind in enumerate(rb.joints.MENU.values()):
        scene.add_body(mass=1.0, inertia=(1, 1.2, 1.5), position=(index, 1, 0), name=f"body {index}")
        at_b = {"at_b": (index, 1, 0)} if "at_b" in {f.name for f in dataclasses.fields(kind)} else {}
        given = {"at": (index, 0, 0), "axis": (0, 0, 1), **at_b, **needs.get(kind, {})}
        scene.add_joint(kind("world", f"body {index}", **given), name=f"joint {index}")
    return scene, {"integrator": "rk4", "substeps": 2}


SCENES: tuple[Callable[[], tuple[rb.Scene, dict[str, Any]]], ...] = (pile, landscape, robot, sleepers, batch, menu)
# Steps before the state is saved: those of the sleepers fall asleep in them.
STEPS = {sleepers: 60}


@cache
def good_files() -> tuple[Good, ...]:
    """The files to be spoilt; they are the same in every process."""
    return tuple(_good(make) for make in SCENES)


def _good(make: Callable[[], tuple[rb.Scene, dict[str, Any]]]) -> Good:
    scene, settings = make()
    sim = rb.Simulation(scene, **settings, warn=False)
    sim.step(STEPS.get(make, 5))
    with tempfile.TemporaryDirectory() as folder:
        scene.save(Path(folder) / "scene.json")
        sim.save(Path(folder) / "state.npz")
        return Good(json.loads((Path(folder) / "scene.json").read_bytes()), (Path(folder) / "state.npz").read_bytes())
