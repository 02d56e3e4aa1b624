"""Clients of the page: who may come in, two at once, one that does not read, one that comes back."""

import threading
import time
from urllib.parse import urlsplit

import msgspec
import numpy as np
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import rattleback as rb
from rattleback.scenes import pendulum, swarm
from rattleback.viewer.drawing.bodies import Bodies
from rattleback.viewer.session import Session
from rattleback.viewer.window import Window


@pytest.fixture
def window(open_page):
    return open_page(rb.Simulation(swarm(count=20), time_step=0.01, contacts="none"), Bodies)


def test_the_page_is_served_to_those_who_have_the_key(window, visitor):
    assert visitor.ask(window, "/", Cookie=visitor.key(window))[0] == 200


@pytest.mark.parametrize(
    "headers",
    [{}, {"Cookie": "rattleback=guess"}, {"Host": "evil.example"}, {"Origin": "http://evil.example"}],
    ids=["no token", "wrong cookie", "wrong host", "wrong origin"],
)
def test_others_get_neither_the_page_nor_a_connection(window, visitor, headers):
    given = {"Cookie": visitor.key(window)} | headers if {"Host", "Origin"} & set(headers) else headers
    assert visitor.ask(window, "/", **given)[0] == 403
    assert visitor.ask(window, "/index.html", **given)[0] == 403
    address = f"ws://{urlsplit(window.address).netloc}/"
    # The library adds its own Host to ours; a header that comes twice is refused as well.
    with pytest.raises(InvalidStatus, match="HTTP 40[03]"):
        connect(address, additional_headers=given, subprotocols=["viser-v1.1.1"])


def test_a_wrong_token_is_refused(window, visitor):
    assert visitor.ask(window, "/?token=guess")[0] == 403


def test_nobody_can_ask_for_a_public_address(window):
    from viser import _messages

    handlers = window.server._websock_server._incoming_handlers
    assert not handlers.get(_messages.ShareUrlRequest)
    assert not handlers.get(_messages.ShareUrlDisconnect)


def test_only_this_machine_is_listened_to(window):
    assert window.server.get_host() == "127.0.0.1"


def frames(socket, count):
    """Read so many messages with places of bodies."""
    seen = 0
    while seen < count:
        seen += b"batched_positions" in _unpacked(socket.recv(timeout=10))
    return seen


def _unpacked(message):
    import zstandard

    packed = int.from_bytes(message[8:16], "little")
    return zstandard.ZstdDecompressor().decompress(message[16 : 16 + packed])


def test_two_clients_at_once_both_see_it_move(window, visitor):
    window.session.play()
    with visitor.enter(window) as one, visitor.enter(window) as two:
        assert frames(one, 5) == frames(two, 5) == 5


def test_a_client_that_does_not_read_stops_neither_the_simulation_nor_others(window, visitor, until):
    window.session.play()
    with visitor.enter(window) as idle, visitor.enter(window) as reader:
        assert idle is not None
        first = window.session.frame.steps
        assert frames(reader, 20) == 20
        until(lambda: window.session.frame.steps > first + 20)
        # What waits for the client that does not read is the newest state, not all that ever was.
        waiting = window.server._websock_server._broadcast_buffer.message_from_id
        before = len(waiting)
        assert frames(reader, 20) == 20
        assert len(waiting) <= before + 5


def test_a_client_that_comes_back_sees_the_scene_again(window, visitor):
    cookie = visitor.key(window)
    window.session.play()
    for _ in range(3):
        with visitor.enter(window, Cookie=cookie) as socket:
            assert frames(socket, 2) == 2


def test_what_went_wrong_before_anybody_came_is_told_to_the_first_client(window, visitor, until):
    for k in range(20):
        window.session.tell(f"The script failed the {k}th time.", fault=True)
    time.sleep(0.3)
    with visitor.enter(window) as socket:
        visitor.look(socket)
        text = heard(socket, b"the 19th time")
    assert b"the 15th time" in text
    assert b"the 19th time" in text
    assert b"the 14th time" not in text


def heard(socket, words, seconds=10.0):
    """What a client is sent until these words come."""
    text, end = b"", time.monotonic() + seconds
    while words not in text and time.monotonic() < end:
        try:
            text += _unpacked(socket.recv(timeout=0.1))
        except TimeoutError:
            continue
    return text


def test_a_command_that_takes_long_is_said_to_be_under_way_until_it_is_over(window, visitor, until):
    with visitor.enter(window) as socket:
        visitor.look(socket)
        until(lambda: len(window.server.get_clients()) == 1)
        over = threading.Event()
        slow = window.session.do(lambda sim: over.wait(20.0))
        assert b"is compiled" in heard(socket, b"is compiled")
        assert not slow.done()
        over.set()
        assert b"RemoveNotification" in heard(socket, b"RemoveNotification")


def test_a_flood_of_messages_leaves_the_simulation_running(window, visitor, until):
    window.session.play()
    noise = msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "none", "updates": {"value": 1}})
    with visitor.enter(window) as socket:
        first, begun = window.session.frame.steps, time.perf_counter()
        for _ in range(100):
            socket.send(noise)
            time.sleep(0.002)
        until(lambda: window.session.frame.steps > first + 10)
        assert frames(socket, 2) == 2
        assert time.perf_counter() - begun < 10.0


def test_a_message_that_makes_no_sense_harms_no_client(window, visitor, until):
    window.session.play()
    with visitor.enter(window) as reader:
        with visitor.enter(window) as vandal:
            vandal.send(b"\xc1 nonsense")
            assert frames(vandal, 2) == 2
        first = window.session.frame.steps
        until(lambda: window.session.frame.steps > first + 3)
        assert frames(reader, 2) == 2


def test_a_window_that_is_closed_leaves_the_session_running(until):
    session = Session([rb.Simulation(pendulum(), time_step=0.01)])
    session.start()
    session.play()
    Window(session, parts=(Bodies,)).close()
    steps = session.frame.steps
    until(lambda: session.frame.steps > steps)
    session.stop()


@pytest.mark.slow
def test_a_browser_shows_the_scene_and_shows_it_again_when_the_connection_was_lost(window, visit, keep, until):
    page = visit(window.address)
    window.session.play()
    first = page.screenshot()
    until(lambda: page.screenshot() != first)
    window.server._websock_server.disconnect_all_clients()
    until(lambda: len(window.server.get_clients()) == 1, seconds=30)
    second = page.screenshot()
    until(lambda: page.screenshot() != second, seconds=30)
    keep(page, "reconnected")
    assert np.isfinite(window.session.frame.time)
