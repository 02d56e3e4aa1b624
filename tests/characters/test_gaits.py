from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.characters import Clip, Cycle, Joint, Leg, Limb, Locomotion, Skeleton, load, person, tube_skin
from rattleback.characters.motion.footing import slide, soles
from rattleback.characters.motion.ground import grounded, moved, where
from rattleback.characters.person import LEGS

CMU = 0.0254 / 0.45
CMU_LEGS = [Leg(Limb(f"{side}UpLeg", f"{side}Leg", f"{side}Foot"), f"{side}ToeBase") for side in ("Left", "Right")]


@pytest.fixture(scope="module")
def figure() -> rb.characters.Figure:
    return person(1.8)


@pytest.fixture(scope="module")
def gaits(figure: rb.characters.Figure) -> Locomotion:
    walk, run = (endless(figure.clips[name]) for name in ("walk", "run"))
    stand = Cycle.still(figure.skeleton, grounded(figure.skeleton, figure.clips["stand"].pose(0.0)))
    return Locomotion([walk, stand, run], LEGS)


def endless(clip: Clip) -> Cycle:
    """A cycle of a clip that is one stride: three of them one after the other, so that each foot comes down twice."""
    times = np.arange(0.0, clip.duration, clip.frame_time)
    place, _ = where(clip.skeleton, clip.pose([0.0, clip.duration]))
    parts = [moved(clip.skeleton, clip.pose(times), k * (place[1] - place[0])) for k in range(3)]
    joined = rb.characters.Pose(
        *(np.concatenate([getattr(p, n) for p in parts]) for n in ("rotation", "translation", "scale"))
    )
    return Cycle.from_clip(Clip.from_poses(clip.skeleton, joined, clip.frame_time), LEGS)


def test_a_person_is_as_tall_as_said_and_stands_on_the_ground(figure: rb.characters.Figure) -> None:
    points = figure.skin.vertices(figure.clips["stand"].pose(0.0))
    assert abs(points[:, 2].max() - 1.8) < 0.15
    assert abs(points[:, 2].min()) < 0.06
    assert list(figure.clips) == ["stand", "walk", "run", "march", "wave", "crouch", "sit"]
    tree = figure.skeleton.tree()
    knees = [tree.coordinates.index(f"{side}Leg.turn_y") for side in ("Left", "Right")]
    for clip in figure.clips.values():  # knees bend one way
        q = figure.skeleton.coordinates(clip.pose(clip.frames))[:, knees]
        assert (q >= tree.lower[knees] - 1e-9).all()
        assert (q <= tree.upper[knees]).all()


def test_a_cycle_goes_as_fast_as_its_clip_and_closes(figure: rb.characters.Figure) -> None:
    clip = figure.clips["walk"]
    cycle = endless(clip)
    way = where(figure.skeleton, clip.pose([0.0, clip.duration]))[0]
    assert np.isclose(cycle.speed, np.linalg.norm(way[1] - way[0]) / clip.duration, rtol=0.03)
    near = cycle.pose([1e-6, 1.0 - 1e-6])
    assert (near.rotation[0] * near.rotation[1]).sum(axis=-1).min() > 1 - 1e-6
    np.testing.assert_allclose(near.translation[0], near.translation[1], atol=1e-4)


def test_weights_give_the_speed_that_is_asked_for(gaits: Locomotion) -> None:
    speeds = np.linspace(0.0, gaits.fastest, 40)
    weights = gaits.weights(speeds)
    np.testing.assert_allclose(weights.sum(axis=0), 1.0, atol=1e-12)
    strides = np.tensordot([c.stride for c in gaits.cycles], weights, axes=1)
    np.testing.assert_allclose(strides * gaits.rate(speeds), speeds, atol=1e-9)
    assert (np.diff(strides * gaits.rate(speeds)) > 0).all()


def test_the_ends_of_a_blend_are_the_cycles_to_the_bit(gaits: Locomotion) -> None:
    for cycle in gaits.cycles:
        found, wanted = gaits.pose(0.3, cycle.speed), cycle.pose(0.3)
        assert np.array_equal(found.rotation, wanted.rotation)
        assert np.array_equal(found.translation, wanted.translation)


def test_a_figure_goes_along_a_path(gaits: Locomotion) -> None:
    clip = gaits.along([(0, 0), (4, 0), (4, 3)], 1.2)
    places, headings = where(clip.skeleton, clip.pose(clip.frames))
    assert np.linalg.norm(places[-1] - (4, 3)) < 0.1
    assert abs(headings[-1] - np.pi / 2) < 0.15
    assert abs(clip.duration - 7.0 / 1.2) < 0.1


@pytest.mark.parametrize(
    ("path", "speed"),
    [
        ([(0, 0), (6, 0)], 1.2),
        ([(0, 0), (2, 0), (2, 2), (0, 2)], 1.2),
        ([(0, 0), (6, 0)], lambda gone: min(1.2, 0.1 + 0.8 * gone)),
    ],
)
def test_feet_stay_where_they_stand(gaits: Locomotion, path: list[tuple[float, float]], speed: Any) -> None:
    clip = gaits.along(path, speed)
    poses = clip.pose(clip.frames)
    for leg in LEGS:
        assert slide(clip.skeleton, poses, leg, clip.frame_time, slow=0.25) < 0.005
        # A foot of a walk stands for three fifths of the time, and then neither heel nor ball moves.
        steps = np.linalg.norm(np.diff(soles(clip.skeleton, poses, leg)[..., :2], axis=0), axis=-1)
        assert (steps.min(axis=1) < 1e-4).mean() > 0.55


def test_speed_along_a_path_may_change(gaits: Locomotion) -> None:
    clip = gaits.along([(0, 0), (6, 0)], lambda gone: 0.5 + 0.5 * gone)
    x = where(clip.skeleton, clip.pose(clip.frames))[0][:, 0]
    late, early = (np.polyfit(clip.frames[part], x[part], 1)[0] for part in (slice(-30, None), slice(0, 60)))
    assert late > 2.0 * early > 0.5


def test_captured_walk_and_run_blend_and_keep_their_feet(data: Path) -> None:
    clips = [
        load(data / "bvh" / name).in_world(unit=CMU).clip() for name in ("cmu_02_01_walk.bvh", "cmu_02_03_run.bvh")
    ]
    skeleton = clips[0].skeleton
    cycles = [
        Cycle.from_clip(Clip(skeleton, c.tracks, c.name, c.frame_time), CMU_LEGS, start=c.frame_time) for c in clips
    ]
    assert 1.0 < cycles[0].speed < 1.3
    assert 2.5 < cycles[1].speed < 3.0
    clip = Locomotion(cycles, CMU_LEGS).along([(0, 0), (6, 0)], 1.8)
    poses = clip.pose(clip.frames)
    assert max(slide(skeleton, poses, leg, clip.frame_time) for leg in CMU_LEGS) < 0.005


def test_what_is_no_gait_is_refused(figure: rb.characters.Figure, gaits: Locomotion) -> None:
    with pytest.raises(rb.InputError, match="Clip 'wave' has no whole stride between"):
        Cycle.from_clip(figure.clips["wave"], LEGS)
    with pytest.raises(rb.InputError, match="A cycle has one pose"):
        Cycle(figure.skeleton, figure.clips["walk"].pose([0.0]), 1.0, 1.0)
    with pytest.raises(rb.InputError, match="two cycles of the same speed"):
        Locomotion([gaits.cycles[1], gaits.cycles[1]], LEGS)
    with pytest.raises(rb.InputError, match="one cycle at least, and all of them of one skeleton"):
        Locomotion([gaits.cycles[1], endless(person().clips["walk"])], LEGS)
    with pytest.raises(rb.InputError, match="The path has shape"):
        gaits.along([(0, 0, 0), (1, 1, 1)], 1.0)
    with pytest.raises(rb.InputError, match="The path stays at point 0"):
        gaits.along([(0, 0), (0, 0)], 1.0)
    with pytest.raises(rb.InputError, match="does not arrive: at .* its speed is 0"):
        gaits.along([(0, 0), (2, 0)], lambda gone: 1.0 if gone < 1.0 else 0.0)


def test_tubes_enclose_their_bones_and_need_some() -> None:
    skeleton = Skeleton([Joint("a"), Joint("b", "a", (0, 0, 1.0)), Joint("c", "b", (1.0, 0, 0))])
    skin = tube_skin(skeleton, {"a": 0.1, "b": 0.2})
    assert np.isclose(skin.points[:, 2].min(), -0.1)
    assert np.isclose(skin.points[:, 0].max(), 1.2)
    np.testing.assert_allclose(skin.vertices(skeleton.rest), skin.points, atol=1e-14)
    with pytest.raises(rb.InputError, match="The radius of the bones at joint 'b'"):
        tube_skin(skeleton, {"a": 0.1})
    with pytest.raises(rb.InputError, match="has no bones of any length"):
        tube_skin(Skeleton([Joint("a")]), 0.1)
