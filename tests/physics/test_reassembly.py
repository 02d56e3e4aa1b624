"""Bodies torn out of their joints: pulled together at ``closing_speed``, with no speed left by it, and said so."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback import scenes
from rattleback.core.report import Report

H, SPEED, TOLERANCE = 0.01, 10.0, 1e-6
SLACK = 1e-9  # of gaps computed here beside those the simulation computed


def pair(kind: Any) -> rb.Scene:
    scene = rb.Scene(name=kind.__name__)
    scene.add_body(rb.Box(1.0, 0.2, 0.3), mass=1.0, name="a")
    scene.add_body(rb.Box(1.0, 0.3, 0.2), mass=2.0, position=(1, 0, 0), name="b")
    scene.add_joint(kind("a", "b", at=(0.5, 0, 0), axis=(0, 1, 0)), name="joint")
    return scene


def beads(count: int) -> rb.Scene:
    """Spheres on a string: they precess under no torque, so that nothing turns the pull into spin."""
    scene = rb.Scene(gravity=(0, 0, 0), name="beads")
    for k in range(count):
        scene.add_body(rb.Sphere(0.3), mass=1.0 + 0.3 * k, position=(k, 0, 0), name=f"bead_{k}")
        if k:
            scene.add_joint(rb.Ball(f"bead_{k - 1}", f"bead_{k}", at=(k - 0.5, 0, 0)), name=f"joint_{k}")
    return scene


def at_rest(name: str) -> rb.Scene:
    made = {
        "chain": lambda: scenes.chain(10, speed=0.0),
        "tree": lambda: scenes.tree(5),
        "four_bar": lambda: scenes.four_bar(2, speed=0.0),
        "six_bar": scenes.six_bar,
        "bricard": scenes.bricard,
        "ball": lambda: pair(rb.Ball),
        "revolute": lambda: pair(rb.Revolute),
    }
    scene = made[name]()
    scene.forces.pop("twist", None)
    return scene


def torn(scene: rb.Scene, seed: int, away: float = 1.0, **settings: Any) -> rb.Simulation:
    """A simulation whose bodies have all been moved away at random, by metres."""
    sim = rb.Simulation(scene, time_step=H, **settings)
    moving = np.array([not body.static for body in scene.bodies])
    ways = away * np.random.default_rng(seed).normal(size=sim.state.position.shape)
    sim.state.position = sim.state.position + ways * moving[:, None]
    return sim


def gaps(sim: rb.Simulation) -> dict[str, float]:
    """How far the two anchors of every joint are apart [m], from the poses and where the scene put the joints."""
    position, turns = sim.state.position.copy(), Rotation.from_quat(sim.state.orientation.copy())
    index = {body.name: k for k, body in enumerate(sim.scene.bodies)}

    def anchor(name: str, point: np.ndarray) -> np.ndarray:
        if name == "world":
            return point
        body = sim.scene.bodies[index[name]]
        lever = Rotation.from_quat(body.orientation).inv().apply(point - body.position)
        return position[index[name]] + turns[index[name]].apply(lever)

    return {
        name: float(np.linalg.norm(anchor(joint.a, np.array(joint.at)) - anchor(joint.b, np.array(joint.at_b))))
        for name, joint in sim.scene.joints.items()
    }


def quietly(sim: rb.Simulation) -> Report:
    """A step that may say it is not there yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        sim.step()
    report = sim.report
    assert all(np.isfinite(getattr(sim.state, name)).all() for name in ("position", "orientation", "velocity"))
    return report


def until_closed(sim: rb.Simulation, limit: float = 2.0) -> int:
    """Steps until the report says that all is well; whether it is, is measured here."""
    for step in range(1, round(limit / H) + 1):
        report = quietly(sim)
        widest = max(gaps(sim).values())
        if report.converged:
            assert widest <= TOLERANCE + SLACK
            return step
    raise AssertionError(f"still open after {limit} s: {report.reason}")


TREES = ["chain", "tree", "ball", "revolute"]
LOOPS = ["four_bar", "six_bar", "bricard"]


@pytest.mark.parametrize("gravity", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", TREES)
def test_what_was_torn_apart_by_metres_is_together_within_two_seconds(name: str, seed: int, gravity: bool) -> None:
    scene = at_rest(name)
    if not gravity:
        scene.gravity = np.zeros(3)
    until_closed(torn(scene, seed))


@pytest.mark.parametrize("gravity", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("name", "away"), [("four_bar", 1.0), ("six_bar", 0.1), ("bricard", 0.1)])
def test_loops_that_were_torn_are_together_within_two_seconds(name: str, away: float, seed: int, gravity: bool) -> None:
    """Loops of six with one freedom may lock on a longer way, so they are torn by a tenth of a bar."""
    scene = at_rest(name)
    if not gravity:
        scene.gravity = np.zeros(3)
    until_closed(torn(scene, seed, away))


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_that_locks_on_its_way_says_to_the_end_that_it_is_open(name: str) -> None:
    """Whatever becomes of it, no step claims more than is true."""
    for seed in range(4):
        sim = torn(at_rest(name), seed)
        for _ in range(60):
            report = quietly(sim)
            assert report.converged or report.worst_joint in report.reason
            if report.converged:
                assert max(gaps(sim).values()) <= TOLERANCE + SLACK


@pytest.mark.parametrize("speed", [2.0, SPEED, 50.0])
@pytest.mark.parametrize("name", TREES + LOOPS)
def test_without_gravity_nothing_gets_faster_than_the_closing_speed(name: str, speed: float) -> None:
    scene = at_rest(name)
    scene.gravity = np.zeros(3)
    for seed in range(2):
        sim = torn(scene, seed, closing_speed=speed)
        for _ in range(100):
            quietly(sim)
            assert np.linalg.norm(sim.state.velocity, axis=1).max() <= speed


@pytest.mark.parametrize("gap", [0.05, 0.099, 0.35, 1.05, 3.27])
@pytest.mark.parametrize("speed", [4.0, SPEED])
def test_a_gap_closes_at_the_closing_speed(gap: float, speed: float) -> None:
    """Pulled apart along the line through both centres: |gap| − k h speed after k steps, then nothing."""
    scene = pair(rb.Ball)
    scene.gravity = np.zeros(3)
    sim = rb.Simulation(scene, time_step=H, closing_speed=speed)
    sim["b"].position = sim["b"].position + np.array([gap, 0.0, 0.0])
    steps = math.ceil(gap / (speed * H))
    for k in range(1, steps + 1):
        assert quietly(sim).converged is (k == steps)
        assert gaps(sim)["joint"] == pytest.approx(max(0.0, gap - k * speed * H), abs=1e-12)
    assert np.abs(sim.state.velocity).max() <= 1e-12
    assert np.abs(sim.state.angular_velocity).max() <= 1e-12


@pytest.mark.parametrize("name", TREES + LOOPS)
def test_a_gap_of_a_millimetre_is_closed_in_one_step(name: str) -> None:
    scene = at_rest(name)
    scene.gravity = np.zeros(3)
    widest = max(gaps(torn(scene, 0)).values())
    sim = torn(scene, 0, 1e-3 / widest, strict=True)
    assert max(gaps(sim).values()) == pytest.approx(1e-3, rel=1e-9)
    sim.step()
    assert max(gaps(sim).values()) <= TOLERANCE + SLACK


def kinetic_while_open(sim: rb.Simulation) -> float:
    """Largest kinetic energy while a joint is farther open than a step may close [J]."""
    largest, steps = 0.0, 0
    while max(gaps(sim).values()) > SPEED * H:
        quietly(sim)
        largest, steps = max(largest, sim.energy().kinetic), steps + 1
    assert steps > 3
    return largest


@pytest.mark.parametrize("seed", range(3))
def test_a_pull_leaves_beads_at_rest(seed: int) -> None:
    assert kinetic_while_open(torn(beads(6), seed)) <= 1e-20


@pytest.mark.parametrize("name", ["chain", "ball"])
def test_a_pull_leaves_bars_at_rest(name: str) -> None:
    scene = at_rest(name)
    scene.gravity = np.zeros(3)
    assert max(kinetic_while_open(torn(scene, seed)) for seed in range(3)) <= 1e-12


@pytest.mark.contacts
@pytest.mark.parametrize("method", ["impulse", "time_stepping"])
def test_a_pull_leaves_bodies_at_rest_also_where_they_might_touch_something(method: str) -> None:
    """The ground far below is in no one's way: nothing touches, and nothing is faster than without it."""
    scene = pair(rb.Ball)
    scene.gravity = (0, 0, 0)
    scene.add_static(rb.Plane(), position=(0, 0, -5))
    sim = rb.Simulation(scene, time_step=H, contacts=method, warn=False)
    sim["b"].position = sim["b"].position + np.array([0.3, 0, 0.1])
    sim.step(30)
    sim.step()
    assert sim.report.position_error < TOLERANCE
    assert sim.energy().kinetic < 1e-18


def test_a_hanging_tree_that_was_torn_stays_together_once_it_is_closed() -> None:
    sim = torn(at_rest("tree"), 0)
    until_closed(sim)
    for _ in range(150):
        assert quietly(sim).converged, sim.report.reason


def twisted(sim: rb.Simulation, seed: int, most: float = 3.0) -> rb.Simulation:
    """The same with every body turned at random, too, by up to 3 rad."""
    rng = np.random.default_rng(seed)
    rng.normal(size=sim.state.position.shape)
    ways = rng.normal(size=sim.state.position.shape)
    ways *= most * rng.uniform(size=(len(ways), 1)) / np.linalg.norm(ways, axis=1, keepdims=True)
    ways *= np.array([[not body.static] for body in sim.scene.bodies])
    turns = Rotation.from_quat(sim.state.orientation.copy())
    sim.state.orientation = (Rotation.from_rotvec(ways) * turns).as_quat()
    return sim


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["chain", "tree"])
def test_what_was_torn_and_twisted_is_together_within_two_seconds(name: str, seed: int) -> None:
    until_closed(twisted(torn(at_rest(name), seed), seed))


@pytest.mark.parametrize(("name", "seed", "gravity"), [("six_bar", 11, True), ("four_bar", 4, False)])
def test_a_loop_that_closes_near_a_singular_position_is_not_thrown(name: str, seed: int, gravity: bool) -> None:
    scene = at_rest(name)
    if not gravity:
        scene.gravity = np.zeros(3)
    sim = twisted(torn(scene, seed), seed)
    for _ in range(150):
        quietly(sim)
        assert np.linalg.norm(sim.state.velocity, axis=1).max() <= SPEED


@pytest.mark.parametrize("turn", [0.0, 1.5])
@pytest.mark.parametrize("kind", [rb.Ball, rb.Revolute, rb.Fixed])
def test_the_momentum_of_a_free_pair_and_the_path_of_its_centre_do_not_know_of_the_pull(kind: Any, turn: float) -> None:
    scene = pair(kind)
    scene.gravity = np.zeros(3)
    sim, rng = torn(scene, 3), np.random.default_rng(4)
    sim["b"].orientation = Rotation.from_rotvec([turn, 0, 0]).as_quat()
    sim.state.velocity = rng.normal(scale=0.5, size=(2, 3))
    mass = np.array([1.0, 2.0])
    momentum, centre = mass @ sim.state.velocity, mass @ sim.state.position / 3.0
    for _ in range(60):
        quietly(sim)
        np.testing.assert_allclose(sim.momentum().linear, momentum, rtol=0, atol=1e-13)
        way = momentum / 3.0 * sim.time
        np.testing.assert_allclose(mass @ sim.state.position / 3.0, centre + way, rtol=0, atol=1e-13)


@pytest.mark.parametrize("turn", [0.3, 1.5, 3.0])
@pytest.mark.parametrize("kind", [rb.Fixed, rb.Revolute, rb.FixedOrientation])
def test_frames_twisted_against_each_other_are_turned_back(kind: Any, turn: float) -> None:
    scene = pair(kind)
    scene.gravity = np.zeros(3)
    for seed in range(4):
        sim = rb.Simulation(scene, time_step=H)
        axis = np.random.default_rng(seed).normal(size=3)
        sim["b"].orientation = Rotation.from_rotvec(turn * axis / np.linalg.norm(axis)).as_quat()
        for _ in range(200):
            if quietly(sim).converged:
                break
        a, b = Rotation.from_quat(sim.state.orientation.copy())
        left = (a.inv() * b).as_rotvec()
        if kind is rb.Revolute:
            left = np.cross((a.inv() * b).apply([0, 1, 0]), [0, 1, 0])
        assert sim.report.converged
        assert np.linalg.norm(left) <= 1e-6 + SLACK


@pytest.mark.parametrize("seed", range(3))
def test_the_report_names_the_joint_that_is_widest_open_and_the_speed(seed: int) -> None:
    sim = torn(at_rest("chain"), seed)
    with pytest.warns(rb.NotConvergedWarning, match="it was apart and is pulled together at 10 m/s, the closing_speed"):
        sim.step()
    report, found = sim.report, gaps(sim)
    assert not report.converged
    assert report.worst_joint == max(found, key=lambda name: found[name])
    assert report.reason.startswith(f"Joint {report.worst_joint!r} is off by {max(found.values()):.3g} m")
    assert report.position_error == pytest.approx(max(found.values()), rel=1e-9)


def test_no_step_says_that_it_converged_before_the_joints_are_closed() -> None:
    sim = torn(at_rest("tree"), 2)
    for _ in range(70):
        converged = quietly(sim).converged
        assert converged is (max(gaps(sim).values()) <= TOLERANCE)


def test_a_strict_simulation_refuses_to_go_on_while_it_is_apart() -> None:
    sim = torn(at_rest("four_bar"), 1, strict=True)
    with pytest.raises(rb.NotConverged, match="it was apart and is pulled together at 10 m/s"):
        sim.step()


def test_a_torn_world_does_not_touch_the_bits_of_the_others() -> None:
    scene = scenes.chain(6)
    alone, many = rb.Simulation(scene, time_step=H), rb.Simulation(scene, time_step=H, worlds=3)
    moved = many.state.position.copy()
    moved[1] += np.random.default_rng(0).normal(size=moved[1].shape)
    many.state.position = moved
    for _ in range(40):
        alone.step()
        quietly(many)
    for world in (0, 2):
        np.testing.assert_array_equal(many.state.position[world], alone.state.position)
        np.testing.assert_array_equal(many.state.velocity[world], alone.state.velocity)


@pytest.mark.parametrize("speed", [0, -1.0, math.nan, "fast"])
def test_a_closing_speed_is_a_positive_number(speed: Any) -> None:
    with pytest.raises(rb.InputError, match="closing_speed is"):
        rb.Simulation(pair(rb.Ball), closing_speed=speed)
    sim = rb.Simulation(pair(rb.Ball))
    with pytest.raises(rb.InputError, match="closing_speed is"):
        sim.use(closing_speed=speed)
    assert sim.methods.closing_speed == SPEED


def test_the_closing_speed_can_be_changed_on_the_way() -> None:
    scene = pair(rb.Ball)
    scene.gravity = np.zeros(3)
    sim = rb.Simulation(scene, time_step=H)
    sim["b"].position = sim["b"].position + np.array([1.0, 0.0, 0.0])
    quietly(sim)
    sim.use(closing_speed=50.0)
    quietly(sim)
    assert gaps(sim)["joint"] == pytest.approx(1.0 - 0.1 - 0.5, abs=1e-12)
