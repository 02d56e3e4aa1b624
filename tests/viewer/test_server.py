"""The server of the page when nobody listens any more."""

import warnings

import pytest

pytest.importorskip("viser")

from rattleback.viewer.front import Front
from rattleback.viewer.gate import Gate
from rattleback.viewer.server import make_server, stop_server


@pytest.mark.parametrize("end", [stop_server, lambda server: server.stop()], ids=["by us", "by viser, as at exit"])
def test_what_is_said_after_the_page_is_closed_is_lost_without_a_word(end):
    server = make_server(Gate(), Front("closed"), "127.0.0.1", port=0)
    text = server.gui.add_text("time", "0 s")
    end(server)
    with warnings.catch_warnings(record=True) as heard:
        text.value = "1 s"
    assert heard == []
