"""Courses of methods of inverse kinematics: what they hold, and how they are shown."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.kinematics.models import planar_2r, puma560
from rattleback.recording.ik_courses import error_of, limited, run_course, run_courses
from rattleback.recording.ik_plot import courses_data, courses_table, plot_courses

START = (0.3, 0.5)
GOAL = rb.ik.Position((1.2, 0.9, 0.0))


def test_the_error_is_the_distance_of_the_tip_where_only_a_place_counts():
    tip = np.array([np.cos(0.3) + np.cos(0.8), np.sin(0.3) + np.sin(0.8), 0.0])
    assert error_of(planar_2r(), GOAL, START) == pytest.approx(np.linalg.norm(tip - GOAL.place), abs=1e-14)


def test_a_radian_counts_as_half_the_length_of_the_arm():
    tree = puma560()
    q = np.array([0.1, 1.0, -1.0, 0.3, 0.4, 0.2])
    goal = tree.forward(q)
    turned = q + np.array([0, 0, 0, 0, 0, 0.01])
    assert error_of(tree, rb.ik.Pose(goal), turned) == pytest.approx(0.01 * tree.size, rel=1e-6)


@pytest.mark.parametrize("method", ["dls", "transpose", "fabrik", "lm", "analytic"])
def test_a_course_begins_at_the_start_and_ends_at_what_was_found(method):
    tree = planar_2r()
    course = run_course(tree, GOAL, method, START)
    assert course.solution.reached
    assert course.verdict == "reached"
    assert course.error[0] == pytest.approx(error_of(tree, GOAL, START), abs=1e-12)
    assert course.error[-1] == pytest.approx(error_of(tree, GOAL, course.solution.q), abs=1e-9)
    assert (course.steps[0], course.steps[-1]) == (0, course.solution.iterations)
    assert course.seconds > 0.0


def test_the_start_is_the_middle_where_none_is_given():
    tree = puma560()
    goal = tree.forward(tree.middle + 0.1)
    assert run_course(tree, goal, "lm").error[0] == pytest.approx(error_of(tree, goal, tree.middle))


def test_plain_methods_stop_after_the_most_steps():
    course = run_course(planar_2r(), GOAL, "gradient", START, most_steps=3)
    assert len(course.error) == 4
    assert not course.solution.reached
    assert course.verdict == course.solution.reason
    assert limited("gradient", 10**9).iterations == rb.ik.MENU["gradient"]().iterations


def test_a_method_that_cannot_be_asked_says_why():
    course = run_course(puma560(), np.eye(4), "fabrik")
    assert course.solution is None
    assert "fabrik" in course.verdict
    assert len(course.error) == 0


def test_the_most_steps_are_at_least_one():
    with pytest.raises(rb.InputError, match="The most steps"):
        run_courses(planar_2r(), GOAL, START, most_steps=0)


def test_the_plot_has_a_curve_for_every_method_that_could_be_asked(tmp_path):
    courses = run_courses(planar_2r(), GOAL, START, methods=("lm", "dls", "pinv"))
    courses += run_courses(puma560(), np.eye(4), methods=("fabrik",))
    (axes,) = plot_courses(courses, tmp_path / "errors.png").axes
    assert axes.get_yscale() == "log"
    assert [line.get_label() for line in axes.get_lines()] == ["lm", "dls", "pinv"]
    assert [line.get_linestyle() for line in axes.get_lines()] == ["--", "-", "-"]
    np.testing.assert_array_equal(axes.get_lines()[1].get_ydata(), courses[1].error)
    assert (tmp_path / "errors.png").read_bytes().startswith(b"\x89PNG")


def test_a_method_that_did_not_come_there_is_marked():
    (axes,) = plot_courses([run_course(planar_2r(), GOAL, "gradient", START, 2)]).axes
    assert [line.get_label() for line in axes.get_lines()] == ["gradient (not reached)"]


def test_a_path_that_is_no_picture_is_refused(tmp_path):
    with pytest.raises(rb.InputError, match="The path of a plot is"):
        plot_courses([], tmp_path / "errors.txt")


def test_table_and_data_say_the_same():
    from rich.console import Console

    courses = run_courses(puma560(), puma560().forward(puma560().middle + 0.1), methods=("lm", "fabrik"))
    console = Console(width=160)
    with console.capture() as capture:
        console.print(courses_table(courses))
    text = capture.get()
    assert "off [m]" in text
    assert "reached" in text
    assert "fabrik" in text
    lm, fabrik = courses_data(courses)
    assert (lm["method"], lm["reached"], fabrik["reached"]) == ("lm", True, None)
    np.testing.assert_array_equal(lm["q"], courses[0].solution.q)
