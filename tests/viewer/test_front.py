"""The front of the page: its title, what is said when the server has ended, messages, lists, narrow windows."""

from __future__ import annotations

import pytest

import rattleback as rb
from rattleback.scenes import MENU, pendulum
from rattleback.viewer.drawing.bodies import Bodies
from rattleback.viewer.front import NAME, Front
from rattleback.viewer.panels.control import Control


def test_the_title_is_that_of_the_scene_and_cannot_write_into_the_page():
    answer = Front("<script>alert(1)</script>").answer("/?a=1")
    page = answer.text
    assert dict(answer.headers)["Content-Type"].startswith("text/html")
    assert "<title>&lt;script&gt;alert(1)&lt;/script&gt;</title>" in page
    assert "<script>alert(1)" not in page
    assert "<title>Viser" not in page
    answer = Front("<b>").answer(NAME)
    assert (dict(answer.headers)["Content-Type"], answer.text) == ("text/plain; charset=utf-8", "<b>")
    assert Front("a").answer("/assets/other.js") is None


@pytest.fixture
def window(open_page):
    return open_page(rb.Simulation(pendulum(), time_step=0.01), Bodies, Control)


def test_the_name_is_told_to_those_with_the_key_only(window, visitor):
    assert visitor.ask(window, NAME)[0] == 403
    assert visitor.ask(window, "/index.html")[0] == 403
    key = visitor.key(window)
    assert visitor.ask(window, NAME, Cookie=key)[0] == 200
    assert visitor.ask(window, NAME, Cookie=key, Origin="http://evil.example")[0] == 403


@pytest.mark.slow
def test_a_browser_shows_the_name_whole_messages_and_that_the_server_ended(window, visit, keep, until):
    page = visit(window.address, 900, 600)
    assert page.title() == "pendulum"
    window.rename("another")
    until(lambda: page.title() == "another", seconds=30.0)
    window.session.tell("One line.\nAnother line.\n" + "Many words. " * 60 + "The end.", fault=True)
    said = page.locator(".mantine-Notification-description", has_text="Many words")
    said.wait_for()
    box = said.bounding_box()
    assert box["y"] >= 0.0
    assert box["y"] + box["height"] <= 600.0
    assert "One line.\nAnother line.\n" in said.inner_text()
    # What does not fit is scrolled to, and nothing is cut above or below.
    assert said.evaluate("seen => seen.scrollTop === 0 && getComputedStyle(seen).overflowY === 'auto'")
    speed = page.locator("input.mantine-Select-input:visible").first
    speed.click()
    page.keyboard.type("2")
    assert speed.input_value() == "2"
    assert page.locator("#rattleback-ended").is_hidden()
    window._host.stop()
    page.get_by_text("The simulator has ended").wait_for(timeout=30_000)
    keep(page, "ended")


@pytest.mark.slow
def test_a_narrow_window_shows_the_scene_and_the_panel_unfolds_when_touched(open_page, visit, keep, until):
    window = open_page(rb.Simulation(MENU["tree"].build(), time_step=0.03), Bodies, Control)
    page = visit(window.address, 400, 700)
    play = page.get_by_role("button", name="Play")
    until(lambda: len(window.server.get_clients()) == 1, seconds=30.0)
    page.get_by_text("tree", exact=True).wait_for()
    until(lambda: not play.is_visible(), seconds=30.0)
    page.get_by_label("Run or pause").click()
    until(lambda: window.session.frame.playing)
    page.locator("#rattleback-strip").get_by_text("tolerance").wait_for()
    keep(page, "narrow_folded")
    page.get_by_label("Run or pause").click()
    until(lambda: not window.session.frame.playing)
    page.get_by_text("tree", exact=True).click()
    play.wait_for()
    box = page.locator(".mantine-Paper-root", has=play).first.bounding_box()
    assert box["width"] == 400.0
    assert box["y"] >= 350.0
    page.get_by_label("Run or pause").wait_for(state="hidden")
    keep(page, "narrow_unfolded")
