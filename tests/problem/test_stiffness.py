"""The stiffness of loaded joints: K against differences of the torque, the limit of the step, and what lies beyond."""

from typing import Any

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.core.precision import mat33
from rattleback.model.state import Motion
from rattleback.problem.corrections import Links, Reactions
from rattleback.problem.joint_rows import Joints
from rattleback.problem.stiffness import find_stiff, resisting, stiffness_of, weigh
from rattleback.scenes import chain


@wp.kernel(enable_backward=False)
def find_stiffness(
    joints: Joints, links: Links, reactions: Reactions, motion: Motion, found: wp.array[mat33], part: wp.array[mat33]
) -> None:
    i = wp.tid()
    found[i] = stiffness_of(joints, links, reactions, motion, i)
    part[i] = resisting(found[i])


class Loaded:
    """Bodies in a random tree of ball joints, each of which has given a random impulse."""

    def __init__(self, seed: int, bodies: int = 6, scale: float = 1.0) -> None:
        rng, scene = np.random.default_rng(seed), rb.Scene()
        for k in range(bodies):
            scene.add_body(
                rb.Box(*rng.uniform(0.2, 1.0, 3)),
                mass=10.0 ** rng.uniform(-1.0, 1.0),
                position=rng.uniform(-1.0, 1.0, 3),
                orientation=Rotation.random(rng=rng).as_quat(),
                name=f"body_{k}",
            )
            held = "world" if k == 0 else f"body_{rng.integers(k)}"
            ends = (held, f"body_{k}") if rng.random() < 0.5 else (f"body_{k}", held)
            scene.add_joint(rb.Ball(*ends, at=rng.uniform(-1.0, 1.0, 3)))
        self.scene, self.sim = scene, rb.Simulation(scene)
        self.impulses = scale * rng.standard_normal((bodies, 3))
        self.sim._step.preview.reactions.impulse.assign(self.impulses)

    def levers(self, body: str) -> list[tuple[np.ndarray, np.ndarray]]:
        """Lever and impulse of every joint of a body."""
        found = []
        for joint, p in zip(self.scene.joints.values(), self.impulses, strict=True):
            if body in (joint.a, joint.b):
                found.append((joint.points()[1] - self.scene[body].position, p if joint.b == body else -p))
        return found

    def found(self) -> tuple[np.ndarray, np.ndarray]:
        """K and K⁺ of every body."""
        preview, count = self.sim._step.preview, self.sim.model.count
        made = [wp.zeros(count, dtype=mat33, device="cpu") for _ in range(2)]
        inputs = [preview.problem.joints, preview.links, preview.reactions, self.sim.state.motion, *made]
        wp.launch(find_stiffness, count, inputs=inputs, device="cpu")
        return np.array(made[0].numpy()), np.array(made[1].numpy())


def measured_stiffness(levers: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """−∂τ/∂θ by central differences: τ the torque as it lies in the body, which turns by θ under fixed impulses."""

    def torque(turn: np.ndarray) -> np.ndarray:
        turned = Rotation.from_rotvec(turn)
        return turned.inv().apply(sum(np.cross(turned.apply(lever), p) for lever, p in levers))

    step = 1e-5
    return -np.stack([(torque(step * e) - torque(-step * e)) / (2.0 * step) for e in np.eye(3)], axis=1)


def positive_part(k: np.ndarray) -> np.ndarray:
    """Σ max(0, q · K q) q qᵀ over the left singular vectors q of K."""
    axes = np.linalg.svd(k)[0]
    return sum(max(0.0, q @ k @ q) * np.outer(q, q) for q in axes.T)


@pytest.mark.parametrize("seed", range(20))
def test_the_stiffness_is_how_the_torque_in_the_body_falls_as_it_turns(seed: int) -> None:
    case = Loaded(seed)
    for k, (found, part) in enumerate(zip(*case.found(), strict=True)):
        expected = measured_stiffness(case.levers(f"body_{k}"))
        np.testing.assert_allclose(found, expected, atol=1e-8 * max(1.0, np.abs(expected).max()))
        np.testing.assert_allclose(part, positive_part(found), atol=1e-12 * max(1.0, np.abs(found).max()))


@pytest.mark.parametrize("seed", range(10))
def test_the_stiffness_is_symmetric_and_never_pushes(seed: int) -> None:
    for found in Loaded(seed).found()[1]:
        np.testing.assert_allclose(found, found.T, atol=1e-14 * np.abs(found).max(initial=0.0))
        assert np.linalg.eigvalsh(found).min() >= -1e-14 * np.abs(found).max()


@pytest.mark.parametrize("seed", range(10))
def test_a_body_held_by_one_joint_is_not_stiff_about_its_lever(seed: int) -> None:
    case = Loaded(seed, bodies=1)
    (lever, p), found = case.levers("body_0")[0], case.found()[1][0]
    np.testing.assert_allclose(found @ lever, 0.0, atol=1e-12 * max(1.0, np.abs(found).max()))
    assert (np.trace(found) > 1e-12) == (lever @ p > 0.0)


def test_a_pull_along_a_rod_is_stiff_across_it_and_a_push_is_not() -> None:
    case = Loaded(3, bodies=1)
    lever, _ = case.levers("body_0")[0]
    is_b = next(iter(case.scene.joints.values())).b == "body_0"
    for sign in (1.0, -1.0):
        case.sim._step.preview.reactions.impulse.assign((sign if is_b else -sign) * 5.0 * lever[None])
        across = np.eye(3) - np.outer(lever, lever) / (lever @ lever)
        expected = max(sign, 0.0) * 5.0 * (lever @ lever) * across
        np.testing.assert_allclose(case.found()[1][0], expected, atol=1e-12)


@pytest.mark.parametrize("power", range(-4, 5))
@pytest.mark.parametrize("seed", range(4))
def test_a_body_below_the_limit_has_no_weight_and_one_beyond_it_enough(seed: int, power: int) -> None:
    """Z by the eigenvalues of I⁻¹ K⁺, w = 1 − 3.5 / z."""
    case, h = Loaded(seed, scale=10.0**power), 0.01
    preview, model = case.sim._step.preview, case.sim.model
    preview.status.suspect.fill_(1)
    preview.status.going.fill_(1)
    preview.status.time_step.fill_(h)
    weighed = [model.bodies, case.sim.state.motion, preview.inertias, preview.everywhere]
    wp.launch(weigh, model.count, inputs=weighed, device="cpu")
    inputs = [preview.problem.joints, preview.links, case.sim.state.motion, preview.reactions, preview.inertias]
    preview.inertias.lasting.fill_(1.0)
    wp.launch(find_stiff, model.count, inputs=[model.bodies, *inputs, preview.status, preview.limits], device="cpu")
    weights = preview.inertias.weight.numpy()
    for k, weight in enumerate(weights):
        body = case.scene[f"body_{k}"]
        turn = Rotation.from_quat(body.orientation.copy()).as_matrix()
        inertia = turn @ body.inertia @ turn.T
        stiffness = positive_part(measured_stiffness(case.levers(f"body_{k}")))
        z = 2.0 * h * np.linalg.eigvals(np.linalg.solve(inertia, stiffness)).real.max()
        assert weight == pytest.approx(max(0.0, 1.0 - 3.5 / max(z, 3.5)), abs=1e-9)
    assert bool(preview.status.stiff.numpy()[0]) == bool((weights > 0.0).any())


MASS, LEVER, INERTIA, STEP = 1.0, 0.1, 0.1, 0.01
ABOUT_PIN = INERTIA + MASS * LEVER**2


def amplification(z: float, levers_of_the_start: bool = False) -> np.ndarray:
    """What a step makes of (θ, h ω) of a small swing, for z = h² T l / I.

    With J = I + m l² about the pin and a = h² T l / 2 J, half of the pull T acts before and half after the step:

        φ' = φ − a ((1 − w) θ + w θ⁺),   θ⁺ = θ + φ',   φ⁺ (1 + r a) = φ' − a ((1 − b) θ⁺ + b θ),   b = 0.6 w (1 − r)
    """
    a = 0.5 * z * INERTIA / ABOUT_PIN
    w, r = (0.0 if levers_of_the_start else max(0.0, 1.0 - limit / z) for limit in (3.5, 12.0))
    turn = np.array([-a, 1.0]) / (1.0 + a * w)
    angle = np.array([1.0, 0.0]) + turn
    b = 0.6 * w * (1.0 - r)
    kick = a * ((1.0 - b) * angle + b * np.array([1.0, 0.0]))
    return np.stack([angle, (turn - kick) / (1.0 + r * a)])


def swing(z: float, steps: int, angle: float = 5e-4) -> np.ndarray:
    """Angles and turns a step of one link on a pin, shape (2, steps + 1); it swings about the axis it turns easiest."""
    scene = rb.Scene(gravity=(0, 0, -z * INERTIA / (STEP**2 * MASS * LEVER)))
    scene.add_body(
        mass=MASS,
        inertia=np.diag([1e4, INERTIA, 1e4]),
        position=(LEVER * np.sin(angle), 0, -LEVER * np.cos(angle)),
        orientation=Rotation.from_rotvec([0, -angle, 0]).as_quat(),
        name="link",
    )
    scene.add_joint(rb.Ball("world", "link", at=(0, 0, 0)))
    sim = rb.Simulation(scene, time_step=STEP, position_tolerance=1e-13, velocity_tolerance=1e-12)
    found = []
    for _ in range(steps + 1):
        turn = Rotation.from_quat(sim["link"].orientation.copy()).as_rotvec()
        found.append((-turn[1], -STEP * sim["link"].angular_velocity[1]))
        sim.step()
    return np.array(found).T


@pytest.mark.parametrize("z", [1.0, 3.5, 6.0, 20.0, 200.0])
def test_a_link_under_tension_swings_and_fades_as_its_amplification_matrix_says(z: float) -> None:
    """A swing of a milliradian is linear to a millionth."""
    found = swing(z, steps=8)
    matrix = amplification(z)
    expected = np.stack([np.linalg.matrix_power(matrix, k) @ found[:, 0] for k in range(found.shape[1])], axis=1)
    np.testing.assert_allclose(found, expected, atol=2e-6 * found[0, 0])
    first = np.linalg.solve(found[:, :2].T, found[:, 1:3].T).T
    np.testing.assert_allclose(first, matrix, atol=1e-5 * np.abs(matrix).max())
    assert np.linalg.norm(found[:, -1]) <= 1.5 * np.linalg.norm(found[:, 0])


def test_no_step_is_too_long_for_a_link_under_tension() -> None:
    """And with the levers of the start alone, every step beyond z = 4 (measured about the pin) is."""
    for z in np.geomspace(0.01, 1e8, 500):
        assert np.abs(np.linalg.eigvals(amplification(z))).max() <= 1.0 + 1e-12
        radius = np.abs(np.linalg.eigvals(amplification(z, levers_of_the_start=True))).max()
        assert (radius > 1.0 + 1e-9) == (z * INERTIA / ABOUT_PIN > 4.0)


def test_below_the_limit_a_swing_neither_grows_nor_fades() -> None:
    for z in (0.01, 0.3, 1.0, 2.9):
        np.testing.assert_allclose(np.abs(np.linalg.eigvals(amplification(z))), 1.0, atol=1e-12)
    found = swing(1.0, steps=400)
    assert np.abs(found[0, 300:]).max() == pytest.approx(np.abs(found[0, :100]).max(), rel=1e-3)


PULLS = (0.0, 50.0, 1e5)


def pulled(worlds: int | None, pulls: Any) -> Any:
    """Chains whose last bar is pulled sideways and down, world by world."""
    sim = rb.Simulation(chain(4), worlds=worlds)
    way, stiff = np.array([0.6, 0.0, -0.8]), np.zeros(sim.model.worlds, dtype=bool)
    for _ in range(20):
        force = np.zeros_like(sim.state.velocity)
        force[..., -1, :] = np.multiply.outer(pulls, way)
        sim.state.applied_force = force
        sim.step()
        assert sim.report.converged
        stiff |= sim._step.preview.status.stiff.numpy() == 1
    return sim, stiff


def test_a_stiff_world_changes_no_bit_of_the_worlds_beside_it() -> None:
    batch, stiff = pulled(3, PULLS)
    assert stiff.tolist() == [False, False, True]
    for world, pull in enumerate(PULLS):
        alone, _ = pulled(None, pull)
        for name in ("position", "orientation", "velocity", "angular_velocity"):
            np.testing.assert_array_equal(getattr(batch.state, name)[world], getattr(alone.state, name))
