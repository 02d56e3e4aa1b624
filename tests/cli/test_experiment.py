"""The command ``experiment``: the list, a run with its files, its exit codes and its refusals."""

import csv
import json

import pytest

from rattleback import experiments
from rattleback.cli.main import main
from rattleback.experiments import MENU, Curve, Experiment, Finding, Panel, Result
from rattleback.experiments.result import at_most, near

RESULT = Result(
    rows=(
        near("period", 2.3678420, 2.36784195, 1e-5, "s"),
        at_most("worst joint", 2e-6, 1e-6, "m"),
        Finding("a step", 0.25, 19.66, "ms"),
        Finding("loops cut, a step", None, 41.19, "ms"),
        Finding("order", float("nan")),
    ),
    panels=(Panel("t", "x", "y", (Curve("c", [1.0, 2.0], [1.0, 2.0]),)),),
    notes=("The joint 'a' came apart.",),
)


@pytest.fixture
def call(capsys):
    """Run ``rattleback experiment`` with arguments; gives exit code, standard output and standard error."""

    def run(*argv):
        code = main(["experiment", *map(str, argv)])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def made_up(monkeypatch):
    """An experiment on the menu that fails one demand; gives the options it was run with."""
    seen = []
    entry = Experiment("made_up", "Does it hold?", "a book", lambda options: seen.append(options) or RESULT)
    monkeypatch.setitem(experiments.MENU, "made_up", entry)
    return seen


def test_without_a_name_all_are_listed_with_question_and_source(call):
    code, out, err = call()
    assert (code, err) == (0, "")
    for name, experiment in MENU.items():
        assert f"{name}\n    {experiment.question}\n    {experiment.source}" in out
    code, out, _ = call("--json")
    assert [entry["name"] for entry in json.loads(out)["experiments"]] == list(MENU)


def test_a_wrong_name_is_answered_with_the_nearest_and_the_menu(call):
    code, out, err = call("chian")
    assert (code, out) == (1, "")
    assert "There is no experiment 'chian'. Did you mean 'chain'? The menu: " in err
    assert all(repr(name) in err for name in MENU)


def test_a_demand_that_fails_gives_exit_code_one(call, made_up):
    code, out, err = call("made_up", "--quick", "--data", "somewhere")
    assert (code, err) == (1, "")
    assert made_up[0].quick
    assert str(made_up[0].data) == "somewhere"
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[:2] == ["Does it hold?", "a book"]
    assert "period 2.36784195 2.367842 s ± 1e-05 pass" in lines
    assert "worst joint – 2e-06 m ≤ 1e-06 FAIL" in lines
    assert "a step 19.66 0.25 ms" in lines
    assert "loops cut, a step 41.19 – ms" in lines
    assert "order – –" in lines
    assert "The joint 'a' came apart." in lines
    assert lines[-1] == "made_up: 1 of 2 demands met."


def test_the_object_has_rows_curves_notes_and_files(call, made_up, tmp_path):
    code, out, err = call("made_up", "--json", "--table", tmp_path / "t.csv")
    found = json.loads(out)
    assert (code, err) == (1, "")
    assert (found["name"], found["passed"], found["skipped"]) == ("made_up", False, "")
    assert found["rows"][0]["published"] == 2.36784195
    assert [row["passed"] for row in found["rows"]] == [True, False, None, None, None]
    assert found["rows"][4]["measured"] is None
    assert found["panels"][0]["curves"][0]["x"] == [1.0, 2.0]
    assert found["files"] == {"table": str(tmp_path / "t.csv")}


def test_table_and_figure_are_written_into_new_folders(call, made_up, tmp_path):
    table, plot = tmp_path / "a" / "t.csv", tmp_path / "b" / "f.png"
    _, out, _ = call("made_up", "--table", table, "--plot", plot)
    assert f"table: {table}" in out
    assert plot.read_bytes().startswith(b"\x89PNG")
    with open(table, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["quantity", "published", "measured", "unit", "demand", "passed"]
    assert rows[0] == ["period", "2.36784195", "2.367842", "s", "± 1e-05", "True"]
    assert rows[3] == ["loops cut, a step", "41.19", "", "ms", "", ""]


def test_an_experiment_that_holds_gives_exit_code_zero(call, tmp_path):
    code, out, err = call("pendulum", "--quick", "--plot", tmp_path / "p.svg")
    assert (code, err) == (0, "")
    assert "pendulum: 1 of 1 demands met." in out
    assert (tmp_path / "p.svg").exists()


def test_an_experiment_without_its_data_is_skipped_with_a_reason(call, monkeypatch, tmp_path):
    monkeypatch.delenv("RATTLEBACK_DATA", raising=False)
    code, out, _ = call("adams", "--plot", tmp_path / "p.png", "--table", tmp_path / "t.csv")
    assert code == 0
    assert "Skipped: The files of the ADAMS cases were not found; " in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("argv", "code", "sentence"),
    [
        (["--quick"], 2, "--quick has no effect without the name of an experiment"),
        (["--plot", "a.png"], 2, "--plot has no effect without the name of an experiment"),
        (["pendulum", "--plot", "a.txt"], 1, "The path of a plot is 'a.txt'; its name must end with one of "),
        (["pendulum", "--table", "a.txt"], 1, "The path of a table is 'a.txt'; its name must end with one of '.csv'."),
        (["pendulum", "chain"], 2, "Unknown argument: chain. "),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_simulated(call, argv, code, sentence):
    found, out, err = call(*argv)
    assert (found, out) == (code, "")
    assert sentence in err


def test_progress_is_shown_on_a_terminal_only(call, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    code, _, err = call("pendulum", "--quick")
    assert code == 0
    assert "pendulum at 0.01 s" in err
    assert err.endswith("\r\033[K")
