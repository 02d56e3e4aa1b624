"""Scenes of our own as robot files: every joint, every force, filters and states, and what a report says of them."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from oracles.same_robot import check_bodies, check_dynamics, check_joints
from rattleback.joints import MENU

ENDINGS = {"URDF": "urdf", "MJCF": "xml", "USD": "usda"}
TURN = rb.rotation.quaternion_from_axis_angle((1, 2, 3), 0.7)
CROSSED = {"axis": (0, 0, 1), "axis_b": (1, 0, 0)}
OPTIONS: dict[str, dict[str, Any]] = {
    "universal": CROSSED,
    "double_rotation": CROSSED,
    "screw": {"pitch": 0.1},
    "distance": {"length": 0.3},
    "distance_to_line": {"length": 0.2},
    "distance_to_plane": {"length": 0.1},
    "velocity_joint": {"linear": (0.5, None, None)},
}
COUPLING = ("gear", "rack")
# Joints that a format has no word for, where a body hangs on the world by them.
UNSAID = {
    "URDF": {"distance", "distance_to_line", "distance_to_plane", "velocity_joint"},
    "MJCF": {"distance_to_line", "distance_to_plane", "velocity_joint"},
    "USD": {"screw", "distance_to_line", "distance_to_plane", "velocity_joint"},
}


def add_box(scene: rb.Scene, name: str, place: Any, **options: Any) -> Any:
    return scene.add_body(rb.Box(0.3, 0.2, 0.1), mass=1.3, name=name, position=place, orientation=TURN, **options)


def every_joint() -> rb.Scene:
    """A body on the world by every joint of the menu, and gears and racks between wheels on one carrier."""
    scene = rb.Scene(name="all joints")
    for number, (name, kind) in enumerate(MENU.items()):
        if name in COUPLING:
            continue
        place = np.array((number, 0.1 * number, 1.0))
        body = add_box(scene, f"on {name}", place)
        scene.add_joint(kind(scene.world, body, at=place + np.array((0, 0, 0.3)), **OPTIONS.get(name, {})), name=name)
    wheels = [add_box(scene, f"wheel {k}", (0.5 * k, -2, 0)) for k in range(2)]
    for k, wheel in enumerate(wheels):
        scene.add_joint(rb.Revolute(scene.world, wheel, at=(0.5 * k, -2, 0)), name=f"bearing {k}")
    scene.add_joint(rb.Gear(*wheels, at=(0, -2, 0), at_b=(0.5, -2, 0), ratio=1.5), name="gear")
    rack = add_box(scene, "bar", (0.5, -1.8, 0))
    scene.add_joint(rb.Prismatic(scene.world, rack, at=(0.5, -1.8, 0), axis=(1, 0, 0)), name="rail")
    scene.add_joint(rb.Rack(wheels[1], rack, at=(0.5, -2, 0), axis_b=(1, 0, 0), radius=0.2), name="rack")
    return scene


@pytest.mark.parametrize("kind", list(ENDINGS))
def test_the_report_names_every_body_and_joint(kind: str, tmp_path: Path) -> None:
    scene = every_joint()
    report = scene.export(tmp_path / f"all.{ENDINGS[kind]}")
    assert scene.export_report is report
    places = {entry.place for entry in report.entries}
    assert {f"body {body.name!r}" for body in scene.bodies} <= places
    assert {f"joint {name!r}" for name in scene.joints} <= places
    dropped = {name for name in scene.joints if f"joint {name!r}" in {entry.place for entry in report.dropped}}
    assert dropped == UNSAID[kind]
    assert all(entry.note for entry in (*report.approximated, *report.dropped))
    assert report.summary() in str(report)


@pytest.mark.parametrize("kind", list(ENDINGS))
def test_joints_come_back_as_they_were(kind: str, tmp_path: Path) -> None:
    """Those that are said; a gear and a rack come back between the same wheels."""
    scene = every_joint()
    path = tmp_path / f"all.{ENDINGS[kind]}"
    scene.export(path)
    again = rb.Scene.from_file(path)
    for name in set(scene.joints) - UNSAID[kind] - {"fixed", *COUPLING}:
        assert type(again.joints[name]) is type(scene.joints[name]), name
    kinds = [type(joint) for joint in again.joints.values()]
    assert kinds.count(rb.Gear) == kinds.count(rb.Rack) == 1
    assert not [entry for entry in again.import_report.dropped if "damper" in entry.place]


def chain(names: list[str]) -> rb.Scene:
    """Bodies in a row, each on the one before by another joint."""
    scene = rb.Scene()
    above: Any = scene.world
    for name in names:
        place = np.array((0.3 * len(scene.bodies), 0.0, 0.0))
        body = add_box(scene, f"on {name}", place)
        scene.add_joint(MENU[name](above, body, at=place - (0.1, 0, 0), **OPTIONS.get(name, {})), name=name)
        above = body
    return scene


TREES = ["ball", "revolute", "cylindrical", "prismatic", "universal", "planar", "screw"]
LOOSE = ["point_on_line", "point_on_plane", "fixed_orientation", "common_direction", "double_rotation"]


@pytest.mark.parametrize("kind", list(ENDINGS))
def test_a_chain_of_joints_has_the_same_mass_matrix(kind: str, tmp_path: Path) -> None:
    scene = chain([name for name in TREES if name not in UNSAID[kind]])
    path = tmp_path / f"chain.{ENDINGS[kind]}"
    scene.export(path)
    again = rb.Scene.from_file(path)
    check_joints(scene, again, posed=kind != "URDF")
    check_dynamics(scene, again, seed=4)


@pytest.mark.parametrize("kind", ["MJCF", "USD"])
def test_joints_that_leave_more_free_come_back_closed(kind: str, tmp_path: Path) -> None:
    """Their coordinates begin elsewhere; what they hold is the same, and nothing has to move."""
    scene = chain(LOOSE)
    path = tmp_path / f"loose.{ENDINGS[kind]}"
    scene.export(path)
    again = rb.Scene.from_file(path)
    check_bodies(scene, again)
    check_joints(scene, again)
    assert again.assemble().iterations == 0
    rates = [rb.dynamics.Articulation(part).rates for part in (scene, again)]
    assert rates[0] == rates[1]


def test_limits_of_several_freedoms_come_back(tmp_path: Path) -> None:
    scene = rb.Scene()
    for k, joint in enumerate(
        (
            rb.Cylindrical("world", "b0", axis=(1, 0, 0), limits=(-0.1, 0.4), turn_limits=(-1.0, None)),
            rb.Universal("world", "b1", at=(1, 0, 0), **CROSSED, limits=(-1.0, 0.5), limits_b=(-0.2, 0.3)),
            rb.Screw("world", "b2", at=(2, 0, 0), pitch=-0.2, limits=(-9.0, 9.0)),
            rb.Prismatic("world", "b3", at=(3, 0, 0), limits=(None, 0.5)),
        )
    ):
        add_box(scene, f"b{k}", (k, 0, 0))
        scene.add_joint(joint, name=f"j{k}")
    for kind in ("MJCF", "USD"):
        path = tmp_path / f"limits.{ENDINGS[kind]}"
        scene.export(path)
        again = rb.Scene.from_file(path)
        kept = [name for name in scene.joints if kind == "MJCF" or name != "j2"]
        part = scene.copy()
        for name in set(scene.joints) - set(kept):
            part.remove_joint(name)
        check_joints(part, again)


def forceful() -> rb.Scene:
    """A slide and a hinge with everything that can act on them, and a ball on springs."""
    scene = rb.Scene(name="forces")
    cart, arm, ball = (add_box(scene, name, (k, 0, 1)) for k, name in enumerate(("cart", "arm", "ball")))
    slide = rb.Prismatic(scene.world, cart, at=(0, 0, 1), axis=(1, 0, 0), damping=0.7, armature=0.2, friction=0.1)
    scene.add_joint(slide, name="slide")
    hinge = rb.Revolute(
        cart, arm, at=(0.5, 0, 1), axis=(0, 1, 0), damping=0.3, breaking_force=9.0, limits=(-2, 2), restitution=0.2
    )
    scene.add_joint(hinge, name="hinge")
    scene.add_force(rb.TorsionSpring("hinge", stiffness=3.0, angle=0.2, damping=0.1), name="coil")
    scene.add_force(
        rb.Servo("slide", control="position", target=0.4, gain=50.0, rate_time=0.1, limit=20.0), name="drive"
    )
    scene.add_force(rb.Servo("hinge", control="velocity", target=2.0, gain=4.0, reset_time=3.0), name="spin")
    scene.add_force(rb.Spring("world", ball, at=(2, 0, 2), at_b=(2, 0, 1.1), stiffness=40.0, damping=0.5), name="line")
    scene.add_force(rb.Gravity((0, 0, 9.81 * 0.25), bodies=[ball]), name="lift")
    scene.add_force(rb.Drag(linear=0.1), name="drag")
    return scene


EFFECTS = {
    "URDF": {
        "coil": "kept",
        "drive": "dropped",
        "spin": "dropped",
        "line": "dropped",
        "lift": "kept",
        "drag": "dropped",
    },
    "MJCF": {"coil": "kept", "drive": "kept", "spin": "kept", "line": "kept", "lift": "kept", "drag": "dropped"},
    "USD": {"coil": "kept", "drive": "kept", "spin": "kept", "line": "dropped", "lift": "kept", "drag": "dropped"},
}


@pytest.mark.parametrize("kind", list(ENDINGS))
def test_forces_are_kept_or_dropped_with_a_word(kind: str, tmp_path: Path) -> None:
    report = forceful().export(tmp_path / f"forces.{ENDINGS[kind]}")
    verdicts = {entry.place: entry.verdict for entry in report.entries}
    assert {name: verdicts[f"force {name!r}"] for name in EFFECTS[kind]} == EFFECTS[kind]
    assert verdicts["force 'spin' reset_time"] == "approximated"
    assert verdicts["joint 'hinge' restitution"] == "dropped"
    assert verdicts["joint 'hinge' strength"] == ("kept" if kind == "USD" else "dropped")
    assert verdicts["joint 'slide' armature"] == ("dropped" if kind == "URDF" else "kept")


def test_mujoco_gives_the_forces_of_the_scene(tmp_path: Path) -> None:
    """Springs, dampers, servos, a line and weight that is taken off, against the laws they stand for."""
    mujoco = pytest.importorskip("mujoco")
    scene = forceful()
    scene.export(tmp_path / "forces.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "forces.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rattleback:start").id)
    x, v, q, w = 0.15, 0.4, -0.3, 0.9
    for name, value, rate in (("slide", x, v), ("hinge", q, w)):
        data.qpos[model.joint(name).qposadr], data.qvel[model.joint(name).dofadr] = value, rate
    mujoco.mj_forward(model, data)
    slide, hinge = (int(model.joint(name).dofadr[0]) for name in ("slide", "hinge"))
    assert data.qfrc_actuator[slide] == pytest.approx(np.clip(50.0 * (0.4 - x) - 5.0 * v, -20, 20))
    assert data.qfrc_actuator[hinge] == pytest.approx(4.0 * (2.0 - w))
    assert data.qfrc_passive[slide] == pytest.approx(-0.7 * v)
    assert data.qfrc_passive[hinge] == pytest.approx(-3.0 * (q - 0.2) - 0.4 * w)
    assert model.dof_armature[slide] == 0.2
    assert model.dof_frictionloss[slide] == 0.1
    assert model.body_gravcomp[model.body("ball").id] == pytest.approx(0.25)
    length = data.ten_length[model.tendon("line").id]
    assert length == pytest.approx(0.9)
    assert float(model.tendon_stiffness[model.tendon("line").id].flat[0]) == 40.0
    assert model.tendon_lengthspring[model.tendon("line").id] == pytest.approx(0.9)
    spring, own = rb.Scene.from_file(tmp_path / "forces.xml").forces["line"], scene.forces["line"]
    assert (spring.stiffness, spring.damping, spring.length) == (40.0, 0.5, pytest.approx(own.length))
    np.testing.assert_allclose((spring.at, spring.at_b), (own.at, own.at_b), rtol=0, atol=1e-12)


def test_velocities_and_targets_come_back_from_mjcf_and_usd(tmp_path: Path) -> None:
    scene = rb.Scene()
    add_box(scene, "flying", (0, 0, 2), velocity=(1, 2, 3), angular_velocity=(0.1, -0.2, 0.3))
    axis, spin = np.array((0.0, 0.6, 0.8)), 1.7
    at = np.array((1.0, 0, 0))
    add_box(scene, "turning", (1, 0, 1), velocity=spin * np.cross(axis, (0, 0, 1)), angular_velocity=spin * axis)
    scene.add_joint(rb.Revolute("world", "turning", at=at, axis=axis), name="hinge")
    scene.add_force(rb.Servo("hinge", target=0.6, gain=3.0), name="drive")
    for ending in ("xml", "usda"):
        scene.export(tmp_path / f"moving.{ending}")
        again = rb.Scene.from_file(tmp_path / f"moving.{ending}")
        for body in scene.bodies:
            np.testing.assert_allclose(again[body.name].velocity, body.velocity, atol=1e-9)
            np.testing.assert_allclose(again[body.name].angular_velocity, body.angular_velocity, atol=1e-9)
        (servo,) = [force for force in again.forces.values() if isinstance(force, rb.Servo)]
        assert (servo.gain, servo.target) == (pytest.approx(3.0), pytest.approx(0.6))


@pytest.mark.parametrize("ending", ["xml", "usda"])
def test_the_same_pairs_collide(ending: str, tmp_path: Path) -> None:
    """Categories, exclusions, pairs that a joint holds, and those that collide although one does."""
    from rattleback.model.filter import category_bits, excluded_pairs

    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor", category="ground")
    scene.add_static(rb.Box(1, 1, 1), name="base", position=(0, 0, -3))
    above: Any = scene["base"]
    for k in range(6):
        options: Any = {"category": ("odd", "red")} if k % 2 else {"collides_with": ("ground", "default")}
        body = add_box(scene, f"b{k}", (k, 0, 1), **options)
        scene.add_joint(rb.Revolute(above, body, at=(k, 0, 1)), name=f"j{k}")
        above = body
    scene.exclude("b0", "b4")
    scene.allow("b2", "b3")
    scene.export(tmp_path / f"pairs.{ending}")
    again = rb.Scene.from_file(tmp_path / f"pairs.{ending}")

    def meeting(which: rb.Scene) -> set[frozenset[str]]:
        category, mask = category_bits(which)
        apart = excluded_pairs(which)
        return {
            frozenset((which.bodies[i].name, which.bodies[j].name))
            for i, j in itertools.combinations(range(len(which.bodies)), 2)
            if category[i] & mask[j]
            and category[j] & mask[i]
            and (i, j) not in apart
            and not (which.bodies[i].static and which.bodies[j].static)
        }

    assert meeting(again) == meeting(scene)
    assert {"b2", "b3"} not in meeting(scene)


CHANGED = (("link", ""), ("joint", " free"))


def test_names_that_repeat_or_are_not_legal_are_changed_and_told(tmp_path: Path) -> None:
    scene = rb.Scene(name="9 lives")
    for name in ("left arm", "left_arm", "world.", "\x07bell"):
        scene.add_body(rb.Sphere(0.1), name=name)
    report = scene.export(tmp_path / "names.usda")
    assert "prim 'left arm' name: kept, it is called 'left_arm' in the file" in "\n".join(map(str, report.entries))
    again = rb.Scene.from_file(tmp_path / "names.usda")
    assert {body.name for body in again.bodies} == {body.name for body in scene.bodies}
    report = scene.export(tmp_path / "names.urdf")
    assert {entry.place for entry in report.approximated} == {f"{kind} '\\x07bell{end}' name" for kind, end in CHANGED}


def test_strict_writes_nothing_where_something_is_lost(tmp_path: Path) -> None:
    scene, path = forceful(), tmp_path / "strict.urdf"
    with pytest.raises(rb.FileError, match=r"cannot be written exactly; without strict=True it is written with these"):
        scene.export(path, strict=True)
    assert not path.exists()
    exact = rb.Scene()
    exact.add_joint(rb.Revolute("world", exact.add_body(mass=1.0, inertia=(1, 1, 1), name="a")), name="j")
    assert not list(exact.export(path, strict=True).losses())


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("a.sdf", {}, "names no format that is written; those are .urdf, .xml"),
        (
            "a.xml",
            {"format": "collada"},
            "The option format of export is 'collada'; it must be one of 'urdf', 'mjcf', 'usd'",
        ),
        ("a.xml", {"strict": 1}, "The option strict of export is 1"),
        ("a.xml", {"stric": True}, "stric"),
        ("none/a.xml", {}, "there is no folder"),
    ],
)
def test_faults_are_told(name: str, options: dict[str, Any], said: str, tmp_path: Path) -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), name="ball")
    with pytest.raises(rb.RattlebackError, match=said):
        scene.export(tmp_path / name, **options)


def test_a_format_can_be_named_and_usd_be_binary(tmp_path: Path) -> None:
    scene = rb.Scene()
    scene.add_joint(rb.Revolute("world", scene.add_body(rb.Sphere(0.1), name="ball")), name="hinge")
    scene.export(tmp_path / "model.txt", format="mjcf")
    assert (tmp_path / "model.txt").read_text().startswith("<?xml")
    scene.export(tmp_path / "model.usdc")
    assert (tmp_path / "model.usdc").read_bytes().startswith(b"PXR-USDC")
    assert "hinge" in rb.Scene.from_file(tmp_path / "model.usdc").joints
