import sys
import time
import types
from urllib.parse import urlsplit

import pytest

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.scenes import pendulum
from rattleback.viewer import view as module
from rattleback.viewer.door import Door


@pytest.fixture
def sim():
    return rb.Simulation(pendulum(), time_step=0.01)


def test_it_plays_once_it_is_looked_at_and_says_where(sim, capsys, until, visitor):
    with rb.view(sim, wait=False, browser=False) as shown:
        time.sleep(0.3)
        assert shown.session.frame.steps == 0
        with visitor.enter(shown.window) as client:
            visitor.look(client)
            until(lambda: shown.session.frame.steps > 2)
        shown.session.pause().result(10)
        with visitor.enter(shown.window) as client:
            visitor.look(client)
            until(lambda: len(shown.window.server.get_clients()) == 1)
            assert not shown.session.frame.playing
        assert "The simulator is at http://127.0.0.1:" in capsys.readouterr().out
        assert repr(shown).startswith("<simulator of 'pendulum' at http://127.0.0.1:")
    assert repr(shown) == "<simulator of 'pendulum' closed>"
    steps = sim.state.steps
    sim.step()
    assert sim.state.steps == steps + 1


def test_it_can_wait_for_the_user(sim):
    with rb.view(sim, wait=False, browser=False, playing=False) as shown:
        assert not shown.session.frame.playing
        assert shown.session.frame.steps == 0


def test_it_comes_back_after_an_interrupt_from_the_keyboard(sim, monkeypatch):
    def interrupted(self, timeout=None):
        raise KeyboardInterrupt

    shown = rb.view(sim, wait=False, browser=False)
    monkeypatch.setattr(shown._closed, "wait", types.MethodType(interrupted, shown._closed))
    shown.wait()
    assert "closed" in repr(shown)
    shown.close()


def test_a_browser_is_opened_where_there_is_a_screen(sim, monkeypatch):
    opened = []
    monkeypatch.setattr(module.webbrowser, "open", opened.append)
    rb.view(sim, wait=False, browser=True).close()
    assert opened[0].startswith("http://127.0.0.1:")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    assert module.has_screen()
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not module.has_screen()


def test_a_notebook_shows_the_page_in_its_output(sim, monkeypatch):
    shown, notebook = [], types.ModuleType("IPython.display")
    notebook.IFrame = lambda address, **size: (address, size)
    notebook.display = shown.append
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    rb.view(sim, inline=True).close()
    assert shown[0][0].startswith("http://localhost:")


def test_the_address_is_good_for_every_browser_and_that_in_a_notebook_for_one(sim, visitor):
    with rb.view(sim, wait=False, browser=False) as shown:

        def ask(address):
            return visitor.ask(shown.window, f"/?{urlsplit(address).query}")[0]

        assert [ask(shown.address) for _ in range(3)] == [303] * 3
        once = shown.window.address_for_one
        assert [ask(once) for _ in range(2)] == [303, 403]


def test_inline_without_a_notebook_is_refused_and_nothing_is_left_open(sim, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(InputError, match="inline=True shows the simulator in a notebook"):
        rb.view(sim, inline=True)


def test_only_simulations_can_be_viewed():
    with pytest.raises(InputError, match=r"What view is to show"):
        rb.view([pendulum()], wait=False)
    with pytest.raises(InputError, match="view"):
        rb.view(rb.Simulation(pendulum()), nonsense=True)


def test_the_page_is_served_where_the_door_says(sim):
    with rb.view(sim, wait=False, browser=False, door=Door(token="a-token-of-our-own")) as shown:
        assert shown.address.endswith("/?token=a-token-of-our-own")


def test_without_viser_a_sentence_says_how_to_get_it(sim, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    from rattleback.viewer.server import load_viser

    with pytest.raises(InputError, match=r"pip install 'rattleback\[viewer\]'"):
        load_viser()
