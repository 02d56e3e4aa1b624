"""The clips of a figure under way: phases, courses, and the pose they make together."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.characters import Clip, Figure, Joint, Pose, Skeleton, Skin
from rattleback.viewer.figure.opening import ALL, TUBES, looks_of, room_of, staged
from rattleback.viewer.figure.playback import Playback

STRIDE, SWAY, FRAME = 1.2, 0.05, 1 / 60


def gait(skeleton, name, seconds, stride, turn):
    """A straight way with a sway of a quarter of a second beside it, and an arm that turns evenly."""
    times = np.arange(round(seconds / FRAME) + 1) * FRAME
    ways = np.tile(skeleton.rest.translation, (len(times), 1, 1))
    ways[:, 0] = np.stack([5.0 + stride * times / times[-1], SWAY * np.sin(8 * np.pi * times), 1.0 + 0 * times], axis=1)
    turns = np.tile(skeleton.rest.rotation, (len(times), 1, 1))
    turns[:, 1] = rb.rotation.quaternion_from_axis_angle((0, 0, 1), turn * times / times[-1])
    return Clip.from_poses(skeleton, Pose(turns, ways, skeleton.rest.scale), FRAME, name)


@pytest.fixture
def figure():
    skeleton = Skeleton([Joint("Hips"), Joint("Arm", "Hips", (0, 0.3, 0)), Joint("Leg", "Hips", (0, 0, -1.0))], "biped")
    clips = {"slow": gait(skeleton, "slow", 2.0, 0.5 * STRIDE, 1.0), "fast": gait(skeleton, "fast", 1.0, STRIDE, 2.0)}
    return Figure(skeleton, clips)


def test_the_course_is_the_way_without_the_sway(figure):
    playback = Playback(figure, "fast")
    phases = np.linspace(0.0, 1.0, 7)
    np.testing.assert_allclose(playback.way(phases), np.outer(phases, [STRIDE, 0, 0]), atol=0.2 * SWAY)
    np.testing.assert_allclose(playback.way(phases)[:, 0], STRIDE * phases, atol=1e-12)
    np.testing.assert_allclose(playback.way(2.25)[0], 2.25 * STRIDE, atol=1e-12)
    hips = playback.in_place(np.linspace(0, 1, 200)).translation[:, 0]
    np.testing.assert_allclose(hips[:, 0], 0.0, atol=1e-12)
    assert np.abs(hips[:, 1]).max() == pytest.approx(SWAY, rel=0.25)
    np.testing.assert_allclose(hips[:, 2], 1.0)


def test_one_clip_with_its_root_motion_is_the_clip_from_the_origin(figure):
    playback = Playback(figure, "fast")
    playback.travels, playback.phase = True, 0.4
    clip = figure.clips["fast"]
    np.testing.assert_array_equal(playback.pose().rotation, clip.pose(0.4 * clip.duration).rotation)
    apart = playback.pose().translation - clip.pose(0.4 * clip.duration).translation
    np.testing.assert_allclose(apart[0], [-5.0, 0, 0], atol=0.2 * SWAY)
    np.testing.assert_allclose(apart[1:], 0.0)


def test_clips_of_two_lengths_go_round_together_in_the_mean_of_their_times(figure):
    playback = Playback(figure, "slow")
    playback.weights = {"slow": 0.3, "fast": 0.3}
    assert playback.duration == pytest.approx(1.5)
    assert playback.advance(0.75)
    assert (playback.phase, playback.time) == (pytest.approx(0.5), pytest.approx(0.75))
    turn = rb.rotation.rotation_vector_from_quaternion(playback.pose().rotation[1])
    np.testing.assert_allclose(turn, [0, 0, 0.5 * (0.5 + 1.0)], atol=1e-3)  # half of each, half through
    np.testing.assert_allclose(playback.way(1.0), [0.75 * STRIDE, 0, 0], atol=0.2 * SWAY)


def test_clips_begin_again_or_end(figure):
    playback = Playback(figure, "fast")
    playback.advance(1.25)
    assert playback.phase == pytest.approx(0.25)
    playback.loop = False
    assert playback.advance(3.0)
    assert playback.phase == 1.0
    assert not playback.advance(1.0)
    playback.weights = dict.fromkeys(playback.weights, 0.0)
    np.testing.assert_array_equal(playback.pose().rotation, figure.skeleton.rest.rotation)
    with pytest.raises(rb.UnknownName, match="The figure has no clip 'hop'"):
        playback.choose("hop")


def test_the_unit_of_a_file_is_guessed_from_how_tall_that_makes_it():
    def tall(units, **given):
        joints = [Joint("Low", "", (0, 0, 0)), Joint("High", "Low", (0, units, 0)), Joint("Side", "Low", (0.1, 0, 0))]
        skeleton = staged(Figure(Skeleton(joints)), **given).skeleton
        return np.ptp(skeleton.matrices(skeleton.rest)[:, 2, 3])

    assert [tall(units) for units in (1.8, 79.0, 17.0)] == pytest.approx([1.8, 0.79, 1.75])
    assert tall(17.0, unit=0.1) == pytest.approx(1.7)
    assert tall(17.0, height=2.0) == pytest.approx(2.0)
    assert tall(0.0) == 0.0


def test_a_figure_with_several_skins_wears_all_of_them_and_one_without_has_tubes(figure):
    assert list(looks_of(figure)) == [TUBES]
    options = {"joints": [[0], [1], [2]], "weights": np.ones((3, 1))}
    skins = {name: Skin(figure.skeleton, np.eye(3), [[0, 1, 2]], name=name, **options) for name in ("shirt", "tubes")}
    looks = looks_of(Figure(figure.skeleton, figure.clips, skins))
    assert {name: len(worn) for name, worn in looks.items()} == {
        ALL: 2,
        "shirt": 1,
        "tubes": 1,
        "tubes around bones": 1,
    }
    room = room_of(Playback(figure, "fast"), [])
    np.testing.assert_allclose(room.low[2], 0.0, atol=1e-12)  # the leg ends one metre below the hips
