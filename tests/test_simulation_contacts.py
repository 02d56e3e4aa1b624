"""Contacts as the user of a simulation meets them: when they are found, by what, and that nothing is ever lost."""

import json
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision import broadphase, narrowphase
from rattleback.core.errors import InputError, RattlebackError, UnknownName
from rattleback.io import state_archive
from rattleback.solvers import contacts


def stack():
    """Two cubes on a floor."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor")
    scene.add_body(rb.Box(1, 1, 1), position=(0, 0, 0.5), name="low")
    scene.add_body(rb.Box(1, 1, 1), position=(0, 0, 1.5), name="high")
    return scene


def crowd():
    """Boxes that fly into each other above a floor, and a chain of capsules; contacts do not hold them."""
    rng = np.random.default_rng(0)
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor")
    for k in range(12):
        place = rng.uniform((-3, -3, 1), (3, 3, 7))
        scene.add_body(
            rb.Box(1, 1, 1),
            position=place,
            velocity=1.5 * (np.array([0, 0, 0.5]) - place),
            angular_velocity=rng.normal(size=3),
            name=f"box {k}",
        )
    before = scene.world
    for k in range(6):
        turn = Rotation.from_euler("y", 90, degrees=True).as_quat()
        link = scene.add_body(rb.Capsule(0.2, 1.0), position=(k + 0.5, 0, 5), orientation=turn, name=f"link {k}")
        scene.add_joint(rb.Ball(before, link, at=(k, 0, 5)))
        before = link
    return scene


def finder_of(simulation):
    """What finds the contacts of a simulation."""
    return simulation._step.contacts.finder


def listing(found):
    """Everything contacts say, as bytes."""
    parts = (
        found.point,
        found.normal,
        found.separation,
        found.world,
        found.feature,
        found.previous,
        found.body_a,
        found.body_b,
    )
    return [np.ascontiguousarray(part).tobytes() for part in parts]


def with_room(simulation, room):
    """The simulation with buffers of other sizes."""
    finder = finder_of(simulation)
    finder.room.update(room)
    finder._allocate()
    return simulation


AMPLE = {"pairs": 5000, "items": 5000, "contacts": 20000}
TIGHT = {
    "pairs": {**AMPLE, "pairs": 1},
    "items": {**AMPLE, "items": 1},
    "contacts": {**AMPLE, "contacts": 1},
    "all": dict.fromkeys(AMPLE, 1),
}


@pytest.mark.parametrize("joints", ["direct", "iterative"])
def test_finding_contacts_does_not_change_the_motion(joints):
    plain, found = (rb.Simulation(crowd(), contacts=how, joints=joints) for how in ("none", "detect"))
    for simulation in (plain, found):
        simulation.run(0.5)
    assert len(found.contacts) > 10
    assert plain.hash() == found.hash()


def test_contacts_are_there_before_any_step():
    found = rb.Simulation(stack(), contacts="detect").contacts
    assert found.pairs == [("floor", "low"), ("low", "high")]
    assert len(found) == 8
    assert (found.previous == -1).all()
    assert repr(found) == "<8 contacts of 2 pairs of bodies>"


def test_contacts_follow_what_is_written():
    simulation = rb.Simulation(stack(), contacts="detect", contact_distance=0.01)
    assert len(simulation.contacts) == 8
    simulation["high"].position = (0, 0, 2.0)
    assert simulation.contacts.pairs == [("floor", "low")]
    simulation["high"].position = (0.25, 0, 1.505)
    found = simulation.contacts
    rows = found.of("high", "low")
    np.testing.assert_allclose(found.separation[rows], 0.005, atol=1e-14)
    assert set(found.point[rows][:, 0]) == {-0.25, 0.5}
    simulation["high"].orientation = Rotation.from_euler("x", 90, degrees=True).as_quat()
    assert len(simulation.contacts.of("high")) == 4


def test_contacts_after_a_step_are_those_of_its_end():
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Plane(), name="floor")
    scene.add_body(rb.Sphere(0.5), position=(0, 0, 0.6), velocity=(1, 0, -1), name="ball")
    simulation = rb.Simulation(scene, contacts="detect", contact_distance=0.05, time_step=0.01)
    heights = []
    for _ in range(12):
        simulation.step()
        heights.append(simulation.contacts.separation.tolist())
    assert heights[:4] == [[]] * 4
    np.testing.assert_allclose(np.concatenate(heights[5:]), 0.1 - 0.01 * np.arange(6, 13), atol=1e-12)
    np.testing.assert_allclose(simulation.contacts.point, [[0.12, 0, -0.01]], atol=1e-12)
    np.testing.assert_array_equal(simulation.contacts.normal, [[0, 0, -1]])


def test_an_observer_sees_the_contacts_of_its_step():
    watched, plain = (rb.Simulation(crowd(), contacts="detect", contact_distance=0.05) for _ in range(2))
    seen, expected = [], []
    watched.observe(SimpleNamespace(every=3, observe=lambda simulation: seen.append(listing(simulation.contacts))))
    watched.step(30)
    for _ in range(10):
        plain.step(3)
        expected.append(listing(plain.contacts))
    assert seen == expected


def test_looking_at_contacts_changes_nothing():
    looked, blind = (rb.Simulation(crowd(), contacts="detect", contact_distance=0.05) for _ in range(2))
    for _ in range(20):
        looked.step()
        assert listing(looked.contacts) == listing(looked.contacts)
    blind.step(20)
    assert listing(looked.contacts) == listing(blind.contacts)
    assert looked.hash() == blind.hash()


@pytest.mark.parametrize("steps", [1, 7, 40])
@pytest.mark.parametrize("buffer", TIGHT)
def test_a_buffer_that_is_too_small_grows_and_nothing_is_lost(buffer, steps, monkeypatch):
    monkeypatch.setattr("rattleback.collision.finder.GROWTH", 1.0)
    options = {"contacts": "detect", "contact_distance": 0.05}
    ample, tight = (with_room(rb.Simulation(crowd(), **options), room) for room in (AMPLE, TIGHT[buffer]))
    for _ in range(max(3, 21 // steps)):
        for simulation in (ample, tight):
            simulation.step(steps)
        assert ample.hash() == tight.hash()
        assert listing(ample.contacts) == listing(tight.contacts)
        assert str(ample.report) == str(tight.report)
    room = finder_of(tight).room
    for name, (needed, have) in finder_of(tight).buffers().items():
        assert needed.numpy()[0] <= have, name
    assert buffer == "all" or room[buffer] > 1


@pytest.mark.parametrize("joints", ["direct", "iterative"])
@pytest.mark.parametrize("look", [False, True])
def test_buffers_grow_before_the_first_step_of_a_call(joints, look):
    options = {"contacts": "detect", "contact_distance": 0.05, "joints": joints}
    said = []
    for room in (AMPLE, dict.fromkeys(AMPLE, 8)):
        simulation = with_room(rb.Simulation(crowd(), **options), room)
        simulation.step(3)
        rng = np.random.default_rng(1)
        simulation.state.position[1:13] = rng.uniform((-0.5, -0.5, 0.5), (0.5, 0.5, 1.5), (12, 3))
        simulation.state.velocity[13:] += rng.normal(size=(6, 3))
        if look:
            said.append(len(simulation.contacts))
        simulation.step(1)
        said.append((simulation.hash(), str(simulation.report)))
        simulation.step(5)
        said.append((simulation.hash(), listing(simulation.contacts)))
    assert said[: len(said) // 2] == said[len(said) // 2 :]


@pytest.mark.parametrize("method", broadphase.MENU)
def test_the_buffers_of_every_broad_phase_grow(method):
    options = {"contacts": "detect", "contact_distance": 0.05, "broadphase": method}
    ample = rb.Simulation(crowd(), **{**options, "broadphase": "all_pairs"})
    tight = with_room(rb.Simulation(crowd(), **options), dict.fromkeys(AMPLE, 1))
    for _ in range(4):
        for simulation in (ample, tight):
            simulation.step(10)
        assert ample.hash() == tight.hash()
        assert listing(ample.contacts) == listing(tight.contacts)


@pytest.mark.parametrize("mode", ["bisect", "interpolate"])
@pytest.mark.parametrize("joints", ["direct", "iterative"])
def test_buffers_grow_while_the_time_of_contact_is_looked_for(mode, joints):
    options = {"contacts": "detect", "contact_distance": 0.05, "contact_time": mode, "joints": joints}
    ample, tight = (rb.Simulation(crowd(), **options) for _ in range(2))
    for simulation, room in ((ample, AMPLE), (tight, dict.fromkeys(AMPLE, 1))):
        stages = simulation._step.contacts
        for finder in (stages.finder, stages._trial):
            finder.room.update(room)
            finder._allocate()
    for _ in range(5):
        for simulation in (ample, tight):
            simulation.step(4)
        assert ample.time == tight.time
        assert ample.hash() == tight.hash()
        assert listing(ample.contacts) == listing(tight.contacts)


def test_methods_are_swapped_on_a_running_scene():
    simulation = rb.Simulation(crowd(), contact_distance=0.05)
    simulation.step(20)
    with pytest.raises(InputError, match="finds no contacts"):
        _ = simulation.contacts
    simulation.use(contacts="detect")
    expected = simulation.contacts
    assert len(expected) > 5
    for method in broadphase.MENU:
        simulation.use(broadphase=method)
        assert np.array_equal(simulation.contacts.point, expected.point)
    for method in narrowphase.MENU:
        simulation.use(narrowphase=method)
        assert simulation.contacts.pairs == expected.pairs
    simulation.use(contact_points=1)
    assert len(simulation.contacts) == len(expected.pairs)
    simulation.step(3)
    assert len(simulation.contacts) == len(simulation.contacts.pairs)
    simulation.use(contacts="none")
    with pytest.raises(InputError, match="finds no contacts"):
        _ = simulation.contacts


def test_swapping_methods_changes_nothing_about_the_motion():
    plain, swapped = rb.Simulation(crowd()), rb.Simulation(crowd(), contacts="detect")
    for method in broadphase.MENU:
        swapped.use(broadphase=method)
        swapped.step(5)
        plain.step(5)
    assert plain.hash() == swapped.hash()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"contacts": "detekt"}, "detect"),
        ({"broadphase": "swep"}, "all_pairs"),
        ({"narrowphase": "gjkk"}, "vclip"),
        ({"narrowphase": 3}, "narrow phase"),
        ({"broadphase": object()}, "broad phase"),
        ({"contact_distance": -1.0}, "contact distance"),
        ({"contact_distance": float("nan")}, "contact distance"),
        ({"contact_points": 0}, "points"),
        ({"contact_points": 17}, "16"),
        ({"contact_points": 2.5}, "points"),
    ],
)
def test_wrong_settings_are_refused_with_what_would_work(settings, says):
    with pytest.raises(RattlebackError, match=says):
        rb.Simulation(stack(), **{"contacts": "detect", **settings})
    simulation = rb.Simulation(stack(), contacts="detect")
    with pytest.raises(RattlebackError, match=says):
        simulation.use(**settings)
    assert len(simulation.contacts) == 8


@pytest.mark.parametrize("slot", ["broadphase", "narrowphase"])
def test_a_wrong_name_of_a_phase_is_an_unknown_name(slot):
    with pytest.raises(UnknownName):
        rb.Simulation(stack(), contacts="detect", **{slot: "fast"})


def test_contacts_of_bodies_that_do_not_exist_are_refused():
    found = rb.Simulation(stack(), contacts="detect").contacts
    with pytest.raises(RattlebackError, match="middle"):
        found.of("middle")


def test_contacts_of_one_body_or_between_two():
    simulation = rb.Simulation(stack(), contacts="detect")
    found = simulation.contacts
    assert found.of("low").tolist() == list(range(8))
    assert found.of("high").tolist() == found.of("high", "low").tolist() == [4, 5, 6, 7]
    assert found.of("floor", "high").tolist() == []


def test_an_older_state_has_its_contacts_again():
    simulation = rb.Simulation(crowd(), contacts="detect", contact_distance=0.05)
    simulation.step(25)
    then, there = simulation.state.copy(), simulation.contacts
    simulation.step(10)
    later = simulation.contacts
    assert len(later) != len(there)
    simulation.state = then
    back = simulation.contacts
    assert np.array_equal(back.point, there.point)
    assert np.array_equal(back.feature, there.feature)
    simulation.step(10)
    assert np.array_equal(simulation.contacts.point, later.point)
    assert np.array_equal(simulation.contacts.previous, later.previous)


def test_a_scene_without_colliders_has_no_contacts():
    scene = rb.Scene()
    scene.add_body(None, mass=1.0, inertia=np.eye(3), name="point")
    simulation = rb.Simulation(scene, contacts="detect")
    simulation.step(2)
    assert len(simulation.contacts) == 0
    assert simulation.contacts.pairs == []


def test_a_body_that_is_no_longer_finite_is_still_named():
    simulation = rb.Simulation(crowd(), contacts="detect", contact_distance=0.05)
    simulation.step()
    simulation.state.velocity[3] = 1e308
    simulation.state.applied_force[3] = 1e308
    with pytest.raises(rb.DivergenceError, match="box 2"):
        simulation.step(5)


@pytest.mark.parametrize("settings", [{}, {"broadphase": "grid", "narrowphase": "gjk", "contact_points": 7}])
def test_a_saved_simulation_finds_the_same_contacts(tmp_path, settings):
    simulation = rb.Simulation(crowd(), contacts="detect", contact_distance=0.04, **settings)
    simulation.step(25)
    simulation.save(tmp_path / "now")
    again = rb.load(next(tmp_path.iterdir()))
    assert again.methods.contacts == contacts.MENU["detect"]()
    assert again.methods.detection == simulation.methods.detection
    assert np.array_equal(again.contacts.point, simulation.contacts.point)
    for each in (simulation, again):
        each.step(5)
    assert again.hash() == simulation.hash()
    assert listing(again.contacts) == listing(simulation.contacts)


def test_a_saved_simulation_without_contacts_has_none(tmp_path):
    rb.Simulation(stack()).save(tmp_path / "now")
    assert rb.load(next(tmp_path.iterdir())).methods.contacts == contacts.MENU["none"]()


def opened(path):
    """Header and arrays of a state file."""
    with zipfile.ZipFile(path) as archive, np.load(path) as arrays:
        header = json.loads(archive.read("header.json"))
        return header, {name: arrays[name] for name in arrays.files if name != "header.json"}


def test_a_file_from_before_there_were_contacts_still_loads(tmp_path):
    simulation = rb.Simulation(stack())
    simulation.step(3)
    simulation.save(tmp_path / "x.npz")
    header, values = opened(tmp_path / "x.npz")
    new = (
        "preset",
        "substeps",
        "warn",
        "contacts",
        "broadphase",
        "narrowphase",
        "contact_distance",
        "contact_points",
        "contact_time",
        "closing_speed",
    )
    for name in new:
        del header["settings"][name]
    (tmp_path / "x.npz").write_bytes(state_archive.pack(header, values))
    again = rb.load(tmp_path / "x.npz")
    assert again.methods == simulation.methods
    assert again.hash() == simulation.hash()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("contacts", "bounce", "contact method"),
        ("contact_points", 0, "contact_points"),
        ("contact_distance", -1.0, "contact_distance"),
        ("narrowphase", {"name": "fast", "parameters": {}}, "narrow phase"),
        ("broadphase", {"name": "grid", "parameters": {"wider": 1}}, "wider"),
    ],
)
def test_a_file_with_wrong_settings_of_contacts_is_refused(tmp_path, name, value, says):
    rb.Simulation(stack(), contacts="detect").save(tmp_path / "x.npz")
    header, values = opened(tmp_path / "x.npz")
    header["settings"][name] = value
    (tmp_path / "x.npz").write_bytes(state_archive.pack(header, values))
    with pytest.raises(rb.FileError, match=says):
        rb.load(tmp_path / "x.npz")
