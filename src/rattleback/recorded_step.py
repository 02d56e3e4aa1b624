"""The step of a simulation, written down for its scene with the methods chosen, compiled and captured."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback import steps as step_methods
from rattleback.contact_stages import make_contacts, make_impulses
from rattleback.core import arrays, host_read
from rattleback.core.choice import name_of
from rattleback.core.report import Report
from rattleback.core.stages import Program
from rattleback.forces.servo_bounds import make_servo_bounds
from rattleback.forces.stiff_forces import limit_of_step
from rattleback.forces.tree_servos import find_tree_servos
from rattleback.model.row_counts import servo_places
from rattleback.model.state import Loads, Motion
from rattleback.model.step_context import Diagnostics, Moment, StepContext
from rattleback.problem.by_forces.joint_forces import JointForces
from rattleback.problem.corrections import Limits
from rattleback.problem.held_velocities import HeldVelocities
from rattleback.problem.joint_rows import compile_joints
from rattleback.problem.load_iteration import integrator_part
from rattleback.problem.make_preview import make_preview
from rattleback.problem.preview import Preview
from rattleback.problem.soft.newton import ImplicitMotion
from rattleback.reduced.midpoint.scene_trees import SceneTrees
from rattleback.settings import DEFAULT_TOLERANCE, TOLERANCES, Methods
from rattleback.solvers import joints as joint_methods
from rattleback.solvers.joints.by_forces import check_joints, check_settings, works_by_forces
from rattleback.solvers.joints.direct import Direct
from rattleback.solvers.joints.drives import check_drives
from rattleback.solvers.joints.implicit import check_implicit, is_implicit
from rattleback.steps import AccelerationStep, ImplicitStep, ImpulseStep, ReducedStep
from rattleback.steps.energy_account import make_energy_account
from rattleback.steps.integration_report import IntegrationReport
from rattleback.steps.sleeping import Sleeping
from rattleback.steps.symmetric.refused import check_scene
from rattleback.steps.symmetric.symmetric_step import make_symmetric_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.collision.stages import ContactStages
    from rattleback.forces.field import ForceField
    from rattleback.model.state import State
    from rattleback.problem.joint_rows import JointRows
    from rattleback.steps.energy_limit import EnergyLimit
    from rattleback.steps.energy_watch import EnergyWatch


class RecordedStep:
    """A step ready to be replayed.

    Attributes:
        program: The launches.
        context: What they work on.
        preview: How joints are held; None without joints.
        contacts: How contacts are found; None where they are not.
        impulses: How they are resolved; None where they are not.
        sleep: How bodies fall asleep and wake; None where they do not.
        scenes_version: Version of the scenes of the model that it was recorded for.

    Args:
        forces: The forces of the scene, with its model.
        state: What is stepped.
        methods: How.
        old: The step before, of the same state, whose arrays may be used on.
    """

    # Contact detection for reading contacts where nothing can touch, made when it is first asked for.
    _idle: ContactStages | None = None

    def __init__(self, forces: ForceField, state: State, methods: Methods, old: RecordedStep | None = None) -> None:
        self.forces, self.state, self.methods, self.model = forces, state, methods, forces.model
        held = bool(self.model.scene.joints)
        plain = self._takes_plain_steps()
        meets = plain and (self.model.bodies_can_meet or not methods.resolves)
        self.by_forces = held and plain and self._takes_forces()
        self.scene_trees = self._find_trees() if held and plain else None
        self.tree_servos = find_tree_servos(forces.named, None if self.scene_trees is None else self.scene_trees.found)
        self._trees_only = self._has_trees_only(meets)
        self.context = self._make_context((held and not self._trees_only) or (meets and methods.resolves), old)
        self.program = self.context.program
        self._clear_worst = host_read.clearing(*(array for _, array in arrays.each(self.context.worst)))
        self.trees = None if self.scene_trees is None else self._make_trees(self.scene_trees)
        self.preview = self._make_preview() if held else None
        self.symmetric = make_symmetric_step(self.context, methods.step, self.preview)
        self.joint_forces, self.implicit = self._make_joint_forces(), self._make_implicit()
        self.velocities = self._make_velocities()
        self.servos = None if self.preview is None else make_servo_bounds(self.context, self.preview, forces.named)
        self.contacts = self._make_contacts(getattr(old, "contacts", None), meets)
        self.impulses = make_impulses(self.context, methods, self.contacts)
        self.sleep = self._make_sleep() if methods.sleep else None
        self.energy = self._make_energy()
        self._version, self._memory, self._driven, self._carried_at = 0, state.contacts, forces.driven, -1
        self.scenes_version = self.model.scenes.version
        self._record()

    def _record(self) -> None:
        """Write the step down and compile it."""
        forces = self.forces
        forces.drive(self.soft_rows)
        if self.contacts is not None:
            self._version = self.contacts.version
            self.contacts.stale.fill_(1)
        with forces.around_step(self.program, self.context.stop):
            step = self._recipe()
            step.record(self.context)
        if self.sleep is not None:
            with forces.around_idle_step(self.program, self.sleep.islands.awake, self.context.stop):
                step.record_idle_clock(self.context)
        self.program.compile()
        self.state.waker = None if self.sleep is None else self.sleep.waker

    def _recipe(self) -> Any:
        """What happens in a step, by how joints are held."""
        integrator, preview = self.trees or self.methods.integrator, self.preview
        if self.symmetric is not None:
            return self.symmetric
        if self._trees_only:
            return ReducedStep(self.trees)
        if self.implicit is not None and preview is not None:
            return ImplicitStep(self.implicit, preview, self.contacts, self.servos)
        if self.joint_forces is not None and preview is not None:
            return AccelerationStep(integrator, self.joint_forces, preview, self.contacts, self.servos)
        held = (preview, self.contacts, self.impulses, self.sleep, self.energy, self.velocities, self.servos)
        return ImpulseStep(integrator, *held)

    @property
    def outdated(self) -> bool:
        """Whether the buffers of the contacts have been exchanged since, or joints are driven by hand."""
        if self._driven != self.forces.driven or self._trees_outdated:
            return True
        if self.sleep is not None and self.sleep.kept is not self.state.sleeping_contacts:
            return True
        if self.preview is not None and not self._trees_only and self._memory is not self.state.contacts:
            return True
        if self.contacts is None:
            return False
        exchanged = self.contacts.keeps and self.contacts.memory is not self.state.contacts
        return exchanged or self.contacts.version != self._version

    @property
    def _trees_outdated(self) -> bool:
        return self.scene_trees is not None and self.scene_trees.outdated

    @cached_property
    def fell_short(self) -> Callable[[], bool]:
        """To be asked whether a step of the call may have left something outside its tolerance."""
        flags = [self.context.worst.trouble]
        if self.preview is not None and not self._trees_only:
            flags.append(self.preview.status.failed)
        if self.impulses is not None:
            flags.append(self.impulses.errors.failed)
        flags += [] if self.servos is None else [self.servos.fell_short]
        flags += [] if self.energy is None else self.energy.fell_short
        return host_read.watching(*flags)

    @property
    def soft_rows(self) -> JointRows | None:
        """The joints as rows, those that yield among them; None without joints."""
        if self.implicit is not None:
            return self.implicit.problem
        return None if self.preview is None else self.preview.problem

    def with_reactions(self) -> Preview | None:
        """How joints are held, with what they have carried in the last step."""
        if self._trees_only and self._carried_at != self.state.moment:
            self._carried_at = self.state.moment
            self._carried()
        return self.preview

    @cached_property
    def _carried(self) -> Callable[[], None]:
        return self.trees.carried(self.context, self.preview) if self.trees is not None else lambda: None

    def report(self) -> Report:
        """What the steps of the call say about themselves."""
        tolerances = self.methods.tolerances
        held = {} if self.preview is None else self.preview.summary(tolerances)
        if self.joint_forces is not None:
            held = self.joint_forces.summary(held)
        if self.symmetric is not None:
            held = self.symmetric.summary(held)
        pressed = {} if self.impulses is None else self.impulses.summary()
        limited = {} if self.energy is None else self.energy.summary()
        said = {"step": self.state.steps, "time": self.state.time, **self._integrated()}
        given = {**said, **tolerances, **limited, **pressed, **held}
        own = 0 if self.trees is None and self.symmetric is None and self.implicit is None else said["iterations"]
        given["iterations"] = max(own, given["iterations"])
        reason = given.get("reason", "")
        if limited.get("reason") and reason != limited["reason"]:
            # How many steps were outside stays the last word.
            said, mark, count = reason.partition(" This is the worst of ")
            reason = f"{said} {limited['reason']}{mark}{count}"
        given["reason"] = f"{self.held_back()} {reason} {self.limit_of_step() if reason else ''}".strip()
        return Report(**given, converged=not given.get("reason"))

    def _integrated(self) -> dict[str, Any]:
        """What the report says of the motion of the bodies."""
        methods, chosen = self.methods, None
        if self.symmetric is not None:
            chosen = (name_of(methods.step, step_methods.MENU), methods.step)
        elif self.implicit is not None:
            chosen = (name_of(methods.joints, joint_methods.MENU), methods.joints)
        meets, tolerance = self.velocities is not None, methods.tolerances["velocity_tolerance"]
        given = (methods.integrator, tolerance, meets, self.trees, chosen)
        return IntegrationReport(self.context, *given).summary()

    @property
    def _length(self) -> float:
        """Length of a sub-step [s]."""
        return float(host_read.first(self.state.clock.time_step)) / self.methods.substeps

    def held_back(self) -> str:
        """Which servo asked for more than the step can follow; empty where none did."""
        return "" if self.servos is None else self.servos.reason(self._length)

    def limit_of_step(self) -> str:
        """Which force is too stiff for the step, where that would make a motion grow; empty where none is."""
        if self.symmetric is not None or not getattr(self.methods.integrator, "explicit", True):
            return ""
        damped = not self._meets_joints or self.model.has_loose_bodies
        return limit_of_step(self.forces.named, self._length, damped)

    def grown(self) -> RecordedStep:
        """The same step with larger buffers for the contacts; what the call has seen so far is kept."""
        if self.contacts is not None and self.contacts.version == self._version and self._driven == self.forces.driven:
            if self.sleep is not None:
                self.contacts.finder.reserve(self.sleep.room_wanted())
            self.contacts.grow()
        new = RecordedStep(self.forces, self.state, self.methods, self)
        arrays.copy_into(new.context.worst, self.context.worst)
        arrays.copy_into(new.context.start, self.context.start)
        kinds = (*(() if self._trees_outdated else ("preview",)), "impulses", "energy", "servos")
        parts: Any = ((getattr(self, kind), getattr(new, kind)) for kind in kinds)
        for before, after in parts:
            if before is not None and after is not None:
                after.take_over(before)
        return new

    def looking(self) -> ContactStages | None:
        """Contact detection for reading contacts, also where nothing can touch; None if contacts are not found."""
        if self.contacts is None and self._idle is None:
            self._idle = make_contacts(self.context, self.methods)
        if self.sleep is not None:
            self.sleep.align()
        return self.contacts or self._idle

    def forget(self) -> None:
        """A call begins: the worst errors start anew."""
        for forget in self._forgetting:
            forget()

    @cached_property
    def _forgetting(self) -> list[Callable[[], None]]:
        parts: Any = (None if self._trees_only else self.preview, self.impulses, self.energy, self.servos)
        return [self._clear_worst, *(part.forget for part in parts if part is not None)]

    def _evaluate(self, moment: Moment, loads: Loads) -> None:
        """Record the launches that write the loads of a moment."""
        if self.velocities is not None:
            moment = self.velocities.look(moment)
        self._evaluate_others(moment, loads)
        if self.joint_forces is not None:
            self.joint_forces.record(moment, loads)

    def _evaluate_others(self, moment: Moment, loads: Loads) -> None:
        """Record the same without the forces of joints."""
        self.forces.record(self.program, moment, loads)

    def _make_context(self, held: bool, old: RecordedStep | None) -> StepContext:
        model, device = self.model, self.model.device
        stop = wp.zeros(1, dtype=wp.int32, device=device)
        program, counts = Program(device, stop), {"bodies": model.count, "worlds": model.worlds}
        return StepContext(
            program,
            model,
            self.state,
            start=arrays.allocate(Motion, counts, device) if held else self.state.motion,
            predicted=arrays.allocate(Motion, counts, device) if old is None else old.context.predicted,
            loads=arrays.allocate(Loads, counts, device),
            evaluate=self._evaluate,
            velocity_dependent=self.by_forces
            or (self.forces.velocity_dependent and (not self._meets_joints or self.model.has_loose_bodies)),
            motion_dependent=self.by_forces or self.forces.motion_dependent,
            diagnostics=arrays.allocate(Diagnostics, counts, device),
            worst=arrays.allocate(Diagnostics, counts, device),
            proposed=wp.zeros(model.worlds, dtype=wp.float64, device=device),
            stop=stop,
            substeps=self.methods.substeps,
        )

    def _make_preview(self) -> Preview:
        methods, limits = self.methods, Limits()
        limits.position, limits.orientation, limits.velocity = (methods.tolerances[name] for name in TOLERANCES)
        limits.most, limits.speed = methods.max_iterations, methods.closing_speed
        # What a step leaves open the next one closes with a push, so loose tolerances are not used up.
        limits.part = min(1.0, max(0.01, DEFAULT_TOLERANCE / methods.tolerances["position_tolerance"]))
        if self.trees is not None:
            given = (self.trees.problem, self.trees.make_rows(self.context))
            return make_preview(self.context, *given, limits, methods.sleep)
        plain, broken = methods.step.scheme() is None, self.state.breaks.broken
        implicit = plain and is_implicit(methods.joints)
        drives = plain and not self.by_forces and not implicit
        problem = compile_joints(self.model, broken, hard_only=implicit, drives=drives)
        method = Direct() if self.by_forces or implicit or not plain else methods.joints
        return make_preview(self.context, problem, method, limits, methods.sleep)

    def _takes_plain_steps(self) -> bool:
        """Whether steps are what the methods make of them; a scene that other steps cannot take is refused."""
        if self.methods.step.scheme() is None:
            return True
        check_scene(name_of(self.methods.step, step_methods.MENU), self.methods, self.model, self.forces)
        return False

    def _takes_forces(self) -> bool:
        """Whether joints are held by forces; where the scene or a setting does not go with that, it is refused."""
        methods = self.methods
        if works := works_by_forces(methods.joints):
            name = name_of(methods.joints, joint_methods.MENU)
            check_joints(name, methods.joints, self.model.scene)
            check_settings(name, methods, self.model.bodies_can_meet)
        return works

    def _make_joint_forces(self) -> JointForces | None:
        """The forces that hold joints, where forces do."""
        if self.preview is None or not self.by_forces:
            return None
        return JointForces(self.context, self.methods.joints, self.preview.problem, self._evaluate_others)

    def _make_contacts(self, before: ContactStages | None, meets: bool) -> ContactStages | None:
        """How contacts are found, as before where that is the same; None where they are not."""
        found = make_contacts(self.context, self.methods, before, meets)
        if found is not None:
            found.skip_still(self.methods.sleep)
        return found

    def _make_implicit(self) -> ImplicitMotion | None:
        """The implicit step, where one moves the bodies; where the scene or a setting does not go with it: refused."""
        if self.preview is None or not is_implicit(self.methods.joints) or self.symmetric is not None:
            return None
        check_implicit(self.methods, self.model.scene, self.model.bodies_can_meet)
        problem = compile_joints(self.model, self.state.breaks.broken)
        return ImplicitMotion(self.context, problem, self.methods.joints)

    def _find_trees(self) -> SceneTrees | None:
        """The trees of the scene; None with methods without trees."""
        trees = SceneTrees(self.model, self.state) if hasattr(self.methods.joints, "trees") else None
        by_rows = trees is None and not self.by_forces and not is_implicit(self.methods.joints)
        check_drives(name_of(self.methods.joints, joint_methods.MENU), self.model, trees, by_rows)
        return trees

    def _make_trees(self, trees: SceneTrees) -> Any:
        methods, movers = self.methods, (self.methods.integrator, self.tree_servos)
        return trees.motion(self.context, movers, (methods.tolerances["velocity_tolerance"], methods.joints.max_rounds))

    def _has_trees_only(self, meets: bool) -> bool:
        """Whether there is nothing but trees: no row that they do not hold, no contacts, no sleep, no servos."""
        others = len(servo_places(self.model.scene)) - len(self.tree_servos.links)
        if self.scene_trees is None or self.methods.sleep or others:
            return False
        return not self.scene_trees.problem.row_count and not (meets and self.methods.finds)

    @property
    def _by_impulses(self) -> bool:
        """Whether joints are held by impulses, not by forces."""
        return not self.by_forces and self.implicit is None

    def _make_velocities(self) -> HeldVelocities | None:
        """What forces see of jointed bodies, where they look at velocities after the start of a step."""
        if self.preview is None or self.trees is not None or not self._meets_joints or not self._by_impulses:
            return None
        return HeldVelocities(self.context, self.preview, self.methods.integrator)

    @property
    def _meets_joints(self) -> bool:
        """Whether forces look at velocities that joints have a say in: later than at the start of a step."""
        held = bool(self.model.scene.joints) and self.methods.step.scheme() is None
        return held and self.forces.velocity_dependent and integrator_part(self.methods.integrator) > 0.0

    def _make_sleep(self) -> Sleeping:
        taken = None if self.impulses is None else self.impulses.taken
        return Sleeping(self.context, self.forces, self.contacts, self.preview, taken)

    def _make_energy(self) -> EnergyLimit | EnergyWatch | None:
        """What is done about energy that joints and contacts add; forces that hold joints are left to their error."""
        if not self._by_impulses or self.symmetric is not None:
            return None
        impulses = None if self.impulses is None else (self.impulses, self.contacts)
        preview = self.preview if self.trees is None else None
        order = getattr(self.methods.integrator, "order", 2)
        given = (self.methods.tolerances, order, self.preview and self.preview.solver)
        return make_energy_account(self.context, preview, impulses, *given)
