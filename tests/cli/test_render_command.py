"""The command `render`: files of the right kind, time and view; wrong usage in sentences."""

import math
import warnings

import numpy as np
import pytest
from PIL import Image

from rattleback.cli.main import main, parse
from rattleback.cli.render import camera_of

SMALL = ["--size", "128x96"]


def frames_of(path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the reader leaves its pipes to Python to close
        reader = imageio_ffmpeg.read_frames(str(path))
        return next(reader), sum(1 for _ in reader)


@pytest.mark.egl
def test_a_film_and_a_picture_are_written_where_they_were_asked_for(tmp_path, capsys):
    film, still = tmp_path / "new" / "out.mp4", tmp_path / "out.png"
    asked = ["--video", str(film), "--duration", "0.5", "--fps", "10", "--still", str(still), "--at", "0.25"]
    assert main(["render", "thrown", "count=2", *asked, *SMALL, "--samples", "2"]) == 0
    told, frames = frames_of(film)
    assert (frames, told["size"]) == (5, (128, 96))
    with Image.open(still) as picture:
        assert picture.size == (128, 96)
    assert capsys.readouterr().out.splitlines() == [
        f"Wrote the picture at t = 0.25 s to {still}",
        f"Wrote the film, 5 frames, 0.5 s, to {film}",
    ]


@pytest.mark.egl
def test_slow_motion_and_settings_of_the_simulation_are_heard(tmp_path, capsys):
    film = tmp_path / "out.mp4"
    asked = ["--video", str(film), "--duration", "0.1", "--speed", "0.1", "--fps", "5", "--time-step", "0.02"]
    assert main(["render", "torque_free", *asked, *SMALL, "--quiet"]) == 0
    assert frames_of(film)[1] == 5


@pytest.mark.egl
def test_views_and_colours_differ(tmp_path):
    pictures = []
    for number, options in enumerate(
        (["--azimuth", "0"], ["--azimuth", "90"], ["--azimuth", "0", "--colour", "speed"])
    ):
        path = tmp_path / f"{number}.png"
        assert main(["render", "kepler", "--still", str(path), "--samples", "1", *SMALL, *options]) == 0
        with Image.open(path) as picture:
            pictures.append(np.asarray(picture).astype(float))
    assert np.abs(pictures[0] - pictures[1]).max() > 50
    assert np.abs(pictures[0] - pictures[2]).max() > 50


def test_angles_of_the_view_are_in_degrees():
    asked = ["--still", "a.png", "--azimuth", "-90", "--elevation", "30", "--distance", "4"]
    camera = camera_of(parse(["render", "kepler", *asked]))
    assert (camera.azimuth, camera.elevation, camera.distance) == pytest.approx((-math.pi / 2, math.pi / 6, 4.0))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([], "Name what to draw: --video out.mp4, --still picture.png, or both."),
        (["--still", "a.png", "--fps", "10"], "--fps has no effect without --video."),
        (["--still", "a.png", "--duration", "1"], "--duration has no effect without --video."),
        (["--video", "a.mp4", "--at", "1"], "--at has no effect without --still."),
        (["--video", "a.mp4", "--size", "big"], "'big' is not a size; write 1280x720."),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(asked, message, capsys):
    assert main(["render", "kepler", *asked]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--video", "a.gif"], "The path of a film is 'a.gif'; its name must end with one of '.mp4'."),
        (["--still", "a.bmp"], "The path of a picture is 'a.bmp'; its name must end with one of '.png'."),
        (["--still", "folder.png"], "'folder.png' cannot be written: it is a folder."),
        (["--still", "file/a.png"], "'file/a.png' cannot be written: 'file' is a file, not a folder."),
        (["--still", "a.png", "--at", "-1"], "--at is -1; it must be zero or more."),
        (["--still", "a.png", "--elevation", "95"], "The elevation of a Camera is"),
        (["--video", "a.mp4", "--fps", "0"], "The fps of a film is 0.0; it must be greater than zero."),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(asked, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").touch()
    assert main(["render", "kepler", *asked]) == 1
    assert message in capsys.readouterr().err


def test_a_picture_in_film_quality_is_drawn_without_opengl(tmp_path, capsys):
    pytest.importorskip("mitsuba")
    still = tmp_path / "out.png"
    asked = ["--still", str(still), "--quality", "film", "--samples", "2", "--size", "64x48"]
    assert main(["render", "thrown", "count=2", *asked]) == 0
    with Image.open(still) as picture:
        assert picture.size == (64, 48)
    assert capsys.readouterr().out == f"Wrote the picture at t = 0 s to {still}\n"


def test_quality_is_for_pictures_alone(tmp_path, capsys):
    assert main(["render", "thrown", "--video", str(tmp_path / "out.mp4"), "--quality", "film"]) == 2
    assert "--quality has no effect without --still" in capsys.readouterr().err
