"""Save points and edits: going back brings back what was, and builds nothing anew where nothing was edited."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.viewer.save_point import save_point, says_the_same
from rattleback.viewer.session import Session


def belt():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor", material=rb.Material(0.4, 0.0))
    box = scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1), name="box")
    scene.add_joint(rb.VelocityJoint(scene.world, box, at=(0, 0, 0.1), linear=(0.5, None, None)), name="drive")
    scene.add_force(rb.Drag(linear=0.1), name="air")
    return scene


@pytest.fixture
def session():
    running = Session([rb.Simulation(belt(), time_step=0.005), rb.Simulation(belt(), time_step=0.005)])
    running.start()
    yield running
    running.stop()


def scene_of(session):
    return session.frame.picture.scene


def test_undo_brings_back_a_material_that_was_written(session):
    session.save_point().result()
    session.do(lambda sim: setattr(sim["floor"], "material", rb.Material(0.9, 0.5))).result()
    assert scene_of(session)["floor"].material == rb.Material(0.9, 0.5)
    session.undo().result()
    assert session.do(lambda sim: sim["floor"].material).result() == [rb.Material(0.4, 0.0)] * 2


def test_undo_brings_back_the_rates_of_a_velocity_joint(session):
    session.save_point().result()
    session.do(lambda sim: setattr(sim["drive"], "linear", (2.0, None, None))).result()
    session.undo().result()
    assert session.do(lambda sim: sim["drive"].linear).result() == [(0.5, None, None)] * 2
    session.do(lambda sim: sim.step(5)).result()
    assert session.frame.picture.velocity[1][0] == pytest.approx(0.5, abs=1e-6)


def test_what_follows_a_save_point_is_bit_for_bit_what_it_was_before_the_edit(session):
    session.do(lambda sim: sim.step(10)).result()
    session.save_point().result()
    first = session.do(lambda sim: (sim.step(20), sim.hash())[1]).result()
    session.undo().result()
    session.save_point().result()
    session.do(lambda sim: setattr(sim["box"], "material", rb.Material(0.0))).result()
    session.undo().result()
    assert session.do(lambda sim: (sim.step(20), sim.hash())[1]).result() == first


def test_undo_without_an_edit_builds_nothing_anew(session):
    models = session.do(lambda sim: sim.model).result()
    version = session.frame.version
    session.save_point().result()
    session.step(5).result()
    session.undo().result()
    assert all(model is sim.model for model, sim in zip(models, session.sims, strict=True))
    assert session.frame.version == version


def test_reset_goes_back_to_the_start_and_keeps_what_was_edited(session):
    start = session.frame.picture.position
    session.step(5).result()
    session.rebuild(lambda scene: _with(scene, mass=7.0)).result()
    session.do(lambda sim: setattr(sim["box"], "material", rb.Material(0.1))).result()
    session.reset().result()
    box = scene_of(session)["box"]
    assert (box.mass, box.material) == (7.0, rb.Material(0.1))
    assert session.frame.time == 0.0
    assert np.array_equal(session.frame.picture.position, start)
    session.undo().result()
    assert scene_of(session)["box"].mass == 1.0


def _with(scene, **changes):
    made = scene.copy()
    made.change_body("box", **changes)
    return made


def test_a_change_is_a_save_point_and_one_that_is_refused_leaves_all_simulations_as_they_were(session):
    def change(sim):
        sim["box"].velocity = (0, 3, 0)
        sim["box"].material = rb.Material(0.7)
        if sim is session.sims[1]:
            raise rb.InputError("The second one will not.")

    with pytest.raises(rb.InputError, match="will not"):
        session.change(change).result()
    assert session.frame.save_points == 0
    assert (
        session.do(lambda sim: (float(sim["box"].velocity[1]), sim["box"].material)).result()
        == [(0.0, rb.Material())] * 2
    )
    session.change(lambda sim: setattr(sim["box"], "velocity", (0, 3, 0))).result()
    assert session.frame.save_points == 1
    session.undo().result()
    assert session.do(lambda sim: float(sim["box"].velocity[1])).result() == [0.0, 0.0]


def test_a_scene_that_does_not_compile_in_one_simulation_is_taken_by_none(session):
    hashes = session.do(lambda sim: sim.hash()).result()
    scenes = [id(sim.scene) for sim in session.sims]

    def edit(scene):
        if id(scene) == scenes[1]:
            raise rb.InputError("Not this one.")
        return _with(scene, mass=9.0)

    with pytest.raises(rb.InputError, match="Not this one"):
        session.rebuild(edit).result()
    assert session.do(lambda sim: sim["box"].mass).result() == [1.0, 1.0]
    assert session.do(lambda sim: sim.hash()).result() == hashes


def test_an_edit_and_a_command_are_one_save_point(session):
    session.rebuild(lambda scene: _with(scene, mass=2.0), lambda sim: sim["box"].apply_impulse((0, 4, 0))).result()
    assert session.frame.save_points == 1
    assert session.frame.picture.velocity[1][1] == pytest.approx(2.0)
    session.undo().result()
    assert session.frame.picture.velocity[1][1] == 0.0
    assert scene_of(session)["box"].mass == 1.0


@pytest.mark.parametrize(
    "edit",
    [
        lambda scene: scene.change_body("box", mass=2.0),
        lambda scene: scene.change_joint("drive", linear=(1.0, None, None)),
        lambda scene: scene.change_force("air", linear=0.2),
        lambda scene: scene.remove_force("air"),
        lambda scene: scene.combine(friction="max"),
        lambda scene: scene.exclude("box", "floor"),
        lambda scene: setattr(scene, "gravity", np.zeros(3)),
        lambda scene: scene.add_body(rb.Sphere(0.1)),
    ],
)
def test_every_edit_makes_another_scene(edit):
    scene = belt()
    twin = scene.copy()
    assert says_the_same(scene, twin)
    edit(twin)
    assert not says_the_same(scene, twin)


def test_a_save_point_holds_a_scene_of_its_own():
    sim = rb.Simulation(belt())
    point = save_point([sim])
    sim["floor"].material = rb.Material(0.9)
    assert point.moments[0][0]["floor"].material == rb.Material(0.4, 0.0)
    assert point.restore([sim])
    assert not point.restore([sim])
