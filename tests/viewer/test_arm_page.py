"""The page of an arm: the arm follows the target, the target the joints, and every method is asked."""

import time

import numpy as np
import pytest

import rattleback as rb
from rattleback.kinematics import Look, Tree
from rattleback.kinematics.models import planar_2r
from rattleback.viewer.arm.page import ArmPage
from rattleback.viewer.arm.panel import PLACE, WHOLE
from rattleback.viewer.door import Door


@pytest.fixture
def open_arm():
    pages = []

    def go(*arguments, **wishes):
        pages.append(ArmPage(*arguments, **wishes))
        assert pages[-1].settle()
        return pages[-1]

    yield go
    for page in pages:
        page.close()


def tip(page):
    return page.stage.tree.forward(page.q, page.panel.tool.value)


class Drag:
    """What the page says while the target is dragged."""

    def __init__(self, phase):
        self.phase = phase


def dragged(page, phase, goal=None):
    """Drag the target as the mouse does."""
    if goal is not None:
        page.stage.move_target(goal)
    coroutine = page._dragged(Drag(phase))
    with pytest.raises(StopIteration):
        coroutine.send(None)


def test_the_arm_follows_the_target_and_the_verdict_is_shown(open_arm):
    page = open_arm("puma560")
    goal = page.stage.tree.forward(page.stage.tree.middle + 0.3)
    page.aim(goal)
    assert page.settle()
    np.testing.assert_allclose(tip(page), goal, atol=3e-6)
    assert "Reached" in page.panel.verdict.content
    assert page.stage.tree.within_limits(page.q)


def test_a_target_out_of_reach_is_met_as_near_as_can_be_and_the_reason_is_shown(open_arm):
    page = open_arm("planar_2r")
    page.aim((3.0, 0.0, 0.0))
    assert page.settle()
    np.testing.assert_allclose(tip(page)[:3, 3], (2.0, 0.0, 0.0), atol=1e-4)
    assert "Not reached" in page.panel.verdict.content
    assert "out of reach by 1 m" in page.panel.verdict.content


def test_every_method_is_asked_for_the_same_problem(open_arm):
    page = open_arm("planar_3r")
    assert list(page.race.courses) == list(rb.ik.MENU)
    starts = [course.error[0] for course in page.race.courses.values() if course.solution is not None]
    np.testing.assert_allclose(starts, starts[0], rtol=1e-9)
    assert page.race.plot.visible
    assert len(page.race.plot.data) == 1 + len(rb.ik.MENU)
    assert "not for this problem" in page.race.table.content


def test_the_plot_holds_the_logarithms_of_the_errors(open_arm):
    page = open_arm("planar_2r")
    course = page.race.courses["dls"]
    row = page.race.plot.data[1 + list(rb.ik.MENU).index("dls")]
    np.testing.assert_allclose(row[: len(course.error)], np.log10(np.maximum(course.error, 1e-10)), rtol=1e-6)
    assert np.isnan(row[len(course.error) :]).all()


def test_methods_race_only_once_the_target_is_let_go(open_arm):
    page = open_arm("planar_2r")
    before, old = page.q.copy(), page.race.courses["lm"]
    goal = page.stage.goal
    dragged(page, "start")
    for way in (0.1, 0.2, 0.3):
        goal[:3, 3] = (1.0, way, 0.0)
        dragged(page, "update", goal)
    assert page.settle()
    np.testing.assert_allclose(tip(page)[:3, 3], (1.0, 0.3, 0.0), atol=1e-6)
    assert page.race.courses["lm"] is old
    dragged(page, "end")
    assert page.settle()
    begun = page.race.courses["lm"].error[0]
    first = page.stage.tree.forward(before)[:3, 3]
    assert begun == pytest.approx(np.linalg.norm(first - (1.0, 0.3, 0.0)), abs=1e-9)


def test_dragging_never_waits_for_the_solver(open_arm):
    page = open_arm("seven_axis", method="ccd")
    goal = page.stage.goal
    dragged(page, "start")
    begun = time.perf_counter()
    for k in range(50):
        goal[2, 3] -= 1e-3 * k
        dragged(page, "update", goal)
    assert time.perf_counter() - begun < 1.0
    assert page.settle()
    np.testing.assert_array_equal(page.course.solution.method, "ccd")


def test_another_method_starts_where_the_problem_began(open_arm, person):
    page = open_arm("puma560")
    page.panel.method.value = "lm"
    person.turn(page.panel.method, "dls")
    assert page.settle()
    assert page.course.method == "dls"
    assert page.course.error[0] == pytest.approx(page.race.courses["lm"].error[0], rel=1e-12)


def test_a_method_that_cannot_be_asked_says_so_and_the_arm_stays(open_arm):
    page = open_arm("puma560")
    before = page.q
    page.choose("fabrik")
    assert page.settle()
    assert page.q is before
    assert "knows no Pose" in page.panel.verdict.content
    assert page.course.solution is None
    with pytest.raises(rb.UnknownName):
        page.choose("magic")


def test_joints_move_the_arm_and_take_the_target_along(open_arm, person):
    page = open_arm("planar_2r")
    person.turn(page.panel.sliders[0], 30.0)
    assert page.settle()
    person.turn(page.panel.sliders[1], 60.0)
    assert page.settle()
    np.testing.assert_allclose(page.q, np.radians((30.0, 60.0)))
    expected = (np.cos(np.pi / 6), np.sin(np.pi / 6) + 1.0, 0.0)
    np.testing.assert_allclose(page.stage.goal[:3, 3], expected, atol=1e-7)
    assert "Forward" in page.panel.verdict.content
    assert not page.race.plot.visible


def test_sliders_show_the_joints_within_their_limits(open_arm):
    page = open_arm("scara")
    page.stand((0.1, 0.2, 5.0, 0.0))
    assert page.settle()
    np.testing.assert_allclose(page.q, (0.1, 0.2, 0.2, 0.0))
    assert [slider.value for slider in page.panel.sliders] == pytest.approx([5.7, 11.5, 0.2, 0.0])
    assert page.panel.sliders[2].label == "joint3 [m]"


def test_whole_turns_are_taken_off_joints_without_limits(open_arm):
    page = open_arm("planar_2r")
    page.stand(np.radians((400.0, -200.0)))
    assert page.settle()
    assert [slider.value for slider in page.panel.sliders] == pytest.approx([40.0, 160.0])


def test_a_configuration_of_another_arm_is_told_as_a_fault(open_arm, monkeypatch):
    page, told = open_arm("planar_2r"), []
    monkeypatch.setattr(page._worker, "_tell", told.append)
    page.stand((0.0, 0.0, 0.0))
    assert page.settle()
    assert "its last axis must be 2" in told[0]


def test_another_model_takes_the_place_of_the_first(open_arm, person):
    page = open_arm("puma560")
    for name in ("hand", "scara", "planar_3r"):
        person.turn(page.panel.model, name)
        assert page.settle()
        assert page.stage.tree.name == name
        assert len(page.panel.sliders) == len(page.stage.tree.coordinates)
        assert page.course.solution.reached


def test_a_finger_is_chosen_and_the_target_goes_to_it(open_arm, person):
    page = open_arm("hand")
    assert page.panel.tool.visible
    person.turn(page.panel.tool, "little")
    assert page.settle()
    little = page.stage.tree.forward(page.q, "little")
    np.testing.assert_allclose(page.stage.goal[:3, 3], little[:3, 3], atol=1e-6)
    page.aim(little[:3, 3] + (0.0, 0.002, 0.002))
    assert page.settle()
    np.testing.assert_allclose(tip(page)[:3, 3], little[:3, 3] + (0.0, 0.002, 0.002), atol=1e-6)


def test_what_counts_of_the_target_can_be_chosen(open_arm, person):
    page = open_arm("puma560")
    assert page.panel.aim.value == WHOLE
    person.turn(page.panel.aim, PLACE)
    assert page.settle()
    assert isinstance(page.question.targets, rb.ik.Position)
    assert page.race.courses["fabrik"].solution is not None or "fabrik" in page.race.courses["fabrik"].fault


def test_workspace_and_ellipsoid_are_shown_when_ticked(open_arm, person):
    page = open_arm("planar_2r")
    assert not page.stage.ellipsoid.handle.visible
    person.turn(page.panel.cloud, True)
    person.turn(page.panel.ellipsoid, True)
    assert page.settle()
    assert page.stage.ellipsoid.handle.visible
    radii = np.linalg.norm(np.asarray(page.stage._cloud.points, dtype=np.float64), axis=1)
    assert radii.max() <= 2.0 + 2e-3
    person.turn(page.panel.cloud, False)
    assert page.settle()
    assert page.stage._cloud is None


def test_back_takes_arm_and_target_to_where_they_were(open_arm, person):
    page = open_arm("planar_2r")
    goal = page.stage.goal
    page.aim((0.5, 0.5, 0.0))
    assert page.settle()
    person.press(page.panel.back)
    assert page.settle()
    np.testing.assert_allclose(page.stage.goal, goal, atol=1e-7)


def test_a_tree_of_ones_own_is_shown_with_its_look(open_arm, person):
    tree = Tree(planar_2r().links, {"tip": planar_2r().tools["tip"]}, name="mine")
    page = open_arm(tree, look=Look({"joint1": rb.Box(0.1, 0.1, 0.1)}))
    assert page.panel.model.value == "mine"
    person.turn(page.panel.model, "scara")
    assert page.settle()
    person.turn(page.panel.model, "mine")
    assert page.settle()
    assert page.stage.tree is tree


def test_what_is_no_arm_is_refused():
    with pytest.raises(rb.InputError, match="The arm of a page"):
        ArmPage(3)
    with pytest.raises(rb.InputError, match="an arm's page"):
        ArmPage("scara", nonsense=True)


def test_the_page_is_served_where_the_door_says(open_arm):
    assert open_arm("scara", door=Door(token="a-token-of-our-own")).address.endswith("/?token=a-token-of-our-own")


def test_steps_beyond_the_most_are_said_to_be_those_of_all_tries():
    """A target out of reach, for which lm begins again and again."""
    with ArmPage("planar_3r") as page:
        assert page.settle()
        goal = page.stage.goal
        goal[:3, 3] = (100.0, 0.0, 0.0)
        page.aim(goal)
        assert page.settle()
        assert not page.course.solution.reached
        assert page.course.solution.iterations > page.panel.most_steps.value
        assert "steps over all tries" in page.panel.verdict.content
