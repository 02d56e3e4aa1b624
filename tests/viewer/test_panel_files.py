"""Save points, states, recordings and replays, without a browser."""

import dataclasses
import io
import pickle
import struct
import types
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import MENU
from rattleback.viewer.building.opening import opened
from rattleback.viewer.panels import film as film_room
from rattleback.viewer.panels import tape as tape_room
from rattleback.viewer.panels.files import SAVE, UNDO, Files, picture_of, stem
from rattleback.viewer.panels.film import camera_of, film_of
from rattleback.viewer.panels.recording import CHOOSE, Recording
from rattleback.viewer.panels.tape import FORMATS
from rattleback.viewer.replay_page import _still


def make(name="pendulum"):
    return rb.Simulation(MENU[name].build(), time_step=0.01)


@pytest.fixture
def window(open_page):
    return open_page(make(), Files, Recording)


@pytest.fixture
def files(window):
    return window.parts[0]


@pytest.fixture
def recording(window):
    return window.parts[1]


def uploaded(name, content):
    return types.SimpleNamespace(name=name, content=content)


def test_undo_goes_back_to_the_last_save_point_and_then_to_the_start(files, person, until):
    session = files.session
    session.step(5).result()
    until(lambda: session.frame.steps == 5)
    person.press(files.points, SAVE)
    until(lambda: session.frame.save_points == 1)
    there = session.frame.picture.position
    until(lambda: "the save point" in files.count.content)
    session.step(5).result()
    until(lambda: session.frame.steps == 10)
    person.press(files.points, UNDO)
    until(lambda: session.frame.steps == 5)
    assert np.array_equal(session.frame.picture.position, there)
    until(lambda: "the start" in files.count.content)
    person.press(files.points, UNDO)
    until(lambda: session.frame.steps == 0)


def test_a_saved_state_is_opened_again_bit_for_bit(files, person, until):
    session = files.session
    session.step(7).result()
    until(lambda: session.frame.steps == 7)
    wanted = session.do(lambda sim: sim.hash()).result()
    person.press(files.save)
    (name,) = person.files
    assert name == "pendulum-0.070s.rb.npz"
    session.reset().result()
    version = session.frame.version
    person.turn(files.load, uploaded(name, person.files[name]))
    until(lambda: session.frame.version > version)
    assert session.do(lambda sim: sim.hash()).result() == wanted


def test_a_robot_file_is_opened_by_its_content():
    robot = Path(__file__).resolve().parents[2] / "examples" / "robots" / "arm.urdf"
    for name in ("arm.urdf", "arm.txt"):
        assert opened(name, robot.read_bytes(), "cpu").scene.name == "arm"
    with pytest.raises(rb.FileError, match="The URDF file 'bad.urdf' has a fault in line 1"):
        opened("bad.urdf", b"<robot/>", "cpu")


def test_a_scene_file_is_opened(files, person, until, tmp_path):
    MENU["chain"].build().save(tmp_path / "chain.rb.json")
    person.turn(files.load, uploaded("chain.rb.json", (tmp_path / "chain.rb.json").read_bytes()))
    until(lambda: files.session.frame.picture.scene.name == "chain")


class Trap:
    def __reduce__(self):
        return print, ("a file has run code",)


def trapped():
    stream = io.BytesIO()
    np.savez(stream, header=np.array([Trap()], dtype=object))
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"nonsense", b'{"format": "other"}', b"PK\x03\x04broken", pickle.dumps(Trap()), trapped()],
    ids=["empty", "text", "json", "archive", "pickle", "pickle in an archive"],
)
def test_a_bad_file_is_told_by_its_own_name_runs_nothing_and_loses_nothing(files, person, until, capsys, content):
    session = files.session
    session.step(3).result()
    until(lambda: session.frame.steps == 3)
    person.turn(files.load, uploaded("bad.file", content))
    until(lambda: session.notices)
    assert "'bad.file'" in session.notices[-1].text
    assert (session.frame.steps, session.frame.picture.scene.name) == (3, "pendulum")
    assert "has run code" not in capsys.readouterr().out


def test_a_file_of_a_scene_is_read_by_what_is_in_it_not_by_its_name(tmp_path):
    make("chain").save(tmp_path / "state.rb.npz")
    assert opened("odd.txt", (tmp_path / "state.rb.npz").read_bytes(), "cpu").scene.name == "chain"


def test_names_of_files_hold_plain_letters_only(files):
    scene = types.SimpleNamespace(name="../a b<c>")
    frame = types.SimpleNamespace(picture=types.SimpleNamespace(scene=scene), time=1.5)
    assert stem(frame) == ".._a_b_c_-1.500s"


def test_a_state_that_cannot_be_written_is_told_once(open_page, person):
    scene = MENU["pendulum"].build()
    scene.add_force(rb.PythonForce(lambda *_: None), name="mine")
    window = open_page(rb.Simulation(scene, joints="direct"), Files)
    window.session.do(lambda sim: sim.use(integrator=type("Mine", (type(sim.integrator),), {})())).result()
    person.press(window.parts[0].save)
    assert not person.files
    assert len(window.session.notices) == 1


def test_a_picture_lies_on_white():
    seen = np.zeros((2, 3, 4), dtype=np.uint8)
    seen[0, 0] = (200, 100, 0, 255)
    camera = types.SimpleNamespace(image_height=2, image_width=3)
    client = types.SimpleNamespace(camera=camera, get_render=lambda height, width, **_: seen)
    content = picture_of(client)
    assert content.startswith(b"\x89PNG")
    assert struct.unpack(">II", content[16:24]) == (3, 2)
    import imageio.v3

    pixels = imageio.v3.imread(content)
    assert pixels[0, 0].tolist() == [200, 100, 0]
    assert (pixels[1] == 255).all()


def test_a_browser_that_gives_no_picture_is_told(files, person):
    person.camera = types.SimpleNamespace(image_height=2, image_width=3)

    def never(*_, **__):
        raise TimeoutError("no frame within 20 s")

    person.get_render = never
    person.press(files.picture)
    assert "could not be made: no frame within 20 s" in files.session.notices[-1].text


def record(recording, person, until, steps=20):
    person.press(recording.button)
    until(lambda: recording.button.label == "Stop")
    recording.session.step(steps).result()
    until(lambda: recording.session.frame.steps >= steps)
    person.press(recording.button)
    until(lambda: recording.button.label == "Record")


def test_a_recording_is_downloaded_as_numpy_reads_it(recording, person, until):
    recording.wanted.value = "energy, position"
    assert recording.get.disabled
    record(recording, person, until)
    until(lambda: not recording.get.disabled)
    person.turn(recording.format, "data (npz)")
    person.press(recording.get)
    (content,) = person.files.values()
    stored = np.load(io.BytesIO(content))
    assert stored["energy"].shape == (21, 3)
    assert np.allclose(stored["time"], 0.01 * np.arange(21), atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "start"), [("csv", b"time [s],"), ("png", b"\x89png"), ("svg", b"<?xml"), ("html", b"<!doctype html>")]
)
def test_a_recording_is_downloaded_as_table_as_plot_and_as_replay(recording, person, until, kind, start):
    record(recording, person, until, 5)
    person.turn(recording.format, next(name for name, known in FORMATS.items() if known == kind))
    person.press(recording.get)
    (content,) = person.files.values()
    assert content.lower().startswith(start)


@pytest.fixture
def seen(monkeypatch):
    """Places of the bodies in the frames of a film, instead of a file."""
    found = []

    def write(shots, path, fps, size, camera):
        found.extend(shot.origin.copy() for shot in shots)
        path.write_bytes(b"film")

    monkeypatch.setattr(film_room, "write_film", write)
    return found


@pytest.mark.parametrize("speed", [1.0, 0.5])
def test_a_film_shows_thirty_times_a_second_of_the_page_where_the_bodies_were(recording, window, seen, speed):
    """A body that falls freely from rest: frame k shows it as deep as at the time nearest to k speed/30."""
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), name="ball")
    sim = rb.Simulation(scene, time_step=0.01, integrator="lie_midpoint")
    frames = []
    for number in range(51):
        frames.append(dataclasses.replace(_still(sim, number), speed=speed))
        sim.step()
    # Ten steps that were taken back are not in it.
    assert film_of(frames[:10] + frames, None) == b"film"
    wanted = np.arange(0.0, 0.5 + 1e-9, speed / 30.0)
    nearest = np.round(wanted / 0.01) * 0.01
    assert len(seen) == len(wanted)
    assert np.array(seen)[:, 0, 2] == pytest.approx(-0.5 * 9.81 * nearest**2, abs=1e-3)


def test_a_film_needs_a_recording_and_is_seen_from_where_the_client_stands(person):
    with pytest.raises(rb.InputError, match="nothing to film yet"):
        film_of([], None)
    client = SimpleNamespace(camera=SimpleNamespace(position=(3.0, 4.0, 5.0), look_at=(1.0, 1.0, 1.0), fov=0.7))
    assert camera_of(client).eye == pytest.approx((3.0, 4.0, 5.0))


@pytest.mark.slow
def test_a_film_of_a_recording_is_an_mp4_file(recording, person, until, monkeypatch):
    monkeypatch.setattr(film_room, "SIZE", (64, 48))
    record(recording, person, until, 5)
    film = recording.tape.write("mp4")
    assert film[4:8] == b"ftyp"


def test_every_format_is_offered(recording):
    assert recording.format.options == (
        "data (npz)",
        "data (csv)",
        "plot (png)",
        "plot (svg)",
        "replay (html)",
        "film (mp4)",
    )


def test_every_so_many_steps_a_sample_is_taken(recording, person, until):
    recording.every.value = 5
    record(recording, person, until)
    assert len(recording.tape) == 5


def test_a_quantity_is_added_by_choosing_it_and_offered_for_what_is_selected(recording, window, person):
    person.turn(recording.more, "penetration")
    assert (recording.wanted.value, recording.more.value) == ("energy, penetration", CHOOSE)
    name = next(body.name for body in window.session.frame.picture.scene.bodies)
    window.select(name)
    assert f"{name}.velocity" in recording.more.options
    window.select(next(iter(window.session.frame.picture.scene.joints)))
    assert any(option.endswith(".reaction_force") for option in recording.more.options)


def test_a_quantity_that_does_not_exist_starts_nothing(recording, person, until):
    recording.wanted.value = "energie"
    person.press(recording.button)
    until(lambda: recording.session.notices)
    assert "There is no quantity 'energie'" in recording.session.notices[-1].text
    assert recording.button.label == "Record"


def test_a_recording_ends_with_its_scene_and_stays(recording, person, until):
    person.press(recording.button)
    recording.session.step(3).result()
    until(lambda: recording.session.frame.steps == 3)

    def edit(scene):
        return MENU["chain"].build()

    recording.session.rebuild(edit).result()
    recording.session.step().result()
    until(lambda: recording.session.notices)
    assert recording.session.notices[-1].text == "The recording has ended, since the scene is another one now."
    until(lambda: recording.button.label == "Record")
    assert len(recording.tape) == 4


def test_a_recording_ends_where_another_scene_is_opened(recording, person, until):
    person.press(recording.button)
    until(lambda: recording.button.label == "Stop")
    recording.session.open(lambda: make("chain")).result()
    until(lambda: recording.button.label == "Record")


def test_a_recording_that_is_full_ends(recording, person, until, monkeypatch):
    monkeypatch.setattr(tape_room, "MOST_NUMBERS", 40)
    person.press(recording.button)
    recording.session.step(30).result()
    until(lambda: recording.session.notices)
    assert recording.session.notices[-1].text == "The recording has ended after 10 samples: it is full."
