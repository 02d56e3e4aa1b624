"""The simulation: a scene compiled for a device, stepped by a recipe, open to reading and writing between steps."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Unpack

from rattleback import hooks, running
from rattleback.core import checks, device, host_read
from rattleback.core.errors import InputError, NotConverged, NotConvergedWarning
from rattleback.core.pace import Pace
from rattleback.core.sealed import sealed
from rattleback.forces.field import ForceField
from rattleback.model.compile import compile_scene
from rattleback.model.contact_passage import ContactPassage
from rattleback.model.passage import Passage
from rattleback.model.reset import Resets, reset
from rattleback.model.worlds.variation import Variation
from rattleback.observers import Observers
from rattleback.parameters import Parameters
from rattleback.presets import with_preset
from rattleback.problem.soft.elastic import force_jacobian
from rattleback.replay import Replay
from rattleback.settings import Settings, chosen, default_methods
from rattleback.starts import put_starts
from rattleback.views import Views

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from rattleback.collision.contact_view import ContactView
    from rattleback.core.protocols import Integrator, Observer
    from rattleback.core.report import Profile, Report
    from rattleback.forces.servo_view import ServoView
    from rattleback.lcp import Problem
    from rattleback.model.measure import Energy, Measures, Momentum
    from rattleback.model.scene import Scene
    from rattleback.model.state import State
    from rattleback.problem.joints_view import JointsView
    from rattleback.recorded_step import RecordedStep

# Settings that are chosen when a simulation is made.
AT_ONCE = ("device", "worlds", "vary", "seed")


@sealed
class Simulation:
    """A running simulation.

    Args:
        scene: What to simulate, or a list of scenes of one structure, one for each world; later changes to a scene do
            not reach it.
        **settings: ``preset``, ``"accurate"``, ``"balanced"`` (the default) or ``"fast"``, for what is not said beside
            it (see :mod:`rattleback.presets`; defaults below are those of ``"balanced"``); ``time_step`` [s] (default
            0.01); ``substeps``, in how many each is done (default 1); ``device``, ``"cpu"``, ``"cuda"`` or
            ``"cuda:0"``; ``worlds``, the number of copies side by side; ``vary``, what differs between them: a dict
            such as ``{"arm.mass": values, "ground.friction": rb.uniform(0.2, 0.8)}`` with a list of values or a
            distribution for every entry, or a function of a copy of the scene and the number of its world that changes
            it; ``seed`` of what is drawn (default 0); ``step``, ``integrator``, ``joints`` and
            ``contacts``, names from their menus or objects; ``broadphase``, ``bounding_volume`` and ``narrowphase``,
            the same, which find contacts no farther apart than ``contact_distance`` [m] (default a thousandth of the
            median size of what moves), at most ``contact_points`` a pair of solids (default 4), with
            ``contact_volumes`` to measure overlaps, found anew after every ``contact_every`` steps (default 1), between
            which they go with their bodies; ``contact_time``, ``"bisect"`` or ``"interpolate"`` to end steps when
            bodies touch (default ``"off"``); ``penetration_tolerance`` [m] and ``contact_velocity_tolerance`` [m/s] of
            contacts; ``position_tolerance`` [m], ``orientation_tolerance`` [rad] and ``velocity_tolerance`` [m/s,
            rad/s] of the joints (default 1e-6, in single precision 1e-3); ``closing_speed`` [m/s, rad/s], how fast
            joints that are apart are pulled together (default 10); ``max_iterations``, the corrections a step may take
            to meet the tolerances (default 50); ``strict``, to raise when a step does not; ``warn``, to give a warning
            where it is not to raise (default True); ``sleep``, to let bodies at rest sleep until something happens to
            them (default False).
    """

    def __init__(self, scene: Scene | Sequence[Scene], **settings: Unpack[Settings]) -> None:
        checks.options(settings, Settings.__annotations__, "Simulation")
        settings = with_preset(settings)
        self.device = device.find(settings.get("device", "cpu"))
        self._variation = Variation(scene, settings)
        self.model, self._state = compile_scene(self._variation.scenes(scene), self._variation.worlds, self.device)
        put_starts(self.model, self._state, self._variation.starts)
        self._resets, self.methods = Resets(self._state), chosen(settings, default_methods())
        self.strict, self.warn = settings.get("strict", False), settings.get("warn", True)
        self.time_step = settings.get("time_step", 0.01)
        self.forces = ForceField(self.model, self._state)
        self.observers, self._pace = Observers(), Pace()
        self._replay = Replay(self.forces, self._state, self.methods)
        self._views = Views(self.forces, self._replay)

    @property
    def _step(self) -> RecordedStep:
        return self._replay.step

    @property
    def strict(self) -> bool:
        """Whether a step that does not meet its tolerances raises; may be written."""
        return self._strict

    @strict.setter
    def strict(self, value: bool) -> None:
        self._strict = checks.flag(value, "strict")

    @property
    def warn(self) -> bool:
        """Whether it gives a warning where it does not raise; may be written."""
        return self._warn

    @warn.setter
    def warn(self, value: bool) -> None:
        self._warn = checks.flag(value, "warn")

    @property
    def integrator(self) -> Integrator:
        """How free bodies move."""
        integrator: Integrator = self.methods.integrator
        return integrator

    @property
    def scene(self) -> Scene:
        """The scene it was made from; where worlds differ, that of the first."""
        scene: Scene = self.model.scene
        return scene

    @property
    def scenes(self) -> list[Scene]:
        """The scene of every world."""
        return [self.model.scenes.of(world) for world in range(self.model.worlds)]

    @property
    def parameters(self) -> Parameters:
        """Its parameters by name, such as ``sim.parameters["arm.mass"]``, world by world, to read and to write."""
        return Parameters(self)

    @property
    def time(self) -> float:
        """Time reached [s]."""
        return self._state.time

    @property
    def time_step(self) -> float:
        """Length of a whole step [s]; may be changed between steps."""
        return float(host_read.first(self._state.clock.time_step))

    @time_step.setter
    def time_step(self, value: float) -> None:
        self._state.clock.time_step.fill_(checks.positive(value, "time_step"))

    @property
    def worlds(self) -> int | None:
        """Number of worlds asked for; None for a single one without a world axis."""
        return self.model.worlds if self.model.batched else None

    @property
    def state(self) -> State:
        """Everything the simulation needs to go on. Assign a copy to go back to it."""
        return self._state

    @state.setter
    def state(self, other: State) -> None:
        self._state.assign(other)

    def __getitem__(self, key: Any) -> Any:
        """A body, a group or a joint, by name or by what ``add_body`` or ``add_joint`` returned."""
        return self._views.find(key)

    @property
    def joints(self) -> JointsView:
        """The free coordinates of all joints with their rates, as arrays, and the torques that drive them."""
        return self._views.joints

    @property
    def contacts(self) -> ContactView:
        """The contacts at this moment."""
        return self._views.contacts()

    def servo(self, name: str) -> ServoView:
        """A servo of the scene by the name of its force: its target and controller can be set between steps."""
        return self._views.servo(name)

    def use(self, **settings: Unpack[Settings]) -> None:
        """Swap ``preset``, ``integrator`` or ``joints``, or change any other setting but ``device`` and ``worlds``."""
        allowed = [name for name in Settings.__annotations__ if name not in AT_ONCE]
        checks.options(settings, allowed, "use")
        settings = with_preset(settings)
        methods = chosen(settings, self.methods)
        step = checks.positive(settings.get("time_step", self.time_step), "time_step")
        strict = checks.flag(settings.get("strict", self.strict), "strict")
        warn = checks.flag(settings.get("warn", self.warn), "warn")
        if methods != self.methods:
            self._replay.choose(methods)
        vars(self).update(methods=methods, _pace=Pace())
        self.strict, self.warn, self.time_step = strict, warn, step

    def rebuild(self, scene: Scene | Sequence[Scene]) -> None:
        """Go on with another scene, such as ``sim.scene.copy()`` with something changed; settings and observers stay.

        What ``vary`` says differs from it in every world again; a list has the scene of each world.

        Bodies, joints and servos that both scenes have by the same name go on as they are, but for what the new scene
        says otherwise of them; what is new starts as it says. Where the new scene does not compile, everything stays
        as it was. Views of bodies and joints are to be taken anew.
        """
        self._state.send()
        model, state = compile_scene(self._variation.scenes(scene), self.worlds, self.device)
        put_starts(model, state, self._variation.starts)
        resets = Resets(state)
        passage = ContactPassage(Passage(self.model, model))
        passage.carry(self._state, state)
        forces = ForceField(model, state)
        replay = Replay(forces, state, self.methods)
        passage.wake(state)
        self._state.retire()
        vars(self).update(model=model, forces=forces, _resets=resets)
        self._state, self._replay, self._views = state, replay, Views(forces, replay)

    def step(self, steps: int = 1, budget_ms: float | None = None) -> None:
        """Take one step, or several.

        Args:
            steps: How many.
            budget_ms: Time each step may take [ms]. Corrections of the joints end when it is used up, with the best
                found so far; the report says so, and the steps that follow repair the error.

        Raises:
            DivergenceError: A body is no longer finite; the state is the last good one.
            NotConverged: With ``strict=True``, a step did not meet its tolerance.
        """
        count = checks.count(steps, "The number of steps")
        budget = None if budget_ms is None else 1e-3 * checks.positive(budget_ms, "budget_ms")
        self._begin(budget)
        while count > 0:
            count -= self._take(count)
        self._end()

    def contact_problem(self, world: int = 0) -> Problem:
        """The contact problem that the next step poses first, as an ``rb.lcp.Problem``; the simulation stays as it is.

        Three rows a contact point, along its normal and across, joints inside. Velocities are mean ones over the step,
        with the gaps of open points; ``remark`` says which bodies touch. Every method of ``rb.lcp`` can solve it, and
        ``problem.save(path)`` keeps it.

        Args:
            world: Which world of a batch.
        """
        from rattleback.contact_problems import next_contact_problem

        return next_contact_problem(self, world)

    def capture(self) -> None:
        """Make the step ready now where something was exchanged since it was; else the next step does so itself."""
        self._replay.renew()

    def run(self, duration: float, progress: bool = False) -> None:
        """Step until ``duration`` more has passed [s]; the last step is shorter if it does not fit.

        With a contact time, worlds go on by themselves; it ends when the slowest is there.

        Args:
            duration: Time to simulate [s].
            progress: Whether to show a progress bar.
        """
        left, h = self.check_duration(duration), math.inf
        self._begin()
        while left > 1e-9 * h or h == math.inf:
            if self.methods.contact_time != "off":
                running.take_until(self, float(self._state.clock.time.numpy().min()) + left)
                break
            h = self.time_step
            if whole := math.floor(left / h * (1.0 + 1e-12) + 1e-9):
                left -= h * running.take_while(self, h, whole, progress)
            else:
                self._take(1, left)
                break
        self._end()

    def check_duration(self, duration: float) -> float:
        """The duration [s], if it is one that ``run`` can take."""
        wanted, h = checks.positive(duration, "The duration"), self.time_step
        if wanted / h > checks.MOST:
            raise InputError(f"The duration is {duration!r} s, more steps of {h:g} s than can be counted.")
        return wanted

    def observe(self, observer: Observer) -> None:
        """Have an observer called after every ``observer.every``-th step."""
        self.observers.attach(observer)

    def unobserve(self, observer: Observer) -> None:
        """Stop calling an observer; one that is not attached is left alone."""
        self.observers.detach(lambda entry: entry.observer is observer)

    after_step = hooks.after_step
    at = hooks.at
    on_contact = hooks.on_contact
    on_break = hooks.on_break
    forget = hooks.forget
    force_jacobian = force_jacobian
    reset = reset

    @property
    def measures(self) -> Measures:
        """What energy and momentum are summed up from, body by body."""
        return self._views.measures

    def energy(self) -> Energy:
        """Kinetic, potential and total energy [J]; potential energy is that of the forces that have one."""
        return self._views.energy()

    def momentum(self) -> Momentum:
        """Linear [kg m/s] and angular [kg m²/s] momentum about the world's origin."""
        return self.measures.momentum()

    def linearize(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The linear system near the present state, d/dt (δ, ε) = A (δ, ε) + B u.

        δ and ε are deviations of the coordinates and rates of ``rb.dynamics.Articulation(sim.scene)``, u those of
        ``sim.joints.torque``. Contacts and limits are no part of it.

        Returns:
            A (2 nv, 2 nv) and B (2 nv, coordinates), with a leading axis of worlds where they were asked for.
        """
        from rattleback.dynamics.of_simulation import linearized

        return linearized(self)

    def jacobian(self, of: Any, with_respect_to: Any, steps: Any = None, duration: Any = None, world: int = 0) -> Any:
        """How quantities after ``steps`` or a ``duration`` [s] change with what is changed now; the simulation stays.

        ``of`` names quantities or is a function of the simulation, ``with_respect_to`` names parameters as ``vary``
        does, coordinates, rates, motion and commands. Returns an ``rb.Jacobian``, which estimates its error.
        """
        from rattleback.sensitivities.of_simulation import jacobian_of

        return jacobian_of(self, of, with_respect_to, (steps, duration), world)

    def hash(self) -> str:
        """SHA-256 of the state: equal hashes are equal bits."""
        return self._state.hash()

    @property
    def report(self) -> Report:
        """What the last call to ``step`` or ``run`` says about itself."""
        return self._replay.report()

    def profile(self, steps: int = 100) -> Profile:
        """Where the time of a step goes, measured over ``steps`` steps from here; the simulation stays where it is."""
        return self._replay.profile(checks.count(steps, "The number of steps to profile"))

    def save(self, path: str | PathLike[str]) -> None:
        """Write scene, settings and state to a file; :func:`rattleback.load` goes on from it bit for bit."""
        from rattleback.io.state_file import save

        save(self, path)

    def _advice(self, name: str) -> str:
        if name in AT_ONCE:
            return f"Make another simulation with {name}=..."
        if name in Settings.__annotations__:
            return f"It is changed by sim.use({name}=...)."
        return "To go on with another one there is sim.rebuild(scene)." if name == "scene" else ""

    def _begin(self, budget: float | None = None) -> None:
        """A call begins; each of its steps may take a time [s]."""
        self.observers.check_idle()
        self._replay.begin(budget)

    def _take(self, most: int, length: float | None = None) -> int:
        """Take steps up to where an observer wants to look, let them look, and say how many were taken.

        Args:
            most: Steps at most.
            length: Length of a step, if it is to be another than the present one [s]; observers do not see it.
        """
        steps = min(most, self.observers.steps_left(self))
        if length is None:
            self._replay.advance(steps)
        else:
            usual, self.time_step = self.time_step, length
            try:
                self._replay.advance(steps)
            finally:
                self.time_step = usual
        self.observers.look(self)
        return steps

    def _end(self) -> None:
        """Say so when a step of the call did not meet its tolerance."""
        if not (self.strict or self.warn) or not self._step.fell_short() or (report := self.report).converged:
            return
        if self.strict:
            raise NotConverged(report.reason)
        if said := self._pace.warning(report):
            warnings.warn(said, NotConvergedWarning, stacklevel=3)
