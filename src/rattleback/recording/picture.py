"""The picture of a run: the solids at several instants with the paths of their spin axes; one spin; the energy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.maths.rotation import rotate
from rattleback.recording.plots import check_picture_path, drift_curves, save_figure
from rattleback.recording.stage import Stage
from rattleback.recording.style import ACCENT, INK, OTHERS, PALETTE, QUIET, label, tidy
from rattleback.recording.tables import way_of_moving
from rattleback.recording.tessellation import Surface, placed, tessellate
from rattleback.shapes import Compound, Ellipsoid, Placed, Plane

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from rattleback.model import Body
    from rattleback.recording.recorder import Recorder

NEEDED = ("position", "orientation", "angular_velocity_local", "energy")
# Left, bottom, width and height of the view, the spin and the drift, in parts of the figure.
WIDE = ((0.02, 0.40, 0.96, 0.49), (0.06, 0.08, 0.41, 0.25), (0.56, 0.08, 0.41, 0.25))
TALL = ((0.02, 0.04, 0.55, 0.84), (0.64, 0.54, 0.33, 0.30), (0.64, 0.08, 0.33, 0.30))
AZIMUTH, ELEVATION = float(np.radians(-86.0)), float(np.radians(33.0))
MOST_SOLIDS, MOST_INSTANTS, MOST_PIECES = 90, 15, 20000
# Strength of the colour at the last instant and at the first, where it is almost the paper's white.
FADE_OF_SOLIDS, FADE_OF_PATHS = (1.0, 0.4), (0.8, 0.3)


def overview(recorder: Recorder, path: str | PathLike[str] | None = None, body: str | None = None) -> Figure:
    """The picture of a run, 1600 × 900 pixels; returns a Matplotlib figure.

    Args:
        recorder: A recording of ``position``, ``orientation``, ``angular_velocity_local`` and ``energy``; of several
            worlds, the first is shown.
        path: Where to save it; None for nowhere.
        body: The body whose spin is plotted; None for the first that moves.
    """
    from matplotlib.figure import Figure

    target = None if path is None else check_picture_path(path)
    chosen = _chosen_body(recorder, body)
    instants = _instants(recorder)
    stage = _stage(recorder, chosen, instants)
    figure = Figure(figsize=(16.0, 9.0), dpi=100, facecolor="white")
    view, spin, drift = (figure.add_axes(place) for place in (WIDE if stage.aspect > 1.8 else TALL))
    stage.paint(view)
    _plot_spin(spin, recorder, chosen)
    _plot_drift(drift, recorder)
    _write_heading(figure, recorder, recorder.time[instants])
    if target is not None:
        save_figure(figure, target)
    return figure


def _chosen_body(recorder: Recorder, name: str | None) -> Body:
    """The body whose spin is plotted, after a look at what was recorded."""
    missing = [entry for entry in NEEDED if entry not in recorder]
    if missing:
        raise InputError(f"The picture needs {listing(NEEDED)} of all bodies; not recorded: {listing(missing)}.")
    if not len(recorder):
        raise InputError("The picture needs at least one sample; the recording is empty.")
    scene = recorder.simulation.scene
    if name is None:
        return next((body for body in scene.bodies if not body.static), scene.bodies[0])
    if name not in scene:
        names = [body.name for body in scene.bodies]
        raise UnknownName(
            f"The picture is to show the spin of {name!r}, which is no body of scene {scene.name!r}."
            f"{did_you_mean(name, names)} It has {listing(names)}."
        )
    return scene[name]


def _spread(samples: int, most: int) -> NDArray[np.int64]:
    """At most that many samples, evenly from the first to the last; the last alone if there may be but one."""
    count = min(samples, most)
    return np.linspace(0, samples - 1, count).round().astype(np.int64) if count > 1 else np.array([samples - 1])


def _instants(recorder: Recorder) -> NDArray[np.int64]:
    """Samples to draw the solids at; the last alone where bodies are many, or stay within their own size."""
    bodies, position = recorder.simulation.scene.bodies, _first_world(recorder, "position")
    moving = [index for index, body in enumerate(bodies) if not body.static]
    way = max((float(np.ptp(position[:, index], axis=0).max()) for index in moving), default=0.0)
    size = max((solid_of(bodies[index]).bounding_radius() for index in moving), default=0.0)
    return _spread(len(recorder), min(MOST_INSTANTS, MOST_SOLIDS // len(bodies)) if way > size else 1)


def _stage(recorder: Recorder, chosen: Body, instants: NDArray[np.int64]) -> Stage:
    """All bodies at the instants, and the paths of the ends of their spin axes; a Plane has no end and is left out."""
    stage, bodies = Stage(AZIMUTH, ELEVATION), recorder.simulation.scene.bodies
    position, orientation = _first_world(recorder, "position"), _first_world(recorder, "orientation")
    spin = _first_world(recorder, "angular_velocity_local")[0]
    kinds = list(dict.fromkeys(type(body.shape) for body in bodies))
    for index, body in enumerate(bodies):
        colour = _rgb(ACCENT if body is chosen else OTHERS[kinds.index(type(body.shape)) % len(OTHERS)])
        x, q = position[:, index], orientation[:, index]
        if not body.static and len(x) > 1:
            some = _spread(len(x), max(2, MOST_PIECES // len(bodies)))
            strength = np.linspace(*FADE_OF_PATHS, len(some) - 1)[::-1, None]
            stage.add_line(x[some] + rotate(q[some], _tip(body, spin[index])), _faded(colour, strength), 1.3)
        if not isinstance(body.shape, Plane):
            moments = instants[-1:] if body.static else instants
            for strength, moment in zip(np.linspace(*FADE_OF_SOLIDS, len(moments))[::-1], moments, strict=True):
                _add_body(stage, body, (x[moment], q[moment]), _faded(colour, strength), len(bodies) <= MOST_SOLIDS)
    return stage


def solid_of(body: Body) -> Any:
    """The shape of a body; for one without, the ellipsoid that has its mass and inertia.

    An ellipsoid of radii a, b, c has J₁ = m (b² + c²)/5 and so on, hence a² = 5 (J₂ + J₃ − J₁)/(2m).
    """
    if body.shape is not None:
        return body.shape
    moments = body.principal_moments
    radii = np.sqrt(np.clip(2.5 / body.mass * (moments.sum() - 2.0 * moments), 0.0, None))
    # A body that is flat, or a point, is given some thickness to be seen by.
    a, b, c = np.maximum(radii, 0.03 * max(float(radii.max()), 1e-3)).tolist()
    (x, y, z), turned = body.center_of_mass.tolist(), body.principal_axes.tolist()
    return Compound((Placed(Ellipsoid(a, b, c), position=(x, y, z), orientation=tuple(turned)),))


def _first_world(recorder: Recorder, name: str) -> NDArray[np.float64]:
    values: NDArray[np.float64] = recorder[name]
    return values if recorder.simulation.worlds is None else values[:, 0]


def _tip(body: Body, spin: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where the spin axis leaves the solid, from the centre of mass, in the body's frame (3,) [m]."""
    rate = float(np.linalg.norm(spin))
    if rate == 0.0:
        return np.zeros(3)
    axis = spin / rate
    reach: NDArray[np.float64] = ((solid_of(body).support(axis) - body.center_of_mass) @ axis) * axis
    return reach


def _add_body(stage: Stage, body: Body, pose: tuple[Any, Any], colour: NDArray[np.float64], fine: bool) -> None:
    """Add one solid with its centre of mass and orientation as posed; in a crowd, a coarse one will do."""
    shape = solid_of(body)
    own = tessellate(shape, 32 if fine else 8)
    origin = pose[0] - rotate(pose[1], body.center_of_mass)
    surface = Surface(placed(own, pose[1], origin), own.triangles)
    stage.add_solid(surface, colour, (0.25 if fine else 2.0) * shape.bounding_radius())


def _plot_spin(axes: Any, recorder: Recorder, body: Body) -> None:
    """The angular velocity of one body in its own frame."""
    tidy(axes)
    index = recorder.simulation.model.index(body)
    rates = _first_world(recorder, "angular_velocity_local")[:, index]
    fastest = int(np.argmax(np.abs(rates[0])))
    colours = iter(QUIET)
    for component, name in enumerate("xyz"):
        main = component == fastest
        colour = ACCENT if main else next(colours)
        axes.plot(recorder.time, rates[:, component], color=colour, linewidth=2.0 if main else 1.3, label=name)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, fontsize=10, borderaxespad=0.2)
    axes.margins(x=0.0)
    label(axes, "time [s]", "angular velocity [rad/s]")
    _title(axes, f"Spin of {_short(body.name)}, own axes")


def _plot_drift(axes: Any, recorder: Recorder) -> None:
    """The drift of the total energy relative to its first value, scaled by a power of ten that the label names."""
    tidy(axes)
    drift = drift_curves(recorder)[0].values
    largest = float(np.abs(drift).max())
    power = int(np.floor(np.log10(largest))) if 0.0 < largest < 1e-2 else 0
    axes.plot(recorder.time, drift / 10.0**power, color=PALETTE[1], linewidth=1.3)
    axes.axhline(0.0, color=INK, linewidth=0.8)
    axes.margins(x=0.0)
    scale = f"  [$10^{{{power}}}$]" if power else ""
    label(axes, "time [s]", f"$(E - E_0)\\,/\\,|E_0|${scale}")
    _title(axes, "Drift of the energy, relative")


def _write_heading(figure: Figure, recorder: Recorder, shown: NDArray[np.float64]) -> None:
    """What was simulated, how, and which instants are shown."""
    sim = recorder.simulation
    count = len(sim.scene)
    method = way_of_moving(sim)
    said = f"{count} {'body' if count == 1 else 'bodies'}, {sim.state.steps} steps of {sim.time_step:g} s, {method}"
    if len(shown) > 1:
        said += f"; shown every {shown[1] - shown[0]:.3g} s, from pale to full colour"
    figure.text(0.03, 0.945, sim.scene.name, color=INK, fontsize=22, fontweight="bold")
    figure.text(0.03, 0.912, said, color=INK, fontsize=12)


def _title(axes: Any, text: str) -> None:
    axes.set_title(text, loc="left", color=INK, fontsize=12, fontweight="bold", pad=8)


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


def _rgb(colour: str) -> NDArray[np.float64]:
    from matplotlib.colors import to_rgb

    return np.array(to_rgb(colour))


def _faded(colour: NDArray[np.float64], strength: Any) -> NDArray[np.float64]:
    """The colour mixed with white; strength 1 leaves it as it is."""
    mixed: NDArray[np.float64] = strength * colour + (1.0 - strength)
    return mixed
