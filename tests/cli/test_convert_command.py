"""``rattleback convert``: between formats, from scenes of the list, with what is lost on standard error."""

import json
import runpy
from pathlib import Path

import pytest

import rattleback as rb
from rattleback.cli.main import main

ARM = Path(__file__).resolve().parents[2] / "examples" / "robots" / "arm.urdf"


@pytest.fixture
def convert(capsys):
    def call(*argv):
        code = main(["convert", *map(str, argv)])
        return code, *capsys.readouterr()

    return call


@pytest.mark.parametrize("name", ["arm.xml", "arm.usda", "new/arm.urdf", "arm.rb.json"])
def test_a_robot_is_converted_to_every_format(convert, name: str, tmp_path: Path) -> None:
    code, out, err = convert(ARM, tmp_path / name)
    assert (code, out) == (0, "")
    assert f"Wrote {tmp_path / name}." in err
    again = rb.Scene.from_file(tmp_path / name)
    assert {"shoulder", "elbow", "wrist"} <= set(again.joints)


def test_a_scene_of_the_list_is_converted_and_its_losses_are_told(convert, tmp_path: Path) -> None:
    code, out, err = convert("chain", tmp_path / "chain.urdf", "--json")
    found = json.loads(out)
    assert (code, err, found["read"]) == (0, "", None)
    assert found["written"]["format"] == "URDF"
    assert {"place", "verdict", "note"} == set(found["written"]["changed"][0])
    _, _, err = convert("chain", tmp_path / "chain.urdf")
    assert "as three hinges about x, y and z" in err
    assert "more: --json shows all" in err


def test_a_scene_file_and_a_robot_become_scripts_that_make_the_same_scenes(convert, tmp_path: Path) -> None:
    for source, step in ((tmp_path / "arm.rb.json", ""), (ARM, "time_step=")):
        assert convert(ARM, tmp_path / "arm.rb.json")[0] == 0
        assert convert(source, tmp_path / "arm.py")[0] == 0
        runpy.run_path(str(tmp_path / "arm.py"))["scene"].save(tmp_path / "again.rb.json")
        assert (tmp_path / "again.rb.json").read_bytes() == (tmp_path / "arm.rb.json").read_bytes()
        assert step in (tmp_path / "arm.py").read_text()


def test_losses_on_either_side_are_refused_where_asked(convert, tmp_path: Path) -> None:
    code, _, err = convert(ARM, tmp_path / "arm.usda", "--strict")
    assert code == 1
    assert "cannot be kept as it is; without strict=True it is loaded" in err
    code, _, err = convert("chain", tmp_path / "chain.urdf", "--strict")
    assert code == 1
    assert "cannot be written exactly; without strict=True it is written" in err
    assert not list(tmp_path.iterdir())


def test_options_reach_the_reader_and_the_writer(convert, tmp_path: Path) -> None:
    code, _, _ = convert(ARM, tmp_path / "model.txt", "--format", "mjcf", "--base", "floating", "--search", tmp_path)
    assert code == 0
    assert "<freejoint" in (tmp_path / "model.txt").read_text()


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("arm.state", "a.urdf", "There is no file 'arm.state'"),
        ("chian", "a.urdf", "There is no scene 'chian'. Did you mean 'chain'"),
        (ARM, "a.stl", "names no format that is written"),
        ("saved", "a.xml", "is a saved state; what is converted is a scene or a robot file"),
    ],
)
def test_faults_are_told(convert, source, target: str, said: str, tmp_path: Path) -> None:
    if source == "saved":
        source = tmp_path / "state.npz"
        source.write_bytes(b"PK\x03\x04")
    code, _, err = convert(source, tmp_path / target)
    assert code == 1
    assert said in err
