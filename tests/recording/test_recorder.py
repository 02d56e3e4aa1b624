"""The recorder: when it samples, what shapes it gives, that its numbers are right and that it never changes the run."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.recording.quantities import BODY, REPORT, WORLD

INERTIA = np.array([[2.0, 0.3, 0.1], [0.3, 3.0, -0.2], [0.1, -0.2, 4.0]])


def scene() -> rb.Scene:
    """A body with a full inertia tensor, a group of two links, and a static floor."""
    result = rb.Scene(name="test")
    turned = Rotation.from_rotvec([0.3, -0.5, 0.9]).as_quat()
    result.add_body(
        mass=2.0,
        inertia=INERTIA,
        name="arm",
        position=(1, 2, 3),
        velocity=(1, 0, 4),
        orientation=turned,
        angular_velocity=(0.5, -2.0, 1.0),
    )
    for index in range(2):
        result.add_body(
            rb.Sphere(0.1),
            mass=1.0,
            name=f"link.{index}",
            group="links",
            position=(index, 0, 0),
            velocity=(0, index, 0),
        )
    result.add_static(rb.Plane(), name="floor")
    return result


def simulation(worlds=None, **settings) -> rb.Simulation:
    return rb.Simulation(scene(), time_step=0.01, worlds=worlds, **settings)


def test_the_first_sample_is_taken_at_once_and_the_next_after_every_so_many_steps():
    sim = simulation()
    recorder = rb.Recorder(sim, every=5)
    sim.step(12)
    np.testing.assert_allclose(recorder.time, [0.0, 0.05, 0.10], rtol=0, atol=1e-15)
    assert len(recorder) == 3


def test_a_recorder_added_to_a_running_simulation_begins_where_it_is():
    sim = simulation()
    sim.step(7)
    recorder = rb.Recorder(sim, every=5)
    sim.step(8)
    np.testing.assert_allclose(recorder.time, [0.07, 0.10, 0.15], rtol=0, atol=1e-15)


def test_a_sample_can_be_taken_at_any_time():
    sim = simulation()
    recorder = rb.Recorder(sim, every=100)
    sim.step(3)
    recorder.sample()
    np.testing.assert_allclose(recorder.time, [0.0, 0.03], rtol=0, atol=1e-15)


@pytest.mark.parametrize("worlds", [None, 3])
@pytest.mark.parametrize("integrator", ["lie_midpoint", "rk45"])
def test_a_recorder_does_not_change_the_run(worlds, integrator):
    plain, watched = (simulation(worlds, integrator=integrator) for _ in range(2))
    recorder = rb.Recorder(watched, every=3, quantities=[*BODY, *WORLD, *REPORT])
    plain.run(0.5)
    watched.run(0.5)
    assert len(recorder) == 17
    assert plain.hash() == watched.hash()


@pytest.mark.parametrize("worlds", [None, 3])
def test_every_name_gives_an_array_of_the_promised_shape(worlds):
    sim = simulation(worlds)
    own = {"position": 3, "orientation": 4, "kinetic_energy": 0}
    names = [*BODY, *(f"arm.{name}" for name in BODY), *(f"links.{name}" for name in BODY), *WORLD, *REPORT]
    recorder = rb.Recorder(sim, quantities=names)
    sim.step(4)
    lead = (5,) if worlds is None else (5, worlds)
    for name in BODY:
        last = (own.get(name, 3),) if own.get(name, 3) else ()
        assert recorder[name].shape == (*lead, 4, *last)
        assert recorder[f"arm.{name}"].shape == (*lead, *last)
        assert recorder[f"links.{name}"].shape == (*lead, 2, *last)
    for name in WORLD:
        assert recorder[name].shape == (*lead, *((3,) if name in ("energy", "momentum", "momentum.angular") else ()))
    for name in REPORT:
        assert recorder[name].shape == (5,)
    assert recorder["iterations"].dtype.kind == "i"
    assert recorder["converged"].dtype.kind == "b"
    assert recorder.quantities == names


def test_recorded_motion_is_the_parabola():
    sim = simulation()
    recorder = rb.Recorder(sim, quantities=["arm.position", "arm.velocity", "position"])
    sim.run(0.5)
    t = recorder.time[:, None]
    g = np.array([0.0, 0.0, -9.81])
    np.testing.assert_allclose(
        recorder["arm.position"], np.array([1, 2, 3]) + t * [1, 0, 4] + t**2 / 2 * g, rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(recorder["arm.velocity"], [1, 0, 4] + t * g, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(recorder["position"][:, 0], recorder["arm.position"])


def test_energy_and_momentum_of_a_body_are_those_of_the_textbook():
    recorder = rb.Recorder(simulation(), quantities=[*BODY, *WORLD])
    turn = Rotation.from_rotvec([0.3, -0.5, 0.9]).as_matrix()
    spin = np.array([0.5, -2.0, 1.0])
    inertia = turn @ INERTIA @ turn.T
    kinetic = 0.5 * 2.0 * 17.0 + 0.5 * spin @ inertia @ spin
    np.testing.assert_allclose(recorder["arm.angular_momentum"][0], inertia @ spin, rtol=1e-14)
    np.testing.assert_allclose(recorder["arm.angular_velocity_local"][0], turn.T @ spin, rtol=1e-13)
    np.testing.assert_allclose(recorder["kinetic_energy"][0], [kinetic, 0.0, 0.5, 0.0], rtol=1e-14)
    potential = 2.0 * 9.81 * 3.0
    np.testing.assert_allclose(recorder["energy"][0], [kinetic + 0.5, potential, kinetic + 0.5 + potential], rtol=1e-14)
    np.testing.assert_allclose(recorder["momentum"][0], [2.0, 1.0, 8.0], rtol=1e-14)
    moment = np.cross([1, 2, 3], [2.0, 0, 8.0]) + inertia @ spin + np.cross([1, 0, 0], [0, 1.0, 0])
    np.testing.assert_allclose(recorder["momentum.angular"][0], moment, rtol=1e-13)


def test_loads_written_by_the_user_are_recorded():
    sim = simulation()
    sim["arm"].applied_force = (1.0, 2.0, 3.0)
    sim["arm"].applied_torque = (0.0, 0.0, -1.0)
    recorder = rb.Recorder(sim, quantities=["applied_force", "arm.applied_torque"])
    sim.step()
    np.testing.assert_array_equal(recorder["arm.applied_force"], [(1, 2, 3)] * 2)
    np.testing.assert_array_equal(recorder["arm.applied_torque"], [(0, 0, -1)] * 2)


def test_report_fields_are_those_of_the_report():
    sim = simulation(integrator=rb.integrators.RK45(error=1e-12))
    recorder = rb.Recorder(sim, quantities=list(REPORT))
    for _ in range(3):
        sim.step()
        for name in REPORT:
            assert recorder[name][-1] == getattr(sim.report, name)
    assert recorder["integration_error"][-1] > 0.0


def test_quantities_of_ones_own_are_numbers_or_arrays_with_a_unit_if_named():
    sim = simulation()
    own = {
        "height [m]": lambda sim: sim["arm"].position[2],
        "pair": lambda sim: [sim.state.steps, 2],
        "flag": lambda sim: sim.time > 0.015,
    }
    recorder = rb.Recorder(sim, quantities=own)
    sim.step(2)
    np.testing.assert_array_equal(recorder["pair"], [(0, 2), (1, 2), (2, 2)])
    np.testing.assert_array_equal(recorder["flag"], [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(recorder["height [m]"], recorder["height"])
    assert (recorder.unit("height"), recorder.unit("pair")) == ("m", "")
    assert recorder.columns == ["time [s]", "height [m]", "pair.0", "pair.1", "flag"]


def test_an_own_number_that_begins_whole_may_become_a_fraction():
    sim = simulation()
    recorder = rb.Recorder(sim, quantities=[("half", lambda sim: sim.state.steps if sim.state.steps == 0 else 0.5)])
    sim.step()
    assert recorder["half"].tolist() == [0.0, 0.5]


def test_an_own_function_is_called_once_for_each_sample():
    calls = []
    sim = simulation()
    recorder = rb.Recorder(sim, quantities=["energy", ("count", lambda sim: calls.append(0) or len(calls))])
    sim.step(3)
    assert recorder["count"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("worlds", [None, 2])
def test_a_part_of_what_was_recorded_can_be_read_by_its_own_name(worlds):
    sim = simulation(worlds)
    recorder = rb.Recorder(sim, quantities=["position", "energy"])
    sim.step(3)
    np.testing.assert_array_equal(recorder["links.position"], recorder["position"][..., 1:3, :])
    np.testing.assert_array_equal(recorder["link.1.position"], recorder["position"][..., 2, :])
    np.testing.assert_array_equal(recorder["arm.position.z"], recorder["position"][..., 0, 2])
    np.testing.assert_array_equal(recorder["arm.position.z [m]"], recorder["position"][..., 0, 2])
    np.testing.assert_array_equal(recorder["energy.total"], recorder["energy"][..., 2])
    assert recorder.unit("energy.total") == "J"


def test_columns_name_every_number_once_with_its_unit():
    recorder = rb.Recorder(simulation(), quantities=["energy", "links.position", "link.1.position", "arm.orientation"])
    links = [f"link.{index}.position.{axis} [m]" for index in range(2) for axis in "xyz"]
    energy = [f"energy.{part} [J]" for part in ("kinetic", "potential", "total")]
    assert recorder.columns == ["time [s]", *energy, *links, *(f"arm.orientation.{axis}" for axis in "xyzw")]


def test_columns_of_worlds_begin_with_the_world():
    recorder = rb.Recorder(simulation(2), quantities=["energy.total", "iterations"])
    assert recorder.columns == ["time [s]", "world_0.energy.total [J]", "world_1.energy.total [J]", "iterations"]


def test_worlds_are_recorded_side_by_side():
    sim = simulation(2)
    sim["arm"].velocity = [(1, 0, 0), (2, 0, 0)]
    recorder = rb.Recorder(sim, quantities=["arm.velocity", "energy.kinetic"])
    sim.step(2)
    np.testing.assert_array_equal(recorder["arm.velocity"][:, :, 0], [(1, 2)] * 3)
    assert (recorder["energy.kinetic"][:, 1] - recorder["energy.kinetic"][:, 0]) == pytest.approx(3.0)


def test_clearing_forgets_the_samples_and_goes_on():
    sim = simulation()
    recorder = rb.Recorder(sim, quantities=["arm.position"])
    sim.step(5)
    before = recorder["arm.position"]
    kept = before.copy()
    recorder.clear()
    assert len(recorder) == 0
    assert recorder["arm.position"].shape == (0, 3)
    sim.step(2)
    np.testing.assert_allclose(recorder.time, [0.06, 0.07])
    np.testing.assert_array_equal(before, kept)


def test_a_detached_recorder_keeps_its_samples_and_takes_no_more():
    sim = simulation()
    recorder = rb.Recorder(sim)
    sim.step(2)
    recorder.detach()
    recorder.detach()
    sim.step(2)
    assert len(recorder) == 3


def test_what_is_handed_out_cannot_be_written_to():
    recorder = rb.Recorder(simulation(), quantities=["position"])
    with pytest.raises(ValueError, match="read-only"):
        recorder["position"][0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        recorder.time[0] = 1.0


def test_several_recorders_watch_at_their_own_pace():
    sim = simulation()
    slow, fast = rb.Recorder(sim, every=4), rb.Recorder(sim, every=3)
    sim.step(12)
    assert (len(slow), len(fast)) == (4, 5)


def test_a_recorder_says_what_it_holds():
    recorder = rb.Recorder(simulation(), quantities=["energy", "arm.position"])
    assert repr(recorder) == "<Recorder of 'energy', 'arm.position', 1 samples>"
    assert "energy" in recorder
    assert "position" not in recorder


def test_a_sample_measures_everything_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is of: energy and momentum of bodies, coordinates of joints, and the report of the step."""
    scene, last = rb.Scene(), "world"
    for k in range(3):
        scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(k + 0.5, 0, 0), name=f"link {k}")
        scene.add_joint(rb.Revolute(last, f"link {k}", at=(k, 0, 0), axis=(0, 1, 0)), name=f"hinge {k}")
        last = f"link {k}"
    sim, counts = rb.Simulation(scene, time_step=0.01), {"bodies": 0, "joints": 0, "report": 0}
    coordinates, measures, step = sim.joints._coordinates, sim.measures, sim._step

    def counted(what: str, real: Callable[[], Any]) -> Callable[[], Any]:
        def call() -> Any:
            counts[what] += 1
            return real()

        return call

    for owner, name, what in ((coordinates, "_measured", "joints"), (measures, "_parts", "bodies")):
        launch, *found = getattr(owner, name)
        monkeypatch.setitem(vars(owner), name, (counted(what, launch), *found))
    monkeypatch.setattr(step, "report", counted("report", step.report))
    of_joints = [f"hinge {k}.{name}" for k in range(3) for name in ("angle", "velocity")]
    wanted = ["energy", "energy.kinetic", "momentum", "kinetic_energy", "angular_momentum", "iterations", "converged"]
    recorder = rb.Recorder(sim, quantities=[*wanted, *of_joints])
    sim.step(10)
    assert counts == {"bodies": 11, "joints": 11, "report": 11}
    np.testing.assert_array_equal(recorder["energy.kinetic"], recorder["energy"][:, 0])
    assert recorder["hinge 2.angle"][-1] == sim["hinge 2"].angle
