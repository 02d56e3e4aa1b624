"""The race of the methods: error against steps of all of them on one problem, and a table that is its legend."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.kinematics import ik
from rattleback.recording.ik_plot import COLOURS
from rattleback.viewer.panels.readings import duration

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.recording.ik_courses import Course

    Floats = NDArray[np.float64]

ASPECT = 1.55
# The plot shows at least and at most so many steps; slow methods are told apart by then, the table has their ends.
LEAST_STEPS, MOST_STEPS = 10, 60
# What is smaller is drawn here [m]; such errors are rounding.
FLOOR = 1e-10
RANGE = (-10.5, 1.0)


class Race:
    """Plot and table of the courses.

    Attributes:
        courses: What the methods did, by their names.

    Args:
        gui: Panel of the page.
        tab: Where to put them.
    """

    def __init__(self, gui: Any, tab: Any) -> None:
        from viser import uplot

        self.courses: dict[str, Course] = {}
        lines = [
            uplot.Series(label=name, stroke=colour, width=1.6, spanGaps=True, points={"show": False})
            for name, colour in zip(ik.MENU, COLOURS, strict=True)
        ]
        with tab:
            self.plot = gui.add_uplot(
                self.data,
                (uplot.Series(label="steps"), *lines),
                scales={"x": uplot.Scale(time=False), "y": uplot.Scale(auto=False, range=RANGE)},
                axes=(
                    uplot.Axis(label="steps", labelSize=20, size=30),
                    uplot.Axis(label="log₁₀ error [m]", labelSize=20, size=40, incrs=(1.0, 2.0, 3.0, 4.0)),
                ),
                legend={"show": False},
                aspect=ASPECT,
                visible=False,
            )
            self.table = gui.add_html("")

    @property
    def data(self) -> tuple[Floats, ...]:
        """Steps, and the logarithm of the error of each method after each; no number where there is none."""
        answers = [course.solution for course in self.courses.values() if course.solution is not None]
        ends = [len(found.history) - 1 for found in answers if found.history is not None]
        most = min(max([LEAST_STEPS, *ends]), MOST_STEPS)
        steps = np.arange(most + 1)
        rows = np.full((len(ik.MENU), most + 1), np.nan)
        for row, name in zip(rows, ik.MENU, strict=True):
            if (course := self.courses.get(name)) is not None:
                inside = course.steps <= most
                row[course.steps[inside]] = np.log10(np.maximum(course.error[inside], FLOOR))
        return (steps.astype(np.float64), *rows)

    def add(self, course: Course) -> None:
        """Show what another method did."""
        self.courses[course.method] = course
        self._draw()

    def clear(self) -> None:
        """Show nothing."""
        self.courses = {}
        self._draw()

    def _draw(self) -> None:
        drawn = any(course.solution is not None for course in self.courses.values())
        if drawn:
            self.plot.data = self.data
        self.plot.visible = drawn
        self.table.content = table_of(self.courses) if drawn else ""


def table_of(courses: dict[str, Course]) -> str:
    """The courses as a table in HTML, with the colours of the curves."""
    rows = []
    for name, colour in zip(ik.MENU, COLOURS, strict=True):
        if (course := courses.get(name)) is None:
            continue
        found, dot = course.solution, f'<span style="color:{colour}">&#9632;</span>'
        if found is None:
            cells = '<td colspan="4" style="color:#98a2ad">not for this problem</td>'
        else:
            sign = '<b style="color:#2f7d4f">&#10003;</b>' if found.reached else '<b style="color:#b03a2e">&#10007;</b>'
            cells = (
                f"<td>{sign}</td><td>{found.iterations}</td><td>{course.error.min():.0e}</td>"
                f"<td>{duration(course.seconds)}</td>"
            )
        rows.append(f'<tr title="{escape(course.verdict)}"><td style="text-align:left">{dot} {name}</td>{cells}</tr>')
    head = "<tr><th></th><th></th><th>steps</th><th>error [m]</th><th>time</th></tr>"
    style = "width:100%;font-size:0.8em;line-height:1.2;text-align:right;border-spacing:0"
    return f'<div style="padding:0 0.75em 0.6em"><table style="{style}">{head}{"".join(rows)}</table></div>'
