"""Manifold update with a contact solver: copies, calls, heaps, walls and sleep."""

import json
import zipfile

import numpy as np
import pytest

import rattleback as rb
from rattleback.io import state_archive

pytestmark = [
    pytest.mark.contacts,
    # What falls on a heap may take more sweeps than there are.
    pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning"),
]
EVERY = 3
EDGE = 0.1
DISTANCE = 1e-4


def add_walls(scene, half):
    """Four half-spaces that stand around a square."""
    for k, (x, y) in enumerate([(1, 0), (-1, 0), (0, 1), (0, -1)]):
        scene.add_static(rb.Plane(normal=(-x, -y, 0)), position=(half * x, half * y, 0), name=f"wall {k}")


def shaft(cubes=24, seed=0):
    """Cubes and a few balls that fall into a shaft, turning."""
    scene, draw = rb.Scene(), np.random.default_rng(seed)
    scene.add_static(rb.Plane(), name="ground")
    add_walls(scene, 1.6 * EDGE)
    for k in range(cubes):
        layer, place = divmod(k, 4)
        where = 0.7 * EDGE * np.array([2 * (place % 2) - 1, 2 * (place // 2) - 1, 0]) + [
            0,
            0,
            EDGE * (1.0 + 1.4 * layer),
        ]
        shape = rb.Sphere(0.5 * EDGE) if k % 7 == 3 else rb.Box(EDGE, EDGE, EDGE)
        turning, flying = draw.normal(size=3), 0.3 * draw.normal(size=3)
        scene.add_body(shape, mass=1.0, position=where, velocity=flying, angular_velocity=turning, name=f"piece {k}")
    return scene


def updating(scene, **settings):
    given = {"contact_every": EVERY, "time_step": 2e-3}
    return rb.Simulation(scene, **{**given, **settings})


def bumpy():
    """Cubes that slide and fall on a surface of triangles."""
    scene, draw = rb.Scene(), np.random.default_rng(1)
    scene.add_static(rb.HeightField(0.02 * draw.normal(size=(9, 9)), 0.12), position=(-0.48, -0.48, 0), name="ground")
    for k in range(6):
        where = (0.25 * (k % 3) - 0.25, 0.25 * (k // 3) - 0.12, 0.13 + 0.02 * k)
        scene.add_body(rb.Box(EDGE, EDGE, EDGE), mass=1.0, position=where, velocity=(0.5, 0.1, 0), name=f"cube {k}")
    return scene


@pytest.mark.parametrize("begun", [60, 61, 62])
@pytest.mark.parametrize("place", [shaft, bumpy])
def test_copies_and_files_go_on_bit_for_bit(begun, place, tmp_path):
    sim, copied = updating(place()), updating(place())
    sim.step(begun)
    copied.step(7)
    copied.state = sim.state.copy()
    sim.save(tmp_path / "shaft.state")
    loaded = rb.load(tmp_path / "shaft.state")
    assert loaded.methods.detection.every == EVERY
    for other in (copied, loaded):
        np.testing.assert_array_equal(other.contacts.point, sim.contacts.point)
        np.testing.assert_array_equal(other.contacts.normal, sim.contacts.normal)
        np.testing.assert_array_equal(other.contacts.separation, sim.contacts.separation)
        np.testing.assert_array_equal(other.contacts.feature, sim.contacts.feature)
    for steps in (1, 2, 1, 10):
        for each in (sim, copied, loaded):
            each.step(steps)
        assert sim.hash() == copied.hash() == loaded.hash()


def test_where_contacts_are_only_found_a_copy_has_those_of_where_its_bodies_are():
    settings = {"contacts": "detect", "contact_distance": 0.6 * EDGE}
    sim, copied = (updating(shaft(), **settings) for _ in range(2))
    fresh = updating(shaft(), contact_every=1, **settings)
    sim.step(EVERY + 2)
    copied.step()
    copied.state = fresh.state = sim.state.copy()
    assert len(fresh.contacts) > 20
    np.testing.assert_array_equal(copied.contacts.point, fresh.contacts.point)
    for each in (sim, copied, fresh):
        each.step()
    np.testing.assert_array_equal(copied.contacts.point, fresh.contacts.point)
    np.testing.assert_array_equal(sim.contacts.point, fresh.contacts.point)


@pytest.mark.parametrize(("written", "read"), [(None, 1), (4, 4)])
def test_files_without_the_setting_have_the_default(written, read, tmp_path):
    path = tmp_path / "x.npz"
    updating(shaft(4)).save(path)
    write_setting(path, written)
    assert rb.load(path).methods.detection.every == read


def test_a_file_with_a_wrong_setting_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    updating(shaft(4)).save(path)
    write_setting(path, 0)
    with pytest.raises(rb.FileError, match=r"settings\.contact_every: must be 1 or more; it is 0"):
        rb.load(path)


def write_setting(path, every):
    """Change a state file, or leave the setting out of it as files from before there was one do."""
    with zipfile.ZipFile(path) as archive, np.load(path) as arrays:
        header = json.loads(archive.read("header.json"))
        values = {name: arrays[name] for name in arrays.files if name != "header.json"}
    del header["settings"]["contact_every"]
    if every is not None:
        header["settings"]["contact_every"] = every
    path.write_bytes(state_archive.pack(header, values))


@pytest.mark.parametrize("substeps", [1, 2])
def test_calls_and_buffers_that_have_to_grow_change_no_bit(substeps):
    hashes = []
    for room, calls in ((None, [50]), (None, [1] * 50), (40, [50]), (25, [7, 20, 23])):
        sim = updating(shaft(), substeps=substeps)
        if room is not None:
            sim._step.contacts.finder.room["contacts"] = room
            sim._step.contacts.finder._allocate()
        for steps in calls:
            sim.step(steps)
        hashes.append(sim.hash())
    assert len({*hashes}) == 1


def test_worlds_have_the_bits_of_single_runs():
    one, many = updating(shaft(12)), updating(shaft(12), worlds=2)
    one.step(50)
    many.step(50)
    for world in (0, 1):
        np.testing.assert_array_equal(many.state.position[world], one.state.position)


def deepest(sim, finder):
    """How deep bodies overlap where they are, found anew [m]."""
    finder.state = sim.state.copy()
    return -min(finder.contacts.separation, default=0.0)


def test_a_heap_keeps_its_cubes_apart_and_gains_no_energy():
    sim, finder = updating(shaft(60), time_step=1e-3), rb.Simulation(shaft(60), contacts="detect")
    before = sim.energy().total
    for _ in range(300):
        sim.step()
        assert deepest(sim, finder) < 1e-3
        now = sim.energy().total
        assert now <= before + 1e-4 * abs(before)
        before = now
    place = sim.state.position[[name.startswith("piece") for name in sim.model.names]]
    assert (np.abs(place[:, :2]) < 1.6 * EDGE).all()
    assert (place[:, 2] > 0.0).all()


@pytest.mark.parametrize("every", [2, 3, 5])
@pytest.mark.parametrize("late", [0.0, 0.2, 0.4, 0.6, 0.8])
def test_what_is_thrown_at_a_wall_stops_at_it(every, late):
    fast, h = 5.0, 1e-3
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Plane(normal=(-1, 0, 0)), name="wall")
    away = 0.5 * EDGE + fast * h * (10 + every * late)
    scene.add_body(rb.Box(EDGE, EDGE, EDGE), mass=1.0, position=(-away, 0, 0), velocity=(fast, 0, 0), name="cube")
    sim = rb.Simulation(scene, contact_every=every, time_step=h)
    deep = 0.0
    for _ in range(12 + 2 * every):
        sim.step()
        deep = max(deep, sim["cube"].position[0] + 0.5 * EDGE)
    assert deep <= 0.1 * DISTANCE
    assert sim["cube"].velocity[0] <= 1e-9


def test_a_continuous_body_passes_nothing():
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Box(1e-3, 1.0, 1.0), position=(1.0, 0, 0), name="plate")
    scene.add_body(rb.Sphere(0.01), mass=1.0, velocity=(300.0, 0, 0), continuous=True, name="ball")
    sim = rb.Simulation(scene, contact_every=4, time_step=1e-3)
    for _ in range(20):
        sim.step()
        assert sim["ball"].position[0] <= 0.99 + 1e-4
    assert sim["ball"].velocity[0] <= 1e-9


def test_events_are_told_when_contacts_are_found():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Sphere(EDGE), mass=1.0, position=(0, 0, 1.2 * EDGE), name="ball")
    sim, told = rb.Simulation(scene, contacts="detect", contact_every=4, time_step=0.02), []
    sim.observe(rb.ContactEvents(begin=lambda event: told.append(event.step)))
    sim.step(20)
    assert told == [4]


class Tower:
    """Three cubes on each other, and a stone that can be thrown at them."""

    def __init__(self, **settings):
        scene = rb.Scene()
        scene.add_static(rb.Plane(), name="ground")
        for k in range(3):
            scene.add_body(rb.Box(EDGE, EDGE, EDGE), mass=1.0, position=(0, 0, EDGE * (k + 0.5)), name=f"cube {k}")
        scene.add_body(rb.Box(EDGE, EDGE, EDGE), mass=1.0, position=(-1, 0, 0.5 * EDGE), name="stone")
        self.sim = rb.Simulation(scene, sleep=True, contact_every=EVERY, **settings)

    def asleep(self):
        return {name for name in self.sim.model.names if self.sim[name].asleep}

    def throw(self):
        self.sim["stone"].velocity = (6.0, 0, 1.0)


@pytest.mark.parametrize("before", [70, 71, 72])
def test_towers_fall_asleep_and_wake(before):
    tower = Tower()
    tower.sim.step(before)
    assert tower.asleep() == {"cube 0", "cube 1", "cube 2", "stone"}
    np.testing.assert_allclose(tower.sim["cube 2"].position, (0, 0, 2.5 * EDGE), atol=1e-4)
    tower.throw()
    tower.sim.step(60)
    assert "cube 2" not in tower.asleep()
    assert tower.sim["cube 0"].position[0] > 1e-2
    assert deepest(tower.sim, rb.Simulation(tower.sim.scene, contacts="detect")) < 1e-2
    tower.sim.step(400)
    assert len(tower.asleep()) == 4


@pytest.mark.parametrize("later", [1, 2, 3, 10, 16, 17, 18])
def test_towers_half_asleep_go_on_bit_for_bit(later, tmp_path):
    tower, other = Tower(), Tower()
    tower.sim.step(70)
    tower.throw()
    tower.sim.step(later)
    other.sim.state = tower.sim.state.copy()
    tower.sim.save(tmp_path / "tower.state")
    loaded = rb.load(tmp_path / "tower.state")
    for steps in (1, 1, 3, 20, 60, 200):
        for sim in (tower.sim, other.sim, loaded):
            sim.step(steps)
        assert tower.sim.hash() == other.sim.hash() == loaded.hash()
