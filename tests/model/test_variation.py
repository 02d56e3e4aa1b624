"""What differs between worlds: by values, by distributions, by functions, by scenes; and what is refused."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rattleback as rb


def pendulum() -> rb.Scene:
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(0.5, 0, 2), name="arm")
    scene.add_body(rb.Sphere(0.1), density=500, position=(2, 0, 1), name="ball", group="balls")
    scene.add_joint(rb.Revolute("world", "arm", at=(0, 0, 2), axis=(0, 1, 0), damping=0.1), name="hinge")
    scene.add_force(rb.TorsionSpring("hinge", stiffness=2.0), name="spring")
    return scene


def test_every_kind_of_parameter_reaches_the_scene_of_its_world() -> None:
    metal = rb.Material(0.3)
    vary = {
        "arm.mass": [1.0, 2.0],
        "ball.radius": np.array([0.1, 0.1]),
        "ball.density": [500.0, 700.0],
        "balls.restitution": [0.1, 0.2],
        "ground.material": [metal, rb.Material(0.6)],
        "hinge.damping": [0.2, 0.3],
        "hinge.limits": [(-1.0, 1.0), (-2.0, 0.5)],
        "spring.stiffness": [3.0, 4.0],
        "gravity": [(0, 0, -1), (0, 0, -2)],
        "arm.velocity": np.arange(6.0).reshape(2, 3),
    }
    sim = rb.Simulation(pendulum(), vary=vary)
    one, other = sim.scenes
    assert sim.worlds == 2
    assert (one["arm"].mass, other["arm"].mass) == (1.0, 2.0)
    np.testing.assert_allclose(other["ball"].mass / one["ball"].mass, 1.4)
    assert other["ball"].material.restitution == 0.2
    assert one["ground"].material == metal
    assert other.joints["hinge"].damping == 0.3
    assert other.joints["hinge"].limits == (-2.0, 0.5)
    assert other.forces["spring"].stiffness == 4.0
    assert other.gravity.tolist() == [0, 0, -2]
    assert sim.state.velocity[1, 1].tolist() == [3, 4, 5]
    assert one.bodies[1] is not other.bodies[1]


def test_friction_alone_is_that_of_both_kinds() -> None:
    scene = pendulum()
    scene.change_body("ground", material=rb.Material(static_friction=0.9, dynamic_friction=0.5))
    sim = rb.Simulation(scene, vary={"ground.friction": [0.2, 0.3]})
    assert [own["ground"].material.static_friction for own in sim.scenes] == [0.2, 0.3]
    assert [own["ground"].material.dynamic_friction for own in sim.scenes] == [0.2, 0.3]


def test_a_world_draws_the_same_whatever_the_number_of_worlds_and_other_entries() -> None:
    vary = {"ground.friction": rb.uniform(0.2, 0.8), "arm.mass": rb.loguniform(0.1, 10)}
    few, many = (rb.Simulation(pendulum(), worlds=n, vary=vary, seed=3) for n in (2, 5))
    alone = rb.Simulation(pendulum(), worlds=5, vary={"arm.mass": rb.loguniform(0.1, 10)}, seed=3)
    other = rb.Simulation(pendulum(), worlds=5, vary=vary, seed=4)
    masses = np.asarray(many["arm"].mass)
    assert np.array_equal(few["arm"].mass, masses[:2])
    assert np.array_equal(alone["arm"].mass, masses)
    assert (np.asarray(other["arm"].mass) != masses).all()
    own = {"arm.mass": rb.loguniform(0.1, 10, seed=3)}
    assert np.array_equal(rb.Simulation(pendulum(), worlds=5, vary=own, seed=9)["arm"].mass, masses)


def test_distributions_have_the_moments_they_name() -> None:
    draws: dict[str, Any] = {
        "uniform": (rb.uniform(2, 4), 3.0, 2 / 12**0.5),
        "normal": (rb.normal(5, 0.5), 5.0, 0.5),
        "choice": (rb.choice([1.0, 3.0]), 2.0, 1.0),
    }
    for made, mean, deviation in draws.values():
        values = np.array([made.value("x", world, 0) for world in range(4000)])
        assert abs(values.mean() - mean) < 4 * deviation / 4000**0.5
        assert abs(values.std() - deviation) < 0.05 * deviation
    logs = np.log([rb.loguniform(0.1, 10).value("x", world, 0) for world in range(4000)])
    assert abs(logs.mean()) < 0.1
    assert (np.abs(logs) <= np.log(10)).all()
    assert rb.uniform((0, 0, 1), (1, 0, 2)).value("x", 0, 0).shape == (3,)
    assert repr(rb.uniform(0, 1)) == "rb.uniform(0, 1)"


def test_a_function_changes_a_copy_or_returns_another_scene() -> None:
    scene = pendulum()
    sim = rb.Simulation(scene, worlds=2, vary=lambda own, world: own.change_body("arm", mass=1.0 + world) and None)
    assert np.asarray(sim["arm"].mass).tolist() == [1.0, 2.0]
    assert scene["arm"].mass == 1.0
    other = pendulum()
    other.change_body("arm", mass=7.0)
    sim = rb.Simulation(scene, worlds=2, vary=lambda own, world: other if world else None)
    assert np.asarray(sim["arm"].mass).tolist() == [1.0, 7.0]


def test_a_list_of_scenes_has_one_a_world() -> None:
    scenes = [pendulum() for _ in range(3)]
    for k, scene in enumerate(scenes):
        scene.change_body("arm", mass=1.0 + k)
    sim = rb.Simulation(scenes)
    assert sim.worlds == 3
    assert np.asarray(sim["arm"].mass).tolist() == [1.0, 2.0, 3.0]
    assert sim.model.of_bodies(lambda body: body.mass).shape == (3, 3)


def changed(change: Any) -> rb.Scene:
    scene = pendulum()
    change(scene)
    return scene


DIFFERENT = {
    "has no body": (
        lambda scene: scene.remove_body("ball"),
        r"World 1 cannot run beside world 0: it has no body 'ball'. Worlds side by side have the same bodies",
    ),
    "another joint": (
        lambda scene: scene.replace_joint("hinge", rb.Ball("world", "arm", at=(0, 0, 2))),
        "joint 'hinge' is a Ball there and a Revolute in world 0",
    ),
    "another law": (
        lambda scene: scene.change_joint("hinge", damping=0.0),
        "joint 'hinge' differs in its damping, armature or friction from the one of world 0",
    ),
    "limits": (lambda scene: scene.change_joint("hinge", limits=(-1, 1)), "joint 'hinge' differs in its limits"),
    "shape": (lambda scene: scene.change_body("ball", shape=rb.Box(1, 1, 1)), "body 'ball' differs in its collision"),
    "added": (lambda scene: scene.add_body(rb.Sphere(1), name="new"), "it has the body 'new', which world 0 has not"),
    "rules": (lambda scene: scene.combine("max"), "the scene differs in its rules for materials"),
    "force": (
        lambda scene: scene.replace_force("spring", rb.Drag(linear=0.1)),
        "force 'spring' is a Drag there and a TorsionSpring in world 0",
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_scenes_of_different_structure_are_refused_with_the_first_difference(name: str) -> None:
    change, said = DIFFERENT[name]
    with pytest.raises(rb.InputError, match=re.escape(said)):
        rb.Simulation([pendulum(), changed(change)])


def test_forces_that_carry_code_must_be_the_same_in_all_worlds() -> None:
    scenes = [pendulum(), pendulum()]
    for k, scene in enumerate(scenes):
        scene.add_force(rb.PythonForce(lambda time, bodies, k=k: 0.0 * bodies.position), name="push")
    with pytest.raises(rb.InputError, match="force 'push' is a PythonForce, which all worlds must have alike"):
        rb.Simulation(scenes)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "object": ({"vary": {"arn.mass": [1.0]}}, "there is no 'arn' in the scene.*Did you mean 'arm'"),
    "parameter": ({"vary": {"arm.mas": [1.0]}}, "'arm' has no 'mas' that may differ.*Did you mean 'mass'"),
    "no dot": ({"vary": {"arm": [1.0]}}, "a name is 'object.parameter', such as 'arm.mass'"),
    "count": ({"vary": {"arm.mass": [1.0, 2.0]}, "worlds": 3}, "gives 'arm.mass' 2 values, and there are 3 worlds"),
    "number": ({"vary": {"arm.mass": 2.0}, "worlds": 3}, "gives 'arm.mass' the value 2.0; it must be a list"),
    "value": ({"vary": {"arm.mass": [1.0, -2.0]}}, "vary 'arm.mass' of world 1: The mass of body 'arm' is -2.0"),
    "shape": ({"vary": {"gravity": [1.0, 2.0]}}, "vary 'gravity' of world 0: The gravity of the scene"),
    "draw": ({"vary": {"ground.friction": rb.uniform(-1, -0.5)}, "worlds": 2}, "vary 'ground.friction' of world 0"),
    "worlds": ({"vary": {"ground.friction": rb.uniform(0, 1)}}, "worlds= does not say how many to draw"),
    "function": ({"vary": lambda scene, world: None}, "vary is a function, and worlds= does not say"),
    "returned": ({"vary": lambda scene, world: 3, "worlds": 2}, "vary returned 3 for world 0"),
    "raised": (
        {"vary": lambda scene, world: scene.change_body("no"), "worlds": 2},
        "vary for world 0: There is no body 'no'",
    ),
    "kind": ({"vary": 3, "worlds": 2}, "vary is 3; it must be a dict such as"),
    "seed": ({"seed": -1}, "seed is -1; it must be at least 0"),
    "start": ({"vary": {"hinge.angle": ["a", "b"]}}, "Each value of 'hinge.angle' in vary is 'a'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_vary_is_refused_with_entry_and_world(name: str) -> None:
    given_, said = REFUSED[name]
    with pytest.raises(rb.RattlebackError, match=said):
        rb.Simulation(pendulum(), **given_)


LISTS: list[tuple[Any, dict[str, Any], str]] = [
    ([], {}, "an empty list of scenes"),
    ([pendulum()], {"worlds": 2}, "got 1 scenes for worlds=2"),
    ([pendulum()], {"vary": {}}, "a list of scenes and vary="),
    ([pendulum(), 3], {}, "Simulation got 3; it needs a Scene"),
]


@pytest.mark.parametrize(("scenes", "given_", "said"), LISTS, ids=["empty", "count", "vary", "kind"])
def test_lists_that_are_no_worlds_are_refused(scenes: Any, given_: Any, said: str) -> None:
    with pytest.raises(rb.InputError, match=said):
        rb.Simulation(scenes, **given_)


BAD_DRAWS: list[tuple[Any, str]] = [
    (lambda: rb.uniform(2, 1), "rb.uniform goes from 2 to 1"),
    (lambda: rb.uniform("a", 1), "The low of rb.uniform is 'a'"),
    (lambda: rb.uniform((1, 2), (1, 2, 3)), r"shapes \(2,\) and \(3,\), which do not fit"),
    (lambda: rb.loguniform(0, 1), "The low of rb.loguniform is 0; it must be greater than zero"),
    (lambda: rb.normal(0, -1), "The sd of rb.normal is -1; it must be zero or more"),
    (lambda: rb.choice([]), "rb.choice got"),
    (lambda: rb.uniform(0, 1, seed=0.5), "The seed of a distribution is 0.5"),
]


@pytest.mark.parametrize(("make", "said"), BAD_DRAWS, ids=[said[:20] for _, said in BAD_DRAWS])
def test_distributions_that_are_none_are_refused(make: Any, said: str) -> None:
    with pytest.raises(rb.InputError, match=said):
        make()


@settings(max_examples=15, deadline=None)
@given(
    masses=st.lists(st.floats(0.1, 10), min_size=2, max_size=2),
    stiffness=st.lists(st.floats(0.5, 50), min_size=2, max_size=2),
    angles=st.lists(st.floats(-3, 3), min_size=2, max_size=2),
    pulls=st.lists(st.floats(-20, 20), min_size=2, max_size=2),
)
def test_worlds_of_any_parameters_are_single_runs_bit_for_bit(
    masses: list[float], stiffness: list[float], angles: list[float], pulls: list[float]
) -> None:
    gravity = [(0.0, 0.0, pull) for pull in pulls]
    vary = {"arm.mass": masses, "spring.stiffness": stiffness, "hinge.angle": angles, "gravity": gravity}
    batch = rb.Simulation(pendulum(), vary=vary, time_step=0.005, warn=False)
    batch.step(10)
    for world in range(2):
        alone = rb.Simulation(
            pendulum(), vary={name: [values[world]] for name, values in vary.items()}, time_step=0.005, warn=False
        )
        alone.step(10)
        assert np.array_equal(batch.state.position[world], alone.state.position[0])
        assert np.array_equal(batch.state.velocity[world], alone.state.velocity[0])
