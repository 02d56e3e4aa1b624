"""A simulation with joints that goes to a file and comes back goes on bit for bit, with the methods it had."""

import io
import json
import zipfile

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.precision import PRECISION
from rattleback.io import state_archive
from rattleback.joints import Distance
from rattleback.solvers import joints as methods

# The pin moves at 9 m/s, which single precision resolves to 1e-6 m/s.
VELOCITY_TOLERANCE = {"double": 1e-6, "single": 1e-4}[PRECISION]


def linkage():
    """A spinning crank, a rod on a ball joint, a slider that closes the loop, and a pendulum beside them."""
    scene = rb.Scene(name="crank")
    fall = {"mass": 1, "velocity": (0, 0, -4.5)}
    scene.add_body(rb.Box(1, 0.1, 0.1), name="crank", position=(0.5, 0, 0), angular_velocity=(0, 9, 0), **fall)
    scene.add_body(rb.Box(2, 0.1, 0.1), name="rod", position=(2, 0, 0), angular_velocity=(0, -4.5, 0), **fall)
    scene.add_body(rb.Sphere(0.1), name="bob", mass=2, position=(0, 3, 1), velocity=(0.3, 0.2, 0))
    scene.add_static(rb.Plane(), name="ground")
    scene.add_joint(rb.Revolute("world", "crank", axis=(0, 3, 0)), "bearing")
    scene.add_joint(rb.Ball("crank", "rod", at=(1, 0, 0)), "pin")
    scene.add_joint(rb.PointOnLine("ground", "rod", at=(3, 0, 0), axis=(1, 0, 0)), "slider")
    scene.add_joint(rb.Distance("world", "bob", at=(0, 3, 3), at_b=(0, 3, 1)), "string")
    return scene


def settings_of(sim):
    held = sim.methods.joints, sim.integrator, sim.methods.max_iterations, sim.methods.tolerances
    return *held, sim.worlds, sim.strict, sim.time_step, sim.time


@pytest.mark.parametrize("worlds", [None, 3])
@pytest.mark.parametrize("method", [*methods.IMPULSES, methods.Iterative(sweeps=7)])
def test_a_simulation_with_joints_goes_on_bit_for_bit(method, worlds, tmp_path):
    sim = rb.Simulation(linkage(), joints=method, worlds=worlds, velocity_tolerance=VELOCITY_TOLERANCE)
    sim.time_step = 1 / 120
    sim.step(40)
    if worlds == 3:
        sim["bob"].velocity += np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
        sim.step(3)
    sim.save(tmp_path / "x.npz")
    twin = rb.load(tmp_path / "x.npz")
    assert settings_of(twin) == settings_of(sim)
    assert twin.hash() == sim.hash()
    sim.step(120)
    twin.step(120)
    assert sim.report.converged
    assert twin.hash() == sim.hash()
    assert twin.report == sim.report


def test_the_settings_of_the_joints_come_back(tmp_path):
    sim = rb.Simulation(linkage(), joints=methods.Iterative(sweeps=np.int64(3)), orientation_tolerance=0.1 + 0.2)
    sim.use(max_iterations=17, position_tolerance=1e-3)
    sim.save(tmp_path / "x.npz")
    twin = rb.load(tmp_path / "x.npz")
    assert settings_of(twin) == settings_of(sim)
    assert (twin.methods.joints, twin.methods.max_iterations) == (methods.Iterative(sweeps=3), 17)
    assert twin.methods.tolerances == {
        "position_tolerance": 1e-3,
        "orientation_tolerance": 0.1 + 0.2,
        "velocity_tolerance": 1e-6,
    }


def test_saving_joints_twice_gives_the_same_bytes(tmp_path):
    sim = rb.Simulation(linkage(), worlds=2, joints="iterative")
    sim.step(7)
    sim.save(tmp_path / "a")
    rb.load(tmp_path / "a").save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


class Rope(Distance):
    """A joint of one's own."""


def with_rope(name="rope"):
    scene = linkage()
    scene.add_joint(Rope("bob", "ground", at=(0, 3, 1), at_b=(2, 3, 0)), name)
    return scene


def test_a_scene_with_a_joint_off_the_menu_is_loaded_into_a_scene_given(tmp_path):
    sim = rb.Simulation(with_rope())
    sim.step(5)
    sim.save(tmp_path / "x.npz")
    twin = rb.load(tmp_path / "x.npz", scene=with_rope())
    sim.step(20)
    twin.step(20)
    assert twin.hash() == sim.hash()
    with pytest.raises(rb.FileError, match=r"holds no scene, because its joints 'rope' carry code; build the scene"):
        rb.load(tmp_path / "x.npz")


def test_joints_and_forces_that_carry_code_are_named_together(tmp_path):
    scene = with_rope()
    scene.add_force(rb.PythonForce(lambda time, bodies: bodies.position), name="pull")
    rb.Simulation(scene).save(tmp_path / "x.npz")
    with pytest.raises(rb.FileError, match=r"because its joints 'rope' and its forces 'pull' carry code"):
        rb.load(tmp_path / "x.npz")


def test_a_scene_given_has_the_joints_of_the_file(tmp_path):
    rb.Simulation(with_rope()).save(tmp_path / "x.npz")
    with pytest.raises(rb.InputError, match=r"is of 5 joints, and the scene given has 4: it lacks 'rope'\.$"):
        rb.load(tmp_path / "x.npz", scene=linkage())
    with pytest.raises(rb.InputError, match=r"has 5: it lacks 'rope' and it also has 'chain'\.$"):
        rb.load(tmp_path / "x.npz", scene=with_rope("chain"))
    turned = with_rope()
    order = list(reversed(turned.joints.items()))
    turned.joints.clear()
    turned.joints.update(order)
    with pytest.raises(rb.InputError, match=r"has its joints in the order 'bearing', .*; the scene given has another"):
        rb.load(tmp_path / "x.npz", scene=turned)


class Strange(methods.Direct):
    """A joint method of one's own."""


def test_a_joint_method_off_the_menu_is_named_when_saving(tmp_path):
    sim = rb.Simulation(linkage(), joints=Strange())
    message = (
        r"^The joint method Strange\(.*\) is not on the menu.*sim.use\(joints=...\) before saving. The menu: 'direct'"
    )
    with pytest.raises(rb.InputError, match=message):
        sim.save(tmp_path / "x.npz")
    assert list(tmp_path.iterdir()) == []


def opened(path):
    """Header and arrays of a state file, read without the code under test."""
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
    with np.load(path, allow_pickle=False) as archive:
        return header, {name: archive[name] for name in archive.files if name != "header.json"}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["joints", "name"], "dirct", "There is no joint method 'dirct'. Did you mean 'direct'? The menu: 'direct', "),
        (["joints", "nmae"], 1, "settings.joints.nmae: is not a field of this table. Did you mean 'name'? It takes"),
        (["joints", "name"], 3, "settings.joints.name: must be text; it is 3"),
        (["joints", "parameters", "swps"], 1, "The joint method 'iterative' has no option 'swps'. Did you mean 'swe"),
        (["joints", "parameters", "sweeps"], 0, "The sweeps of Iterative is 0; it must be at least 1."),
        (["joints"], {"name": "direct", "parameters": {"loops": "ct"}}, "The loops of Direct is 'ct'; it may be"),
        (["joints"], {"name": "direct", "parameters": {"loops": []}}, "The loops of Direct is (); it may be"),
        (
            ["joints"],
            {"name": "by_chain", "parameters": {"methods": 3}},
            "The methods of JointsByChain are 3; they must",
        ),
        (
            ["joints"],
            {"name": "by_chain", "parameters": {"default": {}}},
            "A joint method inside another is {}; it must",
        ),
        (
            ["joints"],
            {"name": "by_chain", "parameters": {"default": 1}},
            "1 cannot be the joint method: it lacks 'prep",
        ),
        (["max_iterations"], 0, "settings.max_iterations: must be 1 or more; it is 0"),
        (["max_iterations"], 2.5, "settings.max_iterations: must be a whole number; it is 2.5"),
        (["orientation_tolerance"], 0, "settings.orientation_tolerance: must be greater than zero; it is 0"),
    ],
)
def test_a_header_whose_joint_settings_do_not_fit_is_a_sentence(tmp_path, place, value, message):
    rb.Simulation(linkage(), joints="iterative").save(tmp_path / "x.npz")
    header, values = opened(tmp_path / "x.npz")
    node = header["settings"]
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = value
    (tmp_path / "x.npz").write_bytes(state_archive.pack(header, values))
    with pytest.raises(rb.FileError) as caught:
        rb.load(tmp_path / "x.npz")
    assert message in str(caught.value)


def test_a_file_that_names_other_joints_than_its_scene_is_refused(tmp_path):
    rb.Simulation(linkage()).save(tmp_path / "x.npz")
    header, values = opened(tmp_path / "x.npz")
    header["joints"][0] = "hinge"
    (tmp_path / "x.npz").write_bytes(state_archive.pack(header, values))
    with pytest.raises(rb.FileError, match=r"names other joints than its scene\.$"):
        rb.load(tmp_path / "x.npz")


def test_a_file_from_before_there_were_joints_loads(tmp_path):
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 2, 3), angular_velocity=(1, 2, 3))
    sim = rb.Simulation(scene)
    sim.step(3)
    sim.save(tmp_path / "x.npz")
    header, values = opened(tmp_path / "x.npz")
    for table, names in (
        (header, ["joints", "code_joints"]),
        (header["scene"], ["joints"]),
        (header["settings"], ["joints", "orientation_tolerance", "max_iterations"]),
        (values, [name for name in values if name.startswith("joints.")]),
    ):
        for name in names:
            del table[name]
    (tmp_path / "x.npz").write_bytes(state_archive.pack(header, values))
    twin = rb.load(tmp_path / "x.npz")
    assert settings_of(twin) == settings_of(sim)
    assert twin.hash() == sim.hash()


@pytest.mark.cuda
def test_a_state_with_joints_goes_on_bit_for_bit_on_cuda(tmp_path):
    sim = rb.Simulation(linkage(), device="cuda", worlds=2)
    sim.step(10)
    sim.save(tmp_path / "x.npz")
    twin = rb.load(tmp_path / "x.npz", device="cuda")
    sim.step(50)
    twin.step(50)
    assert twin.hash() == sim.hash()


def test_a_file_from_before_joints_were_driven_by_hand_is_read(tmp_path):
    sim = rb.Simulation(linkage())
    sim.step(5)
    sim.save(tmp_path / "new.npz")
    content = io.BytesIO()
    with zipfile.ZipFile(tmp_path / "new.npz") as new, zipfile.ZipFile(content, "w") as old:
        kept = [entry for entry in new.infolist() if not entry.filename.startswith("efforts.")]
        assert len(kept) < len(new.infolist())
        for entry in kept:
            old.writestr(entry, new.read(entry))
    (tmp_path / "old.npz").write_bytes(state_archive.seal(content.getvalue()))
    twin = rb.load(tmp_path / "old.npz")
    sim.step(5)
    twin.step(5)
    assert twin.hash() == sim.hash()
