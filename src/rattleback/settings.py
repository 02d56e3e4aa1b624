"""The settings of a simulation: what can be asked for, checked, with what was left out filled in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, cast

from rattleback import steps as step_methods
from rattleback.core import checks
from rattleback.core.choice import choose
from rattleback.core.precision import epsilon
from rattleback.integrators import DEFAULT, MENU, NEEDS
from rattleback.solvers import contacts as contact_methods
from rattleback.solvers import joints as joint_methods

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rattleback.collision.detection import Detection
    from rattleback.core.protocols import Integrator

TOLERANCES = ("position_tolerance", "orientation_tolerance", "velocity_tolerance")
CONTACT_TOLERANCES = ("penetration_tolerance", "contact_velocity_tolerance")
# In single precision velocities of some metres per second are not known to a micrometre per second.
DEFAULT_TOLERANCE = 1e-6 if epsilon < 1e-10 else 1e-3
MOST_ITERATIONS = 1_000_000
MOST_SUBSTEPS = 10_000
JOINT_MENU = (joint_methods.MENU, joint_methods.NEEDS)
CONTACT_MENU = (contact_methods.MENU, contact_methods.NEEDS)
STEP_MENU = (step_methods.MENU, step_methods.NEEDS)
CONTACT_TIMES = ("off", "bisect", "interpolate")
# Settings that are parts of how contacts are found.
DETECTION = {
    "broadphase": "broadphase",
    "narrowphase": "narrowphase",
    "contact_distance": "distance",
    "contact_points": "points",
    "bounding_volume": "bounds",
    "contact_volumes": "volumes",
    "contact_every": "every",
}


class Settings(TypedDict, total=False):
    """Keyword options of :class:`Simulation`."""

    preset: str
    time_step: float
    substeps: int
    device: str
    worlds: int | None
    vary: Any
    seed: int
    step: Any
    integrator: str | Integrator
    joints: Any
    contacts: Any
    broadphase: Any
    narrowphase: Any
    bounding_volume: Any
    contact_distance: float | None
    contact_points: int
    contact_volumes: bool
    contact_every: int
    contact_time: str
    penetration_tolerance: float | None
    contact_velocity_tolerance: float | None
    position_tolerance: float
    orientation_tolerance: float
    velocity_tolerance: float
    closing_speed: float
    max_iterations: int
    sleep: bool
    strict: bool
    warn: bool


@dataclass(frozen=True)
class Methods:
    """How a step is done: everything that has to be recorded anew when it changes.

    Attributes:
        preset: A name of ``presets.MENU``, which gives the tolerances of contacts, as parts of the contact distance and
            the rebound speed, where they are not set.
        substeps: In how many sub-steps a step is done.
        step: What happens in a step: an object of ``steps``.
        integrator: How free bodies move.
        joints: How joints are held.
        contacts: What is done about contacts.
        detection: How contacts are found; None before anything was said about it, for the defaults.
        contact_time: How the time of contact within a step is found, a name of CONTACT_TIMES.
        penetration_tolerance: How deep contacts may overlap [m]; None for what the preset says.
        contact_velocity_tolerance: How fast contacts may be that are to be stopped [m/s]; None for the same.
        tolerances: What joints may be off, by the names of TOLERANCES.
        closing_speed: How fast joints that are apart are pulled together [m/s, rad/s].
        max_iterations: Most corrections of a step.
        sleep: Whether bodies at rest fall asleep.
    """

    preset: str
    substeps: int
    step: Any
    integrator: Any
    joints: Any
    contacts: Any
    detection: Detection | None
    contact_time: str
    penetration_tolerance: float | None
    contact_velocity_tolerance: float | None
    tolerances: dict[str, float]
    closing_speed: float
    max_iterations: int
    sleep: bool

    @property
    def finds(self) -> bool:
        """Whether contacts are found."""
        return bool(getattr(self.contacts, "finds", True))

    @property
    def resolves(self) -> bool:
        """Whether something is done about them."""
        return bool(getattr(self.contacts, "resolves", True))


def default_methods() -> Methods:
    """What a simulation does unless it is told otherwise."""
    return Methods(
        preset="balanced",
        substeps=1,
        step=step_methods.MENU[step_methods.DEFAULT](),
        integrator=MENU[DEFAULT](),
        joints=joint_methods.MENU[joint_methods.DEFAULT](),
        contacts=contact_methods.MENU[contact_methods.DEFAULT](),
        detection=None,
        contact_time="off",
        penetration_tolerance=None,
        contact_velocity_tolerance=None,
        tolerances=dict.fromkeys(TOLERANCES, DEFAULT_TOLERANCE),
        closing_speed=10.0,
        max_iterations=50,
        sleep=False,
    )


def chosen(settings: Mapping[str, Any], before: Methods) -> Methods:
    """The methods that settings ask for; what they leave out stays as it was."""
    given = {DETECTION[name]: value for name, value in settings.items() if name in DETECTION}
    plain = ("closing_speed", "max_iterations", "contact_time", "sleep", *CONTACT_TOLERANCES)
    was = {name: settings.get(name, getattr(before, name)) for name in plain}
    contacts = choose("contact method", settings.get("contacts", before.contacts), *CONTACT_MENU)
    return Methods(
        preset=settings.get("preset", before.preset),
        substeps=checks.count(settings.get("substeps", before.substeps), "substeps", most=MOST_SUBSTEPS),
        step=choose("step", settings.get("step", before.step), *STEP_MENU),
        integrator=choose("integrator", settings.get("integrator", before.integrator), MENU, NEEDS),
        joints=choose("joint method", settings.get("joints", before.joints), *JOINT_MENU),
        contacts=contacts,
        detection=_detection(before.detection, given) if given else before.detection,
        contact_time=checks.one_of(was["contact_time"], CONTACT_TIMES, "contact_time"),
        **{name: None if was[name] is None else checks.positive(was[name], name) for name in CONTACT_TOLERANCES},
        tolerances={
            name: checks.positive(settings.get(name, value), name) for name, value in before.tolerances.items()
        },
        closing_speed=checks.positive(was["closing_speed"], "closing_speed"),
        max_iterations=checks.count(was["max_iterations"], "max_iterations", most=MOST_ITERATIONS),
        sleep=checks.flag(was["sleep"], "sleep"),
    )


def settings_of(methods: Methods) -> Settings:
    """The settings that choose these methods, whatever there was before."""
    slots = ("preset", "substeps", "step", "integrator", "joints", "contacts", "contact_time", "closing_speed")
    found = {name: getattr(methods, name) for name in (*slots, "max_iterations", "sleep", *CONTACT_TOLERANCES)}
    detection = methods.detection
    how = {} if detection is None else {name: getattr(detection, inner) for name, inner in DETECTION.items()}
    return cast("Settings", {**found, **methods.tolerances, **how})


def _detection(before: Detection | None, given: Mapping[str, Any]) -> Detection:
    """How contacts are found; the collision room is only loaded where it is needed."""
    from rattleback.collision.detection import Detection

    return replace(before or Detection(), **given)
