"""The command ``run``: its numbers against closed forms, its files, its refusals."""

import csv
import json
import math

import numpy as np
import pytest

import rattleback as rb
from rattleback.cli.main import main
from rattleback.scenes import MENU


@pytest.fixture
def run_json(run):
    def call(*argv):
        code, out, err = run(*argv, "--json")
        assert err == ""
        assert code == 0
        return json.loads(out)

    return call


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return {name: np.array(column, dtype=float) for name, column in zip(header, zip(*rows, strict=True), strict=True)}


def test_a_throw_without_drag_follows_the_parabola_in_the_recording_and_keeps_its_energy(run_json, tmp_path):
    path = tmp_path / "new" / "throw.csv"
    found = run_json("thrown", "drag=0", "count=3", "--duration", "0.5", "--record", path, "speed=7", "spin=4")
    columns = read_csv(path)
    time = columns["time [s]"]
    assert len(time) == 51
    assert time[-1] == pytest.approx(0.5, rel=1e-12)
    for name, degrees in (("ball_1", 15.0), ("box_2", 45.0), ("ball_3", 75.0)):
        angle = math.radians(degrees)
        x = 7.0 * math.cos(angle) * time
        z = 7.0 * math.sin(angle) * time - 0.5 * 9.81 * time**2
        np.testing.assert_allclose(columns[f"{name}.position.x [m]"], x, rtol=0, atol=1e-13)
        np.testing.assert_allclose(columns[f"{name}.position.z [m]"], z, rtol=0, atol=1e-13)
    ball, box, _ = (body.shape for body in rb.scenes.thrown(count=3).bodies)
    flight = 3 * 0.5 * 7.0**2
    turning = 2 * 0.5 * (0.4 * ball.radius**2) * 4.0**2 + 0.5 * ((box.x**2 + box.z**2) / 12.0) * 4.0**2
    assert found["energy_start"] == pytest.approx(flight + turning, rel=1e-14)
    assert found["energy_end"] == pytest.approx(flight + turning, rel=1e-12)
    assert found["steps"] == 50
    assert found["simulated_time"] == pytest.approx(0.5, rel=1e-12)
    assert found["files"] == {"recording": str(path)}
    assert found["interrupted"] is False


def test_a_throw_from_a_scene_file_follows_the_parabola(run_json, tmp_path):
    scene = {
        "format": "rattleback-scene",
        "version": 1,
        "name": "drop",
        "bodies": [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.1}, "velocity": [1, 2, 3]}],
    }
    (tmp_path / "drop.rb.json").write_text(json.dumps(scene))
    path = tmp_path / "drop.npz"
    found = run_json(tmp_path / "drop.rb.json", "--record", path, "--quantities", "ball.position", "--every", 25)
    with np.load(path) as arrays:
        assert arrays["time"].tolist() == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])
        np.testing.assert_allclose(arrays["ball.position"][-1], [1, 2, 3 - 0.5 * 9.81], atol=1e-12)
    assert found["scene"] == "drop"
    assert found["simulated_time"] == pytest.approx(1.0)


def test_the_run_gives_the_same_bits_as_the_library(device, run_json):
    settings = {"time_step": 0.02, "integrator": "rk4", "worlds": 2, "device": device}
    sim = rb.Simulation(rb.scenes.kepler(eccentricity=0.3), **settings)
    sim.run(0.7)
    options = [word for name, value in settings.items() for word in (f"--{name.replace('_', '-')}", value)]
    found = run_json("kepler", "--duration", "0.7", *options, "eccentricity=0.3")
    assert found["hash"] == sim.hash()
    assert found["time"] == sim.time
    assert (found["worlds"], found["integrator"], found["time_step"]) == (2, "rk4", 0.02)
    assert found["device"] == str(sim.device)


def test_a_scene_runs_as_the_menu_says_when_nothing_else_is_said(run_json):
    found, entry = run_json("kepler"), MENU["kepler"]
    assert found["simulated_time"] == pytest.approx(entry.duration, rel=1e-12)
    assert (found["time_step"], found["integrator"]) == (entry.time_step, entry.integrator)


def test_a_saved_run_goes_on_bit_for_bit(run_json, tmp_path):
    whole = run_json("thrown", "--duration", "1.0")
    first = run_json("thrown", "--duration", "0.4", "--save", tmp_path / "a" / "half.rb")
    second = run_json(tmp_path / "a" / "half.rb", "--duration", "0.6")
    assert first["hash"] != whole["hash"]
    assert second["hash"] == whole["hash"]
    assert (first["steps"], second["steps"], whole["steps"]) == (40, 60, 100)
    assert second["time"] == pytest.approx(1.0)
    assert second["simulated_time"] == pytest.approx(0.6)


def test_a_saved_run_goes_on_with_another_method_where_one_is_named(run_json, tmp_path):
    run_json("thrown", "--duration", "0.1", "--save", tmp_path / "s.rb")
    found = run_json(tmp_path / "s.rb", "--integrator", "rk45", "--time-step", "0.05", "--device", "cpu")
    assert (found["integrator"], found["time_step"], found["steps"]) == ("rk45", 0.05, 20)


def test_the_table_is_printed_with_the_files_written(run, tmp_path):
    code, out, err = run("torque_free", "--duration", "0.1", "--save", tmp_path / "s.rb")
    assert (code, err) == (0, "")
    assert "torque_free, 1 body" in out
    assert "10 steps of 0.01 s" in out
    assert out.endswith(f"Wrote the state to {tmp_path / 's.rb'}\n")


def test_a_quiet_run_prints_nothing_and_still_writes(run, tmp_path):
    assert run("torque_free", "--duration", "0.1", "--quiet", "--save", tmp_path / "s.rb") == (0, "", "")
    assert (tmp_path / "s.rb").is_file()


def test_plots_are_written_of_the_run_or_of_the_quantities_named(run_json, tmp_path):
    found = run_json("thrown", "count=2", "--duration", "0.1", "--plot", tmp_path / "a.png")
    assert found["files"] == {"plot": str(tmp_path / "a.png")}
    run_json("thrown", "--duration", "0.1", "--plot", tmp_path / "b.svg", "--quantities", "energy, ball_1.position")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "b.svg").read_text(encoding="utf-8")


def test_worlds_side_by_side_are_recorded_side_by_side(run_json, tmp_path):
    run_json("thrown", "--worlds", "3", "--duration", "0.1", "--record", tmp_path / "a.npz", "--quantities", "position")
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["position"].shape == (11, 3, 8, 3)


@pytest.mark.parametrize(
    ("argv", "kind", "sentence"),
    [
        (["throwm"], "UnknownName", "There is no scene 'throwm'. Did you mean 'thrown'? There are 'tumbling', "),
        (["gone.rb"], "FileError", "There is no file 'gone.rb'; `rattleback list` shows the scenes that need none."),
        (["gone/thrown"], "FileError", "There is no file 'gone/thrown'; "),
        (["x" * 300], "FileError", f"'{'x' * 300}' cannot be read: File name too long."),
        (["text.rb", "count=3"], "InputError", "'text.rb' is a file and takes no parameters such as 'count=3'; "),
        (["text.rb"], "FileError", "The scene file 'text.rb' is not JSON: "),
        (["thrown", "cuont=3"], "InputError", "The scene 'thrown' has no parameter 'cuont'. Did you mean 'count'?"),
        (["thrown", "count=0"], "InputError", "The count of thrown is 0; it must be at least 1."),
        (["thrown", "--integrator", "rk5"], "UnknownName", "There is no integrator 'rk5'. Did you mean "),
        (["thrown", "--device", "abacus"], "DeviceError", "There is no device 'abacus'. Devices here: 'cpu'"),
        (["thrown", "--worlds", "0"], "InputError", "worlds is 0; it must be at least 1."),
        (["thrown", "--time-step", "0"], "InputError", "time_step is 0.0; it must be greater than zero."),
        (["thrown", "--duration", "-1"], "InputError", "The duration is -1.0; it must be greater than zero."),
        (["thrown", "--duration", "nan"], "InputError", "The duration is nan; it must be finite."),
        (
            ["thrown", "--duration", "1e300"],
            "InputError",
            "The duration is 1e+300 s, more steps of 0.01 s than can be ",
        ),
        (["thrown", "--record", "a.txt"], "InputError", "The path of a recording is 'a.txt'; its name must end with "),
        (
            ["thrown", "--plot", "text.rb/a.png"],
            "FileError",
            "'text.rb/a.png' cannot be written: 'text.rb' is a file, ",
        ),
        (["thrown", "--record", "a.csv", "--quantities", "enrgy"], "UnknownName", "There is no quantity 'enrgy'. Did "),
        (["thrown", "--record", "a.csv", "--every", "0"], "InputError", "The every of a Recorder is 0; it must be "),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_simulated(argv, kind, sentence, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.rb").write_text("hello")
    monkeypatch.setattr(rb.Simulation, "step", lambda *_: pytest.fail("a step was taken"))
    code, out, err = run(*argv, "--json")
    error = json.loads(out)["error"]
    assert code == 1
    assert error["kind"] == kind
    assert error["message"].startswith(sentence)
    assert err == f"rattleback: {error['message']}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["text.rb"]
    assert run(*argv) == (1, "", err)


def test_a_saved_state_has_its_worlds_already(run, tmp_path):
    run("thrown", "--duration", "0.1", "--save", tmp_path / "s.rb")
    code, _, err = run(tmp_path / "s.rb", "--worlds", "2")
    assert code == 1
    assert err.endswith("s.rb' is a saved state, which has its worlds already; leave --worlds out.\n")


def test_a_run_that_diverges_writes_what_was_asked_for_up_to_there_and_says_so(run, tmp_path):
    paths = {"--record": tmp_path / "a.npz", "--save": tmp_path / "a.rb"}
    code, out, err = run("thrown", "speed=1e200", "--json", *(word for pair in paths.items() for word in pair))
    error = json.loads(out)["error"]
    assert code == 1
    assert error["kind"] == "DivergenceError"
    assert error["message"].startswith("Body 'ball_1' is no longer finite in step 1, ")
    assert error["message"].endswith(f"Written up to there: {tmp_path / 'a.rb'}, {tmp_path / 'a.npz'}.")
    assert err == f"rattleback: {error['message']}\n"
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["time"].tolist() == [0.0]


def test_the_demo_leaves_its_picture_and_recording_and_says_where(capsys, tmp_path):
    assert main(["demo", "--no-page", "--out", str(tmp_path / "new")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "tumbling" in out
    assert f"Wrote the recording to {tmp_path / 'new' / 'tumbling.npz'}\n" in out
    assert f"Wrote the plot to {tmp_path / 'new' / 'tumbling.png'}\n" in out
    assert (tmp_path / "new" / "tumbling.png").read_bytes().startswith(b"\x89PNG")
    with np.load(tmp_path / "new" / "tumbling.npz") as arrays:
        assert arrays["time"][-1] == pytest.approx(MENU["tumbling"].duration)
        total = arrays["energy"][:, 2]
        np.testing.assert_allclose(total, total[0], rtol=1e-9)


def test_a_demo_that_cannot_be_written_is_refused_before_it_runs(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    assert main(["demo", "--out", str(tmp_path / "file")]) == 1
    assert "file' is a file, not a folder." in capsys.readouterr().err


def test_the_motion_of_a_run_is_written_for_other_programs_at_the_rate_asked_for(run_json, tmp_path):
    found = run_json("thrown", "--duration", "0.5", "--out", tmp_path / "new" / "throw.glb", "--fps", "25")
    assert found["files"] == {"motion": str(tmp_path / "new" / "throw.glb")}
    content = (tmp_path / "new" / "throw.glb").read_bytes()
    length = int.from_bytes(content[12:16], "little")
    about = json.loads(content[20 : 20 + length])["scenes"][0]["extras"]["rattleback"]
    assert (about["fps"], about["frames"]) == (25, 13)
    assert "energy.total" in [entry["name"] for entry in about["quantities"]]


def test_a_motion_that_cannot_be_written_is_refused_before_the_run(run, tmp_path):
    code, _, err = run("thrown", "--out", tmp_path / "throw.mp4")
    assert code == 1
    assert "The path of a motion is" in err
    code, _, err = run("thrown", "--fps", "25")
    assert code == 2
    assert "--fps has no effect without --out" in err
