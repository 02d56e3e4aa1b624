"""Jacobians, their rates and what they say of a configuration, against differences, closed forms and Pinocchio."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback import kinematics
from rattleback.kinematics import Link, Mimic, Tree, models

NAMES = ["planar_2r", "scara", "puma560", "six_axis", "seven_axis", "snake", "hand"]
POINT = (0.05, -0.02, 0.1)


def mixed():
    """A tree with a branch, a slide, an offset and a joint that follows another."""
    turn = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_quat()
    return Tree(
        [
            Link("post", place=((0.5, 0, 0), turn), offset=0.3),
            Link("slide", "post", "prismatic", ((0, 0.1, 1), turn), axis=(1, 2, 0)),
            Link("bolt", "slide", "fixed", ((0.1, 0, 0), turn)),
            Link("arm", "bolt", axis=(0, 1, 1), place=((0.2, 0, 0), turn)),
            Link("hand", "arm", axis=(1, 0, 0), place=((0.3, 0, 0), turn), mimic=Mimic("post", -1.5, 0.2)),
            Link("rod", "hand", "prismatic", axis=(0, 0, 1), mimic=Mimic("arm", 0.4)),
            Link("other", "post"),
        ],
        tools={"tip": ("rod", ((0.1, 0.2, 0.3), turn))},
        base=((1, 2, 3), turn),
    )


def trees():
    return [mixed(), *(getattr(models, name)() for name in NAMES)]


def differences(function, q, step):
    """Derivatives by central differences of the fourth order (..., coordinates)."""
    columns = []
    for c in range(len(q)):
        way = np.zeros(len(q))
        way[c] = step
        near, far = function(q + way) - function(q - way), function(q + 2 * way) - function(q - 2 * way)
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("tree", trees(), ids=lambda tree: tree.name)
def test_the_geometric_jacobian_is_the_derivative_of_place_and_turn(tree):
    for q in tree.random(3, seed=5):
        now = tree.forward(q)
        jacobian = tree.jacobian(q, point=POINT)
        place = differences(lambda q: (tree.forward(q) @ [*POINT, 1.0])[:3], q, 1e-3)
        turn = differences(
            lambda q, now=now: Rotation.from_matrix(tree.forward(q)[:3, :3] @ now[:3, :3].T).as_rotvec(), q, 1e-3
        )
        np.testing.assert_allclose(jacobian, np.vstack([place, turn]), atol=1e-9)


@pytest.mark.parametrize("tree", trees(), ids=lambda tree: tree.name)
def test_the_rate_of_the_jacobian_is_its_derivative_along_the_motion(tree):
    q, rate = tree.random(4, seed=6), tree.random(4, seed=7)
    found = kinematics.jacobian_rate(tree, q, rate, point=POINT)
    for k in range(4):
        wanted = differences(lambda s, k=k: tree.jacobian(q[k] + s[0] * rate[k], point=POINT), np.zeros(1), 1e-3)
        np.testing.assert_allclose(found[k], wanted[..., 0], atol=1e-8)


@pytest.mark.parametrize("angles", ["ZYX", "zxz", "XYZ", "yzx", "quaternion"])
@pytest.mark.parametrize("tree", [mixed(), models.puma560()], ids=lambda tree: tree.name)
def test_the_analytic_jacobian_is_the_derivative_of_the_numbers(tree, angles):
    def numbers(q):
        turn = rb.rotation.quaternion_from_matrix(tree.forward(q)[:3, :3])
        return turn if angles == "quaternion" else rb.rotation.euler_from_quaternion(turn, angles)

    q = tree.random(1, seed=11)[0]
    found = kinematics.analytic_jacobian(tree, q, angles)
    np.testing.assert_allclose(found[3:], differences(numbers, q, 1e-4), atol=1e-7)
    np.testing.assert_allclose(found[:3], tree.jacobian(q)[:3], atol=0)


def pinocchio_model(pin, tree):
    model, ids = pin.Model(), {}
    for link in tree.links:
        joint = pin.JointModelRevoluteUnaligned if link.joint == "revolute" else pin.JointModelPrismaticUnaligned
        place = pin.SE3(Rotation.from_quat(link.place.orientation).as_matrix(), np.array(link.place.position))
        ids[link.name] = model.addJoint(ids.get(link.parent, 0), joint(np.array(link.axis)), place, link.name)
    return model, ids


@pytest.mark.parametrize("name", ["scara", "puma560", "six_axis", "seven_axis", "snake"])
def test_frames_jacobians_and_their_rates_are_those_of_pinocchio(name):
    pin = pytest.importorskip("pinocchio")
    tree = getattr(models, name)()
    model, ids = pinocchio_model(pin, tree)
    data, last = model.createData(), tree.links[-1].name
    for q, rate in zip(tree.random(5, seed=8), tree.random(5, seed=9), strict=True):
        pin.computeJointJacobiansTimeVariation(model, data, q, rate)
        world = pin.LOCAL_WORLD_ALIGNED
        np.testing.assert_allclose(tree.forward(q, last), data.oMi[ids[last]].homogeneous, atol=1e-12)
        wanted = pin.getJointJacobian(model, data, ids[last], world)
        np.testing.assert_allclose(tree.jacobian(q, last), wanted, atol=1e-12)
        wanted = pin.getJointJacobianTimeVariation(model, data, ids[last], world)
        np.testing.assert_allclose(kinematics.jacobian_rate(tree, q, rate, last), wanted, atol=1e-12)


def test_manipulability_of_the_planar_arm_is_the_area_of_its_bars():
    tree = models.planar_2r(1.2, 0.5)
    q = tree.random(100, seed=1)
    wanted = np.abs(1.2 * 0.5 * np.sin(q[:, 1]))
    np.testing.assert_allclose(kinematics.manipulability(tree, q, part="position"), wanted, atol=1e-14)


def test_condition_is_infinite_where_the_arm_is_stretched_and_one_where_it_is_isotropic():
    """A planar arm with L₁ = √2 L₂ is isotropic at q₂ = ±3π/4 (Salisbury and Craig 1982)."""
    tree = models.planar_2r(np.sqrt(2.0), 1.0)
    assert kinematics.condition(tree, [0.3, 0.0], part="position") > 1e14
    assert kinematics.condition(tree, [0.3, 0.75 * np.pi], part="position") == pytest.approx(1.0)


def test_singular_directions_of_the_stretched_arm_are_along_it():
    tree, angle = models.planar_2r(1.0, 1.0), 0.7
    found = kinematics.singular_directions(tree, [angle, 0.0], part="position")
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    assert len(found.lost) == 2  # along the arm, and out of the plane
    np.testing.assert_allclose(np.linalg.norm(found.lost @ along), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(found.idle[0]), np.array([1.0, 2.0]) / np.sqrt(5.0), atol=1e-12)


def test_a_seven_axis_arm_has_an_idle_motion_that_leaves_its_tip_alone():
    tree = models.seven_axis()
    q = tree.random(1, seed=3)[0]
    found = kinematics.singular_directions(tree, q)
    assert found.lost.shape == (0, 6)
    assert found.idle.shape == (1, 7)
    moved = tree.forward(q + 1e-4 * found.idle[0]) - tree.forward(q)
    assert np.abs(moved).max() < 1e-7
    assert np.abs(tree.forward(q + 1e-4 * found.idle[0], "joint4") - tree.forward(q, "joint4")).max() > 1e-6


def test_jacobians_come_in_batches():
    tree = models.puma560()
    q = tree.random(6, seed=2).reshape(2, 3, 6)
    assert tree.jacobian(q).shape == (2, 3, 6, 6)
    assert kinematics.condition(tree, q).shape == (2, 3)
    np.testing.assert_array_equal(tree.jacobian(q)[1, 2], tree.jacobian(q[1, 2]))


REFUSED = [
    (lambda t: kinematics.manipulability(t, t.middle, part="speed"), "it may be 'pose', 'position', 'orientation'."),
    (lambda t: kinematics.jacobian_rate(t, t.random(2, seed=0), t.middle), "it must have one for each configuration"),
    (lambda t: kinematics.singular_directions(t, t.random(2, seed=0)), "are those of one configuration"),
    (lambda t: kinematics.analytic_jacobian(t, t.middle, "zyzz"), "There is no Euler sequence 'zyzz'."),
    (lambda t: kinematics.analytic_jacobian(models.planar_2r(), [0.0, 0.0], "ZXZ"), "'ZXZ' are at their gimbal lock"),
]


@pytest.mark.parametrize(("ask", "message"), REFUSED)
def test_what_makes_no_sense_is_refused_in_a_sentence(ask, message):
    with pytest.raises(rb.RattlebackError) as caught:
        ask(models.puma560())
    assert message in str(caught.value)
