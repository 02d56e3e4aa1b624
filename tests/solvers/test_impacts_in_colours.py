"""Collisions where contacts have colours, as they have on CUDA, against closed forms and conservation laws."""

import numpy as np
import pytest

import rattleback as rb

pytestmark = [pytest.mark.contacts, pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")]


@pytest.fixture(autouse=True)
def colours(give_colours):
    give_colours()


def row(balls, lifted):
    """Equal balls in a row that touch, of which some come at 1 m/s."""
    scene = rb.Scene(gravity=(0, 0, 0))
    surface = rb.Material(friction=0.0, restitution=1.0)
    for k in range(balls):
        start = {"position": (k - 0.002 * (k < lifted), 0, 0), "velocity": (float(k < lifted), 0, 0)}
        scene.add_body(rb.Sphere(0.5), mass=1.0, material=surface, **start)
    return scene


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("lifted", [1, 2, 3])
def test_as_many_balls_leave_a_row_as_have_come(lifted, law, device):
    sim = rb.Simulation(row(6, lifted), device=device, time_step=0.001, contacts=rb.contacts.Impulse(restitution=law))
    sim.run(0.1)
    expected = np.zeros((6, 3))
    expected[-lifted:, 0] = 1.0
    np.testing.assert_allclose(sim.state.velocity, expected, atol=1e-6)


@pytest.mark.parametrize("impact", ["sequential", "simultaneous"])
@pytest.mark.parametrize("restitution", [0.3, 1.0])
def test_a_ball_that_strikes_two_at_once_comes_back(restitution, impact, device):
    scene = rb.Scene(gravity=(0, 0, 0))
    surface = rb.Material(friction=0.0, restitution=restitution**0.5)
    for place, speed in ((-0.001, 0.0, 0.0), 1.0), ((0.75**0.5, 0.5, 0.0), 0.0), ((0.75**0.5, -0.5, 0.0), 0.0):
        scene.add_body(rb.Sphere(0.5), mass=1.0, position=place, velocity=(speed, 0, 0), material=surface)
    sim = rb.Simulation(scene, device=device, time_step=0.001, contacts=rb.contacts.Impulse(impact=impact))
    sim.run(0.05)
    # Each of the two gets J along the line of centres, 30 degrees off: J (1 + 2 cos²) = (1 + e) cos.
    cosine = 0.75**0.5
    J = (1.0 + restitution) * cosine / 2.5
    expected = [(1.0 - 2.0 * J * cosine, 0, 0), (J * cosine, 0.5 * J, 0), (J * cosine, -0.5 * J, 0)]
    np.testing.assert_allclose(sim.state.velocity, expected, atol=3e-3)


def crowd(restitution, friction, seed=3, boxes=40):
    """Boxes without order that all fly towards the middle."""
    scene, rng = rb.Scene(gravity=(0, 0, 0)), np.random.default_rng(seed)
    surface = rb.Material(friction=friction, restitution=restitution)
    for k in range(boxes):
        place = 1.3 * np.array([k % 4, k // 4 % 4, k // 16]) - 2.0
        turned = rng.normal(size=4)
        options = {"orientation": turned / np.linalg.norm(turned), "velocity": -place + 0.3 * rng.normal(size=3)}
        scene.add_body(rb.Box(1, 0.8, 0.6), mass=rng.uniform(0.5, 2), position=place, material=surface, **options)
    return scene


@pytest.mark.parametrize(
    ("law", "impact"), [("newton", "sequential"), ("poisson", "sequential"), ("newton", "simultaneous")]
)
def test_a_crowd_keeps_its_momentum_and_gains_no_energy(law, impact, device):
    method = rb.contacts.Impulse(restitution=law, impact=impact)
    sim = rb.Simulation(crowd(0.7, 0.0), device=device, time_step=0.002, contacts=method)
    before, energies = sim.momentum(), [sim.energy().total]
    for _ in range(30):
        sim.step(5)
        energies.append(sim.energy().total)
    np.testing.assert_allclose(sim.momentum().linear, before.linear, atol=1e-9)
    np.testing.assert_allclose(sim.momentum().angular, before.angular, atol=1e-2)
    assert np.diff(energies).max() < 1e-3 * energies[0]
    assert energies[-1] < 0.9 * energies[0]


def test_a_crowd_goes_the_same_way_twice(device):
    ends = []
    for _ in range(2):
        sim = rb.Simulation(crowd(0.7, 0.3), device=device, time_step=0.002)
        sim.step(100)
        ends.append(sim.hash())
    assert ends[0] == ends[1]


def test_a_world_has_the_colours_and_the_bits_that_it_has_alone(device):
    """A world before it with other contacts changes the rows of its manifolds, and nothing else."""
    scene = crowd(0.3, 0.4, boxes=12)
    batch, alone = (rb.Simulation(scene, device=device, time_step=0.01, worlds=n) for n in (2, None))
    batch.state.velocity[0] *= 0.3
    batch.step(60)
    alone.step(60)
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(batch.state, name)[1], getattr(alone.state, name)), name
