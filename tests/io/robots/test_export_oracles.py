"""Written files as others read them: URDF by Pinocchio, MJCF by MuJoCo, USD by its own library.

Each is judged by the scene that was written, in its own coordinates, not by what our readers make of the file.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from oracles.same_robot import articulation, body_frame, joint_frame
from rattleback.maths.rotation import matrix_from_quaternion

ROBOTS = Path(__file__).resolve().parents[3] / "examples" / "robots"
DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
OWN = sorted(ROBOTS.glob("arm.*"))
GIVEN = [path for ending in ("urdf", "xml", "sdf", "usda") for path in sorted(DATA.rglob(f"*.{ending}"))]
# A search for closed loops that takes long, welds that become one body, a format that is heavy with meshes.
LEFT_OUT = ("cassie_like", "robotiq_2f85", "newton_constraints")
FILES = [*OWN, *(path for path in GIVEN if path.parent.name not in LEFT_OUT and path.stem not in LEFT_OUT)]
COUNT = 20
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")


def machine() -> rb.Scene:
    """A tree with several freedoms a joint, at a configuration that is not zero, and bodies that were turned."""
    scene = rb.Scene(name="machine")
    turn = rb.rotation.quaternion_from_axis_angle((3, 1, 2), 0.8)
    joints = (
        rb.Revolute("world", "b0", at=(0, 0, 0.2), axis=(0.6, 0, 0.8), limits=(-2, 2), armature=0.3),
        rb.Cylindrical("b0", "b1", at=(0.3, 0, 0), axis=(0, 1, 0), limits=(-0.2, 0.5)),
        rb.Universal("b1", "b2", at=(0.6, 0, 0.1), axis=(1, 0, 0), axis_b=(0, 0, 1)),
        rb.Prismatic("b2", "b3", at=(0.8, 0, 0.1), at_b=(0.9, 0, 0.1), axis=(1, 0, 0), limits=(0, 1)),
        rb.Revolute("b4", "b3", at=(1, 0, 0.1), axis=(0, 0.6, 0.8)),
        rb.Planar("b0", "b5", at=(0, 0.2, 0.1), axis=(0, 0.8, 0.6)),
    )
    for number in range(len(joints)):
        inertia = np.diag((0.02, 0.03, 0.04)) + 0.003
        options: Any = {"orientation": turn, "center_of_mass": (0.02, -0.01, 0.03), "inertia": inertia}
        scene.add_body(rb.Box(0.2, 0.1, 0.1), mass=1.0 + number, name=f"b{number}", **options)
    for number, joint in enumerate(joints):
        scene.add_joint(joint, name=f"j{number}")
    return scene


def sample(robot: Any, seed: int) -> np.ndarray:
    """Configurations; those of bodies that float are where these start."""
    q = robot.random(np.random.default_rng(seed), COUNT)
    rest = robot.neutral()
    for body in robot.bodies:
        if f"{body}.w" in robot.coordinates:
            q[:, robot.places(body)[0]] = rest[robot.places(body)[0]]
    return q


class Pinocchio:
    """A URDF file as Pinocchio reads it."""

    def __init__(self, path: Path) -> None:
        self.pin: Any = pytest.importorskip("pinocchio", reason="needs Pinocchio, pip install pin")
        self.model = self.pin.buildModelFromUrdf(str(path))
        self.data = self.model.createData()

    def q(self, values: dict[str, float]) -> np.ndarray:
        found = self.pin.neutral(self.model)
        for name in list(self.model.names)[1:]:
            number = self.model.getJointId(name)
            place = self.model.idx_qs[number]
            if (self.model.nqs[number], self.model.nvs[number]) == (2, 1):
                found[place : place + 2] = np.cos(values[name]), np.sin(values[name])
            elif self.model.nvs[number] == 1:
                found[place] = values[name]
            elif self.model.nvs[number] == 3:
                x, y, turn = (values[f"{name}.{end}"] for end in ("slide_x", "slide_y", "turn_z"))
                found[place : place + 4] = x, y, np.cos(turn), np.sin(turn)
        return found

    def column(self, rate: str) -> int:
        """Place of a rate among those of Pinocchio; one of a joint of the plane by its end."""
        if self.model.existJointName(rate):
            return int(self.model.idx_vs[self.model.getJointId(rate)])
        joint, _, end = rate.rpartition(".")
        return int(self.model.idx_vs[self.model.getJointId(joint)]) + ("slide_x", "slide_y", "turn_z").index(end)


def turned(rates: list[str], values: dict[str, float]) -> np.ndarray:
    """Rates of Pinocchio for ours: those of a joint of the plane are in the axes that turn with the body."""
    found = np.eye(len(rates))
    for name in [rate.removesuffix(".turn_z") for rate in rates if f"{rate.removesuffix('.turn_z')}.slide_y" in rates]:
        place = [rates.index(f"{name}.{end}") for end in ("slide_x", "slide_y")]
        c, s = np.cos(values[f"{name}.turn_z"]), np.sin(values[f"{name}.turn_z"])
        found[np.ix_(place, place)] = [[c, s], [-s, c]]
    return found


def borrowed(scene: rb.Scene) -> float:
    """Moments that links without mass have only here, on which every entry may depend [kg m²]."""
    masses = scene.robot.masses if scene.robot else {}
    return sum(2.0 * float(np.linalg.eigvalsh(after.tensor)[2]) for before, after in masses.values() if before is None)


def skip_unless_single(scene: rb.Scene) -> None:
    if any(isinstance(joint, rb.Ball) for joint in scene.joints.values()):
        pytest.skip("three hinges stand for its ball joint; their coordinates are others")
    if any(isinstance(joint, rb.Fixed) for joint in scene.joints.values()):
        pytest.skip("bodies that are fixed to each other have coordinates of their own only here")


def judge_by_pinocchio(scene: rb.Scene, path: Path) -> None:
    skip_unless_single(scene)
    scene.export(path)
    oracle = Pinocchio(path)
    robot = rb.dynamics.Articulation(scene, armature=0.0)
    floating = sum(len([joint for joint in robot.rates if joint.startswith(f"{name}.")]) == 6 for name in robot.bodies)
    columns = {k: name for k, name in enumerate(robot.rates) if name.rpartition(".")[0] not in robot.bodies}
    own, theirs = list(columns), [oracle.column(name) for name in columns.values()]
    oracle.model.gravity.linear = scene.gravity
    for q in sample(robot, 1):
        told = dict(zip(robot.coordinates, q.tolist(), strict=True))
        values, turn = oracle.q(told), turned(list(columns.values()), told)
        full = oracle.pin.crba(oracle.model, oracle.data, values)
        full = np.triu(full) + np.triu(full, 1).T
        expected = robot.mass_matrix(q)[np.ix_(own, own)]
        np.testing.assert_allclose(
            turn.T @ full[np.ix_(theirs, theirs)] @ turn,
            expected,
            rtol=0,
            atol=1e-9 * np.abs(expected).max(initial=1e-3) + borrowed(scene),
        )
        if not floating:
            weight = turn.T @ oracle.pin.computeGeneralizedGravity(oracle.model, oracle.data, values)[theirs]
            expected = robot.gravity_torque(q)
            np.testing.assert_allclose(weight, expected, rtol=0, atol=1e-9 * max(1e-3, np.abs(expected).max()))


@each_file
def test_urdf_is_the_same_robot_to_pinocchio(path: Path, tmp_path: Path) -> None:
    scene = rb.Scene.from_file(path, **({"loops": False} if path.suffix == ".urdf" else {}))
    if scene.robot.pinions:
        pytest.skip("the pinion between its slides is a body only here")
    judge_by_pinocchio(scene, tmp_path / "robot.urdf")


def test_urdf_of_a_scene_is_the_same_to_pinocchio(tmp_path: Path) -> None:
    judge_by_pinocchio(machine(), tmp_path / "machine.urdf")


def judge_by_mujoco(scene: rb.Scene, path: Path) -> None:
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo, pip install mujoco")
    skip_unless_single(scene)
    scene.export(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data, robot = mujoco.MjData(model), articulation(scene)
    columns = {k: name for k, name in enumerate(robot.rates) if name.rpartition(".")[0] not in robot.bodies}
    own = list(columns)
    theirs = [int(model.joint(name).dofadr[0]) for name in columns.values()]
    for q in sample(robot, 2):
        for k, name in columns.items():
            data.qpos[model.joint(name).qposadr[0]] = q[robot.coordinates.index(robot.rates[k])]
        mujoco.mj_forward(model, data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        expected = robot.mass_matrix(q)[np.ix_(own, own)]
        np.testing.assert_allclose(
            full[np.ix_(theirs, theirs)],
            expected,
            rtol=0,
            atol=1e-9 * np.abs(expected).max(initial=1e-3) + borrowed(scene),
        )
        if len(own) == robot.nv:
            expected = robot.gravity_torque(q)
            found = data.qfrc_bias[theirs]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * max(1e-3, np.abs(expected).max()))
            for name, frame in zip(robot.bodies, robot.frames(q), strict=True):
                body = data.body(name)
                scale = max(1.0, float(np.abs(frame).max()))
                np.testing.assert_allclose(body.xpos, frame[:3, 3], rtol=0, atol=1e-9 * scale)
                np.testing.assert_allclose(body.xmat.reshape(3, 3), frame[:3, :3], rtol=0, atol=1e-9)


@each_file
def test_mjcf_is_the_same_robot_to_mujoco(path: Path, tmp_path: Path) -> None:
    scene = rb.Scene.from_file(path)
    if scene.robot.pinions:
        pytest.skip("the pinion between its slides is a body only here")
    judge_by_mujoco(scene, tmp_path / "robot.xml")


def test_mjcf_of_a_scene_is_the_same_to_mujoco(tmp_path: Path) -> None:
    judge_by_mujoco(machine(), tmp_path / "machine.xml")


def exact(prim: Any, name: str) -> np.ndarray:
    """A value in double precision, which agrees with the one that UsdPhysics has to single precision."""
    plain, beside = prim.GetAttribute(name).Get(), prim.GetAttribute(f"rattleback:{name}")
    found = beside.Get() if beside else plain
    values = [
        np.array([*one.GetImaginary(), one.GetReal()]) if hasattr(one, "GetImaginary") else np.array(one, dtype=float)
        for one in (plain, found)
    ]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-6, atol=1e-6 * np.abs(values[1]).max(initial=1e-30))
    return values[1]


def judge_by_usd(scene: rb.Scene, path: Path) -> None:
    pytest.importorskip("pxr", reason="needs USD, pip install usd-core")
    from pxr import Usd, UsdGeom, UsdPhysics

    scene.export(path)
    stage = Usd.Stage.Open(str(path))
    cache, prims = UsdGeom.XformCache(), {}
    for prim in stage.Traverse():
        told = prim.GetAttribute("rattleback:name")
        prims[(told.Get() if told else prim.GetName(), prim.IsA(UsdPhysics.Joint))] = prim
    places = {}
    for body in (body for body in scene.bodies if not body.static):
        prim = prims[body.name, False]
        places[str(prim.GetPath())] = np.array(cache.GetLocalToWorldTransform(prim)).T
        np.testing.assert_allclose(places[str(prim.GetPath())], body_frame(scene, body.name), rtol=0, atol=1e-9)
        assert float(exact(prim, "physics:mass")) == pytest.approx(body.mass, rel=1e-12)
        np.testing.assert_allclose(exact(prim, "physics:centerOfMass"), body.center_of_mass, rtol=0, atol=1e-12)
        turn = matrix_from_quaternion(exact(prim, "physics:principalAxes"))
        tensor = turn @ np.diag(exact(prim, "physics:diagonalInertia")) @ turn.T
        np.testing.assert_allclose(tensor, body.inertia, rtol=0, atol=1e-12 * np.abs(body.inertia).max())
    for name, joint in scene.joints.items():
        if isinstance(joint, (rb.VelocityJoint, rb.Gear, rb.Rack)):
            continue
        prim = prims[name, True]
        cosines = []
        for number in (0, 1):
            targets = prim.GetRelationship(f"physics:body{number}").GetTargets()
            target = stage.GetPrimAtPath(targets[0]) if targets else None
            above = np.array(cache.GetLocalToWorldTransform(target)).T if target else np.eye(4)
            side = [target == prims.get((end, False)) for end in (joint.a, joint.b)].index(True)
            expected = joint_frame(scene, joint, side)
            point = above @ np.append(exact(prim, f"physics:localPos{number}"), 1.0)
            np.testing.assert_allclose(point[:3], expected[:3, 3], rtol=0, atol=1e-9)
            if isinstance(joint, (rb.Revolute, rb.Prismatic, rb.Cylindrical)):
                axis = above[:3, :3] @ matrix_from_quaternion(exact(prim, f"physics:localRot{number}"))[:, 2]
                cosines.append(float(axis @ expected[:3, 2]) * (1.0 if side == number else -1.0))
        # A joint that is turned round has its bodies exchanged, and its axis the other way.
        np.testing.assert_allclose(cosines, 1.0, rtol=0, atol=1e-9)
        if isinstance(joint, rb.Revolute) and joint.limits and None not in joint.limits:
            found = [float(exact(prim, f"physics:{end}Limit")) for end in ("lower", "upper")]
            np.testing.assert_allclose(np.radians(found), joint.limits, rtol=1e-12)


@each_file
def test_usd_is_the_same_robot_to_its_own_library(path: Path, tmp_path: Path) -> None:
    scene = rb.Scene.from_file(path, **({"loops": False} if path.suffix == ".urdf" else {}))
    if scene.robot.pinions:
        pytest.skip("the pinion between its slides is a body only here")
    judge_by_usd(scene, tmp_path / "robot.usda")


def test_usd_of_a_scene_is_the_same_to_its_own_library(tmp_path: Path) -> None:
    judge_by_usd(machine(), tmp_path / "machine.usda")


def test_rays_meet_a_height_field_where_it_is(tmp_path: Path) -> None:
    """MuJoCo shoots down on the ground of the file; the heights are those of the scene's triangles."""
    mujoco = pytest.importorskip("mujoco")
    heights = np.array([[0.0, 0.1, -0.2, 0.3], [0.3, 0.0, 0.05, 0.1], [0.2, -0.1, 0.4, 0.0]])
    scene = rb.Scene()
    scene.add_static(rb.HeightField(heights, (0.5, 0.25)), name="hills", position=(1.0, 2.0, 3.0))
    scene.add_body(rb.Sphere(0.01), name="ball", position=(9, 9, 9))
    scene.export(tmp_path / "hills.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "hills.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for i, j in np.ndindex(heights.shape):
        # A little inside, so that the ray does not miss the edge.
        x, y = (np.array((i, j)) - (1.0, 1.5)) * (0.5, 0.25) * (1 - 1e-6) + (1.0, 2.0)
        found = mujoco.mj_ray(
            model, data, np.array((x, y, 9.0)), np.array((0, 0, -1.0)), None, 1, -1, np.zeros(1, np.int32), None
        )
        assert 9.0 - found == pytest.approx(3.0 + heights[i, j], abs=1e-5)


def test_loops_are_closed_at_the_start_to_mujoco(tmp_path: Path) -> None:
    """Equalities of every kind have no residual where the scene starts, and one that is open has its gap."""
    mujoco = pytest.importorskip("mujoco")
    scene = rb.Scene(gravity=(0, 0, 0))
    turn = rb.rotation.quaternion_from_axis_angle((1, 2, 3), 0.9)
    for number in range(6):
        scene.add_body(rb.Box(0.2, 0.1, 0.1), mass=1.0, name=f"b{number}", position=(number, 0, 0), orientation=turn)
        scene.add_joint(rb.Ball("world", f"b{number}", at=(number, 0, 0.2)), name=f"ball {number}")
    loops = (
        rb.Ball("b0", "b1", at=(0.5, 0.1, 0)),
        rb.Fixed("b1", "b2", at=(1.5, 0, 0.1)),
        rb.Revolute("b2", "b3", at=(2.5, 0, 0), axis=(0, 0.6, 0.8)),
        rb.Distance("b3", "b4", at=(3, 0, 0.1), at_b=(4, 0, 0)),
        rb.Fixed("world", "b4", at=(4, 0, 0)),
    )
    for number, joint in enumerate(loops):
        scene.add_joint(joint, name=f"loop {number}")
    scene.add_joint(rb.Ball("b4", "b5", at=(4.5, 0, 0), at_b=(4.5, 0, 0.03)), name="open")
    scene.export(tmp_path / "loops.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "loops.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    kinds = [int(kind) for kind in model.eq_type]
    assert kinds.count(int(mujoco.mjtEq.mjEQ_TENDON)) == 1
    assert kinds.count(int(mujoco.mjtEq.mjEQ_CONNECT)) >= 4
    gap = {name: np.abs(data.efc_pos[data.efc_id == model.equality(name).id]).max() for name in names(model)}
    assert gap.pop("open") == pytest.approx(0.03, rel=1e-6)
    assert max(gap.values()) < 1e-9


def names(model: Any) -> list[str]:
    return [model.equality(k).name for k in range(model.neq)]
