"""Steps that are long beside the load: ropes, heavy loads and trees stay within their tolerance and gain no energy."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.scenes import mass_ladder, rope, tree
from rattleback.scenes.trees import THICKNESS, TREE_STEP, TWIST

GRAVITY, TOLERANCE = 9.81, 1e-6

# The quick tests take the smallest tree and the largest.
between = [pytest.param(depth, marks=pytest.mark.slow) for depth in (6, 7)]
every_depth = pytest.mark.parametrize("depth", [5, *between, 8])


def run(sim: rb.Simulation, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Total energies [J] and positions of the last body [m] at every step, each of which holds every joint."""
    energies, path = [sim.energy().total], [sim.state.position[-1].copy()]
    for _ in range(steps):
        sim.step()
        report = sim.report
        assert report.converged, report.reason
        assert report.position_error <= TOLERANCE
        energies.append(sim.energy().total)
        path.append(sim.state.position[-1].copy())
    return np.array(energies), np.array(path)


def lift(scene: rb.Scene) -> float:
    """Energy it takes to lift everything by the tolerance [J]: what an error of that size may hide."""
    return GRAVITY * TOLERANCE * sum(body.mass for body in scene.bodies)


def planar_chain(rods: Any, angle: float, times: np.ndarray) -> np.ndarray:
    """Angles of rods that hang from each other and swing in a plane, shape (times, rods).

    ``rods`` has a row of length, distance to the centre of mass, mass and moment of inertia about it for each. With
    c_ki the way of centre k along rod i, S_ij = Σ m_k c_ki c_kj:

        (S_ij cos(θ_i − θ_j) + δ_ij I_i) θ̈_j = −S_ij sin(θ_i − θ_j) θ̇_j² − g sin θ_i Σ m_k c_ki
    """
    length, centre, mass, moment = np.array(rods, dtype=float).T
    ways = np.tril(np.tile(length, (len(length), 1)), -1) + np.diag(centre)
    coupled, weight = ways.T @ np.diag(mass) @ ways, GRAVITY * mass @ ways

    def change(_: float, y: np.ndarray) -> np.ndarray:
        theta, rate = np.split(y, 2)
        between = theta[:, None] - theta[None, :]
        inertia = coupled * np.cos(between) + np.diag(moment)
        torque = -(coupled * np.sin(between)) @ rate**2 - weight * np.sin(theta)
        return np.concatenate([rate, np.linalg.solve(inertia, torque)])

    start = np.concatenate([np.full(len(length), angle), np.zeros(len(length))])
    found = solve_ivp(change, (0.0, times[-1]), start, method="DOP853", rtol=1e-7, atol=1e-8, t_eval=times)
    return found.y[: len(length)].T


def load_path(ratio: float, times: np.ndarray) -> np.ndarray:
    """Where the load of a mass ladder is (x, z) [m]: all of its links, or beside a heavy load one without mass."""
    load = (0.2, 0.2, ratio, 0.4 * ratio * 0.2**2)
    if ratio > 1e3:
        rods = [(2.0, 1.0, 0.0, 0.0), load]
    else:
        link = mass_ladder(1.0, 1).bodies[0]
        rods = [(0.1, 0.05, 1.0, link.inertia[0, 0])] * 20 + [load]
    angles = planar_chain(rods, 0.5, times)
    lengths = np.array(rods)[:, 0]
    return np.stack([np.sin(angles) @ lengths, -np.cos(angles) @ lengths], axis=1)


def crossings(times: np.ndarray, x: np.ndarray) -> np.ndarray:
    """When x changes its sign."""
    k = np.flatnonzero(x[:-1] * x[1:] < 0.0)
    return times[k] + (times[k + 1] - times[k]) * x[k] / (x[k] - x[k + 1])


@pytest.mark.parametrize("power", range(7))
def test_a_load_on_a_light_chain_swings_like_the_pendulum_it_is(power: int) -> None:
    """Half a period within half a percent, every passage of the lowest point within a step."""
    scene, h = mass_ladder(10.0**power), 0.01
    energies, path = run(rb.Simulation(scene, time_step=h), 300)
    assert energies.max() <= energies[0] + lift(scene)
    assert np.abs(path[:, 1]).max() <= 1e-9
    times = h * np.arange(301)
    found, expected = crossings(times, path[:, 0]), crossings(times, load_path(10.0**power, times)[:, 0])
    assert len(found) == len(expected) == 2
    np.testing.assert_allclose(found, expected, atol=h)
    assert found[1] - found[0] == pytest.approx(expected[1] - expected[0], rel=5e-3)


@pytest.mark.parametrize("power", [3, 6])
def test_the_swing_of_a_heavy_load_fades_no_faster_than_its_amplification_says(power: int) -> None:
    """Levers of the end and the relaxation take (w + r) h² g / 2 L of the swing a step; both are at most 1."""
    scene, h, steps = mass_ladder(10.0**power), 0.01, 300
    energies, _ = run(rb.Simulation(scene, time_step=h), steps)
    lowest = -GRAVITY * (10.0**power * 2.2 + 20.0)
    swing = (energies - lowest) / (energies[0] - lowest)
    assert swing[-1] >= 0.98 * np.exp(-(h**2) * GRAVITY / 2.2 * steps)


def test_halving_the_step_halves_the_deviation_of_a_heavy_load() -> None:
    """The chain under it is stiff, so the order is one there."""
    worst = []
    for h in (0.01, 0.005, 0.0025):
        steps = round(1.0 / h)
        _, path = run(rb.Simulation(mass_ladder(1e6), time_step=h), steps)
        worst.append(np.abs(path[:, [0, 2]] - load_path(1e6, h * np.arange(steps + 1))).max())
    ratios = np.divide(worst[:-1], worst[1:])
    assert ((ratios > 1.8) & (ratios < 2.5)).all()


@pytest.mark.parametrize("count", [100, *(pytest.param(n, marks=pytest.mark.slow) for n in (200, 800))])
def test_a_rope_swings_down_at_a_hundred_steps_a_second(count: int) -> None:
    scene = rope(count)
    energies, path = run(rb.Simulation(scene, time_step=0.01), 500)
    assert energies.max() <= energies[0] + lift(scene)
    assert np.abs(path[:, 1]).max() <= 1e-9
    assert path[:, 0].min() < 0.0


LONG = [(mass_ladder(load), h) for load in (1.0, 1e3) for h in (0.03, 0.1, 0.3)]
LONG += [(mass_ladder(1e6), h) for h in (0.03, 0.1)] + [(rope(100), h) for h in (0.03, 0.1, 0.3)]


@pytest.mark.parametrize(("scene", "h"), LONG, ids=str)
def test_a_step_of_great_length_holds_the_joints_and_makes_no_energy(scene: rb.Scene, h: float) -> None:
    energies, _ = run(rb.Simulation(scene, time_step=h), round(5.0 / h))
    assert energies.max() <= energies[0] + lift(scene)
    assert energies[-1] < energies[0]


def work_of_the_twist(sim: rb.Simulation) -> float:
    """Torque times the angle the top bar turns by while it acts, which is the first step [J]."""
    before = Rotation.from_quat(sim["bar_1"].orientation.copy())
    sim.step()
    return float(TWIST * (Rotation.from_quat(sim["bar_1"].orientation.copy()) * before.inv()).as_rotvec()[2])


@every_depth
def test_a_hanging_tree_holds_at_the_step_of_the_dissertation(depth: int) -> None:
    """Its small bars are far beyond the limit; nothing may come out but what the twist put in."""
    scene = tree(depth, hanging=True)
    sim = rb.Simulation(scene, time_step=TREE_STEP)
    start = sim.energy().total
    work = work_of_the_twist(sim)
    energies, _ = run(sim, 499)
    assert energies.max() <= start + work + lift(scene)
    assert energies.min() >= start - lift(scene)


@every_depth
def test_a_mobile_holds_at_the_step_of_the_dissertation(depth: int) -> None:
    """Its bars swing at ω² ≤ m g d / 2 I, d their thickness and I their least moment: the half kicks before and after a
    step keep ω'² + ω² (1 − (hω)²/4) θ² of a swing, so its energy is at most 1 / (1 − (hω)²/4) times what it began with.
    """
    scene = tree(depth)
    sim = rb.Simulation(scene, time_step=TREE_STEP)
    start = sim.energy().total
    work = work_of_the_twist(sim)
    energies, _ = run(sim, 499)
    stiffest = max(0.5 * body.mass * GRAVITY * THICKNESS / np.diag(body.inertia).min() for body in scene.bodies)
    most = work / (1.0 - 0.25 * TREE_STEP**2 * stiffest)
    assert energies.max() <= start + most + lift(scene)
    assert energies.min() >= start - lift(scene)


def free_chain(count: int, spin: float, ends: float = 0.02) -> rb.Scene:
    """A straight chain that turns about its middle far from everything; its first and last link may be heavy."""
    scene = rb.Scene(gravity=(0, 0, 0))
    for k in range(count):
        x = 0.1 * (k - 0.5 * (count - 1))
        scene.add_body(
            rb.Capsule(0.01, 0.1),
            mass=ends if k in (0, count - 1) else 0.02,
            position=(x, 0, 0),
            orientation=Rotation.from_rotvec([0, 0.5 * np.pi, 0]).as_quat(),
            velocity=(0, spin * x, 0),
            angular_velocity=(0, 0, spin),
            name=f"link_{k}",
        )
        if k:
            scene.add_joint(rb.Ball(f"link_{k - 1}", f"link_{k}", at=(x - 0.05, 0, 0)))
    return scene


def shaken(scene: rb.Scene, h: float) -> rb.Simulation:
    """Links that are pushed across, each another way, so that the chain wriggles; joints take up the pushes first."""
    sim = rb.Simulation(scene, time_step=h, position_tolerance=1e-10, velocity_tolerance=1e-10)
    rng = np.random.default_rng(4)
    sim.state.velocity = sim.state.velocity + rng.normal(scale=0.2, size=sim.state.velocity.shape)
    start = sim.state.copy()
    sim.step()
    moved = sim.state.copy()
    sim.state = start
    sim.state.velocity, sim.state.angular_velocity = moved.velocity.copy(), moved.angular_velocity.copy()
    return sim


def test_a_free_chain_that_is_not_stiff_keeps_its_momentum_to_rounding() -> None:
    sim = shaken(free_chain(6, 2.0), 0.005)
    sim.step()
    before = sim.momentum()
    for _ in range(200):
        sim.step()
        assert sim._step.preview.status.stiff.numpy()[0] == 0
        assert (sim._step.preview.inertias.weight.numpy() == 0.0).all()
    after, scale = sim.momentum(), np.abs(before.angular).max()
    np.testing.assert_allclose(after.linear, before.linear, rtol=0, atol=1e-12 * np.abs(before.linear).max())
    np.testing.assert_allclose(after.angular, before.angular, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize(("spin", "ends"), [(20.0, 0.02), (5.0, 10.0), (1.0, 1000.0)])
def test_a_free_chain_that_is_stiff_keeps_its_linear_momentum_and_loses_spin_no_faster_than_it_may(
    spin: float, ends: float
) -> None:
    """The pull of its ends is M Ω² R, so the amplification of a swing with that pull takes h² Ω² of the spin a step."""
    h, steps = 0.01, 100
    sim = rb.Simulation(free_chain(20, spin, ends), time_step=h)
    before = sim.momentum()
    run(sim, steps)
    assert sim._step.preview.status.stiff.numpy()[0] == 1
    after = sim.momentum()
    assert np.abs(after.linear - before.linear).max() <= 1e-12 * spin * sum(body.mass for body in sim.scene.bodies)
    kept = after.angular[2] / before.angular[2]
    assert np.exp(-((h * spin) ** 2) * steps) <= kept <= 1.0


def test_the_order_is_two_where_nothing_is_stiff() -> None:
    """Four heavy bars that swing in a plane, against the same chain integrated by SciPy."""
    bar = (1.0, 0.5, 1.0, (0.1**2 + 1.0**2) / 12.0)
    expected = planar_chain([bar] * 4, 0.5, np.array([0.0, 1.0]))[-1]
    errors = []
    for h in (0.01, 0.005, 0.0025):
        scene, above, away = rb.Scene(), "world", np.array([np.sin(0.5), 0.0, -np.cos(0.5)])
        for k in range(4):
            turn = Rotation.from_rotvec([0.0, -0.5, 0.0]).as_quat()
            body = scene.add_body(rb.Box(0.1, 0.1, 1), mass=1.0, position=(k + 0.5) * away, orientation=turn)
            scene.add_joint(rb.Ball(above, body, at=k * away))
            above = body
        sim = rb.Simulation(scene, time_step=h, position_tolerance=1e-11, velocity_tolerance=1e-11)
        for _ in range(round(1.0 / h)):
            sim.step()
            assert sim._step.preview.status.stiff.numpy()[0] == 0
        found = -Rotation.from_quat(sim.state.orientation.copy()).as_rotvec()[:, 1]
        errors.append(np.abs(found - expected).max())
    ratios = np.divide(errors[:-1], errors[1:])
    assert ((ratios > 3.7) & (ratios < 4.3)).all(), errors
