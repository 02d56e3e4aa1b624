"""What an articulation refuses, and how it says so."""

import numpy as np
import pytest
import warp as wp

import rattleback as rb
from rattleback.core.precision import real


@pytest.fixture(scope="module")
def robot() -> rb.dynamics.Articulation:
    scene = rb.Scene()
    for k, name in enumerate(("arm", "hand", "rod")):
        scene.add_body(rb.Box(1.0, 0.1, 0.1), position=(0.5 + k, 0, 0), name=name)
    scene.add_joint(rb.Ball(scene.world, "arm", at=(0, 0, 0)), "shoulder")
    scene.add_joint(rb.Revolute("arm", "hand", at=(1, 0, 0), axis=(0, 1, 0)), "elbow")
    scene.add_joint(rb.Distance("hand", "rod", at=(2, 0, 0), at_b=(3, 0, 0)), "rope")
    scene.add_joint(rb.PointOnPlane(scene.world, "hand", at=(2, 0, 0)), "rest")
    return rb.dynamics.Articulation(scene)


def zeros(robot: rb.dynamics.Articulation) -> list[np.ndarray]:
    return [robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)]


def driven() -> rb.Scene:
    scene = rb.Scene()
    belt = scene.add_static(rb.Box(1, 1, 0.1), velocity=(1, 0, 0), name="belt")
    scene.add_joint(rb.Ball(belt, scene.add_body(rb.Sphere(0.1)), at=(0, 0, 0)), "pin")
    return scene


def resting() -> rb.Scene:
    scene = rb.Scene(name="floor")
    scene.add_static(rb.Plane())
    return scene


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: rb.kinematics.Tree([rb.kinematics.Link("a")]), "which has no masses; it needs a Scene"),
        (resting, "Scene 'floor' has no body that moves; add one with"),
        (driven, "Joint 'pin' hangs on 'belt', a static body that is driven at a velocity; the ground"),
    ],
)
def test_what_is_no_forest_of_bodies_is_refused(made, message: str) -> None:
    with pytest.raises(rb.InputError, match=message):
        rb.dynamics.Articulation(made())


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"armature": -1.0}, rb.InputError, "The armature is -1.0; it must be zero or more"),
        ({"damping": {"elbow": -1.0}}, rb.InputError, "The damping of 'elbow' is -1.0; it must be zero or more"),
        (
            {"damping": {"elbo": 1.0}},
            rb.UnknownName,
            "body 'elbo' with coordinates.*Did you mean 'elbow'?",
        ),
        (
            {"armature": {"rest": 1.0}},
            rb.UnknownName,
            "'rest' with.*It is one of the joints that were cut: 'rest'",
        ),
        ({"armature": [1.0, 2.0]}, rb.InputError, "The armature has shape (2,); it must be 9 numbers"),
        (
            {"armature": [1.0] * 8 + [-2.0]},
            rb.InputError,
            "The armature of rate 'rope.turn_z' is -2; it must be zero or more",
        ),
    ],
)
def test_drives_are_checked(robot, options, kind, message: str) -> None:
    with pytest.raises(kind, match=message.replace("(", r"\(").replace(")", r"\)").replace("elbow'?", "elbow'")):
        rb.dynamics.Articulation(robot.scene, **options)


def test_arrays_of_other_shapes_are_refused(robot) -> None:
    q, v, a = zeros(robot)
    with pytest.raises(rb.InputError, match=r"v has the shape \(3,\); it must be \(..., 9\)"):
        robot.inverse(q, v[:3], a)
    with pytest.raises(
        rb.InputError, match=r"a has the leading axes \(3,\) and others have \(2,\); they must be the same"
    ):
        robot.inverse(np.tile(q, (2, 1)), v, np.tile(a, (3, 1)))
    with pytest.raises(rb.InputError, match=r"The leading axes \(0,\) hold no configuration"):
        robot.inverse(np.tile(q, (0, 1)), v, a)
    with pytest.raises(rb.InputError, match="tau is 'much'; it must be made of numbers"):
        robot.forward(q, v, "much")
    with pytest.raises(rb.InputError, match=r"wrenches has the shape \(6,\); it must be \(..., 3, 6\)"):
        robot.forward(q, v, a, np.zeros(6))


def test_warp_arrays_of_another_form_are_refused(robot) -> None:
    q, v, _ = (wp.array(value, dtype=real, device="cpu") for value in zeros(robot))
    with pytest.raises(rb.InputError, match="a is no Warp array and others are; give all as Warp arrays, or none"):
        robot.inverse(q, v, np.zeros(robot.nv))
    with pytest.raises(rb.InputError, match="a is a Warp array of int32 on cpu; it must be one of double precision"):
        robot.inverse(q, v, wp.zeros(robot.nv, dtype=wp.int32, device="cpu"))
    with pytest.raises(rb.InputError, match=r"a has the shape \(3,\); it must be \(..., 9\)"):
        robot.inverse(q, v, wp.zeros(3, dtype=real, device="cpu"))
    with pytest.raises(rb.InputError, match=r"The Warp arrays have the leading axes \[\(\), \(\), \(2,\)\]"):
        robot.inverse(q, v, wp.zeros((2, robot.nv), dtype=real, device="cpu"))


def test_numbers_that_are_not_finite_are_said(robot) -> None:
    q, v, a = zeros(robot)
    with pytest.raises(rb.InputError, match="The configuration gives numbers that are not finite"):
        robot.inverse(q, v, a + np.nan)
    with pytest.raises(rb.InputError, match="quaternions longer than zero"):
        robot.mass_matrix(np.zeros(robot.nq))
    many = np.tile(v, (4, 1))
    many[2, 1] = np.inf
    with pytest.raises(rb.InputError, match="Configuration 2 of 4 gives numbers that are not finite"):
        robot.forward(q, many, a)
    assert np.isfinite(robot.forward(q, v, a)).all()


def test_bodies_and_joints_that_are_not_there_are_named(robot) -> None:
    with pytest.raises(rb.UnknownName, match="There is no body 'leg' that moves; there are 'arm', 'hand', 'rod'"):
        robot.jacobian(robot.neutral(), "leg")
    with pytest.raises(rb.UnknownName, match="There is no joint or floating body 'knee' with coordinates"):
        robot.places("knee")


def test_a_rod_cannot_be_linearised(robot) -> None:
    with pytest.raises(rb.InputError, match="Joint 'rope' keeps a distance; no two coordinates of a rod serve"):
        robot.linearize(*zeros(robot))


def test_a_simulation_of_another_scene_is_refused(robot) -> None:
    scene = rb.Scene(name="other")
    scene.add_body(rb.Sphere(0.1))
    sim = rb.Simulation(scene, time_step=0.01)
    with pytest.raises(
        rb.InputError, match="The simulation has the scene 'other', the articulation 'scene' with other"
    ):
        robot.coordinates_of(sim)


def test_a_simulation_whose_ground_was_moved_or_whose_joint_broke_is_refused() -> None:
    scene = rb.Scene()
    wall = scene.add_static(rb.Box(1, 1, 1), position=(0, 0, 2), name="wall")
    door = scene.add_body(rb.Box(1, 0.1, 2), mass=3.0, position=(1.5, 0, 2), name="door")
    scene.add_joint(rb.Revolute(wall, door, at=(1, 0, 2), axis=(0, 0, 1), breaking_force=1.0), "hinge")
    robot = rb.dynamics.Articulation(scene)
    sim = rb.Simulation(scene, time_step=0.01, warn=False)
    assert robot.coordinates_of(sim)[0] == pytest.approx(0.0, abs=1e-15)
    sim["wall"].position = (0, 0, 3)
    with pytest.raises(rb.InputError, match="The static body 'wall' was moved in the simulation"):
        robot.coordinates_of(sim)
    sim["wall"].position = (0, 0, 2)
    sim.step(3)
    with pytest.raises(rb.InputError, match="Joint 'hinge' is broken in the simulation; it has no coordinates"):
        robot.coordinates_of(sim)


def test_a_time_is_a_number(robot) -> None:
    with pytest.raises(rb.InputError, match="dt is 'long'; it must be a number"):
        robot.integrate(robot.neutral(), np.zeros(robot.nv), "long")
