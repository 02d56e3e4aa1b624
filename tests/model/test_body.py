"""Bodies: where their mass properties come from, where they are put, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
FACES = np.array(
    [
        [0, 1, 3],
        [0, 3, 2],
        [4, 6, 7],
        [4, 7, 5],
        [0, 4, 5],
        [0, 5, 1],
        [2, 3, 7],
        [2, 7, 6],
        [0, 2, 6],
        [0, 6, 4],
        [1, 5, 7],
        [1, 7, 3],
    ]
)


def test_density_gives_the_mass_of_a_box() -> None:
    body = rb.Scene().add_body(rb.Box(1.0, 2.0, 3.0), density=500.0)
    assert body.mass == pytest.approx(3000.0, rel=1e-15)
    np.testing.assert_allclose(body.inertia, np.diag([3250.0, 2500.0, 1250.0]), rtol=1e-14)


def test_mass_scales_the_inertia_of_the_shape() -> None:
    body = rb.Scene().add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0)
    assert body.mass == 1.0
    np.testing.assert_allclose(np.diag(body.inertia), np.array([0.02, 1.01, 1.01]) / 12, rtol=1e-14)


def test_a_body_without_a_density_is_as_heavy_as_water() -> None:
    assert rb.Scene().add_body(rb.Box(1, 1, 1)).mass == pytest.approx(1000.0)


def test_given_mass_properties_are_kept_as_they_are() -> None:
    inertia = np.array([[2.0, 0.1, 0.0], [0.1, 3.0, 0.2], [0.0, 0.2, 4.0]])
    body = rb.Scene().add_body(mass=5.0, inertia=inertia, center_of_mass=(0.1, 0.2, 0.3))
    np.testing.assert_array_equal(body.inertia, inertia)
    np.testing.assert_array_equal(body.center_of_mass, [0.1, 0.2, 0.3])


def test_principal_axes_are_found_and_the_users_frame_is_kept() -> None:
    turn = rb.rotation.quaternion_from_axis_angle((1, 2, 3), 0.7)
    matrix = rb.rotation.matrix_from_quaternion(turn)
    body = rb.Scene().add_body(mass=1.0, inertia=matrix @ np.diag([2.0, 3.0, 4.0]) @ matrix.T)
    axes = rb.rotation.matrix_from_quaternion(body.principal_axes)
    np.testing.assert_allclose(np.sort(body.principal_moments), [2, 3, 4], rtol=1e-14)
    np.testing.assert_allclose(axes @ np.diag(body.principal_moments) @ axes.T, body.inertia, atol=1e-14)
    np.testing.assert_array_equal(body.orientation, [0, 0, 0, 1])


def test_an_inertia_given_in_turned_axes_moves_as_the_turned_body_does() -> None:
    """The same body described in two frames must have the same angular velocity in the world."""
    turn = rb.rotation.quaternion_from_axis_angle((1, -2, 0.5), 1.1)
    matrix = rb.rotation.matrix_from_quaternion(turn)
    scene = rb.Scene(gravity=(0, 0, 0))
    w = (0.3, 1.0, -0.7)
    scene.add_body(mass=1.0, inertia=(1, 2, 2.5), orientation=turn, angular_velocity=w, name="diagonal")
    scene.add_body(mass=1.0, inertia=matrix @ np.diag([1, 2, 2.5]) @ matrix.T, angular_velocity=w, name="full")
    sim = rb.Simulation(scene, time_step=0.01)
    sim.step(300)
    np.testing.assert_allclose(sim["full"].angular_velocity, sim["diagonal"].angular_velocity, atol=1e-13)
    expected = rb.rotation.multiply(sim["full"].orientation, turn)
    error = np.abs(expected - sim["diagonal"].orientation).max()
    assert min(error, np.abs(expected + sim["diagonal"].orientation).max()) < 1e-13


def test_position_is_of_the_centre_of_mass_and_origin_of_the_frame() -> None:
    cone = rb.Cone(1.0, 4.0)
    quarter = rb.rotation.quaternion_from_axis_angle((1, 0, 0), math.pi / 2)
    scene = rb.Scene()
    by_position = scene.add_body(cone, position=(1, 2, 3), orientation=quarter)
    by_origin = scene.add_body(cone, origin=(1, 2, 3), orientation=quarter)
    as_drawn = scene.add_body(cone)
    np.testing.assert_allclose(by_position.position, [1, 2, 3])
    np.testing.assert_allclose(by_position.origin, [1, 1, 3], atol=1e-15)
    np.testing.assert_allclose(by_origin.position, [1, 3, 3], atol=1e-15)
    np.testing.assert_allclose(as_drawn.position, [0, 0, -1])


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.floats(0.01, 100))
def test_a_mesh_of_a_box_weighs_what_the_box_weighs(x: float, y: float, z: float) -> None:
    scene = rb.Scene()
    mesh = scene.add_body(rb.Mesh(CUBE * [x, y, z], FACES), density=3.0)
    box = scene.add_body(rb.Box(x, y, z), density=3.0)
    assert mesh.mass == pytest.approx(box.mass, rel=1e-12)
    np.testing.assert_allclose(mesh.center_of_mass, np.array([x, y, z]) / 2, rtol=1e-12)
    scale = box.inertia.max()
    np.testing.assert_allclose(mesh.inertia, box.inertia, rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mass": -1.0}, "The mass of body 'arm' is -1.0; it must be greater than zero."),
        ({"mass": 0}, "The mass of body 'arm' is 0; it must be greater than zero."),
        ({"mass": "heavy"}, "The mass of body 'arm' is 'heavy'; it must be a number."),
        ({"mass": float("nan")}, "The mass of body 'arm' is nan; it must be finite."),
        ({"mass": True}, "The mass of body 'arm' is True; it must be a number."),
        ({"density": -5}, "The density of body 'arm' is -5; it must be greater than zero."),
        ({"mass": 1, "density": 2}, "has both mass= and density=; give one."),
        ({"inertia": (1, 2, 3)}, "has inertia= without mass=; give both."),
        ({"mass": 1, "inertia": (1, 1, 3)}, "has the principal moments 1, 1, 3 kg m²; in a rigid body none is greater"),
        ({"mass": 1, "inertia": (1, -1, 1)}, "each must be greater than zero"),
        ({"mass": 1, "inertia": (1, 2)}, "The inertia of body 'arm' has shape (2,); it must be 3x3 numbers."),
        ({"mass": 1, "inertia": [[1, 2, 0], [0, 3, 0], [0, 0, 3]]}, "symmetric"),
        ({"center_of_mass": (0, 0, 1)}, "has center_of_mass= without inertia="),
        ({"position": (0, 0)}, "The position of body 'arm' has shape (2,); it must be 3 numbers."),
        ({"position": "here"}, "The position of body 'arm' is 'here'; it must be 3 numbers."),
        ({"position": (0, 0, float("inf"))}, "every entry must be finite"),
        ({"position": (0, 0, 0), "origin": (0, 0, 0)}, "has both position= (of its centre of mass) and origin="),
        ({"orientation": (0, 0, 0, 2)}, "a quaternion (x, y, z, w) of length 2; it must have length 1."),
        ({"material": "steel"}, "The material of body 'arm' is 'steel'; it must be a Material, such as"),
        ({"group": ""}, "The group of body 'arm' is ''; it must be a string that is not empty."),
        ({"postion": (0, 0, 0)}, "has no option 'postion'. Did you mean 'position'?"),
        (
            {"collision": "box"},
            "The collision of body 'arm' is 'box'; it must be a shape, such as rb.Sphere(0.1), a rb.Placed, a list of "
            "these, or None for a body that is only for show.",
        ),
        ({"collision": rb.Sphere}, "The collision of body 'arm' is <class"),
        (
            {"collision": [rb.Sphere(1), None]},
            "Entry 1 of the collision of body 'arm' is None; it must be a shape, such as rb.Sphere(0.1), a rb.Placed.",
        ),
        ({"margin": -0.1}, "The margin of body 'arm' is -0.1; it must be zero or more."),
        ({"margin": math.inf}, "The margin of body 'arm' is inf; it must be finite."),
        ({"category": 3}, "The category of body 'arm' is 3; it must be a name or a list of names."),
        ({"category": None}, "The category of body 'arm' is None; it must be a name or a list of names."),
        ({"category": ["a", ""]}, "A name in the category of body 'arm' is ''; it must be a string that is not empty."),
        ({"category": ()}, "The category of body 'arm' is empty; name at least one, or leave it out for 'default'."),
        ({"collides_with": 3}, "The collides_with of body 'arm' is 3; it must be a name or a list of names."),
        (
            {"collides_with": [3]},
            "A name in the collides_with of body 'arm' is 3; it must be a string that is not empty.",
        ),
        ({"continuous": 1}, "The option continuous of body 'arm' is 1; it must be True or False."),
    ],
)
def test_an_impossible_body_is_refused_by_name(options: dict[str, object], words: str) -> None:
    scene = rb.Scene()
    with pytest.raises(rb.InputError) as caught:
        scene.add_body(rb.Box(1, 1, 1), name="arm", **options)
    assert words in str(caught.value)
    assert len(scene) == 0


def test_an_open_mesh_with_a_density_is_refused_by_name() -> None:
    with pytest.raises(rb.InputError, match="body 'lid' has no mass properties.*open"):
        rb.Scene().add_body(rb.Mesh(CUBE, FACES[:-1]), density=1.0, name="lid")


def test_an_open_mesh_with_given_mass_properties_is_a_body() -> None:
    body = rb.Scene().add_body(rb.Mesh(CUBE, FACES[:-1]), mass=1, inertia=(1, 1, 1), center_of_mass=(0.5, 0.5, 0.5))
    assert body.mass == 1.0
    with pytest.raises(rb.InputError, match="has no centre of mass of its own; give center_of_mass="):
        rb.Scene().add_body(rb.Mesh(CUBE, FACES[:-1]), mass=1, inertia=(1, 1, 1), name="lid")


def test_a_body_without_shape_needs_mass_and_inertia() -> None:
    with pytest.raises(rb.InputError, match="The body 'ghost' has no shape; give mass= and inertia="):
        rb.Scene().add_body(mass=1.0, name="ghost")


def test_what_is_not_a_shape_is_refused() -> None:
    with pytest.raises(rb.InputError, match="The shape of body 'x' is 'box'; it must be an object of one of Sphere"):
        rb.Scene().add_body("box", name="x")
    with pytest.raises(rb.InputError, match="The static body 'y' has no shape"):
        rb.Scene().add_static(None, name="y")


def test_a_static_body_takes_no_mass() -> None:
    with pytest.raises(rb.InputError, match="add_static for static body 'floor' has no option 'mass'"):
        rb.Scene().add_static(rb.Plane(), mass=1.0, name="floor")


def test_a_plane_cannot_be_given_a_density() -> None:
    with pytest.raises(rb.InputError, match="The body 'ground' has no mass properties"):
        rb.Scene().add_body(rb.Plane(), name="ground")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"friction": -1}, "The friction of Material is -1; it must be zero or more."),
        ({"restitution": 1.2}, "The restitution of Material is 1.2; it must be between 0 and 1."),
        ({"restitution": -0.1}, "The restitution of Material is -0.1; it must be zero or more."),
        ({"static_friction": 0.2, "dynamic_friction": 0.3}, "a sliding contact cannot grip more than a sticking one"),
        ({"static_friction": "much"}, "The static_friction of Material is 'much'; it must be a number."),
        ({"rolling_friction": -1}, "The rolling_friction of Material is -1; it must be zero or more."),
        ({"spinning_friction": math.inf}, "The spinning_friction of Material is inf; it must be finite."),
        ({"surface_velocity": (1, 2)}, "The surface_velocity of Material has shape (2,); it must be 3 numbers."),
        ({"surface_velocity": "fast"}, "The surface_velocity of Material is 'fast'; it must be 3 numbers."),
    ],
)
def test_an_impossible_material_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(rb.InputError) as caught:
        rb.Material(**options)
    assert words in str(caught.value)


def test_friction_stands_for_both_coefficients_unless_they_differ() -> None:
    assert (rb.Material(friction=0.4).static_friction, rb.Material(friction=0.4).dynamic_friction) == (0.4, 0.4)
    both = rb.Material(static_friction=0.2, dynamic_friction=0.1)
    assert (both.static_friction, both.dynamic_friction) == (0.2, 0.1)


def test_materials_of_equal_numbers_are_one_material() -> None:
    first = rb.Material(0.5, rolling_friction=1, surface_velocity=np.array([1, 0, 0]))
    second = rb.Material(static_friction=0.5, rolling_friction=1.0, surface_velocity=[1.0, 0.0, 0.0])
    assert first == second
    assert hash(first) == hash(second)
    assert first.surface_velocity == (1.0, 0.0, 0.0)
    assert len({first, second, rb.Material(0.4)}) == 2


def test_a_body_stays_as_it_was_checked() -> None:
    body = rb.Scene().add_body(rb.Sphere(1.0))
    with pytest.raises(ValueError, match="read-only"):
        body.position[0] = 5.0
    with pytest.raises(AttributeError):
        body.mass = -1.0


def test_a_body_collides_as_it_is_shown_unless_told_otherwise() -> None:
    scene, box, plane = rb.Scene(), rb.Box(1, 1, 1), rb.Plane()
    assert scene.add_body(box).colliders == (rb.Placed(box),)
    assert scene.add_static(box).colliders == (rb.Placed(box),)
    assert scene.add_static(plane).colliders == (plane,)
    assert scene.add_body(mass=1, inertia=(1, 1, 1)).colliders == ()


def test_what_collides_may_be_one_shape_or_several_at_their_places_or_nothing() -> None:
    scene, box, ball = rb.Scene(), rb.Box(1, 1, 1), rb.Sphere(0.5)
    aside = rb.Placed(ball, (1, 0, 0), (0, 0, 1, 0))
    assert scene.add_body(box, collision=ball).colliders == (rb.Placed(ball),)
    assert scene.add_body(box, collision=aside).colliders == (aside,)
    assert scene.add_body(box, collision=[ball, aside]).colliders == (rb.Placed(ball), aside)
    assert scene.add_body(box, collision=None).colliders == ()
    assert scene.add_body(box, collision=[]).colliders == ()
    assert scene.add_body(mass=1, inertia=(1, 1, 1), collision=ball).colliders == (rb.Placed(ball),)
    assert scene.add_static(box, collision=(rb.Plane(), ball)).colliders == (rb.Plane(), rb.Placed(ball))


def test_the_parts_of_a_compound_may_collide_and_their_densities_do_not_count_there() -> None:
    parts = (rb.Placed(rb.Sphere(1), (1, 0, 0), density_ratio=7.0), rb.Placed(rb.Box(1, 1, 1)))
    body = rb.Scene().add_body(rb.Sphere(2), collision=parts)
    assert body.colliders == (rb.Placed(rb.Sphere(1), (1, 0, 0)), rb.Placed(rb.Box(1, 1, 1)))


def test_what_collides_has_no_weight() -> None:
    scene = rb.Scene()
    bare, clad = scene.add_body(rb.Box(1, 1, 1)), scene.add_body(rb.Box(1, 1, 1), collision=rb.Sphere(9), margin=0.5)
    assert clad.mass == bare.mass
    np.testing.assert_array_equal(clad.inertia, bare.inertia)


def test_categories_are_kept_as_tuples_without_repeats() -> None:
    scene = rb.Scene()
    plain = scene.add_body(rb.Sphere(1))
    assert (plain.margin, plain.category, plain.collides_with, plain.continuous) == (0.0, ("default",), None, False)
    body = scene.add_body(rb.Sphere(1), margin=1, category="a", collides_with=["b", "c", "b"], continuous=True)
    assert (body.margin, body.category, body.collides_with, body.continuous) == (1.0, ("a",), ("b", "c"), True)
    wall = scene.add_static(rb.Plane(), margin=0.1, category=("b", "a"), collides_with=())
    assert (wall.margin, wall.category, wall.collides_with, wall.continuous) == (0.1, ("b", "a"), (), False)


def test_a_static_body_is_never_continuous() -> None:
    with pytest.raises(rb.InputError, match="add_static for static body 'floor' has no option 'continuous'"):
        rb.Scene().add_static(rb.Plane(), continuous=True, name="floor")
