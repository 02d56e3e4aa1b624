"""Robots read, written and read again: masses, inertias, frames, joints, limits and dynamics are the same.

What a format cannot say is left out of the comparison: URDF has neither rotors nor gravity nor a state, the drives of
USD take the place of dampers. Whatever is written once comes out the same when it is read and written again.
"""

import itertools
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from oracles.mass_matrix import mass_matrix, of_file
from oracles.same_robot import check_bodies, check_data, check_dynamics, check_joints

ROBOTS = Path(__file__).resolve().parents[3] / "examples" / "robots"
DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
OWN = sorted(ROBOTS.glob("arm.*"))
# Heavy with meshes, or long to be closed.
LARGE = ("robotiq_2f85", "cassie_like", "robot_delta")
GIVEN = sorted(path for ending in ("urdf", "xml", "sdf", "usda") for path in DATA.rglob(f"*.{ending}"))
ENDINGS = ("urdf", "xml", "usda")
FORMATS = {"urdf": "urdf", "xml": "mjcf", "usda": "usd"}
# A weld of two bodies makes them one body.
WELDED = ("newton_constraints",)


def written(scene: rb.Scene, folder: Path, ending: str, **options: Any) -> rb.Scene:
    scene.export(folder / f"robot.{ending}")
    return rb.Scene.from_file(folder / f"robot.{ending}", **options)


def compare(scene: rb.Scene, again: rb.Scene, ending: str) -> None:
    urdf = ending == "urdf"
    if urdf:
        again.gravity = scene.gravity
    else:
        check_bodies(scene, again)
    check_joints(scene, again, (rb.VelocityJoint,) if ending == "usda" else (), posed=not urdf)
    check_data(scene, again, ending)
    check_dynamics(scene, again, seed=1, rotors=not urdf)
    kind = FORMATS[ending]
    assert rb.digest(again, kind) == rb.digest(scene, kind)


@pytest.mark.parametrize(
    ("path", "ending"),
    [pair for pair in itertools.product(OWN, ENDINGS) if (pair[0].name, pair[1]) != ("arm.xml", "urdf")],
    ids=lambda value: getattr(value, "name", value),
)
def test_own_robots_are_the_same_after_a_round_trip(path: Path, ending: str, tmp_path: Path) -> None:
    scene = rb.Scene.from_file(path)
    compare(scene, written(scene, tmp_path, ending), ending)


def test_a_robot_with_coupled_slides_has_the_masses_of_its_file_in_urdf(tmp_path: Path) -> None:
    """The pinion between two slides lies where they start, which URDF does not say; its mass goes back to the hand."""
    scene = rb.Scene.from_file(ROBOTS / "arm.xml")
    scene.export(tmp_path / "robot.urdf")
    again, tree = (rb.Scene.from_file(tmp_path / "robot.urdf"), rb.kinematics.Tree.from_file(tmp_path / "robot.urdf"))
    first = rb.kinematics.Tree.from_file(ROBOTS / "arm.xml")
    inertias = of_file(scene)
    rng = np.random.default_rng(3)
    for q in first.random(100, seed=int(rng.integers(100))):
        values = dict(zip(first.coordinates, q.tolist(), strict=True))
        own = np.array([values[name] for name in tree.coordinates])
        order = [tree.coordinates.index(name) for name in first.coordinates]
        expected, weight = mass_matrix(inertias, first, q, scene.gravity)
        found, torque = mass_matrix(of_file(again), tree, own, scene.gravity)
        np.testing.assert_allclose(found[np.ix_(order, order)], expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(torque[order], weight, rtol=0, atol=1e-9)


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
@pytest.mark.parametrize("ending", ENDINGS)
def test_what_came_from_a_written_file_is_written_without_further_loss(path: Path, ending: str, tmp_path: Path) -> None:
    """The third scene is the second, and its file says of the same things that they are kept."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    second = written(rb.Scene.from_file(path), tmp_path / "a", ending)
    third = written(second, tmp_path / "b", ending)
    compare(second, third, ending)
    third.export(tmp_path / f"last.{ending}")
    kept = [sorted(map(str, scene.export_report.kept)) for scene in (second, third)]
    assert kept[1] == [entry.replace("robot.yaml", "last.yaml") for entry in kept[0]]


@pytest.mark.skipif(not GIVEN, reason="the robot files are not in ../shared/data")
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] * (path.parent.name in LARGE)) for path in GIVEN],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_given_robots_are_the_same_after_a_round_trip(path: Path, tmp_path: Path) -> None:
    # The search for a start at which all loops close takes long for this one.
    scene = rb.Scene.from_file(path, **({"loops": False} if path.parent.stem == "cassie_like" else {}))
    for ending in ENDINGS:
        # URDF says no start; from zero the search for closed loops takes long.
        again = written(scene, tmp_path, ending, **({"loops": False} if ending == "urdf" else {}))
        if path.stem in WELDED:
            assert sum(body.mass for body in again.bodies) <= sum(body.mass for body in scene.bodies) * (1 + 1e-12)
        else:
            compare(scene, again, ending)
        assert not [entry for entry in again.import_report.dropped if "does not know" in entry.note]


def test_a_digest_tells_robots_apart() -> None:
    scene = rb.Scene.from_file(ROBOTS / "arm.xml")
    known = {rb.digest(scene), rb.digest(scene.copy())}
    assert len(known) == 1
    heavy = scene.copy()
    heavy.change_body("forearm", mass=scene["forearm"].mass * (1.0 + 1e-5))
    changes: list[rb.Scene] = [heavy]
    name, joint = next((name, joint) for name, joint in scene.joints.items() if getattr(joint, "limits", None))
    for field in ("armature", "friction"):
        changes.append(scene.copy())
        changes[-1].change_joint(name, **{field: getattr(joint, field) + 0.01})
    changes.append(scene.copy())
    changes[-1].change_joint(name, limits=(joint.limits[0], joint.limits[1] + 1e-4))
    for changed in changes:
        known.add(rb.digest(changed))
    assert len(known) == 5
    assert rb.digest(changes[1], "urdf") == rb.digest(scene, "urdf")
    with pytest.raises(rb.InputError, match="The format of digest is 'dae'"):
        rb.digest(scene, "dae")


def test_links_without_mass_have_none_in_the_file(tmp_path: Path) -> None:
    """A scene lends them some; where it was not changed since, MJCF and URDF have the masses of the first file."""
    mujoco = pytest.importorskip("mujoco")
    scene = rb.Scene.from_file(ROBOTS / "arm.xml")
    scene.export(tmp_path / "arm.xml")
    first, again = (mujoco.MjModel.from_xml_path(str(folder / "arm.xml")) for folder in (ROBOTS, tmp_path))
    for k in range(1, first.nbody):
        name = first.body(k).name
        assert float(again.body(name).mass[0]) == pytest.approx(float(first.body(name).mass[0]), rel=1e-9)
        np.testing.assert_allclose(again.body(name).ipos, first.body(name).ipos, rtol=0, atol=1e-9)
    scene.export(tmp_path / "arm.usda")
    lent = [entry.place for entry in scene.export_report.approximated if "borrowed" in entry.note]
    assert lent == ["body 'upper_arm 1' mass"]
    scene.change_body("forearm", mass=5.0)
    scene.change_body("upper_arm 1", mass=0.01)
    scene.export(tmp_path / "arm.xml")
    lent = [entry.place for entry in scene.export_report.approximated if "borrowed" in entry.note]
    assert lent == ["body 'upper_arm 1' mass"]
    heavy = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    # The pinion between the slides of the fingers goes back to the arm that carries it.
    (pinion,) = scene.robot.pinions
    assert float(heavy.body("forearm").mass[0]) == pytest.approx(5.0 + scene[pinion.body].mass, rel=1e-12)


def test_meshes_stand_beside_the_file_and_move_with_it(tmp_path: Path) -> None:
    scene = rb.Scene(name="rig")
    corners = np.array([(x, y, z) for x in (0.0, 0.1) for y in (0.0, 0.2) for z in (0.0, 1.0 / 3.0)])
    part = scene.add_body(rb.ConvexHull(corners), mass=2.0, name="part/1")
    scene.add_joint(rb.Revolute(scene.world, part), name="hinge")
    for ending in ("urdf", "xml"):
        home, there = tmp_path / "home", tmp_path / "there"
        home.mkdir()
        scene.export(home / f"rig.{ending}")
        shutil.move(home, there)
        again = rb.Scene.from_file(there / f"rig.{ending}")
        assert not again.import_report.dropped
        hull = again["part/1"].colliders[0]
        np.testing.assert_allclose(hull.shape.volume(), 0.1 * 0.2 / 3.0, rtol=1e-6)
        low, high = again["part/1"].shape.bounds()
        np.testing.assert_allclose([low, high], [(0, 0, 0), (0.1, 0.2, 1 / 3)], rtol=0, atol=1e-7)
        shutil.rmtree(there)


def test_a_height_field_and_a_plane_keep_their_surfaces(tmp_path: Path) -> None:
    heights = np.array([[0.0, 0.1, -0.2], [0.3, 0.0, 0.05]])
    scene = rb.Scene()
    scene.add_static(rb.HeightField(heights, (0.5, 0.25)), name="hills", position=(1.0, 2.0, 3.0))
    scene.add_static(rb.Plane((0.6, 0.0, 0.8), -1.0), name="slope")
    scene.add_body(rb.Sphere(0.1), name="ball", position=(0, 0, 9))
    again = written(scene, tmp_path, "xml")
    field = again["hills"].shape
    np.testing.assert_allclose(field.heights + again["hills"].origin[2] - 3.0, heights, atol=1e-7)
    np.testing.assert_allclose((*field.spacing, *again["hills"].origin[:2]), (0.5, 0.25, 1.0, 2.0), atol=1e-12)
    for ending in ("xml", "usda"):
        slope = written(scene, tmp_path, ending)["slope"]
        place = rb.kinematics.pose.make_pose(slope.origin, rb.rotation.matrix_from_quaternion(slope.orientation))
        shapes = [slope.shape] if isinstance(slope.shape, rb.Plane) else []
        normal = place[:3, :3] @ np.array(shapes[0].normal if shapes else (0, 0, 1))
        np.testing.assert_allclose(normal, (0.6, 0.0, 0.8), atol=1e-12)
        np.testing.assert_allclose(normal @ slope.origin + (shapes[0].offset if shapes else 0.0), -1.0, atol=1e-12)
