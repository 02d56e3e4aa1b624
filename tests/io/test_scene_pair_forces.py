"""Springs, servos and schedules go to scene and state files and come back as they were; faults in them are named."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

import rattleback as rb
from rattleback.io import scene_data
from rattleback.io.faults import Faults
from rattleback.io.scene_schema import ENTRIES

FORCES = {
    "coil": rb.Spring("arm", "world", at=(1, 0, 0), at_b=(1, 0, 0.1 + 0.2), stiffness=30, damping=0.1),
    "loose": rb.Spring("world", "arm", at=(-0.0, 0, 0), stiffness=0, length=2),
    "hair": rb.TorsionSpring("hinge", stiffness=2, damping=0.01, angle=-7.5),
    "plain": rb.Servo("hinge", gain=1 / 3),
    "full": rb.Servo(
        "rail", target=0.3, control="position", gain=2, reset_time=0.5, rate_time=0.1, window=1.5, limit=9
    ),
    "path": rb.Servo("hinge", target=rb.Schedule([0, 0.1, 2], [0, 1 / 3, -1], kind="cubic"), gain=5, reset_time=1),
    "steps": rb.Servo("hinge", target=rb.Schedule([0.5], [1], kind="step"), control="velocity", gain=5),
}


def scene() -> rb.Scene:
    made = rb.Scene(name="driven")
    made.add_body(rb.Box(1, 0.1, 0.1), position=(0.5, 0, 0), name="arm")
    made.add_body(rb.Box(1, 1, 1), name="cart")
    made.add_joint(rb.Revolute("world", "arm", axis=(0, 1, 0)), "hinge")
    made.add_joint(rb.Prismatic("world", "cart", axis=(0, 1, 0)), "rail")
    for name, force in FORCES.items():
        made.add_force(force, name)
    return made


def test_forces_between_bodies_come_back_and_the_file_is_the_same(tmp_path: Path) -> None:
    scene().save(tmp_path / "a.json")
    again = rb.Scene.load(tmp_path / "a.json")
    assert again.forces == FORCES
    assert math.copysign(1.0, again.forces["loose"].at[0]) == -1.0
    again.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_what_has_no_end_is_left_out_of_the_file(tmp_path: Path) -> None:
    scene().save(tmp_path / "a.json")
    forces = {entry["name"]: entry for entry in json.loads((tmp_path / "a.json").read_text())["forces"]}
    assert set(forces["plain"]) == {"kind", "name", "joint", "target", "control", "gain", "rate_time"}
    assert forces["path"]["target"] == {"times": [0.0, 0.1, 2.0], "values": [0.0, 1 / 3, -1.0], "kind": "cubic"}


def faults_of(force: dict[str, Any]) -> str:
    data = scene_data.to_data(scene())
    data["forces"] = [force]
    with pytest.raises(rb.FileError) as caught:
        scene_data.from_data(data, Faults("scene file", "x", ENTRIES))
    return str(caught.value)


@pytest.mark.parametrize(
    ("force", "words"),
    [
        ({"kind": "spring", "a": "arm", "b": "cart", "at": [0, 0, 0]}, "forces[0].stiffness: is missing"),
        (
            {"kind": "spring", "a": "arm", "b": "crt", "at": [0, 0, 0], "stiffness": 1},
            "forces[0]: Force 'spring_1' acts on 'crt', which is not a body of the scene. Did you mean 'cart'?",
        ),
        (
            {"kind": "spring", "bodies": ["arm"], "a": "arm", "b": "cart", "at": [0, 0, 0], "stiffness": 1},
            "forces[0].bodies: is not a field of this table.",
        ),
        (
            {"kind": "torsion_spring", "joint": "hing", "stiffness": 1},
            "forces[0]: Force 'torsionspring_1' acts on the joint 'hing', which is not in the scene. Did you mean",
        ),
        ({"kind": "servo", "joint": "hinge", "gain": -1}, "forces[0].gain: must be greater than zero; it is -1"),
        (
            {"kind": "servo", "joint": "hinge", "gain": 1, "target": "up"},
            "forces[0].target: must be a number; it is 'up'",
        ),
        (
            {"kind": "servo", "joint": "hinge", "gain": 1, "target": {"times": [0], "values": ["a"]}},
            "forces[0].target.values[0]: must be a number; it is 'a'",
        ),
        (
            {"kind": "servo", "joint": "hinge", "gain": 1, "target": {"times": [0], "values": [1], "knd": "step"}},
            "forces[0].target.knd: is not a field of this table. Did you mean 'kind'? It takes 'kind', 'times', ",
        ),
        (
            {"kind": "servo", "joint": "hinge", "gain": 1, "target": {"times": [1, 0], "values": [1, 2]}},
            "forces[0]: The times of Schedule go from 1 s to 0 s; each must be after the one before.",
        ),
        (
            {"kind": "servo", "joint": "rail", "gain": 1},
            "forces[0]: Force 'servo_1' controls the angle of joint 'rail', a Prismatic, which has none of its own",
        ),
    ],
)
def test_a_fault_in_a_force_between_bodies_is_named_with_its_path(force: dict[str, Any], words: str) -> None:
    assert words in faults_of(force)


def test_a_state_is_not_loaded_into_a_scene_with_other_servos(tmp_path: Path) -> None:
    sim = rb.Simulation(scene())
    sim.step(3)
    sim.save(tmp_path / "x.npz")
    other = scene()
    del other.forces["plain"]
    with pytest.raises(rb.InputError, match="is of 4 servos, and the scene given has 3: it lacks 'plain'"):
        rb.load(tmp_path / "x.npz", scene=other)
