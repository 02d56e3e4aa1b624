"""Bounding volumes never give up a pair that is near, and give up those that closed forms say they must."""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation

from rattleback.collision.broadphase import bounds
from rattleback.collision.broadphase.bounds import BoxBounds, DopBounds, OrientedBounds, SphereBounds
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry import solid
from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.core import arrays, device
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real
from rattleback.core.stages import Program

VOLUMES = {
    "box": BoxBounds(),
    "sphere": SphereBounds(),
    "oriented": OrientedBounds(),
    "dop_14": DopBounds(),
    "dop_26": DopBounds(sides=26),
}
KINDS = [solid.SPHERE, solid.CAPSULE, solid.BOX, solid.CYLINDER, solid.CONE, solid.ELLIPSOID, solid.HULL, solid.MESH]
HULL_POINTS = 12


class Pile:
    """Pairs of solids of every kind at random places, by hand: rows 2k and 2k + 1 are pair k."""

    def __init__(self, seed, pairs=40, gap=1.0, kinds=KINDS, rounds=True):
        rng = np.random.default_rng(seed)
        count = 2 * pairs
        self.rng, self.count, self.pairs_count = rng, count, pairs
        self.kind = rng.choice(kinds, count)
        scale = 10.0 ** rng.uniform(-3.0, 3.0, (pairs, 1)).repeat(2, axis=0)
        self.size = scale * 10.0 ** rng.uniform(-2.0, 0.0, (count, 3))
        self.round = np.where(rng.random(count) < 0.5, 0.0, 0.3 * scale[:, 0] * rng.random(count)) * rounds
        # Circular ones have one radius, capsules only a length, spheres nothing but their shell.
        circular = np.isin(self.kind, (solid.CYLINDER, solid.CONE))
        self.size[circular, 1] = self.size[circular, 0]
        self.size[self.kind == solid.CAPSULE, :2] = 0.0
        self.size[self.kind == solid.SPHERE] = 0.0
        self.vertex = rng.normal(size=(count, HULL_POINTS, 3)) * self.size[:, None]
        corner = np.where(np.isin(self.kind, (solid.HULL, solid.MESH)), np.linalg.norm(self.vertex, axis=2).max(1), 0.0)
        self.reach = np.maximum(np.linalg.norm(self.size, axis=1), corner) + self.round
        self.turn = Rotation.random(count, random_state=seed)
        apart = rng.normal(size=(pairs, 3))
        apart *= (gap * rng.random(pairs) * (self.reach[0::2] + self.reach[1::2]) / np.linalg.norm(apart, axis=1))[
            :, None
        ]
        self.position = rng.normal(size=(count, 3)) * scale
        self.position[1::2] = self.position[0::2] + apart
        self.wider = 1e-4 * float(scale.min())

    def points(self, i, many=150):
        """Points of a solid, many of its surface, in world coordinates."""
        rng, s, kind = self.rng, self.size[i], self.kind[i]
        signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
        u = rng.normal(size=(many, 3))
        u /= np.linalg.norm(u, axis=1)[:, None]
        if kind in (solid.HULL, solid.MESH):
            weights = rng.dirichlet(np.full(HULL_POINTS, 0.2), many)
            core = np.vstack([self.vertex[i], weights @ self.vertex[i]])
        elif kind == solid.ELLIPSOID:
            core = u * s
        elif kind in (solid.CYLINDER, solid.CONE):
            angle, z = rng.uniform(0.0, 2.0 * np.pi, many), rng.choice([-1.0, -1.0, 1.0, 0.3], many)
            part = np.where(kind == solid.CONE, 0.5 - 0.5 * z, 1.0)
            core = np.column_stack([part * s[0] * np.cos(angle), part * s[0] * np.sin(angle), z * s[2]])
        else:
            core = np.vstack([signs * s, rng.uniform(-1.0, 1.0, (many, 3)) * s])
        shell = self.round[i] * u[rng.integers(many, size=len(core))]
        return self.position[i] + self.turn[i].apply(core) + shell

    def geometry(self, where="cpu"):
        where = device.find(where)
        colliders = arrays.allocate(Colliders, {"colliders": self.count}, where)
        # A mesh carries the box around it.
        lower, upper = self.vertex.min(axis=1), self.vertex.max(axis=1)
        mesh = (self.kind == solid.MESH)[:, None]
        size, center = np.where(mesh, 0.5 * (upper - lower), self.size), np.where(mesh, 0.5 * (upper + lower), 0.0)
        values = {"kind": self.kind, "size": size, "center": center, "round": self.round, "reach": self.reach}
        values |= {"first": np.arange(self.count) * HULL_POINTS, "count": np.full(self.count, HULL_POINTS)}
        for name, value in values.items():
            getattr(colliders, name).assign(value.astype(numpy_real if value.dtype.kind == "f" else np.int32))
        hulls = Hulls()
        hulls.vertex = wp.array(self.vertex.reshape(-1, 3).astype(numpy_real), dtype=Hulls.fields["vertex"].dtype)
        return SimpleNamespace(colliders=colliders, hulls=hulls, count=self.count, device=where)

    def places(self):
        places = arrays.allocate(Places, {"colliders": self.count}, device.find("cpu"))
        around = (self.reach + self.wider)[:, None]
        around = np.where(around < self.wider, 1e18, around)
        values = {"position": self.position, "rotation": self.turn.as_matrix()}
        values |= {"lower": self.position - around, "upper": self.position + around}
        for name, value in values.items():
            getattr(places, name).assign(value.astype(numpy_real))
        return places

    def kept(self, volume):
        where = device.find("cpu")
        pairs = arrays.allocate(Pairs, {"pairs": self.pairs_count + 3, "colliders_and_one": 1, "one": 1}, where)
        rows = np.arange(self.count, dtype=np.int32)
        pairs.a.assign(np.append(rows[0::2], [0, 0, 0]).astype(np.int32))
        pairs.b.assign(np.append(rows[1::2], [1, 1, 1]).astype(np.int32))
        pairs.needed.fill_(self.pairs_count)
        keep = wp.full(self.pairs_count + 3, 7, dtype=wp.int32, device=where)
        program = Program(where, wp.zeros(1, dtype=wp.int32, device=where))
        with program.stage("bounds"):
            volume.record(program, self.geometry(), self.places(), pairs, keep, self.wider)
        program.compile()
        program.run(1)
        found = keep.numpy()
        assert (found[self.pairs_count :] == 0).all()
        return found[: self.pairs_count].astype(bool)


@pytest.mark.parametrize("volume", VOLUMES.values(), ids=VOLUMES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_a_pair_nearer_than_the_contact_distance_is_always_kept(volume, seed):
    pile = Pile(seed)
    for k in range(pile.pairs_count):
        # A point of B is brought to within the contact distance of a point of A.
        p, q = (pile.rng.choice(pile.points(i)) for i in (2 * k, 2 * k + 1))
        gap = pile.rng.normal(size=3)
        gap *= 2.0 * pile.wider * pile.rng.random() / np.linalg.norm(gap)
        pile.position[2 * k + 1] += p + gap - q
    assert pile.kept(volume).all()


def test_a_pair_exactly_at_the_contact_distance_is_kept_in_every_direction():
    pile = Pile(3, pairs=200, kinds=[solid.SPHERE])
    pile.round = np.full(pile.count, 0.25)
    pile.reach, pile.wider = pile.round, 0.125
    d = pile.rng.normal(size=(200, 3))
    pile.position = pile.rng.normal(size=(400, 3)) * 10.0
    pile.position[1::2] = pile.position[0::2] + 0.75 * d / np.linalg.norm(d, axis=1)[:, None]
    for volume in VOLUMES.values():
        assert pile.kept(volume).all()


def test_balls_are_given_up_where_they_are_apart():
    pile = Pile(4, pairs=300, gap=2.0, kinds=[solid.SPHERE])
    distance = np.linalg.norm(pile.position[1::2] - pile.position[0::2], axis=1)
    expected = distance <= pile.reach[0::2] + pile.reach[1::2] + 2.0 * pile.wider
    np.testing.assert_array_equal(pile.kept(SphereBounds()), expected)


def test_oriented_boxes_are_given_up_just_where_a_linear_programme_finds_no_common_point():
    pile = Pile(5, pairs=120, kinds=[solid.BOX], rounds=False)
    kept = pile.kept(OrientedBounds())
    assert 20 < kept.sum() < 100
    half, R = pile.size + pile.wider, pile.turn.as_matrix()
    for k in range(pile.pairs_count):
        a, b = 2 * k, 2 * k + 1
        # A common point is p_a + R_a x = p_b + R_b y with x and y in the boxes, scaled to the size of the pair.
        scale = pile.reach[a] + pile.reach[b]
        found = linprog(
            np.zeros(6),
            A_eq=np.hstack([R[a], -R[b]]),
            b_eq=(pile.position[b] - pile.position[a]) / scale,
            bounds=[(-h / scale, h / scale) for h in (*half[a], *half[b])],
        )
        assert kept[k] == (found.status == 0)


@pytest.mark.parametrize("sides", [14, 26])
def test_slabs_are_those_of_the_corners(sides):
    pile = Pile(6, pairs=150, kinds=[solid.HULL], rounds=False)
    world = pile.position[:, None] + np.einsum("nij,nkj->nki", pile.turn.as_matrix(), pile.vertex)
    grid = np.array(np.meshgrid(*[[-1, 0, 1]] * 3)).reshape(3, -1).T
    length = np.abs(grid).sum(axis=1)
    directions = grid[(length == 3) | ((length == 2) & (sides == 26))]
    along, more = world @ directions.T, pile.wider * np.linalg.norm(directions, axis=1)
    low, high = along.min(axis=1) - more, along.max(axis=1) + more
    expected = ((low[0::2] <= high[1::2]) & (low[1::2] <= high[0::2])).all(axis=1)
    kept = pile.kept(DopBounds(sides=sides))
    assert 0 < expected.sum() < 150
    np.testing.assert_array_equal(kept, expected)


@pytest.mark.parametrize("volume", [SphereBounds(), OrientedBounds(), DopBounds()], ids=["sphere", "oriented", "dop"])
@pytest.mark.parametrize("first", [True, False])
def test_a_ball_above_a_plane_is_given_up_and_one_below_is_kept(volume, first):
    pile = Pile(7, pairs=200, kinds=[solid.SPHERE])
    pile.round = np.full(pile.count, 0.25)
    pile.wider = 0.125
    plane, ball = (0, 1) if first else (1, 0)
    pile.kind[plane::2] = solid.PLANE
    pile.round[plane::2] = 0.0
    pile.reach = np.where(pile.kind == solid.PLANE, -1.0, 0.25)
    normal = pile.turn.as_matrix()[plane::2, :, 2]
    pile.position = pile.rng.normal(size=(pile.count, 3))
    height = ((pile.position[ball::2] - pile.position[plane::2]) * normal).sum(axis=1)
    kept = pile.kept(volume)
    assert kept[height <= 0.5].all()
    # No volume is more than a box of the ball's size, in the worst of directions.
    assert not kept[height > 0.125 + np.sqrt(3.0) * 0.375].any()
    if isinstance(volume, SphereBounds):
        np.testing.assert_array_equal(kept, height <= 0.5)


def test_the_menu_names_the_volumes_and_other_numbers_of_sides_are_refused():
    assert bounds.MENU[bounds.DEFAULT] is BoxBounds
    assert list(bounds.MENU) == ["box", "sphere", "oriented", "dop"]
    with pytest.raises(InputError, match="sides of DopBounds is 8; it may be 14 or 26."):
        DopBounds(sides=8)
