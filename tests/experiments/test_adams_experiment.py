"""The ADAMS experiment without ADAMS: files made of a body that falls freely, files that are broken or missing."""

import numpy as np
import pytest

from rattleback.experiments import MENU, Options, adams

G = 9.80665


@pytest.fixture(autouse=True)
def no_folder_from_outside(monkeypatch):
    monkeypatch.delenv(adams.VARIABLE, raising=False)


@pytest.fixture
def only_prismatic(monkeypatch):
    monkeypatch.setattr(adams, "CASES", {"Prismatic": adams.CASES["Prismatic"]})


@pytest.fixture
def folder(tmp_path):
    """Files of the prismatic case, in six digits: a body that falls freely beside its vertical guide."""
    t = 0.01 * np.arange(501)
    zero, one = np.zeros_like(t), np.ones_like(t)
    signals = {
        "Pos": (2 * one, zero, -0.5 * G * t**2),
        "Vel": (zero, zero, -G * t, G * t),
        "Quat": (one, zero, zero, zero),
        "Rforce": (zero, zero, zero),
        "Rtorque": (zero, zero, zero),
    }
    (tmp_path / "adams").mkdir()
    for signal, columns in signals.items():
        rows = "\n".join("\t".join(f"{value:+.5E}" for value in row) for row in zip(t, *columns, strict=True))
        path = tmp_path / "adams" / f"Prismatic_Case01_ADAMS_{signal}.txt"
        path.write_text(f"# made here\n#\nTime\tX\tY\tZ\n{rows}\n")
    return tmp_path


def test_without_files_the_experiment_is_skipped_with_a_reason(tmp_path):
    result = MENU["adams"].run(Options())
    assert result.passed
    assert result.rows == ()
    assert "RATTLEBACK_DATA or --data must name the folder" in result.skipped
    assert "adams' must name the folder" in MENU["adams"].run(Options(data=tmp_path / "gone")).skipped


def test_a_body_that_falls_freely_beside_its_guide_agrees_to_the_digits_of_the_files(folder, only_prismatic):
    result = MENU["adams"].run(Options(data=folder))
    assert [row.quantity for row in result.rows] == [
        f"Prismatic: {name}" for name in ("position", "velocity", "quaternion", "force", "torque")
    ]
    assert [row.passed for row in result.rows] == [True] * 5


def test_the_folder_may_come_from_the_environment(folder, only_prismatic, monkeypatch):
    monkeypatch.setenv(adams.VARIABLE, str(folder))
    assert MENU["adams"].run(Options(quick=True)).rows


def test_a_motion_that_is_off_fails(folder, only_prismatic):
    path = folder / "adams" / "Prismatic_Case01_ADAMS_Pos.txt"
    path.write_text(path.read_text().replace("+2.00000E+00", "+2.00100E+00"))
    result = MENU["adams"].run(Options(quick=True, data=folder))
    assert [row.quantity for row in result.rows if row.passed is False] == ["Prismatic: position"]


@pytest.mark.parametrize("content", [None, "# one\n#\nTime\nnot a number\n"])
def test_a_file_that_cannot_be_read_fails_and_says_which(folder, only_prismatic, content):
    path = folder / "adams" / "Prismatic_Case01_ADAMS_Vel.txt"
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    result = MENU["adams"].run(Options(quick=True, data=folder))
    assert not result.passed
    assert "The ADAMS file 'Prismatic_Case01_ADAMS_Vel.txt' cannot be read: " in result.notes[0]


def test_a_quaternion_and_its_negative_are_the_same_orientation():
    turn = np.array([[0.5, 0.5, 0.5, 0.5]])
    assert adams.distance("Quat", turn, -turn).max() == 0.0
    assert adams.distance("Pos", turn, -turn).max() > 0.9
