"""The add-on in Blender, installed from its archive: models, simulations, recordings, what is taken over."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback import joints

pytestmark = [pytest.mark.blender, pytest.mark.contacts]
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = f"env PYTHONPATH={ROOT / 'src'} {sys.executable} -m rattleback"


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The extension, built as make does it, in a folder of the test."""
    path = tmp_path_factory.mktemp("archive") / "rattleback_modelling.zip"
    parts = [*sorted(path.as_posix() for path in (ROOT / "blender").glob("*.py")), "LICENSE", "blender_manifest.toml"]
    subprocess.run([sys.executable, "-m", "zipfile", "-c", path, *parts], cwd=ROOT / "blender", check=True)
    assert "blender_manifest.toml" in zipfile.ZipFile(path).namelist()
    return path


def place(matrix):
    return np.array(matrix)[:3, 3]


def test_a_four_bar_modelled_simulated_and_brought_back_closes_its_loop_in_every_frame(archive, blender, tmp_path):
    found = blender("four_bar.py", archive, PROGRAM)
    poses = found["poses"]
    assert found["left"] == []
    assert all(kind == "MESH" and corners > 100 for kind, corners in found["symbols"].values())
    frames = [str(frame) for frame in range(1, 52)]
    names = ("ground A", "A", "B", "ground B")
    points = {name: np.array([place(poses[name][frame]) for frame in frames]) for name in names}
    for first, second, length in (
        ("ground A", "A", 0.4),
        ("A", "B", np.hypot(1.0, 0.5)),
        ("B", "ground B", np.hypot(0.2, 0.9)),
    ):
        np.testing.assert_allclose(np.linalg.norm(points[first] - points[second], axis=1), length, rtol=0, atol=2e-6)
    assert np.ptp(points["ground A"], axis=0).max() < 1e-6
    assert np.ptp(points["ground B"], axis=0).max() < 1e-6
    # The motor keeps 3 rad/s, so that the crank turns by 6 rad in two seconds.
    angle = np.unwrap(np.arctan2(points["A"][:, 0], points["A"][:, 2]))
    assert angle[-1] - angle[0] == pytest.approx(6.0, abs=0.05)
    # The same scene file, simulated here, gives the same poses.
    exact = {"joints": "direct", "position_tolerance": 1e-9, "velocity_tolerance": 1e-9, "contacts": "none"}
    sim = rb.Simulation(rb.Scene.from_file(tmp_path / "four_bar.rb.json"), time_step=1e-3, **exact)
    for frame in (11, 31, 51):
        sim.run((frame - 1) / 25 - sim.time)
        for body in ("crank", "coupler", "rocker"):
            matrix = np.array(poses[body][str(frame)])
            np.testing.assert_allclose(matrix[:3, 3], sim[body].position, rtol=0, atol=1e-6)
            size = np.linalg.norm(matrix[:3, :3], axis=0)
            turn = Rotation.from_quat(np.array(sim[body].orientation)).as_matrix()
            np.testing.assert_allclose(matrix[:3, :3] / size, turn, rtol=0, atol=1e-5)
            velocity = np.array(poses[f"{body} velocity"][str(frame)])[:3, 2]
            np.testing.assert_allclose(
                np.cross(velocity, sim[body].velocity), 0.0, atol=1e-5 * np.linalg.norm(sim[body].velocity)
            )


def test_a_wrecking_ball_swings_on_its_chain_breaks_the_wall_and_is_rendered(archive, in_blender, blender, tmp_path):
    picture = tmp_path / "out" / "wrecking.png"
    in_blender(ROOT / "examples" / "blender" / "wrecking_ball.py", archive, PROGRAM, picture)
    poses = blender("poses.py", picture.with_suffix(".blend"), 25)["poses"]
    ball = np.array([place(matrix) for matrix in poses["ball"].values()])
    # Six links of 0.28 m and the radius of the ball keep it within a sphere around the hook; the chain hardly bends.
    away = np.linalg.norm(ball - (0.0, 0.0, 2.6), axis=1)
    assert away.max() < 6 * 0.28 + 0.3 + 1e-3
    assert away[:3].min() > 0.98 * (6 * 0.28 + 0.3)
    bricks = [[place(matrix) for matrix in poses[name].values()] for name in poses if name.startswith("brick")]
    moved = np.linalg.norm(np.array(bricks)[:, -1] - np.array(bricks)[:, 0], axis=1)
    assert len(bricks) == 30
    assert (moved > 0.2).sum() >= 8
    assert np.array(bricks)[..., 2].min() > 0.09
    from PIL import Image

    with Image.open(picture) as drawn:
        colours = np.asarray(drawn.convert("RGB")).astype(float)
    assert colours.shape == (400, 640, 3)
    bricks = (colours[..., 0] > 1.6 * colours[..., 2]) & (colours[..., 0] > 60)
    dark = colours.max(axis=2) < 60
    # The wall, the ball and its chain are in the picture.
    assert 0.04 < bricks.mean() < 0.4
    assert 0.003 < dark.mean() < 0.2


def test_everything_there_is_survives_writing_reading_and_writing_and_the_package_takes_it(archive, blender, tmp_path):
    found = blender("round_trip.py", archive)
    first, second = (json.loads((tmp_path / f"{name}.rb.json").read_text()) for name in ("first", "second"))
    assert found["parts"] == {"trim": "body 1", "hull": "body 1"}
    shown = {name: set(names) for name, names in found["shown"].items()}
    body = {"mass", "use_mass", "inertia", "friction", "static_friction", "surface_velocity", "collides_with", "margin"}
    assert shown["body 0"] >= body
    assert shown["joint revolute"] >= {
        "kind",
        "a",
        "b",
        "limits",
        "armature",
        "breaking_force",
        "gain",
        "schedule",
        "angle",
    }
    assert "pitch" in shown["joint screw"]
    assert "pitch" not in shown["joint ball"]
    assert shown["hull"] == {"role", "owner", "shape"}
    assert shown["spring"] >= {"a", "b", "end", "stiffness", "damping", "length"}
    assert {"steps", "friction_rule", "options"} <= shown["sidebar"]
    assert found["symbols"] == {f"joint {kind}": f"rattleback {kind}" for kind in joints.MENU}
    assert found["changed"] == "rattleback screw"
    scene = rb.Scene.from_file(tmp_path / "first.rb.json")
    assert {type(joint) for joint in scene.joints.values()} == set(joints.MENU.values())
    assert {type(body.shape).__name__ for body in scene.bodies} >= {
        "Box",
        "Sphere",
        "Capsule",
        "Cylinder",
        "Cone",
        "Ellipsoid",
    }
    assert scene["body 1"].colliders[0].position == pytest.approx((-1.75, 0.0, 0.125), abs=1e-6)
    for kind in ("bodies", "joints", "forces"):
        ours, theirs = ({entry["name"]: entry for entry in data[kind]} for data in (first, second))
        assert ours.keys() == theirs.keys()
        for name in ours:
            agree(ours[name], theirs[name], f"{kind} {name}")
    assert first["allowed"] == second["allowed"] == [["body 0", "body 1"]]
    assert "cannot be read" in found["refused"]["scene"]
    assert "cannot be read" in found["refused"]["recording"]
    assert "The program 'no-such-program' cannot be started" in found["refused"]["program"]


def agree(one, other, where):
    """The same data, numbers to single precision; a mesh may have its corners in another order."""
    if isinstance(one, dict):
        if one.get("kind") in ("mesh", "convex_hull"):
            name = "points" if one["kind"] == "convex_hull" else "vertices"
            assert (one["kind"], len(one[name])) == (other["kind"], len(other[name])), where
            return
        assert one.keys() == other.keys(), where
        for key in one:
            agree(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for index, (a, b) in enumerate(zip(one, other, strict=True)):
            agree(a, b, f"{where}[{index}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, abs=2e-6), where
    else:
        assert one == other, where


def test_rigid_bodies_and_constraints_of_blender_become_bodies_and_joints(archive, blender, tmp_path):
    found = blender("take_over.py", archive)
    assert found["enabled"] is False
    scene = rb.Scene.from_file(tmp_path / "taken.rb.json")
    data = json.loads((tmp_path / "taken.rb.json").read_text())
    assert data["combine"] == {"friction": "product", "restitution": "product"}
    assert scene["anchor"].static
    assert scene["on HINGE"].mass == 4.0
    assert (scene["on HINGE"].material.friction, scene["on HINGE"].material.restitution) == (0.75, 0.5)
    assert isinstance(scene["damped"].shape, rb.Sphere)
    kinds = {joint.b.removeprefix("on "): joint for joint in scene.joints.values()}
    assert {name: type(joint).__name__ for name, joint in kinds.items()} == {
        "FIXED": "Fixed",
        "POINT": "Ball",
        "HINGE": "Revolute",
        "SLIDER": "Prismatic",
        "PISTON": "Cylindrical",
        "MOTOR": "VelocityJoint",
        "GENERIC": "Revolute",
    }
    assert kinds["HINGE"].limits == pytest.approx((-0.5, 0.75))
    assert kinds["HINGE"].breaking_force == pytest.approx(120.0)
    assert kinds["HINGE"].axis == pytest.approx((0.0, 0.0, 1.0))
    along = (np.cos(0.5), np.sin(0.5), 0.0)
    for name in ("SLIDER", "PISTON", "MOTOR"):
        assert kinds[name].axis == pytest.approx(along, abs=1e-6)
    assert kinds["SLIDER"].limits == pytest.approx((-0.25, 0.5))
    assert kinds["MOTOR"].angular == (None, None, 3.0)
    assert data["allowed"] == [["anchor", "on POINT"]]


def test_a_recording_is_baked_with_joint_points_and_arrows_where_it_was_recorded(archive, blender, tmp_path):
    scene = rb.Scene(name="double")
    upper = scene.add_body(rb.Box(1.0, 0.1, 0.1), position=(0.5, 0, 0), name="upper")
    uneven = rb.Compound((rb.Placed(rb.Box(0.8, 0.1, 0.1)), rb.Placed(rb.Sphere(0.2), position=(0.4, 0, 0))))
    lower = scene.add_body(uneven, origin=(1.4, 0, 0), name="lower")
    scene.add_joint(rb.Revolute(scene.world, upper, at=(0, 0, 0), axis=(0, 1, 0)), "shoulder")
    scene.add_joint(rb.Ball(upper, lower, at=(1, 0, 0)), "elbow")
    scene.save(tmp_path / "double.rb.json")
    sim = rb.Simulation(scene, time_step=0.005)
    names = ["position", "orientation", "velocity", "origin", "elbow.reaction_force"]
    recorder = rb.Recorder(sim, every=4, quantities=names)
    sim.run(1.0)
    recorder.save(tmp_path / "double.npz")
    found = blender("bake.py", archive, tmp_path / "double.rb.json", tmp_path / "double.npz")
    for run in ("read", "nothing"):
        assert found[run]["end"] == 50
        for frame in range(0, 51, 5):
            for row, name in enumerate(("upper", "lower")):
                matrix = np.array(found[run]["poses"][name][str(frame)])
                np.testing.assert_allclose(matrix[:3, 3], recorder["origin"][frame, row], rtol=0, atol=1e-6)
                turn = Rotation.from_quat(np.array(recorder["orientation"][frame, row])).as_matrix()
                np.testing.assert_allclose(matrix[:3, :3], turn, rtol=0, atol=1e-6)
                arrow = np.array(found[run]["poses"][f"{name} velocity"][str(frame)])
                scaled = found[run]["scales"][f"{name} velocity"] * recorder["velocity"][frame, row]
                np.testing.assert_allclose(arrow[:3, 2], scaled, rtol=0, atol=1e-5)
                np.testing.assert_allclose(arrow[:3, 3], recorder["position"][frame, row], rtol=0, atol=1e-6)
    for frame in range(0, 51, 5):
        poses = found["read"]["poses"]
        turn = Rotation.from_quat(np.array(recorder["orientation"][frame, 0]))
        elbow = recorder["origin"][frame, 0] + turn.apply(np.array([0.5, 0.0, 0.0]))
        np.testing.assert_allclose(place(poses["elbow"][str(frame)]), elbow, rtol=0, atol=1e-5)
        np.testing.assert_allclose(place(poses["elbow reaction_force"][str(frame)]), elbow, rtol=0, atol=1e-4)
