"""Soft joints: their forces, all Jacobians against differences, their energy, and that they end up as hard ones."""

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.precision import real
from rattleback.problem.soft.forces import MOTIONS, THREADS, SoftForces, find_forces

H = 2e-5
WAYS = {
    "ball": lambda a, b, **soft: rb.Ball(a, b, at=(0.1, 0.2, 0.3), **soft),
    "prismatic": lambda a, b, **soft: rb.Prismatic(a, b, at=(0, 0.1, 0), axis=(1, 1, 0), **soft),
    "universal": lambda a, b, **soft: rb.Universal(a, b, at=(0.1, 0, 0), axis=(1, 0, 0), axis_b=(0, 1, 0), **soft),
    "revolute": lambda a, b, **soft: rb.Revolute(a, b, at=(0.3, 0, 0.1), axis=(0, 1, 1), **soft),
    "distance": lambda a, b, **soft: rb.Distance(a, b, at=(0.1, 0, 0), at_b=(0.8, 0.3, 0.2), **soft),
    "distance_to_line": lambda a, b, **soft: rb.DistanceToLine(a, b, at=(0, 0, 0), at_b=(0.8, 0.3, 0.2), **soft),
    "screw": lambda a, b, **soft: rb.Screw(a, b, at=(0.1, 0, 0), axis=(0, 1, 0), pitch=0.3, **soft),
    "gear": lambda a, b, **soft: rb.Gear(a, b, at=(0, 0, 0), at_b=(1, 0.1, 0), axis=(0, 0, 1), ratio=2.0, **soft),
    "rack": lambda a, b, **soft: rb.Rack(
        a, b, at=(0, 0, 0), axis=(0, 0, 1), axis_b=(1, 0, 0), at_b=(0.1, -0.3, 0), **soft
    ),
}


def two_bodies(kind: str, c: float = 0.0) -> rb.Simulation:
    """Two bodies that move, with a soft joint that has been pulled apart."""
    scene = rb.Scene(gravity=(0, 0, 0))
    bodies = [
        scene.add_body(rb.Box(0.5, 0.3, 0.2), mass=1.0 + k, position=(k, 0.1 * k, 0.0), name=name)
        for k, name in enumerate("ab")
    ]
    damping = {"row_damping" if kind in ("revolute", "prismatic") else "damping": c} if c else {}
    scene.add_joint(WAYS[kind](*bodies, stiffness=70.0, **damping), "soft")
    sim = rb.Simulation(scene, contacts="none")
    rng = np.random.default_rng(5)
    for name in "ab":
        sim[name].position = sim[name].position + rng.uniform(-0.2, 0.2, 3)
        sim[name].orientation = Rotation.from_rotvec(rng.uniform(-0.4, 0.4, 3)).as_quat()
        sim[name].velocity, sim[name].angular_velocity = rng.uniform(-1, 1, (2, 3))
    return sim


def wrenches(sim: rb.Simulation) -> np.ndarray:
    """The forces of what is soft, from its energy: −∂E/∂x and −∂E/∂θ of both bodies, by four points each."""
    found = []
    for name in "ab":
        x, q = sim[name].position.copy(), Rotation.from_quat(sim[name].orientation)
        for kind, k in ((kind, k) for kind in "xq" for k in range(3)):
            energy = {}
            for step in (-2, -1, 1, 2):
                move = np.eye(3)[k] * step * 50 * H
                if kind == "x":
                    sim[name].position = x + move
                else:
                    sim[name].orientation = (Rotation.from_rotvec(move) * q).as_quat()
                energy[step] = sim.energy().potential
            sim[name].position, sim[name].orientation = x, q.as_quat()
            found.append(-(8 * (energy[1] - energy[-1]) - (energy[2] - energy[-2])) / (600 * H))
    return np.array(found)


def forces_of(sim: rb.Simulation) -> np.ndarray:
    """The same as the engine has them, read from its kernel."""
    elastic = sim._views.elastic()
    forces = arrays.allocate(SoftForces, {"joints": 1, "slopes": 2 * MOTIONS}, sim.model.device)
    sim.state.send()
    held = wp.zeros(6, dtype=real, device=sim.model.device)
    elastic._launch(find_forces, THREADS, forces, held, 1)
    return np.concatenate([forces.on_a.numpy()[0], forces.on_b.numpy()[0]])


def differences(sim: rb.Simulation, of_rates: bool) -> np.ndarray:
    """The derivatives of the forces by poses, turns on the left, or by velocities, by four points each."""
    columns = []
    for name in "ab":
        was = {part: getattr(sim[name], part).copy() for part in ("position", "orientation", "velocity")}
        was["angular_velocity"] = sim[name].angular_velocity.copy()
        for part, k in ((part, k) for part in range(2) for k in range(3)):
            at = {}
            for step in (-2, -1, 1, 2):
                move = np.eye(3)[k] * step * H * 10
                if of_rates:
                    what = ("velocity", "angular_velocity")[part]
                    setattr(sim[name], what, was[what] + move)
                elif part == 0:
                    sim[name].position = was["position"] + move
                else:
                    turned = Rotation.from_rotvec(move) * Rotation.from_quat(was["orientation"])
                    sim[name].orientation = turned.as_quat()
                at[step] = forces_of(sim)
            for what, value in was.items():
                setattr(sim[name], what, value)
            columns.append((8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (120 * H))
    return np.array(columns).T


@pytest.mark.parametrize("kind", WAYS)
def test_forces_are_the_gradient_of_the_energy(kind: str) -> None:
    sim = two_bodies(kind)
    expected = wrenches(sim)
    np.testing.assert_allclose(forces_of(sim), expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("c", [0.0, 13.0])
@pytest.mark.parametrize("kind", WAYS)
def test_all_blocks_of_the_force_jacobian_are_differences_of_the_forces(kind: str, c: float) -> None:
    """Same-body and cross blocks, by poses and by velocities, to 1e-7 of the largest."""
    sim = two_bodies(kind, c)
    found = sim.force_jacobian()
    for blocks, of_rates in ((found.by_pose, False), (found.by_velocity, True)):
        expected = differences(sim, of_rates)
        dense = blocks.swapaxes(1, 2).reshape(12, 12)
        np.testing.assert_allclose(dense, expected, atol=1e-7 * max(1.0, np.abs(expected).max()))
    np.testing.assert_array_equal(found.dense(), found.by_pose.swapaxes(1, 2).reshape(12, 12))
    np.testing.assert_array_equal(found["a", "b"], found.by_pose[0, 1])


def test_a_soft_ball_has_the_jacobian_of_its_closed_form() -> None:
    """−k GᵀG with G = [1, −r_aˣ, −1, r_bˣ], and −k Cˣ r_aˣ and k Cˣ r_bˣ more in the turns of each body.

    Without second derivatives rows along axes that turn with A have the anchor of B in the place of that of A.
    """
    sim, k = two_bodies("ball"), 70.0
    turns = [Rotation.from_quat(sim[name].orientation) for name in "ab"]
    r = [
        turn.apply(np.array((0.1, 0.2, 0.3)) - start)
        for turn, start in zip(turns, ((0, 0, 0), (1, 0.1, 0)), strict=True)
    ]

    def cross(v: np.ndarray) -> np.ndarray:
        return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])

    c = sim["a"].position + r[0] - sim["b"].position - r[1]
    g = np.hstack([np.eye(3), -cross(r[0] - c), -np.eye(3), cross(r[1])])
    np.testing.assert_allclose(sim.force_jacobian(exact=False).dense(), -k * g.T @ g, atol=1e-12)
    g[:, 3:6] = -cross(r[0])
    expected = -k * g.T @ g
    expected[3:6, 3:6] -= k * cross(c) @ cross(r[0])
    expected[9:12, 9:12] += k * cross(c) @ cross(r[1])
    np.testing.assert_allclose(sim.force_jacobian().dense(), expected, atol=1e-12)
    assert sim.energy().potential == pytest.approx(0.5 * k * c @ c, rel=1e-13)


def pendulum(joint: dict, h: float, joints: str) -> rb.Simulation:
    """A box that hangs from a ball joint, let go sideways."""
    scene = rb.Scene()
    box = scene.add_body(rb.Box(0.2, 0.3, 0.4), mass=2.0, position=(0.5, 0, 0), name="box")
    scene.add_joint(rb.Ball(scene.world, box, at=(0, 0, 0), **joint))
    return rb.Simulation(scene, time_step=h, contacts="none", joints=joints, strict=True)


@pytest.mark.parametrize("joints", ["direct", "iterative", "reduced"])
def test_a_stiff_ball_ends_up_as_a_hard_one(joints: str) -> None:
    """10¹⁰ N/m at a step of 0.01 s: stable, and within 1e-6 m of the hard joint for two seconds."""
    hard, soft = (pendulum(joint, 0.01, "direct" if not joint else joints) for joint in ({}, {"stiffness": 1e10}))
    for _ in range(20):
        hard.step(10)
        soft.step(10)
        np.testing.assert_allclose(soft["box"].position, hard["box"].position, atol=1e-6)


@pytest.mark.parametrize("k", [1e1, 1e4, 1e7, 1e12])
def test_soft_joints_lose_energy_at_any_stiffness_and_no_step_is_unstable(k: float) -> None:
    """Up to what the position tolerance is worth in elastic energy."""
    sim = pendulum({"stiffness": k}, 0.02, "direct")
    start, off = sim.energy().total, 0.0
    for _ in range(30):
        sim.step(5)
        off = max(off, sim.report.position_error)
        assert sim.energy().total <= start + 1e-9 + k * off * off


def test_a_soft_joint_swings_as_its_closed_form_when_steps_are_short() -> None:
    """A mass on three springs without gravity: x = x₀ cos ωt, ω² = k/m; first order: half the step, half the error."""
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        scene = rb.Scene(gravity=(0, 0, 0))
        ball = scene.add_body(rb.Sphere(0.1), mass=2.0, name="ball")
        scene.add_joint(rb.Ball(scene.world, ball, at=(0, 0, 0), stiffness=50.0))
        sim = rb.Simulation(scene, time_step=h, contacts="none")
        sim["ball"].position = (0.1, 0, 0)
        sim.run(1.0)
        errors.append(abs(sim["ball"].position[0] - 0.1 * np.cos(5.0)))
    assert errors[2] < 1e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.15)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(1.0, abs=0.15)


def test_single_rows_are_soft_and_the_others_hold() -> None:
    scene = rb.Scene()
    box = scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=3.0, name="box")
    scene.add_joint(rb.Fixed(scene.world, box, at=(0, 0, 0), stiffness={"slide_z": 400.0}, damping={"slide_z": 60.0}))
    sim = rb.Simulation(scene, contacts="none", strict=True)
    sim.run(3.0)
    np.testing.assert_allclose(sim["box"].position, (0, 0, -3.0 * 9.81 / 400.0), atol=1e-6)
    np.testing.assert_allclose(sim["box"].orientation, (0, 0, 0, 1), atol=1e-6)
    assert sim.energy().potential == pytest.approx(0.5 * 400.0 * 0.073575**2 - 3.0 * 9.81 * 0.073575, rel=1e-6)


@pytest.mark.contacts
def test_soft_joints_hold_beside_hard_ones_and_contacts() -> None:
    """A hard arm whose hand hangs on a stiff spring stands on the ground with it."""
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 1), name="arm")
    hand = scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=2.0, position=(1.0, 0, 0.8), name="hand")
    scene.add_joint(rb.Revolute(scene.world, arm, at=(0, 0, 1), axis=(0, 1, 0)))
    scene.add_joint(rb.Ball(arm, hand, at=(1, 0, 0.9), stiffness=1e9, damping=10.0), "soft")
    sim = rb.Simulation(scene)
    sim.run(4.0)
    tip = sim["arm"].position + Rotation.from_quat(sim["arm"].orientation).apply((0.5, 0, -0.1))
    bolt = sim["hand"].position + Rotation.from_quat(sim["hand"].orientation).apply((0, 0, 0.1))
    np.testing.assert_allclose(tip, bolt, atol=1e-6)
    assert np.abs(sim["hand"].velocity).max() < 1e-2
    assert sim["hand"].position[2] > 0.09


def make(soft: dict) -> rb.Simulation:
    """A box on a ball joint that is soft."""
    scene = rb.Scene()
    box = scene.add_body(rb.Box(0.2, 0.2, 0.2), name="box")
    scene.add_joint(rb.Ball(scene.world, box, **soft))
    return rb.Simulation(scene)


@pytest.mark.parametrize(
    ("soft", "message"),
    [
        ({"stiffness": -1.0}, "The stiffness of Ball"),
        ({"stiffness": {"turn_z": 5.0}}, "has no row 'turn_z' to be soft; it has 'slide_x', 'slide_y', 'slide_z'"),
        ({"stiffness": {}}, "The stiffness of Ball names no row"),
        ({"stiffness": 0.0}, "is soft with neither stiffness nor damping and would do nothing"),
    ],
)
def test_what_cannot_be_soft_is_refused_with_a_sentence(soft: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(soft)


@pytest.mark.parametrize("joints", ["multipliers", "baraff", "penalty"])
def test_methods_by_forces_refuse_soft_joints(joints: str) -> None:
    with pytest.raises(InputError, match="is soft, which joints="):
        pendulum({"stiffness": 100.0}, 0.01, joints)


def test_soft_joints_stay_the_same_through_a_scene_file(tmp_path) -> None:
    scene = rb.Scene()
    box = scene.add_body(rb.Box(0.2, 0.2, 0.2), name="box")
    given = {"stiffness": {"slide": 1e4, "turn_x": 20.0}, "row_damping": {"slide_z": 3.0}, "damping": 0.5}
    scene.add_joint(rb.Revolute(scene.world, box, at=(0, 0, 0), **given), "hinge")
    scene.add_joint(rb.Ball(scene.world, box, at=(0.1, 0, 0), stiffness=7.0, damping=1.0), "ball")
    scene.save(tmp_path / "soft.rb.json")
    again = rb.Scene.load(tmp_path / "soft.rb.json")
    assert again.joints == scene.joints


def test_articulated_bodies_and_rates_have_no_soft_joints() -> None:
    scene = rb.Scene()
    box = scene.add_body(rb.Box(0.2, 0.2, 0.2), name="box")
    scene.add_joint(rb.Ball(scene.world, box, stiffness=5.0), "ball")
    with pytest.raises(InputError, match="Joint 'ball' is soft, a force between bodies"):
        rb.dynamics.Articulation(scene)
    scene.replace_joint("ball", rb.VelocityJoint(scene.world, box, linear=(1, 0, 0), stiffness=5.0))
    with pytest.raises(InputError, match="keeps velocities and has no place to pull back to"):
        rb.Simulation(scene)


def test_steps_of_high_order_refuse_what_yields() -> None:
    scene = rb.Scene()
    box = scene.add_body(rb.Box(0.2, 0.2, 0.2), name="box")
    scene.add_joint(rb.Revolute(scene.world, box, stiffness=5.0), "hinge")
    with pytest.raises(InputError, match="Joint 'hinge' is soft, and step='extrapolated' holds all rows of a joint"):
        rb.Simulation(scene, step="extrapolated")
    scene.change_joint("hinge", stiffness=None)
    scene.add_force(rb.ImplicitSpring("hinge", stiffness=5.0), "spring")
    with pytest.raises(InputError, match="Force 'spring' is inside the constraint solve, where step='extrapolated'"):
        rb.Simulation(scene, step="extrapolated")
