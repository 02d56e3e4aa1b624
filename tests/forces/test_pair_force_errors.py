"""What is refused about springs and servos, and in which words."""

from typing import Any

import pytest

import rattleback as rb
from rattleback.forces import ServoView


def scene() -> rb.Scene:
    made = rb.Scene()
    made.add_body(rb.Sphere(0.1), name="ball")
    made.add_body(rb.Sphere(0.1), name="bob", group="team")
    made.add_static(rb.Plane(), name="floor")
    made.add_joint(rb.Revolute("world", "ball"), "hinge")
    made.add_joint(rb.Prismatic("world", "bob"), "rail")
    made.add_joint(rb.Ball("ball", "bob"), "socket")
    made.add_joint(rb.Cylindrical("ball", "bob"), "sleeve")
    return made


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rb.Spring(3, "ball", at=(0, 0, 0), stiffness=1), "Body a of Spring is 3; give a name, a body, or sce"),
        (lambda: rb.Spring("ball", "", at=(0, 0, 0), stiffness=1), "Body b of Spring is ''; give a name, a body, or"),
        (lambda: rb.Spring("a", "a", at=(0, 0, 0), stiffness=1), "Spring joins 'a' to itself; it needs two bodies."),
        (lambda: rb.Spring("a", "b", at=(0, 0), stiffness=1), "The at of Spring has shape (2,); it must be 3 numbers."),
        (lambda: rb.Spring("a", "b", at=(0, 0, 0), at_b="up", stiffness=1), "The at_b of Spring is 'up'; it must be"),
        (lambda: rb.Spring("a", "b", at=(0, 0, 0), stiffness=-1), "The stiffness of Spring is -1; it must be zero or"),
        (lambda: rb.Spring("a", "b", at=(0, 0, 0), stiffness=1, damping=-2), "The damping of Spring is -2; it must be"),
        (lambda: rb.Spring("a", "b", at=(0, 0, 0), stiffness=1, length=-3), "The length of Spring is -3; it must be"),
        (lambda: rb.TorsionSpring(4, stiffness=1), "The joint of TorsionSpring is 4; give its name, or what scene.add"),
        (lambda: rb.TorsionSpring("", stiffness=1), "The joint of TorsionSpring is ''; give its name, or what scene."),
        (lambda: rb.TorsionSpring("h", stiffness=-1), "The stiffness of TorsionSpring is -1; it must be zero or more."),
        (lambda: rb.TorsionSpring("h", stiffness=1, damping="x"), "The damping of TorsionSpring is 'x'; it must be a"),
        (lambda: rb.TorsionSpring("h", stiffness=1, angle=None), "The angle of TorsionSpring is None; it must be a n"),
        (lambda: rb.Servo(rb.Revolute, gain=1), "The joint of Servo is <class 'rattleback.joints.revolute.Revolute'>;"),
        (lambda: rb.Servo("h", gain=0), "The gain of Servo is 0; it must be greater than zero."),
        (lambda: rb.Servo("h", gain=1, control="speed"), "The control of Servo is 'speed'; it may be 'angle', 'posi"),
        (lambda: rb.Servo("h", gain=1, target="up"), "The target of Servo is 'up'; it must be a number."),
        (lambda: rb.Servo("h", gain=1, rate_time=-1), "The rate_time of Servo is -1; it must be zero or more."),
        (
            lambda: rb.Servo("h", gain=1, reset_time=0),
            "The reset_time of Servo is 0; it must be greater than zero, or infinite, when the integral part is left",
        ),
        (
            lambda: rb.Servo("h", gain=1, window=-1),
            "The window of Servo is -1; it must be greater than zero, or infinite, when nothing is forgotten.",
        ),
        (
            lambda: rb.Servo("h", gain=1, limit=0.0),
            "The limit of Servo is 0; it must be greater than zero, or infinite, when there is no limit.",
        ),
    ],
)
def test_a_force_between_bodies_that_cannot_be_says_why(make: Any, words: str) -> None:
    with pytest.raises(rb.InputError) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (
            rb.Spring("bal", "floor", at=(0, 0, 0), stiffness=1),
            "Force 'it' acts on 'bal', which is not a body of the scene. Did you mean 'ball'?",
        ),
        (
            rb.Spring("ball", "team", at=(0, 0, 0), stiffness=1),
            "Force 'it' acts on 'team', which is not a body of the scene.",
        ),
        (
            rb.TorsionSpring("hing", stiffness=1),
            "Force 'it' acts on the joint 'hing', which is not in the scene. Did you mean 'hinge'? There are 'hinge', ",
        ),
        (rb.Servo("ball", gain=1), "Force 'it' acts on the joint 'ball', which is not in the scene."),
        (
            rb.Servo(rb.Revolute("world", "ball"), gain=1),
            "Force 'it' acts on the joint a Revolute, which is not in the scene. There are 'hinge', 'rail', 'socket'",
        ),
    ],
)
def test_a_force_on_what_is_not_there_is_refused_when_added(force: Any, words: str) -> None:
    made = scene()
    with pytest.raises(rb.UnknownName) as caught:
        made.add_force(force, "it")
    assert words in str(caught.value)
    assert not made.forces


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (
            rb.Servo("rail", gain=1),
            "Force 'it' controls the angle of joint 'rail', a Prismatic, which has none of its own; it needs a joint "
            "that turns about one axis only, such as Revolute or Cylindrical. Of this joint it can control 'position', "
            "'velocity'.",
        ),
        (
            rb.Servo("hinge", control="position", gain=1),
            "Force 'it' controls the position of joint 'hinge', a Revolute, which has none of its own; it needs a "
            "joint that slides along its axis, such as Prismatic or Cylindrical. Of this joint it can control 'angle'",
        ),
        (
            rb.Servo("socket", control="velocity", gain=1),
            "Force 'it' controls the velocity of joint 'socket', a Ball, which has none of its own; it needs a joint "
            "that turns about one axis only or slides along it, such as Revolute, Cylindrical or Prismatic.",
        ),
        (rb.TorsionSpring("rail", stiffness=1), "Force 'it' controls the angle of joint 'rail', a Prismatic, which"),
        (
            rb.Spring("floor", "world", at=(0, 0, 0), stiffness=1),
            "Force 'it' joins 'floor' and 'world', neither of which can move.",
        ),
    ],
)
def test_a_force_that_does_not_fit_is_refused_when_added(force: Any, words: str) -> None:
    made = scene()
    with pytest.raises(rb.InputError) as caught:
        made.add_force(force, "it")
    assert words in str(caught.value)
    assert not made.forces


@pytest.mark.parametrize("control", ["angle", "position", "velocity"])
def test_a_sleeve_takes_every_control_and_a_joint_stands_for_its_name(control: str) -> None:
    made = scene()
    kept = made.add_force(rb.Servo(made.joints["sleeve"], control=control, gain=1))
    assert kept.joint == "sleeve"
    assert made.forces["servo_1"] == rb.Servo("sleeve", control=control, gain=1)


def test_a_servo_that_is_not_there_is_named_with_those_that_are() -> None:
    made = scene()
    made.add_force(rb.Servo("hinge", gain=1), "motor")
    sim = rb.Simulation(made)
    with pytest.raises(rb.UnknownName, match="There is no servo 'moter'. Did you mean 'motor'. There are 'motor'."):
        ServoView(sim.model, sim.state, "moter")


@pytest.mark.parametrize(
    ("worlds", "value", "words"),
    [
        (None, [1, 2], "The target of servo 'motor' has shape (2,); it must be a number, or None."),
        (3, [1, 2], "has shape (2,); it must be a number or 3 of them, one a world, or None."),
        (None, "up", "The target of servo 'motor' is 'up'; it must be made of numbers."),
        (None, float("nan"), "The target of servo 'motor' is nan; every number must be finite."),
    ],
)
def test_a_target_that_cannot_be_is_refused_and_changes_nothing(worlds: int | None, value: Any, words: str) -> None:
    made = scene()
    made.add_force(rb.Servo("hinge", gain=1, target=0.25), "motor")
    sim = rb.Simulation(made, worlds=worlds)
    view = ServoView(sim.model, sim.state, "motor")
    before = sim.hash()
    with pytest.raises(rb.InputError) as caught:
        view.target = value
    assert words in str(caught.value)
    assert sim.hash() == before
