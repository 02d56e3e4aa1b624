"""Random mechanisms: none crashes, hangs or gains energy that nothing names, and hardly one diverges."""

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from fuzz import pool
from fuzz.ledger import Ledger, Moment
from fuzz.pool import NAMED, RARE, verdicts
from fuzz.random_mechanism import Draw, draw, draw_settings
from fuzz.verdict import judge
from rattleback.collision.broadphase import MENU as BROADPHASES
from rattleback.collision.narrowphase import MENU as NARROWPHASES
from rattleback.integrators import MENU as INTEGRATORS
from rattleback.joints import MENU as JOINTS
from rattleback.shapes import MENU as SHAPES
from rattleback.solvers.joints import IMPULSES as JOINT_METHODS

pytestmark = pytest.mark.contacts

# Scenes of the quick tests and steps of each, of all, and how many of them one test takes.
FEW, SHORT, ALL, LONG = 100, 40, 5000, 120
QUICK_SHARE, SHARE = 50, 100


def faults(first: int, count: int, steps: int) -> list[str]:
    """What is wrong with random mechanisms; of a hundred, one may diverge."""
    found = [
        (kind, f"scene {v['seed']}: {kind}: {said}")
        for v in verdicts(first, first + count, steps)
        for kind, said in v["found"]
    ]
    kinds = Counter(kind for kind, _ in found)
    excused = {NAMED} | ({RARE} if kinds[RARE] <= max(1, count // 100) else set())
    return [sentence for kind, sentence in found if kind not in excused]


@pytest.mark.parametrize("first", range(0, FEW, QUICK_SHARE))
def test_a_hundred_random_mechanisms_neither_gain_nor_diverge_nor_hang(first: int) -> None:
    assert faults(first, QUICK_SHARE, SHORT) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, ALL, SHARE))
def test_five_thousand_random_mechanisms_neither_gain_nor_diverge_nor_hang(first: int) -> None:
    assert faults(first, SHARE, LONG) == []


def words(case: Draw) -> set[str]:
    """What is in a scene."""
    scene, limits = case.scene, ("limits", "limits_b", "turn_limits")
    said = {type(entry).__name__ for entry in (*scene.joints.values(), *scene.forces.values())}
    said |= {type(body.shape).__name__ for body in scene.bodies} | set(case.traits)
    said |= {force.control for force in scene.forces.values() if isinstance(force, rb.Servo)}
    return said | {name for joint in scene.joints.values() for name in limits if getattr(joint, name, None)}


def test_random_mechanisms_have_every_kind_of_everything() -> None:
    cases = [draw(seed) for seed in range(120)]
    wanted = {kind.__name__ for menu in (JOINTS, SHAPES) for kind in menu.values()}
    wanted |= {"Servo", "Spring", "TorsionSpring", "angle", "position", "velocity", "limits", "limits_b", "turn_limits"}
    wanted |= {
        "breaks",
        "terrain",
        "apart",
        "displaced",
        "conflict",
        "twice",
        "loop",
        "held",
        "bouncy",
        "heap",
        "ground",
        "moving",
    }
    assert wanted - set().union(*(words(case) for case in cases)) == set()
    for case in cases:
        masses = [body.mass for body in case.scene.bodies if not body.static]
        assert 3 <= len(masses) <= 8
        assert max(masses) <= 1000 * min(masses)


def test_random_mechanisms_are_simulated_by_every_method() -> None:
    drawn = [draw_settings(np.random.default_rng(seed)) for seed in range(2000)]
    said = {value for settings in drawn for value in settings.values() if isinstance(value, str)}
    wanted = {*INTEGRATORS, *JOINT_METHODS, *BROADPHASES, *NARROWPHASES, "detect", "none", "fast", "accurate"}
    assert wanted - said == {"lie_midpoint", "direct", "closed_forms"}
    contacts = {type(settings.get("contacts")).__name__ for settings in drawn}
    assert contacts >= {"Impulse", "ShockPropagation", "TimeStepping"}
    assert set().union(*drawn) >= {"sleep", "worlds", "substeps", "contact_every", "closing_speed", "max_iterations"}
    plain = sum(set(settings) == {"time_step", "contacts"} for settings in drawn)
    assert plain > 0.5 * len(drawn)


def test_the_same_number_gives_the_same_mechanism() -> None:
    one, two = draw(3), draw(3)
    assert [repr(joint) for joint in one.scene.joints.values()] == [repr(joint) for joint in two.scene.joints.values()]
    assert [body.position.tolist() for body in one.scene.bodies] == [
        body.position.tolist() for body in two.scene.bodies
    ]


def swing(**forces: Any) -> Draw:
    """A pendulum of 2 kg at rest, with some forces."""
    scene = rb.Scene()
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=2.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute(scene.world, "arm", axis=(0, 1, 0)), name="hinge")
    for name, force in forces.items():
        scene.add_force(force, name=name)
    return Draw(1, scene, {"time_step": 0.01}, {}, ())


def kinds(verdict: dict[str, Any]) -> list[str]:
    return [kind for kind, _ in verdict["found"]]


def test_a_pendulum_a_servo_and_a_spring_gain_nothing() -> None:
    servo = rb.Servo("hinge", target=-1.0, gain=200.0, rate_time=0.1, limit=30.0)
    spring = rb.Spring("world", "arm", at=(0.5, 0.5, 0.5), at_b=(0.9, 0, 0), stiffness=50.0)
    assert kinds(judge(swing())) == []
    assert kinds(judge(swing(motor=servo, spring=spring))) == []


def test_a_servo_is_granted_its_work_and_no_more() -> None:
    """From rest against gravity: the servo lifts the arm, and all it gains is torque times angle."""
    sim = rb.Simulation(swing(motor=rb.Servo("hinge", target=-9.0, gain=1e3, limit=15.0)).scene, time_step=0.005)
    ledger, before, work, begun = Ledger(sim, apart=False), Moment.of(sim), 0.0, sim.energy().total
    for _ in range(60):
        sim.step()
        after = Moment.of(sim)
        work += float(ledger.work(before, after)[0])
        before = after
    assert work == pytest.approx(15.0 * abs(sim["hinge"].angle), rel=0.02)
    assert sim.energy().total - begun == pytest.approx(work, rel=0.02)


def test_euler_steps_of_a_spinning_body_gain_what_the_ledger_grants_them() -> None:
    """Without forces the closed form is all there is; half of it would not do."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(0.3, 0.2, 0.1), mass=2.0, angular_velocity=(20.0, 30.0, 10.0), name="box")
    sim = rb.Simulation(scene, time_step=0.01, integrator="semi_implicit_euler")
    ledger, before = Ledger(sim, apart=False), Moment.of(sim)
    sim.step()
    after = Moment.of(sim)
    gain = float((after.total - before.total)[0])
    closed = [float(ledger.spun(moment, moment)[0]) for moment in (before, after)]
    assert gain == pytest.approx(closed[0], rel=1e-9)
    assert float(ledger.spun(before, after)[0]) == max(closed)
    assert gain > 0.0


def test_energy_that_nothing_accounts_for_is_a_gain_called_converged() -> None:
    """The ledger knows no wrench; 20 N m lift the arm and spin it."""
    push = rb.Wrench("arm", torque=(0.0, -20.0, 0.0))
    assert kinds(judge(swing(push=push))) == ["gain called converged", "gain over the run"]


def test_a_small_error_excuses_no_large_gain() -> None:
    """The hinge is off by a rounding error, more than its tolerance; the wrench gains joules."""
    push = rb.Wrench("arm", torque=(0.0, -20.0, 0.0))
    case = dataclasses.replace(swing(push=push), settings={"time_step": 0.01, "position_tolerance": 1e-30})
    assert "gain beyond what is named" in kinds(judge(case))


def test_what_diverges_is_said_to_with_the_body() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), mass=1e-3, position=(0, 0, 1), name="ball")
    scene.add_force(rb.Wrench("ball", force=(1e308, 0, 0), start=0.05))
    assert kinds(judge(Draw(1, scene, {"time_step": 0.01}, {}, ()))) == ["divergence"]


def test_a_worker_that_hangs_or_crashes_is_seen_and_the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "SILENCE", 5.0)
    monkeypatch.setattr(pool, "WORKER", "fuzz.broken_worker")
    seen = list(verdicts(0, 5, 1))
    assert [v["seed"] for v in seen] == [0, 1, 2, 3, 4]
    assert [kinds(v) for v in seen] == [[], ["hang"], [], ["crash"], []]


def test_several_workers_judge_all_and_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pool, "SILENCE", 5.0)
    monkeypatch.setattr(pool, "STRETCH", 2)
    monkeypatch.setattr(pool, "WORKER", "fuzz.broken_worker")
    out = tmp_path / "found.jsonl"
    assert pool.main(["mechanisms", "0", "7", "--workers", "2", "--out", str(out)]) == 1
    seen = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted(v["seed"] for v in seen) == list(range(7))
    assert json.loads(capsys.readouterr().out) == {"judged": 7, "hang": 1, "crash": 1}
    assert pool.main(["mechanisms", "4", "7", "--workers", "2", "--out", str(out)]) == 0
