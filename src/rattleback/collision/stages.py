"""Contact stages of a step: detection at its end, continuous bodies within it, its end at the time of impact."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.collision.ccd.continuous import Continuous
from rattleback.collision.finder import Finder
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.collision.manifold.update import find_before_detection, find_phase
from rattleback.core.kernel import kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.collision.ccd.time_of_impact import ContactTime
    from rattleback.collision.detection import Detection
    from rattleback.core.stages import Program
    from rattleback.model.step_context import StepContext


@kernel
def note_fresh(stale: wp.array[wp.int32], stop: wp.array[wp.int32]) -> None:
    """The contacts are those of the state, unless a buffer was too small."""
    if stop[0] == 0:
        stale[0] = 0


@kernel
def note_stale(stale: wp.array[wp.int32]) -> None:
    """The contacts are not those of the state any more."""
    stale[0] = 1


class ContactStages:
    """The stages of a step that deal with contacts.

    Args:
        context: What the step works on; its motions must stay the same arrays.
        how: How contacts are detected.
        time: How the time of impact is found; None for steps of fixed length.
        keeps: Whether the state stores the contacts, as contact solvers need.

    Attributes:
        finder: Finds the contacts at the end of a step.
        continuous: Stops continuous bodies at their first contact.
    """

    def __init__(self, context: "StepContext", how: "Detection", time: "ContactTime | None", keeps: bool) -> None:
        model, motion, predicted = context.model, context.state.motion, context.predicted
        geometry, each = compile_colliders(model), len(model.names)
        self.how, self.time, self.keeps, self.clock = how, time, keeps, context.state.clock
        # Steps that end when bodies touch need contacts at the end of each.
        how = how if time is None else replace(how, every=1)
        # A contact solver needs speculative contacts, unless the step ends when bodies touch.
        ahead = context.state.clock if keeps and time is None else None
        self.finder = Finder(geometry, each, motion, how, context.state if keeps else None, ahead)
        # 1 where contacts are no longer those of the state.
        self.stale = wp.full(1, 1, dtype=wp.int32, device=model.device)
        distance = self.finder.distance
        self.continuous = Continuous(model, geometry, motion, predicted, distance, how.broadphase)
        # Penetration at the predicted end of the step is detected on its own.
        self._trial = None if time is None else Finder(geometry, each, predicted, how)
        given = (geometry, context.state.clock, motion, predicted, distance, keeps)
        self._search = None if time is None else time.bind(*given)

    @property
    def version(self) -> int:
        """Changes when the buffers of the finder were exchanged outside a step."""
        return self.finder.version

    @property
    def memory(self) -> Any:
        """What the finder remembers of the last contacts."""
        return self.finder.contact_list.memory

    def skip_still(self, skips: bool) -> None:
        """Find no contacts between still colliders from now on, or between all again; then record again."""
        still = self.finder.still if skips else None
        if skips and still is None:
            still = wp.zeros(self.finder.geometry.count, dtype=wp.int32, device=self.clock.time.device)
        for part in (self.finder, self._trial):
            if part is not None:
                part.skip_still(still)

    def record_contacts(self, program: "Program", stop: Any) -> None:
        """Record the detection of contacts, or the update of their manifolds between detections."""
        updater, phase = self.finder.updater, self.finder.phase
        if updater is None:
            self.finder.record(program, stop)
            return
        program.launch(find_phase, 1, self.clock, self.stale, self.finder.contacts, updater.every, phase)
        with program.when(phase.due):
            self.finder.record(program, stop)
            self.record_fresh(program, stop)
        with program.when(phase.carried):
            self.finder.record_update(program, anew=False)

    @property
    def every(self) -> int:
        """After how many steps contacts are detected."""
        return 1 if self.finder.updater is None else self.finder.updater.every

    def before_detection(self, program: "Program") -> AbstractContextManager[None]:
        """What is recorded inside is done in steps after which contacts are detected."""
        phase = self.finder.phase
        if self.every == 1:
            return nullcontext()
        program.launch(find_before_detection, 1, self.clock, self.every, phase)
        return program.when(phase.before_detection)

    def record_stale(self, program: "Program") -> None:
        """Record that contacts have to be detected when they are needed next, not updated."""
        if self.finder.updater is not None:
            program.launch(note_stale, 1, self.stale)

    def record_memory(self, program: "Program", stop: Any) -> None:
        """Record what stores them as those of the last detection."""
        self.finder.record_memory(program, stop)

    def record_fresh(self, program: "Program", stop: Any) -> None:
        """Record that the contacts are those of the state."""
        program.launch(note_fresh, 1, self.stale, stop)

    @property
    def shortens(self) -> bool:
        """Whether steps end when bodies touch."""
        return self._search is not None

    def record_search(self, program: "Program", stop: Any, predict: "Callable[[], None]") -> None:
        """Record predictions with shorter and shorter steps, until bodies that meet just touch.

        Args:
            program: Where to record.
            stop: One-entry array; set to −1 where a buffer was too small.
            predict: Records a prediction from the start of the step, with the clock's step.
        """
        if self._search is None or self._trial is None:
            return
        self._search.begin(program)
        with program.loop(self._search.search.going):
            predict()
            self.continuous.record(program, stop)
            items, found = self._trial.record_answers(program, stop)
            self._search.judge(program, self.finder.contacts, items, found, stop)

    def record_stops(self, program: "Program", stop: Any) -> None:
        """Record what stops continuous bodies of the prediction at their first contact, unless a search has done so."""
        if self._search is None:
            self.continuous.record(program, stop)

    def record_end(self, program: "Program") -> None:
        """Record what follows when the step is taken: the next one is as long as this was to be."""
        if self._search is not None:
            self._search.restore(program)

    def grow(self) -> None:
        """Enlarge the buffers that were too small; everything must be recorded again."""
        self.stale.fill_(1)
        for part in (self.finder, self._trial, self.continuous):
            if part is not None:
                part.grow()

    def refresh(self) -> None:
        """Between steps: let broad phases that have become slow put themselves in order."""
        for part in (self.finder, self._trial):
            if part is not None:
                part.refresh()
