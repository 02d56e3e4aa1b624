"""The timeline: what was shown is seen again, and gone on from bit for bit, in a bounded amount of memory."""

import math
from itertools import pairwise

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import MENU
from rattleback.settings import settings_of
from rattleback.viewer.interaction.grab import grab
from rattleback.viewer.interaction.spring import SpringHand, let_go, take
from rattleback.viewer.session import Session
from rattleback.viewer.timeline.reel import thinned

PATIENCE = 20.0


def bouncing():
    scene = rb.Scene(name="bouncing")
    scene.add_static(rb.Plane())
    for number in range(3):
        place = (0.4 * number, 0, 0.5 + 0.2 * number)
        scene.add_body(rb.Box(0.2, 0.2, 0.2), position=place, angular_velocity=(1, 2, 3), name=f"box {number}")
    arm = scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(0.5, 2, 1), name="arm")
    scene.add_joint(rb.Revolute(scene.world, arm, at=(0, 2, 1), axis=(0, 1, 0)), name="hinge")
    return scene


@pytest.fixture
def session():
    running = Session([rb.Simulation(bouncing(), time_step=0.005)])
    running.start()
    yield running
    running.stop()


def run_to(session, steps, until):
    """Run freely until so many steps were taken at least."""
    session.set_speed(math.inf)
    session.play()
    until(lambda: session.frame.steps >= steps)
    session.pause().result(PATIENCE)


def state_of(session):
    """Hash of the state, asked for without going on from where the page looks back."""
    return session.read(lambda sim: (sim.hash(), sim.state.steps)).result(PATIENCE)[0]


def plain(steps, act=None):
    """Hash after so many steps of a simulation that no page has seen, with something done after some."""
    sim = rb.Simulation(bouncing(), time_step=0.005)
    if act is not None:
        sim.step(act[0])
        act[1](sim)
    sim.step(steps - (act[0] if act else 0))
    return sim.hash()


def test_the_page_looks_back_at_what_was_shown_and_the_simulation_waits(session, until):
    run_to(session, 200, until)
    before, shots = state_of(session), session.record.reel.shots
    wanted = shots[len(shots) // 2].frame
    session.record.look_back(wanted.time + 1e-9).result(PATIENCE)
    seen = session.frame
    assert seen.timeline.past
    assert (seen.time, seen.steps) == (wanted.time, wanted.steps)
    assert np.array_equal(seen.picture.position, wanted.picture.position)
    assert state_of(session) == before


def test_going_on_from_any_frame_gives_the_bits_of_an_unbroken_run(session, until):
    run_to(session, 300, until)
    for part in (0.3, 0.8, 0.1):
        session.record.look_back(part * session.frame.timeline.end).result(PATIENCE)
        session.record.go_on().result(PATIENCE)
        digest, steps = state_of(session)
        assert steps == session.frame.steps > 0
        assert digest == plain(steps)
    session.step(25).result(PATIENCE)
    until(lambda: not session.frame.playing)
    assert session.do(lambda sim: sim.hash()).result(PATIENCE)[0] == plain(steps + 25)
    assert session.frame.timeline.end == pytest.approx((steps + 25) * 0.005)
    assert session.frame.time == session.frame.timeline.end


def test_what_was_recorded_later_stays_until_another_step_is_taken(session, until):
    run_to(session, 100, until)
    end = session.frame.timeline.end
    session.record.look_back(0.1).result(PATIENCE)
    session.record.go_on().result(PATIENCE)
    assert session.frame.timeline.end == end
    session.step().result(PATIENCE)
    assert session.frame.timeline.end == session.frame.time < end


def test_pushes_edits_and_methods_of_then_hold_again(session, until):
    def push(sim):
        sim["box 0"].apply_impulse((3.0, 0, 0))

    session.step(20).result(PATIENCE)
    until(lambda: not session.frame.playing)
    session.do(push).result(PATIENCE)
    session.step(40).result(PATIENCE)
    until(lambda: session.frame.steps == 60)
    marked = session.frame.time
    session.do(lambda sim: sim.use(joints="iterative", position_tolerance=1e-5, narrowphase="gjk")).result(PATIENCE)
    session.step(10).result(PATIENCE)
    until(lambda: session.frame.steps == 70)

    def remove(scene):
        made = scene.copy()
        made.remove_body("box 2")
        return made

    session.rebuild(remove).result(PATIENCE)
    session.step(10).result(PATIENCE)
    until(lambda: session.frame.steps == 80)
    session.record.look_back(marked - 1e-9).result(PATIENCE)
    assert "box 2" in session.frame.picture.scene
    session.record.go_on().result(PATIENCE)
    assert type(session.frame.picture.methods.joints).__name__ == "Direct"
    digest, steps = state_of(session)
    assert digest == plain(steps, (20, push))


def test_a_body_that_was_pulled_is_where_it_was(session, until):
    hand = SpringHand(grab(session.frame.picture, "box 1", (0.4, 0, 0.7)), np.array((0.4, 0.5, 1.5)))
    take(session, hand).result(PATIENCE)
    session.set_speed(1.0)
    session.play()
    until(lambda: session.frame.steps > 60)
    seen = {}

    def motion(sim):
        return sim.state.steps, sim.state.position.tobytes(), sim.state.angular_velocity.tobytes()

    session.do(lambda sim: sim.after_step(lambda sim: seen.update({sim.state.steps: motion(sim)})))
    until(lambda: session.frame.steps > 120)
    session.pause().result(PATIENCE)
    let_go(session, hand).result(PATIENCE)
    session.do(lambda sim: sim.observers.detach(lambda entry: True)).result(PATIENCE)
    session.record.look_back(session.frame.timeline.end - 0.1).result(PATIENCE)
    session.record.go_on().result(PATIENCE)
    found = session.read(motion).result(PATIENCE)[0]
    assert found == seen[found[0]]


def test_what_was_recorded_is_shown_again_and_again(session, until):
    session.play()
    until(lambda: session.frame.time > 0.4)
    session.pause().result(PATIENCE)
    end, before = session.frame.timeline.end, state_of(session)
    session.record.set_loop(True)
    session.set_speed(2.0)
    session.record.play().result(PATIENCE)
    times = []

    def turned():
        times.append(session.frame.time)
        return any(later < earlier for earlier, later in pairwise(times))

    until(turned)
    assert session.frame.timeline.playing
    assert max(times) <= end
    session.record.set_loop(False)
    until(lambda: not session.frame.timeline.playing)
    assert session.frame.time == end
    assert state_of(session) == before


def test_the_reel_takes_bounded_room_and_keeps_the_whole_run(session, until):
    reel = session.record.reel
    session.step(60).result(PATIENCE)
    until(lambda: session.frame.steps == 60)
    reel.most_bytes = 24 * reel.shots[-1].moment.bytes
    for _ in range(60):
        session.do(lambda sim: None).result(PATIENCE)
        session.step(3).result(PATIENCE)
        until(lambda: not session.frame.playing)
    moments = {id(shot.moment): shot.moment for shot in reel.shots}.values()
    assert sum(moment.bytes for moment in moments) <= reel.most_bytes
    assert reel.span == (0.0, session.frame.time)
    assert reel.gap < 0.5 * session.frame.time
    session.record.look_back(0.6 * session.frame.time).result(PATIENCE)
    session.record.go_on().result(PATIENCE)
    digest, steps = state_of(session)
    assert digest == plain(steps)


def test_a_long_run_leaves_frames_evenly_apart_and_the_newest_as_they_were():
    times = np.zeros(0)
    for step in range(20_000):
        times = np.append(times, 0.03 * step)
        if len(times) > 400:
            times = times[thinned(times)]
    gaps = np.diff(times)
    assert times[0] == 0.0
    assert gaps.max() < 3.0 * times[-1] / 100
    assert gaps[-100:].max() == pytest.approx(0.03)


def test_plots_are_not_drawn_back_by_looking_back_and_another_scene_begins_another_reel(session, until):
    run_to(session, 50, until)
    session.record.look_back(0.0).result(PATIENCE)
    assert session.frame.timeline.past
    session.open(lambda: rb.Simulation(MENU["pendulum"].build(), time_step=0.01)).result(PATIENCE)
    assert not session.frame.timeline.past
    assert session.frame.timeline.end == 0.0
    assert session.frame.timeline.count == 1


@pytest.mark.parametrize("settings", [{"preset": "fast"}, {"joints": "iterative", "contact_every": 2, "substeps": 3}])
def test_settings_of_methods_choose_these_methods(settings):
    sim, other = (rb.Simulation(bouncing(), time_step=0.01) for _ in range(2))
    sim.use(**settings)
    other.use(preset="accurate", integrator="rk4")
    other.use(**settings_of(sim.methods))
    assert other.methods == sim.methods
