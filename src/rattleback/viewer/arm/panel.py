"""The controls of the page: model, method, target, joints, and what is shown."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.kinematics import ik
from rattleback.viewer.arm.problem import MODELS
from rattleback.viewer.panels.readings import duration

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.tree import Tree
    from rattleback.recording.ik_courses import Course

    Floats = NDArray[np.float64]

PLACE, WHOLE = "place", "place and turn"
GOOD, BAD = "#2f7d4f", "#b03a2e"


class Panel:
    """The controls.

    Attributes:
        model: Drop-down of the models.
        method: Drop-down of the methods.
        aim: Drop-down of what counts of the target.
        tool: Drop-down of the tools.
        most_steps: Most steps of plain methods.
        back: Button that takes arm and target to where they were at first.
        cloud: Tick box of the workspace.
        ellipsoid: Tick box of the ellipsoid.
        frame: Tick box of the axes of the tip.
        verdict: What came of it.
        sliders: One for each coordinate.

    Args:
        gui: Panel of the page.
        model: Name of the model at first; a name that is none of the ready ones is added.
        method: Name of the method at first.
    """

    def __init__(self, gui: Any, model: str, method: str) -> None:
        self._gui = gui
        names = list(MODELS) if model in MODELS else [model, *MODELS]
        group = gui.add_tab_group()
        self.tabs = {name: group.add_tab(name) for name in ("Solve", "Joints", "Show")}
        with self.tabs["Solve"]:
            self.model = gui.add_dropdown("Model", names, initial_value=model, hint="The arm.")
            self.method = gui.add_dropdown("Method", list(ik.MENU), initial_value=method, hint="How the arm finds it.")
            self.aim = gui.add_dropdown("Target", (WHOLE, PLACE), hint="What of the target counts for the tool.")
            self.tool = gui.add_dropdown("Tool", ("tip",), hint="What follows the target.", visible=False)
            self.most_steps = gui.add_slider(
                "Most steps", 1, 500, 1, 200, hint="Where methods that take plain steps give up; lm has its own bounds."
            )
            self.verdict = gui.add_html("")
        with self.tabs["Joints"]:
            self.back = gui.add_button("Back to the start", hint="Arm and target as they were at first.")
        with self.tabs["Show"]:
            self.cloud = gui.add_checkbox("Workspace", False, hint="Where the tool comes to, within the limits.")
            hint = "How fast the tool moves each way when the joints turn at rates of length one; flat where singular."
            self.ellipsoid = gui.add_checkbox("Manipulability", False, hint=hint)
            self.frame = gui.add_checkbox("Axes of the tool", True, hint="x red, y green, z blue.")
        self.sliders: list[Any] = []
        self._units: list[tuple[float, int]] = []
        self._endless: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)

    def renew(self, tree: Tree, q: Floats, turn: bool) -> None:
        """Fit the controls to another arm that stands at q (coordinates,)."""
        self.aim.value = WHOLE if turn else PLACE
        self.tool.options = tuple(tree.tools)
        self.tool.value, self.tool.visible = "tip", len(tree.tools) > 1
        for slider in self.sliders:
            slider.remove()
        kinds = {link.name: link.joint for link in tree.links}
        self._units = [(np.pi / 180.0, 1) if kinds[name] == "revolute" else (1.0, 3) for name in tree.coordinates]
        turning = np.array([kinds[name] == "revolute" for name in tree.coordinates])
        self._endless = turning & np.isinf(tree.lower) & np.isinf(tree.upper)
        with self.tabs["Joints"]:
            self.sliders = [self._slider(name, k, tree, q) for k, name in enumerate(tree.coordinates)]

    def show_joints(self, q: Floats) -> None:
        """Move the sliders to a configuration (coordinates,)."""
        for slider, value, (unit, digits) in zip(self.sliders, self._within(q), self._units, strict=True):
            slider.value = float(np.clip(round(float(value) / unit, digits), slider.min, slider.max))

    def _within(self, q: Floats) -> Floats:
        """Coordinates with whole turns taken off those that have no limits."""
        return np.where(self._endless, (q + np.pi) % (2.0 * np.pi) - np.pi, q)

    def joint(self, column: int) -> float:
        """Value of the coordinate a slider stands at [rad or m]."""
        return float(self.sliders[column].value) * self._units[column][0]

    def show_verdict(self, course: Course) -> None:
        """Say what came of a problem."""
        found = course.solution
        if found is None:
            self.verdict.content = _box(BAD, "Cannot be asked", escape(course.fault))
            return
        off = f"off by {found.residual[0]:.1e} m and {found.residual[1]:.1e} rad"
        # lm begins again from other configurations, and counts the steps of all its tries.
        over = "" if found.iterations <= int(self.most_steps.value) else " over all tries"
        effort = f"{found.iterations} {'step' if found.iterations == 1 else 'steps'}{over} · {duration(course.seconds)}"
        why = "" if found.reached else f"{escape(str(found.reason))}<br>"
        title, colour = ("Reached", GOOD) if found.reached else ("Not reached", BAD)
        self.verdict.content = _box(colour, title, f"{why}{off}<br>{effort}")

    def show_place(self, tip: Floats) -> None:
        """Say where forward kinematics puts the tool (4, 4)."""
        x, y, z = tip[:3, 3]
        self.verdict.content = _box("#3d5a80", "Forward", f"the tool is at ({x:.3f}, {y:.3f}, {z:.3f}) m")

    def _slider(self, name: str, column: int, tree: Tree, q: Floats) -> Any:
        unit, digits = self._units[column]
        low, high = (round(float(end[column]) / unit, digits) for end in tree.range)
        value = float(np.clip(round(float(q[column]) / unit, digits), low, high))
        label = f"{name} {'[°]' if unit != 1.0 else '[m]'}"
        return self._gui.add_slider(label, low, max(low, high), 10.0**-digits, value)


def _box(colour: str, title: str, text: str) -> str:
    style = f"margin:0.2em 0.75em 0.6em;padding:0.45em 0.7em;border-left:4px solid {colour};background:#f4f6f8"
    return (
        f'<div style="{style};font-size:0.85em;line-height:1.45;min-height:5.2em">'
        f'<b style="color:{colour}">{title}</b><br>{text}</div>'
    )
