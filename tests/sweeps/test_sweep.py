import importlib
import itertools
import linecache
import os
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import FileError, InputError, UnknownName
from rattleback.sweeps.outcome import seed_of

GRID = {"speed": [5.0, 10.0, 20.0], "friction": [0.25, 0.5]}


def test_a_sweep_gives_what_the_function_gives(functions):
    result = rb.sweep(functions.brake, GRID)
    wanted = [v * v / (2 * mu * 9.81) for v, mu in itertools.product(GRID["speed"], GRID["friction"])]
    assert result["distance"].tolist() == wanted
    assert result["friction"].tolist() == [0.25, 0.5] * 3
    assert np.array_equal(result["x"][3], functions.brake(10.0, 0.5)["x"])
    assert repr(result) == "<Result of 6 variants: 'distance', 'time', 'x'>"


def test_a_failure_is_a_row_with_its_message_and_the_others_go_on(functions):
    result = rb.sweep(functions.picky, {"x": range(6)}, chunk=4)
    assert result.failed == {3: "ValueError: three is too many"}
    assert result.survey.reports == {3: "swept_functions.py, line 17, in picky"}
    assert np.array_equal(result["twice"], [0, 2, 4, np.nan, 8, 10], equal_nan=True)
    assert result["kind"].tolist() == ["even", "odd", "even", "", "even", "odd"]
    assert np.array_equal(result["steps"][4], [0, 1, 2, 3, np.nan], equal_nan=True)
    assert "6 variants, 1 failed" in repr(result)


def test_a_call_of_exit_is_a_failure_of_its_variant(functions):
    assert rb.sweep(functions.leaving, {"x": [1]}).failed == {0: "SystemExit: 3"}


def test_seeds_follow_from_the_seed_of_the_sweep_and_the_number_of_the_variant(functions):
    first, again, other = (
        rb.sweep(functions.drawn, {"x": range(5)}, seed=seed, chunk=c) for seed, c in [(1, 1), (1, 3), (2, 1)]
    )
    assert np.array_equal(first["number"], again["number"])
    assert first["got"].tolist() == [seed_of(1, index) for index in range(5)]
    assert len({*first["got"], *other["got"]}) == 10
    assert rb.sweep(functions.drawn, {"x": [1], "seed": [7]})["seed"].tolist() == [7]


def test_a_second_run_computes_only_what_is_missing(functions, tmp_path, read_all):
    store, calls = tmp_path / "runs", []
    rb.sweep(functions.brake, GRID, store, chunk=2)
    before = read_all(store)
    (store / "chunks" / "00001.npz").unlink()
    watched = rb.sweeps.Sweep(functions.brake, GRID, store)
    run = type(watched.target).run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(watched.target), "run", lambda self, rows: calls.extend(rows) or run(self, rows))
        watched.run()
        watched.run()
    assert [variant.index for variant in calls] == [2, 3]
    assert read_all(store) == before


def test_a_chunk_that_was_cut_short_is_computed_again(functions, tmp_path, read_all):
    store = tmp_path / "runs"
    rb.sweep(functions.brake, GRID, store, chunk=2)
    before, victim = read_all(store), store / "chunks" / "00002.npz"
    victim.write_bytes(victim.read_bytes()[:-200])
    rb.sweep(functions.brake, GRID, store)
    assert read_all(store) == before


def test_failed_variants_are_run_anew_only_when_asked(functions, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert list(rb.sweep(functions.moody, {"x": range(3)}, "runs").failed) == [1]
    assert list(rb.sweep(functions.moody, {"x": range(3)}, "runs").failed) == [1]
    assert rb.sweep(functions.moody, {"x": range(3)}, "runs", retry=True)["y"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"space": {"speed": [5.0, 11.0]}}, "its space is another"),
        ({"seed": 1}, "its seed is another"),
        ({"target": "picky"}, "its function, scene or settings are others, and its space is another"),
    ],
)
def test_the_store_of_another_sweep_is_refused(functions, tmp_path, change, said):
    store = tmp_path / "runs"
    rb.sweep(functions.brake, {"speed": [5.0, 10.0]}, store)
    target = getattr(functions, change.pop("target", "brake"))
    given = {"space": {"x": [1]} if target is functions.picky else {"speed": [5.0, 10.0]}, **change}
    with pytest.raises(InputError, match=said):
        rb.sweep(target, store=store, **given)


def test_a_folder_with_other_things_is_refused(functions, tmp_path):
    (tmp_path / "thesis.txt").write_text("chapter one", encoding="utf-8")
    with pytest.raises(InputError, match="holds other files; give the sweep a folder of its own"):
        rb.sweep(functions.brake, GRID, tmp_path)


def test_a_full_disk_stops_with_a_sentence_and_the_sweep_goes_on_later(functions, tmp_path, monkeypatch, read_all):
    whole, store = tmp_path / "whole", tmp_path / "runs"
    rb.sweep(functions.brake, GRID, whole, chunk=1)
    replace, left = os.replace, [4]  # the space, the description and two chunks

    def full(source, target):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(FileError, match=r"The sweep stopped: .*: no space left on device\. What is done stays"):
            rb.sweep(functions.brake, GRID, store, chunk=1)
    assert len(list((store / "chunks").iterdir())) == 2
    assert rb.sweeps.load(store).missing == 4
    rb.sweep(functions.brake, GRID, store)
    assert read_all(store) == read_all(whole)


def test_ctrl_c_leaves_a_store_that_goes_on(functions, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        rb.sweep(functions.interrupting, {"x": range(6)}, "runs", chunk=2)
    assert rb.sweeps.load("runs").missing == 2
    assert rb.sweep(functions.interrupting, {"x": range(6)}, "runs")["y"].tolist() == list(range(6))


def test_a_changed_comment_or_layout_is_no_change_but_a_changed_constant_is(functions, tmp_path):
    path = Path(functions.__file__)
    text = path.read_text(encoding="utf-8")

    def changed(old, new):
        path.write_text(text.replace(old, new), encoding="utf-8")
        os.utime(path, (0, len(new)))  # bytecode goes by the time of the source
        linecache.clearcache()
        return importlib.reload(functions).brake

    rb.sweep(functions.brake, GRID, tmp_path / "runs")
    rb.sweep(changed("    end = ", "    # when it stands\n    end =   "), GRID, tmp_path / "runs")
    with pytest.raises(InputError, match="its function, scene or settings are others"):
        rb.sweep(changed("G = 9.81", "G = 1.62"), GRID, tmp_path / "runs")


def test_what_a_function_encloses_tells_it_from_others(tmp_path):
    def make(factor):
        return lambda x: {"y": factor * x}

    rb.sweep(make(2), {"x": [1]}, tmp_path / "runs")
    assert rb.sweep(make(2), {"x": [1]}, tmp_path / "runs")["y"] == [2]
    with pytest.raises(InputError, match="holds another sweep"):
        rb.sweep(make(3), {"x": [1]}, tmp_path / "runs")
    with pytest.raises(InputError, match="which a store cannot tell from others of its kind"):
        rb.sweep(make(object()), {"x": [1]}, tmp_path / "runs")


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (1.0, "The function returned 1.0; it must return a dict of results."),
        ({"a/b": 1}, "A result is called 'a/b'"),
        ({"x": 1}, "The result 'x' has the name of a parameter or of a column of the table"),
        ({"ok": 1}, "The result 'ok' has the name of a parameter or of a column"),
        ({"y": object()}, "it must be a number, text or an array of numbers"),
        ({"y": [[1], [2, 3]]}, "it must be a number, text or an array of numbers"),
        ({"y": 2**70}, "a whole number of more than 64 bits"),
    ],
)
def test_results_that_cannot_be_kept_are_failures_with_a_sentence(returned, said):
    assert said in rb.sweep(lambda x: returned, {"x": [1]}).failed[0]


def test_a_result_that_changes_its_kind_is_refused():
    with pytest.raises(InputError, match="The result 'y' of variant 1 is of another kind than before"):
        rb.sweep(lambda x: {"y": 1.0 if x == 0 else [1.0]}, {"x": [0, 1]}).names  # noqa: B018


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda f: rb.sweep(f.brake, {"spede": [1]}), "cannot be called with the parameters 'spede'"),
        (lambda f: rb.sweep(f.brake, GRID, duration=2.0), "A sweep of a function takes no 'duration'"),
        (lambda f: rb.sweep(max, GRID), "The target of a sweep is <built-in function max>"),
        (lambda f: rb.sweep("swept_functions:brakes", GRID), "has no function 'brakes'. Did you mean 'brake'?"),
        (lambda f: rb.sweep("nowhere_at_all:brake", GRID), "There is no module 'nowhere_at_all'"),
        (lambda f: rb.sweep("brake.rb.json", GRID), "'brake.rb.json' cannot be read: there is no such file"),
        (lambda f: rb.sweep(f.brake, GRID, workers=-1), "The number of workers is -1"),
        (lambda f: rb.sweep(f.brake, GRID, client="cluster"), "The client of a sweep is 'cluster'"),
        (lambda f: rb.sweep(f.brake, GRID, client=3, workers=2), "both workers= and client="),
        (lambda f: rb.sweep(f.brake, GRID, seed=-1), "The seed of a sweep is -1"),
        (lambda f: rb.sweep(f.brake, GRID, chunk=0), "The chunk of a sweep is 0"),
        (lambda f: rb.sweeps.Sweep(f.brake, GRID).run(part=(3, 2)), "Part 3 of 2 does not exist"),
        (lambda f: rb.sweeps.Sweep.open(f.__file__), "There is no sweep in"),
    ],
)
def test_a_sweep_that_makes_no_sense_is_refused_by_a_sentence(functions, call, said):
    with pytest.raises((InputError, FileError)) as caught:
        call(functions)
    assert said in str(caught.value)


def test_a_function_without_an_address_is_not_found_again(tmp_path):
    rb.sweep(lambda x: {"y": x}, {"x": [1]}, tmp_path / "runs")
    with pytest.raises(InputError, match="which no other process can import; put it at the top of a module"):
        rb.sweeps.Sweep.open(tmp_path / "runs")


def test_a_name_that_is_not_there_is_answered_with_those_that_are(functions):
    with pytest.raises(UnknownName, match="The sweep has no 'distanse'. Did you mean 'distance'?"):
        rb.sweep(functions.brake, {"speed": [1.0]})["distanse"]


def test_explain_says_the_cost_before_and_keeps_nothing(functions, tmp_path):
    told = rb.sweep(functions.slow, {"x": range(100)}, tmp_path / "runs", explain=True)
    assert 0.3 < told.total_seconds < 4.0
    assert not (tmp_path / "runs").exists()
    assert str(told).startswith("slow: 100 variants, 100 to be run.\nOne takes ")
    rb.sweep(functions.slow, {"x": range(100)}, tmp_path / "runs")
    assert rb.sweep(functions.slow, {"x": range(100)}, tmp_path / "runs", explain=True).total_seconds == 0.0
    assert "One that was timed failed: ValueError" in str(rb.sweep(functions.picky, {"x": [3]}, explain=True))


def test_parts_of_a_sweep_make_the_whole(functions, tmp_path, read_all):
    whole = rb.sweep(functions.brake, GRID, tmp_path / "whole", chunk=1)
    for part in (2, 3, 1):
        rb.sweeps.Sweep(functions.brake, GRID, tmp_path / "parts", chunk=1).run(part=(part, 3))
    parts = rb.sweeps.load(tmp_path / "parts")
    assert not parts.missing
    parts.collect()
    assert read_all(tmp_path / "parts") == read_all(whole.store.folder)
