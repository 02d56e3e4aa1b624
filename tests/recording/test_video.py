"""Films read back: as many frames as time says, of the size asked for, each a whole step, and something moves."""

import itertools
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import DeviceError, FileError, InputError
from rattleback.recording import video
from rattleback.recording.snapshot import snapshot_of
from rattleback.recording.video import check_tempo, step_to

SIZE = (160, 120)


def flying(time_step=0.01):
    scene = rb.Scene(gravity=(0, 0, 0), name="flying")
    scene.add_body(rb.Sphere(0.3), position=(-1, 0, 0), velocity=(2, 0, 0))
    return rb.Simulation(scene, time_step=time_step)


def read_back(path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the reader leaves its pipes to Python to close
        reader = imageio_ffmpeg.read_frames(str(path))
        told = next(reader)
        width, height = told["size"]
        frames = [np.frombuffer(frame, dtype=np.uint8).reshape(height, width, 3).astype(float) for frame in reader]
    return told, frames


@pytest.mark.egl
def test_a_film_has_the_frames_the_size_and_the_duration_asked_for_and_moves(tmp_path):
    sim = flying()
    rb.film(sim, tmp_path / "ball.mp4", duration=1.0, fps=20, size=SIZE)
    told, frames = read_back(tmp_path / "ball.mp4")
    assert len(frames) == 20
    assert told["size"] == SIZE
    assert told["duration"] == pytest.approx(1.0, abs=1e-3)
    assert told["fps"] == 20
    assert told["codec"] == "h264"
    assert told["pix_fmt"].startswith("yuv420p")
    assert sim.time == pytest.approx(1.0)
    assert all(np.abs(a - b).max() > 20 for a, b in itertools.pairwise(frames))
    # The ball flies along x, which is to the right where the camera stands at −y.
    middles = [np.argwhere(frame[..., 0] > 1.3 * frame[..., 2])[:, 1].mean() for frame in frames]
    assert (np.diff(middles) > 0).all()
    assert [entry.name for entry in tmp_path.iterdir()] == ["ball.mp4"]


@pytest.mark.egl
def test_slow_motion_shows_less_time_in_more_frames(tmp_path):
    sim = flying()
    rb.film(sim, tmp_path / "ball.mp4", duration=0.5, fps=10, speed=0.25, size=SIZE)
    assert read_back(tmp_path / "ball.mp4")[0]["duration"] == pytest.approx(2.0, abs=1e-3)
    assert sim.time == pytest.approx(0.5)


@pytest.mark.egl
def test_colours_of_a_film_are_those_that_were_drawn(tmp_path):
    sim = flying()
    rb.render(sim, tmp_path / "ball.png", size=SIZE, samples=1)
    from PIL import Image

    with Image.open(tmp_path / "ball.png") as picture:
        drawn = np.asarray(picture).astype(float)
    rb.film(sim, tmp_path / "ball.mp4", duration=0.01, fps=1, size=SIZE)
    (frame,) = read_back(tmp_path / "ball.mp4")[1]
    assert np.abs(frame - drawn).mean() < 3.0


@pytest.mark.egl
@pytest.mark.parametrize(("time_step", "fps"), [(0.01, 30), (0.01, 1000), (0.013, 24)])
def test_every_frame_shows_the_whole_step_nearest_to_its_time(tmp_path, monkeypatch, time_step, fps):
    sim, steps = flying(time_step), []

    def look(simulation):
        steps.append(simulation.state.steps)
        return snapshot_of(simulation)

    monkeypatch.setattr(video, "snapshot_of", look)
    rb.film(sim, tmp_path / "ball.mp4", duration=0.2, fps=fps, size=(32, 32))
    assert len(steps) == round(0.2 * fps)
    behind = np.arange(len(steps)) / fps - np.array(steps) * time_step
    assert np.abs(behind).max() <= 0.5 * time_step + 1e-9


def test_whole_steps_are_taken_when_steps_end_at_contacts(tmp_path):
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), position=(0, 0, 0.3), material=rb.Material(restitution=0.5))
    scene.add_static(rb.Plane())
    sim = rb.Simulation(scene, contacts="impulse", contact_time="bisect")
    step_to(sim, 0.5)
    assert sim.time == pytest.approx(0.5, abs=0.5 * sim.time_step)


@pytest.mark.egl
def test_where_the_simulation_gives_up_the_film_is_written_up_to_there(tmp_path):
    class Refuser:
        every = 25

        def observe(self, simulation):
            raise InputError("That is enough.")

    sim = flying()
    sim.observe(Refuser())
    with pytest.raises(InputError, match="That is enough") as refused:
        rb.film(sim, tmp_path / "ball.mp4", duration=1.0, fps=10, size=SIZE)
    assert refused.value.__notes__ == [f"The film up to there is in {str(tmp_path / 'ball.mp4')!r}."]
    assert len(read_back(tmp_path / "ball.mp4")[1]) == 3


@pytest.mark.egl
def test_a_film_replaces_an_older_one_whole(tmp_path):
    (tmp_path / "ball.mp4").write_bytes(b"old")
    rb.film(flying(), tmp_path / "ball.mp4", duration=0.1, fps=10, size=SIZE)
    assert len(read_back(tmp_path / "ball.mp4")[1]) == 1


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("ball.avi", {}, "its name must end with one of '.mp4'."),
        ("gone/ball.mp4", {}, "cannot be written: there is no folder"),
        ("folder.mp4", {}, "cannot be written: it is a folder."),
        ("ball.mp4", {"duration": 0.0}, "The duration is 0.0; it must be greater than zero."),
        ("ball.mp4", {"fps": -1}, "The fps of a film is -1; it must be greater than zero."),
        ("ball.mp4", {"speed": 0}, "The speed of a film is 0; it must be greater than zero."),
        ("ball.mp4", {"speed": 1e-6}, "has more than a million frames; make it shorter, or faster."),
        ("ball.mp4", {"size": (161, 120)}, "The size of a film is 161 by 120; both must be even"),
    ],
)
def test_a_film_that_cannot_be_made_is_refused_in_a_sentence_before_anything_is_simulated(
    tmp_path, name, options, message
):
    (tmp_path / "folder.mp4").mkdir()
    sim = flying()
    with pytest.raises((FileError, InputError)) as refused:
        rb.film(sim, tmp_path / name, **options)
    assert message in str(refused.value)
    assert sim.time == 0.0


@pytest.mark.egl
def test_an_encoder_that_fails_is_quoted_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(video, "ENCODING", ("-c:v", "no_such_codec"))
    with pytest.raises(FileError, match=r"The film '.*ball.mp4' cannot be written: .*no_such_codec"):
        rb.film(flying(), tmp_path / "ball.mp4", duration=0.1, fps=10, size=SIZE)
    assert not list(tmp_path.iterdir())


def test_a_missing_encoder_is_named_with_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(DeviceError, match=r"need imageio-ffmpeg, which is not installed: pip install 'rattleback\["):
        rb.film(flying(), tmp_path / "ball.mp4")


@pytest.mark.egl
@pytest.mark.slow
def test_the_examples_of_the_page_run_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).resolve().parents[2] / "docs" / "pictures.md"
    for code in re.findall(r"^```py\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M):
        exec(compile(code, page.name, "exec"), {})
    assert {entry.name for entry in tmp_path.iterdir()} == {"cradle.mp4", "cradle.png", "above.png", "near.png"}


@pytest.mark.parametrize(("duration", "fps", "speed", "frames"), [(5, 30, 1, 150), (1, 30, 0.5, 60), (0.001, 1, 1, 1)])
def test_the_number_of_frames_is_duration_by_speed_times_frames_a_second(duration, fps, speed, frames):
    assert check_tempo(flying(), duration, fps, speed).frames == frames
