"""What no page sends, sent over a connection: nothing changes, nobody is cut off, and a few lines of the log say so."""

from __future__ import annotations

import itertools
import logging
import math
import warnings

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed

import rattleback as rb
from rattleback.scenes import pendulum
from rattleback.viewer import page_log
from rattleback.viewer.page_log import PageLog
from rattleback.viewer.session import Session
from rattleback.viewer.window import Window

LOGGER = "rattleback.viewer"
NAN = math.nan
# A message of each type as a page may send it; {…} stands for something that is on the page.
GOOD = {
    "ViewerCameraMessage": {
        "wxyz": [0.0, 1.0, 0.0, 0.0], "position": [0.0, 0.0, 9.0], "look_at": [0.0, 0.0, 0.0],
        "up_direction": [0.0, 1.0, 0.0], "fov": 0.7, "near": 0.01, "far": 90.0, "image_height": 400, "image_width": 640,
    },
    "ScenePointerMessage": {
        "event_type": "click", "ray_origin": [9.0, 9.0, 9.0], "ray_direction": [1.0, 0.0, 0.0],
        "screen_pos": [[0.5, 0.5]], "modifier": None,
    },
    "SceneNodeClickMessage": {
        "name": "{node}", "instance_index": 0, "ray_origin": [9.0, 9.0, 9.0], "ray_direction": [1.0, 0.0, 0.0],
        "screen_pos": [0.5, 0.5], "modifier": None,
    },
    "SceneNodeDragMessage": {
        "phase": "start", "name": "{node}", "instance_index": 0, "start_position": [0.0, 0.0, 0.0],
        "start_screen_pos": [0.5, 0.5], "end_position": [0.0, 0.0, 1.0], "end_screen_pos": [0.5, 0.4], "button": "left",
        "modifier": None,
    },
    "TransformControlsDragStartMessage": {"name": "{node}"},
    "TransformControlsUpdateMessage": {"name": "{node}", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [0.0, 0.0, 1.0]},
    "TransformControlsDragEndMessage": {"name": "{node}"},
    "GuiUpdateMessage": {"uuid": "{control}", "updates": {"value": "{junk}"}},
    "GuiButtonHoldMessage": {"uuid": "{control}", "frequency": -1.0},
    "GuiFormSubmitMessage": {"uuid": "{control}"},
    "GuiFormDirtyMessage": {"uuid": "{control}"},
    "CommandTriggerMessage": {"uuid": "{control}"},
    "FileTransferStartUpload": {
        "source_component_uuid": "{upload}", "transfer_uuid": "t", "filename": "f", "mime_type": "", "part_count": 2,
        "size_bytes": 1,
    },
    "FileTransferPart": {
        "source_component_uuid": "{upload}", "transfer_uuid": "t", "part_index": 0, "content": b"PK",
    },
    "GetRenderResponseMessage": {"payload": b"no picture", "render_uuid": "r"},
}  # fmt: skip
# These are junk as they stand, whatever is in them: nothing was begun, asked for or made of what they name.
SENSELESS = [name for name in GOOD if name.startswith(("TransformControls", "Gui", "Command", "File", "GetRender"))]
# No field of any message may hold one of these.
JUNK = [
    NAN,
    math.inf,
    -math.inf,
    1e308,
    -1e300,
    {},
    {"a": [1]},
    [[NAN] * 3],
    [None],
    [NAN] * 4,
    [[[[[]]]]],
    2**63,
    b"\0" * 9,
]
FOREIGN = ["RunJavascriptMessage", "GuiRemoveMessage", "ShareUrlRequest", "ResetGuiMessage", "Nonsense", "", 3, None]
counter = itertools.count()


@st.composite
def broken(draw):
    """A message with one thing wrong, as a dictionary."""
    name = draw(st.sampled_from(sorted(GOOD)))
    message = {"type": name, **GOOD[name]}
    ways = ["value", "missing", "extra", "type"] + (["as it is"] * 4 if name in SENSELESS else [])
    way, field = draw(st.sampled_from(ways)), draw(st.sampled_from(sorted(GOOD[name])))
    bytes_fit = field in ("content", "payload")
    if way == "value":
        message[field] = draw(st.sampled_from([junk for junk in JUNK if not (bytes_fit and isinstance(junk, bytes))]))
    elif way == "missing":
        del message[field]
    elif way == "extra":
        message["update_cb"] = draw(st.sampled_from(JUNK))
    elif way == "type":
        message["type"] = draw(st.sampled_from(FOREIGN))
    junk, pick = draw(st.sampled_from([*JUNK, None])), draw(st.integers(0, 10**6))
    return message, junk, pick


raw = st.one_of(
    st.binary(max_size=40), st.text(max_size=20), st.sampled_from([msgspec.msgpack.encode(x) for x in JUNK])
)


def filled(window, message, junk, pick):
    """The message with names of what is on the page."""
    gui, scene = window.server.gui, window.server.scene
    kinds = {uuid: type(handle).__name__ for uuid, handle in gui._gui_input_handle_from_uuid.items()}
    known = {
        "{node}": sorted(scene._handle_from_node_name),
        "{control}": sorted(kinds),
        "{upload}": [uuid for uuid, kind in kinds.items() if kind == "GuiUploadButtonHandle"],
        "{junk}": [junk],
    }

    def fill(value):
        if isinstance(value, dict):
            return {key: fill(entry) for key, entry in value.items()}
        return known[value][pick % len(known[value])] if isinstance(value, str) and value in known else value

    return msgspec.msgpack.encode(fill(message))


@pytest.fixture(scope="module")
def window():
    """The whole page of a pendulum at rest, which is paused."""
    session = Session([rb.Simulation(pendulum(angle=1.0), time_step=0.01)])
    shown = Window(session)
    session.start()
    shown.fence = shown.server.gui.add_text("fence", "")
    yield shown
    shown.close()
    session.stop()


def control(window, label):
    """The control with a label."""
    return next(handle for handle in window.server.gui._gui_input_handle_from_uuid.values() if handle.label == label)


def update(handle, value):
    """A page's message that sets a control."""
    return msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": handle._impl.uuid, "updates": {"value": value}})


def settle(window, socket, until):
    """Wait until all that was sent over a connection is dealt with, by a message that is as it should be."""
    token = f"{next(counter)}"
    socket.send(update(window.fence, token))
    until(lambda: window.fence.value == token)


def values(window):
    """What all controls say, but for the one by which we wait."""
    handles = window.server.gui._gui_input_handle_from_uuid
    return {uuid: repr(handle._impl.value) for uuid, handle in handles.items() if handle is not window.fence}


def nodes(window):
    return set(window.server.scene._handle_from_node_name)


def state_of(window):
    """The bits of where everything is and how it moves, and what is chosen."""
    picture = window.session.frame.picture
    bits = b"".join(getattr(picture, name).tobytes() for name in ("position", "orientation", "velocity"))
    return bits, window.session.frame.version, window.selected


def test_junk_changes_nothing_cuts_nobody_off_and_prints_nothing(window, visitor, until, capfd, caplog):
    before, controls, there = state_of(window), values(window), nodes(window)
    caplog.set_level(logging.DEBUG)
    with warnings.catch_warnings(record=True) as heard, visitor.enter(window) as socket, visitor.enter(window) as other:
        warnings.simplefilter("always")

        @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(st.lists(st.one_of(broken(), broken(), broken(), raw), min_size=1, max_size=12))
        def bombard(junk):
            for entry in junk:
                socket.send(filled(window, *entry) if isinstance(entry, tuple) else entry)
            settle(window, socket, until)
            assert values(window) == controls

        bombard()
        # The other client still hears what is said to all.
        settle(window, other, until)
        window.session.do(lambda sim: None).result(10.0)
    assert state_of(window) == before
    assert nodes(window) == there
    assert capfd.readouterr() == ("", "")
    assert heard == []
    ours = [record for record in caplog.records if record.name == LOGGER]
    assert ours
    assert all(record.getMessage().startswith("The page ") for record in ours)
    assert all("\n" not in record.getMessage() and record.exc_info is None for record in ours)
    assert [record for record in caplog.records if record.name in ("asyncio", "websockets.server")] == []


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("Colour by", "Taste"),
        ("Colour by", 3),
        ("Push [m/s]", 1e9),
        ("Push [m/s]", "2"),
        ("Manipulator", 1),
        ("Step [ms]", -1.0),
    ],
)
def test_a_control_keeps_its_value_where_one_cannot_be_chosen(window, visitor, until, caplog, label, value):
    caplog.set_level(logging.INFO, LOGGER)
    handle = control(window, label)
    before = handle.value
    with visitor.enter(window) as socket:
        socket.send(update(handle, value))
        settle(window, socket, until)
    assert handle.value == before
    assert type(handle.value) is type(before)


def test_a_control_that_is_not_there_is_refused_in_a_line_that_is_no_warning(
    window, visitor, until, caplog, monkeypatch
):
    monkeypatch.setattr(page_log, "PERIOD", 0.0)
    caplog.set_level(logging.INFO, LOGGER)
    with visitor.enter(window) as socket:
        socket.send(msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "gone", "updates": {"value": 1}}))
        settle(window, socket, until)
    (record,) = [record for record in caplog.records if "no such control" in record.getMessage()]
    assert record.levelno == logging.INFO
    assert record.getMessage() == "The page refused a message: there is no such control."


def start(window, transfer, size, parts):
    source = control(window, "Open file …")._impl.uuid
    fields = {"source_component_uuid": source, "transfer_uuid": transfer, "filename": "f.rb.json", "mime_type": ""}
    return msgspec.msgpack.encode(
        {"type": "FileTransferStartUpload", **fields, "part_count": parts, "size_bytes": size}
    )


def part(window, transfer, index, content):
    source = control(window, "Open file …")._impl.uuid
    fields = {"source_component_uuid": source, "transfer_uuid": transfer, "part_index": index, "content": content}
    return msgspec.msgpack.encode({"type": "FileTransferPart", **fields})


def test_a_file_comes_whole_or_not_at_all(window, visitor, until):
    """Parts out of order make up a file; parts that are too long, come twice or belong to nothing are left out."""
    heard = []
    button = control(window, "Open file …")
    before = list(button._impl.update_cb)
    button._impl.update_cb[:] = [lambda event: heard.append(event.target.value.content)]
    try:
        with visitor.enter(window) as socket:
            socket.send(msgspec.msgpack.encode({"type": "ViewerCameraMessage", **GOOD["ViewerCameraMessage"]}))
            socket.send(start(window, "good", 7, 3))
            for index, content in (
                (2, b"g"),
                (2, b"h"),
                (5, b"i"),
                (0, b"abcdefgh"),
                (0, b"abc"),
                (1, b"de"),
                (1, b"def"),
            ):
                socket.send(part(window, "good", index, content))
            socket.send(part(window, "never began", 0, b"abc"))
            for transfer, size, parts in (("a", -1, 1), ("b", 3, 0), ("c", 2, 3), ("d", 1 << 40, 9), ("e", 0, 1)):
                socket.send(start(window, transfer, size, parts))
            settle(window, socket, until)
            until(lambda: heard)
    finally:
        button._impl.update_cb[:] = before
    assert heard == [b"abcdefg"]
    assert not window.server.gui._current_file_upload_states


def test_an_empty_file_is_answered_in_a_sentence(window, visitor, until):
    told = window.session._told
    with visitor.enter(window) as socket:
        socket.send(msgspec.msgpack.encode({"type": "ViewerCameraMessage", **GOOD["ViewerCameraMessage"]}))
        socket.send(start(window, "empty", 0, 0))
        settle(window, socket, until)
        until(lambda: window.session._told > told)
    assert window.session.notices[-1].text.startswith("The scene file 'f.rb.json' is not JSON")


def test_a_page_of_another_version_is_told_so_and_leaves_the_others_alone(window, visitor, until, capfd):
    with visitor.enter(window) as socket:
        with visitor.enter(window, language="viser-v0.2.7") as stranger, pytest.raises(ConnectionClosed, match="1002"):
            stranger.recv(timeout=10)
        settle(window, socket, until)
    assert capfd.readouterr() == ("", "")


def test_a_fault_in_what_a_control_does_is_told_and_logged_in_a_line(
    window, visitor, until, capfd, caplog, monkeypatch
):
    monkeypatch.setattr(page_log, "PERIOD", 0.0)
    box = window.server.gui.add_checkbox("fault", initial_value=False)

    @box.on_update
    def _(event):
        raise ZeroDivisionError("nothing there")

    @box.on_update
    async def _(event):
        raise ZeroDivisionError("nothing here")

    with visitor.enter(window) as socket:
        socket.send(msgspec.msgpack.encode({"type": "ViewerCameraMessage", **GOOD["ViewerCameraMessage"]}))
        socket.send(update(box, True))
        settle(window, socket, until)
        until(lambda: len([r for r in caplog.records if "ZeroDivisionError" in r.getMessage()]) == 2)
    assert capfd.readouterr() == ("", "")
    box.remove()


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(page_log.time, "monotonic", lambda: now[0])
    return now


def test_of_many_lines_a_few_are_logged_and_the_rest_is_counted(caplog, clock):
    caplog.set_level(logging.INFO, LOGGER)
    log = PageLog()
    for _ in range(100):
        log.warn("again")
    assert [record.getMessage() for record in caplog.records] == ["again"] * page_log.MOST_LINES
    log.mention("news")
    clock[0] += page_log.PERIOD
    log.warn("once more")
    said = [record.getMessage() for record in caplog.records[page_log.MOST_LINES :]]
    assert said == ["news", f"The page left out {100 - page_log.MOST_LINES} lines like the last ones.", "once more"]
