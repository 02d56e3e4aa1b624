"""The step of a simulation, written down for its scene with the methods chosen, compiled and captured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import warp as wp

from rattleback.core import arrays
from rattleback.core.stages import Program
from rattleback.model.bench import Bench, Diagnostics
from rattleback.model.state import Loads, Motion
from rattleback.problem.corrections import Limits
from rattleback.problem.joint_rows import compile_joints
from rattleback.problem.preview import Preview, make_preview
from rattleback.settings import DEFAULT_TOLERANCE, TOLERANCES, Methods
from rattleback.steps import ImpulseStep

if TYPE_CHECKING:
    from rattleback.collision.stages import ContactStages
    from rattleback.forces.field import ForceField
    from rattleback.model.state import State


class RecordedStep:
    """A step ready to be replayed.

    Attributes:
        program: The launches.
        bench: What they work on.
        preview: How joints are held; None without joints.
        contacts: How contacts are found; None where nobody wants them.

    Args:
        forces: The forces of the scene, with its model.
        state: What is stepped.
        methods: How.
        old: The step before, of the same state, whose arrays may be used on.
    """

    def __init__(self, forces: ForceField, state: State, methods: Methods, old: RecordedStep | None = None) -> None:
        self.forces, self.state, self.methods, self.model = forces, state, methods, forces.model
        held = bool(self.model.scene.joints)
        self.bench = self._make_bench(held, old)
        self.program = self.bench.program
        self.preview = self._make_preview() if held else None
        self.contacts = self._make_contacts(old)
        self._version = 0 if self.contacts is None else self.contacts.version
        with forces.around_step(self.program, self.bench.stop):
            ImpulseStep(methods.integrator, self.preview, self.contacts).record(self.bench)
        self.program.compile()

    @property
    def outdated(self) -> bool:
        """Whether the buffers of the contacts have been exchanged since."""
        return self.contacts is not None and self.contacts.version != self._version

    def grown(self) -> RecordedStep:
        """The same step with larger buffers for the contacts; what the call has seen so far is kept."""
        if self.contacts is not None and not self.outdated:
            self.contacts.grow()
        new = RecordedStep(self.forces, self.state, self.methods, self)
        arrays.copy_into(new.bench.worst, self.bench.worst)
        if self.preview is not None and new.preview is not None:
            new.preview.take_over(self.preview)
        return new

    def forget(self) -> None:
        """A call begins: the worst errors start anew."""
        if self.preview is not None:
            self.preview.forget()
        for _, array in arrays.each(self.bench.worst):
            array.zero_()

    def _make_bench(self, held: bool, old: RecordedStep | None) -> Bench:
        model, device = self.model, self.model.device
        stop = wp.zeros(1, dtype=wp.int32, device=device)
        program, counts = Program(device, stop), {"bodies": model.count, "worlds": model.worlds}
        return Bench(
            program,
            model,
            self.state,
            start=arrays.allocate(Motion, counts, device) if held else self.state.motion,
            predicted=arrays.allocate(Motion, counts, device) if old is None else old.bench.predicted,
            loads=arrays.allocate(Loads, counts, device),
            evaluate=lambda moment, into: self.forces.record(program, moment, into),
            velocity_dependent=self.forces.velocity_dependent,
            motion_dependent=self.forces.motion_dependent,
            diagnostics=arrays.allocate(Diagnostics, counts, device),
            worst=arrays.allocate(Diagnostics, counts, device),
            proposed=wp.zeros(model.worlds, dtype=wp.float64, device=device),
            stop=stop,
        )

    def _make_preview(self) -> Preview:
        methods, limits = self.methods, Limits()
        limits.position, limits.orientation, limits.velocity = (methods.tolerances[name] for name in TOLERANCES)
        limits.most, limits.speed = methods.max_iterations, methods.closing_speed
        # What a step leaves open the next one closes with a push, so loose tolerances are not used up.
        limits.part = min(1.0, max(0.01, DEFAULT_TOLERANCE / methods.tolerances["position_tolerance"]))
        return make_preview(self.bench, compile_joints(self.model), methods.joints, limits)

    def _make_contacts(self, old: RecordedStep | None) -> ContactStages | None:
        methods = self.methods
        if methods.contacts == "none" or methods.detection is None:
            return None
        from rattleback.collision.contact_time import ContactTime
        from rattleback.collision.stages import ContactStages

        time = None if methods.contact_time == "off" else ContactTime(methods.contact_time)
        before = None if old is None else old.contacts
        if before is not None and before.how == methods.detection and before.time == time:
            return before
        return ContactStages(self.bench, methods.detection, time)
