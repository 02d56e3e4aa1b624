"""Rods, tops and a ragdoll that meet the ground: mass properties, starts and limits, by independent computation."""

import itertools
import math

import numpy as np
import pytest
import trimesh
from scipy.integrate import quad, solve_ivp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.scenes import double_pendulum_impact, painleve, ragdoll_on_stairs, rattleback, tippe_top
from rattleback.scenes.impacts import jamming_friction

GRAVITY = 9.81


def skew(r: np.ndarray) -> np.ndarray:
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def inverse_mass(bodies: list) -> np.ndarray:
    """Inverse mass matrix of bodies in the world, (6 bodies, 6 bodies)."""
    found = np.zeros((6 * len(bodies), 6 * len(bodies)))
    for k, body in enumerate(bodies):
        turn = Rotation.from_quat(body.orientation).as_matrix()
        found[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = np.eye(3) / body.mass
        found[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = np.linalg.inv(turn @ body.inertia @ turn.T)
    return found


def point_rows(bodies: list, index: int, point: np.ndarray) -> np.ndarray:
    """Jacobian of the velocity of a point of a body (3, 6 bodies)."""
    rows = np.zeros((3, 6 * len(bodies)))
    rows[:, 6 * index : 6 * index + 6] = np.hstack([np.eye(3), -skew(point - bodies[index].position)])
    return rows


def speeds(bodies: list) -> np.ndarray:
    return np.concatenate([np.concatenate([body.velocity, body.angular_velocity]) for body in bodies])


def world_tip(body) -> np.ndarray:
    """The lowest corner of a body whose shape is a hull."""
    corners = Rotation.from_quat(body.orientation).apply(np.array(body.shape.vertices)) + body.origin
    return corners[np.argmin(corners[:, 2])]


@pytest.mark.parametrize("angle", [math.atan(2.0), 0.8, 1.3])
def test_painleves_rod_jams_where_pressing_its_sliding_tip_pulls_it_down(angle):
    scene = painleve(1.0, angle, speed=2.0)
    rod = scene["rod"]
    tip = world_tip(rod)
    assert abs(tip[2]) < 1e-14
    rows = point_rows([rod], 0, tip)
    response = rows @ inverse_mass([rod]) @ rows.T
    assert (rows @ speeds([rod])).tolist() == [2.0, 0.0, 0.0]
    # Normal acceleration of the tip by a unit of pressure with friction against the slip along x.
    assert response[2, 2] - jamming_friction(angle) * response[2, 0] == pytest.approx(0.0, abs=1e-12)
    assert response[2, 0] > 0.0
    assert rod.inertia[0, 0] == pytest.approx(2.0**2 / 12, rel=1e-15)


def test_the_critical_friction_is_four_thirds_where_the_tangent_is_two():
    assert jamming_friction(math.atan(2.0)) == pytest.approx(4.0 / 3.0, rel=1e-15)
    assert painleve()["rod"].material.friction > 4.0 / 3.0
    assert painleve()["ground"].material.friction == 0.0


def newton_gain(scene: rb.Scene) -> tuple[float, np.ndarray, np.ndarray]:
    """Energy an impact by Newton's law gives to the rods, and the velocities of the tip before and after.

    The tip sticks if friction allows it, and otherwise slides on with the friction of the way it slides afterwards.
    """
    bodies = [scene["upper"], scene["lower"]]
    rows = []
    for name, (a, b) in (("hinge_of_upper", (None, 0)), ("hinge_of_lower", (0, 1))):
        at, turn = np.array(scene.joints[name].at), np.zeros((2, 12))
        point = point_rows(bodies, b, at) - (0 if a is None else point_rows(bodies, a, at))
        turn[0, 6 * b + 3] = turn[1, 6 * b + 5] = 1.0
        rows += [point, turn]
    joints, weight = np.vstack(rows), inverse_mass(bodies)
    free = weight - weight @ joints.T @ np.linalg.solve(joints @ weight @ joints.T, joints @ weight)
    tip, before = point_rows(bodies, 1, world_tip(bodies[1]))[[0, 2]], speeds(bodies)
    np.testing.assert_allclose(joints @ before, 0.0, atol=1e-14)
    response, start = tip @ free @ tip.T, tip @ before
    material = bodies[1].material
    pulse = np.linalg.solve(response, [-start[0], -(1 + material.restitution) * start[1]])
    if abs(pulse[0]) > material.friction * pulse[1]:
        for side in (1.0, -1.0):
            way = np.array([-side * material.friction, 1.0])
            pulse = -(1 + material.restitution) * start[1] / (response @ way)[1] * way
            if side * (start + response @ pulse)[0] > 0.0:
                break
    after = start + response @ pulse
    assert after[1] == pytest.approx(-material.restitution * start[1], rel=1e-9)
    return 0.5 * pulse @ (start + after), start, after


@pytest.mark.parametrize(("friction", "restitution"), [(0.5, 0.5), (0.5, 0.7), (0.7, 0.7)])
def test_newtons_law_creates_energy_where_the_tip_of_two_rods_strikes(friction, restitution):
    scene = double_pendulum_impact(friction, restitution)
    lower = scene["lower"]
    assert abs(world_tip(lower)[2]) < 1e-14
    gain, start, after = newton_gain(scene)
    assert start[0] < 0.0
    assert start[1] < 0.0
    assert after[0] > -1e-12
    assert gain > 0.5 * 0.5 * speeds([scene["upper"], lower]) @ np.linalg.solve(
        inverse_mass([scene["upper"], lower]), speeds([scene["upper"], lower])
    )


def test_newtons_law_takes_energy_where_little_is_given_back():
    assert newton_gain(double_pendulum_impact(0.5, 0.3))[0] < 0.0
    assert newton_gain(double_pendulum_impact(0.0, 0.9))[0] < 0.0


def test_rods_lean_by_20_and_30_degrees_and_are_slender():
    scene = double_pendulum_impact(spin=3.0)
    for name, angle, spin in (("upper", 20.0, 3.0), ("lower", 30.0, 6.0)):
        rod = scene[name]
        axis = Rotation.from_quat(rod.orientation).apply([0, 0, 1])
        np.testing.assert_allclose(axis, [-math.sin(math.radians(angle)), 0, math.cos(math.radians(angle))], atol=1e-15)
        assert rod.angular_velocity.tolist() == [0.0, spin, 0.0]
        assert (rod.mass, rod.inertia[1, 1]) == (1.0, pytest.approx(1 / 12))


def slices(ring, low: float, high: float, breaks: list[float]) -> tuple[float, float, np.ndarray]:
    """Volume, centroid and inertia about it of a solid of revolution, from the radii (inner, outer) at a height."""

    def integral(term) -> float:
        return quad(lambda z: term(z, *ring(z)), low, high, points=breaks, epsabs=1e-22, limit=200)[0]

    volume = integral(lambda z, a, b: math.pi * (b**2 - a**2))
    middle = integral(lambda z, a, b: z * math.pi * (b**2 - a**2)) / volume
    about = integral(lambda z, a, b: math.pi / 2 * (b**4 - a**4))
    across = integral(lambda z, a, b: math.pi / 4 * (b**4 - a**4) + (z - middle) ** 2 * math.pi * (b**2 - a**2))
    return volume, middle, np.array([across, across, about])


def round_radius(z: float, radius: float, middle: float) -> float:
    return math.sqrt(max(radius**2 - (z - middle) ** 2, 0.0))


def tippe_ring(z: float) -> tuple[float, float]:
    """Inner and outer radius of the bowl alone."""
    return round_radius(z, 0.027, 0.003), round_radius(z, 0.03, 0.0)


def stem_ring(z: float) -> tuple[float, float]:
    """Radius of a stem of 6 mm with round ends, from the bottom of the hollow at −24 mm to 37 mm."""
    return 0.0, round_radius(z, 0.006, min(max(z, -0.018), 0.031))


def test_mass_centre_and_inertia_of_the_tippe_top_are_those_of_its_solid():
    top = tippe_top()["top"]
    bowl = slices(tippe_ring, -0.03, 0.024, [-0.024])
    stem = slices(stem_ring, -0.024, 0.037, [-0.018, 0.031])
    volume = bowl[0] + stem[0]
    middle = (bowl[0] * bowl[1] + stem[0] * stem[1]) / volume
    shifts = sum(part[0] * (part[1] - middle) ** 2 for part in (bowl, stem))
    moments = 800.0 * (bowl[2] + stem[2] + np.array([shifts, shifts, 0.0]))
    assert top.mass == pytest.approx(800.0 * volume, rel=1e-9)
    np.testing.assert_allclose(top.center_of_mass, [0, 0, middle], atol=1e-12)
    np.testing.assert_allclose(np.diag(top.inertia), moments, rtol=1e-9)
    assert np.count_nonzero(top.inertia - np.diag(np.diag(top.inertia))) == 0


def test_the_tippe_top_fulfils_what_it_takes_to_turn_over():
    top = tippe_top()["top"]
    offset, ratio = -top.center_of_mass[2] / 0.03, top.inertia[2, 2] / top.inertia[0, 0]
    assert top.mass == pytest.approx(0.0294, abs=5e-5)
    assert (offset, ratio) == pytest.approx((0.194, 1.013), abs=5e-4)
    assert 1.0 - offset < ratio < 1.0 + offset
    # Angle from the axis to the point of the ball that touches when the stem does, and to its rim.
    stem_touches, rim = math.acos((0.03 - 0.006) / 0.031), math.acos(0.024 / 0.03)
    assert stem_touches > rim


def test_the_bowl_that_is_shown_is_closed_and_nearly_as_large():
    bowl = tippe_top()["top"].shape.parts[0].shape
    shown = trimesh.Trimesh(bowl.vertices, bowl.triangles, process=False)
    assert shown.is_watertight
    assert shown.volume == pytest.approx(slices(tippe_ring, -0.03, 0.024, [-0.024])[0], rel=0.05)


def test_the_tippe_top_starts_on_its_ball_with_its_tilt_and_spin():
    scene = tippe_top(0.4, 100.0, 0.3)
    top = scene["top"]
    axis = Rotation.from_quat(top.orientation).apply([0, 0, 1])
    assert math.acos(axis[2]) == pytest.approx(0.3)
    np.testing.assert_allclose(top.origin, [0, 0, 0.03], atol=1e-15)
    assert top.angular_velocity.tolist() == [0.0, 0.0, 100.0]
    contact = top.velocity + np.cross(top.angular_velocity, top.origin - [0, 0, 0.03] - top.position)
    assert contact[2] == 0.0
    assert top.material.friction + scene["ground"].material.friction == 0.4


def turned_over(top, duration: float) -> float:
    """When the axis of a tippe top that slides is far enough down for its stem to touch [s], by an ordinary solver.

    Friction is that of Coulomb, made smooth below 5 mm/s.
    """
    height, along, across = top.center_of_mass[2], top.inertia[2, 2], top.inertia[0, 0]
    up, friction = np.array([0.0, 0.0, 1.0]), top.material.friction

    def rates(_, state):
        axis, turning = state[:3] / np.linalg.norm(state[:3]), state[3:6]
        inertia = across * np.eye(3) + (along - across) * np.outer(axis, axis)
        arm, change = -height * axis - 0.03 * up, np.cross(turning, axis)
        slip = np.array([*state[6:8], height * change[2]]) + np.cross(turning, arm)
        push = up - friction * np.array([*slip[:2], 0.0]) / math.hypot(slip[0], slip[1], 5e-3)
        free = np.linalg.solve(inertia, -np.cross(turning, inertia @ turning))
        pushed = np.linalg.solve(inertia, np.cross(arm, push))
        # The ball stays on the ground: its centre of mass is accelerated as its axis is.
        own = height * (np.cross(free, axis) + np.cross(turning, change))[2]
        pressure = top.mass * (GRAVITY + own) / (1.0 - top.mass * height * np.cross(pushed, axis)[2])
        return np.concatenate([change, free + pressure * pushed, pressure / top.mass * push[:2]])

    def stem_touches(_, state):
        return state[2] + (0.03 - 0.006) / 0.031

    stem_touches.terminal = True
    axis = Rotation.from_quat(top.orientation).apply([0, 0, 1])
    start = np.concatenate([axis, top.angular_velocity, top.velocity[:2]])
    path = solve_ivp(rates, (0.0, duration), start, rtol=1e-6, atol=1e-8, events=stem_touches)
    return path.t_events[0][0] if len(path.t_events[0]) else math.inf


def test_a_top_with_these_numbers_turns_over_and_the_earlier_the_higher_the_friction():
    frictions = np.array([0.3, 0.4, 0.5])
    times = np.array([turned_over(tippe_top(friction)["top"], 3.0) for friction in frictions.tolist()])
    assert (np.diff(times) < 0.0).all()
    np.testing.assert_allclose(times * frictions, times[0] * frictions[0], rtol=0.1)


def loaded_half_ellipsoid() -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia of the rattleback by quadrature that is exact for polynomials."""
    nodes, weights = np.polynomial.legendre.leggauss(6)
    r, wr = 0.5 * (nodes + 1), 0.5 * weights
    u, wu = 0.5 * (nodes - 1), 0.5 * weights
    around = 2 * math.pi * np.arange(8) / 8
    r, u, around = np.meshgrid(r, u, around, indexing="ij")
    weight = wr[:, None, None] * wu[None, :, None] * r**2 * np.ones_like(around)
    across = r * np.sqrt(1 - u**2)
    points = np.stack([0.1 * across * np.cos(around), 0.02 * across * np.sin(around), 0.02 * r * u], axis=-1)
    points, masses = points.reshape(-1, 3), 0.1 * weight.ravel() / weight.sum()
    balls = np.array([(0.06, -0.01, 0.006), (-0.06, 0.01, 0.006)])
    points, masses = np.vstack([points, balls]), np.concatenate([masses, [0.01, 0.01]])
    center = masses @ points / masses.sum()
    away = points - center
    inertia = np.einsum(
        "n,nij->ij", masses, (away**2).sum(1)[:, None, None] * np.eye(3) - away[:, :, None] * away[:, None]
    )
    return masses.sum(), center, inertia + 2 * 0.4 * 0.01 * 0.006**2 * np.eye(3)


def test_mass_centre_and_inertia_of_the_rattleback_are_those_of_its_solid():
    stone = rattleback()["stone"]
    mass, center, inertia = loaded_half_ellipsoid()
    assert stone.mass == pytest.approx(mass, rel=1e-14)
    np.testing.assert_allclose(stone.center_of_mass, center, atol=1e-15)
    np.testing.assert_allclose(stone.inertia, inertia, atol=1e-15 * 0.1, rtol=1e-12)


def test_principal_axes_of_the_rattleback_are_turned_by_two_point_six_degrees():
    moments, axes = np.linalg.eigh(rattleback()["stone"].inertia)
    long = axes[:, 0] * np.sign(axes[0, 0])
    assert moments[0] < 0.2 * moments[1]
    assert math.degrees(math.atan2(long[1], long[0])) == pytest.approx(-2.617, abs=1e-3)
    assert abs(long[2]) < 1e-12


@pytest.mark.parametrize("tilt", [0.0, 0.01, 0.2])
def test_the_rattleback_starts_to_roll_where_it_touches(tilt):
    stone = rattleback(4.0, tilt=tilt)["stone"]
    up = Rotation.from_quat(stone.orientation).inv().apply([0, 0, 1])
    radii = np.array([0.1, 0.02, 0.02])
    lowest = -(radii**2) * up / np.linalg.norm(radii * up)
    contact = Rotation.from_quat(stone.orientation).apply(lowest) + stone.origin
    assert abs(contact[2]) < 1e-16
    still = stone.velocity + np.cross(stone.angular_velocity, contact - stone.position)
    np.testing.assert_allclose(still, 0.0, atol=1e-15)
    assert math.degrees(math.asin(abs(Rotation.from_quat(stone.orientation).as_matrix()[2, 0]))) == pytest.approx(
        math.degrees(tilt)
    )


def rolled(stone, duration: float) -> np.ndarray:
    """Angular velocity about the vertical of a rattleback that rolls without slip, by an ordinary solver."""
    radii, mass, inertia = np.array([0.1, 0.02, 0.02]), stone.mass, stone.inertia

    def rates(_, state):
        x, y, z, w = state[:4]
        turning, up = state[4:], Rotation.from_quat(state[:4]).as_matrix()[2]
        stretched = radii**2 * up
        length = np.linalg.norm(radii * up)
        arm = -stretched / length - stone.center_of_mass
        change = np.cross(up, turning)
        arm_rate = -(radii**2 * change / length - stretched * ((radii * up) @ (radii * change)) / length**3)
        known = -np.cross(turning, arm_rate) - np.cross(turning, np.cross(turning, arm)) + GRAVITY * up
        torque = mass * np.cross(arm, known) - np.cross(turning, inertia @ turning)
        matrix = np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
        faster = np.linalg.solve(inertia - mass * skew(arm) @ skew(arm), torque)
        return np.concatenate([0.5 * matrix @ turning, faster])

    turn = Rotation.from_quat(stone.orientation)
    start = np.concatenate([stone.orientation, turn.inv().apply(np.array(stone.angular_velocity))])
    path = solve_ivp(rates, (0.0, duration), start, rtol=1e-6, atol=1e-8)
    return Rotation.from_quat(path.y[:4].T).apply(path.y[4:].T)[:, 2]


def test_a_stone_with_these_numbers_reverses_its_spin_one_way_and_not_the_other():
    assert rolled(rattleback(5.0)["stone"], 2.5)[-1] < -1.0
    assert rolled(rattleback(-5.0)["stone"], 2.5).max() < -3.0


def test_the_ragdoll_has_13_parts_on_12_joints_that_move_as_one():
    scene = ragdoll_on_stairs(speed=2.0)
    parts = scene.groups["ragdoll"]
    assert (len(parts), len(scene.joints)) == (13, 12)
    assert sum(part.mass for part in parts) == pytest.approx(71.0)
    assert {tuple(part.velocity) for part in parts} == {(2.0, 0.0, 0.0)}
    kinds = sorted(type(joint).__name__ for joint in scene.joints.values())
    assert kinds == ["Ball"] * 2 + ["Revolute"] * 6 + ["Universal"] * 4


def test_parts_of_the_ragdoll_are_apart_unless_a_joint_holds_them():
    scene = ragdoll_on_stairs(tilt=0.0)
    placed = {part.name: (part.shape, part.origin, part.orientation) for part in scene.groups["ragdoll"]}
    held = {frozenset((joint.a, joint.b)) for joint in scene.joints.values()}
    for a, b in itertools.combinations(placed, 2):
        gap = rb.collision.distance(
            *(rb.Placed(shape, tuple(at), tuple(turn)) for shape, at, turn in (placed[a], placed[b]))
        )
        assert frozenset((a, b)) in held or gap.distance > 0.01


@pytest.mark.parametrize("tilt", [-1.0, 0.0, 0.6, 1.5])
def test_the_lowest_point_of_the_ragdoll_is_as_high_above_the_landing_as_asked(tilt):
    scene = ragdoll_on_stairs(6, tilt, height=0.25)
    depths = []
    for part in scene.groups["ragdoll"]:
        turn = Rotation.from_quat(part.orientation)
        depths.append((turn.apply(part.shape.support(turn.inv().apply([0, 0, -1.0]))) + part.origin)[2])
    assert min(depths) == pytest.approx(6 * 0.18 + 0.25, rel=1e-12)


def test_the_stairs_descend_from_the_landing_to_the_ground():
    steps = [body for body in ragdoll_on_stairs(5).bodies if body.static and body.name != "ground"]
    tops = [body.position[2] + 0.5 * body.shape.z for body in steps]
    ends = [(body.position[0] - 0.5 * body.shape.x, body.position[0] + 0.5 * body.shape.x) for body in steps]
    np.testing.assert_allclose(tops, 0.18 * np.arange(5, 0, -1))
    np.testing.assert_allclose([low for low, _ in ends[1:]], [high for _, high in ends[:-1]], atol=1e-12)


@pytest.mark.parametrize(
    ("joint", "part", "spin", "limit"),
    [
        ("left_knee", "left_shin", 30.0, 2.4),
        ("left_knee", "left_shin", -30.0, -0.05),
        ("right_elbow", "right_forearm", -30.0, -2.4),
        ("right_elbow", "right_forearm", 30.0, 0.05),
    ],
)
def test_knees_bend_backwards_and_elbows_forwards(joint, part, spin, limit):
    scene = ragdoll_on_stairs(tilt=0.0, speed=0.0)
    scene.gravity = np.zeros(3)
    sim = rb.Simulation(scene, time_step=0.002, contacts="none")
    sim[part].angular_velocity = (0.0, spin, 0.0)
    other, reached = scene.joints[joint].a, 0.0
    for _ in range(150):
        sim.step(2)
        turned = Rotation.from_quat(sim[other].orientation).inv() * Rotation.from_quat(sim[part].orientation)
        reached = max(reached, math.copysign(1.0, spin) * turned.as_rotvec()[1])
    assert reached == pytest.approx(abs(limit), abs=0.02)
