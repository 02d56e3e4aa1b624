"""The picture of a run: its size, its parts, the body it speaks of, and the solid of a body without a shape."""

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.recording import overview
from rattleback.recording.picture import NEEDED, solid_of


def recorded(scene, duration=1.0, worlds=None, quantities=NEEDED) -> rb.Recorder:
    sim = rb.Simulation(scene, time_step=0.01, worlds=worlds)
    recorder = rb.Recorder(sim, every=5, quantities=quantities)
    if duration:
        sim.run(duration)
    return recorder


def pixels(path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def words(figure) -> str:
    return "\n".join(text.get_text() for text in figure.texts)


def test_the_picture_is_a_png_of_1600_by_900_with_something_on_it(tmp_path):
    overview(recorded(rb.scenes.tumbling(), 20.0), tmp_path / "run.png")
    picture = pixels(tmp_path / "run.png")
    assert picture.shape == (900, 1600, 3)
    view = picture[100:550]
    assert 0.1 < (view < 250).any(axis=2).mean() < 0.6
    reds = (view[..., 0].astype(int) - view[..., 2]) > 60
    assert 0.005 < reds.mean() < 0.2


def test_it_says_what_was_run_and_which_instants_are_shown():
    figure = overview(recorded(rb.scenes.tumbling(), 5.0))
    assert "tumbling" in words(figure)
    assert "5 bodies, 500 steps of 0.01 s, lie_midpoint; shown every 0.35 s, from pale to full colour" in words(figure)


def test_the_plots_are_the_spin_of_the_body_and_the_drift_of_the_energy():
    recorder = recorded(rb.scenes.tumbling(), 5.0)
    _, spin, drift = overview(recorder, body="card_2").axes
    assert spin.get_title(loc="left") == "Spin of card_2, own axes"
    assert spin.get_ylabel() == "angular velocity [rad/s]"
    assert "time [s]" == spin.get_xlabel() == drift.get_xlabel()
    lines = np.array([line.get_ydata() for line in spin.get_lines()])
    np.testing.assert_array_equal(lines.T, recorder["card_2.angular_velocity_local"])
    total = recorder["energy"][:, 2]
    power = int(drift.get_ylabel().split("^{")[1].split("}")[0])
    np.testing.assert_allclose(
        drift.get_lines()[0].get_ydata() * 10.0**power, total / total[0] - 1.0, rtol=0, atol=1e-15
    )


def test_a_wide_run_is_shown_above_its_plots_and_a_tall_one_beside():
    wide = overview(recorded(rb.scenes.tumbling(), 20.0)).axes
    tall = overview(recorded(rb.scenes.thrown(), 2.0)).axes
    assert wide[0].get_position().y0 > wide[1].get_position().y1
    assert tall[0].get_position().x1 < tall[1].get_position().x0


@pytest.mark.parametrize(
    ("scene", "options"),
    [
        (rb.scenes.torque_free(), {}),
        (rb.scenes.orbits(), {}),
        (rb.scenes.swarm(120), {}),
        (rb.scenes.tumbling(2), {"worlds": 2}),
        (rb.scenes.tumbling(2), {"duration": 0.0}),
    ],
    ids=["without a shape", "without spin", "a crowd", "worlds", "one sample"],
)
def test_every_kind_of_run_can_be_shown(tmp_path, scene, options):
    overview(recorded(scene, **options), tmp_path / "run.png")
    assert pixels(tmp_path / "run.png").shape == (900, 1600, 3)


def test_a_floor_without_end_does_not_shrink_the_rest():
    def scene(floor):
        result = rb.Scene(name="test")
        if floor:
            result.add_static(rb.Plane())
        result.add_body(rb.Box(1, 2, 3), name="box", velocity=(0, 0, 9), angular_velocity=(1, 2, 3))
        return result

    limits = [overview(recorded(scene(floor))).axes[0].get_xlim() for floor in (False, True)]
    assert limits[0] == limits[1]


def test_the_solid_of_a_body_without_a_shape_has_its_inertia():
    turn = Rotation.from_rotvec([0.3, 0.4, -0.2]).as_matrix()
    inertia = turn @ np.diag([2.0, 3.0, 4.0]) @ turn.T
    scene = rb.Scene()
    body = scene.add_body(mass=1.5, inertia=inertia, center_of_mass=(0.1, 0.2, 0.3))
    found = solid_of(body).mass_properties(1.0)
    np.testing.assert_allclose(found.inertia * (1.5 / found.mass), inertia, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.center_of_mass, (0.1, 0.2, 0.3), rtol=0, atol=1e-15)


def test_what_the_picture_lacks_is_named():
    with pytest.raises(rb.InputError) as caught:
        overview(recorded(rb.scenes.kepler(), 0.0, quantities=["position", "energy"]))
    assert str(caught.value).endswith("of all bodies; not recorded: 'orientation', 'angular_velocity_local'.")


def test_an_empty_recording_has_no_picture():
    recorder = recorded(rb.scenes.kepler())
    recorder.clear()
    with pytest.raises(rb.InputError, match="needs at least one sample; the recording is empty"):
        overview(recorder)


def test_a_body_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(rb.UnknownName) as caught:
        overview(recorded(rb.scenes.kepler()), body="plant")
    assert "'plant', which is no body of scene 'kepler'. Did you mean 'planet'? It has 'star', 'planet'." in str(
        caught.value
    )


def test_a_wrong_suffix_is_refused_before_anything_is_drawn():
    with pytest.raises(rb.InputError, match=r"The path of a plot is 'run.bmpx'"):
        overview(recorded(rb.scenes.kepler()), "run.bmpx")
