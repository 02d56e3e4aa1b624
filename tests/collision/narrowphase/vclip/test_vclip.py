"""V-Clip: symmetry, coherence, walks cut off, and what is left to others."""

import numpy as np
import pytest
import warp as wp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rattleback.collision.geometry import solid
from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import load
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.vclip.features import meeting_of
from rattleback.collision.narrowphase.vclip.vclip import Features, VClip, closest_cores
from rattleback.core import arrays
from rattleback.core.precision import real

BEYOND = np.finfo(np.float64).max
MODES = ["free", "nearly parallel", "on a grid"]


@pytest.mark.parametrize("which", range(12))
def test_coincident_solids_part_along_their_smallest_width(rig, which):
    core = rig.polyhedra[which]
    u = core.vertices[core.edges[:, 1]] - core.vertices[core.edges[:, 0]]
    products = np.cross(u[:, None], u[None]).reshape(-1, 3)
    lengths = np.linalg.norm(products, axis=1)
    crossing = lengths > 1e-7 * lengths.max()
    normals = [*core.planes[:, :3], *(products[crossing] / lengths[crossing, None])]
    width = min(np.ptp(core.vertices @ n) for n in normals)
    assert rig.meet(core, core).separation == pytest.approx(-width - 2.0 * core.shell, rel=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_swapping_the_solids_or_moving_both_changes_nothing_but_the_view(rig, seed):
    cores = rig.polyhedra + rig.round
    a, b, turns, places, size = rig.sample(seed, 20, cores)
    answer = rig.find(cores, a, b, turns, places)
    swapped = rig.find(cores, b, a, np.roll(turns, 20, axis=0), np.roll(places, 20, axis=0))
    np.testing.assert_allclose(swapped.separation / size, answer.separation / size, atol=1e-9)
    move = Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    moved = rig.find(cores, a, b, move @ turns, places @ move.T + (3.0, -2.0, 1.0))
    np.testing.assert_allclose(moved.separation / size, answer.separation / size, atol=1e-9)


def test_pushing_apart_along_the_normal_by_the_depth_makes_the_solids_touch(rig):
    cores = rig.polyhedra + rig.round
    a, b, turns, places, size = rig.sample(51, 1000, cores)
    answer = rig.find(cores, a, b, turns, places)
    places[:1000] -= answer.separation[:, None] * answer.normal
    touching = rig.find(cores, a, b, turns, places)
    assert (answer.separation < 0.0).sum() > 300
    assert np.abs(touching.separation / size).max() < 1e-9


def test_coherent_motion_takes_few_steps_and_the_same_answers(rig):
    cores = [rig.polyhedra[0], rig.polyhedra[6]]
    a, b, turns, places, _ = rig.sample(61, 500, cores)
    way = places[500:] - places[:500]
    places[500:] = places[:500] + 4.0 * way / np.linalg.norm(way, axis=1)[:, None]
    kept = arrays.allocate(Features, {"items": 500}, "cpu")
    rig.find(cores, a, b, turns, places, features=kept)
    from_scratch = kept.steps.numpy().mean()
    rng, steps = np.random.default_rng(0), []
    for _ in range(10):
        turns = turns @ Rotation.from_rotvec(0.01 * rng.normal(size=(1000, 3))).as_matrix()
        places += 0.01 * rng.normal(size=(1000, 3))
        warm = rig.find(cores, a, b, turns, places, features=kept)
        steps.append(kept.steps.numpy().mean())
        np.testing.assert_allclose(warm.separation, rig.find(cores, a, b, turns, places).separation, atol=1e-13)
    assert np.mean(steps) < 3.0
    assert np.mean(steps) < 0.5 * from_scratch


@wp.kernel(enable_backward=False)
def without_walking(items: Items, colliders: Colliders, places: Places, hulls: Hulls, separation: wp.array[real]):
    i = wp.tid()
    a = load(colliders, places, items.a[i], -1, places.position[items.a[i]])
    b = load(colliders, places, items.b[i], -1, places.position[items.a[i]])
    core, _pair, _steps = closest_cores(hulls, meeting_of(a, b, hulls), wp.vec2i(0, 0), 0)
    separation[i] = core.separation


@pytest.mark.parametrize("mode", MODES)
def test_a_walk_cut_off_at_once_gives_the_same_answer_by_trying_all_features(rig, mode):
    cores = rig.polyhedra[:7]
    a, b, turns, places, size = rig.sample(71, 500, cores, mode)
    geometry, where, items = rig.scene(cores, a, b, turns, places)
    separation = wp.zeros(500, dtype=real, device="cpu")
    inputs = [items, geometry.colliders, where, geometry.hulls, separation]
    wp.launch(without_walking, dim=500, inputs=inputs, device="cpu")
    expected = rig.find(cores, a, b, turns, places).separation
    np.testing.assert_allclose(separation.numpy() / size, expected / size, atol=1e-8)


def test_features_that_do_not_exist_are_not_started_from(rig):
    cores = rig.polyhedra[:2]
    a, b, turns, places, _ = rig.sample(81, 100, cores)
    kept = arrays.allocate(Features, {"items": 100}, "cpu")
    kept.a.assign(np.random.default_rng(0).integers(-1000, 1000, 100).astype(np.int32))
    kept.b.assign(np.full(100, 4 * 5 + 3, dtype=np.int32))
    strange = rig.find(cores, a, b, turns, places, features=kept)
    np.testing.assert_allclose(strange.separation, rig.find(cores, a, b, turns, places).separation, atol=1e-13)


def test_items_far_apart_or_of_other_kinds_are_left_alone(rig):
    cores = [rig.polyhedra[0], rig.round[0]]
    places = np.array([(0, 0, 0), (0, 0, 0), (9, 0, 0), (1.2, 0, 0)], dtype=float)
    turns = np.tile(np.eye(3), (4, 1, 1))
    answer = rig.find(cores, [0, 0], [0, 1], turns, places, gap=0.1)
    np.testing.assert_allclose(answer.separation, (BEYOND, -0.1), atol=1e-15)
    none = wp.zeros(81, dtype=wp.int32, device="cpu")
    assert not rig.find(cores, [0, 0], [0, 1], turns, places, handles=none).separation.any()


def test_the_kinds_are_ordered_pairs_with_a_polyhedron(rig):
    polyhedra = {solid.BOX, solid.HULL}
    assert all(low <= high and high in polyhedra for low, high in VClip.kinds)
    assert len(VClip.kinds) == 7
    assert VClip.marks().sum() == 2 * 7 - 2
