"""A simulation that goes to a file and comes back goes on bit for bit."""

import json
import math
import zipfile

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st

import rattleback as rb
from rattleback import integrators
from rattleback.core import arrays
from rattleback.core.precision import PRECISION, numpy_real
from rattleback.types import Bodies, Motion, real, vec3


def spinning_scene():
    """Bodies that turn, fall, attract each other, are braked and pushed for a while."""
    scene = rb.Scene(name="Überschlag")
    scene.add_body(rb.Box(1, 0.4, 0.2), name="box", angular_velocity=(0.1, 5, 0.1), group="pair")
    scene.add_body(rb.Cone(0.3, 1), name="cone", position=(3, 0, 0), velocity=(0, 1 / 3, 0), group="pair")
    scene.add_static(rb.Plane(), name="ground", velocity=(0, 0, 0.1))
    scene.add_force(rb.Drag(linear=0.1, quadratic=0.02, angular=0.01))
    scene.add_force(rb.Attraction(constant=0.1, softening=3.0, bodies="pair"))
    scene.add_force(rb.Wrench("box", (1, 2, 3), at=(0.1, 0, 0), frame="local", start=0.2, until=1.3), name="push")
    return scene


def settings_of(sim):
    return sim.integrator, sim.worlds, sim.methods.tolerances, sim.strict, sim.time_step, sim.time


@pytest.mark.parametrize("worlds", [None, 1, 3])
@pytest.mark.parametrize("integrator", list(integrators.MENU))
def test_a_loaded_simulation_goes_on_bit_for_bit(integrator, worlds, tmp_path):
    sim = rb.Simulation(spinning_scene(), integrator=integrator, worlds=worlds, time_step=1 / 70)
    sim.step(30)
    if worlds == 3:
        sim["box"].velocity += np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
        sim.step(3)
    sim.save(tmp_path / "x.npz")
    twin = rb.load(tmp_path / "x.npz")
    assert settings_of(twin) == settings_of(sim)
    assert twin.hash() == sim.hash()
    assert twin.report.step == sim.report.step
    sim.step(100)
    twin.step(100)
    assert twin.hash() == sim.hash()


def test_the_substep_of_an_adaptive_integrator_comes_back(tmp_path):
    sim = rb.Simulation(spinning_scene(), integrator="rk45")
    sim.step(5)
    sim.save(tmp_path / "x.npz")
    assert sim.state.clock.substep.numpy()[0] > 0
    assert rb.load(tmp_path / "x.npz").state.clock.substep.numpy()[0] == sim.state.clock.substep.numpy()[0]


@pytest.mark.parametrize(
    "integrator",
    [
        integrators.RK45(error=1e-5, max_substeps=17),
        integrators.RK45(error=math.inf),
        integrators.ImplicitEuler(tolerance=1e-7, max_iterations=np.int64(9)),
    ],
)
def test_the_settings_come_back(integrator, tmp_path):
    sim = rb.Simulation(spinning_scene(), integrator=integrator, position_tolerance=1e-4, strict=False)
    sim.use(velocity_tolerance=0.1 + 0.2, time_step=1e-3, strict=True)
    sim.save(tmp_path / "x.npz")
    assert settings_of(rb.load(tmp_path / "x.npz")) == settings_of(sim)


def test_what_was_written_into_a_picture_is_saved(tmp_path):
    sim = rb.Simulation(spinning_scene())
    sim["box"].applied_force = (1, 2, 3)
    sim.state.position[1] = (7, 8, 9)
    sim.save(tmp_path / "x.npz")
    twin = rb.load(tmp_path / "x.npz")
    assert twin["box"].applied_force.tolist() == [1, 2, 3]
    assert twin["cone"].position.tolist() == [7, 8, 9]


def test_saving_changes_nothing_and_twice_gives_the_same_bytes(tmp_path):
    sim = rb.Simulation(spinning_scene(), worlds=2)
    sim.step(7)
    before = sim.hash()
    for name in ("a", "b"):
        sim.save(tmp_path / name)
    rb.load(tmp_path / "a").save(tmp_path / "c")
    assert sim.hash() == before
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


@settings(max_examples=20)
@given(
    numbers=st.lists(st.floats(-1e9, 1e9), min_size=18, max_size=18),
    clock=st.tuples(st.floats(0, 1e9), st.floats(1e-9, 1), st.floats(0, 1), st.integers(0, 2**48)),
)
def test_every_number_of_a_state_comes_back(tmp_path_factory, numbers, clock):
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1))
    scene.add_body(rb.Sphere(1))
    sim = rb.Simulation(scene)
    values = np.reshape(numbers, (3, 2, 3)).astype(numpy_real)
    sim.state.position, sim.state.velocity, sim.state.applied_torque = values
    for array, value in zip((array for _, array in arrays.each(sim.state.clock)), clock, strict=True):
        array.fill_(value)
    path = tmp_path_factory.mktemp("state") / "x.npz"
    sim.save(path)
    twin = rb.load(path)
    assert twin.hash() == sim.hash()
    assert twin.state.velocity.tobytes() == values[1].tobytes()


def test_the_file_is_an_archive_that_numpy_opens_without_pickle(tmp_path):
    sim = rb.Simulation(spinning_scene())
    sim.step(3)
    sim.save(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as archive:
        assert archive["motion.position"].tolist() == sim.state.position.tolist()
        assert archive["clock.steps"].tolist() == [3]
    with zipfile.ZipFile(tmp_path / "x.npz") as archive:
        assert archive.testzip() is None
        header = json.loads(archive.read("header.json"))
    assert header["format"] == "rattleback-state"
    assert (header["version"], header["rattleback"], header["precision"]) == (1, rb.__version__, PRECISION)
    assert header["scene"]["name"] == "Überschlag"


def pull(time, bodies):
    return -bodies.position * bodies.mass[:, None]


@wp.func
def lift(t: wp.float64, i: int, bodies: Bodies, motion: Motion):
    return vec3(real(0.0), real(0.0), real(2.0)), vec3()


def scene_with_code(**changes):
    scene = spinning_scene()
    scene.add_force(rb.PythonForce(pull), name=changes.get("force", "pull"))
    scene.add_force(rb.WarpForce(lift), name="lift")
    return scene


def test_a_scene_with_code_is_loaded_into_a_scene_given(tmp_path):
    sim = rb.Simulation(scene_with_code())
    sim.step(5)
    sim.save(tmp_path / "x.npz")
    twin = rb.load(tmp_path / "x.npz", scene=scene_with_code())
    assert twin.hash() == sim.hash()
    sim.step(20)
    twin.step(20)
    assert twin.hash() == sim.hash()


def test_a_scene_with_code_must_be_given(tmp_path):
    rb.Simulation(scene_with_code()).save(tmp_path / "x.npz")
    with pytest.raises(rb.FileError, match=r"holds no scene, because its forces 'pull', 'lift' carry code") as caught:
        rb.load(tmp_path / "x.npz")
    assert "rb.load(path, scene=my_scene)" in str(caught.value)


def test_the_force_with_code_must_be_in_the_scene_given(tmp_path):
    rb.Simulation(scene_with_code()).save(tmp_path / "x.npz")
    with pytest.raises(rb.InputError, match=r"was saved with the force 'pull', and the scene given has no"):
        rb.load(tmp_path / "x.npz", scene=scene_with_code(force="other"))


def test_a_scene_given_stands_in_for_the_one_in_the_file(tmp_path):
    sim = rb.Simulation(spinning_scene())
    sim.step(5)
    sim.save(tmp_path / "x.npz")
    calm = spinning_scene()
    calm.forces.clear()
    twin = rb.load(tmp_path / "x.npz", scene=calm)
    assert twin.hash() == sim.hash()
    assert twin.scene.forces == {}


def named(*names):
    scene = rb.Scene()
    for name in names:
        scene.add_body(rb.Sphere(1), name=name)
    return scene


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("ab", r"is of 3 bodies, and the scene given has 2: it lacks 'c'\.$"),
        ("abcd", r"is of 3 bodies, and the scene given has 4: it also has 'd'\.$"),
        ("abd", r"is of 3 bodies, and the scene given has 3: it lacks 'c' and it also has 'd'\.$"),
        ("acb", r"has its bodies in the order 'a', 'b', 'c'; the scene given has another\.$"),
    ],
)
def test_a_scene_given_has_the_bodies_of_the_file(names, message, tmp_path):
    rb.Simulation(named(*"abc")).save(tmp_path / "x.npz")
    with pytest.raises(rb.InputError, match=rf"^The state file '.*x.npz' {message}"):
        rb.load(tmp_path / "x.npz", scene=named(*names))


def test_the_scene_given_must_be_a_scene(tmp_path):
    rb.Simulation(named("a")).save(tmp_path / "x.npz")
    with pytest.raises(rb.InputError, match=r"^The scene given to load is 'a'; it must be a Scene, such as"):
        rb.load(tmp_path / "x.npz", scene="a")


def test_only_simulations_are_saved_as_states(tmp_path):
    from rattleback.io import state_file

    with pytest.raises(rb.InputError, match=r"^What is saved is .*; it must be a Simulation, such as rb.Simulation"):
        state_file.save(named("a"), tmp_path / "x.npz")


class Strange(integrators.LieMidpoint):
    """An integrator of one's own."""


def test_an_integrator_off_the_menu_is_named_when_saving(tmp_path):
    sim = rb.Simulation(named("a"), integrator=Strange())
    with pytest.raises(rb.InputError, match=r"^The integrator Strange\(\) is not on the menu.*menu: 'lie_midpoint'"):
        sim.save(tmp_path / "x.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_device_that_is_not_there_is_a_device_error(tmp_path):
    rb.Simulation(named("a")).save(tmp_path / "x.npz")
    with pytest.raises(rb.DeviceError, match="There is no device 'abacus'"):
        rb.load(tmp_path / "x.npz", device="abacus")
    with pytest.raises(rb.InputError, match="^device is 3; it must be a name"):
        rb.load(tmp_path / "x.npz", device=3)


def test_a_name_that_is_no_unicode_is_refused_when_saving(tmp_path):
    scene = named("half \ud800")
    scene.add_force(rb.PythonForce(pull))
    sim = rb.Simulation(scene)
    with pytest.raises(rb.InputError, match=r"cannot be written; it has 1 fault:\n  bodies\[0\]: must be text in"):
        sim.save(tmp_path / "x.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.cuda
def test_a_state_moves_between_devices(tmp_path):
    sim = rb.Simulation(spinning_scene(), device="cuda")
    sim.step(10)
    sim.save(tmp_path / "x.npz")
    assert rb.load(tmp_path / "x.npz").device.is_cpu
    assert rb.load(tmp_path / "x.npz").hash() == sim.hash()
    twin = rb.load(tmp_path / "x.npz", device="cuda")
    sim.step(100)
    twin.step(100)
    assert twin.hash() == sim.hash()


def test_a_scene_with_a_predicate_is_loaded_into_a_scene_given(tmp_path):
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), name="ball")
    scene.exclude_if(lambda a, b: False)
    sim = rb.Simulation(scene)
    sim.step()
    sim.save(tmp_path / "x.npz")
    with pytest.raises(rb.FileError, match=r"holds no scene; build the scene and pass it"):
        rb.load(tmp_path / "x.npz")
    assert rb.load(tmp_path / "x.npz", scene=scene).hash() == sim.hash()
