"""The method object of GJK: which pairs it takes, what it records, what it refuses."""

import pytest

from rattleback.collision.geometry.solid import BOX, MESH, PLANE, SPHERE
from rattleback.collision.narrowphase.gjk.gjk import GJK, KINDS, find_by_gjk, handled
from rattleback.collision.narrowphase.items import Items
from rattleback.core import arrays
from rattleback.core.errors import InputError


def test_planes_and_pairs_of_meshes_are_left_to_others():
    table = handled((BOX, PLANE, MESH)).reshape(KINDS, KINDS)
    assert table[BOX, MESH] == table[MESH, BOX] == table[BOX, BOX] == 1
    assert table.sum() == 3


def test_a_number_of_rounds_below_one_is_refused():
    with pytest.raises(InputError, match="max_iterations of GJK is 0; it must be at least 1."):
        GJK(max_iterations=0)


class Recorded:
    """A program that only notes what is recorded."""

    def __init__(self):
        self.launched = []

    def share(self, kernel, count, *inputs):
        self.launched.append((kernel, count))


def test_the_method_records_one_launch_of_its_own_and_none_where_there_is_nothing_for_it():
    class Geometry:
        kinds = (BOX, SPHERE)
        device = "cpu"
        colliders = hulls = None

    items = arrays.allocate(Items, {"items": 7, "pairs_and_one": 1, "one": 1}, "cpu")
    program = Recorded()
    planes = frozenset({(PLANE, BOX)})
    GJK(leave_out=planes).record(program, Geometry, items, None, 0.01, None)
    assert program.launched == [(find_by_gjk, 7)]
    Geometry.kinds = (PLANE,)
    GJK(leave_out=planes).record(program, Geometry, items, None, 0.01, None)
    assert len(program.launched) == 1
