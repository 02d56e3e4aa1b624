"""Random heaps: whatever touches, overlaps, is joined or flung, all stays finite, and what has to be kept is kept."""

from dataclasses import dataclass

import numpy as np
import pytest

import rattleback as rb
from fuzz.random_heap import draw

pytestmark = [pytest.mark.contacts, pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")]

STEPS = 30
# Scenes of the quick test, the last of which are known to be hard, of all, and how many of them one slow test takes.
FEW, ALL, SHARE = (*range(262, 270), 321, 417, 527, 589, 839, 973), 1000, 50
# How fast overlaps are removed at most [m/s]; a body may be lifted by one contact on top of the other.
RECOVERY = 1.0
# What a step may add to the energy by turning a body that overlaps: its inertia turns, its angular velocity does not.
TURNED = 0.02


@dataclass(frozen=True)
class Story:
    """What was seen of a simulation, before the first step and after each; worlds are alike."""

    kinetic: np.ndarray
    total: np.ndarray
    momentum: np.ndarray
    largest: float
    report: dict


def first(value, axes):
    """What belongs to the first world."""
    value = np.asarray(value)
    return value[0] if value.ndim > axes else value


def follow(sim):
    """Take the steps and see what happens."""
    energies, momenta, largest = [sim.energy()], [sim.momentum().linear], 0.0
    for _ in range(STEPS):
        sim.step()
        energies.append(sim.energy())
        momenta.append(sim.momentum().linear)
        speeds = np.abs(first(sim.state.velocity, 2))
        largest = max(largest, float((sim.model.mass[0][:, None] * speeds).sum()))
    kinetic, total = (np.array([first(getattr(e, name), 0) for e in energies]) for name in ("kinetic", "total"))
    return Story(kinetic, total, np.array([first(p, 1) for p in momenta]), largest, sim.report.as_dict())


def is_finite(sim, story):
    """Whether nothing of the state, the energies and the report is infinite or no number."""
    seen = [getattr(sim.state, name) for name in ("position", "orientation", "velocity", "angular_velocity")]
    seen += [story.kinetic, story.total, story.momentum]
    seen += [value for value in story.report.values() if isinstance(value, float)]
    return all(np.isfinite(value).all() for value in seen)


def energy_gained(case, story):
    """The largest gain of energy in a step beyond what may be, as a part of the energy there is to gain from.

    Without gravity and belts contacts only take energy. With gravity bodies that overlap are also lifted.
    """
    bodies = [body for body in case.scene.bodies if not body.static]
    fall = np.linalg.norm(case.scene.gravity) * sum(body.mass for body in bodies)
    lift = fall * RECOVERY * case.settings["time_step"] * len(bodies)
    turned = 1e-9 if case.round else TURNED
    allowed = lift + turned * story.kinetic[:-1]
    return float((np.diff(story.total) - allowed).max() / max(story.kinetic.max(), 1e-300))


def faults(seed):
    """What is wrong with the simulation of a random scene; empty where nothing is."""
    case = draw(seed)
    sim = rb.Simulation(case.scene, **case.settings)
    begin = sim.state.copy()
    try:
        story = follow(sim)
    except (rb.DivergenceError, rb.InputError) as error:
        return [f"scene {seed}: {error}"]
    found = [] if is_finite(sim, story) else [f"scene {seed} is not finite"]
    if case.keeps_energy and (gain := energy_gained(case, story)) > 0.0:
        found.append(f"scene {seed} gains {gain:.3g} of its energy in a step")
    isolated = not case.ground and not case.scene.gravity.any()
    lost = np.abs(story.momentum - story.momentum[0]).max() / max(story.largest, 1e-300)
    if isolated and not lost <= 1e-9:
        found.append(f"scene {seed} loses {lost:.3g} of its momentum")
    end, sim.state = sim.hash(), begin
    for _ in range(STEPS):
        sim.step()
    return found if sim.hash() == end else [*found, f"scene {seed} goes another way the second time"]


def test_random_scenes_stay_finite_and_keep_momentum_and_do_not_gain_energy():
    assert [fault for seed in FEW for fault in faults(seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, ALL, SHARE))
def test_a_thousand_random_scenes_stay_finite_and_keep_momentum_and_do_not_gain_energy(start):
    assert [fault for seed in range(start, start + SHARE) for fault in faults(seed)] == []


def test_a_random_scene_is_the_same_in_another_simulation():
    ends = []
    for _ in range(2):
        case = draw(7)
        sim = rb.Simulation(case.scene, **case.settings)
        sim.step(STEPS)
        ends.append(sim.hash())
    assert ends[0] == ends[1]


def test_random_scenes_have_every_kind_of_everything():
    cases = [draw(seed) for seed in range(100)]
    bodies = [body for case in cases for body in case.scene.bodies]
    kinds = {type(body.shape).__name__ for body in bodies}
    assert kinds == {kind.__name__ for kind in rb.shapes.MENU.values()}
    masses = [body.mass for body in bodies if not body.static]
    assert min(masses) < 3e-3
    assert max(masses) > 3e3
    assert {case.law for case in cases} == {"plastic", "newton", "poisson", "stronge"}
    assert any(case.keeps_energy and case.round for case in cases)
    assert sum(bool(case.scene.joints) for case in cases) > 10
