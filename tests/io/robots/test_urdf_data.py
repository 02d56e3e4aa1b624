"""URDF robots against Pinocchio: frames of every link, mass, inertia, mass matrix and weight.

Small ones lie in ``models``, real ones in ``shared/data`` beside the checkout; without Pinocchio the tests are skipped.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from oracles.mass_matrix import composite, mass_matrix, of_file, of_scene, spread

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
OWN = Path(__file__).with_name("models") / "urdf"
FILES = sorted(path for folder in (OWN, DATA / "urdf", DATA / "loops_urdf") for path in folder.rglob("*.urdf"))
CONFIGURATIONS = 20

needs_data = pytest.mark.skipif(not (DATA / "loops_urdf").exists(), reason="no robots in ../shared/data/loops_urdf")


class Oracle:
    """A robot as Pinocchio reads it."""

    def __init__(self, path: Path) -> None:
        self.pin: Any = pytest.importorskip("pinocchio", reason="needs Pinocchio, pip install pin")
        self.model = self.pin.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.joints = list(self.model.names)[1:]

    def q(self, values: dict[str, float]) -> np.ndarray:
        found = self.pin.neutral(self.model)
        for name in self.joints:
            number = self.model.getJointId(name)
            place, value = self.model.idx_qs[number], values[name]
            if self.model.nqs[number] == 2:
                found[place : place + 2] = np.cos(value), np.sin(value)
            else:
                found[place] = value
        return found

    def columns(self) -> list[int]:
        return [self.model.idx_vs[self.model.getJointId(name)] for name in self.joints]


def drawn(scene: rb.Scene, rng: np.random.Generator, joints: list[str]) -> dict[str, float]:
    """Coordinates of all joints, drawn evenly; those that follow others do so."""
    values = {name: float(rng.uniform(-2.0, 2.0)) for name in joints}
    return {name: value for name, value in scene.robot.coordinates(values).items() if name in values}


def borrowed(scene: rb.Scene) -> float:
    """The moments of all links that had no mass [kg m²]."""
    names = [name for name, told in scene.robot.description.links.items() if told.inertia is None and name in scene]
    return sum(scene[name].principal_moments.max() for name in names if not scene[name].static)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_frames_mass_and_inertia_are_those_of_pinocchio(path: Path) -> None:
    oracle, rng = Oracle(path), np.random.default_rng(1)
    pin, model, data = oracle.pin, oracle.model, oracle.data
    scene, tree = rb.Scene.from_file(path, loops=False), rb.kinematics.Tree.from_file(path, loops=False)
    for _ in range(CONFIGURATIONS):
        values = drawn(scene, rng, oracle.joints)
        q = oracle.q(values)
        pin.framesForwardKinematics(model, data, q)
        frames = tree.frames([values[name] for name in tree.coordinates])
        for name, frame in scene.robot.link_frames(values).items():
            expected = data.oMf[model.getFrameId(name, pin.BODY)].homogeneous
            np.testing.assert_allclose(frame, expected, rtol=0, atol=1e-9)
            np.testing.assert_allclose(frames[tree.link(name)], expected, rtol=0, atol=1e-9)
        scene.robot.pose(scene, values)
        mass, center, inertia = composite(scene)
        pin.ccrba(model, data, q, np.zeros(model.nv))
        own = data.Ig
        assert mass == pytest.approx(own.mass, rel=1e-9)
        np.testing.assert_allclose(center, data.com[0], rtol=0, atol=1e-9)
        about = inertia - mass * (center @ center * np.eye(3) - np.outer(center, center))
        np.testing.assert_allclose(about, own.inertia, rtol=0, atol=1e-9 * np.abs(own.inertia).max())


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_mass_matrix_and_weight_are_those_of_pinocchio(path: Path) -> None:
    oracle, rng = Oracle(path), np.random.default_rng(2)
    scene, tree = rb.Scene.from_file(path, loops=False), rb.kinematics.Tree.from_file(path, loops=False)
    rates = spread(tree, oracle.joints)
    for _ in range(5):
        values = drawn(scene, rng, oracle.joints)
        q = oracle.q(values)
        # A pinion between two slides is no link of the tree, and has mass of its carrier.
        bodies = of_file(scene) if scene.robot.pinions else of_scene(scene)
        coordinates = np.array([values[name] for name in tree.coordinates])
        own, weight = mass_matrix(of_file(scene), tree, coordinates, scene.gravity)
        lent, borne = mass_matrix(bodies, tree, coordinates, scene.gravity)
        full = oracle.pin.crba(oracle.model, oracle.data, q)
        expected = np.triu(full) + np.triu(full, 1).T
        columns = oracle.columns()
        expected = rates.T @ expected[np.ix_(columns, columns)] @ rates
        slack = 1e-9 * np.abs(expected).max()
        np.testing.assert_allclose(own, expected, rtol=0, atol=slack)
        # Links without mass borrow a moment, which spins with them; everything else is exact.
        np.testing.assert_allclose(lent, expected, rtol=0, atol=slack + 2.0 * borrowed(scene))
        expected = rates.T @ oracle.pin.computeGeneralizedGravity(oracle.model, oracle.data, q)[columns]
        slack = 1e-9 * max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(weight, expected, rtol=0, atol=slack)
        np.testing.assert_allclose(borne, expected, rtol=0, atol=slack)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_reduced_coordinates_of_the_scene_are_those_of_pinocchio(path: Path) -> None:
    oracle, rng = Oracle(path), np.random.default_rng(3)
    scene = rb.Scene.from_file(path, loops=False)
    if scene.robot.couplings:
        pytest.skip("Pinocchio does not let joints follow others")
    robot = rb.dynamics.Articulation(scene)
    told = {name: joint for joint, name in scene.robot.joint_names.items()}
    columns = [oracle.model.idx_vs[oracle.model.getJointId(told[name])] for name in robot.rates]
    assert len(columns) == oracle.model.nv
    values = drawn(scene, rng, oracle.joints)
    q, own = oracle.q(values), np.array([values[told[name]] for name in robot.coordinates])
    full = oracle.pin.crba(oracle.model, oracle.data, q)
    expected = (np.triu(full) + np.triu(full, 1).T)[np.ix_(columns, columns)]
    slack = 1e-9 * np.abs(expected).max() + 2.0 * borrowed(scene)
    np.testing.assert_allclose(robot.mass_matrix(own), expected, rtol=0, atol=slack)
    expected = oracle.pin.computeGeneralizedGravity(oracle.model, oracle.data, q)[columns]
    np.testing.assert_allclose(
        robot.gravity_torque(own), expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max())
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_file_says_what_became_of_it(path: Path) -> None:
    report = rb.Scene.from_file(path).import_report
    missing = [entry for entry in report.dropped if "is missing" in entry.note]
    assert bool(missing) == path.stem.endswith("_nomesh")
    assert len(report.entries) > 80


@needs_data
@pytest.mark.parametrize("name", ["5bar_linkage", "robot_delta", "cassie_like"])
def test_parallel_robots_close_and_swing(name: str) -> None:
    scene = rb.Scene.from_file(DATA / "loops_urdf" / name / "robot.urdf")
    found = scene.assemble()
    assert max(found.position_error, found.orientation_error) <= 1e-9
    sim = rb.Simulation(scene, time_step=0.002)
    with warnings.catch_warnings():
        # The delta robot has links of 1e-11 kg m², whose velocities miss their tolerance near a singular pose.
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        for _ in range(5):
            sim.run(0.1)
            assert sim.report.position_error < 1e-6


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize(("name", "step", "rows"), [("5bar_linkage", 1e-3, {3}), ("cassie_like", 1e-3, {0})])
def test_parallel_robots_swing_for_ten_seconds_within_tolerance(name: str, step: float, rows: set[int]) -> None:
    sim = rb.Simulation(rb.Scene.from_file(DATA / "loops_urdf" / name / "robot.urdf"), time_step=step)
    redundant = set()
    for _ in range(100):
        sim.run(0.1)
        assert sim.report.converged
        assert sim.report.position_error < 1e-6
        redundant.add(sim.report.redundant_rows)
    assert redundant == rows


@needs_data
@pytest.mark.slow
def test_the_delta_robot_swings_for_ten_seconds() -> None:
    """It is plane, so that 9 of 88 rows are redundant, and passes poses where a tenth is; its parts weigh 10 mg."""
    sim = rb.Simulation(rb.Scene.from_file(DATA / "loops_urdf" / "robot_delta" / "robot.urdf"), time_step=2e-4)
    before, redundant = sim.energy().total, set()
    with warnings.catch_warnings():
        # Velocities miss their tolerance of 1e-6 m/s by a little in some of 50,000 steps, near those poses.
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        for _ in range(100):
            sim.run(0.1)
            assert sim.report.position_error < 1e-7
            assert sim.report.velocity_error < 1e-5
            redundant.add(sim.report.redundant_rows)
    assert redundant <= {9, 10}
    assert sim.energy().total == pytest.approx(before, abs=2e-5)
