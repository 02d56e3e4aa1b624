from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb
from rattleback.characters import Joint, Pose, Skeleton, load
from rattleback.characters.motion.blend import blend, layer, mix
from rattleback.characters.motion.footing import Leg, planted, slide, soles, standing
from rattleback.characters.motion.ground import grounded, hips_of, moved, where
from rattleback.characters.motion.limb import Limb, reached

# Length of a unit of the CMU files [m], that of their skeleton of 45 units a 2.54 m.
CMU = 0.0254 / 0.45
LEGS = [Leg(Limb(f"{side}UpLeg", f"{side}Leg", f"{side}Foot"), f"{side}ToeBase") for side in ("Left", "Right")]


@pytest.fixture
def biped() -> Skeleton:
    joints = [Joint("Hips", "", (0, 0, 1.0)), Joint("Chest", "Hips", (0, 0, 0.5))]
    for side, y in (("Left", 0.1), ("Right", -0.1)):
        joints += [
            Joint(f"{side}UpLeg", "Hips", (0, y, 0)),
            Joint(f"{side}Leg", f"{side}UpLeg", (0.02, 0, -0.5)),
            Joint(f"{side}Foot", f"{side}Leg", (-0.02, 0, -0.45)),
            Joint(f"{side}ToeBase", f"{side}Foot", (0.15, 0, -0.05)),
        ]
    return Skeleton(joints, "biped")


@given(st.tuples(*[st.floats(-0.5, 0.5)] * 3), st.integers(0, 99))
def test_a_limb_reaches_what_is_not_too_far_and_keeps_its_end_oriented(offset: tuple[float, ...], seed: int) -> None:
    skeleton = Skeleton(
        [Joint("a"), Joint("b", "a", (0, 0, 0.5)), Joint("c", "b", (0.3, 0, 0.2)), Joint("d", "c", (0.1, 0, 0))]
    )
    pose = Pose(rb.rotation.random(4, seed), skeleton.rest.translation, skeleton.rest.scale)
    goal = np.array([0.3, 0.1, 0.2]) + 0.5 * np.array(offset)
    before, after = skeleton.forward(pose), skeleton.forward(reached(skeleton, pose, Limb("a", "b", "c"), goal))
    long, short = 0.5 + np.hypot(0.3, 0.2), 0.5 - np.hypot(0.3, 0.2)
    away = np.linalg.norm(goal)
    if short < away < long - 1e-9:
        np.testing.assert_allclose(after["c"][:3, 3], goal, atol=1e-7)
    else:
        assert np.isclose(np.linalg.norm(after["c"][:3, 3] - goal), max(away - long, short - away), atol=1e-7)
    np.testing.assert_allclose(after["c"][:3, :3], before["c"][:3, :3], atol=1e-12)


def test_a_limb_of_joints_that_do_not_hang_on_each_other_is_refused(biped: Skeleton) -> None:
    with pytest.raises(rb.InputError, match="Joint 'RightLeg' of a limb does not hang on 'LeftUpLeg'"):
        Limb("LeftUpLeg", "RightLeg", "RightFoot").numbers(biped)


def test_a_blend_with_one_weight_is_that_pose_to_the_bit(biped: Skeleton) -> None:
    poses = [Pose(rb.rotation.random(10, seed), biped.rest.translation + seed, biped.rest.scale) for seed in range(3)]
    for k, pose in enumerate(poses):
        found = blend(poses, np.eye(3)[k])
        assert all(np.array_equal(getattr(found, p), getattr(pose, p)) for p in ("rotation", "translation", "scale"))
    # Halfway between two rotations the mean is the middle of the arc.
    half, arc = blend(poses[:2], [2.0, 2.0]), mix(poses[0], poses[1], 0.5)
    assert np.abs((half.rotation * arc.rotation).sum(axis=-1)).min() > 1 - 1e-12
    np.testing.assert_allclose(half.translation, biped.rest.translation + 0.5)


def test_a_blend_without_weights_is_refused(biped: Skeleton) -> None:
    for weights in ([0.0], [1.0, 1.0], [-1.0]):
        with pytest.raises(rb.InputError, match="it needs one for each, none below zero, not all zero"):
            blend([biped.rest], weights)
    with pytest.raises(rb.InputError, match="it goes from 0 to 1"):
        mix(biped.rest, biped.rest, 1.5)


def test_a_layer_turns_a_branch_alone(biped: Skeleton) -> None:
    top = Pose(rb.rotation.random(10, 1), biped.rest.translation, biped.rest.scale)
    found = layer(biped, biped.rest, top, ["LeftLeg"])
    turned = [
        name
        for name, a, b in zip(biped.names, found.rotation, biped.rest.rotation, strict=True)
        if not np.array_equal(a, b)
    ]
    assert turned == ["LeftLeg", "LeftFoot", "LeftToeBase"]


def test_hips_are_found_moved_and_brought_back(biped: Skeleton) -> None:
    above = Skeleton(
        [
            Joint("Scene", "", (0, 0, 0), scale=(0.5, 0.5, 0.5)),
            *(Joint(j.name, j.parent or "Scene", j.translation) for j in biped.joints),
        ],
        "hung",
    )
    for skeleton in (biped, above):
        assert skeleton.names[hips_of(skeleton)] == "Hips"
        away = moved(skeleton, skeleton.rest, (3.0, -2.0), 1.2)
        place, heading = where(skeleton, away)
        np.testing.assert_allclose([*place, heading], [3.0, -2.0, 1.2], atol=1e-12)
        back = skeleton.matrices(grounded(skeleton, away))
        np.testing.assert_allclose(back, skeleton.matrices(skeleton.rest), atol=1e-12)


@pytest.mark.parametrize("name", ["cmu_02_01_walk.bvh", "cmu_02_03_run.bvh"])
def test_planted_feet_slide_less_than_five_millimetres(name: str, data: Path) -> None:
    figure = load(data / "bvh" / name).in_world(unit=CMU)
    skeleton, clip = figure.skeleton, figure.clip()
    poses = clip.pose(clip.frames[1:])  # the first frame is the pose of the skeleton
    held = planted(skeleton, poses, LEGS, clip.frame_time)
    before, after = ([slide(skeleton, p, leg, clip.frame_time) for leg in LEGS] for p in (poses, held))
    assert max(before) > 0.01
    assert max(after) < 0.005
    low = min(soles(skeleton, held, leg)[..., 2].min() for leg in LEGS)
    assert low > min(soles(skeleton, poses, leg)[..., 2].min() for leg in LEGS) - 1e-3


def test_a_figure_that_stands_has_both_feet_down(biped: Skeleton) -> None:
    still = Pose(
        *(np.tile(part, (5, 1, 1)) for part in (biped.rest.rotation, biped.rest.translation, biped.rest.scale))
    )
    assert all(standing(biped, still, leg, 0.01).all() for leg in LEGS)
    np.testing.assert_allclose(planted(biped, still, LEGS, 0.01).rotation, still.rotation, atol=1e-9)
    with pytest.raises(rb.InputError, match="Footing needs three frames"):
        standing(biped, still[:2], LEGS[0], 0.01)
