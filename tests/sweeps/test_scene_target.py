"""Scenes as targets: variants side by side have the bits of single simulations, and fail by themselves."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError, RattlebackError


def pendulum(mass=1.0, length=1.0, speed=0.0):
    scene = rb.Scene(name="pendulum")
    bob = scene.add_body(rb.Sphere(0.05), mass=mass, position=(length, 0, 0), velocity=(0, 0, speed), name="bob")
    scene.add_joint(rb.Ball(scene.world, bob, at=(0, 0, 0)), name="pivot")
    scene.add_force(rb.Drag(linear=0.1), name="drag")
    return scene


KEPT = {
    "record": ["bob.position"],
    "results": {"low": "min(bob.position.z)", "z": "bob.position.z", "energy": "energy.total"},
}


def test_a_sweep_of_a_scene_has_the_bits_of_single_simulations():
    space = {"bob.mass": [0.5, 2.0], "drag.linear": [0.0, 0.3], "gravity": [(0, 0, -9.81), (0, 0, -1.62)]}
    result = rb.sweep(pendulum(), space, duration=0.3, time_step=0.01, every=3, chunk=5, **KEPT)
    assert len(result) == 8
    for index in range(8):
        scene = pendulum()
        row = result.space.row(index)
        scene.change_body("bob", mass=row["bob.mass"])
        scene.change_force("drag", linear=row["drag.linear"])
        scene.gravity = row["gravity"]
        sim = rb.Simulation(scene, time_step=0.01, worlds=1)
        recorder = rb.Recorder(sim, 3, ["bob.position"])
        sim.run(0.3)
        assert np.array_equal(result["bob.position"][index], recorder["bob.position"][:, 0])
        assert result["z"][index] == sim["bob"].position[0, 2]
        assert result["energy"][index] == sim.energy().total[0]
        assert result["low"][index] == recorder["bob.position"][:, 0, 2].min()
    assert np.array_equal(result["time"][0], recorder.time)


def highest_speed(sim):
    """A result of one's own, for every world."""
    return np.linalg.norm(sim["bob"].velocity, axis=1)


def test_functions_of_the_simulation_are_results_and_keep_a_row_for_each_world():
    space = {"gravity": [(0, 0, 0)], "bob.velocity": [(0, 1.0, 0), (0, -2.0, 0), (0, 3.0, 0)]}
    result = rb.sweep(pendulum(), space, duration=0.01, time_step=0.001, results={"speed": highest_speed})
    # About the pivot the ball, which does not turn at first, has the inertia m l² + 2 m r² / 5; then drag alone acts.
    turning = 1.0 + 0.4 * 0.05**2
    assert result["speed"] == pytest.approx(
        np.array([1.0, 2.0, 3.0]) / turning * np.exp(-0.1 * 0.01 / turning), rel=1e-6
    )
    failed = rb.sweep(pendulum(), space, duration=0.01, results={"speed": lambda sim: 1.0}).failed
    assert "returned an array of shape () for 1 worlds" in failed[2]


def test_a_world_that_fails_is_a_row_and_those_beside_it_go_on():
    space = {"bob.mass": [1.0, 2.0, -3.0, 4.0, 5.0]}
    result = rb.sweep(pendulum(), space, duration=0.05, results={"z": "bob.position.z"})
    assert list(result.failed) == [2]
    assert "'bob.mass'" in result.failed[2]
    assert "-3.0" in result.failed[2]
    single = rb.sweep(pendulum(), {"bob.mass": [4.0]}, duration=0.05, results={"z": "bob.position.z"})
    assert result["z"][3] == single["z"][0]


def test_a_variant_that_misses_its_tolerance_fails_where_that_is_strict():
    space = {"bob.velocity": [(0, 0, 0.0), (0, 300.0, 0)]}
    given = {"duration": 0.02, "results": {"z": "bob.position.z"}, "joints": "iterative", "max_iterations": 1}
    assert not rb.sweep(pendulum(), space, **given).failed
    failed = rb.sweep(pendulum(), space, strict=True, **given).failed
    assert list(failed)[-1] == 1
    assert "tolerance" in failed[1]


def test_a_scene_in_a_store_is_the_same_sweep_when_it_is_opened(tmp_path, read_all):
    space = rb.sweeps.latin_hypercube({"bob.mass": (0.5, 2.0)}, 3)
    given = {"duration": 0.05, "time_step": 0.005, "contacts": rb.contacts.Impulse(restitution="poisson")}
    rb.sweep(pendulum(), space, tmp_path / "at_once", chunk=1, **given, **KEPT)
    rb.sweeps.Sweep(pendulum(), space, tmp_path / "later", chunk=1, **given, **KEPT).store()
    for part in (1, 2):
        result = rb.sweeps.Sweep.open(tmp_path / "later").run(part=(part, 2))
    result.collect()
    assert read_all(tmp_path / "later") == read_all(tmp_path / "at_once")


def test_a_scene_file_is_a_target_and_explained_side_by_side(tmp_path):
    pendulum().save(tmp_path / "pendulum.rb.json")
    space = rb.sweeps.sobol({"bob.mass": (1, 2)}, 64)
    told = rb.sweep(tmp_path / "pendulum.rb.json", space, duration=0.05, explain=True, **KEPT)
    assert (told.variants, told.batch) == (64, 16)
    assert str(told).startswith("the scene 'pendulum': 64 variants, 64 to be run.\nOne takes ")
    assert ", the first 16 " in str(told)


@pytest.mark.slow
def test_scenes_in_processes_have_the_bits_of_one(tmp_path, read_all):
    space = {"bob.mass": np.linspace(0.5, 2.0, 8)}
    for name, workers in (("one", 1), ("two", 2)):
        rb.sweep(pendulum(), space, tmp_path / name, workers=workers, chunk=3, duration=0.2, **KEPT)
    assert read_all(tmp_path / "one") == read_all(tmp_path / "two")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"results": {"z": "bob.position.z"}}, "A sweep of a scene needs a duration"),
        ({"duration": 1.0}, "A sweep of a scene keeps nothing"),
        ({"duration": -1.0, **KEPT}, "The duration of a sweep is -1.0"),
        ({"duration": 1.0, "worlds": 3, **KEPT}, "A sweep of a scene sets 'worlds' itself"),
        ({"duration": 1.0, "tolerance": 3, **KEPT}, "has no option 'tolerance'"),
        ({"duration": 1.0, "record": ["bob.positoin"]}, "There is no quantity 'bob.positoin'. Did you mean"),
        ({"duration": 1.0, "record": 3}, "The record of a sweep is 3"),
        ({"duration": 1.0, "results": ["z"]}, "The results of a sweep are ['z']"),
        ({"duration": 1.0, "results": {"z": 3}}, "The result 'z' is 3; give text or a function"),
        (
            {"duration": 1.0, "results": {"z": "peak(bob.position.z)"}},
            "cannot be read; write a quantity",
        ),
        (
            {"duration": 1.0, "results": {"z": "bob.position.w"}},
            "'bob.position.w'. 'bob.position' has",
        ),
        ({"duration": 1.0, "results": {"z": "penetration"}}, "is one for all worlds side by side"),
        ({"duration": 1.0, "space": {"bob.mas": [1.0]}, **KEPT}, "'bob' has no 'mas'"),
    ],
)
def test_a_sweep_of_a_scene_that_makes_no_sense_is_refused_by_a_sentence(given, said):
    space = given.pop("space", {"bob.mass": [1.0]})
    with pytest.raises(RattlebackError) as caught:
        rb.sweep(pendulum(), space, **given)
    assert said in str(caught.value)


def test_a_scene_with_code_in_it_is_refused():
    scene = pendulum()
    scene.add_force(rb.PythonForce(lambda time, state: None), name="code")
    with pytest.raises(InputError, match=r"A sweep keeps its scene as a file\. .* Or sweep a function that makes it"):
        rb.sweep(scene, {"bob.mass": [1.0]}, duration=1.0, **KEPT)
