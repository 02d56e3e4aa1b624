"""Parameters of scenes with contacts that cannot be are refused, with what would do."""

import pytest

import rattleback as rb
from rattleback.scenes import MENU

WRONG = [
    ("funnel", {"across": 0}, "The across of funnel is 0; it must be at least 1."),
    ("funnel", {"across": 13}, "The across of funnel is 13; it must be at most 12."),
    ("funnel", {"layers": 0}, "The layers of funnel is 0; it must be at least 1."),
    ("funnel", {"seed": -1}, "The seed of funnel is -1; it must be at least 0."),
    ("wall", {"layers": 1.5}, "The layers of wall is 1.5; it must be a whole number."),
    ("wall", {"ball": 1}, "The ball of wall is 1; it must be True or False."),
    ("tower", {"cubes": 0}, "The cubes of tower is 0; it must be at least 1."),
    ("tower", {"growth": 0.0}, "The growth of tower is 0.0; it must be greater than zero."),
    (
        "tower",
        {"growth": 1e3},
        "The growth of tower is 1000.0; with 50 cubes, masses would differ by a factor above 1e100.",
    ),
    ("book_stack", {"books": 0}, "The books of book_stack is 0; it must be at least 1."),
    ("book_stack", {"part": -0.1}, "The part of book_stack is -0.1; it must be zero or more."),
    (
        "book_stack",
        {"part": 2.5},
        "The part of book_stack is 2.5; it must be at most 2, where books no longer overlap.",
    ),
    ("arch", {"ratio": 0.0}, "The ratio of arch is 0.0; it must be greater than zero."),
    ("arch", {"ratio": 2.0}, "The ratio of arch is 2.0; it must be less than 2, where no room is left inside."),
    ("arch", {"stones": 2}, "The stones of arch is 2; it must be at least 3."),
    ("incline", {"cubes": 0}, "The cubes of incline is 0; it must be at least 1."),
    ("incline", {"angle": -0.1}, "The angle of incline is -0.1; it must be zero or more."),
    ("incline", {"angle": 1.6}, "The angle of incline is 1.6; it must be less than π/2, where the plane is a wall."),
    ("rolling", {"angle": 2.0}, "The angle of rolling is 2.0; it must be less than π/2, where the plane is a wall."),
    ("rolling", {"friction": -1}, "The friction of rolling is -1; it must be zero or more."),
    ("sliding_ball", {"speed": "x"}, "The speed of sliding_ball is 'x'; it must be a number."),
    ("sliding_ball", {"friction": -1}, "The friction of sliding_ball is -1; it must be zero or more."),
    ("cradle", {"balls": 1}, "The balls of cradle is 1; it must be at least 2."),
    ("cradle", {"lifted": 0}, "The lifted of cradle is 0; it must be at least 1."),
    ("cradle", {"lifted": 5}, "The lifted of cradle is 5; it must be at most 4."),
    ("cradle", {"angle": 0.0}, "The angle of cradle is 0.0; it must be greater than zero."),
    ("cradle", {"angle": 2.0}, "The angle of cradle is 2.0; it must be at most π/2, where the arms are level."),
    ("bounces", {"restitution": -1}, "The restitution of bounces is -1; it must be zero or more."),
    ("bounces", {"restitution": 1.1}, "The restitution of bounces is 1.1; it must be between 0 and 1."),
    ("bounces", {"height": 0}, "The height of bounces is 0; it must be greater than zero."),
    ("painleve", {"friction": -1}, "The friction of painleve is -1; it must be zero or more."),
    ("painleve", {"angle": 0}, "The angle of painleve is 0; it must be greater than zero."),
    ("painleve", {"angle": 1.6}, "The angle of painleve is 1.6; it must be less than π/2, where the rod is upright."),
    ("painleve", {"speed": None}, "The speed of painleve is None; it must be a number."),
    (
        "double_pendulum_impact",
        {"friction": -1},
        "The friction of double_pendulum_impact is -1; it must be zero or more.",
    ),
    (
        "double_pendulum_impact",
        {"restitution": 2},
        "The restitution of double_pendulum_impact is 2; it must be between 0 and 1.",
    ),
    ("double_pendulum_impact", {"spin": 0}, "The spin of double_pendulum_impact is 0; it must be greater than zero."),
    ("tippe_top", {"friction": -1}, "The friction of tippe_top is -1; it must be zero or more."),
    ("tippe_top", {"spin": "fast"}, "The spin of tippe_top is 'fast'; it must be a number."),
    ("tippe_top", {"tilt": -1}, "The tilt of tippe_top is -1; it must be zero or more."),
    ("tippe_top", {"tilt": 2.0}, "The tilt of tippe_top is 2.0; it must be less than π/2, where it lies on its side."),
    ("rattleback", {"spin": "fast"}, "The spin of rattleback is 'fast'; it must be a number."),
    ("rattleback", {"friction": -1}, "The friction of rattleback is -1; it must be zero or more."),
    (
        "rattleback",
        {"tilt": 2.0},
        "The tilt of rattleback is 2.0; it must be less than π/2, where it lies on its side.",
    ),
    ("ragdoll_on_stairs", {"steps": 0}, "The steps of ragdoll_on_stairs is 0; it must be at least 1."),
    ("ragdoll_on_stairs", {"tilt": "x"}, "The tilt of ragdoll_on_stairs is 'x'; it must be a number."),
    ("ragdoll_on_stairs", {"height": -1}, "The height of ragdoll_on_stairs is -1; it must be zero or more."),
    ("ragdoll_on_stairs", {"speed": "x"}, "The speed of ragdoll_on_stairs is 'x'; it must be a number."),
    ("humanoid", {"height": -1}, "The height of humanoid is -1; it must be zero or more."),
    ("humanoid", {"lean": "x"}, "The lean of humanoid is 'x'; it must be a number."),
    ("twenty_ragdolls", {"count": 0}, "The count of twenty_ragdolls is 0; it must be at least 1."),
]


@pytest.mark.parametrize(("name", "options", "said"), WRONG)
def test_a_parameter_that_cannot_be_is_refused(name, options, said):
    with pytest.raises(rb.InputError) as caught:
        MENU[name].build(**options)
    assert str(caught.value) == said
