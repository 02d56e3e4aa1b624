"""Figures of experiments: what is drawn, on which axes, into which file."""

import math

import pytest

import rattleback as rb
from rattleback.experiments import Curve, Experiment, Panel, Result, draw

QUESTION = "Does it draw what was measured beside what was published, in a title long enough to need two lines?"


def result_of(*curves: Curve, scales=("linear", "linear")) -> tuple[Experiment, Result]:
    result = Result(panels=(Panel("A panel", "x [s]", "y [m]", curves, scales),))
    return Experiment("e", QUESTION, "nowhere", lambda options: result), result


def test_every_look_draws_its_points():
    looks = ("measured", "published", "line", "dots", "bound")
    curves = [Curve(look, [1.0, 2.0], [3.0, 4.0], look, number) for number, look in enumerate(looks)]
    axes = draw(*result_of(*curves)).axes[0]
    assert [line.get_label() for line in axes.lines] == list(looks)
    assert axes.get_xlabel() == "x [s]"
    assert axes.get_ylabel() == "y [m]"
    assert axes.get_legend() is not None


def test_points_that_a_logarithmic_axis_cannot_show_are_left_out():
    curve = Curve("c", [1.0, 2.0, 3.0, 4.0], [1.0, math.nan, 0.0, math.inf])
    assert draw(*result_of(curve, scales=("linear", "log"))).axes[0].lines[0].get_xdata().tolist() == [1.0]
    assert draw(*result_of(curve)).axes[0].lines[0].get_xdata().tolist() == [1.0, 3.0]


def test_a_panel_without_a_point_says_so():
    axes = draw(*result_of(Curve("c", [1.0], [math.nan]))).axes[0]
    assert [text.get_text() for text in axes.texts] == ["nothing to show"]


def test_few_places_of_a_logarithmic_axis_are_named():
    axes = draw(*result_of(Curve("c", [0.001, 0.002], [1.0, 2.0]), scales=("log", "log"))).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.001", "0.002"]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_figure_is_saved_in_the_format_of_its_name(suffix, tmp_path):
    path = tmp_path / f"figure.{suffix}"
    draw(*result_of(Curve("c", [1.0], [1.0])), path)
    assert path.stat().st_size > 1000


def test_a_format_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(rb.InputError, match="The path of a plot is"):
        draw(*result_of(Curve("c", [1.0], [1.0])), tmp_path / "figure.txt")
