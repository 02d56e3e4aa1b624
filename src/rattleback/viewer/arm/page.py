"""The page of an arm: drag the target and the arm follows by the method you choose; move the joints and it is moved.

All reckoning is done in a thread of its own, the newest wish first, so that the page never waits. Once the target is
let go, every method is asked for the same problem: from where the arm stood before to the target.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from rattleback.core import checks
from rattleback.kinematics import ik
from rattleback.kinematics.tree import Tree
from rattleback.recording.ik_courses import run_course
from rattleback.viewer.arm.panel import WHOLE, Panel
from rattleback.viewer.arm.problem import MODELS, Question, check_method, find_model, opening
from rattleback.viewer.arm.race import Race
from rattleback.viewer.arm.stage import Stage
from rattleback.viewer.arm.work import Worker
from rattleback.viewer.door import Door
from rattleback.viewer.host import Host
from rattleback.viewer.opened import Opened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.look import Look
    from rattleback.recording.ik_courses import Course

    Floats = NDArray[np.float64]

# Kinds of jobs, those first that go first.
JOBS = ("model", "target", "move", "show", "race")


class Wishes(TypedDict, total=False):
    """Options of :class:`ArmPage`."""

    method: str
    place: Any
    look: Look | None
    door: Door | None


class ArmPage(Opened):
    """A page with an arm that follows its target.

    Attributes:
        host: What serves it.
        panel: Its controls.
        stage: What is drawn.
        race: What all methods do.
        q: Where the arm stands (coordinates,).
        course: What the method did last; None before it was asked and after a joint was moved by hand.

    Args:
        arm: Name of a ready model, or a tree of your own.
        **wishes: ``method``, a name of ``rb.ik.MENU`` (default ``"lm"``); ``place``, where the target is at first
            (3,) [m]; ``look``, what the links of a tree of your own look like; ``door``, the address it is served at.
    """

    def __init__(self, arm: str | Tree = "puma560", **wishes: Unpack[Wishes]) -> None:
        checks.options(wishes, Wishes.__annotations__, "an arm's page")
        tree = find_model(arm) if isinstance(arm, str) else arm
        checks.instance(tree, Tree, "The arm of a page", "rb.kinematics.models.puma560()")
        self._own, self._look = tree, wishes.get("look")
        self._first = opening(tree, wishes.get("method", "lm"), wishes.get("place"))
        super().__init__()
        self._lock = threading.RLock()
        self.host = Host("rattleback ik", wishes.get("door"))
        self.panel = Panel(self.host.server.gui, tree.name, self._first.method)
        self.race = Race(self.host.server.gui, self.panel.tabs["Solve"])
        self.q, self._from, self._dragging = self._first.start, self._first.start, False
        self.course: Course | None = None
        self._worker = Worker(JOBS, partial(self.host.notify, fault=True))
        self.stage = Stage(self.host, self._first, self._look)
        self._begin()
        self._wire()
        self._worker.ask("move", self._solve)

    @property
    def address(self) -> str:
        """The address of the page, good for every browser for as long as it is served."""
        return self.host.address

    @property
    def question(self) -> Question:
        """The problem as it is now: from where the arm stood when it began, to the target."""
        panel = self.panel
        turn, method, tool = panel.aim.value == WHOLE, panel.method.value, panel.tool.value
        return Question(self.stage.tree, self.stage.goal, turn, method, self._from, tool, int(panel.most_steps.value))

    def aim(self, goal: Any) -> None:
        """Take the target to a frame (4, 4), or to a place (3,) [m], as if it were dragged there."""
        given = np.asarray(goal, dtype=np.float64)
        with self._lock:
            frame = self.stage.goal
            frame[:3, 3] = given if given.shape == (3,) else given[:3, 3]
            frame[:3, :3] = frame[:3, :3] if given.shape == (3,) else given[:3, :3]
            self._from = self.q
            self.stage.move_target(frame)
        self._worker.ask("move", self._solve)

    def choose(self, method: str) -> None:
        """Have another method follow the target, from where the problem began."""
        self.panel.method.value = check_method(method)
        self._worker.ask("move", partial(self._solve, anew=True))

    def open(self, model: str) -> None:
        """Take another model."""
        self._worker.ask("model", partial(self._open, model))

    def stand(self, q: Any) -> None:
        """Move the arm to a configuration (coordinates,), and the target with it."""
        self._worker.ask("move", partial(self._stand, np.asarray(q, dtype=np.float64)))

    def settle(self, seconds: float = 30.0) -> bool:
        """Wait until all is reckoned and shown; False if that took longer."""
        return self._worker.wait(seconds)

    def _take_down(self) -> None:
        self._worker.close()
        self.host.stop()

    # What follows is done by the worker.

    def _open(self, model: str) -> None:
        """Take another model; what was asked of the one before is void."""
        for kind in JOBS[1:]:
            self._worker.drop(kind)
        tree = self._own if model == self._own.name and model not in MODELS else find_model(model)
        question = opening(tree, self.panel.method.value)
        with self._lock, self.host.server.atomic():
            self.stage.remove()
            self._first = question
            self.stage = Stage(self.host, question, self._look if tree is self._own else None)
            self._begin()
        self._solve()

    def _begin(self) -> None:
        """Fit everything to an arm and its first problem."""
        first = self._first
        self.q, self._from, self._dragging, self.course = first.start, first.start, False, None
        self.stage.target.on_update(self._dragged)
        self.panel.renew(first.tree, first.start, first.turn)
        for column, slider in enumerate(self.panel.sliders):
            slider.on_update(partial(self._slid, column))
        self.race.clear()
        self._show()

    def _solve(self, anew: bool = False) -> None:
        """Ask the method for the target, from where the arm is or began, and show what it says."""
        with self._lock:
            question = self.question if anew else replace(self.question, start=self.q)
        course = run_course(question.tree, question.targets, question.method, question.start, question.most_steps)
        with self._lock, self.host.server.atomic():
            self.course = course
            if course.solution is not None:
                self._move(course.solution.q)
            self.panel.show_verdict(course)
        if not self._dragging:
            self._worker.ask("race", partial(self._run, self.question, tuple(ik.MENU)))

    def _run(self, question: Question, methods: tuple[str, ...]) -> None:
        """Ask the first of some methods for the problem, and have the rest asked, unless there is another already."""
        if self._dragging:
            return
        name, *rest = methods
        course = run_course(question.tree, question.targets, name, question.start, question.most_steps)
        self.race.add(course)
        if rest:
            self._worker.ask("race", partial(self._run, question, tuple(rest)))

    def _stand(self, q: Floats, by_hand: bool = False) -> None:
        """Move the arm and take the target along; sliders that a hand is at are left alone."""
        with self._lock, self.host.server.atomic():
            tree = self.stage.tree
            rows, _ = tree.configurations(q)
            self._from, self.course = np.clip(rows[0], tree.lower, tree.upper), None
            self._worker.drop("race")
            tip = self._move(self._from, by_hand)
            self.stage.move_target(tip)
            self.race.clear()
            self.panel.show_place(tip)

    def _move(self, q: Floats, by_hand: bool = False) -> Floats:
        self.q = q
        if not by_hand:
            self.panel.show_joints(q)
        return self.stage.place(q, self.panel.tool.value)

    def _show(self) -> None:
        """Show what is ticked."""
        with self._lock, self.host.server.atomic():
            self.stage.show_cloud(self.panel.cloud.value, self.panel.tool.value)
            self.stage.frame.visible = self.panel.frame.value
            self.stage.ellipsoid.handle.visible = self.panel.ellipsoid.value
            self.stage.place(self.q, self.panel.tool.value)

    def _renew_target(self) -> None:
        """Another tool, or another thing that counts: the target anew, where the tool is if that is another."""
        with self._lock:
            tool, goal = self.panel.tool.value, self.stage.goal
            if tool != self._first.tool:
                goal, self._first = self.stage.tree.forward(self.q, tool), replace(self._first, tool=tool)
            self._from = self.q
            self.stage.aim_at(goal, self.panel.aim.value == WHOLE)
            self.stage.target.on_update(self._dragged)
        self._show()
        self._solve()

    # What follows is called by the page.

    # A function that does not wait is called in the order of what happened.
    async def _dragged(self, event: Any) -> None:
        with self._lock:
            if event.phase == "start":
                self._dragging, self._from = True, self.q
                self._worker.drop("race")
            elif event.phase == "end":
                self._dragging = False
        self._worker.ask("move", self._solve)

    def _slid(self, column: int, event: Any) -> None:
        """A slider was moved; one of the arm before no longer counts."""
        with self._lock:
            if event.client is None or event.target not in self.panel.sliders:
                return
            q = self.q.copy()
            q[column] = self.panel.joint(column)
            self._worker.ask("move", partial(self._stand, q, by_hand=True))

    def _wire(self) -> None:
        """Have the controls do what they say."""
        panel, ask = self.panel, self._worker.ask

        def by_hand(act: Any) -> Any:
            return lambda event: None if event.client is None else act()

        panel.model.on_update(by_hand(lambda: self.open(panel.model.value)))
        panel.method.on_update(by_hand(lambda: self.choose(panel.method.value)))
        panel.most_steps.on_update(by_hand(lambda: self.choose(panel.method.value)))
        for control in (panel.aim, panel.tool):
            control.on_update(by_hand(lambda: ask("target", self._renew_target)))
        for box in (panel.cloud, panel.frame, panel.ellipsoid):
            box.on_update(by_hand(lambda: ask("show", self._show)))
        panel.back.on_click(lambda _: self.open(panel.model.value))


def view_arm(arm: str | Tree = "puma560", browser: bool | None = None, **wishes: Unpack[Wishes]) -> ArmPage:
    """Open the page of an arm, say where it is, and open a browser where there is a screen or one is wished for."""
    from rattleback.viewer.view import announce

    shown = ArmPage(arm, **wishes)
    announce(shown.address, browser, "arm")
    return shown
