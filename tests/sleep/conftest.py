"""Towers that fall asleep, on a floor and on a table, and a stone beside them."""

import pytest

import rattleback as rb

ROUGH = rb.Material(friction=0.3)
EDGE = 0.1
A, B = {"a0", "a1", "a2"}, {"b0", "b1", "b2"}


def make_floor():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor", material=ROUGH)
    return scene


def put_tower(scene, name, x=0.0, bottom=0.0, cubes=3):
    """Put cubes on top of each other."""
    for k in range(cubes):
        place = (x, 0, bottom + EDGE * (k + 0.5))
        scene.add_body(rb.Box(EDGE, EDGE, EDGE), mass=1.0, position=place, name=f"{name}{k}", material=ROUGH)


def sleepers(sim):
    return {name for name in sim.model.names if sim[name].asleep}


@pytest.fixture
def rough():
    """What everything is made of."""
    return ROUGH


@pytest.fixture
def edge():
    """Length of the edge of a cube [m]."""
    return EDGE


@pytest.fixture
def floor():
    """A scene with a floor."""
    return make_floor()


@pytest.fixture
def add_tower():
    """What puts a tower into a scene."""
    return put_tower


@pytest.fixture
def towers():
    """A scene with a tower on the floor, one on a table, and a stone that lies on a table of its own."""
    scene = make_floor()
    scene.add_static(rb.Box(0.5, 0.5, 0.5), position=(1, 0, 0.25), name="table", material=ROUGH)
    put_tower(scene, "a")
    put_tower(scene, "b", x=1.0, bottom=0.5)
    scene.add_static(rb.Box(0.2, 0.2, 0.15), position=(-1, 0, 0.075), name="stand", material=ROUGH)
    scene.add_body(rb.Box(0.06, 0.06, 0.06), mass=1.0, position=(-1, 0, 0.18), name="stone", material=ROUGH)
    return scene


@pytest.fixture
def simulation():
    """What makes a simulation with contacts and sleep."""
    return lambda scene, **settings: rb.Simulation(scene, contacts="impulse", **{"sleep": True, **settings})


@pytest.fixture
def asleep():
    """What names the bodies that sleep."""
    return sleepers


@pytest.fixture
def resting(simulation, towers):
    """The towers asleep."""
    sim = simulation(towers)
    sim.step(70)
    assert sleepers(sim) == A | B | {"stone"}
    return sim
