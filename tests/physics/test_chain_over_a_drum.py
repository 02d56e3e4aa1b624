"""A chain of light links over a drum with weights at its ends stands where friction holds it, and slides where not.

Its links carry a thousand times their own weight, so that they are stiff beside steps of 1/240 s and longer.
"""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rattleback as rb

pytestmark = pytest.mark.contacts
# Half thickness of the chain, length of a link, and of the chain that hangs on each side [m]; the lighter weight [kg].
THICK, LINK, HANGING = 0.01, 0.05, 0.6
LIGHT = 2.0
PARTS = ("position", "orientation", "velocity", "angular_velocity")


def joints_of_the_chain(drum: float) -> np.ndarray:
    """Places of the joints: down on the left, around the drum, which the links touch in their middle, down again."""
    half = np.arctan(LINK / 2 / (drum + THICK))
    links = int(np.pi / 2 / half)
    angle = np.pi / 2 + half * (links - 2 * np.arange(links + 1))
    around = (drum + THICK) / np.cos(half) * np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    down = np.stack([np.zeros(12), np.zeros(12), LINK * np.arange(1, 13)], axis=1)
    return np.concatenate([around[0] - down[::-1], around, around[-1] - down])


def chain_over_a_drum(drum: float, ratio: float) -> rb.Scene:
    """A chain that lies on a drum with friction 0.3, 0.6 m of it hanging down on either side with a weight."""
    scene, smooth = rb.Scene(), rb.Material(friction=0.15)
    quarter = rb.rotation.quaternion_from_axis_angle((1, 0, 0), np.pi / 2)
    scene.add_static(rb.Cylinder(drum, 0.4), orientation=quarter, name="drum", material=smooth)
    places = joints_of_the_chain(drum)
    for k, (a, b) in enumerate(itertools.pairwise(places)):
        turn = rb.rotation.quaternion_from_axis_angle((0, 1, 0), np.arctan2(b[0] - a[0], b[2] - a[2]))
        options = {"position": (a + b) / 2, "orientation": turn, "material": smooth, "group": "chain"}
        scene.add_body(rb.Capsule(THICK, LINK + 1.8 * THICK), mass=0.02, name=f"link_{k}", **options)
        if k:
            scene.add_joint(rb.Ball(f"link_{k - 1}", f"link_{k}", at=a))
    scene.exclude("chain")
    last = f"link_{len(places) - 2}"
    for name, place, mass, link in (("light", places[0], LIGHT, "link_0"), ("heavy", places[-1], LIGHT * ratio, last)):
        scene.add_body(rb.Sphere(0.05), mass=mass, position=place - (0, 0, 0.05), name=name, collision=None)
        scene.add_joint(rb.Ball(link, name, at=place))
    return scene


def slide(drum: float, ratio: float, duration: float) -> float:
    """How far a limp chain slides over the drum: dT/dθ = μ (T − λ v² + λ g R sin θ) + λ R a + λ g R cos θ."""
    friction, radius, density, g = 0.3, drum + THICK, 0.02 / LINK, 9.81

    def excess(a: float, v: float, s: float) -> float:
        def slope(angle: float, pull: np.ndarray) -> np.ndarray:
            press = pull + density * (g * radius * np.sin(angle) - v * v)
            return friction * press + density * radius * (a + g * np.cos(angle))

        start = (LIGHT + density * (HANGING - s)) * (g + a)
        end = solve_ivp(slope, (0.0, np.pi), [start], rtol=1e-8).y[0, -1]
        return end - (LIGHT * ratio + density * (HANGING + s)) * (g - a)

    def rates(_: float, y: np.ndarray) -> list[float]:
        none, one = (excess(a, y[1], y[0]) for a in (0.0, 1.0))
        return [y[1], none / (none - one)]

    return solve_ivp(rates, (0.0, duration), [0.0, 0.0], rtol=1e-6).y[0, -1]


def run(drum: float, ratio: float, rate: float, duration: float) -> tuple[float, float]:
    """How far the heavier weight has sunk, and how deep a link was in the drum at most [m]; what is wrong is said."""
    sim = rb.Simulation(chain_over_a_drum(drum, ratio), time_step=1 / rate, warn=False)
    start, deepest = sim["heavy"].position[2], -np.inf
    for _ in range(round(duration * rate)):
        sim.step()
        places = sim["chain"].position
        deepest = max(deepest, drum + THICK - float(np.hypot(places[:, 0], places[:, 2]).min()))
        if sim.report.penetration > sim.report.penetration_tolerance:
            assert not sim.report.converged
            assert "drum" in sim.report.worst_contact
            assert sim.report.reason
    return start - sim["heavy"].position[2], deepest


@pytest.mark.parametrize("ratio", [1.2, 2.0])
@pytest.mark.parametrize("rate", [240, 60, 30])
@pytest.mark.parametrize("drum", [0.15, 0.3, 0.5])
def test_a_chain_stands_where_friction_holds_it(drum: float, rate: float, ratio: float) -> None:
    """Friction holds up to e^(0.3 π) = 2.57 : 1."""
    sunk, deepest = run(drum, ratio, rate, 1.0)
    assert abs(sunk) < 5e-4
    assert deepest < 2e-4


@pytest.mark.parametrize(("drum", "rate"), [(0.15, 240), (0.3, 240), (0.5, 240), (0.5, 60), (0.5, 30)])
def test_a_chain_stands_near_the_limit_of_its_friction(drum: float, rate: float) -> None:
    sunk, deepest = run(drum, 2.5, rate, 1.0)
    assert abs(sunk) < 2e-3
    assert deepest < 2e-5


@pytest.mark.parametrize("drum", [0.25, 0.3, 0.4, 0.5])
def test_a_chain_that_friction_does_not_hold_slides_over_the_drum_and_not_through_it(drum: float) -> None:
    """Sweeps do not come to an end where all of it slides, which brakes it; the report says so in every step."""
    sunk, deepest = run(drum, 4.0, 60, 1.0)
    assert 0.6 * slide(drum, 4.0, 1.0) < sunk < 1.05 * slide(drum, 4.0, 1.0)
    assert deepest < THICK


def test_a_link_that_is_pulled_into_the_drum_is_warned_of() -> None:
    sim = rb.Simulation(chain_over_a_drum(0.15, 4.0), time_step=1 / 30)
    with pytest.warns(rb.NotConvergedWarning, match="overlap|apart|off by"):
        sim.run(0.5)
    assert not sim.report.converged
    assert sim.report.penetration > sim.report.penetration_tolerance


def test_stiff_worlds_of_a_batch_are_their_single_runs() -> None:
    """The second of two worlds begins with a push to its heavier weight, so that both go ways of their own."""
    scene = chain_over_a_drum(0.15, 2.0)
    batch = rb.Simulation(scene, time_step=1 / 60, worlds=2, warn=False)
    batch.state.velocity[1, -1] = (0.0, 0.3, 0.0)
    batch.step(12)
    for world in range(2):
        alone = rb.Simulation(scene, time_step=1 / 60, warn=False)
        if world:
            alone.state.velocity[-1] = (0.0, 0.3, 0.0)
        alone.step(12)
        for part in PARTS:
            np.testing.assert_array_equal(getattr(batch.state, part)[world], getattr(alone.state, part))
