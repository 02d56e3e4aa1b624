"""Denavit–Hartenberg tables: the product of their matrices, both conventions, and the way back from any chain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.kinematics import Link, Mimic, Tree, models

number = st.floats(-2.0, 2.0)
row = st.tuples(number, st.floats(-3.1, 3.1), number, st.floats(-3.1, 3.1))
chain = st.lists(st.tuples(row, st.booleans(), number), min_size=1, max_size=7)


def matrix(axis, way, angle):
    found = np.eye(4)
    found[:3, :3] = Rotation.from_euler(axis, angle).as_matrix()
    found["xyz".index(axis), 3] = way
    return found


def product(rows, kinds, q, convention):
    found = np.eye(4)
    for (a, alpha, d, theta), slides, value in zip(rows, kinds, q, strict=True):
        along = matrix("x", a, alpha)
        about = matrix("z", d + value * slides, theta + value * (not slides))
        found = found @ (along @ about if convention == "modified" else about @ along)
    return found


@pytest.mark.parametrize("convention", ["modified", "standard"])
@given(joints=chain)
def test_forward_is_the_product_of_the_matrices(convention, joints):
    rows, slides, q = zip(*joints, strict=True)
    tree = Tree.from_dh(rows, convention, kinds=["prismatic" if s else "revolute" for s in slides])
    np.testing.assert_allclose(tree.forward(q), product(rows, slides, q, convention), atol=1e-13)


@given(joints=chain)
def test_the_table_of_a_chain_gives_the_chain_back(joints):
    rows, slides, q = zip(*joints, strict=True)
    tree = Tree.from_dh(rows, "standard", kinds=["prismatic" if s else "revolute" for s in slides])
    table = tree.to_dh()
    again = Tree.from_dh(table.rows, kinds=table.kinds, base=table.base, tool=table.tool)
    np.testing.assert_allclose(again.forward(q), tree.forward(q), atol=1e-9)


@pytest.mark.parametrize("model", ["planar_2r", "planar_3r", "scara", "puma560", "six_axis", "seven_axis", "snake"])
def test_the_table_of_a_model_gives_it_back_with_its_limits(model):
    tree = getattr(models, model)()
    table = tree.to_dh()
    again = Tree.from_dh(table.rows, limits=table.limits, kinds=table.kinds, base=table.base, tool=table.tool)
    q = tree.random(50, seed=2)
    np.testing.assert_allclose(again.forward(q), tree.forward(q), atol=1e-13)
    np.testing.assert_array_equal(again.lower, tree.lower)
    np.testing.assert_array_equal(again.upper, tree.upper)
    assert table.coordinates == tree.coordinates


def test_the_modified_table_of_the_puma_has_its_published_lengths():
    rows = models.puma560().to_dh().rows
    np.testing.assert_allclose(rows[:, 0], [0, 0, 0.4318, 0.0203, 0, 0], atol=1e-14)
    np.testing.assert_allclose(rows[:, 2], [0, 0, 0.15005, 0.4318, 0, 0], atol=1e-14)
    np.testing.assert_allclose(np.abs(rows[1:, 1]), np.array([1, 0, 1, 1, 1]) * np.pi / 2, atol=1e-14)


def test_the_puma_at_zero_lies_as_published():
    """Paul's zero position: the wrist at (a₂ + a₃, −d₃, d₄)."""
    np.testing.assert_allclose(models.puma560().forward(np.zeros(6))[:3, 3], [0.4521, -0.15005, 0.4318], atol=1e-15)


def test_a_chain_inside_a_tree_has_a_table_of_its_own():
    tree = Tree(
        [
            Link("post", place=((0, 0, 1), (0, 0, 0, 1)), offset=0.3, limits=(-1, 1)),
            Link("plate", "post", "fixed", ((0.2, 0, 0), (0.5, 0.5, 0.5, 0.5))),
            Link("slide", "plate", "prismatic", axis=(1, 1, 0)),
            Link("arm", "plate", axis=(0, 1, 1), place=((0, 0.4, 0), (0, 0, 0, 1))),
        ]
    )
    table = tree.to_dh("arm")
    assert table.coordinates == ("post", "arm")
    again = Tree.from_dh(table.rows, limits=table.limits, base=table.base, tool=table.tool)
    q = np.array([0.4, 0.9, -0.5])
    np.testing.assert_allclose(again.forward(q[[0, 2]]), tree.forward(q, "arm"), atol=1e-14)
    np.testing.assert_allclose(again.lower, [-1.3, -np.inf])


REFUSED = [
    (lambda: Tree.from_dh([[0, 0, 0]]), "has shape (1, 3); it must be a row (a, α, d, θ) for each joint."),
    (lambda: Tree.from_dh([]), "it must be a row (a, α, d, θ) for each joint."),
    (lambda: Tree.from_dh([[0, 0, 0, 0]], "classic"), "is 'classic'; it may be 'modified', 'standard'."),
    (lambda: Tree.from_dh([[0, 0, 0, 0]], limits=[]), "There are 0 limits for 1 rows; give a pair, or None, for each."),
    (lambda: Tree.from_dh([[0, 0, 0, 0]], kinds=["ball"]), "is 'ball'; it may be 'revolute', 'prismatic'."),
    (lambda: Tree.from_dh([[0, 0, 0, 0]], kinds=["revolute"] * 2), "There are 2 kinds of joints for 1 rows"),
    (lambda: Tree.from_dh([[0, 0, 0, 0]], end=3), "from_dh has no option 'end'."),
    (lambda: models.hand().to_dh(), "Link 'index_end' of 'hand' follows 'index_middle'; a table has a variable"),
    (lambda: models.hand().to_dh("palm"), "No joint of 'hand' moves 'palm'; a table needs at least one."),
    (lambda: Tree([Link("a"), Link("b", "a", mimic=Mimic("a"))]).to_dh(), "Link 'b' of 'tree' follows 'a'"),
]


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_what_is_no_table_is_refused_in_a_sentence(build, message):
    with pytest.raises(rb.RattlebackError) as caught:
        build()
    assert message in str(caught.value)
