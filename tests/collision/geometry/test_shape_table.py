"""Shape table: every shape of the menu has a collider, a class that is not in the table is refused by name."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.collision.geometry import solid
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.collision.geometry.shape_table import TABLE
from rattleback.core.device import find
from rattleback.core.errors import InputError
from rattleback.model.compile import compile_scene
from rattleback.shapes import MENU

BALL = rb.Sphere(0.5)


class Pebble:
    """It has a radius and all that a shape needs, yet it is no sphere."""

    radius = 0.5

    def volume(self):
        return BALL.volume()

    def mass_properties(self, density):
        return BALL.mass_properties(density)

    def bounds(self):
        return BALL.bounds()

    def support(self, direction):
        return BALL.support(direction)

    def bounding_radius(self):
        return self.radius


class Marble(rb.Sphere):
    """A sphere by another name."""


def geometry_of(shape):
    scene = rb.Scene()
    scene.add_body(shape, mass=1.0, inertia=(1.0, 1.0, 1.0), name="stone")
    return compile_colliders(compile_scene(scene, None, find("cpu"))[0])


def test_every_shape_of_the_menu_but_a_compound_has_an_entry():
    assert set(TABLE) == set(MENU.values()) - {rb.Compound}


def test_the_table_uses_every_kind_once_but_that_of_surfaces():
    kinds = sorted(int(entry.kind) for entry in TABLE.values())
    assert kinds == sorted([*range(solid.KINDS), int(solid.MESH)])


def test_a_shape_of_an_unknown_class_is_refused_with_body_class_and_menu_though_it_has_a_radius():
    parts = rb.Compound([rb.Placed(rb.Box(1, 1, 1)), rb.Placed(Pebble(), position=(1, 0, 0))])
    with pytest.raises(InputError) as caught:
        geometry_of(parts)
    said = str(caught.value)
    assert "body 'stone'" in said
    assert "class Pebble" in said
    assert all(f"rb.{known.__name__}" in said for known in TABLE)
    assert "collision=None" in said


def test_a_scene_refuses_an_unknown_class_as_shape_of_a_body():
    with pytest.raises(InputError, match=r"shape of body 'stone' is .*Pebble.*must be an object of one of Sphere, Box"):
        rb.Scene().add_body(Pebble(), mass=1.0, name="stone")


def test_a_subclass_collides_as_the_class_it_extends():
    colliders = geometry_of(Marble(0.25)).colliders
    assert colliders.kind.numpy().tolist() == [int(solid.SPHERE)]
    np.testing.assert_array_equal(colliders.round.numpy(), [0.25])
