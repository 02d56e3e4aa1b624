"""Moves: every joint of the menu with a position is a sequence of slides, turns and spins, but for gears and racks."""

import pytest

import rattleback as rb
from rattleback.joints import MENU
from rattleback.reduced.moves import moves_of

OPTIONS = {
    "double_rotation": {"axis": (0, 0, 1), "axis_b": (1, 0, 0)},
    "universal": {"axis": (0, 0, 1), "axis_b": (1, 0, 0)},
    "distance": {"at_b": (1, 2, 3)},
    "distance_to_line": {"at_b": (1, 2, 3)},
    "distance_to_plane": {"at_b": (1, 2, 3)},
    "screw": {"pitch": 0.2},
    "gear": {"at_b": (1, 0, 0), "ratio": 2.0},
    "rack": {"radius": 0.3, "axis_b": (1, 0, 0)},
    "velocity_joint": {"linear": (1.0, None, None)},
}


@pytest.mark.parametrize("name", MENU)
def test_a_joint_has_a_rate_for_every_freedom_or_no_moves(name: str) -> None:
    joint = MENU[name]("a", "b", **OPTIONS.get(name, {}))
    made = moves_of(joint)
    assert (made is None) == (name in ("gear", "rack", "velocity_joint"))
    if made is not None:
        assert tuple(name for move in made.moves for name in move.names) == joint.freedoms


def test_a_joint_whose_freedoms_do_not_fit_its_rows_has_no_moves() -> None:
    class Loose(rb.Revolute):
        freedoms = ("turn_z", "slide_z")

    assert moves_of(Loose("a", "b")) is None
