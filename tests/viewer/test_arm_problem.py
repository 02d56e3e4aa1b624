"""The problems an arm's page asks: what it opens with, and what counts of a target."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.viewer.arm.problem import MODELS, check_method, find_model, is_flat, opening, turns_freely


@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_opens_with_a_problem_that_can_be_solved_and_is_not_solved_yet(name):
    question = opening(find_model(name))
    tree = question.tree
    assert tree.within_limits(question.start)
    assert np.linalg.norm(tree.forward(question.start)[:3, 3] - question.goal[:3, 3]) > 0.01 * tree.size
    found = rb.ik.solve(tree, question.targets, start=question.start)
    assert found.reached
    tip = tree.forward(found.q)
    np.testing.assert_allclose(tip[:3, 3], question.goal[:3, 3], atol=1e-6)
    if question.turn:
        np.testing.assert_allclose(tip[:3, :3], question.goal[:3, :3], atol=3e-6)


def test_only_arms_with_freedoms_enough_are_asked_to_turn():
    turning = {name for name in MODELS if turns_freely(find_model(name))}
    assert turning == {"puma560", "six_axis", "seven_axis", "planar_3r", "snake"}


def test_planar_arms_are_flat_and_no_other():
    assert {name for name in MODELS if is_flat(find_model(name))} == {"planar_2r", "planar_3r"}


def test_a_place_of_ones_own_is_a_target_without_a_turn():
    question = opening(find_model("puma560"), place=(0.4, 0.1, 0.3))
    assert isinstance(question.targets, rb.ik.Position)
    np.testing.assert_array_equal(question.goal[:3, 3], (0.4, 0.1, 0.3))


def test_names_that_are_none_are_answered_with_the_nearest():
    with pytest.raises(rb.UnknownName, match="There is no model 'puma'. Did you mean 'puma560'"):
        find_model("puma")
    with pytest.raises(rb.UnknownName, match="There is no method 'dsl'. Did you mean 's?dls'"):
        check_method("dsl")
    with pytest.raises(rb.InputError, match="The place of the target"):
        opening(find_model("puma560"), place=(1.0, 2.0))
