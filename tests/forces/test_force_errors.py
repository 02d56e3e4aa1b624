"""What is refused about forces, and in which words."""

import numpy as np
import pytest
import warp as wp

import rattleback as rb


def scene_with(force: object) -> rb.Scene:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), name="ball")
    scene.add_static(rb.Plane(), name="floor")
    scene.add_force(force)
    return scene


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rb.Gravity((1, 2)), "The acceleration of Gravity has shape (2,)"),
        (lambda: rb.Gravity((0, 0, float("nan"))), "every entry must be finite"),
        (lambda: rb.Attraction(constant="big"), "The constant of Attraction is 'big'; it must be a number"),
        (lambda: rb.Attraction(softening=-1), "The softening of Attraction is -1; it must be zero or more"),
        (lambda: rb.Drag(linear=-0.1), "The linear coefficient of Drag is -0.1; it must be zero or more"),
        (lambda: rb.Drag(bodies=[]), "Drag acts on no body"),
        (lambda: rb.Drag(bodies=[3]), "Drag acts on 3; give names"),
        (lambda: rb.Wrench("ball", frame="body"), "The frame of Wrench is 'body'; it may be 'world', 'local'"),
        (lambda: rb.Wrench("ball", force="up"), "The force of Wrench is 'up'"),
        (lambda: rb.Wrench("ball", start=2, until=1), "The Wrench ends at 1 s, before it starts at 2 s"),
        (lambda: rb.PythonForce(3), "PythonForce got 3; it needs a function of (time, bodies)"),
        (lambda: rb.WarpForce(len), "it needs a function decorated with @wp.func"),
    ],
)
def test_a_force_that_cannot_be_says_why(make: object, words: str) -> None:
    with pytest.raises(rb.InputError) as caught:
        make()
    assert words in str(caught.value)


def test_a_force_on_a_body_that_is_not_there_is_refused_when_added() -> None:
    with pytest.raises(
        rb.UnknownName, match="Force 'drag_1' acts on 'bal', which is not in the scene. Did you mean 'ball'"
    ):
        scene_with(rb.Drag(linear=1, bodies="bal"))


def test_a_force_on_a_static_body_is_refused_when_compiled() -> None:
    with pytest.raises(rb.InputError, match="Force 'wrench_1': Wrench acts on 'floor', which is static"):
        rb.Simulation(scene_with(rb.Wrench("floor", force=(1, 0, 0))))


def test_a_body_named_twice_is_refused() -> None:
    with pytest.raises(rb.InputError, match="Drag names 'ball' twice"):
        rb.Simulation(scene_with(rb.Drag(bodies=["ball", "ball"])))


def test_what_is_not_a_force_is_refused() -> None:
    with pytest.raises(rb.InputError, match="add_force got 'gravity'; it must be a force module"):
        scene_with("gravity")


def test_two_forces_of_one_name_are_refused() -> None:
    scene = rb.Scene()
    scene.add_force(rb.Gravity(), name="pull")
    with pytest.raises(rb.InputError, match="already has a force named 'pull'"):
        scene.add_force(rb.Gravity(), name="pull")


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (np.zeros(2), "returned (2,); it must return an array of shape (1, 3)"),
        ("strong", "returned 'strong'; it must return an array of shape (1, 3)"),
        (np.full((1, 3), np.inf), "PythonForce 'push' returned a value that is not finite"),
    ],
)
def test_a_python_force_that_returns_nonsense_is_named(returned: object, words: str) -> None:
    def push(_time: float, _bodies: object) -> object:
        return returned

    sim = rb.Simulation(scene_with(rb.PythonForce(push)))
    with pytest.raises(rb.InputError) as caught:
        sim.step()
    assert words in str(caught.value)


@wp.func
def forgets_the_torque(t: wp.float64, i: int):
    return t


def test_a_warp_force_with_the_wrong_arguments_is_named() -> None:
    with pytest.raises(rb.InputError, match="Force 'warpforce_1': WarpForce 'forgets_the_torque' cannot be compiled"):
        rb.Simulation(scene_with(rb.WarpForce(forgets_the_torque)))
