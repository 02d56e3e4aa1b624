"""Workspaces: areas and volumes in closed form against samples, and the edges of planar arms."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

import rattleback as rb
from rattleback.kinematics import Link, Tree
from rattleback.kinematics.grid import Region, region
from rattleback.kinematics.models import planar_2r, planar_3r, puma560, scara
from rattleback.kinematics.planar import Arc, PlanarArm, planar_arm
from rattleback.kinematics.workspace import configurations, sample

UNTURNED = (0.0, 0.0, 0.0, 1.0)
NARROW = ((-1.0, 1.2), (-2.0, 2.5))


def ring_area(first: float, second: float) -> float:
    return np.pi * ((first + second) ** 2 - (first - second) ** 2)


@pytest.mark.parametrize(("first", "second"), [(1.0, 1.0), (1.0, 0.6)])
def test_the_area_of_two_bars_is_that_of_a_ring(first, second):
    tree = planar_2r(first, second)
    assert planar_arm(tree).area() == pytest.approx(ring_area(first, second), rel=1e-12)
    assert sample(tree, 500_000).area(cells=150) == pytest.approx(ring_area(first, second), rel=5e-3)


@pytest.mark.parametrize(
    "limits", [NARROW, ((-1, 1), (0.2, 2.0)), ((-3.0, 3.0), (-2.5, -0.3)), ((-np.pi, np.pi), (0.5, 1.5))]
)
def test_the_area_of_two_bars_with_limits_is_that_of_random_points_they_reach(limits):
    arm = planar_arm(planar_2r(1.0, 0.6, limits=limits))
    points = np.random.default_rng(1).uniform(-1.6, 1.6, (400_000, 2))
    share = arm.contains(points).mean()
    spread = 3.2**2 * np.sqrt(share * (1.0 - share) / len(points))
    assert abs(arm.area() - 3.2**2 * share) < 4.0 * spread


def test_one_elbow_and_a_narrow_shoulder_cover_the_integral_of_the_jacobian():
    # No place is reached twice, so that the area is ∫∫ L₁ L₂ sin θ₂ dθ₁ dθ₂.
    arm = planar_arm(planar_2r(1.0, 0.6, limits=((-1.0, 1.0), (0.2, 2.0))))
    assert arm.area() == pytest.approx(2.0 * 0.6 * (np.cos(0.2) - np.cos(2.0)), rel=1e-8)


def test_every_sample_of_an_arm_with_limits_is_reached():
    tree = planar_2r(1.0, 0.6, limits=NARROW)
    assert planar_arm(tree).contains(sample(tree, 20_000).points[:, :2]).all()


def test_the_outline_of_an_arm_with_limits_is_the_edge_of_its_samples():
    tree = planar_2r(1.0, 0.6, limits=NARROW)
    arm, cloud = planar_arm(tree), sample(tree, 200_000).points[:, :2]
    outline = arm.outline(200)
    assert cKDTree(cloud).query(outline)[0].max() < 0.03
    cell = np.unique(np.floor(cloud / 0.04).astype(int), axis=0)
    known = set(map(tuple, cell.tolist()))
    rim = [c for c in known if not all((c[0] + i, c[1] + j) in known for i in (-1, 0, 1) for j in (-1, 0, 1))]
    assert cKDTree(outline).query((np.array(rim) + 0.5) * 0.04)[0].max() < 0.08


def test_arcs_bound_the_samples_of_three_bars_with_limits():
    tree = planar_3r((1.0, 0.8, 0.5), limits=((-1, 1), (-2, 0.5), (-1.5, 1.5)))
    arcs, cloud = planar_arm(tree).arcs(), sample(tree, 400_000).points[:, :2]
    curves = np.concatenate([arc.points(2000) for arc in arcs])
    # Every curve is made of places it reaches: samples are 400,000^(-1/3) of the range of each angle apart, and the tip
    # moves by 2.3, 1.3 and 0.5 m for a radian. In no direction is there a sample beyond all curves, by more than the
    # 2000 points of a curve cut off.
    step = (2.3 * 2.0 + 1.3 * 2.5 + 0.5 * 3.0) / 400_000 ** (1.0 / 3.0)
    assert cKDTree(cloud).query(curves[::50])[0].max() < step
    for angle in np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False):
        towards = np.array([np.cos(angle), np.sin(angle)])
        assert -step < (cloud @ towards).max() - (curves @ towards).max() < 1e-5


def test_three_bars_without_limits_reach_a_disc_or_a_ring():
    assert planar_arm(planar_3r((1.0, 0.8, 0.5))).reach == (0.0, pytest.approx(2.3))
    assert planar_arm(planar_3r((2.0, 0.8, 0.5))).reach == (pytest.approx(0.7), pytest.approx(3.3))


def points_in_all_directions(lengths: tuple[float, ...], radius: float) -> bool:
    """Whether the last bar can point anywhere at a distance, by trying a thousand directions."""
    angle = np.linspace(0.0, 2.0 * np.pi, 1000)
    wrist = np.hypot(radius - lengths[2] * np.cos(angle), lengths[2] * np.sin(angle))
    return bool(((wrist >= abs(lengths[0] - lengths[1])) & (wrist <= lengths[0] + lengths[1])).all())


@pytest.mark.parametrize(
    "lengths", [(1.0, 0.8, 0.5), (1.0, 1.0, 0.5), (1.0, 0.3, 0.5), (1.0, 0.5, 1.2), (1.0, 0.1, 2.0)]
)
def test_the_dexterous_rings_are_where_the_last_bar_points_anywhere(lengths):
    arm = planar_arm(planar_3r(lengths))
    rings = arm.dexterous()
    for radius in np.linspace(0.003, sum(lengths), 200):
        inside = any(low <= radius <= high for low, high in rings)
        edge = any(abs(radius - end) < 1e-3 for ring in rings for end in ring)
        assert edge or inside == points_in_all_directions(lengths, radius)
    assert arm.dexterous_area() == pytest.approx(sum(np.pi * (b * b - a * a) for a, b in rings))


def test_sampled_dexterity_is_full_in_the_dexterous_rings_and_not_far_outside():
    tree = planar_3r((1.0, 1.0, 0.5))
    found = sample(tree, 600_000).dexterity(cells=50, directions=12)
    middles = np.hypot(*(found.reached.points[:, :2]).T)
    share = found.share[found.reached.inside]
    assert planar_arm(tree).dexterous() == [(0.0, 1.5)]
    assert (share[middles < 1.4] == 1.0).all()
    assert (share[middles > 1.8] < 1.0).all()
    assert found.dexterous().volume < found.reached.volume


def test_the_volume_of_a_scara_is_that_of_its_ring_times_its_slide():
    tree = scara()
    flat = PlanarArm(np.array([0.325, 0.225]), np.deg2rad([-140.0, -150.0]), np.deg2rad([140.0, 150.0]))
    cloud = sample(tree, 1_000_000)
    assert not cloud.planar
    assert cloud.volume(cells=50) == pytest.approx(0.2 * flat.area(), rel=0.02)


def test_a_puma_turns_its_wrist_freely_in_the_middle_of_its_workspace():
    found = sample(puma560(), 100_000).dexterity(cells=8, directions=12)
    assert found.share.max() == 1.0
    assert 0.0 < found.share[found.reached.inside].min() < 1.0


def test_a_planar_arm_is_found_in_any_plane_with_any_offsets():
    turn = rb.rotation.quaternion_from_axis_angle((1.0, 0.4, -0.2), 1.1)
    bent = rb.rotation.quaternion_from_axis_angle((0.0, 0.0, 1.0), 0.7)
    links = [
        Link("one", "", place=((0, 0, 0.3), UNTURNED), limits=(-0.6, 0.9)),
        Link("two", "one", place=((0.8, 0.5, 0.2), bent), axis=(0, 0, -1.0), limits=(0.3, 1.9)),
    ]
    tree = Tree(links, {"tip": ("two", ((0.3, -0.5, 0.1), UNTURNED))}, base=((0.1, 0.2, 0.3), turn))
    arm = planar_arm(tree)
    np.testing.assert_allclose(arm.lengths, [np.hypot(0.8, 0.5), np.hypot(0.3, 0.5)])
    points = sample(tree, 5000).points
    away = points - tree.forward([0.0, 0.0], "one")[:3, 3]
    normal = tree.forward([0.0, 0.0], "one")[:3, 2]
    along = tree.forward([0.0, 0.0], "two")[:3, 3] - tree.forward([0.0, 0.0], "one")[:3, 3]
    along -= (along @ normal) * normal
    along /= np.linalg.norm(along)
    assert arm.contains(np.stack([away @ along, away @ np.cross(normal, along)], axis=1)).all()
    # Its area is that of the Jacobian, as no place is reached twice.
    bend = arm.lower[1], arm.upper[1]
    swept = abs(np.cos(bend[0]) - np.cos(bend[1])) if bend[0] * bend[1] > 0 else None
    assert swept is not None
    assert arm.area() == pytest.approx(1.5 * np.prod(arm.lengths) * swept, rel=1e-7)


def test_a_section_is_a_slice_of_the_cloud():
    cloud = sample(puma560(), 20_000)
    found = cloud.section(2, 0.3, 0.1)
    assert len(found) == ((cloud.points[:, 2] >= 0.25) & (cloud.points[:, 2] <= 0.35)).sum() > 0


def test_samples_are_even_within_the_limits_and_always_the_same():
    tree = planar_2r(limits=NARROW)
    drawn = configurations(tree, 1000)
    assert tree.within_limits(drawn).all()
    np.testing.assert_array_equal(drawn, configurations(tree, 1000))
    low, high = np.array(NARROW).T
    cells = np.floor((drawn - low) / (high - low) * 10).astype(int)
    counts = np.bincount(cells[:, 0] * 10 + cells[:, 1], minlength=100)
    assert counts.min() >= 6
    assert counts.max() <= 14


def test_a_ball_of_cells_has_the_volume_of_a_ball():
    found = region(lambda p: np.linalg.norm(p, axis=1) <= 1.0, (-1, -1, -1), (1, 1, 1), 60)
    assert found.volume == pytest.approx(4.0 / 3.0 * np.pi, rel=5e-3)
    assert isinstance(found, Region)
    assert region(lambda p: p[:, 0] > 0, (0, 0, 0), (1, 1, -1), 5).volume == 0.0


def test_an_arc_goes_from_its_start_along_its_sweep():
    arc = Arc(np.array([1.0, 0.0]), 2.0, 0.5 * np.pi, -0.5 * np.pi)
    np.testing.assert_allclose(arc.points(2), [(1, 2), (3, 0)], atol=1e-15)


LIMITED = planar_arm(planar_3r(limits=((-1, 1), (-1, 1), (-1, 1))))
WRONG = [
    (
        lambda: LIMITED.area(),
        "The area of an arm of 3 bars with limits has no closed form here; sample it, or take the limits away.",
    ),
    (
        lambda: LIMITED.contains((0, 0)),
        "Whether an arm of more than two bars with limits reaches a point is not known in closed form.",
    ),
    (
        lambda: LIMITED.dexterous(),
        "The dexterous workspace is known exactly for arms of two bars or more without limits.",
    ),
    (
        lambda: planar_arm(scara()),
        "'scara' is no planar arm; all joints must be revolute, with coordinates of their own.",
    ),
    (lambda: planar_arm(puma560()), "'puma560' is no planar arm; the axes of its joints must be parallel."),
    (
        lambda: sample(puma560(), 100).area(),
        "The points do not lie in one plane of constant z; ask for their volume.",
    ),
    (lambda: sample(puma560(), 0), "The number of samples is 0; it must be at least 1."),
]


@pytest.mark.parametrize(("act", "said"), WRONG)
def test_what_cannot_be_is_refused(act, said):
    with pytest.raises(rb.InputError) as caught:
        act()
    assert str(caught.value) == said
