"""Stewart platforms: lengths, rates, poses and modes against answers found in other ways."""

import numpy as np
import pytest
from scipy.optimize import brentq, root
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.kinematics.assembly import SOLUTIONS, generic_start, known_start
from rattleback.kinematics.pose import difference, make_pose, moved
from rattleback.kinematics.stewart import Stewart

MACHINE = Stewart.symmetric()
# Dietmaier (1998): a machine with forty real modes; anchors and lengths as published.
DIETMAIER_BASE = [
    (0, 0, 0), (1.107915, 0, 0), (0.549094, 0.756063, 0),
    (0.735077, -0.223935, 0.525991), (0.514188, -0.526063, -0.368418), (0.590473, 0.094733, -0.205018),
]  # fmt: skip
DIETMAIER_PLATFORM = [
    (0, 0, 0), (0.542805, 0, 0), (0.956919, -0.528915, 0),
    (0.665885, -0.353482, 1.402538), (0.478359, 1.158742, 0.107672), (-0.137087, -0.235121, 0.353913),
]  # fmt: skip
DIETMAIER_LENGTHS = (1.0, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071)


def random_poses(count: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    axis = generator.standard_normal((count, 3))
    axis *= (generator.uniform(0.0, 0.6, count) / np.linalg.norm(axis, axis=1))[:, None]
    place = np.array([0.0, 0.0, 1.0]) + generator.uniform(-0.25, 0.25, (count, 3))
    return make_pose(place, Rotation.from_rotvec(axis).as_matrix())


def apart(poses: np.ndarray) -> float:
    """Least distance between two of several poses."""
    pairs = [(i, j) for i in range(len(poses)) for j in range(i)]
    return min(np.abs(difference(poses[i], poses[j])).max() for i, j in pairs)


def test_a_leg_is_as_long_as_its_anchors_are_apart():
    for pose in random_poses(5, seed=1):
        turn = Rotation.from_matrix(pose[:3, :3])
        for k in range(6):
            head = pose[:3, 3] + turn.apply(MACHINE.platform[k])
            assert MACHINE.inverse(pose)[k] == pytest.approx(np.linalg.norm(head - MACHINE.base[k]), abs=1e-14)


def test_many_poses_at_once_have_the_lengths_of_each():
    poses = random_poses(6, seed=2).reshape(2, 3, 4, 4)
    together = MACHINE.inverse(poses)
    assert together.shape == (2, 3, 6)
    np.testing.assert_array_equal(together[1, 2], MACHINE.inverse(poses[1, 2]))


def test_the_jacobian_is_the_slope_of_the_lengths():
    for pose in random_poses(5, seed=3):
        steps = 1e-6 * np.eye(6)
        forth = MACHINE.inverse(np.array([moved(pose, step) for step in steps]))
        back = MACHINE.inverse(np.array([moved(pose, -step) for step in steps]))
        np.testing.assert_allclose(MACHINE.jacobian(pose), (forth - back).T / 2e-6, atol=1e-8)


def test_forward_undoes_inverse_for_a_thousand_poses():
    poses = random_poses(1000, seed=4)
    found = MACHINE.solve(MACHINE.inverse(poses))
    assert found.reached.all()
    assert np.abs(difference(found.pose, poses)).max() < 1e-10


def test_a_guess_chooses_the_mode():
    poses = random_poses(20, seed=5)
    below = poses * np.array([[1, 1, -1, 1], [1, 1, -1, 1], [-1, -1, 1, -1], [1, 1, 1, 1]])
    np.testing.assert_allclose(MACHINE.inverse(below), MACHINE.inverse(poses), atol=1e-14)
    found = MACHINE.forward(MACHINE.inverse(poses), guess=moved(below, np.full((20, 6), 0.02)))
    assert np.abs(difference(found, below)).max() < 1e-10


def test_lengths_that_do_not_fit_are_said_not_to_be_reached():
    lengths = MACHINE.inverse(MACHINE.home) * [1, 1, 1, 1, 1, 5]
    found = MACHINE.solve(lengths)
    assert not found.reached
    assert found.residual == pytest.approx(np.abs(MACHINE.inverse(found.pose) - lengths).max())
    with pytest.raises(rb.NotConverged, match="1 of 1 poses of 'stewart' are not found, the legs are off by up to"):
        MACHINE.forward(lengths)


def test_the_machine_of_dietmaier_has_forty_real_modes():
    machine = Stewart(DIETMAIER_BASE, DIETMAIER_PLATFORM)
    found = machine.assemblies(DIETMAIER_LENGTHS)
    assert (len(found.pose), found.finite, found.infinite, found.unsure) == (40, 40, 0, 0)
    np.testing.assert_allclose(machine.inverse(found.pose), np.tile(DIETMAIER_LENGTHS, (40, 1)), atol=1e-12)
    assert apart(found.pose) > 1e-3


def test_a_general_machine_has_forty_modes_in_complex_numbers_among_them_its_own():
    generator = np.random.default_rng(6)
    machine = Stewart(generator.standard_normal((6, 3)), generator.standard_normal((6, 3)))
    pose = random_poses(1, seed=7)[0]
    found = machine.assemblies(machine.inverse(pose))
    assert (found.finite, found.infinite, found.unsure) == (40, 0, 0)
    assert len(found.pose) % 2 == 0
    assert np.abs(difference(found.pose, pose)).max(axis=1).min() < 1e-10


def test_the_modes_of_the_symmetric_machine_are_those_that_many_starts_of_scipy_find():
    pose = random_poses(1, seed=8)[0]
    lengths = MACHINE.inverse(pose)

    def error(u: np.ndarray) -> np.ndarray:
        heads = u[:3] + MACHINE.platform @ Rotation.from_rotvec(u[3:]).as_matrix().T
        return ((heads - MACHINE.base) ** 2).sum(axis=1) - lengths**2

    generator = np.random.default_rng(9)
    modes: list[np.ndarray] = []
    for _ in range(150):
        way = np.concatenate([generator.uniform(-1.2, 1.2, 3), Rotation.random(random_state=generator).as_rotvec()])
        answer = root(error, way, tol=1e-13)
        if np.abs(error(answer.x)).max() < 1e-11:
            mode = make_pose(answer.x[:3], Rotation.from_rotvec(answer.x[3:]).as_matrix())
            if all(np.abs(difference(mode, other)).max() > 1e-5 for other in modes):
                modes.append(mode)
    found = MACHINE.assemblies(lengths)
    assert (found.finite, found.infinite, found.unsure) == (28, 12, 0)
    assert len(modes) == len(found.pose) == 8
    for mode in modes:
        assert np.abs(difference(found.pose, mode)).max(axis=1).min() < 1e-6


def octahedron_corners(machine: Stewart, lengths: np.ndarray) -> list[np.ndarray]:
    """All triangles of the platform of an octahedron, by a scan of one angle: each corner moves on a circle."""
    side = float(np.linalg.norm(machine.platform[1] - machine.platform[3]))
    circles = []
    for k in (0, 2, 4):  # legs k + 1 and k + 2 share a corner of the platform
        a, b = machine.base[k + 1], machine.base[(k + 2) % 6]
        r, s, gap = lengths[k + 1], lengths[(k + 2) % 6], np.linalg.norm(b - a)
        u = (b - a) / gap
        foot = (r**2 - s**2 + gap**2) / (2.0 * gap)
        up = np.array([0.0, 0.0, 1.0])
        circles.append((a + foot * u, np.sqrt(r**2 - foot**2), up, np.cross(up, u)))

    def corner(k: int, angle: np.ndarray) -> np.ndarray:
        middle, radius, up, out = circles[k]
        return middle + radius * (np.multiply.outer(np.cos(angle), out) + np.multiply.outer(np.sin(angle), up))

    def follower(first: np.ndarray, k: int, sign: int) -> np.ndarray:
        middle, radius, up, out = circles[k]
        way = middle - first
        x, y, z = 2 * radius * way @ out, 2 * radius * way @ up, side**2 - (way * way).sum(-1) - radius**2
        with np.errstate(invalid="ignore"):
            return np.arctan2(y, x) + sign * np.arccos(z / np.hypot(x, y))

    def triangle(angle: np.ndarray, signs: tuple[int, int]) -> list[np.ndarray]:
        first = corner(0, angle)
        return [first, *(corner(k, follower(first, k, sign)) for k, sign in zip((1, 2), signs, strict=True))]

    def gap_of(angle: np.ndarray, signs: tuple[int, int]) -> np.ndarray:
        _, second, third = triangle(angle, signs)
        return ((second - third) ** 2).sum(-1) - side**2

    grid, found = np.linspace(0.0, 2.0 * np.pi, 40_001), []
    for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        values = gap_of(grid, signs)
        with np.errstate(invalid="ignore"):
            changes = np.flatnonzero(values[:-1] * values[1:] < 0.0)
        for i in changes:
            angle = brentq(gap_of, grid[i], grid[i + 1], args=(signs,), xtol=1e-14)
            found.append(np.stack(triangle(np.array(angle), signs)))
    return found


@pytest.mark.parametrize("seed", [10, 11, 12])
def test_the_modes_of_the_octahedron_are_those_that_a_scan_of_its_angle_finds(seed):
    machine = Stewart.symmetric(base_gap=0.0, platform_gap=0.0)
    pose = random_poses(1, seed)[0]
    lengths = machine.inverse(pose)
    corners = octahedron_corners(machine, lengths)
    found = machine.assemblies(lengths)
    assert (found.finite, found.infinite, found.unsure) == (16, 24, 0)
    assert len(corners) == len(found.pose) > 0
    theirs = np.einsum("nij,kj->nki", found.pose[:, :3, :3], machine.platform[[1, 3, 5]]) + found.pose[:, None, :3, 3]
    for triangle in corners:
        assert np.abs(theirs - triangle).max(axis=(1, 2)).min() < 1e-8


def test_three_shared_anchors_on_one_side_leave_sixteen_modes():
    machine = Stewart.symmetric(platform_gap=0.0)
    pose = random_poses(1, seed=13)[0]
    found = machine.assemblies(machine.inverse(pose))
    assert (found.finite, found.infinite, found.unsure) == (16, 24, 0)
    assert np.abs(difference(found.pose, pose)).max(axis=1).min() < 1e-10


def test_legs_that_are_too_short_have_no_mode():
    assert len(MACHINE.assemblies(np.full(6, 0.05)).pose) == 0


@pytest.mark.slow
def test_loops_find_all_forty_solutions_of_a_generic_machine_again():
    start, points = generic_start(seed=1)
    stored, known = known_start()
    assert len(points) == len(known) == SOLUTIONS
    assert start.squares.shape == stored.squares.shape == (6,)


def test_a_quarter_turn_at_home_is_singular_and_gives_way_along_a_screw():
    for sign in (1.0, -1.0):
        pose = make_pose((0.0, 0.0, 1.0), Rotation.from_rotvec([0, 0, sign * np.pi / 2]).as_matrix())
        assert abs(MACHINE.determinant(pose)) < 1e-15
        assert MACHINE.condition(pose) > 1e14
        # All moments of the legs about the axis are alike, and so are their heights.
        legs = MACHINE.legs(pose)
        moment = np.cross(MACHINE.base, legs)[:, 2]
        screw = np.array([0, 0, -moment[0] / legs[0, 2], 0, 0, 1.0])
        np.testing.assert_allclose(MACHINE.jacobian(pose) @ screw, 0.0, atol=1e-15)


def test_the_condition_grows_towards_the_singular_pose():
    turns = np.linspace(0.0, 1.5, 7)
    poses = make_pose((0.0, 0.0, 1.0), Rotation.from_rotvec(np.outer(turns, [0, 0, 1.0])).as_matrix())
    assert (np.diff(MACHINE.condition(poses)) > 0.0).all()
    # With legs not scaled to length one, d = R b − a + h z, the moments R b × d lie across the axis as h R b × z does,
    # so that of d only −a is left when columns are combined: a turn of b changes no determinant there. Along the axis
    # h and sin(φ ± θ) stand side by side, whose determinant is 2 h cos φ sin θ.
    product = MACHINE.determinant(poses) * np.prod(MACHINE.inverse(poses), axis=-1)
    np.testing.assert_allclose(product / product[0], np.cos(turns), atol=1e-12)


def test_coinciding_anchors_make_a_workspace_of_one_shell():
    corners = MACHINE.base
    machine = Stewart(corners, corners, limits=(0.5, 1.0))
    found = machine.workspace(cells=80)
    assert found.volume == pytest.approx(2.0 / 3.0 * np.pi * (1.0 - 0.125), rel=5e-3)


def test_the_workspace_lies_within_the_limits_and_has_sections():
    machine = Stewart.symmetric(limits=(0.9, 1.4))
    turn = Rotation.from_rotvec([0.1, 0.0, 0.2]).as_matrix()
    found = machine.workspace(turn, cells=30)
    assert found.volume > 0.0
    assert machine.within_limits(make_pose(found.points, turn)).all()
    assert found.contains(found.points).all()
    layer, ranges = found.section(2, 1.0)
    inside = found.inside[:, :, int((1.0 - found.low[2]) / found.spacing)]
    np.testing.assert_array_equal(layer, inside)
    np.testing.assert_allclose(ranges[:, 0], found.low[:2])
    assert not found.contains((9.0, 0.0, 0.0))


def test_limits_tell_poses_apart():
    machine = Stewart.symmetric(limits=(0.9, 1.4))
    assert machine.within_limits(machine.home)
    assert not machine.within_limits(make_pose((0, 0, 3.0)))
    assert MACHINE.allows(np.full((2, 6), 7.0)).all()


WRONG = [
    (
        lambda: Stewart(np.zeros((5, 3)), MACHINE.platform),
        "The base of Stewart has shape (5, 3); it must be 6x3 numbers.",
    ),
    (lambda: Stewart.symmetric(base_radius=0.0), "The base_radius of Stewart is 0.0; it must be greater than zero."),
    (
        lambda: Stewart.symmetric(limits=(2.0, 1.0)),
        "The limits of Stewart are 2 and 1; they must be from zero up, each above the last.",
    ),
    (
        lambda: MACHINE.workspace(),
        "'stewart' has no limits of its legs, so that it can be anywhere; give limits=.",
    ),
    (
        lambda: MACHINE.forward(np.zeros(6)),
        "The lengths of Stewart have shape (6,); the last axis must be 6, and all above zero.",
    ),
    (lambda: MACHINE.inverse(np.eye(3)), "A pose of Stewart has shape (3, 3); its last two axes must be 4 × 4."),
    (lambda: MACHINE.inverse(2.0 * np.eye(4)), "A pose of Stewart has a matrix whose last row is not (0, 0, 0, 1)."),
    (
        lambda: Stewart.symmetric(limits=(0.9, 1.4)).workspace(cells=5).section(2, 9.0),
        "The section at 9 m is outside the region, from ",
    ),
]


@pytest.mark.parametrize(("act", "said"), WRONG)
def test_what_cannot_be_is_refused(act, said):
    with pytest.raises(rb.InputError) as caught:
        act()
    assert str(caught.value).startswith(said)
