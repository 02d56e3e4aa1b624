"""The scene: names, groups, and what a simulation keeps of it."""

import numpy as np
import pytest

import rattleback as rb


def test_bodies_are_found_by_name() -> None:
    scene = rb.Scene()
    arm = scene.add_body(rb.Box(1, 1, 1), name="arm")
    assert scene["arm"] is arm
    assert "arm" in scene
    assert len(scene) == 1


def test_bodies_without_a_name_get_one_of_their_own() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 1, 1), name="sphere_2")
    names = [scene.add_body(rb.Sphere(1)).name, scene.add_body(rb.Sphere(1)).name]
    assert names == ["sphere_3", "sphere_4"] or len({*names, "sphere_2"}) == 3


def test_names_given_by_the_scene_avoid_groups_and_forces_that_have_them() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1), group="sphere_2")
    assert scene.add_body(rb.Sphere(1)).name == "sphere_3"
    scene.add_force(rb.Gravity(), name="drag_2")
    scene.add_force(rb.Drag())
    assert list(scene.forces) == ["drag_2", "drag_3"]


def test_a_name_can_be_used_once() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 1, 1), name="arm", group="limbs")
    for taken in ("arm", "limbs", "world"):
        with pytest.raises(rb.InputError, match=f"The scene already uses the name '{taken}'"):
            scene.add_body(rb.Box(1, 1, 1), name=taken)
    with pytest.raises(rb.InputError, match="is called 'arm', as a body is"):
        scene.add_body(rb.Box(1, 1, 1), group="arm")
    scene.add_joint(rb.Ball(scene.world, "arm"), name="hook")
    with pytest.raises(rb.InputError, match="is called 'hook', as a joint is"):
        scene.add_body(rb.Box(1, 1, 1), group="hook")
    assert len(scene) == 1


def test_a_wrong_name_lists_what_there_is() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 1, 1), name="arm")
    with pytest.raises(rb.UnknownName, match="There is no body 'amr'. Did you mean 'arm'\\? There are 'arm'."):
        scene["amr"]


def test_a_simulation_is_not_touched_by_later_changes_of_its_scene() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), name="a")
    sim = rb.Simulation(scene)
    scene.add_body(rb.Sphere(0.1), name="b")
    scene.gravity[:] = 0
    sim.step(10)
    assert sim.energy().kinetic > 0
    assert len(sim.scene) == 1
    with pytest.raises(rb.UnknownName):
        sim["b"]


def test_groups_collect_their_bodies_in_order() -> None:
    scene = rb.Scene()
    for name in ("c", "a", "b"):
        scene.add_body(rb.Sphere(1), name=name, group="odd" if name != "a" else "even")
    assert {group: [body.name for body in bodies] for group, bodies in scene.groups.items()} == {
        "odd": ["c", "b"],
        "even": ["a"],
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gravity": (0, 0)}, "The gravity of the scene has shape (2,)"),
        ({"gravity": (0, 0, np.nan)}, "every entry must be finite"),
        ({"name": ""}, "The name of the scene is ''"),
    ],
)
def test_an_impossible_scene_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(rb.InputError) as caught:
        rb.Scene(**options)
    assert words in str(caught.value)


@pytest.mark.parametrize("sleep", [False, True])
def test_gravity_may_have_a_square_that_is_not_finite(sleep: bool) -> None:
    scene = rb.Scene(gravity=(0, 0, -1e160))
    scene.add_static(rb.Plane(), name="floor")
    scene.add_body(rb.Box(1, 1, 1), mass=2, position=(0, 0, 9), name="box")
    assert len(rb.Simulation(scene, contacts="impulse", sleep=sleep).contacts) == 0


def test_scenes_and_bodies_say_what_they_are() -> None:
    scene = rb.Scene(name="attic")
    assert repr(scene.add_body(rb.Box(1, 1, 1), mass=2, name="box")) == "<body of 2 kg 'box'>"
    assert repr(scene.add_static(rb.Plane(), name="floor")) == "<static body 'floor'>"
    assert repr(scene) == "<Scene 'attic' of 2 bodies and 0 forces>"
    assert repr(scene.world) == "<world>"
