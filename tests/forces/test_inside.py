"""Springs and controllers inside the constraint solve: stable where those outside explode, right where they rest."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.core.errors import InputError, UnknownName


def arm(force: rb.ImplicitSpring | rb.ImplicitPD | None = None, bars: int = 1, gravity: float = -9.81) -> rb.Scene:
    """Bars of a metre on hinges, stretched out along x."""
    scene = rb.Scene(gravity=(0, 0, gravity))
    last = scene.world
    for k in range(bars):
        bar = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(k + 0.5, 0, 0), name=f"bar {k}")
        scene.add_joint(rb.Revolute(last, bar, at=(k, 0, 0), axis=(0, 1, 0)), f"hinge {k}")
        last = bar
    if force is not None:
        scene.add_force(force, "inside")
    return scene


def slider(force: object, mass: float = 2.0) -> rb.Scene:
    """A mass on a rail along x, pulled out by 0.1 m, without gravity."""
    scene = rb.Scene(gravity=(0, 0, 0))
    cart = scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=mass, position=(0, 0, 0), name="cart")
    scene.add_joint(rb.Prismatic(scene.world, cart, at=(0, 0, 0), axis=(1, 0, 0)), "rail")
    scene.add_force(force, "inside")
    return scene


def pulled(scene: rb.Scene, h: float, joints: str = "direct") -> rb.Simulation:
    sim = rb.Simulation(scene, time_step=h, joints=joints, strict=True)
    sim["cart"].position = (0.1, 0, 0)
    return sim


@pytest.mark.parametrize("joints", ["direct", "iterative", "reduced"])
@pytest.mark.parametrize(("k", "c"), [(50.0, 0.0), (50.0, 7.0), (1e9, 0.0), (0.0, 300.0)])
def test_a_mass_on_a_rail_goes_as_its_difference_equation(joints: str, k: float, c: float) -> None:
    """The two halves of a step by hand: λ = −h/2 (k x₁ + c v̄), then λ = −h/2 (k (x₁ + h v₁) + c v₁)."""
    h, m, x, v = 0.02, 2.0, 0.1, 0.3
    sim = pulled(slider(rb.ImplicitSpring("rail", stiffness=k, damping=c)), h, joints)
    sim["cart"].velocity = (v, 0, 0)
    for _ in range(30):
        sim.step()
        mean = (v - 0.5 * h * k * x / m) / (1 + 0.5 * h * (k * h + c) / m)
        x += h * mean
        v = (mean - 0.5 * h * k * x / m) / (1 + 0.5 * h * (k * h + c) / m)
        assert sim["cart"].position[0] == pytest.approx(x, abs=2e-8)
        assert sim["cart"].velocity[0] == pytest.approx(v, abs=2e-6)


@pytest.mark.parametrize("k", [1.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("joints", ["direct", "reduced", "implicit"])
def test_controllers_of_an_arm_are_stable_at_any_gain(joints: str, k: float) -> None:
    """From one to 10¹² N m/rad at a step of 0.05 s: at rest where torques balance, to the tolerance of joints."""
    scene = arm(bars=2)
    for j in range(2):
        scene.add_force(rb.ImplicitPD(f"hinge {j}", stiffness=k, damping=max(20.0, k / 5.0), target=0.4))
    sim = rb.Simulation(scene, time_step=0.05, joints=joints, warn=False)
    sim.run(200.0 if k == 1.0 else 10.0)
    q = np.array([sim[f"hinge {j}"].angle for j in range(2)])
    down = np.cos(np.cumsum(q))
    weight = 9.81 * np.array([down[0] * 0.5 + down[0] + 0.5 * down[1], 0.5 * down[1]])
    np.testing.assert_allclose(q, 0.4 + weight / k, atol=2e-6 if k > 1.0 else 1e-3)
    assert np.abs(sim.state.angular_velocity).max() < 1e-4


def test_a_spring_counts_in_the_energy() -> None:
    sim = pulled(slider(rb.ImplicitSpring("rail", stiffness=80.0, target=0.3)), 0.01)
    assert sim.energy().potential == pytest.approx(0.5 * 80.0 * 0.2**2, rel=1e-12)


@pytest.mark.parametrize(("force", "lag"), [(rb.ImplicitPD, 2e-4), (rb.ImplicitSpring, 0.06)])
def test_a_controller_follows_an_even_ramp_without_lag_and_a_spring_drags_behind(force: type, lag: float) -> None:
    """A spring that is damped against the world lags by c v/k."""
    ramp = rb.Schedule([0.0, 2.0], [0.0, 1.0])
    scene = slider(force("rail", stiffness=1000.0, damping=120.0, target=ramp))
    sim = rb.Simulation(scene, time_step=0.01, strict=True)
    sim.run(1.5)
    assert ramp(sim.time) - sim["rail"].position == pytest.approx(0.0 if lag < 1e-3 else 0.06, abs=1e-3)


def test_a_ball_joint_is_pulled_straight() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    bob = scene.add_body(rb.Box(0.1, 0.2, 0.5), mass=1.0, position=(0, 0, -0.3), name="bob")
    scene.add_joint(rb.Ball(scene.world, bob, at=(0, 0, 0)), "ball")
    scene.add_force(rb.ImplicitSpring("ball", stiffness=20.0, damping=3.0))
    sim = rb.Simulation(scene, strict=True)
    sim["bob"].angular_velocity = (1, -2, 3)
    sim.run(10.0)
    np.testing.assert_allclose(Rotation.from_quat(sim["bob"].orientation).as_rotvec(), 0.0, atol=1e-4)


def hand(k: float, joints: str) -> np.ndarray:
    """Where the tip of an arm of three bars comes to that is to reach (1.5, 0, 1)."""
    scene = arm(bars=3)
    names = [f"hinge {k}" for k in range(3)]
    scene.add_force(
        rb.ImplicitHandPD(names, body="bar 2", at=(3, 0, 0), target=(1.5, 0, 1.0), stiffness=k, damping=k / 10)
    )
    sim = rb.Simulation(scene, time_step=0.02, joints=joints, strict=True)
    sim.run(8.0)
    return sim["bar 2"].position + Rotation.from_quat(sim["bar 2"].orientation).apply((0.5, 0, 0))


@pytest.mark.parametrize("joints", ["direct", "reduced", "implicit"])
def test_a_hand_comes_to_its_target(joints: str) -> None:
    np.testing.assert_allclose(hand(1e7, joints), (1.5, 0, 1.0), atol=1e-4)


def test_a_soft_hand_hangs_below_its_target_by_what_its_weight_strains() -> None:
    tip = hand(2e3, "direct")
    assert 0.01 < np.linalg.norm(tip - (1.5, 0, 1.0)) < 0.06
    assert tip[2] < 1.0


def test_a_schedule_moves_the_hand() -> None:
    scene = arm(bars=2, gravity=0.0)
    path = [rb.Schedule([0.0, 2.0], [1.9, 1.2], kind="cubic"), 0.0, rb.Schedule([0.0, 2.0], [0.3, 0.9], kind="cubic")]
    scene.add_force(
        rb.ImplicitHandPD(["hinge 0", "hinge 1"], body="bar 1", at=(2, 0, 0), target=path, stiffness=2e3, damping=2e2)
    )
    sim = rb.Simulation(scene, strict=True)
    sim.run(3.0)
    tip = sim["bar 1"].position + Rotation.from_quat(sim["bar 1"].orientation).apply((0.5, 0, 0))
    np.testing.assert_allclose(tip, (1.2, 0, 0.9), atol=1e-4)


def test_they_stay_the_same_through_a_scene_file(tmp_path) -> None:
    scene = arm(rb.ImplicitPD("hinge 0", stiffness=3.0, damping=1.0, target=rb.Schedule([0, 1], [0, 2])), bars=2)
    scene.add_force(rb.ImplicitSpring("hinge 1", stiffness=3.0, target=0.2, freedom="turn_z"))
    scene.save(tmp_path / "arm.rb.json")
    assert rb.Scene.load(tmp_path / "arm.rb.json").forces == scene.forces


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: arm(rb.ImplicitSpring("hinge 0", stiffness=-1.0)), InputError, "The stiffness of ImplicitSpring"),
        (lambda: arm(rb.ImplicitSpring("hinge 0", stiffness=0.0)), InputError, "has neither stiffness nor damping"),
        (lambda: arm(rb.ImplicitPD("elbow", stiffness=1.0)), UnknownName, "which is not in the scene"),
        (
            lambda: arm(rb.ImplicitPD("hinge 0", stiffness=1.0, freedom="slide_z")),
            InputError,
            "acts along 'slide_z' of joint 'hinge 0', a Revolute; there are 'turn_z'",
        ),
        (
            lambda: arm(rb.ImplicitHandPD("hinge 0", body="bar 0", target=(0, 0, 0), stiffness=1.0)),
            InputError,
            "give a list of those of the arm",
        ),
        (
            lambda: arm(rb.ImplicitHandPD(["hinge 0"], body="bar 0", target=3.0, stiffness=1.0)),
            InputError,
            "it must be three numbers or schedules",
        ),
        (
            lambda: arm(rb.ImplicitHandPD(["hinge 0"], body="head", target=(0, 0, 0), stiffness=1.0)),
            InputError,
            "which is not a body of the scene",
        ),
        (
            lambda: arm(rb.ImplicitHandPD(["hinge 1"], body="bar 0", target=(0, 0, 0), stiffness=1.0)),
            UnknownName,
            "which is not in the scene",
        ),
        (
            lambda: arm(rb.ImplicitHandPD([], body="bar 0", target=(0, 0, 0), stiffness=1.0)),
            InputError,
            "give a list of those of the arm",
        ),
        (
            lambda: arm(rb.ImplicitHandPD(["hinge 0"], body="", target=(0, 0, 0), stiffness=1.0)),
            InputError,
            "give a body, or its name",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(make, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_a_second_force_inside_along_one_freedom_is_refused() -> None:
    scene = arm(rb.ImplicitSpring("hinge 0", stiffness=1.0))
    scene.add_force(rb.ImplicitPD("hinge 0", stiffness=1.0), "second")
    with pytest.raises(InputError, match="Force 'second' is the second one inside the constraint solve"):
        rb.Simulation(scene)


def ball_and_arm(freedom: str | None, target: float) -> rb.Scene:
    scene = rb.Scene()
    bob = scene.add_body(rb.Sphere(0.1), position=(0, 0, -0.3), name="bob")
    scene.add_joint(rb.PointOnPlane(scene.world, bob, at=(0, 0, 0)), "joint")
    scene.add_force(rb.ImplicitSpring("joint", stiffness=1.0, freedom=freedom, target=target))
    return scene


def test_turns_of_a_ball_have_no_target_of_one_number() -> None:
    with pytest.raises(InputError, match="a target of one number does not tell another orientation"):
        ball_and_arm("turn", 0.3)


def test_a_joint_that_leaves_more_than_one_motion_needs_a_freedom() -> None:
    scene = rb.Scene()
    box = scene.add_body(rb.Box(0.1, 0.1, 0.1), name="box")
    scene.add_joint(rb.DoubleRotation(scene.world, box, axis=(1, 0, 0), axis_b=(0, 1, 0)), "joint")
    with pytest.raises(InputError, match=r"needs freedom= for joint 'joint', a DoubleRotation; there are 'turn_a'"):
        scene.add_force(rb.ImplicitSpring("joint", stiffness=1.0))
    scene.add_force(rb.ImplicitSpring("joint", stiffness=1.0, freedom="turn_b"))
    scene.add_joint(rb.Ball(box, scene.add_body(rb.Sphere(0.1), name="bob")), "ball")
    with pytest.raises(InputError, match="it needs joints that turn about one axis or slide along it"):
        scene.add_force(rb.ImplicitHandPD(["ball"], body="bob", target=(0, 0, 0), stiffness=1.0))


def test_a_hand_that_a_loop_leads_to_is_refused() -> None:
    scene = arm(bars=2)
    scene.add_joint(rb.Ball("bar 0", "bar 1", at=(1, 0, 0)), "second pin")
    with pytest.raises(InputError, match="does not move its hand 'bar 1' alone: a loop leads around it"):
        scene.add_force(rb.ImplicitHandPD(["hinge 1"], body="bar 1", target=(0, 0, 0), stiffness=1.0))
