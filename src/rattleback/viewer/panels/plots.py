"""Live plots: energy, the certificate as a picture, effort, contacts, any quantity; and the stages of a step."""

from __future__ import annotations

import threading
import time
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import RattlebackError
from rattleback.recording.quantities import BODY, JOINT, NAMES, find_quantity
from rattleback.recording.style import PALETTE
from rattleback.viewer.panels.curves import PLOTS, Curves
from rattleback.viewer.panels.history import History
from rattleback.viewer.panels.number_form import PRESS_ENTER
from rattleback.viewer.panels.readings import duration
from rattleback.viewer.sampler import Sampler

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from rattleback.core.report import Profile
    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

# Plots are drawn anew at most so often [1/s].
DRAWINGS = 6.0
# Height of a plot, and size of their panel before the page lays it under the view [pixels]; what it is known by there.
TALL, WIDTH, HEIGHT = 150, 620.0, 210.0
UNDER = '<div class="rattleback-plots"></div>'
# Width of the numbers beside a plot [pixels], such as -12,345.6.
ROOM = 66
# Room above, right, below and left of a plot [pixels], that no number is cut.
PADDING = (10, 24, 0, 0)
# What is plotted from the start.
AT_FIRST = ("Energy [J]", "Error / tolerance")
STEPS_MEASURED = 20
# More curves of one quantity cannot be told apart.
MOST_CURVES = 8


class Plot:
    """One plot of the page, and what it has seen.

    Args:
        window: The page.
        curves: What it shows.
        shown: Whether it is shown at first.
        place: The container it is drawn in.
    """

    def __init__(self, window: Window, curves: Curves, shown: bool, place: Any) -> None:
        self.curves, self._window, self._place = curves, window, place
        gui: Any = window.server.gui
        self.box = gui.add_checkbox(curves.title, initial_value=shown, hint=curves.hint)
        self._handle: Any = None
        self._history = History(1)
        self._names: tuple[str, ...] = ()

    @property
    def columns(self) -> int:
        """How many numbers a sample has."""
        return len(self._names)

    @property
    def shown(self) -> bool:
        """Whether its box is ticked."""
        return bool(self.box.value)

    def renew(self, frame: Frame) -> None:
        """There is another scene: begin anew where it has other curves."""
        names = tuple(self.curves.names(frame))
        if names != self._names:
            self._names, self._history = names, History(len(names))
            self._drop()

    def remove(self) -> None:
        """Take it off the page."""
        self._drop()
        self.box.remove()

    def _drop(self) -> None:
        if self._handle is not None:
            self._handle.remove()
            self._handle = None

    def add(self, time: float, values: Sequence[float]) -> None:
        """Note a sample, if it has any number."""
        if self.shown and not np.isnan(values).all():
            self._history.add(time, values)

    def draw(self) -> None:
        """Show what was seen, or nothing where the box is not ticked."""
        if not self.shown:
            if self._handle is not None:
                self._handle.visible = False
            return
        if self._handle is None:
            self._handle = self._make()
        self._handle.visible = True
        self._handle.data = self._history.data

    def _make(self) -> Any:
        from viser import uplot

        lines = [
            uplot.Series(label=name, stroke=PALETTE[k % len(PALETTE)], width=1.5, points={"show": False})
            for k, name in enumerate(self._names)
        ]
        upright = uplot.Scale(distr=3) if self.curves.logarithmic else uplot.Scale()
        unit = self.curves.title.partition("[")[2].rstrip("]")
        upward = uplot.Axis(label=unit or self.curves.title, labelSize=16, size=ROOM)
        with self._place:
            return self._window.server.gui.add_uplot(
                self._history.data,
                (uplot.Series(label="t [s]"), *lines),
                title=self.curves.title,
                scales={"x": uplot.Scale(time=False), "y": upright},
                axes=(uplot.Axis(label="t [s]", labelSize=16, size=30), upward),
                aspect=1.0,
                height=TALL,
                padding=PADDING,
                order=self.box.order,
            )


class Plots:
    """The tab of the plots.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self.window, self.session = window, window.session
        self._lock = threading.Lock()
        self._drawn = 0.0
        self._sampler: Sampler | None = None
        self._own: dict[str, Plot] = {}
        gui: Any = window.server.gui
        self.panel = gui.add_panel()
        with (place := self.panel.add_tab("Plots")):
            gui.add_html(UNDER)
        self.panel.float(x=0, y=-1, width=WIDTH, height=HEIGHT)
        self._place = place
        with window.tabs["Plots"]:
            self.under = gui.add_checkbox("Under the view", True, hint="Show the plots below the view. Key: P.")
            self.plots = [Plot(window, curves, curves.title in AT_FIRST, place) for curves in PLOTS]
            self._add_controls(gui)
        self.under.on_update(lambda _: self._lay())
        gui.add_command("Show or hide the plots", hotkey="P").on_trigger(lambda _: self._toggle())
        window.on_select(self.offer)
        self._want()

    def _add_controls(self, gui: Any) -> None:
        """What asks for other quantities, and for the stages of a step."""
        self.form = gui.add_form(None)
        with self.form:
            hint = "Plot a quantity by its name: energy.total, arm.position, hinge.angle."
            self.wanted = gui.add_text("Quantity", "", hint=f"{hint} {PRESS_ENTER}")
        hint = "Those of what is selected first, then those of the whole scene."
        self.more = gui.add_dropdown("or choose", ("", *NAMES), hint=hint)
        self.gap = gui.add_markdown("")
        self.measure = gui.add_button("Measure the stages of a step", hint="Where the time of a step goes.")
        self.stages = gui.add_html("")
        self.form.on_submit(lambda _: self._ask(self.wanted))
        self.more.on_update(lambda event: None if event.client is None else self._ask(self.more))
        self.measure.on_click(lambda _: self.measure_stages())

    def renew(self, frame: Frame) -> None:
        """Go on; plots of quantities go with the simulation they are of."""
        with self._lock:
            for name in [name for name in self._own if name not in self.session.probes]:
                self._own[name].remove()
                self.plots.remove(self._own.pop(name))
            for plot in self.plots:
                plot.renew(frame)
        self.offer(self.window.selected)

    def show(self, frame: Frame) -> None:
        """Note what was sampled, and draw now and then."""
        with self._lock:
            self._want()
            if not frame.timeline.past:
                self._take()
            now = time.perf_counter()
            if frame.playing and now - self._drawn < 1.0 / DRAWINGS:
                return
            self._drawn = now
            for plot in self.plots:
                plot.draw()
            self._lay()
            self._tell_gap()

    def offer(self, name: str) -> None:
        """Offer the quantities of what is selected first."""
        scene = self.session.frame.picture.scene
        inner = JOINT if name in scene.joints else BODY if name in scene else ()
        self.more.options = ("", *(f"{name}.{entry}" for entry in inner), *NAMES)

    def add(self, name: str) -> Future[Any]:
        """Plot a quantity from now on."""
        return self.session.do(lambda sim: self._add(sim, name) if sim is self.session.sims[0] else None)

    def measure_stages(self) -> Future[Any]:
        """Measure where the time of a step goes; the simulation stays where it is."""

        def measure(sim: Simulation) -> None:
            if sim is self.session.sims[0]:
                self.stages.content = stage_bars(sim.profile(STEPS_MEASURED))

        return self.session.do(measure)

    def _want(self) -> None:
        """Have what the ticked plots need be sampled."""
        for plot in self.plots:
            if plot.shown:
                self.session.wanted.update(plot.curves.wants)
        curves = tuple(plot.curves for plot in self.plots if plot.shown)
        if self._sampler is None or curves != self._sampler.curves:
            self._take()
            self._sampler = self.session.sampler = Sampler(curves, tuple(self._own))
            self._sampler.note(self.session.frame)

    def _take(self) -> None:
        """Add to the plots what was sampled; where the scene is another one, samples may not fit."""
        plots = {plot.curves: plot for plot in self.plots}
        for now, values in () if self._sampler is None else self._sampler.found():
            for curves, numbers in zip(self._sampler.curves, values, strict=True):  # type: ignore[union-attr]
                if curves in plots and len(numbers) == plots[curves].columns:
                    plots[curves].add(now, numbers)

    def _toggle(self) -> None:
        self.under.value = not self.under.value
        self._lay()

    def _lay(self) -> None:
        """Show the panel where there is something in it."""
        visible = bool(self.under.value) and any(plot.shown for plot in self.plots)
        if self.panel.visible != visible:
            self.panel.visible = visible

    def _tell_gap(self) -> None:
        """Say where samples are so far apart that something may swing unseen between them."""
        gap = 1 if self._sampler is None else self._sampler.gap
        text = (
            f"<small>Sampled every {gap} steps or so: what swings faster than that is a scatter.</small>"
            if gap > 1
            else ""
        )
        if self.gap.content != text:
            self.gap.content = text

    def _ask(self, control: Any) -> None:
        if name := str(control.value).strip():
            control.value = ""
            self.add(name)

    def _add(self, sim: Simulation, name: str) -> None:
        quantity = find_quantity(name, sim)
        labels = quantity.labels[:MOST_CURVES]
        if len(labels) < len(quantity.labels):
            self.session.tell(f"Of {name!r} the first {MOST_CURVES} curves are plotted.")
        self.session.probes[name] = partial(_first_numbers, quantity.read, len(labels), sim.worlds is not None)
        curves = Curves(
            f"{name}{f' [{quantity.unit}]' if quantity.unit else ''}",
            "A quantity of the first simulation.",
            (),
            lambda frame: labels,
            lambda frame: frame.picture.probes.get(name, [np.nan] * len(labels)),
        )
        with self._lock, self.window.tabs["Plots"]:
            if name not in self._own:
                self._own[name] = plot = Plot(self.window, curves, True, self._place)
                plot.renew(self.session.frame)
                self.plots.append(plot)


def _first_numbers(read: Any, count: int, batched: bool, sim: Simulation) -> list[float]:
    """The first numbers of a quantity, of the first world; none where it cannot be read."""
    try:
        values = np.asarray(read(sim), dtype=np.float64)
    except RattlebackError:
        return [np.nan] * count
    return [float(value) for value in (values[0] if batched and values.ndim else values).ravel()[:count]]


def stage_bars(profile: Profile) -> str:
    """Where the time of a step goes, as a table with bars in HTML."""
    rows = []
    for name, seconds in sorted(profile.seconds.items(), key=lambda entry: -entry[1]):
        part = 100.0 * seconds / (profile.total or 1.0)
        bar = f'<div style="background:{PALETTE[0]};height:0.6em;width:{part:.1f}%"></div>'
        cell = f'<td style="width:50%">{bar}</td>'
        rows.append(f"<tr><td>{escape(name)}</td>{cell}<td>{duration(seconds)}</td></tr>")
    total = f"<tr><td><b>step</b></td><td></td><td><b>{duration(profile.total)}</b></td></tr>"
    table = f'<table style="width:100%;font-size:0.85em">{"".join(rows)}{total}</table>'
    return f'<div style="padding:0 0.75em 0.6em">{table}</div>'
