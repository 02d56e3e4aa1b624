"""What comes of a sweep: table, Dataset, pictures; and what is said where a file is damaged or a package missing."""

import builtins
import json

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import FileError, InputError, UnknownName
from rattleback.sweeps import chunk_file
from rattleback.sweeps.outcome import Outcome, seed_of

GRID = {"speed": [5.0, 10.0, 20.0], "friction": [0.25, 0.5]}


def test_the_table_has_a_row_for_each_variant_and_is_on_the_disk(functions, tmp_path):
    pd, pq = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    space = rb.sweeps.zipped({"x": [1, 3, 4], "where": [(0, 1), (2, 3), (4, 5)]})
    result = rb.sweep(lambda x, where: {**functions.picky(x), "sum": where.sum()}, space, tmp_path / "runs", seed=9)
    table = result.table()
    assert list(table) == ["x", "where.0", "where.1", "seed", "ok", "error", "report", "twice", "kind", "small", "sum"]
    assert table["where.1"].tolist() == [1, 3, 5]
    assert table["seed"].tolist() == [seed_of(9, index) for index in range(3)]
    assert table["ok"].tolist() == [True, False, True]
    assert table.loc[1, "error"] == "ValueError: three is too many"
    assert pd.isna(table.loc[1, "twice"])
    assert pq.read_table(tmp_path / "runs" / "table.parquet").equals(result.arrow())


def test_the_dataset_lies_over_the_grid_and_time(functions, tmp_path):
    pytest.importorskip("xarray")
    data = rb.sweep(functions.brake, GRID, tmp_path / "runs").open(grid=True)
    assert dict(data.sizes) == {"speed": 3, "friction": 2, "time": 5}
    exact = data.speed**2 / (2.0 * data.friction * 9.81)
    assert np.array_equal(data["distance"], exact)
    assert data["x"].sel(speed=10.0, friction=0.5).values.tolist() == functions.brake(10.0)["x"].tolist()
    flat = rb.sweeps.load(tmp_path / "runs").open()
    assert flat["x"].dims == ("variant", "time")
    assert flat["friction"].values.tolist() == [0.25, 0.5] * 3


def test_variants_with_times_of_their_own_are_filled_up(tmp_path):
    pytest.importorskip("xarray")

    def course(n):
        return {"time": np.arange(n) * 0.1, "x": np.full((n, 2), float(n)), "k": np.arange(3), "name": "n" * n}

    result = rb.sweep(course, {"n": [1, 3, 2]}, tmp_path / "runs", chunk=2)
    data = result.open()
    assert data["x"].dims == ("variant", "sample", "x_1")
    assert data["time"].dims == ("variant", "sample")
    assert np.array_equal(data["x"].values[2, :, 0], [2.0, 2.0, np.nan], equal_nan=True)
    assert np.array_equal(data["x"].values, result["x"], equal_nan=True)
    assert data["k"].dtype == np.int64
    assert data["name"].values.tolist() == ["n", "nnn", "nn"]


def test_a_sweep_that_is_not_done_opens_as_far_as_it_is(functions, tmp_path):
    pytest.importorskip("xarray")
    result = rb.sweeps.Sweep(functions.brake, GRID, tmp_path / "runs", chunk=2).run(part=(2, 3))
    assert len(result.table()) == 2
    assert np.isnan(result.open()["x"].values).all(axis=1).tolist() == [True, True, False, False, True, True]
    assert not (tmp_path / "runs" / "results.zarr").exists()


def test_samples_are_no_grid(functions):
    pytest.importorskip("xarray")
    result = rb.sweep(functions.brake, rb.sweeps.sobol({"speed": (1, 2)}, 2))
    with pytest.raises(InputError, match="The variants of this sweep are samples, not a grid"):
        result.open(grid=True)


@pytest.mark.parametrize(
    ("package", "call", "what"),
    [
        ("pyarrow", lambda result: result.table(), "The table of a sweep needs pyarrow"),
        ("zarr", lambda result: result.open(), "The results of a sweep over time needs zarr"),
        ("xarray", lambda result: result.open(), "A Dataset needs xarray"),
    ],
)
def test_a_missing_package_is_told_with_its_extra(functions, monkeypatch, package, call, what):
    result, usual = rb.sweep(functions.brake, {"speed": [1.0]}), builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=what) as caught:
        call(result)
    assert str(caught.value).endswith("install it with: pip install 'rattleback[cluster]'.")


def test_a_chunk_keeps_every_bit_of_what_came(tmp_path):
    numbers = {"a": np.array([-0.0, np.inf]), "b": np.array(np.float32(0.1)), "c": np.array(True), "d": np.array(2**62)}
    outcomes = [Outcome(4, {**numbers, "e": "é"}), Outcome(5, {}, "no", "why"), Outcome(6, {"a": np.zeros((2, 3))})]
    content = chunk_file.pack("key", 2, outcomes)
    assert content == chunk_file.pack("key", 2, outcomes)
    (tmp_path / "2.npz").write_bytes(content)
    found = chunk_file.read(tmp_path / "2.npz", "key")

    def told(outcome):
        values = {
            name: value if isinstance(value, str) else (value.dtype, value.shape, value.tobytes())
            for name, value in outcome.values.items()
        }
        return outcome.index, outcome.error, outcome.report, values

    assert list(map(told, found)) == list(map(told, outcomes))


def test_no_change_of_a_byte_of_a_chunk_goes_unnoticed(functions, tmp_path):
    rb.sweep(functions.brake, GRID, tmp_path / "runs", chunk=6)
    path = tmp_path / "runs" / "chunks" / "00000.npz"
    whole, draw = path.read_bytes(), np.random.default_rng(0)
    for place in [0, len(whole) - 1, *draw.integers(len(whole), size=40)]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(FileError, match="is damaged; remove it and run the sweep again"):
            rb.sweeps.load(tmp_path / "runs").names  # noqa: B018
    path.write_bytes(whole)
    assert rb.sweeps.load(tmp_path / "runs").names


def test_a_chunk_in_the_place_of_another_is_refused(functions, tmp_path):
    rb.sweep(functions.brake, GRID, tmp_path / "runs", chunk=3)
    rb.sweep(functions.brake, GRID, tmp_path / "other", chunk=3, seed=1)
    chunks = tmp_path / "runs" / "chunks"
    (chunks / "00001.npz").write_bytes((chunks / "00000.npz").read_bytes())
    with pytest.raises(FileError, match="holds other variants than its name says"):
        rb.sweeps.load(tmp_path / "runs").names  # noqa: B018
    (chunks / "00001.npz").write_bytes((tmp_path / "other" / "chunks" / "00001.npz").read_bytes())
    with pytest.raises(FileError, match="belongs to another sweep"):
        rb.sweeps.load(tmp_path / "runs").names  # noqa: B018


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"variants": 7}, "is damaged; describe the sweep again"),
        ({"variants": "six"}, "variants: must be a whole number"),
        ({"chunks": 3}, "chunks: is not a field of this table"),
    ],
)
def test_a_store_with_a_wrong_description_is_refused(functions, tmp_path, change, said):
    rb.sweep(functions.brake, GRID, tmp_path / "runs")
    path = tmp_path / "runs" / "sweep.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(FileError, match=said):
        rb.sweeps.load(tmp_path / "runs")


def test_a_store_that_names_no_target_is_refused(functions, tmp_path):
    rb.sweep(functions.brake, GRID, tmp_path / "runs")
    path = tmp_path / "runs" / "sweep.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"kind": "function"', '"kind": "film"'), encoding="utf-8")
    with pytest.raises(InputError, match="The store sweeps a 'film'"):
        rb.sweeps.Sweep.open(tmp_path / "runs")


def test_the_pictures_show_what_varies(functions, tmp_path):
    result = rb.sweep(functions.brake, GRID)
    effects = result.plot_main_effects(path=tmp_path / "effects.png")
    first = effects.axes[0]
    (means,) = [line for line in first.lines if line.get_linestyle() == "-"]
    exact = [np.mean([v * v / (2 * mu * 9.81) for mu in GRID["friction"]]) for v in GRID["speed"]]
    assert means.get_xydata().tolist() == pytest.approx(np.transpose([GRID["speed"], exact]))
    assert [axes.get_xlabel() for axes in effects.axes] == ["speed", "friction"]
    assert len(result.plot_scatter_matrix(path=tmp_path / "scatter.png").axes) == 9
    bands = result.plot_quantiles("x", tmp_path / "x.png").axes[0]
    assert bands.lines[0].get_ydata().tolist() == np.median(result["x"], axis=0).tolist()
    assert {path.name for path in tmp_path.glob("*.png")} == {"effects.png", "scatter.png", "x.png"}
    with pytest.raises(UnknownName, match="There is no 'y' to draw here. There are 'time', 'x'."):
        result.plot_quantiles("y")


def test_where_nothing_varies_there_is_nothing_to_draw(functions):
    result = rb.sweep(functions.brake, {"speed": [1.0]})
    with pytest.raises(InputError, match="main effects need a result that is a number and a varied parameter"):
        result.plot_main_effects()
    with pytest.raises(InputError, match="no number of this sweep varies"):
        result.plot_scatter_matrix()
