"""Methods: every slot, tolerance and limit of the running simulation, to be swapped while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.settings import CONTACT_TOLERANCES, TOLERANCES
from rattleback.viewer.panels.held import Held
from rattleback.viewer.panels.number_form import Number, NumberForm
from rattleback.viewer.panels.slots import NO_LAW, SLOTS, Slot, sweeps_of, with_sweeps
from rattleback.viewer.swapping.swaps import Swaps

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

AUTO, NO_LIMIT, NO_SWEEPS = "auto", "no limit", "–"


def _setting(name: str) -> Callable[[Frame], float | None]:
    """Reads a tolerance or a number of the methods."""

    def read(frame: Frame) -> float | None:
        methods = frame.picture.methods
        value: float | None = methods.tolerances[name] if name in TOLERANCES else getattr(methods, name)
        return value

    return read


def _tolerances() -> list[Number]:
    said = {
        "position_tolerance": ("Position [m]", "How far joints may be apart."),
        "orientation_tolerance": ("Angle [rad]", "How far joints may be turned apart."),
        "velocity_tolerance": ("Speed [m/s]", "How fast joints may drift apart [m/s, rad/s]."),
        "penetration_tolerance": ("Overlap [m]", "How deep bodies may overlap; auto to fit the scene."),
        "contact_velocity_tolerance": (
            "Contact speed",
            "How fast resting contacts may be [m/s]; auto to fit the scene.",
        ),
    }
    words = dict.fromkeys(CONTACT_TOLERANCES, AUTO)
    return [
        Number(name, *said[name], _setting(name), none=words.get(name, ""))
        for name in (*TOLERANCES, *CONTACT_TOLERANCES)
    ]


EFFORT = [
    Number("substeps", "Sub-steps", "In how many parts a step is done.", _setting("substeps"), whole=True),
    Number(
        "max_iterations", "Corrections", "Most corrections of joints in a step.", _setting("max_iterations"), whole=True
    ),
    Number(
        "sweeps",
        "Sweeps",
        "Most sweeps over the contacts, at either end of a step.",
        lambda frame: sweeps_of(frame.picture.methods.contacts),
        none=NO_SWEEPS,
        whole=True,
    ),
    Number(
        "budget",
        "Budget [ms]",
        "Time a step may take; corrections of joints end when it is used up.",
        lambda frame: frame.budget_ms,
        none=NO_LIMIT,
    ),
]


class MethodsPanel:
    """The controls of the methods.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self.session = window.session
        swaps = Swaps(self.session, window.say_under_way)
        window.on_close(swaps.close)
        self._shown: tuple[Any, float | None] = (None, None)
        gui: Any = window.server.gui
        with window.tabs["Methods"]:
            self.slots = {slot.name: self._add(gui, slot, swaps) for slot in SLOTS}
            tick = gui.add_checkbox(
                "Sleep", False, hint="Whether bodies at rest sleep until something happens to them."
            )
            self.tolerances = NumberForm(window, "Tolerances", _tolerances(), self._use)
            self.effort = NumberForm(window, "Effort", EFFORT, self._limit)
        self.sleep = Held(
            self.session,
            tick,
            lambda frame: frame.picture.methods.sleep,
            lambda value: self.session.do(lambda sim: sim.use(sleep=value)),
        )

    def _add(self, gui: Any, slot: Slot, swaps: Swaps) -> Held:
        handle = gui.add_dropdown(slot.label, slot.options, hint=slot.hint)
        return Held(
            self.session,
            handle,
            lambda frame: slot.read(frame.picture.methods),
            lambda name: swaps.ask(slot, name),
        )

    def renew(self, frame: Frame) -> None:
        """Nothing here hangs on the scene."""

    def show(self, frame: Frame) -> None:
        """Show what the simulation does, where that has changed."""
        there = (frame.picture.methods, frame.budget_ms)
        if there[0] is self._shown[0] and there[1] == self._shown[1]:
            return
        self._shown = there
        for control in (*self.slots.values(), self.sleep):
            control.show(frame)
        for form in (self.tolerances, self.effort):
            form.show(frame)
        for name in ("contact_solver", "law", "restitution"):
            handle = self.slots[name].handle
            handle.disabled = handle.value == NO_LAW

    def _use(self, values: Any) -> Future[Any]:
        return self.session.do(lambda sim: sim.use(**values))

    def _limit(self, values: Any) -> Future[Any]:
        """Set limits of the effort; all of them or, where one is refused, none but the budget."""
        given = dict(values)
        if "budget" in given:
            answer = self.session.set_budget(given.pop("budget"))
        return self.session.do(lambda sim: _limit(sim, given)) if given else answer


def _limit(sim: Simulation, limits: dict[str, Any]) -> None:
    settings = {name: value for name, value in limits.items() if name != "sweeps"}
    if "sweeps" in limits:
        settings["contacts"] = with_sweeps(sim.methods.contacts, limits["sweeps"])
    sim.use(**settings)
