"""Parameters of a running simulation by name: what is read, what a write does, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts


def scene() -> rb.Scene:
    made = rb.Scene()
    made.add_static(rb.Plane(), name="ground")
    made.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(0.5, 0, 2), name="arm")
    made.add_body(rb.Sphere(0.1), mass=1.0, position=(2, 0, 0.1), velocity=(1, 0, 0), name="ball")
    made.add_joint(rb.Revolute("world", "arm", at=(0, 0, 2), axis=(0, 1, 0), damping=0.1), name="hinge")
    made.add_force(rb.TorsionSpring("hinge", stiffness=2.0), name="spring")
    made.add_force(rb.Servo("hinge", gain=1.0), name="motor")
    return made


def values(step: float = 1.0) -> np.ndarray:
    return 1.0 + step * np.arange(3.0)


WRITES: dict[str, Any] = {
    "arm.mass": values(),
    "ball.friction": values(0.1),
    "hinge.damping": values(0.5),
    "hinge.limits": [(-2.0, 2.0), (-1.0, 2.0), (-0.5, 2.0)],
    "spring.stiffness": values(5.0),
    "motor.gain": values(2.0),
    "gravity": np.array([(0, 0, -3.0), (0, 0, -6.0), (1.0, 0, -9.0)]),
    "arm.x": values(0.1),
    "hinge.axis": [(0, 1, 0), (0.1, 1, 0), (0.2, 1, 0)],
}


@pytest.mark.parametrize("entry", WRITES)
def test_a_world_that_is_written_goes_on_as_a_single_run_does(entry: str) -> None:
    """The single runs are written to, too: what a world does then never depends on the others."""
    made: dict[str, Any] = {"time_step": 0.005, "warn": False, "contact_distance": 1e-3, "contacts": "impulse"}
    batch = rb.Simulation(scene(), worlds=3, **made)
    batch.step(5)
    batch.parameters[entry] = WRITES[entry]
    batch.step(10)
    for world in range(3):
        alone = rb.Simulation(scene(), **made)
        alone.step(5)
        alone.parameters[entry] = WRITES[entry][world]
        alone.step(10)
        for name in ("position", "orientation", "velocity", "angular_velocity"):
            assert np.array_equal(getattr(batch.state, name)[world], getattr(alone.state, name)), name
        np.testing.assert_allclose(batch.energy().total[world], alone.energy().total, rtol=1e-12)


def test_a_pendulum_swings_with_the_stiffness_written_to_its_world() -> None:
    """In the closed form the angle of a spring without gravity is cos √(D/J) t."""
    made = rb.Scene(gravity=(0, 0, 0))
    made.add_body(rb.Box(1, 0.1, 0.1), mass=3.0, position=(0, 0, 0), name="arm")
    made.add_joint(rb.Revolute("world", "arm", at=(0, 0, 0), axis=(0, 0, 1)), name="hinge")
    made.add_force(rb.TorsionSpring("hinge", stiffness=1.0), name="spring")
    sim = rb.Simulation(made, worlds=4, vary={"hinge.angle": [0.1] * 4}, time_step=1e-3, integrator="rk4")
    stiffness = np.array([1.0, 2.0, 5.0, 9.0])
    sim.parameters["spring.stiffness"] = stiffness
    sim.run(1.0)
    inertia = made["arm"].inertia[2, 2]
    np.testing.assert_allclose(sim["hinge"].angle, 0.1 * np.cos(np.sqrt(stiffness / inertia)), atol=1e-5)


def test_entries_of_single_worlds_are_read_and_written() -> None:
    sim = rb.Simulation(scene(), worlds=3)
    sim["arm"].mass[1] = 4.0
    sim.parameters["spring.stiffness"][2] = 9.0
    assert np.asarray(sim["arm"].mass).tolist() == [1.0, 4.0, 1.0]
    assert np.asarray(sim.parameters["arm.mass"]).tolist() == [1.0, 4.0, 1.0]
    assert [own.forces["spring"].stiffness for own in sim.scenes] == [2.0, 2.0, 9.0]
    assert sim.model.bodies.mass.numpy()[[1, 4, 7]].tolist() == [1.0, 4.0, 1.0]
    np.testing.assert_allclose(sim.scenes[1]["arm"].inertia, 4.0 * scene()["arm"].inertia)


def test_servos_have_a_gain_for_each_world() -> None:
    sim = rb.Simulation(scene(), vary={"motor.gain": [1.0, 2.0], "motor.target": [0.1, 0.2]})
    assert np.asarray(sim.servo("motor").gain).tolist() == [1.0, 2.0]
    assert sim.servo("motor").target.tolist() == [0.1, 0.2]
    sim.servo("motor").gain = [3.0, 4.0]
    sim.servo("motor").gain[1] = 5.0
    assert [own.forces["motor"].gain for own in sim.scenes] == [3.0, 5.0]
    sim.step()
    np.testing.assert_allclose(sim.servo("motor").effort, [0.3, 1.0])


def test_all_names_are_listed_and_can_be_read() -> None:
    sim = rb.Simulation(scene(), worlds=2)
    names = list(sim.parameters)
    assert {"arm.mass", "ball.radius", "ground.friction", "hinge.damping", "spring.stiffness"} <= set(names)
    assert "arm.mass" in sim.parameters
    assert "arm.bones" not in sim.parameters
    assert sim.parameters["ball.radius"].tolist() == [0.1, 0.1]
    np.testing.assert_allclose(sim.parameters["ball.density"], 1.0 / (4 / 3 * np.pi * 0.1**3))
    assert sim.parameters["arm.material"] == [rb.Material()] * 2
    assert rb.Simulation(scene()).parameters["arm.mass"] == 1.0
    assert repr(sim.parameters).startswith("<parameters of 'scene': ")


def test_several_are_written_at_once_and_a_wrong_one_leaves_all_as_they_were() -> None:
    sim = rb.Simulation(scene(), worlds=2)
    with pytest.raises(rb.InputError, match="The stiffness of TorsionSpring is -1"):
        sim.parameters.update({"arm.mass": 5.0, "spring.stiffness": [1.0, -1.0]})
    with pytest.raises(rb.InputError, match="Joint 'hinge' starts"):
        sim.parameters.update({"arm.mass": 5.0, "hinge.limits": (0.5, 1.0)})
    assert np.asarray(sim["arm"].mass).tolist() == [1.0, 1.0]
    assert sim.scene.joints["hinge"].limits is None
    sim.step()


BAD: dict[str, tuple[str, Any, str]] = {
    "count": (
        "arm.mass",
        [1.0, 2.0, 3.0],
        r"written to 'arm.mass' has shape \(3,\); it must be one for all worlds, or 2",
    ),
    "vector": ("gravity", [1.0], r"written to 'gravity' has shape \(1,\)"),
    "name": ("arm.weight", 1.0, "'arm' has no 'weight' that may differ"),
    "law": ("hinge.damping", [0.0, 0.5], "World 1 cannot run beside world 0: joint 'hinge' differs in its damping"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_written_is_refused(name: str) -> None:
    entry, value, said = BAD[name]
    with pytest.raises(rb.RattlebackError, match=said):
        rb.Simulation(scene(), worlds=2).parameters[entry] = value


def test_a_state_file_carries_the_parameters_of_its_worlds(tmp_path: Path) -> None:
    sim = rb.Simulation(scene(), vary={"arm.mass": values(), "ground.friction": values(0.1)}, time_step=0.005)
    sim.parameters["spring.stiffness"] = values(3.0)
    sim.step(5)
    sim.save(tmp_path / "worlds.rb")
    loaded = rb.load(tmp_path / "worlds.rb")
    assert np.asarray(loaded.parameters["spring.stiffness"]).tolist() == values(3.0).tolist()
    assert np.asarray(loaded["arm"].mass).tolist() == values().tolist()
    for own in (sim, loaded):
        own.step(10)
    assert loaded.hash() == sim.hash()


def test_a_state_file_of_forces_that_carry_code_is_loaded_into_a_scene_for_each_world(tmp_path: Path) -> None:
    scenes = [scene(), scene()]
    push = rb.PythonForce(lambda time, bodies: 0.1 * bodies.mass[..., None] + 0.0 * bodies.position)
    for mass, own in enumerate(scenes, 1):
        own.change_body("arm", mass=float(mass))
        own.add_force(push, name="push")
    sim = rb.Simulation(scenes)
    sim.step(2)
    sim.save(tmp_path / "worlds.rb")
    with pytest.raises(rb.FileError, match="its forces 'push' carry code"):
        rb.load(tmp_path / "worlds.rb")
    loaded = rb.load(tmp_path / "worlds.rb", scene=scenes)
    for own in (sim, loaded):
        own.step(3)
    assert loaded.hash() == sim.hash()


def test_a_contact_problem_is_that_of_its_world() -> None:
    sim = rb.Simulation(scene(), vary={"ball.mass": [1.0, 4.0]}, contacts="impulse")
    light, heavy = (sim.contact_problem(world=world) for world in range(2))
    np.testing.assert_allclose(light.W[:3, :3], 4.0 * heavy.W[:3, :3], rtol=1e-12)


def test_rebuilding_applies_what_varies_to_the_new_scene() -> None:
    sim = rb.Simulation(scene(), vary={"arm.mass": values()}, time_step=0.005)
    sim.step(5)
    before, changed = sim.state.position.copy(), sim.scene.copy()
    changed.change_force("spring", stiffness=7.0)
    sim.rebuild(changed)
    assert np.asarray(sim["arm"].mass).tolist() == values().tolist()
    assert [own.forces["spring"].stiffness for own in sim.scenes] == [7.0] * 3
    assert np.array_equal(sim.state.position, before)
    with pytest.raises(rb.InputError, match="got 2 scenes for worlds=3"):
        sim.rebuild([changed, changed])


def test_a_world_taken_out_of_its_batch_goes_on_bit_for_bit() -> None:
    vary = {"arm.mass": values(), "ball.friction": values(0.1), "spring.stiffness": values(4.0)}
    batch = rb.Simulation(scene(), vary=vary, time_step=0.005, joints="iterative", warn=False)
    batch.step(5)
    alone = batch.world(1)
    assert alone.scene["arm"].mass == 2.0
    for sim in (batch, alone):
        sim.step(10)
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(batch.state, name)[1], getattr(alone.state, name))
    with pytest.raises(rb.InputError, match="world is 3; it must be at most 2"):
        batch.world(3)


def pendulum() -> rb.Scene:
    made = rb.Scene()
    made.add_body(rb.Sphere(0.05), mass=1.0, position=(0, 0, -1), name="bob")
    made.add_joint(rb.Revolute("world", "bob", at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    return made


def test_every_world_is_linearised_with_its_own_parameters() -> None:
    """Of a pendulum, A = [0, 1; −m g l/J, 0] with J about the hinge."""
    gravity = [(0, 0, -9.81), (0, 0, -1.62)]
    sim = rb.Simulation(pendulum(), vary={"bob.mass": [1.0, 2.0], "gravity": gravity})
    A, B = sim.linearize()
    inertia = np.array([1.0, 2.0]) * (1.0 + pendulum()["bob"].inertia[1, 1])
    np.testing.assert_allclose(A[:, 1, 0], -np.array([1.0, 2.0]) * [9.81, 1.62] / inertia, rtol=1e-9)
    np.testing.assert_allclose(B[:, 1, 0], 1.0 / inertia, rtol=1e-9)
    q, _ = rb.dynamics.Articulation(sim.scene).coordinates_of(sim)
    np.testing.assert_allclose(q, 0.0, atol=1e-12)
    robot = rb.dynamics.Articulation(sim.world(1).scene)
    assert robot.coordinates_of(sim.world(1))[0].shape == (1,)


def test_symmetric_steps_need_as_many_independent_rows_in_all_worlds() -> None:
    scenes = []
    for tilt in (0.0, 0.3):
        made = pendulum()
        made.add_joint(rb.Revolute("world", "bob", at=(0, 0, 0), axis=(tilt, 1, 0)))
        scenes.append(made)
    with pytest.raises(rb.InputError, match="5 are independent where world 0 starts and 6 where world 1 does"):
        rb.Simulation(scenes, step="composed", contacts="none")


def test_questions_about_shapes_see_the_sizes_of_their_world() -> None:
    sim = rb.Simulation(scene(), vary={"ball.radius": [0.1, 0.05]}, contact_distance=1e-3)
    spaces = [rb.collision.Space.of(sim, world=world) for world in range(2)]
    hits = [space.ray_cast([(2, 0, 3)], [(0, 0, -1)]).distance[0] for space in spaces]
    np.testing.assert_allclose(hits, [2.8, 2.85], atol=1e-9)
    with pytest.raises(rb.InputError, match="give one for all, such as contact_distance=0.00055"):
        rb.Simulation(scene(), vary={"ball.radius": [0.1, 0.05], "arm.x": [1.0, 1.0]})
