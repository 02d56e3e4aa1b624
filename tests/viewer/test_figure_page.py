"""The page of a figure: what is drawn is the skin of the clips, of the crowd or of the bodies that fall."""

import time

import numpy as np
import pytest

import rattleback as rb
from rattleback.characters import Joint, Skeleton, Skin, person
from rattleback.viewer.figure.loop import Loop
from rattleback.viewer.figure.page import FigurePage
from rattleback.viewer.figure.skins import BANDS, bands, compact, influence, welded

pytest.importorskip("viser")


class Standing:
    """A page that stands still, with its commands done at once."""

    def __init__(self, page):
        self.page = page

    def __getattr__(self, name):
        return getattr(self.page, name)

    def done(self, act):
        return self.page.do(act).result(60.0)

    def at(self, phase):
        """Take the clips to a phase, by hand."""
        self.done(lambda: self.page._scrub(phase))


@pytest.fixture(scope="module")
def figure():
    return person()


@pytest.fixture
def open_figure():
    pages = []

    def go(*arguments, **wishes):
        pages.append(FigurePage(*arguments, **{"playing": False} | wishes))
        return Standing(pages[-1])

    yield go
    for page in pages:
        page.close()


@pytest.fixture
def page(open_figure, figure):
    return open_figure(figure, clip="walk")


def drawn(page):
    """Vertices of the figure on the page."""
    return np.array(page.stage.look.pieces[0][0].handle.vertices)


def skinned(figure, pose, method="linear"):
    """Vertices of the figure as the library has them, without doubles, in no order."""
    return np.unique(figure.skin.vertices(pose, method).astype(np.float32).round(5), axis=0)


@pytest.mark.parametrize("method", ["linear", "dual_quaternion"])
def test_the_mesh_is_the_skin_of_the_clip(page, figure, person, method):
    person.turn(page.panel.method, method)
    person.turn(page.panel.travels, True)
    page.at(0.3)
    clip = figure.clips["walk"]
    pose = clip.pose(0.3 * clip.duration)
    apart = page.stage.pose.translation[0] - pose.translation[0]
    found = np.unique((drawn(page) - apart).astype(np.float32).round(5), axis=0)
    wanted = skinned(figure, pose, method)
    assert abs(len(found) - len(wanted)) < 0.02 * len(wanted)  # some differ by the last digit
    np.testing.assert_allclose([found.min(0), found.max(0)], [wanted.min(0), wanted.max(0)], atol=2e-5)
    assert page.panel.phase.value == 0.3
    assert not page.playing


def test_sliders_blend_clips_and_the_drop_down_plays_one_alone(page, figure, person, until):
    person.turn(page.panel.weights["walk"], 0.5)
    person.turn(page.panel.weights["run"], 0.5)
    page.at(0.5)
    assert page.stage.playback.shares == {"walk": 0.5, "run": 0.5}
    one, other = (figure.clips[name].pose(0.5 * figure.clips[name].duration) for name in ("walk", "run"))
    half = rb.characters.blend([one, other], [0.5, 0.5])
    np.testing.assert_allclose(np.abs((page.stage.pose.rotation * half.rotation).sum(axis=-1)), 1.0, atol=1e-12)
    assert "50% walk + 50% run" in page.panel.reading.content
    person.turn(page.panel.clip, "wave")
    until(lambda: page.panel.weights["wave"].value == 1.0)
    assert page.panel.weights["run"].value == 0.0
    until(lambda: page.stage._from is None)
    wave = figure.clips["wave"].pose(0.5 * figure.clips["wave"].duration)
    np.testing.assert_allclose(page.stage.pose.rotation, wave.rotation, atol=1e-12)


def test_time_goes_on_while_it_plays_as_fast_as_it_should(page, person, until):
    person.turn(page.panel.speed, 2.0)
    person.press(page.panel.play)
    until(lambda: page.stage.playback.phase > 0.2)
    person.press(page.panel.play)
    until(lambda: page.panel.play.label == "Play")
    assert page.stage.playback.speed == 2.0


def test_double_vertices_are_one_and_bands_of_weight_are_all_faces(figure):
    skin = figure.skin
    twice = Skin(
        skin.skeleton, np.tile(skin.points, (2, 1)), np.concatenate([skin.faces, skin.faces + len(skin.points)]),
        joints=np.tile(skin.joints, (2, 1)), weights=np.tile(skin.weights, (2, 1)),
    )  # fmt: skip
    assert len(welded(twice).points) == len(welded(skin).points)
    joint = figure.skeleton.number("LeftLeg")
    parts = bands(skin, joint)
    assert sum(int(rows.sum()) for rows, _ in parts) == len(skin.faces)
    share = influence(skin, joint)[skin.faces].mean(axis=1)
    means = [share[rows].mean() for rows, _ in parts]
    assert means == sorted(means)
    assert means[0] == 0.0
    assert all(np.ptp(share[rows]) <= 1.0 / BANDS + 1e-9 for rows, _ in parts)
    faces, rows = compact(skin.faces[parts[-1][0]])
    np.testing.assert_array_equal(skin.points[rows][faces], skin.points[skin.faces[parts[-1][0]]])


def test_a_click_chooses_the_joint_and_its_weights_are_shown(page, figure, person, until):
    head = page.stage.bones.places[figure.skeleton.number("Head")] + (0, 0, 0.1)
    page.done(lambda: page._pick((np.add(head, (3.0, 0, 0)), np.array([-1.0, 0, 0]))))
    assert page.panel.joint.value == "Head"
    person.turn(page.panel.influence, True)
    until(lambda: len(page.stage.look.pieces[0]) > 1)
    page.at(0.6)
    vertices = np.concatenate([np.array(piece.handle.vertices) for piece in page.stage.look.pieces[0]])
    whole = page.stage.look.last[0]
    np.testing.assert_allclose([vertices.min(0), vertices.max(0)], [whole.min(0), whole.max(0)], atol=1e-5)
    person.turn(page.panel.bones, True)
    until(lambda: page.stage.bones.visible)
    place = page.stage.bones.places[figure.skeleton.number("LeftHand")]
    page.done(lambda: page._pick((np.add(place, (0, 3.0, 0)), np.array([0, -1.0, 0]))))
    assert page.panel.joint.value == "LeftHand"
    page.done(lambda: page._pick((np.add(place, (0, 3.0, 0)), np.array([0, 1.0, 0]))))
    assert page.panel.joint.value == "none"


def test_a_crowd_is_the_skin_of_every_figure_for_a_few_bytes(page, figure):
    page.at(0.0)
    page.panel.crowd.value = 100
    page.done(page._gather)
    throng = page.stage.throng
    page.at(0.5)
    assert throng.frames == 33  # a second and a tenth
    assert page.stage.sent == 4 * 33 * 12  # four places for each frame are enough for a hundred figures
    node = throng._nodes[0][0]
    page.done(lambda: setattr(page.stage, "method", "dual_quaternion"))
    page.done(page.stage.renew)
    assert throng._nodes[0][0] is node  # the same meshes, with other vertices
    wanted = skinned(figure, page.stage.playback.in_place(0.0), "dual_quaternion")
    np.testing.assert_allclose(np.array(node.vertices).max(0), wanted.max(0), atol=1e-4)
    page.done(lambda: setattr(page.stage, "method", "linear"))
    page.done(page.stage.renew)
    met = np.zeros(100, dtype=int)
    tick = int(0.5 * 33 + 1e-9)
    for k, node in enumerate(throng._nodes[0]):
        mesh = np.unique(np.array(node.vertices).round(4), axis=0)
        pose = page.stage.playback.in_place(k / 33)
        wanted = skinned(figure, pose)
        np.testing.assert_allclose([mesh.min(0), mesh.max(0)], [wanted.min(0), wanted.max(0)], atol=1e-4)
        here = throng._order[(k - tick) % 33 :: 33]
        np.testing.assert_allclose(np.array(node.batched_positions)[: len(here)], throng.homes[here], atol=1e-5)
        met[here] += 1
    assert met.tolist() == [1] * 100


def test_a_crowd_that_travels_stays_on_its_field(page, person, until):
    person.turn(page.panel.travels, True)
    page.panel.crowd.value = 9
    page.done(page._gather)
    throng, playback = page.stage.throng, page.stage.playback
    before = throng._places(0.0)
    throng._rounds = 40.0
    after = throng._places(0.0)
    assert np.abs(after[:, :2]).max() <= 0.5 * throng.field
    ahead = np.mod(after - before - playback.way(40.0) + 0.5 * throng.field, throng.field) - 0.5 * throng.field
    np.testing.assert_allclose(ahead[:, :2], 0.0, atol=1e-9)


def test_the_figure_falls_with_its_skin_and_comes_back(page, figure, person, until):
    page.at(0.2)
    before = page.stage.pose

    def begin():
        page._fall()
        page.page.playing = False
        return page.stage.fall.pose()

    first = page.done(begin)
    np.testing.assert_allclose(np.abs((first.rotation * before.rotation).sum(axis=-1)), 1.0, atol=1e-9)
    fall = page.stage.fall
    page.done(lambda: [page.stage.fall.sim.step() for _ in range(360)])
    assert fall.doll.fallen(fall.sim)
    assert fall.sim.report.position_error < 1e-4
    page.done(lambda: page.stage.tick(0.0, True))
    wanted = skinned(figure, fall.pose())
    found = drawn(page)
    np.testing.assert_allclose([found.min(0), found.max(0)], [wanted.min(0), wanted.max(0)], atol=2e-5)
    person.press(page.panel.rise)
    until(lambda: not fall.active and page.stage._from is None)
    np.testing.assert_allclose(page.stage.pose.rotation, page.stage.playback.pose().rotation, atol=1e-12)


def test_a_drag_pushes_the_body_that_is_nearest(page, figure):
    page.done(lambda: page.stage.choose_clip("stand"))
    hand = page.stage.bones.places[figure.skeleton.number("RightForeArm")]

    def pull():
        page.stage._from = None
        drag = (hand, np.add(hand, (0.4, 0.0, 0.0)), 3.0)
        page.pushes.drag(7, "start", *drag)
        held = page.pushes._aims[7][0]
        page.pushes.drag(7, "update", *drag)
        page.pushes.drag(7, "end", *drag)
        page.page.playing = False
        fall = page.stage.fall
        return held, fall.active, np.array(fall.sim.momentum().linear)

    held, falls, momentum = page.done(pull)
    assert falls
    assert held.body in ("figure_RightForeArm", "figure_RightArm")
    np.testing.assert_allclose(momentum, [held.mass * 3.0 / held.size * 0.4, 0, 0], atol=1e-6)
    assert not page.pushes._aims


def test_a_click_on_the_ground_is_where_it_goes_and_from_there_it_falls(page, figure):
    page.done(lambda: page._command("sit"))
    page.done(lambda: setattr(page.page, "playing", False))
    assert page.panel.acts.value
    eye, goal = np.array([4.0, -3.0, 3.0]), np.array([0.9, 0.5, page.stage.room.low[2]])

    def go():
        page._pick((eye, goal - eye))
        page.page.playing = False
        for _ in range(36):
            page.stage.tick(0.1, True)

    page.done(go)
    np.testing.assert_allclose(page.stage.act.actor.place, goal[:2], atol=0.05)
    np.testing.assert_allclose(page.stage.pose.translation[0, :2], goal[:2], atol=0.15)
    assert page.stage.act.actor.slide < 0.01
    assert "at (0.9, 0.5) m" in page.panel.reading.content

    def walk_on_and_fall():
        page._command("walk", to=(5.0, 0.5))
        page.page.playing = False
        for _ in range(20):
            page.stage.tick(0.05, True)
        page._fall()
        page.page.playing = False
        return np.array(page.stage.fall.sim.momentum().linear)

    momentum = page.done(walk_on_and_fall)
    assert 0.5 < momentum[0] / sum(part.mass for part in page.stage.fall.doll.parts) < 2.0  # it walked [m/s]
    assert page.stage.ground(eye, -goal) is None
    page.at(0.5)
    assert page.stage.act is None
    assert not page.panel.acts.value


def test_joints_of_some_strength_keep_the_pose_longer(page, figure):
    turned = {}

    def begin():
        page._fall()
        page.page.playing = False

    for strength in (0.0, 0.3):
        page.panel.strength.value = strength
        page.done(begin)
        fall = page.stage.fall
        first = fall.pose()
        fall.sim.step(48)
        apart = np.abs((fall.pose().rotation * first.rotation).sum(axis=-1))
        turned[strength] = float(np.degrees(2 * np.arccos(np.clip(apart, 0, 1)))[1:].max())
        page.done(page.stage.rise)
    assert turned[0.3] < 0.3 * turned[0.0]


def test_files_take_the_place_of_the_figure_and_bad_ones_leave_it(page, figure, tmp_path):
    arm = Skeleton([Joint("Up"), Joint("Fore", "Up", (0, 1.0, 0)), Joint("Hand", "Fore", (0, 0.8, 0), end=True)], "arm")
    still = rb.characters.Clip.from_keys(arm, {0.0: {}, 0.5: {"Up": (0, 0, 0.6, 0.8)}}, "bend")
    rb.characters.Figure(arm, {"bend": still}).save(tmp_path / "arm.bvh")
    for name, content, words in (
        ("../walk .bvh", b"HIERARCHY\nROOT", "The BVH file 'walk .bvh' cannot be read at line 2"),
        ("odd.txt", b"hello", "neither BVH, which begins with HIERARCHY, nor glTF"),
    ):
        with pytest.raises(rb.FileError, match=words):
            page.done(lambda name=name, content=content: page.open_bytes(name, content))
        assert page.stage.figure is figure
    page.panel.crowd.value = 4
    page.done(page._gather)
    page.done(lambda: page.open_bytes("arm.bvh", (tmp_path / "arm.bvh").read_bytes()))
    assert page.stage.figure.skeleton.names == ("Up", "Fore", "Fore_end")
    assert list(page.panel.weights) == ["arm"]
    assert page.panel.crowd.value == 1
    assert page.panel.look.options == ("tubes", "none")
    with pytest.raises(rb.InputError, match="has no left and no right leg"):
        page.done(lambda: page._command("walk", to=(1.0, 0.0)))
    assert not page.panel.acts.value


def test_a_page_that_is_late_still_sends_what_it_draws(page, visitor):
    tick = page.stage.tick

    def slow(seconds, playing):
        time.sleep(0.08)
        tick(seconds, playing)

    with visitor.enter(page) as socket:
        visitor.look(socket)
        page.page.stage.tick, page.page.playing = slow, True
        end, met = time.monotonic() + 30.0, 0
        while met < 5 and time.monotonic() < end:
            met += len(socket.recv(timeout=10.0)) > 20_000  # as long as vertices are, packed
    assert met == 5


def test_nonsense_is_refused_before_anything_is_served(figure):
    with pytest.raises(rb.InputError, match="a figure's page has no option 'clips'"):
        FigurePage(figure, clips="walk")
    with pytest.raises(rb.UnknownName, match="The figure has no clip 'hop'"):
        FigurePage(figure, clip="hop")
    with pytest.raises(rb.InputError, match="The crowd is 0"):
        FigurePage(figure, crowd=0)


def test_a_frame_that_fails_is_told_once_and_the_loop_goes_on(until):
    told, frames = [], []

    def frame(seconds):
        frames.append(seconds)
        raise ValueError("no picture")

    loop = Loop(frame, told.append)
    loop.start()
    until(lambda: len(frames) > 3)
    assert loop.do(lambda: 7).result(5.0) == 7
    with pytest.raises(rb.InputError, match="not that"):
        loop.do(lambda: (_ for _ in ()).throw(rb.InputError("not that"))).result(5.0)
    loop.close()
    assert told == ["This is a fault of rattleback: ValueError: no picture", "not that"]
