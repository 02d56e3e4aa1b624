"""The timeline in a real browser: the run is scrubbed back, gone on from there, and played again."""

import pytest

import rattleback as rb
from rattleback.scenes import MENU
from rattleback.viewer.panels.control import Control
from rattleback.viewer.timeline.panel import TimelinePanel


@pytest.fixture
def window(open_page):
    # Nothing is drawn: software WebGL takes its time.
    return open_page(rb.Simulation(MENU["pendulum"].build(), time_step=0.01), Control, TimelinePanel)


def test_the_run_is_scrubbed_back_and_goes_on_from_there(window, visit, until, keep):
    session, page = window.session, visit(window.address, 600, 640)
    page.get_by_role("button", name="Play", exact=True).click()
    until(lambda: session.frame.time > 0.8)
    page.get_by_role("button", name="Pause").click()
    until(lambda: not session.frame.playing)
    page.get_by_text("pictures,").wait_for()
    end = session.frame.timeline.end
    page.get_by_role("slider").first.focus()
    page.keyboard.press("Home")
    until(lambda: session.frame.timeline.past)
    page.get_by_text("You look back; Play goes on from here.").wait_for()
    keep(page, "timeline")
    page.get_by_role("button", name="Play recording").click()
    until(lambda: session.frame.timeline.playing)
    page.get_by_role("button", name="Stop").click()
    until(lambda: not session.frame.timeline.playing)
    seen = session.frame.time
    assert 0.0 <= seen <= end
    page.get_by_role("button", name="Go on from here").click()
    until(lambda: not session.frame.timeline.past)
    assert session.frame.time == seen
    page.get_by_role("button", name="Step", exact=True).click()
    until(lambda: session.frame.time > seen)
    assert session.frame.timeline.end == session.frame.time
    assert not [notice for notice in session.notices if notice.fault]


def test_the_ends_single_pictures_and_the_loop_are_reached_by_controls(window, person, until):
    session = window.session
    panel = next(part for part in window.parts if isinstance(part, TimelinePanel))
    assert panel.play.disabled
    for _ in range(4):
        session.step(3).result()
    until(lambda: session.frame.steps == 12 and not session.frame.playing)
    panel.press("Start").result()
    assert session.frame.steps == 0
    panel._nudge(1).result()
    first = session.frame.steps
    assert 0 < first < 12
    panel._nudge(-5).result()
    assert session.frame.steps == 0
    panel.press("End").result()
    assert session.frame.steps == 12
    person.turn(panel.loop.handle, True)
    until(lambda: session.frame.timeline.loop)
    panel.toggle().result()
    until(lambda: session.frame.timeline.playing)
    panel.toggle().result()
    assert not session.frame.timeline.playing
    until(lambda: not panel.play.disabled)
