"""Springs and controllers inside the constraint solve: the rows they add to joints, and their targets over time.

    λ = −K (q + h w⁺ − q*) − B (w⁺ − ẇ*)

q free coordinate of a joint, w⁺ its rate at the end of the step, q* target, ẇ* its rate where the controller follows
it, K stiffness, B damping, h step. Such a force is a row that yields along the coordinate, see ``problem.yielding``;
its effort is found with all that acts on the bodies, so that no stiffness and no step makes it unstable.

| freedom | row |
|---|---|
| ``slide_x``, ``slide_y``, ``slide_z`` | B's anchor along an axis of A |
| ``turn_z`` | the turn about the axis, with all its full turns |
| ``turn_a``, ``turn_b`` | the turns of a universal joint |
| ``turn`` | all three turns of a ball joint, pulled to where both frames are aligned |

The targets of a step are those of its end, and of the end of the step after it for the half that looks ahead.
"""

import math
from typing import Any

import numpy as np
import warp as wp

from rattleback.constraints.row import KINDS
from rattleback.core import checks
from rattleback.core.errors import InputError, listing
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.forces.schedule import Course, Schedule, on_device, value_at
from rattleback.joints.joint import RowSpec
from rattleback.model.state import Clock
from rattleback.problem.joint_rows import JointRows, RowDefinitions, Rows

LETTERS = "xyz"
# Turns that one number tells, by their place in the rows of kind "turn".
SINGLE = {"turn_z": 0, "turn_a": 1, "turn_b": 2}


@kernel
def aim(
    clock: Clock, course: Course, rows: Rows, definitions: RowDefinitions, which: wp.array[wp.int32], follows: int
) -> None:
    """The targets of a row of a world at the ends of this step and of the next."""
    w = wp.tid()
    r = which[w]
    h = clock.time_step[w]
    t = clock.time[w]
    rows.aim[r] = value_at(course, w, t + h)
    rows.next_aim[r] = value_at(course, w, t + wp.float64(2.0) * h)
    if follows == 1:
        definitions.rate[r] = (rows.next_aim[r] - value_at(course, w, t)) / real(wp.float64(2.0) * h)


def freedom_of(joint: Any, freedom: str | None, what: str, name: str) -> str:
    """The freedom of a joint that a force acts along: the one named, or the only one, a turn before a slide.

    Args:
        joint: The joint.
        freedom: What was asked for; None for what goes without saying.
        what: The force in messages.
        name: Name of the joint.
    """
    able = _able(joint)
    if freedom is None:
        turns = [one for one in able if one.startswith("turn")]
        chosen = turns or able
        if len(chosen) == 1:
            return chosen[0]
    elif freedom in able:
        return freedom
    said = "needs freedom=" if freedom is None else f"acts along {freedom!r} of"
    has = f"there are {listing(able)}" if able else "it leaves nothing that one number tells"
    ask = f" joint {name!r}, a {type(joint).__name__}; {has}."
    raise InputError(f"{what} {said}{' for' if freedom is None else ''}{ask}")


def _able(joint: Any) -> list[str]:
    """The freedoms of a joint that a force can act along."""
    turns = [one for one in joint.freedoms if one.startswith("turn")]
    slides = [one for one in joint.freedoms if one.startswith("slide")]
    if len(turns) == 3:
        turns = ["turn"]
    return [*(turn for turn in turns if turn in SINGLE or turn == "turn"), *slides]


def checked_limit(value: Any, what: str) -> float:
    """The largest effort of a force inside, which is infinite for none."""
    limit = checks.number_or_infinite(value, what)
    if limit <= 0.0:
        raise InputError(f"{what} is {limit:g}; it must be greater than zero, or infinite, when there is none.")
    return limit


def rows_along(freedom: str, stiffness: float, damping: float, limit: float = math.inf) -> list[RowSpec]:
    """The rows of a spring along a freedom."""
    rows = [RowSpec("orient", axis) for axis in range(3)]
    if freedom in SINGLE:
        rows = [RowSpec("turn", SINGLE[freedom])]
    elif freedom != "turn":
        rows = [RowSpec("slide", LETTERS.index(freedom[-1]))]
    bound = limit if math.isfinite(limit) else 0.0
    return [row._replace(stiffness=stiffness, damping=damping, limit=bound) for row in rows]


def rows_in(problem: JointRows, joint: str, freedom: str) -> np.ndarray:
    """Where the rows of a spring along a freedom of a joint are, shape (worlds, rows of it)."""
    definitions, index = problem.definitions, problem.names.index(joint)
    first = problem.joints.first.numpy()[index :: len(problem.names)]
    count = int(problem.fixed.count.numpy()[index])
    wanted = rows_along(freedom, 1.0, 0.0)
    columns: Any = [getattr(definitions, name).numpy() for name in ("kind", "axis_a", "stiffness", "damping")]
    kinds = [_kind(row) for row in wanted]
    yields = columns[2] + columns[3] > 0.0
    found = [
        [r for r in range(f, f + count) if yields[r] and (columns[0][r], columns[1][r]) in kinds]
        for f in first.tolist()
    ]
    return np.array(found, dtype=np.int32)[:, -len(wanted) :]


def _kind(row: RowSpec) -> tuple[int, int]:
    return KINDS[row.kind], row.axis_a


class Inside:
    """The target of a spring or a controller inside the constraint solve, bound to a model.

    Args:
        model: The model.
        force: The spring or controller. It ``follows`` where its damping is that of the error, so that the rate of the
            target counts.
        freedom: The freedom it acts along.
    """

    def __init__(self, model: Any, force: Any, freedom: str) -> None:
        self.model, self.joint, self.freedom, self.follows = model, force.joint, freedom, force.follows
        self.targets = [version.target for version in model.scenes.versions(force)]
        self.moves = any(isinstance(target, Schedule) for target in self.targets)
        self.course = on_device(self.targets, model.worlds, model.device)

    def drive(self, problem: JointRows, state: Any) -> None:
        """Take the rows of a simulation, in which it acts."""
        self.state, self.problem = state, problem
        rows = rows_in(problem, self.joint, self.freedom)
        self.rows = [
            wp.array(np.ascontiguousarray(column), dtype=wp.int32, device=self.model.device) for column in rows.T
        ]
        now = [target(state.time) if isinstance(target, Schedule) else target for target in self.targets]
        for array in (problem.rows.aim, problem.rows.next_aim):
            values = array.numpy()
            values[rows] = np.array(now)[:, None]
            array.assign(values)
        if self.moves and self.follows:
            drives = problem.joints.drives.numpy()
            drives[problem.names.index(self.joint) :: len(problem.names)] = 1
            problem.joints.drives.assign(drives)

    def record_start(self, program: Any) -> None:
        """Record the targets of the step."""
        problem, clock = self.problem, self.state.clock
        follows = int(self.moves and self.follows)
        for column in self.rows:
            given = (clock, self.course, problem.rows, problem.definitions, column, follows)
            program.launch(aim, self.model.worlds, *given)

    def record(self, program: Any, moment: Any, loads: Any) -> None:
        """It adds no load: its effort is found with those of the joints."""

    def potential(self, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """Nothing here: the energy of rows is counted with that of soft joints."""
        return np.zeros(len(position))
