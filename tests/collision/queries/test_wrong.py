"""What queries refuse, each with a sentence that says what would work."""

import numpy as np
import pytest

import rattleback as rb

BOX = rb.Box(1, 1, 1)
SHEET = rb.Mesh([(-1, -1, 0), (1, -1, 0), (0, 1, 0)], [(0, 1, 2)])
NEAR = rb.collision.Space({"box": BOX, "ground": rb.Plane(offset=-2)})
SHOWN = rb.Scene().add_body(rb.Sphere(1.0), name="picture", collision=None)
Q = rb.collision

WRONG = {
    "placement": (lambda: Q.distance(BOX, "box"), "Placement b is 'box'; it must be a shape such as rb.Box"),
    "class": (lambda: Q.distance(rb.Box, BOX), "Placement a is .*; it must be a shape"),
    "empty list": (lambda: Q.distance([], BOX), "Placement a is an empty list; give at least one"),
    "nested list": (lambda: Q.distance([[BOX]], BOX), "Entry 0 of placement a is a list itself; give one flat list"),
    "entry": (lambda: Q.distance([BOX, 3], BOX), "Entry 1 of placement a is 3; it must be"),
    "no colliders": (lambda: Q.distance(SHOWN, BOX), "body 'picture', which has no colliders"),
    "lengths": (lambda: Q.distance([BOX] * 2, [BOX] * 3), "got 2 placements in a and 3 in b; give equally many"),
    "planes": (lambda: Q.distance(rb.Plane(), rb.Plane()), "Two planes were asked for their distance"),
    "surfaces": (lambda: Q.distance(SHEET, SHEET), "Two surfaces were asked .* rb.ConvexHull"),
    "poses shape": (lambda: Q.Poses("box", [(0, 0, 0)]), "The shape of Poses is 'box'; it must be a shape"),
    "poses positions": (lambda: Q.Poses(BOX, [(0, 0)]), "The positions of Poses has shape .1, 2.; it must be nx3"),
    "poses scalar": (lambda: Q.Poses(BOX, 3.0), "The positions of Poses has shape"),
    "poses lengths": (lambda: Q.Poses(BOX, np.zeros((2, 3)), np.eye(4)[[3, 3, 3]]), "2 positions and 3 orientations"),
    "poses turn": (lambda: Q.Poses(BOX, (0, 0, 0), (0, 0, 0, 2)), "Orientation 0 of Poses .* must have length 1"),
    "zero way": (lambda: Q.ray_cast(BOX, (0, 0, 5), [(0, 0, 1), (0, 0, 0)]), "Direction 1 of a ray cast is the zero"),
    "origins": (lambda: Q.ray_cast(BOX, (0, 5), (0, 0, 1)), "The origins of rays has shape .2,.; it must be 3 numbers"),
    "not finite": (lambda: Q.ray_cast(BOX, (0, 0, np.nan), (0, 0, 1)), "origins of rays .* must be finite"),
    "rays": (lambda: Q.ray_cast(BOX, np.zeros((2, 3)), np.ones((3, 3))), "2 origins and 3 directions"),
    "too far": (lambda: Q.ray_cast(BOX, (0, 0, 5), (0, 0, 1), -1.0), "max_distance is -1.0; it must be zero or more"),
    "far text": (lambda: Q.ray_cast(BOX, (0, 0, 5), (0, 0, 1), "x"), "max_distance is 'x'; it must be zero or more"),
    "fars": (lambda: Q.ray_cast(BOX, np.zeros((2, 3)), (0, 0, 1), [1, 2, 3]), "2 rays and 3 maximal distances"),
    "moving plane": (lambda: Q.shape_cast(rb.Plane(), (0, 0, 1), BOX), "has a Plane, which has no end"),
    "way": (lambda: Q.shape_cast(BOX, (0, 0), BOX), "The displacement has shape .2,.; it must be 3 numbers"),
    "ways": (lambda: Q.shape_cast([BOX] * 2, np.ones((3, 3)), BOX), "2 moving shapes and 3 displacements"),
    "space": (lambda: Q.Space(3), "Space got 3; it needs a scene, bodies, or names and placements"),
    "space list": (lambda: Q.Space([BOX]), "Space got .*; it needs a scene"),
    "empty space": (lambda: Q.Space({}), "Space got nothing that collides"),
    "many in one": (lambda: Q.Space({"row": [BOX, BOX]}), "Placement 'row' of a space is many"),
    "unnamed": (lambda: Q.Space({"": BOX}), "A name in a space is ''"),
    "no simulation": (lambda: Q.Space.of(rb.Scene()), "Space.of got .*; it needs a simulation"),
    "points": (lambda: NEAR.nearest([(0, 0)]), "The points has shape .1, 2.; it must be nx3"),
    "within": (lambda: NEAR.pairs(within=-1.0), "within which things are in contact is -1.0; it must be zero or more"),
    "device": (lambda: Q.distance(BOX, BOX, device=3), "device is 3; it must be a name"),
    "method": (lambda: Q.distance(BOX, BOX, 3), "3 cannot be the narrow phase"),
}
UNKNOWN = {
    "method": (
        lambda: Q.distance(BOX, BOX, "gkj"),
        "There is no narrow phase 'gkj'. Did you mean 'gjk'?.*closed_forms",
    ),
    "sweep": (lambda: Q.shape_cast(BOX, (0, 0, 1), BOX, "sat"), "There is no narrow phase 'sat'.*'vclip'"),
    "category": (
        lambda: NEAR.nearest((0, 0, 0), collides_with="defult"),
        "no category 'defult'. Did you mean 'default'",
    ),
    "name": (lambda: NEAR.index("bax"), "The space has nothing named 'bax'. Did you mean 'box'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_is_answered_with_a_sentence(name):
    call, message = WRONG[name]
    with pytest.raises(rb.InputError, match=message):
        call()


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_wrong_name_is_answered_with_the_menu(name):
    call, message = UNKNOWN[name]
    with pytest.raises(rb.UnknownName, match=message):
        call()


def test_a_method_without_an_answer_is_named():
    class Silent:
        def record(self, program, geometry, items, places, gap, found):
            """Answers nothing."""

    with pytest.raises(rb.InputError, match="The narrow phase 'Silent' has no answer for one of the pairs"):
        Q.distance(BOX, BOX, Silent())


def test_a_world_that_is_not_there_is_refused():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.5), name="ball")
    with pytest.raises(rb.InputError, match="The world of a space is 1; it must be at most 0"):
        Q.Space.of(rb.Simulation(scene), world=1)


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'distanse'"):
        _ = rb.collision.distanse
    assert "distance" in dir(rb.collision)
