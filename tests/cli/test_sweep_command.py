"""`rattleback sweep`: a sweep described in a folder, run in parts, looked at."""

import json
import shutil

import pytest

from rattleback.cli.main import main
from rattleback.sweeps import load

SOURCE = """
def fall(height, gravity=9.81):
    if height < 0:
        raise ValueError("it is in the ground")
    return {"time": (2.0 * height / gravity) ** 0.5}
"""


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Run ``rattleback sweep`` beside the module ``falling``; gives exit code, standard output and standard error."""
    (tmp_path / "falling.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def run(*argv):
        code = main(["sweep", *map(str, argv)])
        return code, *capsys.readouterr()

    yield run
    import sys

    sys.modules.pop("falling", None)


def test_a_sweep_is_described_and_run_in_parts(call):
    code, out, err = call("describe", "runs", "falling:fall", "height=1,4,9", "gravity=2,8", "--chunk", 1)
    assert (code, err) == (0, "")
    assert out == "Described 6 variants in 6 chunks; run them with:\n  rattleback sweep run runs\n"
    assert call("run", "runs", "--part", "2/2")[:2] == (0, "3 of 6 variants are done, 0 of them failed.\n")
    assert json.loads(call("status", "runs", "--json")[1])["missing"] == 3
    assert call("run", "runs", "--part", "1/2", "--quiet")[:2] == (0, "")
    assert load("runs")["time"].tolist() == [1.0, 0.5, 2.0, 1.0, 3.0, 1.5]
    assert not (load("runs").store.folder / "table.parquet").exists()
    assert call("collect", "runs")[1].splitlines()[:2] == ["Wrote runs/table.parquet", "Wrote runs/results.zarr"]


def test_samples_are_drawn_and_failures_told(call):
    call("describe", "runs", "falling:fall", "height=-1:1", "--samples", "sobol", "--count", 8, "--seed", 3)
    assert "One takes " in call("explain", "runs")[1]
    code, out, _ = call("run", "runs")
    assert code == 0
    assert out.startswith("8 of 8 variants are done, 4 of them failed.\n  variant ")
    assert out.count(": ValueError: it is in the ground\n") == 4
    assert len(json.loads(call("run", "runs", "--json")[1])["failed"]) == 4


def test_a_function_that_changed_since_is_refused(call, tmp_path):
    import sys

    call("describe", "runs", "falling:fall", "height=1")
    (tmp_path / "falling.py").write_text(SOURCE.replace("2.0", "3.00"), encoding="utf-8")
    sys.modules.pop("falling")
    code, _, err = call("run", "runs")
    assert code == 1
    assert "The store 'runs' holds another sweep: its function, scene or settings are others." in err


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["run", "nowhere"], 1, "There is no sweep in 'nowhere'"),
        (["run", "runs", "--part", "3of4"], 1, "The part of the sweep is '3of4'; write it as 3/16"),
        (["run", "runs", "--part", "5/4"], 1, "Part 5 of 4 does not exist"),
        (["status", "runs", "--part", "1/2"], 2, "--part has no effect on status"),
        (["run", "runs", "height=1"], 2, "Unknown argument: height=1"),
        (["describe", "other"], 2, "Describe needs package.module:function or a scene file"),
        (["describe", "other", "falling:fall", "height"], 1, "'height' is not a parameter of the sweep"),
        (["describe", "other", "falling:fall", "height=1", "height=2"], 1, "given twice"),
        (["describe", "other", "falling:fall", "height=1", "--samples", "sobol", "--count", "2"], 1, "its bounds as"),
        (
            ["describe", "other", "falling:fall", "height=1:2", "--samples", "sobol"],
            1,
            "need their number",
        ),
        (["describe", "other", "falling:fell", "height=1"], 1, "Did you mean 'fall'?"),
        (["describe", "other", "crank.rb.json", "height=1"], 1, "crank.rb.json"),
    ],
)
def test_what_makes_no_sense_is_refused_by_a_sentence(call, argv, code, said):
    call("describe", "runs", "falling:fall", "height=1")
    found, _, err = call(*argv)
    assert found == code
    assert said in err


def test_a_damaged_description_is_told(call, tmp_path):
    call("describe", "runs", "falling:fall", "height=1")
    path = tmp_path / "runs" / "sweep.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"variants": 1', '"variants": 0'), encoding="utf-8")
    code, _, err = call("status", "runs")
    assert code == 1
    assert "has 1 fault:\n  variants: must be" in err
    shutil.rmtree(tmp_path / "runs")
