"""Every kind of row: its error against the definition, its Jacobian against finite differences, its balance."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from rattleback.constraints import COUPLINGS, KINDS, LENGTHS, VELOCITY_ONLY
from rattleback.constraints.row import Frames, RowDefinition, row_of
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.precision import quat, real, vec3

POSES = 40
AXES = {"slide": (3, 1), "cross": (3, 3), "orient": (3, 1), "distance": (1, 1), "radius": (1, 1)}
AXES |= {"screw": (1, 1), "mesh": (1, 1), "rack": (1, 1), "linear_rate": (3, 1), "angular_rate": (3, 1)}
AXES |= {"turn": (3, 1)}
DEFINITIONS = [(kind, k, m) for kind, (a, b) in AXES.items() for k, m in itertools.product(range(a), range(b))]
WITH_ERROR = [letter for letter in DEFINITIONS if letter[0] not in VELOCITY_ONLY]
VELOCITIES = [letter for letter in DEFINITIONS if letter[0] in VELOCITY_ONLY]
RADII = (0.3, -0.7)


@group(axis="poses")
class Pair:
    """Two frames and the levers to them."""

    turn_a: quat = field("1", "frame on A")
    turn_b: quat = field("1", "frame on B")
    lever_a: vec3 = field("m", "from the centre of A to its anchor")
    lever_b: vec3 = field("m", "from the centre of B to its anchor")
    way: vec3 = field("m", "from anchor to anchor")
    angle: wp.float64 = field("rad", "remembered angle")
    other_angle: wp.float64 = field("rad", "remembered second angle")


@group(axis="poses")
class Found:
    """Rows found."""

    error: real = field("m or 1", "error")
    linear_a: vec3 = field("1", "by the velocity of A")
    angular_a: vec3 = field("1", "by the angular velocity of A")
    linear_b: vec3 = field("1", "by the velocity of B")
    angular_b: vec3 = field("1", "by the angular velocity of B")


@wp.kernel(enable_backward=False)
def evaluate(definition: RowDefinition, pair: Pair, found: Found) -> None:
    i = wp.tid()
    frames = Frames()
    frames.turn_a = pair.turn_a[i]
    frames.turn_b = pair.turn_b[i]
    frames.lever_a = pair.lever_a[i]
    frames.lever_b = pair.lever_b[i]
    frames.way = pair.way[i]
    frames.angle = pair.angle[i]
    frames.other_angle = pair.other_angle[i]
    row = row_of(definition, frames)
    found.error[i] = row.error
    found.linear_a[i] = row.linear_a
    found.angular_a[i] = row.angular_a
    found.linear_b[i] = row.linear_b
    found.angular_b[i] = row.angular_b


def random_poses(seed: int, count: int = POSES) -> SimpleNamespace:
    """Two bodies anywhere, with a frame fixed to each; frames turned against each other by less than a half turn."""
    rng = np.random.default_rng(seed)
    poses = SimpleNamespace(q_a=Rotation.random(count, rng), turn_a=Rotation.random(count, rng))
    poses.turn_b = Rotation.random(count, rng)
    apart = rng.standard_normal((count, 3))
    apart *= rng.uniform(0.0, 0.95 * np.pi, (count, 1)) / np.linalg.norm(apart, axis=1, keepdims=True)
    poses.q_b = poses.q_a * poses.turn_a * Rotation.from_rotvec(apart) * poses.turn_b.inv()
    for name in ("x_a", "x_b", "anchor_a", "anchor_b"):
        setattr(poses, name, rng.uniform(-1.0, 1.0, (count, 3)))
    poses.angle = poses.other_angle = np.zeros(count)
    return poses


def moved(poses: SimpleNamespace, twist: np.ndarray, h: float) -> SimpleNamespace:
    """The poses after the bodies have moved on for a time h at constant velocities."""
    later = SimpleNamespace(**vars(poses))
    later.x_a, later.x_b = poses.x_a + h * twist[:, 0:3], poses.x_b + h * twist[:, 6:9]
    later.q_a = Rotation.from_rotvec(h * twist[:, 3:6]) * poses.q_a
    later.q_b = Rotation.from_rotvec(h * twist[:, 9:12]) * poses.q_b
    return later


def rows_at(poses: SimpleNamespace, definition: tuple[str, int, int], offset: float) -> dict[str, np.ndarray]:
    count = len(poses.x_a)
    lever_a, lever_b = poses.q_a.apply(poses.anchor_a), poses.q_b.apply(poses.anchor_b)
    pair = arrays.allocate(Pair, {"poses": count}, "cpu")
    arrays.write(
        pair,
        {
            "turn_a": (poses.q_a * poses.turn_a).as_quat(),
            "turn_b": (poses.q_b * poses.turn_b).as_quat(),
            "lever_a": lever_a,
            "lever_b": lever_b,
            "way": poses.x_b + lever_b - poses.x_a - lever_a,
            "angle": poses.angle,
            "other_angle": poses.other_angle,
        },
        "the poses",
    )
    chosen = RowDefinition()
    chosen.kind = KINDS[definition[0]]
    chosen.axis_a = definition[1]
    chosen.axis_b = definition[2]
    chosen.offset = offset
    chosen.radius_a, chosen.radius_b = RADII
    found = arrays.allocate(Found, {"poses": count}, "cpu")
    wp.launch(evaluate, count, inputs=[chosen, pair, found], device="cpu")
    return arrays.read(found)


def defined_error(poses: SimpleNamespace, definition: tuple[str, int, int], offset: float) -> np.ndarray:
    """The error as the table of the alphabet defines it, with matrices and SciPy's quaternions."""
    kind, k, m = definition
    first, second = poses.q_a * poses.turn_a, poses.q_b * poses.turn_b
    a, b = first.as_matrix(), second.as_matrix()
    d = poses.x_b + poses.q_b.apply(poses.anchor_b) - poses.x_a - poses.q_a.apply(poses.anchor_a)
    if kind == "orient":
        return 2.0 * (first.inv() * second).as_quat(canonical=True)[:, k]
    z = a[:, :, 2]
    if kind == "turn":
        return free_turn(k, first, second) - offset
    if kind in COUPLINGS:
        return coupling_error(kind, first, second, d) - offset
    return {
        "slide": np.einsum("ij,ij->i", d, a[:, :, k]),
        "cross": np.einsum("ij,ij->i", a[:, :, k], b[:, :, m]),
        "distance": np.linalg.norm(d, axis=1),
        "radius": np.linalg.norm(np.cross(d, z), axis=1),
    }[kind] - offset


def azimuth(frame: Rotation, v: np.ndarray) -> np.ndarray:
    local = frame.inv().apply(v)
    return np.arctan2(local[:, 1], local[:, 0])


def free_turn(k: int, first: Rotation, second: Rotation) -> np.ndarray:
    """A free turn: about z, by the shortest way that takes z of A to z of B first, or an azimuth of a z axis."""
    if k == 1:
        return azimuth(first, second.as_matrix()[:, :, 2])
    if k == 2:
        return -azimuth(second, first.as_matrix()[:, :, 2])
    return coupling_error("screw", first, second, np.zeros((len(first), 3))) / -RADII[0]


def coupling_error(kind: str, first: Rotation, second: Rotation, d: np.ndarray) -> np.ndarray:
    """A coupling before any full turn; the turn about z is the last angle of the sequence z–(in the plane)–z."""
    a, b = RADII
    if kind == "mesh":
        return a * azimuth(first, d) + b * azimuth(second, -d)
    if kind == "rack":
        return second.inv().apply(d)[:, 2] + a * azimuth(first, second.as_matrix()[:, :, 0])
    x, y, z, w = (first.inv() * second).as_quat(canonical=True).T
    swing = Rotation.from_quat(np.stack([w * x - y * z, w * y + x * z, 0 * z, w * w + z * z], axis=1))
    turn = (swing.inv() * first.inv() * second).as_rotvec()
    np.testing.assert_allclose(turn[:, :2], 0.0, atol=1e-12)
    return first.inv().apply(d)[:, 2] - a * turn[:, 2]


def jacobian(rows: dict[str, np.ndarray]) -> np.ndarray:
    return np.concatenate([rows[f"{part}_{side}"] for side in "ab" for part in ("linear", "angular")], axis=1)


def test_the_letters_tested_are_all_there_are() -> None:
    assert set(AXES) == set(KINDS)
    assert set(LENGTHS) == {"slide", "distance", "radius", "screw", "mesh", "rack", "linear_rate"}
    assert set(COUPLINGS) | set(VELOCITY_ONLY) <= set(KINDS)
    assert len(set(KINDS.values())) == len(KINDS)


@pytest.mark.parametrize("definition", WITH_ERROR, ids=str)
def test_the_error_is_the_defined_one(definition: tuple[str, int, int]) -> None:
    """To rounding; the angle of a vector near a z axis is as much less exact as it is shorter across that axis."""
    offset = 0.0 if definition[0] == "orient" else 0.37
    poses = random_poses(1)
    off = rows_at(poses, definition, offset)["error"] - defined_error(poses, definition, offset)
    if definition[0] == "turn":
        z = [q.apply((0.0, 0.0, 1.0)) for q in (poses.q_a * poses.turn_a, poses.q_b * poses.turn_b)]
        off *= np.linalg.norm(np.cross(*z), axis=1)
    np.testing.assert_allclose(off, 0.0, atol=1e-14)


@pytest.mark.parametrize("definition", WITH_ERROR, ids=str)
def test_the_jacobian_is_the_derivative_of_the_error(definition: tuple[str, int, int]) -> None:
    """Central differences along random velocities; their own error is about h² + 1e-16/h, near a z axis h²/ρ³."""
    poses, h = random_poses(2), 1e-5
    twist = np.random.default_rng(3).uniform(-1.0, 1.0, (POSES, 12))
    ahead, behind = (rows_at(moved(poses, twist, s * h), definition, 0.2)["error"] for s in (1, -1))
    rate = np.einsum("ij,ij->i", jacobian(rows_at(poses, definition, 0.2)), twist)
    atol = 1e-6 if definition[0] in (*COUPLINGS, "turn") else 1e-8
    np.testing.assert_allclose(rate, (ahead - behind) / (2.0 * h), rtol=0, atol=atol)


@pytest.mark.parametrize("definition", VELOCITIES, ids=str)
def test_a_row_of_velocities_has_no_error_and_measures_the_velocity_of_b_seen_from_a(
    definition: tuple[str, int, int],
) -> None:
    """The velocity of B's anchor less that of the point of A in the same place, in the axes of A; or the spins."""
    poses = random_poses(9)
    rows, twist = rows_at(poses, definition, 0.0), np.random.default_rng(10).uniform(-1.0, 1.0, (POSES, 12))
    v_a, w_a, v_b, w_b = (twist[:, k : k + 3] for k in (0, 3, 6, 9))
    lever = poses.q_b.apply(poses.anchor_b)
    seen = w_b - w_a
    if definition[0] == "linear_rate":
        seen = v_b + np.cross(w_b, lever) - v_a - np.cross(w_a, poses.x_b + lever - poses.x_a)
    expected = (poses.q_a * poses.turn_a).inv().apply(seen)[:, definition[1]]
    np.testing.assert_allclose(np.einsum("ij,ij->i", jacobian(rows), twist), expected, atol=1e-13)
    np.testing.assert_array_equal(rows["error"], 0.0)


@pytest.mark.parametrize("kind", COUPLINGS)
@pytest.mark.parametrize("turns", [-1000, -1, 0, 1, 50])
def test_an_angle_goes_on_from_the_one_remembered(kind: str, turns: int) -> None:
    """Remembered is an angle up to half a turn from the one measured, after any number of full turns."""
    poses, rng = random_poses(11), np.random.default_rng(12)
    first, second = poses.q_a * poses.turn_a, poses.q_b * poses.turn_b
    d = poses.x_b + poses.q_b.apply(poses.anchor_b) - poses.x_a - poses.q_a.apply(poses.anchor_a)
    before = rows_at(poses, (kind, 0, 0), 0.0)["error"]
    small = {"mesh": azimuth(first, d), "rack": azimuth(first, second.as_matrix()[:, :, 0])}
    turn = (first.inv() * second).as_quat(canonical=True)
    small["screw"] = 2.0 * np.arctan2(turn[:, 2], turn[:, 3])
    poses.angle = small[kind] + 2.0 * np.pi * turns + rng.uniform(-3.1, 3.1, POSES)
    weights = {"screw": -RADII[0], "mesh": RADII[0], "rack": RADII[0]}
    gained = rows_at(poses, (kind, 0, 0), 0.0)["error"] - before
    np.testing.assert_allclose(gained, weights[kind] * 2.0 * np.pi * turns, atol=1e-11)
    if kind == "mesh":
        poses.angle = np.zeros(POSES)
        poses.other_angle = azimuth(second, -d) + 2.0 * np.pi * turns + rng.uniform(-3.1, 3.1, POSES)
        gained = rows_at(poses, (kind, 0, 0), 0.0)["error"] - before
        np.testing.assert_allclose(gained, RADII[1] * 2.0 * np.pi * turns, atol=1e-11)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=str)
def test_an_impulse_along_a_row_keeps_linear_and_angular_momentum(definition: tuple[str, int, int]) -> None:
    poses = random_poses(4)
    rows = rows_at(poses, definition, 0.1)
    np.testing.assert_array_equal(rows["linear_a"] + rows["linear_b"], 0.0)
    orbital = np.cross(poses.x_a, rows["linear_a"]) + np.cross(poses.x_b, rows["linear_b"])
    np.testing.assert_allclose(orbital + rows["angular_a"] + rows["angular_b"], 0.0, atol=1e-12)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=str)
def test_a_row_does_not_feel_both_bodies_moving_as_one(definition: tuple[str, int, int]) -> None:
    poses = random_poses(5)
    rng = np.random.default_rng(6)
    v, w = rng.standard_normal((2, POSES, 3))
    twist = np.concatenate([v + np.cross(w, poses.x_a), w, v + np.cross(w, poses.x_b), w], axis=1)
    rate = np.einsum("ij,ij->i", jacobian(rows_at(poses, definition, 0.1)), twist)
    np.testing.assert_allclose(rate, 0.0, atol=1e-13)


@pytest.mark.parametrize("axis", range(3))
def test_an_orient_row_has_the_same_error_for_both_signs_of_a_quaternion(axis: int) -> None:
    poses = random_poses(7)
    before = rows_at(poses, ("orient", axis, 0), 0.0)
    poses.turn_b = Rotation.from_quat(-poses.turn_b.as_quat())
    after = rows_at(poses, ("orient", axis, 0), 0.0)
    for name, value in before.items():
        np.testing.assert_allclose(after[name], value, atol=1e-15)


@pytest.mark.parametrize("kind", ["distance", "radius"])
def test_a_length_of_zero_still_gives_a_row_of_length_one(kind: str) -> None:
    """The direction is lost there; any one will do, but it must be one, perpendicular to the line of a radius."""
    poses = random_poses(8)
    poses.x_b = poses.x_a + poses.q_a.apply(poses.anchor_a) - poses.q_b.apply(poses.anchor_b)
    rows = rows_at(poses, (kind, 0, 0), 0.5)
    np.testing.assert_allclose(rows["error"], -0.5, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(rows["linear_b"], axis=1), 1.0, atol=1e-12)
    orbital = np.cross(poses.x_a, rows["linear_a"]) + np.cross(poses.x_b, rows["linear_b"])
    np.testing.assert_allclose(orbital + rows["angular_a"] + rows["angular_b"], 0.0, atol=1e-12)
