"""Robot files on the command line: they run, and what is lost of them is told."""

import json
from pathlib import Path

import pytest

ARM = Path(__file__).resolve().parents[2] / "examples" / "robots" / "arm.urdf"


def test_a_robot_file_runs_and_its_losses_are_told(run) -> None:
    code, out, err = run(ARM, "--duration", "0.05", "--json")
    assert code == 0
    assert json.loads(out)["simulated_time"] == pytest.approx(0.05)
    assert json.loads(out)["steps"] == 25  # of 2 ms, as the file asks for none
    assert "1 approximated, 0 dropped" in err
    assert "both slides mesh with a pinion" in err


def test_many_losses_are_cut(run, tmp_path: Path) -> None:
    shown = '<visual><geometry><mesh filename="gone.stl"/></geometry></visual>'
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    path = tmp_path / "r.urdf"
    path.write_text(f'<robot name="r"><link name="a"/><link name="b">{inertial}{shown * 9}</link>{joint}</robot>')
    code, _, err = run(path, "--duration", "0.01")
    assert code == 0
    assert "and 4 more: print(rb.Scene.from_file(path).import_report)" in err


def test_a_broken_robot_file_is_refused_with_its_line(run, tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text('<robot name="r">\n<link/></robot>')
    code, _, err = run(path)
    assert code == 1
    assert "has a fault in line 2, robot 'r'/link: the attribute 'name' is missing" in err
