"""Shapes and couplings of scenes as robot files: where they collide, and how gears and racks move."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb

ENDINGS = {"URDF": "urdf", "MJCF": "xml", "USD": "usda"}
TURN = rb.rotation.quaternion_from_axis_angle((1, 2, 3), 0.7)
CUBE = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.3, 0.3)])
FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4)]
SHAPES = {
    "box": rb.Box(0.1, 0.2, 0.3),
    "sphere": rb.Sphere(0.2),
    "capsule": rb.Capsule(0.1, 0.5),
    "cylinder": rb.Cylinder(0.1, 0.4),
    "cone": rb.Cone(0.2, 0.5),
    "ellipsoid": rb.Ellipsoid(0.1, 0.2, 0.3),
    "hull": rb.ConvexHull(CUBE),
    "mesh": rb.Mesh(CUBE, [*FACES, (1, 5, 7), (1, 7, 3)], decompose=True),
    "compound": rb.Compound([rb.Placed(rb.Box(0.1, 0.2, 0.3)), rb.Placed(rb.Sphere(0.1), (0.4, 0, 0))]),
}
# What has no word in a format is a polyhedron inside the shape, with corners on it.
INSCRIBED = {"URDF": {"cone", "ellipsoid"}, "MJCF": {"cone"}, "USD": set()}


@pytest.mark.parametrize("kind", list(ENDINGS))
def test_every_shape_collides_where_it_did(kind: str, tmp_path: Path) -> None:
    """The farthest points along random directions, of all that collides, in the world."""
    scene = rb.Scene()
    for number, (name, shape) in enumerate(SHAPES.items()):
        moved = rb.Placed(shape, (0.1, 0.2, 0.3), rb.rotation.quaternion_from_axis_angle((1, 1, 0), 0.4))
        scene.add_body(shape, name=name, mass=2.0, position=(number, 0, 0), orientation=TURN, collision=[moved])
    report = scene.export(tmp_path / f"shapes.{ENDINGS[kind]}")
    approximated = {entry.place.split("'")[1] for entry in report.approximated if entry.place.startswith("body")}
    assert approximated == INSCRIBED[kind]
    again = rb.Scene.from_file(tmp_path / f"shapes.{ENDINGS[kind]}")
    directions = np.random.default_rng(5).normal(size=(20, 3))
    for name, shape in SHAPES.items():
        slack = 0.004 * shape.bounding_radius() if name in INSCRIBED[kind] else 2e-7
        for direction in directions / np.linalg.norm(directions, axis=1, keepdims=True):
            far = [farthest(part[name], direction) for part in (scene, again)]
            assert far[1] == pytest.approx(far[0], abs=slack), name
            assert far[1] <= far[0] + 2e-7


def farthest(body: Any, direction: np.ndarray) -> float:
    """How far what collides of a body reaches along a direction in the world."""
    found = []
    for placed in body.colliders:
        turn = rb.rotation.multiply(body.orientation, np.array(placed.orientation))
        own = rb.rotation.rotate(rb.rotation.conjugate(turn), direction)
        point = rb.rotation.rotate(turn, placed.shape.support(own))
        found.append(
            (body.origin + rb.rotation.rotate(body.orientation, np.array(placed.position)) + point) @ direction
        )
    return max(found)


@pytest.mark.parametrize("kind", list(ENDINGS))
def test_couplings_say_how_gears_and_racks_move(kind: str, tmp_path: Path) -> None:
    """An outer pair, a ring, bevel gears on turned bearings and two racks: angles and ways of a run fit the file."""
    scene = rb.Scene(gravity=(0, 0, 0))
    bearings: dict[str, Any] = {
        "driver": rb.Revolute("world", "driver", at=(0, 0, 0)),
        "outer": rb.Revolute("outer", "world", at=(0.5, 0, 0)),
        "ring": rb.Revolute("world", "ring", at=(-0.2, 0, 0), axis=(0, 0, -1)),
        "bevel": rb.Revolute("world", "bevel", at=(0, 0.4, 0.3), axis=(0, 1, 0)),
        "bar": rb.Prismatic("world", "bar", at=(0, -0.1, 0), axis=(1, 0, 0)),
        "back": rb.Prismatic("back", "world", at=(0, 0.1, 0), axis=(-1, 0, 0)),
    }
    for number, (name, bearing) in enumerate(bearings.items()):
        spin: Any = {"angular_velocity": (0, 0, 9.0)} if name == "driver" else {}
        place = bearing.at if isinstance(bearing, rb.Revolute) else (0.1, 0.2, number)
        scene.add_body(rb.Sphere(0.1), mass=1.0, name=name, position=place, collision=None, **spin)
        scene.add_joint(bearing, name=f"{name} joint")
    scene.add_joint(rb.Gear("driver", "outer", at=(0, 0, 0), at_b=(0.5, 0, 0), ratio=1.5), name="g1")
    scene.add_joint(rb.Gear("driver", "ring", at=(0, 0, 0), at_b=(-0.2, 0, 0), ratio=3.0, internal=True), name="g2")
    axes: Any = {"axis": (0, 0, 1), "axis_b": (0, 1, 0)}
    scene.add_joint(rb.Gear("driver", "bevel", at=(0, 0, 0), at_b=(0, 0.4, 0.3), **axes), name="g3")
    for name, along in (("bar", (1, 0, 0)), ("back", (-1, 0, 0))):
        scene.add_joint(rb.Rack("driver", name, axis_b=along, radius=0.1), name=f"rack {name}")
    sim = rb.Simulation(scene, time_step=0.005, contacts="none")
    sim.run(0.2)
    path = tmp_path / f"gears.{ENDINGS[kind]}"
    scene.export(path)
    couplings = rb.Scene.from_file(path).robot.couplings
    assert {(one.follower, one.leader) for one in couplings} == {
        (f"{name} joint", "driver joint") for name in bearings if name != "driver"
    }
    angle = float(sim["driver joint"].angle)
    assert abs(angle) > 0.05
    for coupling in couplings:
        joint = sim[coupling.follower]
        value = joint.position if coupling.follower in ("bar joint", "back joint") else joint.angle
        assert float(value) == pytest.approx(coupling.value(angle), abs=1e-5)
