"""Replays: one HTML file that shows a run again."""

from dataclasses import replace

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import MENU
from rattleback.viewer.frame import take_picture
from rattleback.viewer.replay_page import compose


def make(name="pendulum"):
    return rb.Simulation(MENU[name].build(), time_step=0.01)


def test_a_run_becomes_one_file_and_the_simulation_is_that_much_later(tmp_path):
    sim = make()
    rb.replay_page(sim, tmp_path / "run.html", duration=0.35, rate=20.0)
    assert sim.time == pytest.approx(0.35, abs=1e-12)
    text = (tmp_path / "run.html").read_text()
    assert text.lstrip().lower().startswith("<!doctype html>")
    assert "__VISER_EMBED_DATA__" in text


def test_the_run_is_the_one_without_a_replay(tmp_path):
    watched, alone = make(), make()
    rb.replay_page(watched, tmp_path / "run.html", duration=0.4, rate=10.0)
    alone.run(0.4)
    assert np.allclose(watched.state.position, alone.state.position, atol=1e-12)


def test_a_thousand_bodies_take_some_megabytes(tmp_path):
    sim = rb.Simulation(MENU["swarm"].build(count=1000), time_step=0.01, contacts="none")
    rb.replay_page(sim, tmp_path / "run.html", duration=1.0, rate=30.0)
    one_second = (tmp_path / "run.html").stat().st_size
    assert one_second < 2.5e6


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run.htm", 1.0), "its name must end with one of '.html'"),
        (("run.html", 0.0), "The duration is 0.0"),
        (("run.html", 1.0, -5.0), "The rate of a replay is -5.0"),
    ],
)
def test_what_cannot_be_replayed_is_named(tmp_path, arguments, sentence):
    path, *rest = arguments
    with pytest.raises(rb.InputError, match=sentence):
        rb.replay_page(make(), tmp_path / path, *rest)
    assert not list(tmp_path.iterdir())


def test_nothing_recorded_is_no_replay():
    with pytest.raises(rb.InputError, match="There is nothing to replay yet"):
        compose([])


def test_only_a_simulation_is_replayed(tmp_path):
    with pytest.raises(rb.InputError, match="What is replayed"):
        rb.replay_page(MENU["pendulum"].build(), tmp_path / "run.html", 1.0)


def test_a_run_that_went_back_is_replayed_without_waiting(open_page):
    session = open_page(make()).session
    first = session.frame
    session.step(3).result()
    later = replace(first, time=0.03, pictures=session.do(lambda sim: take_picture(sim, "0", (), {})).result())
    assert "__VISER_EMBED_DATA__" in compose([first, later, first])


def test_the_page_plays_by_itself_without_a_server(tmp_path, chromium, until):
    rb.replay_page(make(), tmp_path / "run.html", duration=1.0)
    context = chromium.new_context(viewport={"width": 320, "height": 240}, offline=True)
    try:
        page = context.new_page()
        page.goto((tmp_path / "run.html").as_uri())
        page.wait_for_selector("canvas")
        clock = page.locator("input").first
        clock.wait_for()
        before = clock.input_value()
        until(lambda: clock.input_value() != before)
    finally:
        context.close()
