import itertools

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.sweeps.space import make_space


def rows(given):
    space = make_space(given)
    return [space.row(index) for index in range(len(space))]


def test_a_dict_of_lists_gives_all_combinations_the_last_parameter_fastest():
    levels = {"a": [1, 2], "b": ["x", "y", "z"], "c": [True, False], "d": 0.5}
    wanted = [dict(zip("abcd", entry, strict=True)) for entry in itertools.product([1, 2], "xyz", [True, False], [0.5])]
    found = rows(levels)
    assert found == wanted
    assert [type(value) for value in found[0].values()] == [int, str, bool, float]


def test_vectors_are_levels_too():
    found = rows({"gravity": [(0, 0, -9.81), (0, 0, -1.62)], "n": range(2)})
    assert [(*entry["gravity"], entry["n"]) for entry in found] == [
        (0, 0, -9.81, 0), (0, 0, -9.81, 1), (0, 0, -1.62, 0), (0, 0, -1.62, 1)]  # fmt: skip


def test_zipped_samples_go_together():
    assert rows(rb.sweeps.zipped({"a": [1, 2], "b": np.array([0.5, 0.25])})) == [
        {"a": 1, "b": 0.5},
        {"a": 2, "b": 0.25},
    ]


@pytest.mark.parametrize("draw", [rb.sweeps.latin_hypercube, rb.sweeps.sobol])
def test_samples_put_one_point_into_every_slice_of_each_range(draw):
    samples = draw({"a": (2.0, 3.0), "b": (-4.0, 4.0)}, 64, seed=5)
    for (low, high), column in zip([(2.0, 3.0), (-4.0, 4.0)], samples.columns.values(), strict=True):
        assert sorted(np.floor(64 * (column - low) / (high - low))) == list(range(64))
    again, other = (draw({"a": (2.0, 3.0), "b": (-4.0, 4.0)}, 64, seed=seed).columns for seed in (5, 6))
    assert np.array_equal(again["a"], samples.columns["a"])
    assert not np.array_equal(other["a"], samples.columns["a"])


def test_fewer_sobol_points_are_the_first_of_more():
    few, many = (rb.sweeps.sobol({"a": (0, 1), "b": (0, 1)}, n).columns["b"] for n in (37, 64))
    assert np.array_equal(few, many[:37])


def test_a_dataset_gives_its_variables_over_all_its_dimensions():
    xr = pytest.importorskip("xarray")
    data = xr.Dataset(
        {"load": ("speed", [10.0, 20.0]), "drag": (("gear", "speed"), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])},
        coords={"speed": [1, 2]},
    )
    wanted = [(load, drag[gear][k], speed)
              for k, (load, speed) in enumerate([(10.0, 1), (20.0, 2)])
              for drag in [data.drag.values] for gear in range(3)]  # fmt: skip
    assert [tuple(row[name] for name in ("load", "drag", "speed")) for row in rows(data)] == wanted


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1, 2], "The space of a sweep is [1, 2]; give a dict of lists"),
        ({}, "The space of a sweep is {}"),
        ({"a": []}, "The parameter 'a' has no values"),
        ({"a": [1, "x"]}, "The values of 'a' are of several kinds"),
        ({"a": [1, None]}, "a parameter of a sweep is a number, a truth value, text, or a vector"),
        ({"a": [[1, 2], [3]]}, "a vector, all of the same length"),
        ({"a/b": [1]}, "A parameter of a sweep is called 'a/b'"),
        ({name: range(1000) for name in "abcd"}, "has 1000000000000 variants"),
    ],
)
def test_a_space_that_makes_no_sense_is_refused_by_a_sentence(given, said):
    with pytest.raises(InputError) as caught:
        make_space(given)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rb.sweeps.zipped({"a": [1, 2], "b": [1]}), "'a' has 2, 'b' has 1"),
        (lambda: rb.sweeps.zipped([1]), "The samples are [1]; give a dict of lists"),
        (
            lambda: rb.sweeps.sobol({"a": (2, 1)}, 4),
            "The range of 'a' is (2, 1); the first bound must be the lower one",
        ),
        (lambda: rb.sweeps.sobol({}, 4), "The ranges of samples are {}"),
        (lambda: rb.sweeps.latin_hypercube({"a": (1, 2)}, 0), "The number of samples is 0"),
    ],
)
def test_samples_that_cannot_be_drawn_are_refused_by_a_sentence(call, said):
    with pytest.raises(InputError) as caught:
        call()
    assert said in str(caught.value)


def test_a_dataset_without_variants_is_refused():
    xr = pytest.importorskip("xarray")
    with pytest.raises(InputError, match="The Dataset has no variants"):
        make_space(xr.Dataset())
