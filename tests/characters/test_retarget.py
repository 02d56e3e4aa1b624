import numpy as np
import pytest

import rattleback as rb
from rattleback.characters import Clip, Joint, Skeleton, person, retarget
from rattleback.characters.motion.footing import slide, soles
from rattleback.characters.motion.ground import where
from rattleback.characters.person import LEGS


@pytest.fixture(scope="module")
def walk() -> Clip:
    return person(1.75).clips["walk"]


def stretched(skeleton: Skeleton, seed: int) -> Skeleton:
    """Another skeleton with the same joints: bones of other lengths, arms down, every frame turned anew."""
    draw = np.random.default_rng(seed)
    turns = dict(zip(skeleton.names, rb.rotation.random(len(skeleton), seed), strict=True))
    frames = skeleton.forward(skeleton.rest)
    joints = []
    for joint in skeleton.joints:
        turn, above = turns[joint.name], turns.get(joint.parent, np.array([0, 0, 0, 1.0]))
        way = frames[joint.name][:3, 3] - (frames[joint.parent][:3, 3] if joint.parent else 0.0)
        size = 1.0 if not joint.parent else draw.uniform(0.8, 1.2)
        inward = rb.rotation.conjugate(above)
        place = rb.rotation.rotate(inward, size * way)
        joints.append(Joint(joint.name, joint.parent, place, rb.rotation.multiply(inward, turn), end=joint.end))
    return Skeleton(joints, f"stretched {seed}")


def test_there_and_back_is_the_same(walk: Clip) -> None:
    other = stretched(walk.skeleton, 1)
    back = retarget(retarget(walk, other), walk.skeleton)
    times = walk.frames
    found, wanted = (c.skeleton.matrices(c.pose(times)) for c in (back, walk))
    np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize("seed", [2, 3])
def test_matched_bones_point_the_same_way_whatever_the_frames(walk: Clip, seed: int) -> None:
    other = stretched(walk.skeleton, seed)
    found = retarget(walk, other)
    for upper, lower in (("LeftLeg", "LeftFoot"), ("RightArm", "RightForeArm")):
        ways = []
        for clip in (walk, found):
            frames = clip.skeleton.forward(clip.pose(0.4))
            way = frames[lower][:3, 3] - frames[upper][:3, 3]
            ways.append(way / np.linalg.norm(way))
        np.testing.assert_allclose(ways[0], ways[1], atol=1e-9)


def test_a_smaller_person_takes_smaller_steps_and_keeps_its_feet(walk: Clip) -> None:
    small = person(1.2)
    found = retarget(walk, small.skeleton, legs=LEGS)
    poses = found.pose(found.frames)
    place = where(small.skeleton, poses)[0]
    gone = where(walk.skeleton, walk.pose([0.0, walk.duration]))[0]
    assert np.isclose(np.linalg.norm(place[-1] - place[0]), 1.2 / 1.75 * np.linalg.norm(gone[1] - gone[0]), rtol=1e-3)
    assert max(slide(small.skeleton, poses, leg, found.frame_time) for leg in LEGS) < 0.005
    assert abs(min(soles(small.skeleton, poses, leg)[..., 2].min() for leg in LEGS)) < 0.03


def test_joints_are_matched_by_plain_names_or_as_said(walk: Clip) -> None:
    other = Skeleton([Joint("mixamorig:hips"), Joint("mixamorig:Left_UpLeg", "mixamorig:hips", (0, 0, -1)), Joint("x")])
    assert rb.characters.motion.retarget.match_names(walk.skeleton, other) == {
        "Hips": "mixamorig:hips",
        "LeftUpLeg": "mixamorig:Left_UpLeg",
    }
    with pytest.raises(rb.InputError, match="No joint of 'person' has a name as one of 'odd'; give names="):
        retarget(walk, Skeleton([Joint("Q")], "odd"))
    with pytest.raises(rb.InputError, match="so there are no legs to compare"):
        retarget(walk, Skeleton([Joint("Hips")], "lone"))
