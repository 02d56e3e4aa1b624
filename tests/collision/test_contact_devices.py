"""Contacts on every device: the same bodies touch at the same points, in steps that are cut short as well."""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision import broadphase, narrowphase
from rattleback.collision.contact_view import ContactView
from rattleback.collision.detection import Detection
from rattleback.collision.finder import Finder
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.core.stages import Program

ROUND = (rb.Sphere(0.5), rb.Capsule(0.3, 1.4), rb.Cylinder(0.5, 1.2), rb.Cone(0.5, 1.0), rb.Ellipsoid(0.3, 0.5, 0.7))
EVERY = (rb.Box(0.8, 1.0, 1.2), *ROUND)
FLAT = (rb.Box(0.8, 1.0, 1.2), rb.Sphere(0.5), rb.Box(0.4, 0.9, 1.3), rb.Box(1.1, 0.2, 0.7), rb.Box(0.6, 0.6, 0.6))


def crowd(floor, shapes=EVERY):
    """Shapes thrown together over a floor, with things that move fast."""
    rng = np.random.default_rng(5)
    hull = rb.ConvexHull(rng.normal(size=(14, 3)) * 0.5)
    scene = rb.Scene()
    scene.add_static(floor, name="floor")
    for k, shape in enumerate([*shapes, hull] * 4):
        place, turn = rng.uniform((-2, -2, 0.3), (2, 2, 3)), Rotation.random(random_state=rng).as_quat()
        options = {"velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3), "continuous": k % 7 == 1}
        scene.add_body(shape, position=place, orientation=turn, name=f"body {k}", **options)
    return scene


def waves():
    x = np.linspace(-3, 3, 13)
    return rb.HeightField(0.3 * np.sin(2 * x)[:, None] * np.cos(2 * x)[None, :], 0.5)


def found(scene, device, **settings):
    sim = rb.Simulation(scene, contacts="detect", worlds=2, device=device, time_step=2e-3, **settings)
    sim.step(5)
    return sim.contacts


def deepest(contacts):
    """The deepest contact of every pair: (world, bodies) -> number of the contact."""
    order = np.argsort(-contacts.separation, kind="stable")
    return {(contacts.world[k], contacts.bodies[k]): k for k in order}


def agree_where_deepest(one, other):
    """The same pairs meet, equally deep. How many points a manifold of round shapes has may hang on the last bit."""
    here, there = deepest(one), deepest(other)
    assert sorted(here) == sorted(there)
    first, second = ([chosen[key] for key in here] for chosen in (here, there))
    np.testing.assert_allclose(one.separation[first], other.separation[second], atol=1e-6)
    np.testing.assert_allclose(one.normal[first], other.normal[second], atol=1e-4)


def agree(one, other):
    assert one.bodies == other.bodies
    np.testing.assert_array_equal(one.world, other.world)
    np.testing.assert_allclose(one.separation, other.separation, atol=1e-7)
    np.testing.assert_allclose(one.point, other.point, atol=1e-5)


@pytest.mark.parametrize("floor", [rb.Plane(), waves()], ids=["plane", "waves"])
@pytest.mark.parametrize("method", narrowphase.MENU)
def test_every_device_finds_the_same_contacts(device, method, floor):
    here = found(crowd(floor), "cpu", narrowphase=method)
    there = found(crowd(floor), device, narrowphase=method)
    assert len(deepest(here)) > 50
    agree_where_deepest(there, here)


@pytest.mark.parametrize("method", broadphase.MENU)
def test_every_broad_phase_writes_the_same_list_on_every_device(device, method):
    here = found(crowd(rb.Plane(), FLAT), "cpu", broadphase="all_pairs")
    there = found(crowd(rb.Plane(), FLAT), device, broadphase=method)
    assert len(here) > 50
    agree(there, here)


def test_steps_are_cut_short_alike_on_every_device(device):
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_static(rb.Box(1, 1, 0.001), position=(5, 0, 1), name="plate")
    scene.add_body(rb.Sphere(0.1), position=(0, 0, 1), name="ball")
    bullet = {"velocity": (0, 0, -1000.0), "continuous": True, "name": "bullet"}
    scene.add_body(rb.Sphere(0.005), position=(5, 0, 9), **bullet)
    sim = rb.Simulation(scene, contacts="detect", contact_time="interpolate", time_step=0.05, device=device)
    sim.step(12)
    assert sim["bullet"].position[2] > 1.0
    assert sim.time == pytest.approx(0.05 * 11 + np.sqrt(2 * 0.9 / 9.81) - 0.4, abs=1e-3)


class InParallel:
    """Records what CUDA would run, to be run on a CPU."""

    device = SimpleNamespace(is_cpu=False)

    def __init__(self, program):
        self.launch, self.when, self.loop = program.launch, program.when, program.loop

    def share(self, kernel, count, *inputs):
        self.launch(kernel, count, *inputs, count)


@pytest.mark.parametrize("floor", [rb.Plane(), waves()], ids=["plane", "waves"])
@pytest.mark.parametrize("method", broadphase.MENU)
def test_what_cuda_would_run_finds_the_same_contacts_on_a_cpu(method, floor):
    sim = rb.Simulation(crowd(floor), contacts="detect", worlds=2, time_step=2e-3)
    finder = Finder(compile_colliders(sim.model), len(sim.model.names), sim.state.motion, Detection(broadphase=method))
    finder.find()
    program = Program(sim.device, wp.zeros(1, dtype=wp.int32, device=sim.device))
    with program.prologue():
        finder.record(InParallel(program), program.stop)
    with program.stage("contacts"):
        finder.record(InParallel(program), program.stop)
    program.compile()
    for steps in (0, 1, 2):
        program.run(steps)
        assert program.stop.numpy()[0] == 0
        here, there = sim.contacts, ContactView(finder, sim.model)
        assert there.bodies == here.bodies
        np.testing.assert_array_equal(there.point, here.point)
        np.testing.assert_array_equal(there.separation, here.separation)
        sim.step(3)
