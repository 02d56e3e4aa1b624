"""The server of the page: viser's, behind the gate, on this machine only unless told otherwise, without a tunnel.

viser 1.1.1 has no login, accepts any origin, believes every message and lets every client ask for a public address. Its
server is therefore made with a gate in front of every request and an intake in front of every message, and what opens
tunnels is taken out. The version is pinned: this file leans on how viser makes its server.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import threading
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.viewer.faults import catch_faults
from rattleback.viewer.gate import Answer, Gate
from rattleback.viewer.intake import Filtered, Intake
from rattleback.viewer.page_log import PageLog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import viser

    from rattleback.viewer.front import Front

_making = threading.Lock()
# Connections that break are the business of their clients; the user's terminal need not hear of it.
_log = logging.getLogger("rattleback.viewer.server")
_log.addHandler(logging.NullHandler())
_log.propagate = False


def load_viser() -> Any:
    """The package that serves the page; where it is missing, a sentence says how to get it."""
    try:
        import viser
    except ImportError:
        wanted = "pip install 'rattleback[viewer]'"
        raise InputError(f"The viewer needs the package viser; install it with {wanted}.") from None
    return viser


def make_server(
    gate: Gate, front: Front, listen: str, port: int, tell: Callable[[str], Any] = lambda text: None
) -> viser.ViserServer:
    """A running server.

    Args:
        gate: Decides about every request.
        front: The page, and what it is called.
        listen: Address to listen at.
        port: Port to listen at; where it is taken, the next free one; 0 for any.
        tell: Called with the words of a fault in what the page has carried out.
    """
    viser, log = load_viser(), PageLog()
    intake = Intake(log)
    with _making, _guarded(gate, front, intake), _quiet():
        server = viser.ViserServer(host=listen, port=port, label=front.title, verbose=False)
    intake.server = server
    catch_faults(server, log, tell)
    # viser ends what is left of its servers at exit, after this; a thread may still have something to say then.
    atexit.register(_hush)
    server._websock_server._broadcast_buffer._warned_push_after_done = True
    server._websock_server.on_client_connect(_let_go_quietly)
    _close_tunnels(server)
    # Beside the scene, not over it.
    server.gui.main_panel.dock_right()
    return server


def send_poses(handle: Any, positions: Any, turns: Any) -> None:
    """Move the instances of a batch, in one message.

    Args:
        handle: The batch.
        positions: Their places (instances, 3) [m].
        turns: Their quaternions, w first (instances, 4).
    """
    send_props(handle, batched_positions=positions.astype(np.float32), batched_wxyzs=turns.astype(np.float32))


def send_props(handle: Any, **values: Any) -> None:
    """Change a node of the scene, in one message and without the checks that viser's handles do on every write.

    Args:
        handle: The node.
        **values: Its new properties, in the types that the page wants.
    """
    from viser import _messages

    for name, value in values.items():
        setattr(handle._impl.props, name, value)
    handle._impl.api._queue_scene_message(_messages.SceneNodeUpdateMessage(handle.name, values))


def stop_server(server: viser.ViserServer) -> None:
    """End a server, without a word."""
    with _quiet():
        server.stop()


def dress(server: Any, dark: bool = False) -> None:
    """The theme of the page, light or dark."""
    server.gui.configure_theme(dark_mode=dark, show_logo=False, show_share_button=False)


class _Patched:
    """A module with other attributes in front of its own."""

    def __init__(self, module: Any, **others: Any) -> None:
        self._module = module
        self.__dict__.update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@contextlib.contextmanager
def _guarded(gate: Gate, front: Front, intake: Intake) -> Iterator[None]:
    """While this is open, servers that viser makes ask the gate about requests and the intake about messages."""
    import viser.infra._infra
    import websockets.asyncio.server

    def serve(handler: Any, *arguments: Any, process_request: Any, **options: Any) -> Any:
        async def take_in(connection: Any) -> None:
            if await intake.admits(connection):
                await handler(Filtered(connection, intake))

        def judge_first(connection: Any, request: Any) -> Any:
            return (
                _refusal(gate, connection, request) or _answer(front, request) or process_request(connection, request)
            )

        return websockets.asyncio.server.serve(take_in, *arguments, process_request=judge_first, logger=_log, **options)

    infra: Any = viser.infra._infra
    own = infra.websockets
    inner = _Patched(own.asyncio, server=_Patched(own.asyncio.server, serve=serve))
    infra.websockets = _Patched(own, asyncio=inner)
    try:
        yield
    finally:
        infra.websockets = own


def _refusal(gate: Gate, connection: Any, request: Any) -> Any:
    """What a gate answers to a request instead of what it asked for; None to let it in."""
    try:
        answer = gate.judge(request.path, request.headers, connection.local_address[0])
    except LookupError:
        answer = Answer(HTTPStatus.BAD_REQUEST, "A header that may come once comes twice.")
    if answer is None:
        return None
    return _response(answer)


def _answer(front: Front, request: Any) -> Any:
    """What the front answers to a request; None where it is for viser, as those for connections are."""
    if request.headers.get("Upgrade"):
        return None
    try:
        answer = front.answer(request.path, request.headers)
    except LookupError:
        answer = Answer(HTTPStatus.BAD_REQUEST, "A header that may come once comes twice.")
    return None if answer is None else _response(answer)


def _response(answer: Answer) -> Any:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    body = answer.text if isinstance(answer.text, bytes) else answer.text.encode()
    headers = Headers([*answer.headers, ("Content-Length", str(len(body))), ("Cache-Control", "no-store")])
    return Response(answer.status, answer.status.phrase, headers, body)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """While this is open, viser prints nothing."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _hush() -> None:
    import rich

    rich.get_console().quiet = True


def _let_go_quietly(connection: Any) -> None:
    """What is said to a client that has just gone is lost without a word."""
    connection.get_message_buffer()._warned_push_after_done = True


def _close_tunnels(server: Any) -> None:
    """Take out what lets a client ask for a public address."""
    from viser import _messages

    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)
    dress(server)
