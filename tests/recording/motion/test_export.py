"""Which motions are written, at which times, and what is refused."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import DeviceError, FileError, InputError
from rattleback.recording.motion.take import take_of


def thrown(time_step=0.01, **options):
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), position=(0, 0, 5), velocity=(2, 0, 0), name="ball")
    return rb.Simulation(scene, time_step=time_step, **options)


def recorder_of(sim, *more):
    return rb.Recorder(sim, quantities=["position", "orientation", *more])


def test_frames_lie_at_their_times_whatever_the_steps_are_and_the_error_of_a_fall_is_known():
    sim = thrown(time_step=0.03, integrator="rk4")
    recorder = recorder_of(sim)
    sim.run(0.9)
    take = take_of(recorder, 24.0, 0.5)
    time = np.arange(take.frames) * 0.5 / 24.0
    assert take.frames == 44
    assert time[-1] <= 0.9 < time[-1] + 0.5 / 24.0
    exact = np.stack([2.0 * time, 0.0 * time, 5.0 - 0.5 * 9.81 * time**2], axis=1)
    off = np.abs(take.position[:, 0] - exact).max()
    assert off <= 9.81 * 0.03**2 / 8.0 + 1e-12
    assert take.position_error == pytest.approx(off, rel=1e-6)


def test_the_last_sample_of_a_moment_counts_and_the_first_of_several_worlds_is_shown():
    sim = thrown(worlds=3)
    recorder = recorder_of(sim, "velocity")
    sim["ball"].position = [[1, 0, 5], [2, 0, 5], [3, 0, 5]]
    recorder.sample()
    sim.run(0.1)
    take = take_of(recorder, 100.0, 1.0)
    assert take.frames == 11
    np.testing.assert_allclose(take.position[:, 0, 0], 1.0 + 0.02 * np.arange(11), atol=1e-12)
    (track,) = take.tracks
    assert (track.owner, track.name, track.values.shape) == ("ball", "velocity", (11, 3))


def test_numbers_of_groups_bodies_and_own_functions_are_told_apart():
    sim = thrown()
    own = {"tilt": lambda sim: [1.0, 2.0], "height": lambda sim: sim["ball"].position[2]}
    recorder = rb.Recorder(sim, quantities=["position", "orientation", "kinetic_energy", "converged", *own.items()])
    sim.run(0.05)
    tracks = {track.label: track for track in take_of(recorder, 60.0, 1.0).tracks}
    assert list(tracks) == ["ball.kinetic_energy", "converged", "tilt.0", "tilt.1", "height"]
    assert (tracks["ball.kinetic_energy"].owner, tracks["ball.kinetic_energy"].unit) == ("ball", "J")
    assert tracks["tilt.1"].values[:, 0].tolist() == [2.0] * 4


def test_a_body_whose_frame_is_not_at_its_centre_of_mass_is_written_by_its_frame(tmp_path):
    scene = rb.Scene(gravity=(0, 0, 0))
    uneven = rb.Compound((rb.Placed(rb.Box(1, 1, 1)), rb.Placed(rb.Box(1, 1, 1), position=(3, 0, 0))))
    scene.add_body(uneven, origin=(1, 2, 3), angular_velocity=(0, 0, 1), name="uneven")
    sim = rb.Simulation(scene, time_step=0.01)
    recorder = recorder_of(sim)
    take = take_of(recorder, 60.0, 1.0)
    np.testing.assert_allclose(take.origin[0, 0], (1, 2, 3), atol=1e-14)
    np.testing.assert_allclose(take.position[0, 0], (2.5, 2, 3), atol=1e-14)


def test_a_recording_without_places_is_refused_and_says_how_to_make_one(tmp_path):
    recorder = rb.Recorder(thrown(), quantities=["energy", "position"])
    with pytest.raises(InputError, match=r"not recorded: 'orientation'.*=\['position', 'orientation', 'energy'"):
        recorder.export(tmp_path / "a.glb")


def test_an_empty_recording_and_one_that_goes_back_are_refused(tmp_path):
    sim = thrown()
    recorder = recorder_of(sim)
    start = sim.state.copy()
    sim.run(0.1)
    sim.state = start
    sim.run(0.05)
    with pytest.raises(InputError, match=r"goes back from 0.1 s to 0.01 s"):
        recorder.export(tmp_path / "a.glb")
    recorder.clear()
    with pytest.raises(InputError, match="at least one sample; the recording is empty"):
        recorder.export(tmp_path / "a.glb")


def test_a_number_that_is_not_finite_is_named_with_its_time(tmp_path):
    sim = thrown()
    recorder = recorder_of(sim, ("late", lambda sim: 1.0 if sim.time < 0.025 else np.inf))
    sim.run(0.05)
    with pytest.raises(InputError, match=r"'late' is not finite at t = 0.03 s.*leave it out"):
        recorder.export(tmp_path / "a.glb")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"path": "a.mp4"}, r"path of a motion is .*a.mp4'; its name must end with one of '.glb', '.gltf', '.usd'"),
        ({"fps": 0.0}, "The fps of a motion is 0.0"),
        ({"speed": -1.0}, "The speed of a motion is -1.0"),
        ({"fps": 1e9}, "at most a million are written"),
        ({"joints": 1}, "The joints of a motion is 1"),
        ({"arrows": None}, "The arrows of a motion is None"),
    ],
)
def test_what_cannot_be_written_is_refused(given, message, tmp_path):
    sim = thrown()
    recorder = recorder_of(sim)
    sim.run(0.1)
    options = {"path": "a.glb", **given}
    with pytest.raises(InputError, match=message):
        recorder.export(tmp_path / options.pop("path"), **options)


def test_a_place_that_cannot_be_written_is_named_before_the_work(tmp_path):
    with pytest.raises(FileError, match=r"The motion .*a.glb' cannot be written: there is no folder"):
        recorder_of(thrown()).export(tmp_path / "none" / "a.glb")


def test_usd_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pxr", None)
    with pytest.raises(DeviceError, match=r"usd-core, which is not installed: pip install 'rattleback\[formats\]'"):
        recorder_of(thrown()).export(tmp_path / "a.usda")
