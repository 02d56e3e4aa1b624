"""A real browser for the tests of the page: headless Chromium with software WebGL."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOW_TO_GET_ONE = "needs a browser: apt-get install chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PICTURES = Path(os.environ.get("RATTLEBACK_PICTURES", Path(__file__).parents[2] / "out" / "viewer"))


@pytest.fixture(scope="session")
def chromium():
    """The browser, one for all tests of a process."""
    if CHROMIUM is None:
        pytest.skip(HOW_TO_GET_ONE)
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Open an address in a window of its own; returns the page once the scene is drawn."""
    contexts = []

    def go(address: str, width: int = 640, height: int = 400):
        context = chromium.new_context(viewport={"width": width, "height": height})
        contexts.append(context)
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("canvas")
        return page

    yield go
    for context in contexts:
        context.close()


@pytest.fixture
def keep():
    """Keep a screenshot of a page among the artefacts."""

    def save(page, name: str) -> Path:
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}.png"
        page.screenshot(path=str(path))
        return path

    return save


class Person:
    """Somebody at the page without a browser: turns controls as messages from a client do, and keeps what is sent."""

    def __init__(self):
        self.files = {}

    def turn(self, handle, value):
        """Set a control."""
        from viser import GuiEvent

        handle._impl.value = value
        for tell in handle._impl.update_cb:
            tell(GuiEvent(self, 1, handle))

    def press(self, handle, name=True):
        """Press a button, or one of a group."""
        self.turn(handle, name)

    def send_file_download(self, filename, content, **_):
        """Take a file."""
        self.files[filename] = content


@pytest.fixture
def person():
    """Somebody at the page without a browser."""
    return Person()


class Visitor:
    """A client without a screen, which speaks to a page as the page of a browser does."""

    def ask(self, window, path, **headers):
        """Status and headers of the answer to a request."""
        there = urlsplit(window.address)
        asking = http.client.HTTPConnection(there.hostname, there.port, timeout=10)
        asking.request("GET", path, headers=headers)
        with contextlib.closing(asking):
            answer = asking.getresponse()
            answer.read()
            return answer.status, answer.headers

    def key(self, window):
        """A cookie, in exchange for a token."""
        return self.ask(window, f"/?{urlsplit(window.address).query}")[1]["Set-Cookie"].split(";")[0]

    def enter(self, window, language="viser-v1.1.1", **headers):
        """A connection."""
        from websockets.sync.client import connect

        given = {"Cookie": self.key(window)} | headers
        address = f"ws://{urlsplit(window.address).netloc}/"
        options = {"subprotocols": [language], "max_size": None, "compression": None, "close_timeout": 0.2}
        return connect(address, additional_headers=given, **options)

    def look(self, socket):
        """Say where the camera is, as a page does when it has drawn the scene."""
        import msgspec

        said = {
            "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [3.0, 3.0, 3.0],
            "image_height": 400, "image_width": 600, "fov": 0.75, "near": 0.01, "far": 1000.0,
            "look_at": [0.0, 0.0, 0.0], "up_direction": [0.0, 0.0, 1.0],
        }  # fmt: skip
        socket.send(msgspec.msgpack.encode(said))


@pytest.fixture(scope="session")
def visitor():
    """A client without a screen."""
    return Visitor()


@pytest.fixture
def open_page():
    """Open the page of a simulation with some parts; returns its window."""
    from rattleback.viewer.session import Session
    from rattleback.viewer.window import Window

    windows = []

    def go(sim, *parts):
        session = Session([sim])
        windows.append(Window(session, parts=parts))
        session.start()
        return windows[-1]

    yield go
    for window in windows:
        window.close()
        window.session.stop()


@pytest.fixture
def until():
    """Wait until something holds."""

    def wait(holds, seconds=10.0):
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, "it never held"
            time.sleep(0.01)

    return wait
