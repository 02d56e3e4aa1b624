"""Servos of joints that trees hold: what they aim at goes to the tree, which finds their efforts with its step.

    start of a step     error, integral and rate of the target, as the controller knows them: to the link of the joint
    in the step         the effort is solved with the motion, see ``reduced.midpoint.steering``
    end of a step       the effort goes back to the controller, for its memory and for reading

The integral has the errors of the steps before, and grows by that of the start of the step. A target that was written
by hand is a set point: its jumps are no rate. The first servo of a freedom is solved so; others of the same freedom,
and servos of joints that no tree holds, act as with every other method, see ``servo``.

Cost: two launches a servo and step.
"""

from collections.abc import Mapping
from typing import Any

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.forces.pid import Held, Law
from rattleback.forces.schedule import Course, value_at
from rattleback.forces.servo import CompiledServo
from rattleback.model.joint_memory import ServoState
from rattleback.model.state import Clock
from rattleback.reduced.midpoint import links
from rattleback.reduced.midpoint.links import Steering


@kernel
def aim(
    clock: Clock, memory: ServoState, law: Law, course: Course, held: Held, servos: Steering, link: int, links: int
) -> None:
    """What the servo of a link aims at in the step that begins, from what its controller has measured."""
    w = wp.tid()
    k = w * links + link
    s = w * int(law.servos) + int(law.servo)
    h = clock.time_step[w]
    servos.on[k] = 1
    servos.of_rate[k] = law.of_rate
    servos.gain[k] = held.gain[w]
    servos.rate_time[k] = held.rate_time[w]
    servos.limit[k] = held.limit[w]
    servos.integral[k] = held.integral_rate[w] * memory.integral[s]
    servos.first_error[k] = held.error[w]
    servos.slope[k] = real(0.0)
    if law.of_rate == 1:
        servos.first_error[k] = memory.target[s]
    if memory.manual[s] == 0:
        now = value_at(course, w, clock.time[w])
        servos.slope[k] = (value_at(course, w, clock.time[w] + h) - now) / real(h)
        if law.of_rate == 1:
            servos.first_error[k] = value_at(course, w, clock.time[w] + wp.float64(0.5) * h)


class TreeServos:
    """The servos that the trees of a simulation solve.

    Attributes:
        links: The link of each, by servo.

    Args:
        links: See above.
    """

    def __init__(self, links: dict[CompiledServo, int]) -> None:
        self.links = links

    def record_start(self, program: Any, clock: Clock, servos: Steering, count: int) -> None:
        """Record what they aim at in the step that begins.

        Args:
            program: Where to record.
            clock: The time of the simulation.
            servos: What trees know of servos.
            count: Links of a world.
        """
        for servo, link in self.links.items():
            given = (clock, servo.state.servos, servo.law, servo.course, servo.held, servos, link, count)
            program.launch(aim, servo.model.worlds, *given)
            servo.efforts = servos, link, count

    def signs(self, found: Any) -> dict[int, float]:
        """−1 for every link with a servo that leads from body B of its joint to body A, else 1."""
        back = found.links.back.numpy()
        return {link: 1.0 - 2.0 * float(back[link]) for link in self.links.values()}


def find_tree_servos(named: Mapping[str, Any], found: Any) -> TreeServos:
    """The servos among compiled forces that trees solve; all of them are told whether they are.

    Args:
        named: The compiled forces by name.
        found: The trees, ``reduced.midpoint.forest.LinkedTrees``; None with methods without any.
    """
    places = {} if found is None else _places(found.links)
    taken: dict[CompiledServo, int] = {}
    for servo in named.values():
        if isinstance(servo, CompiledServo):
            link = places.pop((int(servo.law.place.joint), int(servo.law.place.turning)), None)
            servo.by_tree = link is not None
            if link is not None:
                taken[servo] = link
    return TreeServos(taken)


def _places(found: Any) -> dict[tuple[int, int], int]:
    """The links of the freedoms that servos may have: by place of the joint, and 1 for turns or 0 for slides."""
    turning = {links.WHOLE_TURN: 1, links.SCREW_TURN: 1, links.SLIDE_Z: 0}
    kinds, joints, roles = (getattr(found, name).numpy() for name in ("kind", "joint", "role"))
    single = {links.TURN, links.SLIDE}
    return {
        (int(j), turning[int(role)]): k
        for k, (kind, j, role) in enumerate(zip(kinds, joints, roles, strict=True))
        if kind in single and role in turning
    }
