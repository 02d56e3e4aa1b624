"""The commands through ``main``: what they answer, with which exit code, on which stream."""

import inspect
import json
import platform
import sys
from pathlib import Path

import numpy as np
import pytest
import warp as wp

import rattleback
from rattleback.cli import info, list_scenes
from rattleback.cli.main import MENU, main
from rattleback.core import device
from rattleback.io import scene_file
from rattleback.scenes import MENU as SCENES


@pytest.fixture
def call(capsys):
    """Run a command; gives exit code, standard output and standard error."""

    def run(*argv):
        code = main([str(word) for word in argv])
        return code, *capsys.readouterr()

    return run


def test_no_command_is_wrong_usage_and_names_the_commands(call):
    code, out, err = call()
    assert (code, out) == (2, "")
    assert err.splitlines()[0].startswith("usage: rattleback ")
    assert f"rattleback: Name a command. The commands are {', '.join(MENU)}. Try " in err
    assert {"list", "run", "experiment", "demo", "schema", "info"} <= set(MENU)


def test_a_misspelt_command_is_answered_with_the_nearest(call):
    code, _, err = call("lst")
    assert code == 2
    assert "There is no command 'lst'. Did you mean 'list'? The commands are " in err


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--verison"], "rattleback: Unknown argument: --verison. Try 'rattleback --help'."),
        (["list", "thrown"], "rattleback: Unknown argument: thrown. Try 'rattleback list --help'."),
        (["run"], "rattleback: The following arguments are required: NAME|FILE. Try 'rattleback run --help'."),
        (["run", "thrown", "--jsn"], "rattleback: Unknown argument: --jsn. "),
        (["run", "thrown", "--dur", "1"], "rattleback: Unknown argument: --dur. "),
        (["run", "thrown", "--duration", "x"], "rattleback: Argument --duration: 'x' is not a number. "),
        (["run", "thrown", "--worlds", "1.5"], "rattleback: Argument --worlds: '1.5' is not a whole number. "),
        (["run", "thrown", "--quantities", "a,,b"], "'a,,b' is not a list of names with commas between them. "),
        (["run", "thrown", "--every", "2"], "rattleback: --every has no effect without --record, --plot or --out. "),
        (["run", "thrown", "--quantities", "energy"], "rattleback: --quantities has no effect without --record, "),
    ],
)
def test_wrong_usage_shows_the_usage_and_a_sentence(argv, sentence, call):
    code, out, err = call(*argv)
    assert (code, out) == (2, "")
    assert err.startswith("usage: rattleback")
    assert sentence in err


@pytest.mark.parametrize("argv", [["--help"], *([name, "--help"] for name in MENU)])
def test_help_goes_to_standard_output(argv, call):
    code, out, err = call(*argv)
    assert (code, err) == (0, "")
    assert out.startswith("usage: rattleback")


def test_the_version_is_that_of_the_package(call):
    assert call("--version") == (0, f"rattleback {rattleback.__version__}\n", "")


def test_a_fault_of_rattleback_itself_is_not_hidden(monkeypatch):
    monkeypatch.setattr("rattleback.cli.info.gather", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        main(["info"])


@pytest.mark.parametrize(
    ("fault", "code", "sentence"),
    [
        (KeyboardInterrupt(), 130, "Interrupted before it was done."),
        (MemoryError("Unable to allocate 9 GiB"), 1, "There is not enough memory for this. Unable to allocate 9 GiB"),
    ],
)
def test_what_is_no_fault_of_rattleback_is_told_in_a_sentence(fault, code, sentence, call, monkeypatch):
    def gather():
        raise fault

    monkeypatch.setattr("rattleback.cli.info.gather", gather)
    assert call("info") == (code, "", f"rattleback: {sentence}\n")
    _, out, _ = call("info", "--json")
    assert json.loads(out) == {"error": {"kind": type(fault).__name__, "message": sentence}}


def test_the_list_names_every_scene_with_its_first_sentence_and_parameters(call):
    code, out, err = call("list")
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    for name, entry in SCENES.items():
        assert f"{name} (" in words
        assert " ".join(inspect.getdoc(entry.build).split("\n\n")[0].split()) in words
        for parameter in inspect.signature(entry.build).parameters.values():
            default = parameter.default
            shown = str(default).lower() if isinstance(default, bool) else str(default)
            assert f"{parameter.name}={shown}" in words


def test_the_list_as_json_says_how_each_scene_is_meant_to_run(call):
    code, out, _ = call("list", "--json")
    scenes = {entry["name"]: entry for entry in json.loads(out)["scenes"]}
    assert code == 0
    assert list(scenes) == list(SCENES)
    for name, entry in SCENES.items():
        assert scenes[name]["duration"] == entry.duration
        assert scenes[name]["time_step"] == entry.time_step
        assert scenes[name]["integrator"] == entry.integrator
        defaults = {name: found.default for name, found in inspect.signature(entry.build).parameters.items()}
        assert {found["name"]: found["default"] for found in scenes[name]["parameters"]} == defaults


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. Two.", "One."),
        ("One\n    goes on.\n\n    Two.", "One goes on."),
        ("Moments of 1.5 and 2.5 kg m².", "Moments of 1.5 and 2.5 kg m²."),
        ("", ""),
    ],
)
def test_the_first_sentence_is_cut_at_its_end(text, sentence):
    assert list_scenes.first_sentence(text) == sentence


def test_the_schema_is_that_of_scene_files(call):
    code, out, err = call("schema")
    assert (code, err) == (0, "")
    assert json.loads(out) == scene_file.schema()


def test_the_schema_is_written_to_a_file_in_a_new_folder(call, tmp_path):
    path = tmp_path / "new" / "scene.json"
    assert call("schema", "--output", path) == (0, "", f"rattleback: Wrote the schema to {path}.\n")
    assert json.loads(path.read_text(encoding="utf-8")) == scene_file.schema()


def test_a_schema_that_cannot_be_written_is_refused(call, tmp_path):
    code, out, err = call("schema", "--output", tmp_path)
    assert (code, out) == (1, "")
    assert err == f"rattleback: '{tmp_path}' cannot be written: it is a folder.\n"


def test_info_tells_versions_precision_devices_and_kernel_cache(call, monkeypatch):
    # The cache of a machine may hold many thousand files, which take seconds to count.
    sizes = {Path(device.kernel_cache()): 3 * 2**20}
    monkeypatch.setattr(info, "size_of", sizes.get)
    code, out, err = call("info", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["versions"] == {
        "rattleback": rattleback.__version__,
        "Python": platform.python_version(),
        "Warp": wp.__version__,
        "NumPy": np.__version__,
    }
    assert found["precision"] in ("double", "single")
    assert found["devices"] == device.names()
    assert found["kernel_cache"] == {"folder": device.kernel_cache(), "bytes": 3 * 2**20}
    _, text, _ = call("info")
    cache = f"{device.kernel_cache()} (3.0 MiB)"
    for value in (*found["versions"].values(), found["precision"], *found["devices"], cache):
        assert value in text


def test_the_size_of_a_folder_is_that_of_its_files(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"x" * 1000)
    (tmp_path / "c").write_bytes(b"x" * 24)
    assert info.size_of(tmp_path) == 1024
    assert info.size_of(tmp_path / "gone") == 0


def test_warming_up_loads_the_kernels_of_every_room(call, monkeypatch):
    loaded, load_kernels = [], device.load_kernels

    def spy(modules, place):
        loaded.extend((module.name, place.alias) for module in modules)
        return load_kernels(modules, place)

    monkeypatch.setattr(device, "load_kernels", spy)
    code, out, _ = call("info", "--json", "--warm-up", "--device", "cpu")
    warmed = json.loads(out)["warm_up"]
    assert code == 0
    assert (warmed["devices"], warmed["modules"]) == (["cpu"], len(loaded))
    assert {("rattleback.integrators.rk45", "cpu"), ("rattleback.core.stages", "cpu")} <= set(loaded)
    _, text, _ = call("info", "--warm-up", "--device", "cpu")
    assert f"{warmed['modules']} modules ready on cpu in " in text


def test_warming_up_imports_every_room_and_names_those_whose_package_is_missing(call, monkeypatch):
    monkeypatch.delitem(sys.modules, "rattleback.recording.picture", raising=False)
    monkeypatch.setitem(sys.modules, "rattleback.recording.stage", None)
    with pytest.raises(ModuleNotFoundError):
        info.import_rooms()
    monkeypatch.undo()
    assert info.import_rooms() == {}
    assert {"rattleback.io.state_file", "rattleback.recording.picture", "rattleback.scenes"} <= set(sys.modules)
    shown = {"versions": {}, "precision": "double", "devices": ["cpu"], "kernel_cache": {"folder": "f", "bytes": 0}}
    warmed = {"devices": ["cpu"], "modules": 3, "seconds": 1.0, "left_out": {"rattleback.viewer": "viser"}}
    text = info.as_text({**shown, "warm_up": warmed})
    assert "left out rattleback.viewer  it needs the package viser" in text


def test_a_device_that_is_not_there_is_answered_with_those_that_are(call):
    code, out, err = call("info", "--device", "abacus", "--json")
    assert code == 1
    assert "There is no device 'abacus'. Devices here: 'cpu'" in err
    assert json.loads(out)["error"]["kind"] == "DeviceError"
