"""The slots of a simulation as drop-downs: what each offers, what it holds, and what to ask for to change it.

All choices come from the menus of the rooms; a method that is on no menu goes by the name of its class.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from rattleback import presets
from rattleback import steps as step_methods
from rattleback.collision import broadphase, narrowphase
from rattleback.collision.detection import Detection
from rattleback.core.choice import name_of
from rattleback.core.errors import InputError
from rattleback.integrators import MENU as INTEGRATORS
from rattleback.settings import CONTACT_TIMES
from rattleback.solvers import contacts as contact_methods
from rattleback.solvers import joints as joint_methods
from rattleback.solvers.contacts.kernels.laws import LAWS
from rattleback.solvers.contacts.restitution.impact import RESTITUTIONS
from rattleback.solvers.contacts.schemes.impulse import Impulse
from rattleback.solvers.contacts.stages.shock_propagation import ShockPropagation
from rattleback.solvers.joints.levels import LEVELS, STABILISATIONS
from rattleback.steps.symmetric.scheme import ORDERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.settings import Methods
    from rattleback.simulation import Simulation

AUTOMATIC, NO_LAW = "automatic", "none"


@dataclass(frozen=True)
class Slot:
    """Something that can be chosen.

    Attributes:
        name: Its name in the code.
        label: What it is called on the page.
        hint: What it means.
        options: What there is to choose.
        read: What is chosen, by name.
        settings: Settings of ``Simulation.use`` that choose a name, given what there is.
    """

    name: str
    label: str
    hint: str
    options: tuple[str, ...]
    read: Callable[[Methods], str]
    settings: Callable[[str, Methods], dict[str, Any]]

    def choose(self, sim: Simulation, name: str) -> None:
        """Choose for a running simulation; a session tells of its faults in its own way, so it must not warn."""
        if name != self.read(sim.methods):
            settings: Any = self.settings(name, sim.methods)
            sim.use(**settings, warn=False)


def _detection(methods: Methods) -> Detection:
    return methods.detection or Detection()


def _broadphase(methods: Methods) -> str:
    chosen = _detection(methods).broadphase
    return AUTOMATIC if chosen is None else name_of(chosen, broadphase.MENU)


def impulse_of(contacts: Any) -> Impulse | None:
    """The impulses behind a contact method; None where it has none."""
    inner = contacts.inner if isinstance(contacts, ShockPropagation) else contacts
    return inner if hasattr(inner, "solver") else None


def with_impulse(contacts: Any, **changes: Any) -> Any:
    """A contact method with other parameters of its impulses.

    Raises:
        InputError: It has none.
    """
    inner = impulse_of(contacts)
    if inner is None:
        raise InputError("This contact method has no impulses; choose one that has, such as 'impulse', first.")
    changed = replace(inner, **changes)
    return replace(contacts, inner=changed) if isinstance(contacts, ShockPropagation) else changed


def sweeps_of(contacts: Any) -> int | None:
    """How many sweeps a contact method takes; None where it takes none."""
    if isinstance(contacts, ShockPropagation):
        return contacts.after
    inner = impulse_of(contacts)
    return None if inner is None else inner.solver.sweeps


def with_sweeps(contacts: Any, sweeps: int) -> Any:
    """A contact method with so many sweeps."""
    if isinstance(contacts, ShockPropagation):
        return replace(contacts, after=sweeps)
    inner = impulse_of(contacts)
    return with_impulse(contacts, solver=None if inner is None else replace(inner.solver, sweeps=sweeps))


def _part(contacts: Any, name: str) -> Any:
    """What the impulses behind a contact method have in a field; None where there are none."""
    inner = impulse_of(contacts)
    return None if inner is None else getattr(inner, name)


def _solver(methods: Methods) -> str:
    solver = _part(methods.contacts, "solver")
    return NO_LAW if solver is None else name_of(solver, contact_methods.SOLVERS)


def _has(method: Any, name: str) -> bool:
    """Whether a method has a parameter."""
    return is_dataclass(method) and name in {field.name for field in fields(method)}


def of_forces(methods: Methods, name: str) -> str:
    """The level or the stabilisation of a joint method by forces; ``"none"`` where it has none to choose."""
    return str(getattr(methods.joints, name)) if _has(methods.joints, name) else NO_LAW


def _with_forces(name: str, value: str, methods: Methods) -> dict[str, Any]:
    """The joint method with another level or stabilisation."""
    if not _has(methods.joints, name):
        raise InputError(
            f"The joint method {name_of(methods.joints, joint_methods.MENU)!r} has no {name} to choose; choose "
            "'multipliers' or 'baraff' first."
        )
    return {"joints": replace(methods.joints, **{name: value})}


def _contacts(name: str, methods: Methods) -> dict[str, Any]:
    """Another contact method; solver, laws of friction and of collisions stay."""
    method, before = contact_methods.MENU[name](), impulse_of(methods.contacts)
    if before is None or impulse_of(method) is None:
        return {"contacts": method}
    kept = {part: getattr(before, part) for part in ("solver", "law", "restitution")}
    return {"contacts": with_impulse(method, **kept)}


def _order(methods: Methods) -> str:
    """The order of a step of high order; ``"none"`` where it has none to choose."""
    return str(methods.step.order) if _has(methods.step, "order") else NO_LAW


def _with_order(value: str, methods: Methods) -> dict[str, Any]:
    """The step with another order."""
    if not _has(methods.step, "order"):
        raise InputError("The step 'impulse' has no order to choose; choose 'extrapolated' or 'composed' first.")
    return {"step": replace(methods.step, order=int(value))}


SLOTS = (
    Slot(
        "preset",
        "Preset",
        "Settings that go together: accurate, balanced or fast. It changes those below.",
        tuple(presets.MENU),
        lambda methods: methods.preset,
        lambda name, _: {"preset": name},
    ),
    Slot(
        "step",
        "Step",
        "What happens in a step; steps of high order hold joints by themselves.",
        tuple(step_methods.MENU),
        lambda methods: name_of(methods.step, step_methods.MENU),
        lambda name, _: {"step": name},
    ),
    Slot(
        "order",
        "Order",
        "Order of such a step.",
        tuple(map(str, ORDERS)),
        _order,
        _with_order,
    ),
    Slot(
        "joints",
        "Joints",
        "How joints are held together.",
        tuple(joint_methods.MENU),
        lambda methods: name_of(methods.joints, joint_methods.MENU),
        lambda name, _: {"joints": name},
    ),
    Slot(
        "level",
        "Level",
        "What forces of joints hold: the accelerations or the velocities.",
        LEVELS,
        lambda methods: of_forces(methods, "level"),
        lambda name, methods: _with_forces("level", name, methods),
    ),
    Slot(
        "stabilisation",
        "Stabilisation",
        "What keeps joints together that forces hold.",
        STABILISATIONS,
        lambda methods: of_forces(methods, "stabilisation"),
        lambda name, methods: _with_forces("stabilisation", name, methods),
    ),
    Slot(
        "contacts",
        "Contacts",
        "What is done where bodies touch.",
        tuple(contact_methods.MENU),
        lambda methods: name_of(methods.contacts, contact_methods.MENU),
        _contacts,
    ),
    Slot(
        "contact_solver",
        "Contact solver",
        "What solves the contact problems.",
        tuple(contact_methods.SOLVERS),
        _solver,
        lambda name, methods: {"contacts": with_impulse(methods.contacts, solver=name)},
    ),
    Slot(
        "law",
        "Friction",
        "The law of friction; not every solver knows all of them.",
        tuple(LAWS),
        lambda methods: _part(methods.contacts, "law") or NO_LAW,
        lambda name, methods: {"contacts": with_impulse(methods.contacts, law=name)},
    ),
    Slot(
        "restitution",
        "Restitution",
        "The law by which bodies rebound.",
        tuple(RESTITUTIONS),
        lambda methods: _part(methods.contacts, "restitution") or NO_LAW,
        lambda name, methods: {"contacts": with_impulse(methods.contacts, restitution=name)},
    ),
    Slot(
        "integrator",
        "Integrator",
        "How free bodies move through a step.",
        tuple(INTEGRATORS),
        lambda methods: name_of(methods.integrator, INTEGRATORS),
        lambda name, _: {"integrator": name},
    ),
    Slot(
        "broadphase",
        "Broad phase",
        "How pairs that may touch are found.",
        (AUTOMATIC, *broadphase.MENU),
        _broadphase,
        lambda name, _: {"broadphase": None if name == AUTOMATIC else name},
    ),
    Slot(
        "narrowphase",
        "Narrow phase",
        "How the distance of two bodies is found.",
        tuple(narrowphase.MENU),
        lambda methods: name_of(_detection(methods).narrowphase, narrowphase.MENU),
        lambda name, _: {"narrowphase": name},
    ),
    Slot(
        "contact_time",
        "Contact time",
        "Whether a step ends when bodies touch, and how that moment is found.",
        CONTACT_TIMES,
        lambda methods: methods.contact_time,
        lambda name, _: {"contact_time": name},
    ),
)
