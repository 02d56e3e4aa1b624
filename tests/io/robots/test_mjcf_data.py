"""MJCF models against MuJoCo: frames of every body, mass, inertia, mass matrix and weight.

Small ones lie in ``models``, real ones in ``shared/data`` beside the checkout; without MuJoCo the tests are skipped.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from oracles.mass_matrix import composite, mass_matrix, of_file, spread

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
OWN = Path(__file__).with_name("models") / "mjcf"
FILES = sorted([*OWN.glob("*.xml"), *(DATA / "mjcf").rglob("*.xml")])
CONFIGURATIONS = 20

needs_gripper = pytest.mark.skipif(not (DATA / "mjcf").exists(), reason="the gripper is not in ../shared/data/mjcf")
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


class Oracle:
    """A model as MuJoCo simulates it."""

    def __init__(self, path: Path) -> None:
        self.mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo, pip install mujoco")
        self.model = self.mujoco.MjModel.from_xml_path(str(path))
        self.model.dof_armature[:] = 0.0
        self.data = self.mujoco.MjData(self.model)

    def drawn(self, rng: np.random.Generator) -> np.ndarray:
        """A configuration, with quaternions of length one."""
        q = rng.uniform(-1.5, 1.5, self.model.nq)
        for kind, place in zip(self.model.jnt_type, self.model.jnt_qposadr, strict=True):
            if kind < 2:
                part = slice(place + 3, place + 7) if kind == 0 else slice(place, place + 4)
                q[part] /= np.linalg.norm(q[part])
        return q

    def coordinates(self, names: list[str], q: np.ndarray) -> dict[str, Any]:
        """The same by joint, quaternions as (x, y, z, w)."""
        found: dict[str, Any] = {}
        for number, name in enumerate(names):
            kind, place = self.model.jnt_type[number], self.model.jnt_qposadr[number]
            if kind == 0:
                found[name] = (*q[place : place + 3], *q[place + 4 : place + 7], q[place + 3])
            elif kind == 1:
                found[name] = (*q[place + 1 : place + 4], q[place])
            else:
                found[name] = float(q[place])
        return found


def joint_names(scene: rb.Scene) -> list[str]:
    return [name for name, told in scene.robot.joints.items() if not told.closes and told.kind != "fixed"]


def without_pinions(scene: rb.Scene) -> rb.Scene:
    """The scene without pinions that nothing could lend a mass, which are no bodies of the file."""
    found = scene.copy()
    for pinion in scene.robot.pinions:
        if not pinion.carrier:
            for name in [name for name, joint in found.joints.items() if pinion.body in (joint.a, joint.b)]:
                found.remove_joint(name)
            found.remove_body(pinion.body)
    return found


@each_file
def test_frames_mass_and_inertia_are_those_of_mujoco(path: Path) -> None:
    oracle, rng = Oracle(path), np.random.default_rng(1)
    model, data = oracle.model, oracle.data
    scene = rb.Scene.from_file(path)
    scene.robot.description.couplings.clear()
    names = joint_names(scene)
    for _ in range(CONFIGURATIONS):
        data.qpos[:] = oracle.drawn(rng)
        oracle.mujoco.mj_forward(model, data)
        values = oracle.coordinates(names, data.qpos)
        for name, frame in scene.robot.link_frames(values).items():
            number = oracle.mujoco.mj_name2id(model, 1, name)
            if number >= 0:
                np.testing.assert_allclose(frame[:3, 3], data.xpos[number], rtol=0, atol=1e-9)
                np.testing.assert_allclose(frame[:3, :3], data.xmat[number].reshape(3, 3), rtol=0, atol=1e-9)
        scene.robot.pose(scene, values)
        mass, center, inertia = composite(without_pinions(scene))
        moving = [k for k in range(1, model.nbody) if model.body_weldid[k] and model.body_mocapid[k] < 0]
        expected = sum(model.body_mass[k] for k in moving)
        assert mass == pytest.approx(expected, rel=1e-9)
        middle = sum(model.body_mass[k] * data.xipos[k] for k in moving) / expected
        np.testing.assert_allclose(center, middle, rtol=0, atol=1e-9)
        total = np.zeros((3, 3))
        for k in moving:
            turn, p = data.ximat[k].reshape(3, 3), data.xipos[k]
            total += turn @ np.diag(model.body_inertia[k]) @ turn.T
            total += model.body_mass[k] * (p @ p * np.eye(3) - np.outer(p, p))
        np.testing.assert_allclose(inertia, total, rtol=0, atol=1e-9 * np.abs(total).max())


@each_file
def test_mass_matrix_and_weight_of_the_joints_are_those_of_mujoco(path: Path) -> None:
    oracle, rng = Oracle(path), np.random.default_rng(2)
    model, data = oracle.model, oracle.data
    if not any(kind > 1 for kind in model.jnt_type):
        pytest.skip("nothing in it moves by a joint of one freedom")
    scene = rb.Scene.from_file(path, base="fixed")
    names = joint_names(rb.Scene.from_file(path))
    place = [number for number, kind in enumerate(model.jnt_type) if kind > 1]
    columns = [int(model.jnt_dofadr[number]) for number in place]
    tree = rb.kinematics.Tree.from_file(path, base="fixed")
    told = {name: f"{name} joint" if name in scene.robot.description.links else name for name in names}
    rates = spread(tree, [told[names[number]] for number in place])
    # Joints of several freedoms stay where they are.
    single = [k for k, label in enumerate(tree.coordinates) if label in told.values()]
    mine = {label: name for name, label in told.items()}
    for _ in range(5):
        q = model.qpos0.copy()
        drawn = rb.kinematics.Tree.random(tree, 1, seed=int(rng.integers(1000)))[0]
        values = scene.robot.coordinates({mine[tree.coordinates[k]]: float(drawn[k]) for k in single})
        own = np.zeros(len(tree.coordinates))
        own[single] = [values[mine[tree.coordinates[k]]] for k in single]
        for number in place:
            q[model.jnt_qposadr[number]] = values[names[number]]
        data.qpos[:], data.qvel[:] = q, 0.0
        oracle.mujoco.mj_forward(model, data)
        matrix, weight = mass_matrix(of_file(scene), tree, own, scene.gravity)
        full = np.zeros((model.nv, model.nv))
        oracle.mujoco.mj_fullM(model, data, full)
        expected = (rates.T @ full[np.ix_(columns, columns)] @ rates)[np.ix_(single, single)]
        slack = 1e-9 * np.abs(expected).max()
        np.testing.assert_allclose(matrix[np.ix_(single, single)], expected, rtol=0, atol=slack)
        expected = (rates.T @ data.qfrc_bias[columns])[single]
        slack = 1e-9 * max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(weight[single], expected, rtol=0, atol=slack)


@each_file
def test_every_model_can_be_simulated(path: Path) -> None:
    scene = rb.Scene.from_file(path)
    sim = rb.Simulation(scene, time_step=0.001)
    with warnings.catch_warnings():
        # Rotor inertias are not simulated here, so that stiff drives ask for more than their joints can follow.
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        sim.run(0.02)
    assert np.isfinite(sim.state.position).all()


@needs_gripper
def test_the_gripper_closes_its_loops_and_follows_its_coupling() -> None:
    scene = rb.Scene.from_file(DATA / "mjcf" / "robotiq_2f85" / "2f85.xml")
    found = scene.assemble()
    assert max(found.position_error, found.orientation_error) <= 1e-9
    sim = rb.Simulation(scene, time_step=0.001)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        sim.run(0.2)
    assert sim.report.position_error < 1e-6
    assert sim["right_driver_joint"].angle == pytest.approx(sim["left_driver_joint"].angle, abs=1e-5)


@needs_gripper
@pytest.mark.contacts
def test_the_gripper_closes_by_its_actuator_as_in_mujoco() -> None:
    """Its control goes from 0 to 255; MuJoCo's loops and contacts are soft, so that angles agree to a hundredth."""
    path = DATA / "mjcf" / "robotiq_2f85" / "2f85.xml"
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo, pip install mujoco")
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.ctrl[:] = 255.0
    mujoco.mj_step(model, data, nstep=1000)
    scene = rb.Scene.from_file(path)
    scene.robot.control(scene, {"fingers_actuator": 255.0})
    sim = rb.Simulation(scene, time_step=0.001)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        sim.run(0.6)
    assert sim["right_driver_joint"].angle == pytest.approx(float(data.qpos[0]), abs=0.01)
    assert sim["right_driver_joint"].angle > 0.7
    assert sim.report.position_error < 1e-6
