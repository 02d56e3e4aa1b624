"""Drag the target of an arm and see a method of inverse kinematics follow, or compare all methods on one problem."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rattleback.cli import output
from rattleback.cli.options import number, whole_number
from rattleback.cli.output import FINE
from rattleback.cli.targets import check_target, write_target
from rattleback.cli.view import add_door_options, door_wishes

if TYPE_CHECKING:
    import argparse

    from rattleback.viewer.arm.problem import Question


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", metavar="MODEL", nargs="?", default="puma560", help="a ready model (default: puma560)")
    parser.add_argument("--method", metavar="NAME", default="lm", help="the method that follows (default: lm)")
    parser.add_argument(
        "--target", metavar=("X", "Y", "Z"), type=number, nargs=3, help="where the tip shall be at first [m]"
    )
    table = parser.add_argument_group("without a page: every method on one problem")
    table.add_argument("--table", action="store_true", help="print a table instead")
    table.add_argument("--plot", metavar="FILE", type=Path, help="write errors over steps, as .png, .svg or .pdf")
    table.add_argument("--steps", metavar="N", type=whole_number, default=200, help="most steps (default: 200)")
    table.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    add_door_options(parser.add_argument_group("the page"))


def execute(arguments: argparse.Namespace) -> int:
    """Show the page until Ctrl-C, or compare."""
    from rattleback.viewer.arm.problem import find_model, opening

    if arguments.plot is not None:
        from rattleback.recording.plots import check_picture_path

        check_target(check_picture_path(arguments.plot))
    question = opening(find_model(arguments.model), arguments.method, arguments.target)
    if arguments.table or arguments.json or arguments.plot is not None:
        return _tabulate(question, arguments)
    wishes = door_wishes(arguments)
    from rattleback.viewer.arm.page import view_arm

    browser = wishes.pop("browser", None)
    shown = view_arm(arguments.model, browser, method=arguments.method, place=arguments.target, **wishes)
    with suppress(KeyboardInterrupt), shown:
        shown.wait()
    return FINE


def _tabulate(question: Question, arguments: argparse.Namespace) -> int:
    from rattleback.recording.ik_courses import run_courses
    from rattleback.recording.ik_plot import courses_data, courses_table, plot_courses

    courses = run_courses(question.tree, question.targets, question.start, arguments.steps)
    if arguments.plot is not None:
        write_target(arguments.plot, lambda path: plot_courses(courses, path))
    if arguments.json:
        kind, place = type(question.targets).__name__, question.goal
        problem = {"model": arguments.model, "target": kind, "goal": place, "start": question.start}
        output.write_json({**problem, "methods": courses_data(courses)})
        return FINE
    output.show(courses_table(courses))
    if arguments.plot is not None:
        output.write(f"Wrote the plot to {arguments.plot}")
    return FINE
