"""Targets as kernels see them: how far off a configuration is, and how that changes with its coordinates.

    e = g − f(q),   ė = −J q̇,   E = |e|²

| kind | rows | e | J |
|---|---|---|---|
| POSITION | 3 | g − p | J_v |
| ORIENTATION | 3 | log(R_g Rᵀ) | J_ω |
| POSE | 6 | both, one above the other | both |
| POINTING | 3 | φ n, the turn about n = a × u by φ that takes a to u | (I − a aᵀ) J_ω + u × J_v / ρ |
| DISTANCE | 1 | r − ρ | −uᵀ J_v |

p point and R orientation of the tool, J_v and J_ω their rows of the geometric Jacobian, a axis of the tool, u unit
vector from p to the point g to look at, ρ distance of both; for a direction to look in, u is given and ρ infinite.
Rows are multiplied by the weight of their target; a radian counts as much as ``radian`` metres. Jᵀ e is the exact
gradient of −½E, also for orientations, since the rotation vector is an eigenvector of its own Jacobian.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real, vec3
from rattleback.kinematics.arrays import FIXED, REVOLUTE, Links, Pose
from rattleback.kinematics.forward import walk
from rattleback.maths.quat import rotate, rotation_vector_from_quat

POSITION = wp.constant(0)
ORIENTATION = wp.constant(1)
POSE = wp.constant(2)
POINTING = wp.constant(3)
DISTANCE = wp.constant(4)
ROWS = (3, 3, 6, 3, 1)
TINY = wp.constant(real(1e-12))


@group(axis="tasks")
class Tasks:
    """What is asked of a tree, the same for all problems."""

    kind: wp.int32 = field("1", "POSITION, ORIENTATION, POSE, POINTING or DISTANCE")
    link: wp.int32 = field("1", "link the tool is on")
    point: vec3 = field("m", "the point of the tool, in the frame of the link")
    turn: quat = field("1", "orientation of the tool in the link")
    axis: vec3 = field("1", "direction that points, in the frame of the link")
    first: wp.int32 = field("1", "its first row")
    weight: real = field("1", "weight of its rows")
    radian: real = field("m", "what a radian counts")


@group(axis="goals")
class Goals:
    """Where to, task by task of one problem after the other."""

    point: vec3 = field("m", "point to reach, to look at, or to be away from; a direction where value is below zero")
    turn: quat = field("1", "orientation to reach")
    value: real = field("m", "distance to keep")


@wp.struct
class Bench:
    """Where configurations are looked at, one in each lane."""

    q: wp.array2d[real]
    position: wp.array2d[vec3]
    turn: wp.array2d[quat]
    error: wp.array2d[real]
    jacobian: wp.array3d[real]


@wp.struct
class Misses:
    """How far off a configuration is."""

    square: real
    position: real
    angle: real


@wp.func
def pointing_error(axis: vec3, wish: vec3) -> vec3:
    """The rotation vector of the shortest turn from one unit vector to another; about any normal for a half turn."""
    cross = wp.cross(axis, wish)
    sine, cosine = wp.length(cross), wp.dot(axis, wish)
    if sine > TINY:
        return (wp.atan2(sine, cosine) / sine) * cross
    if cosine > real(0.0):
        return cross
    other = vec3(real(1.0), real(0.0), real(0.0))
    if wp.abs(axis[0]) > real(0.9):
        other = vec3(real(0.0), real(1.0), real(0.0))
    return real(wp.static(3.141592653589793)) * wp.normalize(wp.cross(axis, other))


@wp.func
def wish_of(goals: Goals, goal: int, point: vec3) -> tuple[vec3, real]:
    """Unit vector from a point to where it should look, and one over the distance; zero for a direction."""
    if goals.value[goal] < real(0.0):
        return goals.point[goal], real(0.0)
    way = goals.point[goal] - point
    distance = wp.max(wp.length(way), TINY)
    return way / distance, real(1.0) / distance


@wp.func
def linear_error(tasks: Tasks, t: int, goals: Goals, goal: int, point: vec3) -> vec3:
    """The part of an error that is a length [m]; a distance is its first entry."""
    kind = tasks.kind[t]
    if kind == POSITION or kind == POSE:
        return goals.point[goal] - point
    if kind == DISTANCE:
        return vec3(goals.value[goal] - wp.length(point - goals.point[goal]), real(0.0), real(0.0))
    return vec3()


@wp.func
def angular_error(tasks: Tasks, t: int, goals: Goals, goal: int, point: vec3, turn: quat) -> vec3:
    """The part of an error that is an angle, as a rotation vector [rad]."""
    kind = tasks.kind[t]
    if kind == ORIENTATION or kind == POSE:
        return rotation_vector_from_quat(goals.turn[goal] * wp.quat_inverse(turn * tasks.turn[t]))
    if kind == POINTING:
        wish, _ = wish_of(goals, goal, point)
        return pointing_error(rotate(turn, tasks.axis[t]), wish)
    return vec3()


@wp.func
def point_of(tasks: Tasks, t: int, bench: Bench, lane: int) -> vec3:
    """Where the point of a task is."""
    link = tasks.link[t]
    return bench.position[lane, link] + rotate(bench.turn[lane, link], tasks.point[t])


@wp.func
def misses(tasks: Tasks, goals: Goals, row: int, bench: Bench, lane: int) -> Misses:
    """Sum of the squared rows, largest length and largest angle by which the frames of a lane are off."""
    result = Misses()
    for t in range(tasks.kind.shape[0]):
        goal, point = row * tasks.kind.shape[0] + t, point_of(tasks, t, bench, lane)
        linear = linear_error(tasks, t, goals, goal, point)
        angular = angular_error(tasks, t, goals, goal, point, bench.turn[lane, tasks.link[t]])
        length, angle = wp.dot(linear, linear), wp.dot(angular, angular)
        radian, weight = tasks.radian[t], tasks.weight[t]
        result.square += weight * weight * (length + radian * radian * angle)
        result.position = wp.max(result.position, wp.sqrt(length))
        result.angle = wp.max(result.angle, wp.sqrt(angle))
    return result


@wp.func
def write_errors(tasks: Tasks, goals: Goals, row: int, bench: Bench, lane: int) -> None:
    """Write the weighted rows e of a lane."""
    for t in range(tasks.kind.shape[0]):
        goal, point = row * tasks.kind.shape[0] + t, point_of(tasks, t, bench, lane)
        kind, first, weight = tasks.kind[t], tasks.first[t], tasks.weight[t]
        linear = weight * linear_error(tasks, t, goals, goal, point)
        if kind == DISTANCE:
            bench.error[lane, first] = linear[0]
        if kind == POSITION or kind == POSE:
            for k in range(3):
                bench.error[lane, first + k] = linear[k]
        if kind == ORIENTATION or kind == POSE or kind == POINTING:
            angular = angular_error(tasks, t, goals, goal, point, bench.turn[lane, tasks.link[t]])
            start = wp.where(kind == POSE, first + 3, first)
            for k in range(3):
                bench.error[lane, start + k] = weight * tasks.radian[t] * angular[k]


@wp.func
def write_jacobian(links: Links, tasks: Tasks, goals: Goals, row: int, bench: Bench, lane: int) -> None:
    """Write the weighted rows J of a lane: walk from the link of each task to the base and add what each joint does."""
    for r in range(bench.jacobian.shape[1]):
        for c in range(bench.jacobian.shape[2]):
            bench.jacobian[lane, r, c] = real(0.0)
    for t in range(tasks.kind.shape[0]):
        goal, point, kind = row * tasks.kind.shape[0] + t, point_of(tasks, t, bench, lane), tasks.kind[t]
        weight, radian = tasks.weight[t], tasks.weight[t] * tasks.radian[t]
        axis = rotate(bench.turn[lane, tasks.link[t]], tasks.axis[t])
        wish, near = wish_of(goals, goal, point)
        i = int(tasks.link[t])
        while i >= 0:
            c = links.coordinate[i]
            if c >= 0 and links.kind[i] != FIXED:
                angular = links.ratio[i] * rotate(bench.turn[lane, i], links.axis[i])
                linear = angular
                if links.kind[i] == REVOLUTE:
                    linear = wp.cross(angular, point - bench.position[lane, i])
                else:
                    angular = vec3()
                first = int(tasks.first[t])
                if kind == DISTANCE:
                    bench.jacobian[lane, first, c] = bench.jacobian[lane, first, c] - weight * wp.dot(wish, linear)
                if kind == POSITION or kind == POSE:
                    for k in range(3):
                        bench.jacobian[lane, first + k, c] = bench.jacobian[lane, first + k, c] + weight * linear[k]
                if kind == POINTING:
                    angular = angular - wp.dot(axis, angular) * axis + near * wp.cross(wish, linear)
                if kind == ORIENTATION or kind == POSE or kind == POINTING:
                    first = wp.where(kind == POSE, first + 3, first)
                    for k in range(3):
                        bench.jacobian[lane, first + k, c] = bench.jacobian[lane, first + k, c] + radian * angular[k]
            i = links.parent[i]


@kernel
def linearise_all(
    links: Links, base: Pose, tasks: Tasks, goals: Goals, bench: Bench, result: wp.array2d[real], lanes: int
) -> None:
    """Errors, Jacobians and misses (square, position, angle) of all rows of the bench."""
    row = wp.tid()
    while row < bench.q.shape[0]:
        walk(links, base, bench.q, row, bench.position, bench.turn)
        write_errors(tasks, goals, row, bench, row)
        write_jacobian(links, tasks, goals, row, bench, row)
        found = misses(tasks, goals, row, bench, row)
        result[row, 0] = found.square
        result[row, 1] = found.position
        result[row, 2] = found.angle
        row += lanes


@kernel
def measure_all(
    links: Links,
    base: Pose,
    tasks: Tasks,
    goals: Goals,
    bench: Bench,
    q: wp.array2d[real],
    result: wp.array2d[real],
    lanes: int,
) -> None:
    """Misses (position, angle) of all rows of q, each looked at in a lane of the bench."""
    lane = wp.tid()
    row = int(lane)
    while row < q.shape[0]:
        for c in range(q.shape[1]):
            bench.q[lane, c] = q[row, c]
        walk(links, base, bench.q, lane, bench.position, bench.turn)
        found = misses(tasks, goals, row, bench, lane)
        result[row, 0] = found.position
        result[row, 1] = found.angle
        row += lanes
