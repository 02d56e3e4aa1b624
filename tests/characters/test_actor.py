import re
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.characters import (
    Actor,
    Clip,
    Figure,
    Hurdle,
    Joint,
    Skeleton,
    anatomy,
    load,
    look_at,
    person,
    reach_for,
)
from rattleback.characters.motion.footing import slide, soles
from rattleback.characters.motion.ground import where

FILES = ["bvh/cmu_02_01_walk.bvh", "bvh/geno_stance.bvh", "gltf/CesiumMan.glb", "gltf/RiggedFigure.glb"]


@pytest.fixture(scope="module")
def figure() -> Figure:
    return person()


def places(clip: Clip) -> np.ndarray:
    return clip.skeleton.matrices(clip.pose(clip.frames))[..., :3, 3]


def still(clip: Clip, actor: Actor) -> list[float]:
    """For each foot, the part of the frames over which its heel or its ball moves by less than 0.1 mm."""
    paths = [soles(clip.skeleton, clip.pose(clip.frames), leg)[..., :2] for leg in actor.parts.legs]
    return [float((np.linalg.norm(np.diff(p, axis=0), axis=-1).min(axis=1) < 1e-4).mean()) for p in paths]


def test_a_figure_goes_where_it_is_told_as_one_motion_on_feet_that_stand(figure: Figure) -> None:
    actor = figure.do("walk", to=(1, 1)).do("run", to=[(4, 1), (4, 3)]).do("sit").do("walk", to=(3, 3), facing=3.0)
    clip = actor.clip()
    np.testing.assert_allclose(actor.place, (3, 3), atol=1e-9)
    assert np.isclose(actor.heading, 3.0, atol=2e-3)
    assert actor.idle
    assert actor.doing == ""
    points = places(clip)
    # No joint goes faster than a foot does that swings in a run: 2.4 times as fast as the run.
    fastest = 2.6 * np.linalg.norm(np.diff(where(clip.skeleton, clip.pose(clip.frames))[0], axis=0), axis=1).max()
    assert np.linalg.norm(np.diff(points, axis=0), axis=-1).max() < fastest
    assert actor.slide < 1e-6
    poses = clip.pose(clip.frames)
    assert max(slide(clip.skeleton, poses, leg, 1 / 60, slow=0.25) for leg in actor.parts.legs) < 0.005
    assert min(still(clip, actor)) > 0.5
    assert points[..., 2].min() > 0.0
    hips = points[:, 0, 2]
    assert hips.min() < 0.6 * hips[0]  # it sat


@pytest.mark.parametrize("name", [FILES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in FILES[1:])])
def test_figures_of_files_walk_and_turn_with_their_own_limbs(name: str, data: Path) -> None:
    found = load(data / name).in_world(height=1.7)
    actor = Actor(found, heading=0.3).do("walk", to=[(0.8, 0), (0.8, 0.8)]).do("stand", facing=0.3)
    clip = actor.clip()
    np.testing.assert_allclose(actor.place, (0.8, 0.8), atol=1e-9)
    assert actor.slide < 1e-6
    knees = []
    for leg in actor.parts.legs:  # knees are in front of the line from hip to ankle
        hip, knee, ankle = (
            places(clip)[:, found.skeleton.number(j)] for j in (leg.limb.upper, leg.limb.hinge, leg.limb.end)
        )
        heading = where(found.skeleton, clip.pose(clip.frames))[1]
        ahead = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
        knees.append((((knee - 0.5 * (hip + ankle))[:, :2]) * ahead).sum(axis=-1).min())
    assert min(knees) > -0.03


def test_what_is_told_meanwhile_goes_on_at_once_and_without_a_jump(figure: Figure) -> None:
    actor = Actor(figure).do("walk", to=(9, 0))
    before = [actor.advance(1 / 60) for _ in range(60)]
    actor.stop().do("walk", to=(0, 3))
    poses = [*before, *(actor.advance(1 / 60) for _ in range(60))]
    points = np.array([figure.skeleton.matrices(pose)[:, :3, 3] for pose in poses])
    jumps = np.linalg.norm(np.diff(points, n=2, axis=0), axis=-1).max(axis=1)
    assert jumps[58:62].max() < 1.2 * np.delete(jumps, range(58, 62)).max()
    assert actor.slide < 1e-6


def test_arms_wave_while_the_figure_walks(figure: Figure) -> None:
    plain = Actor(figure).do("walk", seconds=2).clip(1.1)
    waving = Actor(figure).do("wave", with_="right_arm").do("walk", seconds=2).clip(1.1)
    one, other = (figure.skeleton.matrices(c.pose(1.0))[:, 2, 3] for c in (plain, waving))
    hand, foot = figure.skeleton.number("RightHand"), figure.skeleton.number("LeftFoot")
    assert other[hand] > one[hand] + 0.4
    assert other[foot] == one[foot]


def test_a_head_looks_where_the_neck_lets_it(figure: Figure) -> None:
    parts, pose = anatomy(figure.skeleton), figure.clips["stand"].pose(0.0)
    head = figure.skeleton.number("Head")
    for point in ((3, 2, 1.5), (3, -2, 0.5), (2, 0, 2.5)):
        found, off = look_at(parts, pose, point)
        frame = figure.skeleton.matrices(found)[head]
        way = np.array(point) - frame[:3, 3]
        np.testing.assert_allclose(frame[:3, 0], way / np.linalg.norm(way), atol=1e-9)
        assert off < 1e-6
    behind = look_at(parts, pose, (-3, 0.1, 1.6))
    assert np.pi / 2 < np.pi - behind.off + 0.2 < np.pi
    assert look_at(parts, pose, (3, 2, 1.5), 0.0).pose.rotation.tolist() == pose.rotation.tolist()
    with pytest.raises(rb.InputError, match="'legs' has no head to look with"):
        look_at(anatomy(legs_alone()), legs_alone().rest, (1, 0, 0))


def test_a_hand_reaches_and_the_spine_helps_until_it_cannot(figure: Figure) -> None:
    parts, pose = anatomy(figure.skeleton), figure.clips["stand"].pose(0.0)
    hand, chest = figure.skeleton.number("LeftHand"), figure.skeleton.number("Chest")
    upright = figure.skeleton.matrices(pose)[chest, :3, :3]
    for point, bent in (((0.35, 0.2, 1.3), False), ((0.75, 0.1, 1.0), True)):
        found, off = reach_for(parts, pose, "left_hand", point)
        frames = figure.skeleton.matrices(found)
        np.testing.assert_allclose(frames[hand, :3, 3], point, atol=1e-6)
        assert off < 1e-6
        assert (np.abs(frames[chest, :3, :3] - upright).max() > 1e-3) == bent
    far = reach_for(parts, pose, "left_hand", (3, 0, 1))
    reached = figure.skeleton.matrices(far.pose)[hand, :3, 3]
    assert np.isclose(far.off, np.linalg.norm(reached - (3, 0, 1)))
    assert far.off > 1.0


@pytest.mark.parametrize("x", [1.3, pytest.param(1.7, marks=pytest.mark.slow)])
def test_feet_go_over_a_hurdle_and_those_that_stand_stay(figure: Figure, x: float) -> None:
    actor = Actor(figure)
    hurdle = Hurdle((x, 0), height=0.25, depth=0.12)
    actor.hurdles.append(hurdle)
    clip = actor.do("walk", to=(x + 0.8, 0)).clip()
    points = places(clip)
    for side in ("Left", "Right"):
        heel, ball = (points[:, figure.skeleton.number(side + end)] for end in ("Foot", "Toe"))
        sole = np.stack([heel - (0, 0, 0.042), ball], axis=1)  # joints above the lowest one, at rest
        path = np.linspace(sole[:, 0], sole[:, 1], 5, axis=1)
        above = np.abs(path[..., 0] - x) < 0.06
        assert above.any()
        assert path[above][:, 2].min() > 0.25
    assert actor.slide < 1e-6
    with pytest.raises(rb.InputError, match="The height of a hurdle"):
        Hurdle((0, 0), height=-1.0)


def test_own_gaits_are_used_where_a_figure_has_some(data: Path) -> None:
    found = load(data / "bvh" / "cmu_02_01_walk.bvh").in_world(height=1.7)
    own = Actor(found, clips={"walk": "cmu_02_01_walk"}).do("walk", seconds=3.0)
    other = Actor(Figure(found.skeleton)).do("walk", seconds=3.0)
    speeds = [np.linalg.norm(actor.advance(2.0).translation[0, :2]) / 2.0 for actor in (own, other)]
    assert speeds[0] > 1.1 * speeds[1]


def legs_alone() -> Skeleton:
    joints = [Joint("Hips", "", (0, 0, 1.0))]
    for side, y in (("Left", 0.1), ("Right", -0.1)):
        joints += [Joint(f"{side}UpLeg", "Hips", (0, y, 0)), Joint(f"{side}Leg", f"{side}UpLeg", (0.01, 0, -0.5))]
        joints += [Joint(f"{side}Foot", f"{side}Leg", (-0.01, 0, -0.5))]
    return Skeleton(joints, "legs")


def test_legs_alone_walk() -> None:
    actor = Actor(Figure(legs_alone())).do("walk", to=(1, 0))
    actor.clip()
    np.testing.assert_allclose(actor.place, (1, 0), atol=1e-9)


def test_figures_without_the_limbs_are_told_so(figure: Figure, arm: Skeleton, data: Path) -> None:
    with pytest.raises(rb.InputError, match="'arm' has no left and no right leg: below its hips, 'Hand_end', no chain"):
        Actor(Figure(arm))
    with pytest.raises(rb.InputError, match="'legs' has no right arm: no chain of three joints goes"):
        Actor(Figure(legs_alone())).do("reach", to=(1, 0, 1))
    with pytest.raises(rb.InputError, match="stands on its hands too, at rest"):
        Actor(load(data / "gltf" / "Fox.glb").in_world(height=0.6))
    turned = figure.skeleton.joints
    away = Joint("Hips", "", turned[0].translation, rb.rotation.quaternion_from_axis_angle((0, 0, 1), np.pi))
    with pytest.raises(rb.InputError, match="does not look along x with z up"):
        Actor(Figure(Skeleton([away, *turned[1:]])))


def test_commands_that_make_no_sense_are_refused(figure: Figure) -> None:
    actor = Actor(figure)
    for command, options, message in (
        ("walks", {}, "A figure cannot 'walks'. Did you mean 'walk'"),
        ("walk", {"to": (1, 2, 3, 4)}, "The to of 'walk' has shape"),
        ("sit", {"to": (1, 2)}, "The command 'sit' takes no to="),
        ("walk", {"fast": True}, "A command takes to=, with_=, speed=, seconds= and facing=, not fast="),
        ("reach", {"to": (1, 0, 1), "with_": "third_hand"}, "'third_hand' is no hand"),
        ("walk", {"speed": -1.0}, "The speed of 'walk'"),
        ("wave", {"with_": "Tail"}, "has no joint 'Tail'"),
    ):
        with pytest.raises((rb.InputError, rb.UnknownName), match=re.escape(message)):
            actor.do(command, **options)
    assert actor.idle
