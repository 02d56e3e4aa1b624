"""What trees make of changes of velocities and of poses, as launches: M⁻¹ of contacts and rows goes through it.

    before impulses on bodies    rates of the drives, what friction holds and how servos yield
    after them                   velocities that fit, see ``fitting`` and ``holding``

Cost: a launch for each; where anything is held or driven, one more before impulses.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.stages import Program
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.problem.corrections import JointStatus, Reactions
from rattleback.reduced.midpoint.carried import carry_fit, carry_step
from rattleback.reduced.midpoint.fitting import (
    FROM_REST,
    NEAREST,
    ONWARD,
    SHIFT,
    SLACK,
    factor_again,
    factor_at,
    fit,
    fit_driven,
    let_go,
    put_together,
    rate_at,
)
from rattleback.reduced.midpoint.holding import hold_end, hold_start
from rattleback.reduced.midpoint.links import HELD, SOFT, Trees
from rattleback.reduced.midpoint.sweeps import is_single
from rattleback.reduced.midpoint.touching import TouchingAnswers


@group(axis="links")
class Directions:
    """What steps along conjugate directions of contacts know of drives, friction and servos, see ``joint_steps``."""

    before: vec3 = field("rad/s, N m s or m/s, N s", "what was kept before the last answers")
    step: vec3 = field("rad/s, N m s or m/s, N s", "its change by the last step")
    aside: vec3 = field("rad/s, N m s or m/s, N s", "what the last answers made of it")


@group(axis="worlds")
class Stale:
    """Where what holds or drives the freedoms of trees has changed since the rows of joints were factored."""

    world: wp.int32 = field("1", "1 where it has")
    any_world: wp.int32 = field("1", "1 where it has in any world", axis="flags")


@kernel
def factor_trees(
    trees: Trees, stepped: Trees, clock: Clock, motion: Motion, which: wp.array[wp.int32], at_end: int
) -> None:
    """Factor the trees of a world at the poses of a motion, with which a step ends or of which nothing is known."""
    w = wp.tid()
    if which[w] == 1:
        if trees.driven == 1:
            let_go(trees, w)
            for link in range(int(trees.count) * at_end):
                hold_end(trees, stepped, w * int(trees.count) + link, link, real(clock.time_step[w]))
        factor_at(trees, motion, w)


@kernel
def fit_trees(trees: Trees, motion: Motion, which: wp.array[wp.int32], how: int, least: real) -> None:
    """Make velocities of a motion, or displacements in their place, fit the trees of a world."""
    w = wp.tid()
    if which[w] == 1:
        fit(trees, motion, w, how, least)


@kernel
def fit_carried(trees: Trees, motion: Motion, which: wp.array[wp.int32], reactions: Reactions) -> None:
    """The same for velocities, with the impulses of the joints that do it."""
    w = wp.tid()
    if which[w] == 1:
        fit(trees, motion, w, ONWARD, real(-1.0))
        carry_fit(trees, reactions, w)


@kernel
def fit_displaced(trees: Trees, motion: Motion, which: wp.array[wp.int32]) -> None:
    """The same for displacements where freedoms are driven."""
    w = wp.tid()
    if which[w] == 1:
        fit_driven(trees, motion, w, SHIFT)


@kernel
def fit_pushed(trees: Trees, motion: Motion, which: wp.array[wp.int32], reactions: Reactions, stale: Stale) -> None:
    """The same for velocities after impulses, with the impulses of the joints that do it."""
    w = wp.tid()
    if which[w] == 1:
        if fit_driven(trees, motion, w, ONWARD):
            stale.world[w] = 1
            stale.any_world[0] = 1
        carry_fit(trees, reactions, w)


@kernel
def restore_trees(trees: Trees, motion: Motion, which: wp.array[wp.int32]) -> None:
    """Put the bodies of a world, displaced a little, together again where their joints say."""
    if which[wp.tid()] == 1:
        put_together(trees, motion, wp.tid())


@kernel
def begin_impulses(trees: Trees) -> None:
    """A step begins: friction and servos have answered to no impulse."""
    k = wp.tid()
    trees.step.kept[k] = vec3()


@kernel
def note_drives(trees: Trees, motion: Motion, which: wp.array[wp.int32], how: int) -> None:
    """The rates of the drives of a world, whose bodies fit."""
    w = wp.tid()
    if which[w] == 0:
        return
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        if is_single(trees.links.kind[link]) and trees.links.body[link] >= 0:
            kept = trees.step.kept[k]
            p = trees.links.parent[link]
            if p < 0 or trees.links.body[wp.max(p, 0)] >= 0:
                kept[0] = rate_at(trees, motion, link, k, how)
                trees.step.kept[k] = kept


@kernel
def grasp(
    trees: Trees,
    stepped: Trees,
    clock: Clock,
    which: wp.array[wp.int32],
    tolerance: real,
    stale: Stale,
) -> None:
    """How the freedoms of a world answer to impulses at the start of a step, by its last prediction."""
    w = wp.tid()
    if which[w] == 0:
        return
    new = bool(False)
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        if hold_start(trees, stepped, k, link, real(clock.time_step[w]), tolerance):
            new = True
    if new:
        factor_again(trees, w)
        stale.world[w] = 1
        stale.any_world[0] = 1


@kernel
def factor_free(trees: Trees, free: Trees, motion: Motion, which: wp.array[wp.int32], anew: int, smooth: int) -> None:
    """The factor for rows of joints, at the poses of a motion or where it is.

    What friction holds is soft, or not held at all where the freedoms are to be ``smooth``.
    """
    w = wp.tid()
    if which[w] == 1:
        let_go(free, w)
        for k in range(w * int(trees.count), (w + 1) * int(trees.count)):
            free.step.extra[k] = trees.step.extra[k]
            if trees.step.grip[k] == HELD and smooth == 0:
                free.step.grip[k] = SOFT
        if anew == 1:
            factor_at(free, motion, w)
        else:
            factor_again(free, w)


@kernel
def clear_stale(stale: Stale) -> None:
    """Nothing is to be made anew."""
    stale.world[wp.tid()] = 0
    stale.any_world[0] = 0


@kernel
def begin_directions(trees: Trees, directions: Directions, which: wp.array[wp.int32]) -> None:
    """No step has been made in the worlds that are wanted."""
    k = wp.tid()
    if which[k // int(trees.count)] == 1:
        directions.before[k] = trees.step.kept[k]
        directions.step[k] = vec3()


@kernel
def restore_drives(trees: Trees, directions: Directions) -> None:
    """What was kept when directions began."""
    k = wp.tid()
    trees.step.kept[k] = directions.before[k]


@kernel
def try_direction(
    trees: Trees,
    directions: Directions,
    tries: wp.array[wp.int32],
    part_z: wp.array[real],
    part_d: wp.array[real],
) -> None:
    """Drives, friction and servos go the step that bodies go."""
    k = wp.tid()
    w = k // int(trees.count)
    now = trees.step.kept[k]
    directions.aside[k] = now
    if tries[w] == 1:
        before = directions.before[k]
        trees.step.kept[k] = before + part_z[w] * (now - before) + part_d[w] * directions.step[k]


@kernel
def settle_direction(trees: Trees, directions: Directions, busy: wp.array[wp.int32], keeps: wp.array[wp.int32]) -> None:
    """The step is kept, or what was put aside comes back."""
    k = wp.tid()
    w = k // int(trees.count)
    if busy[w] == 1:
        if keeps[w] == 0:
            trees.step.kept[k] = directions.aside[k]
        directions.step[k] = trees.step.kept[k] - directions.before[k]
        directions.before[k] = trees.step.kept[k]


class Through:
    """Records what trees make of changes of velocities.

    Attributes:
        drives: Whether a freedom has armature, friction or a servo.
        stale: Where that has changed.

    Args:
        bodies: The bodies of the model.
        clock: The time of the simulation, with the length of the step.
        trees: The trees with room of their own, where their factor is kept, the same without friction, and as steps
            know them.
        tolerance: Rate below which a freedom rests [rad/s or m/s].
        answers: How touching bodies of the trees answer to each other; None where that is found sweep by sweep.
    """

    def __init__(
        self,
        bodies: Bodies,
        clock: Clock,
        trees: tuple[Trees, Trees, Trees],
        tolerance: float,
        answers: TouchingAnswers | None = None,
    ) -> None:
        self.bodies, self.clock, (self.trees, self.free, self.stepped), self.answers = bodies, clock, trees, answers
        self.tolerance, self.drives, device = tolerance, bool(self.trees.driven), self.trees.links.kind.device
        self.links = len(self.trees.step.x)
        self.worlds = len(clock.time_step)
        self.stale: Any = arrays.allocate(Stale, {"worlds": self.worlds, "flags": 1}, device)
        self.directions = arrays.allocate(Directions, {"links": self.links if self.drives else 0}, device)

    def record_factor(self, program: Program, motion: Motion, which: Any, at_end: bool = False) -> None:
        """Record the factor at the poses of a motion, in the worlds where ``which`` is 1.

        Args:
            program: Where to record.
            motion: The poses.
            which: See above.
            at_end: Whether a step has just brought them there, whose friction acts on impulses at its end.
        """
        program.launch(factor_trees, len(which), self.trees, self.stepped, self.clock, motion, which, int(at_end))
        if self.answers is not None:
            self.answers.record_forget(program, which)
        if self.free is not self.trees:
            program.launch(factor_free, len(which), self.trees, self.free, motion, which, 1, 0)

    def record_begin(self, program: Program) -> None:
        """Record that a step begins."""
        if self.drives:
            program.launch(begin_impulses, self.links, self.trees)

    def record_note(self, program: Program, motion: Motion, which: Any, displaces: bool = False) -> None:
        """Record the rates of drives before impulses on bodies that fit.

        Args:
            program: Where to record.
            motion: The velocities.
            which: 1 for every world in which that is done.
            displaces: Whether they stand for displacements.
        """
        if self.drives:
            program.launch(note_drives, len(which), self.trees, motion, which, int(SHIFT if displaces else ONWARD))

    def record_grasp(self, program: Program, motion: Motion, which: Any) -> None:
        """Record how the freedoms answer to impulses on a motion at the start of a step, after ``record_note``."""
        if self.drives:
            given = (self.trees, self.stepped, self.clock, which, self.tolerance, self.stale)
            program.launch(grasp, len(which), *given)

    def record_carried(self, program: Program, motion: Motion, which: Any, reactions: Reactions) -> None:
        """Record that velocities of a motion fit the trees after impulses, and what joints carry for it."""
        if self.drives:
            program.launch(fit_pushed, len(which), self.trees, motion, which, reactions, self.stale)
        else:
            program.launch(fit_carried, len(which), self.trees, motion, which, reactions)

    def record_end(self, program: Program, status: JointStatus, reactions: Reactions) -> None:
        """Record what joints have carried over the step."""
        program.launch(carry_step, len(status.busy), self.stepped, status, reactions)

    def record_written(self, program: Program, motion: Motion, which: Any, tolerance: float) -> None:
        """Record that velocities that were written fit the trees, at the poses of the factor.

        Args:
            program: Where to record.
            motion: The velocities.
            which: 1 for every world in which that is done.
            tolerance: Of velocities [m/s, rad/s]; those that fit but for some tolerances stay.
        """
        program.launch(fit_trees, len(which), self.trees, motion, which, int(NEAREST), SLACK * tolerance)

    def record_change(self, program: Program, change: Motion, which: Any) -> None:
        """Record what trees make of a change of velocities by impulses, without friction."""
        program.launch(fit_trees, len(which), self.free, change, which, int(FROM_REST), -1.0)

    def record_displacements(self, program: Program, displacements: Motion, which: Any) -> None:
        """Record what trees make of displacements, after ``record_note``."""
        if self.drives:
            program.launch(fit_displaced, len(which), self.trees, displacements, which)
        else:
            program.launch(fit_trees, len(which), self.trees, displacements, which, int(SHIFT), -1.0)

    def record_fresh(self, program: Program, motion: Motion, prepare: Callable[[Any], None]) -> None:
        """Record what is to be made anew where what holds or drives the trees has changed.

        Args:
            program: Where to record.
            motion: Poses, of which nothing is used.
            prepare: Records what depends on it, in the worlds that it is given.
        """
        if self.drives:
            with program.when(self.stale.any_world):
                if self.free is not self.trees:
                    program.launch(factor_free, self.worlds, self.trees, self.free, motion, self.stale.world, 0, 0)
                prepare(self.stale.world)
                program.launch(clear_stale, self.worlds, self.stale)

    def record_directions(self, program: Program, which: Any) -> None:
        """Record that steps along conjugate directions begin."""
        if self.drives:
            program.launch(begin_directions, self.links, self.trees, self.directions, which)

    def record_restored(self, program: Program) -> None:
        """Record that drives, friction and servos have done what they had where such steps began."""
        if self.drives:
            program.launch(restore_drives, self.links, self.trees, self.directions)

    def record_try(self, program: Program, parts: tuple[Any, Any, Any]) -> None:
        """Record a step along them, see ``JointAnswer.try_step``."""
        if self.drives:
            program.launch(try_direction, self.links, self.trees, self.directions, *parts)

    def record_settle(self, program: Program, verdict: tuple[Any, Any]) -> None:
        """Record whether it is kept."""
        if self.drives:
            program.launch(settle_direction, self.links, self.trees, self.directions, *verdict)

    def changed(self, columns: np.ndarray) -> np.ndarray:
        """What trees without friction make of changes of velocities, at the poses of the factor, on the host.

        Args:
            columns: Velocities above angular velocities of each body (6 bodies, columns).
        """
        count, device = len(columns) // 6, self.trees.links.kind.device
        motion, worlds = arrays.allocate(Motion, {"bodies": count}, device), self.worlds
        which, found = wp.full(worlds, 1, dtype=wp.int32, device=device), np.empty_like(columns)
        smooth = [self.trees, self.free, motion, which, 0]
        if self.free is not self.trees:
            wp.launch(factor_free, worlds, inputs=[*smooth, 1], device=device)
        for c, column in enumerate(columns.T.reshape(-1, count, 2, 3)):
            motion.velocity.assign(column[:, 0])
            motion.angular_velocity.assign(column[:, 1])
            wp.launch(fit_trees, worlds, inputs=[self.free, motion, which, int(FROM_REST), -1.0], device=device)
            both = np.stack([motion.velocity.numpy(), motion.angular_velocity.numpy()], axis=1)
            found[:, c] = both.ravel()
        if self.free is not self.trees:
            wp.launch(factor_free, worlds, inputs=[*smooth, 0], device=device)
        return found

    def record_restore(self, program: Program, motion: Motion, which: Any) -> None:
        """Record that poses of a motion fit the trees."""
        program.launch(restore_trees, len(which), self.stepped, motion, which)
