"""All joints at once: coordinates and rates beside NumPy's own from the poses of the bodies, measured once a moment."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.precision import PRECISION

CLOSE = 1e-12 if PRECISION == "double" else 1e-5


def machine() -> rb.Scene:
    """A tree with every kind of coordinate, and joints that have none, in no particular place."""
    scene = rb.Scene()
    for k in range(6):
        scene.add_body(rb.Box(0.3, 0.2, 0.1), mass=1.0 + k, position=(0.4 * k, 0.1 * k, 0.2), name=f"b{k}")
    scene.add_joint(rb.Ball("b2", "b5", at=(1.4, 0.3, 0.2)), name="ball")
    scene.add_joint(rb.Revolute("world", "b0", at=(-0.2, 0, 0.2), axis=(1, 2, 2)), name="hinge")
    scene.add_joint(rb.Prismatic("b0", "b1", axis=(2, -1, 2)), name="rail")
    scene.add_joint(rb.Cylindrical("b1", "b2", at=(0.6, 0.1, 0.2), axis=(0, 3, 4)), name="rod")
    scene.add_joint(rb.Screw("b2", "b3", at=(1.0, 0.2, 0.2), axis=(0, 0, 1), pitch=0.1), name="screw")
    scene.add_joint(rb.Planar("b3", "b4", at=(1.4, 0.4, 0.2), axis=(1, 0, 0)), name="table")
    return scene


NAMES = ("hinge", "rail", "rod.position", "rod.angle", "screw", "table")
TURNS = ("hinge", "rod.angle", "screw", "table")


def driven(**settings: object) -> rb.Simulation:
    """The machine in motion."""
    sim = rb.Simulation(machine(), time_step=0.002, **settings)
    speed = np.random.default_rng(7).normal(size=(*np.shape(sim.state.velocity)[:-1], 3))
    sim.state.velocity[...], sim.state.angular_velocity[...] = speed, 2.0 * speed[..., ::-1]
    sim.step(25)
    return sim


def naive(sim: rb.Simulation, name: str, world: int | None = None) -> tuple[float, float]:
    """Angle up to full turns, or position, and rate of a coordinate, from the poses and velocities of two bodies."""
    scene, (joint_name, _, _) = sim.scene, name.partition(".")
    joint = scene.joints[joint_name]
    ends = []
    for side, point, frame in zip((joint.a, joint.b), joint.points(), joint.frames(), strict=True):
        if side == "world":
            ends.append((np.array(point), rb.rotation.matrix_from_quaternion(frame), np.zeros(3), np.zeros(3)))
            continue
        start = scene[side]
        now = [getattr(sim[side], part) for part in ("position", "orientation", "velocity", "angular_velocity")]
        x, q, v, w = now if world is None else (part[world] for part in now)
        turned = rb.rotation.matrix_from_quaternion(q) @ rb.rotation.matrix_from_quaternion(start.orientation).T
        lever = turned @ (np.array(point) - start.position)
        ends.append((x + lever, turned @ rb.rotation.matrix_from_quaternion(frame), v + np.cross(w, lever), w))
    (at_a, frame_a, v_a, w_a), (at_b, frame_b, v_b, w_b) = ends
    z = frame_a[:, 2]
    if name in TURNS:
        turn = frame_a.T @ frame_b
        return np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1]), z @ (w_b - w_a)
    way = at_b - at_a
    return way @ z, z @ (v_b - v_a - np.cross(w_a, way))


def test_there_is_an_entry_for_every_free_coordinate_in_the_order_of_the_scene() -> None:
    sim = driven()
    assert sim.joints.names == NAMES
    assert len(sim.joints) == len(NAMES)
    assert sim.joints.position.shape == sim.joints.velocity.shape == sim.joints.torque.shape == (len(NAMES),)
    assert repr(sim.joints) == f"<joints with the free coordinates {', '.join(map(repr, NAMES))}>"


def test_coordinates_and_rates_are_those_of_the_bodies(device: str) -> None:
    sim = driven(device=device)
    assert np.abs(sim.joints.position).min() > 1e-4
    for place, name in enumerate(NAMES):
        value, rate = naive(sim, name)
        assert sim.joints.position[place] == pytest.approx(value, abs=CLOSE)
        assert sim.joints.velocity[place] == pytest.approx(rate, abs=10 * CLOSE)


def test_every_world_has_its_own_row() -> None:
    sim = driven(worlds=3)
    assert sim.joints.position.shape == (3, len(NAMES))
    for world in range(3):
        for place, name in enumerate(NAMES):
            value, rate = naive(sim, name, world)
            assert sim.joints.position[world, place] == pytest.approx(value, abs=CLOSE)
            assert sim.joints.velocity[world, place] == pytest.approx(rate, abs=10 * CLOSE)
    np.testing.assert_array_equal(sim["hinge"].velocity, sim.joints.velocity[:, 0])


def test_single_joints_read_the_same_numbers() -> None:
    sim = driven()
    assert sim["hinge"].angle == sim.joints.position[0]
    assert sim["rail"].position == sim.joints.position[1]
    assert (sim["rod"].position, sim["rod"].angle) == tuple(sim.joints.position[2:4])
    assert sim["rod"].velocity == sim.joints.velocity[3]
    assert sim["screw"].velocity == sim.joints.velocity[4]


def test_what_is_written_to_bodies_shows_at_once() -> None:
    sim = driven()
    before = sim.joints.velocity[0]
    sim["b0"].angular_velocity += np.array([1.0, 2.0, 2.0])
    assert sim.joints.velocity[0] == pytest.approx(before + 3.0, abs=10 * CLOSE)
    sim["b0"].angular_velocity[:] = 0.0
    assert sim["hinge"].velocity == 0.0
    sim["b0"].orientation = rb.rotation.quaternion_from_axis_angle((1, 2, 2), 0.25)
    assert sim["hinge"].angle == pytest.approx(0.25, abs=10 * CLOSE)


def test_what_was_read_stays_as_it_was_and_cannot_be_written() -> None:
    sim = driven()
    position, kept = sim.joints.position, sim.joints.position.copy()
    sim.step()
    np.testing.assert_array_equal(position, kept)
    assert not np.array_equal(sim.joints.position, kept)
    with pytest.raises(ValueError, match="read-only"):
        position[0] = 1.0


def test_joints_are_measured_once_a_moment_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    sim, launches = driven(), []
    coordinates = sim.joints._coordinates
    launch, *found = coordinates._measured
    monkeypatch.setitem(vars(coordinates), "_measured", (lambda: launches.append(1) or launch(), *found))
    for _ in range(3):
        sim.step()
        for name in ("hinge", "screw", "table"):
            _ = sim[name].angle, sim[name].velocity
        _ = sim.joints.position, sim.joints.velocity, sim["rail"].position
    assert len(launches) == 3


def test_a_scene_without_joints_has_no_coordinates() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1), name="ball")
    for worlds, shape in ((None, (0,)), (2, (2, 0))):
        sim = rb.Simulation(scene, worlds=worlds)
        assert sim.joints.names == ()
        assert sim.joints.position.shape == sim.joints.torque.shape == shape


def test_a_view_that_was_kept_sees_the_step_as_it_is_recorded_now() -> None:
    """Another method makes other reactions; the view must not go on looking at those of the old one."""
    sim = driven()
    hinge = sim["hinge"]
    sim.use(joints="iterative", warn=False)
    sim.step(3)
    assert np.linalg.norm(hinge.reaction_force) > 1.0
    np.testing.assert_array_equal(hinge.reaction_force, rb.Simulation.__getitem__(sim, "hinge").reaction_force)
    seen = hinge.reaction_force
    sim.step()
    assert not np.array_equal(hinge.reaction_force, seen)


def test_after_a_rebuild_an_old_view_shows_what_was() -> None:
    sim = driven()
    old, angle = sim["hinge"], sim["hinge"].angle
    sim.rebuild(sim.scene.copy())
    sim.step(5)
    assert old.angle == angle
    assert sim["hinge"].angle != angle
    with pytest.raises(rb.InputError, match="The torque written to joint 'hinge' is of a scene that was rebuilt"):
        old.torque = 1.0
