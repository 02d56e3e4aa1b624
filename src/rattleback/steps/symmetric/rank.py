"""How many rows of a mechanism are independent: counted once, where the scene starts.

    J S = U Σ Vᵀ,    rank = number of σ above a part of the largest

J Jacobian of the rows; S scales columns of turns by one over the radius of gyration of the body, so that lengths and
angles compare and masses have no say. Where the scene starts with joints apart, bodies are first brought together by
x ← x − S J⁺ g, as a rank counted away from where the joints hold would be too large. The rank then stays, also where a
motion passes poses at which more rows are dependent.

Cost: one singular value decomposition, when the step is recorded. Reference: Golub and Van Loan, Matrix Computations,
§5.4.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.device import load_kernels
from rattleback.core.errors import InputError
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, numpy_real, real
from rattleback.maths import rotation
from rattleback.model.joint_memory import JointState
from rattleback.model.model import Model
from rattleback.model.state import Motion
from rattleback.steps.symmetric.course import Course, Increments, find_rows
from rattleback.steps.symmetric.mechanism import IMPLIED, Mechanism, Node, make_node

# Joints of a scene that are this much apart [m, rad] are brought together first, in so many rounds at most.
TOGETHER = 1e4 * epsilon
MOST_ROUNDS = 20


@kernel
def find_rows_at_start(m: Mechanism, course: Course, node: Node, worst: wp.array[real], world: int) -> None:
    """The rows of a world where its scene starts."""
    worst[0] = find_rows(m, course, node, world)


def count_independent(m: Any, model: Model) -> int:
    """Number of independent rows of a world, which must be the same in all."""
    if not m.row_count:
        return 0
    load_kernels([find_rows_at_start.module], model.device)
    ranks = [_rank(m, model, world) for world in range(len(model.scenes.scenes))]
    if other := next((world for world, rank in enumerate(ranks) if rank != ranks[0]), 0):
        raise InputError(
            f"Of the rows of joints, {ranks[0]} are independent where world 0 starts and {ranks[other]} where world "
            f"{other} does; steps like these need the same in all worlds. step='impulse' does not."
        )
    return ranks[0]


def _rank(m: Any, model: Model, world: int) -> int:
    """Number of independent rows of one world."""
    scene, count = model.scenes.of(world), len(model.names)
    node, course, worst = make_node(m, model), _make_course(m, model), wp.zeros(1, dtype=real, device=model.device)
    place = {name: np.array([getattr(body, name) for body in scene.bodies]) for name in ("position", "orientation")}
    scale = _scale(m, model, world)
    for _ in range(MOST_ROUNDS):
        for name, column in place.items():
            array = getattr(course.now, name)
            array.assign(np.tile(column.astype(numpy_real), (model.worlds, 1)))
        wp.launch(find_rows_at_start, 1, inputs=[m, course, node, worst, world], device=model.device)
        own = slice(world * m.row_count, (world + 1) * m.row_count)
        jacobian, error = _jacobian(m, node, own, count) * scale, np.array(node.error.numpy()[own], np.float64)
        if not float(worst.numpy()[0]) > TOGETHER:
            break
        change = -scale * np.linalg.lstsq(jacobian, error, rcond=IMPLIED)[0]
        way, turn = change.reshape(count, 2, 3).transpose(1, 0, 2)
        place["position"] = place["position"] + way
        turns = rotation.quaternion_from_rotation_vector(turn)
        place["orientation"] = rotation.multiply(turns, place["orientation"])
    sizes = np.linalg.svd(jacobian, compute_uv=False)
    return int((sizes > IMPLIED * sizes[0]).sum()) if sizes.size and sizes[0] > 0.0 else 0


def _make_course(m: Any, model: Model) -> Any:
    """Room for a motion."""
    course: Any = Course()
    sizes = {"bodies": model.count, "joints": m.joint_count * model.worlds, "worlds": model.worlds}
    course.now, course.since, course.angles = (
        arrays.allocate(kind, sizes, model.device) for kind in (Motion, Increments, JointState)
    )
    return course


def _scale(m: Any, model: Model, world: int) -> np.ndarray:
    """S: ones for ways, one over the radius of gyration for turns, zeros for what does not move."""
    count = len(model.names)
    own = slice(world * count, (world + 1) * count)
    mass = np.array(model.bodies.mass.numpy()[own], np.float64)
    moves = np.array(model.bodies.inverse_mass.numpy()[own]) > 0.0
    moments = np.array(model.bodies.moments.numpy()[own], np.float64).max(axis=1)
    gyration = np.sqrt(np.divide(moments, mass, out=np.ones(count), where=moves & (mass > 0.0)))
    scale = np.where(moves[:, None], np.stack([np.ones(count), 1.0 / np.where(gyration > 0.0, gyration, 1.0)], 1), 0.0)
    return np.repeat(scale, 3, axis=1).ravel()


def _jacobian(m: Any, node: Any, own: slice, count: int) -> np.ndarray:
    """J of one world, of which these are the rows (rows, 6 bodies)."""
    rows = m.row_count
    linear, first, second = (
        np.array(getattr(node, name).numpy()[own], np.float64) for name in ("linear", "angular_a", "angular_b")
    )
    found = np.zeros((rows, count, 2, 3))
    joints = m.joints
    sides = [getattr(joints, f"body_{side}").numpy()[: m.joint_count] for side in "ab"]
    owner = np.repeat(np.arange(m.joint_count), joints.count.numpy()[: m.joint_count])
    for r, j in enumerate(owner):
        a, b = sides[0][j], sides[1][j]
        if a >= 0:
            found[r, a] += (-linear[r], first[r])
        if b >= 0:
            found[r, b] += (linear[r], second[r])
    return found.reshape(rows, -1)
