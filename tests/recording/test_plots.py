"""Plots: what is on them, in which unit, under which name; files; no state left behind in Matplotlib."""

import subprocess
import sys

import numpy as np
import pytest

import rattleback as rb

PNG = b"\x89PNG\r\n\x1a\n"


def recorded(quantities=("energy", "position"), worlds=None, bodies=1, steps=20) -> rb.Recorder:
    scene = rb.Scene(name="test")
    for index in range(bodies):
        name = "ball" if index == 0 else f"ball_{index}"
        scene.add_body(rb.Sphere(0.1), name=name, position=(index, 0, 1), velocity=(1, 2, 3))
    sim = rb.Simulation(scene, time_step=0.01, worlds=worlds)
    recorder = rb.Recorder(sim, quantities=quantities)
    if steps:
        sim.step(steps)
    return recorder


def legend(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_each_quantity_has_its_axes_with_name_unit_and_legend():
    figure = recorded().plot(["energy", "ball.position"])
    energy, position = figure.axes
    assert (energy.get_ylabel(), position.get_ylabel()) == ("energy [J]", "ball.position [m]")
    assert (energy.get_xlabel(), position.get_xlabel()) == ("", "time [s]")
    assert legend(energy) == ["kinetic", "potential", "total"]
    assert legend(position) == ["x", "y", "z"]


def test_the_lines_are_the_recorded_numbers():
    recorder = recorded()
    (axes,) = recorder.plot("ball.position").axes
    for index, line in enumerate(axes.get_lines()):
        np.testing.assert_array_equal(line.get_xdata(), recorder.time)
        np.testing.assert_array_equal(line.get_ydata(), recorder["ball.position"][:, index])


def test_without_names_everything_recorded_is_drawn():
    figure = recorded(["energy", "ball.velocity", ("height [m]", lambda sim: sim["ball"].position[2])]).plot()
    assert [axes.get_ylabel() for axes in figure.axes] == ["energy [J]", "ball.velocity [m/s]", "height [m]"]
    assert figure.axes[2].get_legend() is None


def test_worlds_and_bodies_are_told_apart_by_name():
    recorder = recorded(worlds=2, bodies=2)
    assert legend(recorder.plot("energy.total").axes[0]) == ["world 0", "world 1"]
    assert legend(recorder.plot("ball_1.position").axes[0])[3:] == ["world 1 x", "world 1 y", "world 1 z"]
    single = recorded(bodies=2)
    assert legend(single.plot("position").axes[0])[2:4] == ["ball.position.z", "ball_1.position.x"]


def test_more_curves_than_colours_share_them_by_component():
    (axes,) = recorded(bodies=30).plot("position").axes
    assert len(axes.get_lines()) == 90
    assert legend(axes) == ["x", "y", "z"]
    assert axes.get_legend().get_title().get_text() == "90 curves"
    assert len({line.get_color() for line in axes.get_lines()}) == 3


def test_the_drift_is_relative_to_the_first_energy():
    recorder = recorded()
    figure = recorder.plot("energy", drift=True)
    assert figure.axes[-1].get_ylabel() == "relative energy drift"
    total = recorder["energy"][:, 2]
    np.testing.assert_allclose(figure.axes[-1].get_lines()[0].get_ydata(), total / total[0] - 1.0, rtol=0, atol=1e-15)


def test_a_constant_is_drawn_as_one():
    sim = rb.Simulation(rb.scenes.torque_free(), time_step=0.01)
    recorder = rb.Recorder(sim, quantities=["energy.total"])
    sim.run(1.0)
    low, high = recorder.plot().axes[0].get_ylim()
    assert high - low > 0.1 * recorder["energy.total"][0]


def test_a_single_sample_is_a_dot_and_none_is_an_empty_plot():
    recorder = recorded(steps=0)
    assert recorder.plot("ball.position").axes[0].get_lines()[0].get_marker() == "o"
    recorder.clear()
    assert len(recorder.plot(["energy"]).axes[0].get_lines()[0].get_xdata()) == 0


def test_truth_values_and_counts_can_be_drawn():
    figure = recorded(["iterations", "converged"]).plot()
    assert set(figure.axes[1].get_lines()[0].get_ydata()) == {1.0}


@pytest.mark.parametrize(("name", "start"), [("a.png", PNG), ("a.PNG", PNG), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml")])
def test_a_figure_is_saved_in_the_format_of_its_name(tmp_path, name, start):
    recorded().plot("energy", path=tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (
            lambda r: r.plot("energy", path="a.doc"),
            rb.InputError,
            "The path of a plot is 'a.doc'; its name must end with",
        ),
        (lambda r: r.plot([]), rb.InputError, "There is nothing to plot; name a recorded quantity."),
        (lambda r: r.plot("enrgy"), rb.UnknownName, "'enrgy' was not recorded. Did you mean 'energy'?"),
        (
            lambda r: r.plot(path="gone/a.png"),
            rb.FileError,
            "The plot 'gone/a.png' cannot be written: there is no folder 'gone'",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path, monkeypatch, call, kind, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as caught:
        call(recorded())
    assert said in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_drift_without_the_energy_is_refused():
    with pytest.raises(rb.InputError, match="The drift needs the energy; add 'energy' to the quantities"):
        recorded(["position"]).plot("position", drift=True)


def test_matplotlib_loads_on_first_use_and_its_global_figures_stay_untouched():
    code = """
import sys
import rattleback as rb
sim = rb.Simulation(rb.scenes.kepler())
recorder = rb.Recorder(sim)
sim.step(3)
assert "matplotlib" not in sys.modules
recorder.plot("energy", drift=True)
assert "matplotlib" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
