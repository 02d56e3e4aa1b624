"""Editing a scene: what is mentioned changes, all else stays, and nothing is left hanging in the air."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rattleback as rb


def arm_scene() -> rb.Scene:
    scene = rb.Scene()
    options = {"material": rb.Material(friction=0.3), "group": "limbs", "margin": 0.01, "continuous": True}
    scene.add_body(rb.Box(1.0, 0.2, 0.1), mass=3.0, position=(0.5, 0, 0), name="arm", **options)
    scene.add_body(rb.Box(0.5, 0.1, 0.1), mass=1.0, position=(1.25, 0, 0), velocity=(0, 1, 0), name="hand")
    scene.add_static(rb.Plane(), position=(0, 0, -2), name="floor")
    scene.add_joint(rb.Revolute("world", "arm", axis=(0, 1, 0), limits=(-1, 1)), name="shoulder")
    scene.add_joint(rb.Ball("arm", "hand", at=(1, 0, 0)), name="wrist")
    scene.add_force(rb.Spring("world", "hand", at=(0, 0, 1), at_b=(1.25, 0, 0), stiffness=50.0), name="spring")
    scene.add_force(rb.Servo("shoulder", gain=20.0), name="motor")
    return scene


def everything(body: Any) -> dict[str, Any]:
    return {name: np.asarray(v).tolist() if isinstance(v, np.ndarray) else v for name, v in vars(body).items()}


def test_a_change_of_the_material_leaves_every_bit_of_the_body() -> None:
    scene = arm_scene()
    before = everything(scene["arm"])
    scene.change_body("arm", material=rb.Material(friction=0.9))
    assert everything(scene["arm"]) == {**before, "material": rb.Material(friction=0.9)}
    assert scene.groups["limbs"] == [scene["arm"]]


def test_another_mass_scales_the_inertia_of_a_box_with_it() -> None:
    scene = arm_scene()
    scene.change_body("arm", mass=6.0)
    expected = 6.0 / 12.0 * np.array([0.2**2 + 0.1**2, 1.0 + 0.1**2, 1.0 + 0.2**2])
    np.testing.assert_allclose(scene["arm"].inertia, np.diag(expected), rtol=1e-14)
    assert scene["arm"].mass == 6.0


def test_another_density_gives_the_mass_of_the_shape() -> None:
    scene = arm_scene()
    scene.change_body("arm", density=500.0)
    assert scene["arm"].mass == pytest.approx(500.0 * 1.0 * 0.2 * 0.1, rel=1e-14)


def test_another_shape_keeps_mass_and_frame_and_collides_instead_of_the_old_one() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Cone(0.3, 0.8), mass=2.0, origin=(1, 2, 3), orientation=(1, 0, 0, 0), name="top")
    scene.change_body("top", shape=rb.Sphere(0.4))
    top = scene["top"]
    assert top.mass == 2.0
    np.testing.assert_allclose(np.diag(top.inertia), 0.4 * 2.0 * 0.4**2, rtol=1e-14)
    np.testing.assert_allclose(top.origin, (1, 2, 3), atol=1e-14)
    np.testing.assert_allclose(top.position, (1, 2, 3), atol=1e-14)
    assert [placed.shape for placed in top.colliders] == [rb.Sphere(0.4)]


def test_what_collides_instead_of_a_shape_stays_when_the_shape_changes() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 1, 1), collision=rb.Sphere(0.5), name="soft")
    scene.add_body(rb.Box(1, 1, 1), collision=None, name="ghost")
    for name in ("soft", "ghost"):
        scene.change_body(name, shape=rb.Box(2, 2, 2))
    assert [placed.shape for placed in scene["soft"].colliders] == [rb.Sphere(0.5)]
    assert scene["ghost"].colliders == ()


def test_an_inertia_or_a_place_that_is_given_counts() -> None:
    scene = arm_scene()
    scene.change_body("arm", inertia=(1.0, 2.0, 2.5), position=(0, 0, 7), group="others")
    np.testing.assert_array_equal(scene["arm"].inertia, np.diag([1.0, 2.0, 2.5]))
    assert scene["arm"].mass == 3.0
    np.testing.assert_array_equal(scene["arm"].position, (0, 0, 7))
    assert list(scene.groups) == ["others"]
    scene.change_body("arm", origin=(1, 0, 0))
    np.testing.assert_allclose(scene["arm"].position, (1, 0, 0), atol=1e-15)


def test_a_static_body_changes_too() -> None:
    scene = arm_scene()
    scene.change_body("floor", position=(0, 0, -3), velocity=(1, 0, 0))
    assert scene["floor"].static
    np.testing.assert_array_equal(scene["floor"].position, (0, 0, -3))
    with pytest.raises(rb.InputError, match="change_body for body 'floor' has no option 'mass'"):
        scene.change_body("floor", mass=1.0)


def test_another_axis_is_that_of_both_bodies_and_limits_stay() -> None:
    scene = arm_scene()
    shoulder = scene.change_joint("shoulder", axis=(1, 0, 0))
    assert shoulder == scene.joints["shoulder"] == rb.Revolute("world", "arm", axis=(1, 0, 0), limits=(-1, 1))


def test_a_point_of_its_own_on_b_stays_where_it_is() -> None:
    scene = arm_scene()
    scene.add_joint(rb.Distance("world", "hand", at=(0, 0, 0), at_b=(1.25, 0, 0)), name="rod")
    assert scene.change_joint("rod", at=(0, 0, 1)).at_b == (1.25, 0.0, 0.0)


def test_frames_take_the_place_of_points_and_the_other_way_round() -> None:
    scene, turn = arm_scene(), (0.0, 0.0, 0.0, 1.0)
    frames = {"frame_a": ((0, 0, 0), turn), "frame_b": ((-0.5, 0, 0), turn)}
    assert scene.change_joint("shoulder", **frames).in_bodies
    placed = scene.change_joint("shoulder", at=(0, 0, 0), axis=(0, 1, 0))
    assert placed == rb.Revolute("world", "arm", at=(0, 0, 0), axis=(0, 1, 0), limits=(-1, 1))


def test_a_changed_or_replaced_joint_keeps_its_place_and_is_found_by_what_add_joint_returned() -> None:
    scene = arm_scene()
    first = scene.joints["shoulder"]
    scene.change_joint("shoulder", axis=(1, 0, 0))
    scene.remove_force("motor")
    scene.replace_joint("shoulder", rb.Fixed("world", "arm"))
    assert list(scene.joints) == ["shoulder", "wrist"]
    assert scene.joint_name(first) == "shoulder"


def test_a_force_changes_in_its_place() -> None:
    scene = arm_scene()
    assert scene.change_force("spring", stiffness=90.0).stiffness == 90.0
    scene.replace_force("spring", rb.Drag(linear=0.1))
    assert list(scene.forces) == ["spring", "motor"]
    assert scene.forces["spring"] == rb.Drag(linear=0.1)


def test_what_is_removed_is_gone_and_the_rest_is_found() -> None:
    scene = arm_scene()
    scene.exclude("hand", "floor")
    for name in ("spring", "motor"):
        scene.remove_force(name)
    scene.remove_joint("wrist")
    scene.remove_body("hand")
    assert [body.name for body in scene.bodies] == ["arm", "floor"]
    assert scene["floor"].static
    assert scene.meetings == {}
    scene.add_body(rb.Sphere(0.1), name="hand")
    assert scene.index("hand") == 2
    rb.Simulation(scene).step()


def test_a_copy_is_edited_on_its_own() -> None:
    scene = arm_scene()
    twin = scene.copy()
    twin.change_body("arm", mass=9.0)
    twin.remove_force("motor")
    assert scene["arm"].mass == 3.0
    assert scene.groups["limbs"][0].mass == 3.0
    assert "motor" in scene.forces


@dataclass(frozen=True)
class Bare:
    a: str = "world"
    b: str = "arm"


class Plain:
    a, b, in_bodies, freedoms = "world", "arm", True, ()

    def rows(self) -> list[Any]:
        return []


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda s: s.remove_body("hand"), "The body 'hand' cannot be removed: 'wrist', 'spring' would be left"),
        (lambda s: s.remove_joint("shoulder"), "The joint 'shoulder' cannot be removed: 'motor' would be left"),
        (lambda s: s.remove_joint("sholder"), "There is no joint 'sholder'. Did you mean 'shoulder'"),
        (lambda s: s.remove_force(3), "There is no force 3. There are 'spring', 'motor'"),
        (lambda s: s.remove_body("leg"), "There is no body 'leg'"),
        (lambda s: s.change_body("arm", weight=3), "change_body for body 'arm' has no option 'weight'"),
        (lambda s: s.change_body("arm", name="leg"), "change_body for body 'arm' has no option 'name'"),
        (lambda s: s.change_body("arm", mass=-1), "The mass of body 'arm' is -1; it must be greater than zero"),
        (lambda s: s.change_body("arm", group="hand"), "The group of body 'arm' is called 'hand', as a body is"),
        (lambda s: s.change_joint("wrist", axes=1), "change_joint for joint 'wrist' has no option 'axes'"),
        (lambda s: s.change_joint("wrist", b="leg"), "Joint 'wrist' holds 'leg', which is not in the scene"),
        (lambda s: s.change_joint("elbow", axis=1), "There is no joint 'elbow'"),
        (lambda s: s.change_force("spring", k=1), "change_force for force 'spring' has no option 'k'"),
        (lambda s: s.change_force("spring", b="leg"), "Force 'spring' acts on 'leg', which is not a body"),
        (lambda s: s.replace_joint("wrist", Bare()), "replace_joint got Bare(a='world', b='arm'); it must be a joint"),
        (lambda s: s.replace_joint("wrist", rb.Ball("world", "floor")), "'floor', neither of which can move"),
        (lambda s: s.replace_force("spring", Bare()), "replace_force got Bare(a='world', b='arm'); it must be a force"),
    ],
)
def test_an_edit_that_cannot_be_done_says_why_and_leaves_the_scene_as_it_was(edit: Any, message: str) -> None:
    scene = arm_scene()
    before = ([everything(body) for body in scene.bodies], dict(scene.joints), dict(scene.forces), list(scene.groups))
    with pytest.raises((rb.InputError, rb.UnknownName)) as caught:
        edit(scene)
    assert message in str(caught.value)
    assert before == (
        [everything(body) for body in scene.bodies],
        dict(scene.joints),
        dict(scene.forces),
        list(scene.groups),
    )


def test_a_joint_of_a_kind_that_has_no_fields_is_replaced_not_changed() -> None:
    scene = arm_scene()
    scene.add_joint(Plain(), name="own")
    with pytest.raises(rb.InputError, match="cannot tell what a Plain has; use scene.replace_joint"):
        scene.change_joint("own", b="hand")


def test_the_last_body_of_a_group_that_a_force_pushes_cannot_go() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), name="bee", group="bees")
    scene.add_force(rb.Drag(linear=0.1, bodies=("bees",)), name="wind")
    with pytest.raises(rb.InputError, match="The body 'bee' cannot be removed: 'wind' would be left without it"):
        scene.remove_body("bee")
