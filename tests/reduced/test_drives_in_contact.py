"""Armature and friction of joints where impulses act: impacts, pushing, standing, limits, loops, batches, sleep."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rattleback as rb

pytestmark = pytest.mark.contacts


def door(armature: float, restitution: float, **settings: Any) -> rb.Simulation:
    """A bar of 2 kg m² on a hinge, which a ball hits at a metre from it; friction of surfaces is none."""
    scene, smooth = rb.Scene(gravity=(0, 0, 0)), rb.Material(friction=0.0, restitution=restitution)
    scene.add_body(rb.Box(2.4, 0.1, 0.5), mass=1.0, inertia=2.0 * np.eye(3), material=smooth, name="bar")
    scene.add_joint(rb.Revolute(scene.world, "bar", at=(0, 0, 0), axis=(0, 0, 1), armature=armature), name="hinge")
    scene.add_body(rb.Sphere(0.1), mass=0.5, position=(1, 0.3, 0), material=smooth, name="ball")
    sim = rb.Simulation(scene, time_step=1e-3, **{"joints": "reduced", **settings})
    sim["ball"].velocity = (0, -2.0, 0)
    return sim


def geared_door(rotor: float, ratio: float) -> rb.Simulation:
    """The same with its rotor as a body of its own, which turns so many times faster."""
    scene = door(0.0, 1.0).scene
    scene.add_body(mass=0.1, inertia=rotor * np.eye(3), position=(0.3, 0, 5.0), name="rotor")
    scene.add_joint(rb.Revolute(scene.world, "rotor", at=(0.3, 0, 5.0), axis=(0, 0, 1)))
    at = {"at": (0, 0, 5.0), "at_b": (0.3, 0, 5.0), "axis": (0, 0, 1), "axis_b": (0, 0, 1)}
    scene.add_joint(rb.Gear("bar", "rotor", ratio=1.0 / ratio, **at))
    sim = rb.Simulation(scene, time_step=1e-3, joints="direct", velocity_tolerance=1e-9)
    sim["ball"].velocity = (0, -2.0, 0)
    return sim


def beam(friction: float, armature: float = 0.0, **settings: Any) -> rb.Simulation:
    """A level beam of 1 kg and 1 m on a hinge, with 2 kg lying on it at 0.8 m: they turn it with 21 N m."""
    scene, rough = rb.Scene(gravity=(0, 0, -10.0)), rb.Material(friction=0.8)
    scene.add_body(rb.Box(1.0, 0.4, 0.1), mass=1.0, position=(0.5, 0, 0), name="beam", material=rough)
    given = {"friction": friction, "armature": armature}
    scene.add_joint(rb.Revolute(scene.world, "beam", at=(0, 0, 0), axis=(0, 1, 0), **given), name="hinge")
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=2.0, position=(0.8, 0, 0.15), name="load", material=rough)
    return rb.Simulation(scene, **{"time_step": 0.005, "joints": "reduced", **settings})


def pusher(friction: float, armature: float) -> rb.Simulation:
    """A cart of 1 kg on a rail that pushes a crate of 2 kg over ground with a coefficient of friction of 0.6."""
    scene, smooth = rb.Scene(), rb.Material(friction=0.0)
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.6))
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.15), material=smooth, name="cart")
    given = {"friction": friction, "armature": armature}
    scene.add_joint(rb.Prismatic(scene.world, "cart", at=(0, 0, 0.15), axis=(1, 0, 0), **given), name="rail")
    scene.add_body(rb.Box(0.3, 0.3, 0.3), mass=2.0, position=(0.25, 0, 0.15), material=smooth, name="crate")
    return rb.Simulation(scene, time_step=0.005, joints="reduced")


def four_bar(drives: dict[str, tuple[float, ...]], h: float) -> rb.Simulation:
    """Three bars between two hinges of the world, in the plane of x and z."""
    scene, at = rb.Scene(), np.array(CORNERS)
    for k in range(3):
        way = at[k + 1] - at[k]
        half, along = -0.5 * np.arctan2(way[2], way[0]), np.linalg.norm(way)
        turned = (0, np.sin(half), 0, np.cos(half))
        spun = (0.02, MASSES[k] * along**2 / 12, MASSES[k] * along**2 / 12)
        middle = 0.5 * (at[k] + at[k + 1])
        scene.add_body(mass=MASSES[k], inertia=spun, position=middle, orientation=turned, name=f"bar_{k}")
    names = ("world", "bar_0", "bar_1", "bar_2", "world")
    for k in range(4):
        own = {name: values[k] for name, values in drives.items()} if k < 3 else {}
        scene.add_joint(rb.Revolute(names[k], names[k + 1], at=at[k], axis=(0, 1, 0), **own), name=f"hinge_{k}")
    return rb.Simulation(scene, time_step=h, joints="reduced")


CORNERS = ((0.0, 0.0, 0.0), (0.2, 0.0, 1.0), (1.7, 0.0, 1.2), (1.5, 0.0, 0.0))
MASSES = (1.0, 1.5, 2.0)


def four_bar_rates(armature: tuple[float, ...]) -> Any:
    """d/dt (θ, ω) of the angles of the bars, by dense matrices: M + BᵀAB with the rows of the loop."""
    at = np.array(CORNERS)[:, ::2]
    long = np.linalg.norm(np.diff(at, axis=0), axis=1)
    relative = np.array([[1, 0, 0], [-1, 1, 0], [0, -1, 1]])

    def law(_t: float, y: np.ndarray) -> np.ndarray:
        theta, w = y[:3], y[3:]
        along = np.stack([np.cos(theta), -np.sin(theta)]) * long
        turned = np.stack([-np.sin(theta), -np.cos(theta)]) * long
        M = np.diag(np.array(MASSES) * long**2 / 12) + relative.T @ np.diag(armature) @ relative
        f = np.zeros(3)
        for k in range(3):
            part = np.array([1.0] * k + [0.5] + [0.0] * (2 - k))
            J = turned * part
            M = M + MASSES[k] * J.T @ J
            f += J.T @ (np.array([0, -9.81 * MASSES[k]]) + MASSES[k] * (along * part) @ w**2)
        saddle = np.block([[M, turned.T], [turned, np.zeros((2, 2))]])
        return np.concatenate([w, np.linalg.solve(saddle, np.concatenate([f, along @ w**2]))[:3]])

    return law


@pytest.mark.parametrize("armature", [0.0, 3.0, 50.0])
@pytest.mark.parametrize("restitution", [1.0, 0.0])
def test_a_ball_hits_a_bar_with_its_drive(armature: float, restitution: float) -> None:
    """One impact between 1/m and r²/(J + A), at 2 m/s."""
    sim = door(armature, restitution)
    sim.run(0.2)
    inertia = 2.0 + armature
    impulse = (1.0 + restitution) * 2.0 / (1.0 / 0.5 + 1.0 / inertia)
    # What is inelastic stays together afterwards, at a point that wanders.
    exact = {"abs": 1e-9 if restitution else 5e-3}
    assert sim["ball"].velocity[1] == pytest.approx(-2.0 + impulse / 0.5, **exact)
    assert sim["hinge"].velocity == pytest.approx(-impulse / inertia, **exact)
    assert sim.report.converged, sim.report.reason


def test_a_drive_gives_its_energy_to_what_its_bar_hits() -> None:
    sim = door(3.0, 1.0)
    sim["ball"].velocity, sim["bar"].angular_velocity = (0, 0, 0), (0, 0, 1.0)
    sim.step()
    before = sim.energy().kinetic
    assert before == pytest.approx(2.5, rel=1e-12)
    sim.run(0.5)
    assert sim["ball"].velocity[1] > 1.5
    assert sim.energy().kinetic == pytest.approx(before, rel=1e-12)
    assert sim.report.energy_gained <= 1e-9


def test_a_geared_rotor_that_is_a_body_hits_like_armature() -> None:
    """n² J of a rotor that turns n times faster."""
    ratio, rotor = 5.0, 0.08
    explicit, driven = geared_door(rotor, ratio), door(ratio**2 * rotor, 1.0)
    for sim in (explicit, driven):
        sim.run(0.2)
    assert driven["ball"].velocity[1] == pytest.approx(explicit["ball"].velocity[1], abs=1e-5)
    assert driven["hinge"].velocity == pytest.approx(explicit["hinge"].velocity, abs=1e-5)


@pytest.mark.parametrize(("friction", "armature"), [(4.0, 0.0), (4.0, 2.0), (0.0, 2.0)])
def test_a_cart_with_friction_on_its_rail_pushes_a_crate(friction: float, armature: float) -> None:
    sim = pusher(friction, armature)
    sim.joints.torque = [20.0]
    sim.run(0.5)
    before = sim["crate"].velocity[0]
    sim.run(0.5)
    expected = (20.0 - friction - 0.6 * 2.0 * 9.81) / (3.0 + armature)
    assert (sim["crate"].velocity[0] - before) / 0.5 == pytest.approx(expected, abs=1e-3)


def test_a_cart_pushes_in_vain_at_less_than_both_frictions() -> None:
    sim = pusher(4.0, 1.0)
    sim.joints.torque = [15.0]
    sim.run(1.0)
    at = sim["cart"].position[0]
    sim.run(1.0)
    assert sim["cart"].position[0] == pytest.approx(at, abs=1e-12)


@pytest.mark.parametrize("armature", [0.0, 0.5])
def test_friction_holds_what_lies_on_a_beam_up_to_its_limit(armature: float) -> None:
    """The load turns the hinge with 16 N m, the beam with 5: nothing moves below 21 N m of friction, to rounding."""
    sim = beam(21.0 * 1.02, armature)
    sim.run(1.0)
    assert sim["hinge"].angle == pytest.approx(0.0, abs=1e-12)
    assert np.abs(sim.state.velocity).max() <= 1e-12
    sim = beam(21.0 * 0.9, armature)
    sim.run(0.5)
    # Both turn with the load at rest on the beam: ½ α t², about the mean of its first third.
    inertia = 1.0 / 12.0 * (1.0 + 0.1**2) + 0.25 + 2.0 * (0.2**2 / 6.0 + 0.8**2 + 0.15**2) + armature
    assert sim["hinge"].angle == pytest.approx(0.5 * 2.1 / inertia * 0.25, rel=0.1)


@pytest.mark.parametrize("friction", [10.0, 30.0])
def test_a_leg_of_rough_joints_stands_without_creep(friction: float) -> None:
    scene, rough = rb.Scene(), rb.Material(friction=0.8)
    scene.add_static(rb.Plane(), material=rough)
    scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=5.0, position=(0, 0, 0.9), name="hip")
    scene.add_joint(rb.Prismatic(scene.world, "hip", at=(0, 0, 0.9), axis=(0, 0, 1)))
    scene.add_body(mass=0.5, inertia=(0.01, 0.01, 0.001), position=(0.1, 0, 0.7), name="thigh")
    scene.add_body(rb.Sphere(0.05), mass=0.5, position=(0, 0, 0.05), material=rough, name="shank")
    for a, b, at in (("hip", "thigh", (0, 0, 0.9)), ("thigh", "shank", (0.25, 0, 0.45))):
        scene.add_joint(rb.Revolute(a, b, at=at, axis=(0, 1, 0), friction=friction, armature=0.2))
    sim = rb.Simulation(scene, time_step=0.005, joints="reduced")
    sim.run(2.0)
    assert sim["hip"].position[2] == pytest.approx(0.9, abs=1e-9)
    for name in list(scene.joints)[1:]:
        scene.change_joint(name, friction=2.0)
    sim = rb.Simulation(scene, time_step=0.005, joints="reduced")
    sim.run(2.0)
    assert sim["hip"].position[2] < 0.5


@pytest.mark.parametrize("armature", [0.0, 3.0])
def test_a_limit_throws_both_bodies_and_the_drive_back(armature: float) -> None:
    """The rate becomes −e times what it was, angular momentum of the bodies stays, whatever the drive."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=2.0, inertia=2.0 * np.eye(3), name="a")
    scene.add_body(mass=2.0, inertia=np.eye(3), angular_velocity=(0, 0, 3.0), name="b")
    limits = {"limits": (-0.5, 0.5), "restitution": 0.5}
    scene.add_joint(rb.Revolute("a", "b", at=(0, 0, 0), axis=(0, 0, 1), armature=armature, **limits), name="hinge")
    sim = rb.Simulation(scene, time_step=1e-3, joints="reduced")
    sim.run(0.3)
    assert sim["hinge"].velocity == pytest.approx(-1.5, rel=1e-9)
    np.testing.assert_allclose(sim.momentum().angular, (0, 0, 3.0), atol=1e-9)
    # 3²/(2·3) of the common turn, and half of the reduced inertia with the drive times the square of the rate.
    assert sim.energy().kinetic == pytest.approx(1.5 + 0.5 * (2.0 / 3.0 + armature) * 1.5**2, rel=1e-9)


def test_a_four_bar_with_armature_moves_as_by_dense_matrices_with_order_two() -> None:
    armature, errors = (0.5, 0.3, 0.2), []
    at = np.array(CORNERS)
    start = [-np.arctan2(way[2], way[0]) for way in np.diff(at, axis=0)]
    truth = solve_ivp(four_bar_rates(armature), (0, 0.8), [*start, 0, 0, 0], rtol=1e-10, atol=1e-12).y[:, -1]
    for steps in (80, 160):
        sim = four_bar({"armature": armature}, 0.8 / steps)
        sim.step(steps)
        assert sim.report.converged, sim.report.reason
        errors.append(abs(sim["hinge_0"].angle - (truth[0] - start[0])))
    assert errors[1] < 1e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("friction", [(40.0, 0.0, 0.0), (0.0, 0.0, 30.0), (8.0, 8.0, 8.0)])
def test_friction_holds_a_loop_against_gravity(friction: tuple[float, ...]) -> None:
    sim = four_bar({"friction": friction}, 0.005)
    sim.run(0.5)
    at = sim["hinge_0"].angle
    sim.run(1.0)
    assert sim.report.converged, sim.report.reason
    assert abs(at) <= 1e-6
    assert sim["hinge_0"].angle == pytest.approx(at, abs=1e-12)


def test_a_loop_with_friction_that_slides_only_loses_energy() -> None:
    sim = four_bar({"friction": (2.0, 0.5, 0.0), "armature": (0.1, 0.1, 0.1)}, 0.005)
    sim.step()
    before = sim.energy().total
    for _ in range(100):
        sim.step(4)
        assert sim.report.converged, sim.report.reason
        now = sim.energy().total
        assert now <= before + 1e-4
        before = now


def test_the_matrix_of_a_contact_problem_has_the_armature() -> None:
    """n J (M + A)⁻¹ Jᵀ n with the mass matrix and the Jacobians of the textbook."""
    scene, armature = rb.Scene(), (0.3, 0.2)
    scene.add_static(rb.Plane(), name="ground")
    for k in range(2):
        scene.add_body(rb.Box(0.5, 0.1, 0.1), mass=1.0 + k, position=(0.25 + 0.5 * k, 0, 0.05), name=f"rod_{k}")
        given = {"at": (0.5 * k, 0, 0.05), "axis": (0, 1, 0), "armature": armature[k]}
        scene.add_joint(rb.Revolute(("world", "rod_0")[k], f"rod_{k}", **given), name=f"hinge_{k}")
    sim = rb.Simulation(scene, time_step=0.005, joints="reduced")
    sim.step(20)
    problem, robot = sim.contact_problem(), rb.dynamics.Articulation(scene)
    q, _ = robot.coordinates_of(sim)
    rows = []
    for a, b, point in zip(sim.contacts.body_a, sim.contacts.body_b, sim.contacts.point, strict=True):
        name = next(sim.model.names[i] for i in (a, b) if sim.model.names[i].startswith("rod"))
        # The rods are level, so that the axes of the world are theirs.
        rows.append(robot.jacobian(q, name, point - sim[name].position)[2])
    J = np.array(rows)
    expected = J @ np.linalg.solve(robot.mass_matrix(q), J.T)
    found = np.asarray(problem.dense)[::3, ::3]
    np.testing.assert_allclose(np.sort(np.diag(found)), np.sort(np.diag(expected)), rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(found), np.linalg.eigvalsh(expected), atol=1e-4 * expected.max())


def test_worlds_and_copies_have_the_bits_of_single_runs() -> None:
    given = {"friction": 15.0, "armature": 0.5}
    alone, batch = beam(**given), beam(**given, worlds=2)
    faster = np.array(batch.state.angular_velocity)
    faster[1, 0] = (0, -1.0, 0)
    batch.state.angular_velocity = faster
    alone.step(100)
    kept = alone.state.copy()
    batch.step(100)
    np.testing.assert_array_equal(batch.state.position[0], alone.state.position)
    assert np.abs(batch.state.position[1] - batch.state.position[0]).max() > 1e-3
    alone.step(50)
    end = alone.hash()
    alone.state = kept
    for _ in range(50):
        alone.step()
    assert alone.hash() == end


def test_what_friction_holds_falls_asleep_and_wakes() -> None:
    sim = beam(30.0, 0.5, sleep=True)
    sim.run(3.0)
    assert sim["load"].asleep
    assert sim["beam"].asleep
    sim["load"].velocity = (0, 0, 3.0)
    sim.step(5)
    assert not sim["load"].asleep


@pytest.mark.parametrize("solver", ["pgs", "apgd", "assembled"])
def test_contact_solvers_agree_on_a_driven_beam(solver: str) -> None:
    """They stop at the same impulses of a unique problem: a ball that rests on a beam beyond its friction."""
    ends = []
    for chosen in ("block_gauss_seidel", solver):
        sim = beam(18.0, 0.5, contacts=rb.contacts.Impulse(solver=chosen), contact_velocity_tolerance=1e-6)
        sim.step(60)
        ends.append(np.array(sim.joints.position))
    np.testing.assert_allclose(ends[1], ends[0], rtol=2e-2)
