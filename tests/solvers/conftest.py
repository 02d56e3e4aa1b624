"""Random mechanisms, and their matrices made densely with NumPy; the methods that resolve contacts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.core.stages import Program
from rattleback.joints import MENU
from rattleback.problem.joint_rows import evaluate_rows
from rattleback.problem.stiffness import weigh
from rattleback.solvers import contacts
from rattleback.solvers.contacts.problem import contact_problem

DISTANCES = ("distance", "distance_to_line", "distance_to_plane")
CROSSED = ("double_rotation", "universal")
COUPLED = ("gear", "rack")


def random_joint(rng: np.random.Generator, name: str, a: str, b: str) -> Any:
    at, axis = rng.uniform(-1.0, 1.0, 3), rng.standard_normal(3)
    given: dict[str, Any] = {"at": at, "axis": axis}
    if name in DISTANCES:
        given["at_b"] = at + rng.uniform(0.2, 1.0, 3)
    if name in CROSSED:
        given["axis_b"] = np.cross(axis, rng.standard_normal(3))
    across = np.cross(axis, rng.standard_normal(3)) if name in COUPLED else axis
    needed: dict[str, dict[str, Any]] = {
        "screw": {"pitch": 0.3},
        "gear": {"at_b": at + across, "ratio": 2.0},
        "rack": {"axis_b": across, "radius": 0.3},
        "velocity_joint": {"linear": (None, 0.1, None), "angular": (0.2, None, None)},
    }
    given |= needed.get(name, {})
    return MENU[name](a, b, **given)


class Dense:
    """The joints of a scene as dense matrices, beside the solver that is to be tested.

    J is assembled from the rows of every joint at the start, M⁻¹ from the scene's own masses and inertias.
    """

    def __init__(self, scene: rb.Scene, joints: Any = "direct", worlds: int | None = None) -> None:
        self.sim = rb.Simulation(scene, joints=joints, worlds=worlds)
        self.problem, self.solver = self.sim._step.preview.problem, self.sim._step.preview.solver
        self._evaluate()
        self.J = self._jacobian()
        self.inverse_mass = np.kron(np.eye(self.sim.model.worlds), self._inverse_mass(scene))
        self.A = self.J @ self.inverse_mass @ self.J.T
        moving = np.tile(np.repeat([not body.static for body in scene.bodies], 6), self.sim.model.worlds)
        self.rank = int(np.linalg.matrix_rank(self.J[:, moving], tol=1e-9))

    def _evaluate(self) -> None:
        problem, preview, model, state = self.problem, self.sim._step.preview, self.sim.model, self.sim.state
        inputs = [model.bodies, state.motion, preview.inertias, preview.everywhere]
        wp.launch(weigh, model.count, inputs=inputs, device="cpu")
        inputs = [problem.joints, problem.definitions, state.motion, state.joints, preview.inertias, problem.rows]
        wp.launch(
            evaluate_rows, problem.joint_count, inputs=[*inputs, preview.levers, preview.everywhere], device="cpu"
        )

    def _jacobian(self) -> np.ndarray:
        rows, joints = self.problem.rows, self.problem.joints
        found = np.zeros((self.problem.row_count, 6 * self.sim.model.count))
        for side, sign in (("a", -1.0), ("b", 1.0)):
            body, first, count = (getattr(joints, name).numpy() for name in (f"body_{side}", "first", "count"))
            linear, angular = sign * rows.linear.numpy(), getattr(rows, f"angular_{side}").numpy()
            for i, r, n in zip(body, first, count, strict=True):
                if i >= 0:
                    found[r : r + n, 6 * i : 6 * i + 3] += linear[r : r + n]
                    found[r : r + n, 6 * i + 3 : 6 * i + 6] += angular[r : r + n]
        return found

    @staticmethod
    def _inverse_mass(scene: rb.Scene) -> np.ndarray:
        found = np.zeros((6 * len(scene), 6 * len(scene)))
        for i, body in enumerate(scene.bodies):
            if not body.static:
                turn = Rotation.from_quat(body.orientation.copy()).as_matrix()
                found[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) / body.mass
                found[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = turn @ np.linalg.inv(body.inertia) @ turn.T
        return found

    def impulses(self, wanted: np.ndarray) -> np.ndarray:
        """What the solver finds."""
        self.problem.rows.wanted.assign(wanted)
        self.run(self.sim._step.preview.everywhere)
        return np.array(self.problem.rows.impulse.numpy())

    def run(self, which: Any) -> None:
        """Prepare the solver in the worlds where ``which`` is 1, and solve."""
        program = Program(self.sim.device, wp.zeros(1, dtype=wp.int32, device="cpu"))
        with program.stage("all"):
            self.solver.record_preparation(program, which)
            self.solver.record_solution(program)
        program.compile()
        program.run(1)


def random_mechanism(seed: int, bodies: int, loops: int = 0, roots: int = 1, names: Any = tuple(MENU)) -> rb.Scene:
    """A forest of bodies hung from the world, a static body or nothing, with some joints more that close loops."""
    rng = np.random.default_rng(seed)
    scene = rb.Scene()
    scene.add_static(rb.Box(1, 1, 1), name="ground")
    for k in range(bodies):
        scene.add_body(
            rb.Box(*rng.uniform(0.2, 1.0, 3)),
            mass=10.0 ** rng.uniform(-1.0, 1.0),
            position=rng.uniform(-1.0, 1.0, 3),
            orientation=Rotation.random(rng=rng).as_quat(),
            name=f"body_{k}",
        )
    for k in range(bodies):
        held = ["world", "ground", None][rng.integers(3)] if k < roots else f"body_{rng.integers(k)}"
        if held is not None:
            scene.add_joint(random_joint(rng, str(rng.choice(names)), held, f"body_{k}"))
    for _ in range(loops):
        a, b = rng.choice(bodies, 2, replace=False)
        scene.add_joint(random_joint(rng, str(rng.choice(names)), f"body_{a}", f"body_{b}"))
    return scene


@pytest.fixture
def dense() -> type[Dense]:
    return Dense


@pytest.fixture
def mechanism() -> Any:
    return random_mechanism


@pytest.fixture
def give_colours(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A call after which simulations on the CPU solve contacts colour by colour, as they do on CUDA."""
    return lambda: monkeypatch.setattr(contact_problem, "is_parallel", lambda device: True)


@pytest.fixture(params=["impulse", "time_stepping"])
def contact_method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A method that resolves contacts, which simulations have that ask for none."""
    monkeypatch.setattr(contacts, "DEFAULT", request.param)
    return contacts.MENU[request.param]
