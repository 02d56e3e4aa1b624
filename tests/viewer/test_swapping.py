"""Swaps of methods that have to be compiled first: the old method goes on meanwhile."""

import os
import threading
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.core import device, stages
from rattleback.io import state_file
from rattleback.scenes import MENU
from rattleback.viewer.panels.methods import MethodsPanel
from rattleback.viewer.panels.slots import SLOTS, Slot
from rattleback.viewer.session import Session
from rattleback.viewer.swapping import rehearsal, swaps

pytestmark = pytest.mark.contacts
SLOT = {slot.name: slot for slot in SLOTS}


class Stage:
    """Stands for the process: each rehearsal waits until it is let go, or given up."""

    def __init__(self):
        self.asked, self.ended, self.go = [], [], threading.Semaphore(0)

    def rehearse(self, slot, option, place, files, given_up):
        sims = [state_file.load(file, device=place) for file in files]
        self.asked.append((slot, option, [sim.scene.name for sim in sims]))
        while not given_up.is_set() and not self.go.acquire(timeout=0.01):
            pass
        self.ended.append((option, given_up.is_set()))


@pytest.fixture
def uncompiled(monkeypatch):
    """Takes the kernels away, as on a machine that has not compiled them; where they are compiled is a stage."""

    def take_away():
        stage = Stage()
        monkeypatch.setattr(stages, "_loaded", defaultdict(set))
        monkeypatch.setattr(device, "is_compiled", lambda module, place: False)
        monkeypatch.setattr(swaps, "rehearse", stage.rehearse)
        return stage

    return take_away


@pytest.fixture
def session():
    made = Session([rb.Simulation(MENU["chain"].build(), time_step=0.01)])
    made.start()
    yield made
    made.stop()


def joints(session):
    return SLOT["joints"].read(session.frame.picture.methods)


def test_the_old_method_goes_on_until_the_new_one_is_compiled(open_page, person, until, uncompiled):
    window = open_page(rb.Simulation(MENU["chain"].build(), time_step=0.01), MethodsPanel)
    session, stage, handle = window.session, uncompiled(), window.parts[0].slots["joints"].handle
    session.play().result()
    person.turn(handle, "iterative")
    until(lambda: stage.asked == [("joints", "iterative", [session.sims[0].scene.name])])
    there = session.frame.steps
    until(lambda: session.frame.steps > there + 10)
    assert (handle.value, joints(session)) == ("iterative", "direct")
    assert window.under_way == "Compiling joints 'iterative', once per machine. Until then 'direct' goes on."
    stage.go.release()
    until(lambda: joints(session) == "iterative")
    assert handle.value == "iterative"
    assert window.under_way == ""
    assert not session.notices


def test_of_two_choices_for_a_slot_the_later_one_holds_and_other_slots_follow(session, uncompiled, until):
    stage, asker = uncompiled(), swaps.Swaps(session, lambda text: None)
    first = asker.ask(SLOT["joints"], "iterative")
    until(lambda: len(stage.asked) == 1)
    other, last = asker.ask(SLOT["integrator"], "rk4"), asker.ask(SLOT["joints"], "multipliers")
    replaced, last = last, asker.ask(SLOT["joints"], "baraff")
    until(lambda: stage.ended == [("iterative", True)])  # else it might take what is let go
    stage.go.release(2)
    assert [answer.result(timeout=20) for answer in (first, other, replaced, last)] == [None] * 4
    assert [option for _, option, _ in stage.asked] == ["iterative", "rk4", "baraff"]
    assert stage.ended == [("iterative", True), ("rk4", False), ("baraff", False)]
    assert joints(session) == "baraff"
    assert SLOT["integrator"].read(session.frame.picture.methods) == "rk4"


def test_what_is_refused_after_a_rehearsal_goes_back_with_the_sentence(session, uncompiled, until):
    stage, asker = uncompiled(), swaps.Swaps(session, lambda text: None)

    def settings(name, methods):
        if stage.ended:
            raise rb.InputError("This does not fit the scene.")
        return {"joints": name}

    slot = Slot("joints", "Joints", "", ("iterative",), SLOT["joints"].read, settings)
    answer = asker.ask(slot, "iterative")
    stage.go.release()
    with pytest.raises(rb.InputError, match="does not fit"):
        answer.result(timeout=20)
    assert session.notices[-1].text == "This does not fit the scene."
    assert joints(session) == "direct"


def test_a_scene_with_forces_in_python_is_swapped_at_once(uncompiled):
    scene = MENU["chain"].build()
    scene.add_force(rb.PythonForce(lambda time, bodies: np.zeros_like(bodies.position)), name="wind")
    session = Session([rb.Simulation(scene, time_step=0.01)])
    session.start()
    stage = uncompiled()
    swaps.Swaps(session, lambda text: None).ask(SLOT["joints"], "iterative").result(timeout=20)
    session.stop()
    assert joints(session) == "iterative"
    assert stage.asked == []


def test_a_scene_that_is_opened_meanwhile_keeps_its_methods(session, uncompiled, until):
    stage, asker = uncompiled(), swaps.Swaps(session, lambda text: None)
    answer = asker.ask(SLOT["joints"], "iterative")
    until(lambda: stage.asked)
    session.open(lambda: rb.Simulation(MENU["chain"].build(), time_step=0.01)).result()
    stage.go.release()
    answer.result(timeout=20)
    assert joints(session) == "direct"


def test_closing_the_page_gives_up_what_is_compiled(open_page, person, until, uncompiled):
    window = open_page(rb.Simulation(MENU["chain"].build(), time_step=0.01), MethodsPanel)
    stage = uncompiled()
    person.turn(window.parts[0].slots["joints"].handle, "iterative")
    until(lambda: stage.asked)
    for end in window._ends:
        end()
    until(lambda: stage.ended == [("iterative", True)])
    assert joints(window.session) == "direct"


@pytest.mark.parametrize("name", ["chain", "wall"])
def test_a_swap_that_waits_changes_no_bit(name, monkeypatch):
    sims = [rb.Simulation(MENU[name].build(), time_step=0.01) for _ in range(2)]
    for sim in sims:
        sim.step(10)
    monkeypatch.setattr(stages, "_loaded", defaultdict(set))
    monkeypatch.setattr(device, "is_compiled", lambda module, place: False)
    with device.without_compiling(), pytest.raises(device.NotCompiled):
        sims[0].use(joints="iterative", integrator="rk4")
    for sim in sims:
        sim.step(20)
    assert sims[0].hash() == sims[1].hash()
    assert sims[0].methods == sims[1].methods


@pytest.fixture
def small(tmp_path):
    """A state file of a scene that needs few kernels."""
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), name="ball")
    path = str(tmp_path / "ball.state")
    rb.Simulation(scene, contacts="none").save(path)
    return path


def modules_in(folder):
    return {path.name.rpartition("_")[0] for path in folder.glob("*/wp_*")}


@pytest.mark.slow
def test_a_rehearsal_leaves_the_kernels_in_the_cache(small, tmp_path, monkeypatch):
    monkeypatch.setattr(device, "kernel_cache", lambda: str(tmp_path / "cache" / "any"))
    sim = state_file.load(small)
    SLOT["integrator"].choose(sim, "rk4")
    wanted = {f"wp_{launch.kernel.module.name}" for launch in stages.launches_of(sim._step.program._nodes)}
    rehearsal.rehearse("integrator", "rk4", "cpu", [small], threading.Event())
    assert wanted <= modules_in(tmp_path / "cache")


def test_a_rehearsal_that_is_given_up_ends_its_process(small, tmp_path, monkeypatch, until):
    monkeypatch.setattr(device, "kernel_cache", lambda: str(tmp_path / "cache" / "any"))
    given_up, started = threading.Event(), []
    popen = rehearsal.subprocess.Popen
    monkeypatch.setattr(rehearsal.subprocess, "Popen", lambda *a, **k: started.append(popen(*a, **k)) or started[-1])
    waiting = threading.Thread(target=rehearsal.rehearse, args=("integrator", "rk4", "cpu", [small], given_up))
    waiting.start()
    until(lambda: list(Path(tmp_path / "cache").glob("*/*")), seconds=60.0)
    given_up.set()
    waiting.join(timeout=10.0)
    assert not waiting.is_alive()
    assert started[0].returncode == (-9 if os.name == "posix" else 1)


def test_without_a_python_to_start_there_is_no_rehearsal(small, monkeypatch):
    monkeypatch.setattr(rehearsal.sys, "executable", "/nowhere/python")
    assert rehearsal.rehearse("integrator", "rk4", "cpu", [small], threading.Event()) is None
