"""Files of a recording: every digit comes back, a fault leaves what was there, wrong names are refused."""

import csv
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb
from rattleback.recording.files import write_csv


def recorded(quantities, worlds=None, steps=40) -> rb.Recorder:
    scene = rb.Scene(name="test")
    scene.add_body(rb.Box(1, 2, 3), name='the "ball", a', velocity=(0.1, 0.2, 0.3), angular_velocity=(1, 2, 3))
    scene.add_body(rb.Sphere(0.1), name="b", position=(0, 0, 1 / 3))
    sim = rb.Simulation(scene, time_step=0.01, worlds=worlds)
    recorder = rb.Recorder(sim, quantities=quantities)
    sim.step(steps)
    return recorder


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    return header, np.array([[float(number) for number in row] for row in rows])


@pytest.mark.parametrize("worlds", [None, 2])
def test_a_csv_file_gives_back_every_number_under_its_name(tmp_path, worlds):
    recorder = recorded(["energy", "position", "angular_velocity", "iterations", "converged"], worlds)
    recorder.save(tmp_path / "run.csv")
    header, table = read_csv(tmp_path / "run.csv")
    assert header == recorder.columns
    np.testing.assert_array_equal(table[:, 0], recorder.time)
    names = ["energy", "position", "angular_velocity", "iterations", "converged"]
    flat = np.concatenate([recorder[name].reshape(len(recorder), -1) for name in names], axis=1)
    np.testing.assert_array_equal(table[:, 1:], flat)


def test_whole_numbers_and_truth_values_are_written_as_such(tmp_path):
    recorder = recorded(["iterations", "converged"], steps=1)
    recorder.save(tmp_path / "run.csv")
    lines = (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["time [s],iterations,converged", "0.0,0,1"]


@given(st.lists(st.floats(), min_size=1, max_size=20))
def test_every_float_survives_a_csv_file(numbers):
    import io

    stream = io.BytesIO()
    write_csv(stream, ["x"], [np.array(numbers)[:, None]])
    read = [float(line) for line in stream.getvalue().decode().splitlines()[1:]]
    assert all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(read, numbers, strict=True))


def test_a_long_recording_is_written_in_full(tmp_path):
    recorder = recorded(["b.position"], steps=3000)
    recorder.save(tmp_path / "run.csv")
    assert read_csv(tmp_path / "run.csv")[1].shape == (3001, 4)


@pytest.mark.parametrize("worlds", [None, 2])
def test_an_npz_file_is_read_by_numpy_without_pickle(tmp_path, worlds):
    own = [("file", lambda sim: sim.time), ("allow_pickle", lambda sim: [1, 2])]
    recorder = recorded(["energy", "position", "converged", *own], worlds)
    recorder.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as stored:
        assert set(stored.files) == {"time", "columns", *recorder.quantities}
        np.testing.assert_array_equal(stored["time"], recorder.time)
        assert stored["columns"].tolist() == recorder.columns
        for name in recorder.quantities:
            np.testing.assert_array_equal(stored[name], recorder[name])
            assert stored[name].dtype == recorder[name].dtype


def test_the_same_recording_gives_the_same_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        recorded(["energy", "position"]).save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_an_empty_recording_can_be_saved(tmp_path):
    recorder = recorded(["energy"])
    recorder.clear()
    for name in ("run.csv", "run.npz"):
        recorder.save(tmp_path / name)
    assert (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines() == [",".join(recorder.columns)]


def test_a_suffix_may_be_written_large(tmp_path):
    recorded(["energy"]).save(str(tmp_path / "RUN.CSV"))
    assert (tmp_path / "RUN.CSV").exists()


@pytest.mark.parametrize("name", ["run.txt", "run", "csv"])
def test_a_wrong_suffix_is_answered_with_the_right_ones(tmp_path, name):
    with pytest.raises(rb.InputError, match=r"The path of a recording is .*must end with one of '.csv', '.npz'"):
        recorded(["energy"]).save(tmp_path / name)


def test_what_is_no_path_is_refused():
    with pytest.raises(rb.InputError, match=r"The path of a recording is 3; it must be a path, such as 'out.csv'"):
        recorded(["energy"]).save(3)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(
        rb.FileError, match=r"The recording '.*gone.*run.csv' cannot be written: there is no folder '.*gone'"
    ):
        recorded(["energy"]).save(tmp_path / "gone" / "run.csv")


def test_a_failed_write_leaves_what_was_there_and_nothing_else(tmp_path, monkeypatch):
    recorder = recorded(["energy"])
    (tmp_path / "run.csv").write_text("precious")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rattleback.recording.recorder.write_csv", full)
    with pytest.raises(rb.FileError, match="no space left on device"):
        recorder.save(tmp_path / "run.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]
    assert (tmp_path / "run.csv").read_text() == "precious"


def test_a_written_file_replaces_the_old_one(tmp_path):
    recorder = recorded(["energy"], steps=2)
    (tmp_path / "run.csv").write_text("old " * 10_000)
    recorder.save(tmp_path / "run.csv")
    assert read_csv(tmp_path / "run.csv")[1].shape == (3, 4)
    assert len(list(tmp_path.iterdir())) == 1
