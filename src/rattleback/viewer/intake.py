"""The intake: every message of a client is looked at here, and what no page would send goes no further.

viser 1.1.1 believes what it is sent: a field too many ends a connection, an odd value ends up in its handles or in what
it sends to the others, and each prints a traceback. So what a client sends is unpacked and judged before viser reads
it, with what is on the page at that moment. This file leans on where viser keeps its handles.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.messages import is_number, is_text, misfit, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.viewer.page_log import PageLog

# A file of a client is no larger than this [bytes], and it sends no more than so many at once.
LARGEST_FILE, MOST_FILES = 1 << 30, 8
# Pixels of a window, at most.
MOST_PIXELS = 1 << 16
# Turns are quaternions of about length one; sliders end where they should but for this.
UNIT_TOLERANCE, ROUNDING = 0.1, 1e-9


class Unfit(Exception):
    """What is wrong with a message.

    Attributes:
        usual: Whether that happens in ordinary use: a number while it is typed, a control that has just gone.
    """

    def __init__(self, reason: str, usual: bool = False) -> None:
        super().__init__(reason)
        self.usual = usual


class Intake:
    """Judges what clients send.

    Attributes:
        server: What serves the page; None until it is made.

    Args:
        log: Where a line of each refusal goes.
    """

    def __init__(self, log: PageLog) -> None:
        self.server: Any = None
        self._log = log

    async def admits(self, connection: Any) -> bool:
        """Whether a connection speaks the language of the page; if not, it is closed."""
        from viser import __version__

        if self.server is not None and connection.subprotocol == f"viser-v{__version__}":
            return True
        if self.server is not None:
            self._log.warn(f"The page refused a client: it speaks {shown(connection.subprotocol)}.")
            # The page of another version of viser says so when it sees this number.
            await connection.close(1002, "This page is of another version.")
        return False

    def passes(self, raw: Any, client: int) -> bool:
        """Whether a message goes further; if not, that is logged.

        Args:
            raw: What came.
            client: Number of the client.
        """
        try:
            self.judge(raw, client)
        except Unfit as fault:
            note = self._log.mention if fault.usual else self._log.warn
            note(f"The page refused a message: {fault}.")
            return False
        return True

    def judge(self, raw: Any, client: int) -> None:
        """Refuse a message that no page sends, or none that shows what is there now.

        Args:
            raw: What came.
            client: Number of the client.

        Raises:
            Unfit: It says why.
        """
        message = _unpacked(raw)
        if wrong := misfit(message):
            raise Unfit(wrong)
        check: Callable[[Any, Any, int], None] = CHECKS[message["type"]]
        check(self.server, message, client)


class Filtered:
    """A connection that gives only those of its messages that pass an intake.

    Args:
        connection: The connection.
        intake: What its messages have to pass.
    """

    def __init__(self, connection: Any, intake: Intake) -> None:
        self._connection, self._intake = connection, intake

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def recv(self) -> bytes:
        """The next message that passes."""
        while True:
            # What came before is carried out first, since it may change what the next one means.
            await asyncio.sleep(0)
            raw = await self._connection.recv()
            if self._intake.passes(raw, self._number()):
                return bytes(raw)

    def _number(self) -> int:
        """Number of the client, once it has one."""
        live = self._intake.server._websock_server._live_connections
        return next((int(number) for number, there in list(live.items()) if there is self), -1)


def _unpacked(raw: Any) -> Any:
    """What a message holds."""
    import msgspec

    if not isinstance(raw, bytes):
        raise Unfit("it is text")
    try:
        return msgspec.msgpack.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Unfit("it cannot be unpacked") from None


def _camera(server: Any, message: Any, client: int) -> None:
    """A camera is somewhere, looks somewhere else, and is upright somehow."""
    away = np.subtract(message["look_at"], message["position"])
    sizes = message["image_width"], message["image_height"]
    if not (np.any(away) and np.any(message["up_direction"]) and _is_turn(message["wxyz"])):
        raise Unfit("a camera that looks nowhere")
    if not (0.0 < message["fov"] < np.pi and 0.0 < message["near"] < message["far"]):
        raise Unfit("a camera that sees nothing")
    if not all(0 <= size <= MOST_PIXELS for size in sizes):
        raise Unfit(f"a window of {sizes[0]} by {sizes[1]} pixels")


def _pointer(server: Any, message: Any, client: int) -> None:
    """A click on the scene has a ray and a place on the screen; nothing else is listened to."""
    if message["event_type"] != "click" or len(message["screen_pos"]) != 1 or message["ray_origin"] is None:
        raise Unfit("a click without a place")
    _ray(message["ray_direction"])


def _click(server: Any, message: Any, client: int) -> None:
    _instance(_node(server, message["name"]), message["instance_index"])
    _ray(message["ray_direction"])


def _drag(server: Any, message: Any, client: int) -> None:
    """A drag starts on something that is there, and goes on after it has started."""
    if message["phase"] == "start":
        _instance(_node(server, message["name"]), message["instance_index"])
    elif (client, message["name"]) not in server.scene._active_drag_handles:
        raise Unfit("a drag that never started", usual=True)


def _grip(server: Any, message: Any, client: int) -> None:
    if message["name"] not in server.scene._handle_from_transform_controls_name:
        raise Unfit(f"there is no manipulator {shown(message['name'])}", usual=True)


def _gripped(server: Any, message: Any, client: int) -> None:
    """A manipulator is moved after it was taken."""
    if (client, message["name"]) not in server.scene._active_transform_drag_handles:
        raise Unfit("a manipulator that was never taken", usual=True)
    if "wxyz" in message and not _is_turn(message["wxyz"]):
        raise Unfit("a manipulator with a turn of no length")


def _update(server: Any, message: Any, client: int) -> None:
    """A control gets a value that the page lets one choose or type."""
    handle = _control(server, message["uuid"])
    if message["updates"].keys() != {"value"}:
        raise Unfit("a control has something else than its value set")
    kind, value = type(handle).__name__, message["updates"]["value"]
    if kind not in VALUES:
        raise Unfit(f"a {kind} has no value that a page sets")
    if not VALUES[kind](handle, value):
        raise Unfit(f"{getattr(handle, 'label', '')!r} cannot be {shown(value)}")
    if kind in ("GuiNumberHandle", "GuiSliderHandle") and not _within(handle, value):
        raise Unfit(f"{handle.label!r} cannot be as much as {shown(value)}, or as little", usual=True)
    if kind in ("GuiDropdownHandle", "GuiButtonGroupHandle") and value not in handle.options:
        raise Unfit(f"{handle.label!r} has no choice {shown(value)}")


def _hold(server: Any, message: Any, client: int) -> None:
    if type(_control(server, message["uuid"])).__name__ != "GuiButtonHandle" or message["frequency"] <= 0.0:
        raise Unfit("something is held that is no button")


def _form(server: Any, message: Any, client: int) -> None:
    handle = server.gui._container_handle_from_uuid.get(message["uuid"])
    if type(handle).__name__ != "GuiFormHandle":
        raise Unfit("there is no such form", usual=True)


def _command(server: Any, message: Any, client: int) -> None:
    if message["uuid"] not in server.gui._command_handle_from_uuid:
        raise Unfit("there is no such command", usual=True)


def _upload(server: Any, message: Any, client: int) -> None:
    """A file has a size, as many parts as that needs, and a button it was chosen by."""
    handle, waiting = _control(server, message["source_component_uuid"]), server.gui._current_file_upload_states
    size, parts = message["size_bytes"], message["part_count"]
    if type(handle).__name__ != "GuiUploadButtonHandle":
        raise Unfit("a file comes from something that is no upload button")
    if not (0 <= size <= LARGEST_FILE and 0 <= parts <= size and (parts == 0) == (size == 0)):
        raise Unfit(f"a file of {size} bytes in {parts} parts")
    if message["transfer_uuid"] in waiting or len(waiting) >= MOST_FILES:
        raise Unfit("a file comes while others are on their way")


def _part(server: Any, message: Any, client: int) -> None:
    """A part of a file comes once, from the client that began, and all make up its size."""
    state = server.gui._current_file_upload_states.get(message["transfer_uuid"])
    if state is None or state["client_id"] != client:
        raise Unfit("a part of a file that never began", usual=True)
    index, left = message["part_index"], state["total_bytes"] - state["transferred_bytes"] - len(message["content"])
    if not 0 <= index < state["part_count"] or index in state["parts"]:
        raise Unfit(f"a part {index} of {state['part_count']} of a file")
    last = len(state["parts"]) + 1 == state["part_count"]
    if left < 0 or (last and left > 0):
        raise Unfit("a file that is not as long as it said")


def _picture(server: Any, message: Any, client: int) -> None:
    from viser import _messages

    there = server._connected_clients.get(client)
    handlers = {} if there is None else there._websock_connection._incoming_handlers
    if not handlers.get(_messages.GetRenderResponseMessage):
        raise Unfit("a picture that was not asked for", usual=True)


def _control(server: Any, uuid: str) -> Any:
    """The control of an identifier, if it is there and can be used."""
    handle = server.gui._gui_input_handle_from_uuid.get(uuid)
    if handle is None or handle._impl.removed:
        raise Unfit("there is no such control", usual=True)
    if handle.disabled:
        raise Unfit(f"{handle.label!r} cannot be used now", usual=True)
    return handle


def _node(server: Any, name: str) -> Any:
    handle = server.scene._handle_from_node_name.get(name)
    if handle is None:
        raise Unfit(f"there is no {shown(name)} in the scene", usual=True)
    return handle


def _instance(handle: Any, index: int | None) -> None:
    """A batch is hit at one of its instances, anything else as a whole."""
    places = getattr(handle, "batched_positions", None)
    if index is not None and not 0 <= index < (1 if places is None else len(places)):
        raise Unfit(f"{handle.name!r} has no instance {index}", usual=True)


def _ray(direction: Any) -> None:
    if direction is None or not np.any(direction):
        raise Unfit("a click that goes nowhere")


def _is_turn(wxyz: Any) -> bool:
    return bool(abs(float(np.linalg.norm(wxyz)) - 1.0) <= UNIT_TOLERANCE)


def _within(handle: Any, value: float) -> bool:
    """Whether a number lies between the ends of its control, but for rounding."""
    low, high = handle.min, handle.max
    return (low is None or value >= low - ROUNDING * abs(low)) and (
        high is None or value <= high + ROUNDING * abs(high)
    )


VALUES: dict[str, Callable[[Any, Any], bool]] = {
    "GuiButtonHandle": lambda handle, value: isinstance(value, bool),
    "GuiCheckboxHandle": lambda handle, value: isinstance(value, bool),
    "GuiTextHandle": lambda handle, value: is_text(value),
    "GuiDropdownHandle": lambda handle, value: is_text(value),
    "GuiButtonGroupHandle": lambda handle, value: is_text(value),
    "GuiNumberHandle": lambda handle, value: is_number(value),
    "GuiSliderHandle": lambda handle, value: is_number(value),
}
CHECKS: dict[str, Callable[[Any, Any, int], None]] = {
    "ViewerCameraMessage": _camera,
    "ScenePointerMessage": _pointer,
    "SceneNodeClickMessage": _click,
    "SceneNodeDragMessage": _drag,
    "TransformControlsDragStartMessage": _grip,
    "TransformControlsUpdateMessage": _gripped,
    "TransformControlsDragEndMessage": _gripped,
    "GuiUpdateMessage": _update,
    "GuiButtonHoldMessage": _hold,
    "GuiFormSubmitMessage": _form,
    "GuiFormDirtyMessage": _form,
    "CommandTriggerMessage": _command,
    "FileTransferStartUpload": _upload,
    "FileTransferPart": _part,
    "GetRenderResponseMessage": _picture,
}
