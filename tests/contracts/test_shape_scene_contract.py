"""Every pair of shapes of the menu in a scene: the same contacts either way round, turned, by every narrow phase."""

import functools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision import narrowphase


def notched():
    """A closed mesh of a block with a notch, so that it is not convex."""
    outline = np.array([[-1, -1], [1, -1], [1, 1], [0.2, 1], [0, 0.2], [-0.2, 1], [-1, 1]]) * 0.6
    lower, upper = (np.c_[outline, np.full(len(outline), z)] for z in (-0.6, 0.6))
    n = len(outline)
    cap = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (4, 5, 6), (4, 6, 0)]
    sides = [t for k in range(n) for t in ((k, (k + 1) % n, n + k), ((k + 1) % n, n + (k + 1) % n, n + k))]
    triangles = [(c, b, a) for a, b, c in cap] + [(a + n, b + n, c + n) for a, b, c in cap] + sides
    return rb.Mesh(np.concatenate([lower, upper]), triangles)


X = np.linspace(-1, 1, 9)
SHAPES = {
    "sphere": rb.Sphere(0.4),
    "box": rb.Box(0.6, 0.8, 1.0),
    "capsule": rb.Capsule(0.2, 1.0),
    "cylinder": rb.Cylinder(0.4, 0.8),
    "cone": rb.Cone(0.4, 0.9),
    "ellipsoid": rb.Ellipsoid(0.3, 0.4, 0.5),
    "plane": rb.Plane(normal=(0, 0.6, 0.8), offset=-0.1),
    "mesh": notched(),
    "compound": rb.Compound([rb.Placed(rb.Box(0.3, 0.3, 0.9)), rb.Placed(rb.Sphere(0.25), position=(0, 0.2, 0.5))]),
    "convex_hull": rb.ConvexHull(np.random.default_rng(3).normal(size=(14, 3)) * 0.35),
    "height_field": rb.HeightField(0.2 * np.sin(3 * X)[:, None] * np.cos(3 * X)[None, :], 0.25),
}
ONLY_STATIC = ("plane", "mesh", "height_field")
MEETINGS = [(a, b) for a in SHAPES for b in SHAPES if a not in ONLY_STATIC or b not in ONLY_STATIC]
WORLDS, REACH = 32, 0.5
TURN = Rotation.random(random_state=10).as_matrix()


def test_every_shape_of_the_menu_is_here():
    assert SHAPES.keys() == rb.shapes.MENU.keys()


def all_meetings(method, exchanged=False):
    """A simulation in which the bodies of each pair of shapes meet each other only, differently in every world."""
    scene = rb.Scene()
    for k, pair in enumerate(MEETINGS):
        for side in (1, 0) if exchanged else (0, 1):
            shape = SHAPES[pair[side]]
            add = scene.add_static if pair[side] in ONLY_STATIC else scene.add_body
            add(shape, name=f"{k} {side}", group=str(k), **({} if pair[side] in ONLY_STATIC else {"mass": 1.0}))
    scene.exclude_if(lambda a, b: a.group != b.group)
    settings = {"contact_distance": REACH, "contact_points": 16, "narrowphase": method}
    return rb.Simulation(scene, contacts="detect", worlds=WORLDS, **settings)


def spread_out(simulation, turn=None):
    """Give all bodies their places, the same for the same names; then turn everything about the origin."""
    rng = np.random.default_rng(9)
    turn = np.eye(3) if turn is None else turn
    for k, side in np.ndindex(len(MEETINGS), 2):
        place = rng.normal(size=(WORLDS, 3)) * rng.choice([0.0, 0.2, 0.5], (WORLDS, 1))
        own = Rotation.random(WORLDS, random_state=rng).as_matrix()
        body = simulation.model.index(f"{k} {side}")
        simulation.state.position[:, body] = place @ turn.T
        simulation.state.orientation[:, body] = Rotation.from_matrix(turn @ own).as_quat()


def deepest(simulation):
    """For every pair and world, the least separation, its normal from body 1 to body 0, and whether there is no other.

    Two solids in one place, most of them symmetric about it, can leave each other by several ways that are as short.
    """
    found, answers, place = simulation.contacts, {}, simulation.state.position
    assert np.isfinite(found.point).all()
    assert np.isfinite(found.separation).all()
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-9)
    for row, (one, other) in enumerate(found.bodies):
        assert one.split()[0] == other.split()[0]
        key = (int(one.split()[0]), int(found.world[row]))
        if key not in answers or found.separation[row] < answers[key][0]:
            here, there = (place[key[1], simulation.model.index(name)] for name in (one, other))
            normal = found.normal[row] * (1 if one.endswith("0") else -1)
            answers[key] = (found.separation[row], normal, bool((here != there).any()))
    return answers


@functools.cache
def answers_of(method, how="plain"):
    """What a narrow phase says of all meetings as they are, with the bodies of each pair exchanged, or all turned."""
    simulation = all_meetings(method, exchanged=how == "exchanged")
    spread_out(simulation, TURN if how == "turned" else None)
    return deepest(simulation)


def compare(one, other, pairs, turn=None):
    """Two sets of answers say the same, but for pairs right at the contact distance and normals that are not unique."""
    turn, together = np.eye(3) if turn is None else turn, 0
    for key in sorted(one.keys() | other.keys()):
        if MEETINGS[key[0]] not in pairs:
            continue
        s, t = (answers[key][0] if key in answers else REACH for answers in (one, other))
        assert s == pytest.approx(t, abs=2e-6), (MEETINGS[key[0]], key)
        if key in one and key in other:
            together += 1
            assert not one[key][2] or turn @ one[key][1] @ other[key][1] > 1.0 - 1e-4, (MEETINGS[key[0]], key)
    assert together > 0.6 * WORLDS * len(pairs)


MESHED = [pair for pair in MEETINGS if "mesh" in pair]
OTHERS = [pair for pair in MEETINGS if "mesh" not in pair]
BY_ORDER = [(pairs, method) for pairs in (OTHERS, MESHED) for method in narrowphase.MENU]
BY_METHOD = [(pairs, method) for pairs in (OTHERS, MESHED) for method in ("gjk", "vclip")]


@pytest.mark.parametrize(
    ("pairs", "method"),
    BY_ORDER,
    ids=lambda x: x if isinstance(x, str) else f"{len(x)} pairs",
)
def test_shapes_in_scenes_meet_alike_either_way_round_and_turned(pairs, method):
    answers = answers_of(method)
    assert {key[0] for key in answers} == set(range(len(MEETINGS)))
    compare(answers, answers_of(method, "exchanged"), pairs)
    compare(answers, answers_of(method, "turned"), pairs, TURN)


@pytest.mark.parametrize(
    ("pairs", "method"),
    BY_METHOD,
    ids=lambda x: x if isinstance(x, str) else f"{len(x)} pairs",
)
def test_shapes_in_scenes_meet_alike_by_every_narrow_phase(pairs, method):
    compare(answers_of(narrowphase.DEFAULT), answers_of(method), pairs)


def oracle_shape(coal, name):
    """A shape of the menu for the other library."""
    shape = SHAPES[name]
    if name in ("mesh", "height_field"):
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(shape.triangles), len(shape.vertices))
        points = coal.StdVec_Vec3s()
        points.extend([np.asarray(x) for x in shape.vertices])
        triangles = coal.StdVec_Triangle()
        triangles.extend([coal.Triangle(*(int(k) for k in t)) for t in shape.triangles])
        model.addSubModel(points, triangles)
        model.endModel()
        return model
    return {
        "sphere": lambda: coal.Sphere(shape.radius),
        "box": lambda: coal.Box(shape.x, shape.y, shape.z),
        "capsule": lambda: coal.Capsule(shape.radius, shape.length - 2 * shape.radius),
        "cylinder": lambda: coal.Cylinder(shape.radius, shape.length),
        "cone": lambda: coal.Cone(shape.radius, shape.height),
        "ellipsoid": lambda: coal.Ellipsoid(shape.x, shape.y, shape.z),
    }[name]()


@pytest.mark.parametrize("method", ["gjk", "closed_forms"])
def test_another_library_finds_the_same_distances_from_surfaces(method):
    coal = pytest.importorskip("coal")
    simulation = all_meetings(method)
    spread_out(simulation)
    state, answers, seen = simulation.state, deepest(simulation), 0
    for (k, world), (separation, *_) in answers.items():
        pair = MEETINGS[k]
        if pair[0] not in ("mesh", "height_field") or pair[1] in ("compound", "convex_hull"):
            continue
        places = []
        for side in range(2):
            body = simulation.model.index(f"{k} {side}")
            turn = Rotation.from_quat(state.orientation[world, body]).as_matrix()
            center = simulation.scene.bodies[body].center_of_mass
            places.append(coal.Transform3s(turn, state.position[world, body] - turn @ center))
        shapes = [oracle_shape(coal, name) for name in pair]
        said = coal.distance(shapes[0], places[0], shapes[1], places[1], coal.DistanceRequest(), coal.DistanceResult())
        # Of what overlaps, the other library knows the depths of single triangles only.
        if said > 1e-3:
            assert separation == pytest.approx(said, abs=1e-5), (pair, world)
            seen += 1
    assert seen > 20
