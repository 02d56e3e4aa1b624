"""All the forces of a scene together: what a step evaluates, in the order the scene names them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import warp as wp

from rattleback.core.errors import RattlebackError
from rattleback.core.kernel import kernel
from rattleback.core.stages import Program
from rattleback.forces.gravity import CompiledGravity, Gravity
from rattleback.forces.joint_damping import JointDamping, damped_joints
from rattleback.forces.written_effort import WrittenEfforts
from rattleback.model.model import Model
from rattleback.model.state import Loads, State
from rattleback.model.step_context import Moment
from rattleback.problem.joint_rows import JointRows, compile_joints

# What the gravity of a scene is called among its forces.
OF_SCENE = "gravity of the scene"


@kernel
def start_from(applied: Loads, loads: Loads, lanes: int) -> None:
    """The loads the user wrote into the state come first."""
    for i in range(wp.tid(), loads.force.shape[0], lanes):
        loads.force[i] = applied.force[i]
        loads.torque[i] = applied.torque[i]


class ForceField:
    """The compiled forces of a model.

    Attributes:
        named: Those of the scene as they are compiled, by name.
        driven: Whether efforts written to joints by hand are among them; a step recorded before does not know them.

    Args:
        model: The model whose scene holds gravity and the force modules.
        state: The state: loads the user writes between steps, and what forces remember.
    """

    def __init__(self, model: Model, state: State) -> None:
        self.model, self.applied, self._state = model, state.applied, state
        self._compile()

    def _compile(self) -> None:
        """Compile the forces of the scenes as they are now."""
        model, state, scene = self.model, self._state, self.model.scene
        self.version = model.scenes.version
        modules: dict[str, Any] = {}
        gravity = model.scenes.each(lambda own: own.gravity)
        if gravity.any() and len(model.dynamic):
            modules[OF_SCENE] = Gravity(tuple(scene.gravity))
        modules.update(scene.forces)
        self.velocity_dependent = any(force.depends_on_velocity for force in modules.values())
        # Whether loads never change by themselves.
        self.steady = all(isinstance(force, Gravity) for force in modules.values())
        self.compiled = [_compile(name, force, model) for name, force in modules.items() if name != OF_SCENE]
        if OF_SCENE in modules:
            self.compiled.insert(0, CompiledGravity(modules[OF_SCENE], model, gravity))
        self.named = dict(zip(modules, self.compiled, strict=True))
        bound = [(name, force) for name, force in zip(modules, self.compiled, strict=True) if hasattr(force, "bind")]
        self._rows = compile_joints(model, state.breaks.broken) if bound else None
        for name, force in bound:
            force.bind(name, state, self._rows)
        if damped_joints(scene):
            rows = self._rows or compile_joints(model, state.breaks.broken)
            self.compiled.append(JointDamping(model, rows, state))
            self.velocity_dependent = True
        self.driven, self._looked = False, -1

    def renew(self) -> None:
        """Compile forces again where the scenes of the model have been replaced."""
        if self.version != self.model.scenes.version:
            self._compile()

    @property
    def now(self) -> dict[str, Any]:
        """Those of the scenes as they are now, by name."""
        self.renew()
        return self.named

    def drive(self, rows: JointRows | None) -> None:
        """Tell forces inside the constraint solve in which rows they act, before a step is recorded."""
        for force in self.compiled:
            if hasattr(force, "drive"):
                force.drive(rows, self._state)

    @property
    def motion_dependent(self) -> bool:
        """Whether loads depend on velocities or poses; efforts that trees find are no loads."""
        if self.driven or self.velocity_dependent:
            return True
        posed = (name for name, force in self.model.scene.forces.items() if force.depends_on_pose)
        return not all(getattr(self.named[name], "by_tree", False) for name in posed)

    def look_for_efforts(self) -> None:
        """Join in what was written to joints by hand, from the first time that something was."""
        if self.driven or self._looked == self._state.version:
            return
        self._looked = self._state.version
        if self._state.mirror("efforts", "effort").look().any():
            rows = self._rows or compile_joints(self.model, self._state.breaks.broken)
            self.compiled.append(WrittenEfforts(self.model, rows, self._state.efforts))
            self.driven = True

    @contextmanager
    def around_step(self, program: Program, stop: Any) -> Iterator[None]:
        """Record what forces do once a step: before what is recorded inside, and, unless ``stop`` is raised, after."""
        with program.stage("forces"):
            self.record_starts(program)
        yield
        with program.stage("advance"):
            self._record_ends(program, stop)

    @contextmanager
    def around_idle_step(self, program: Program, awake: Any, stop: Any) -> Iterator[None]:
        """Record the same for steps in which ``awake[0]`` is zero, with all else that they do inside."""
        with program.idle(awake):
            self.record_starts(program)
            yield
            self._record_ends(program, stop)

    def record_starts(self, program: Program) -> None:
        """Record what forces find out at the start of a step; doing it twice changes nothing."""
        for force in self.compiled:
            if hasattr(force, "record_start"):
                force.record_start(program)

    def _record_ends(self, program: Program, stop: Any) -> None:
        for force in self.compiled:
            if hasattr(force, "record_end"):
                force.record_end(program, stop)

    def record(self, program: Program, moment: Moment, loads: Loads) -> None:
        """Record the launches that write the loads of a moment."""
        program.share(start_from, self.model.count, self.applied, loads)
        for force in self.compiled:
            force.record(program, moment, loads)

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """Potential energy of each world [J], from shapes (worlds, bodies, 3) [m] and (worlds, bodies, 4)."""
        self.renew()
        total = np.zeros(len(position))
        for force in self.compiled:
            total = total + force.potential(position, orientation)
        return total


def _compile(name: str, force: Any, model: Model) -> Any:
    try:
        return force.compile(model)
    except RattlebackError as error:
        raise type(error)(f"Force {name!r}: {error}") from None
