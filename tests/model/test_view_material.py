"""The material of a body of a running simulation is read and changed between steps."""

import re

import numpy as np
import pytest

import rattleback as rb
from rattleback.core import arrays
from rattleback.core.precision import epsilon

ICE, RUBBER = rb.Material(0.02), rb.Material(0.9, 0.7, rolling_friction=0.01, surface_velocity=(0, 0.5, 0))


@pytest.fixture
def scene():
    made = rb.Scene()
    made.add_static(rb.Plane(), name="floor", material=ICE)
    for name in "abc":
        made.add_body(rb.Sphere(0.1), name=name, group="balls" if name != "a" else "first")
    return made


def kinds(sim):
    return sim.model.surfaces.kind.numpy().tolist()


def friction(sim):
    return sim.model.surfaces.static_friction.numpy().tolist()


def test_a_body_tells_its_material_and_a_group_a_list(scene):
    sim = rb.Simulation(scene)
    assert sim["floor"].material == ICE
    assert sim["balls"].material == [rb.Material(), rb.Material()]


def test_a_written_material_holds_in_every_world_and_leaves_other_bodies_alone(scene):
    sim = rb.Simulation(scene, worlds=2)
    sim["b"].material = RUBBER
    assert sim["b"].material == RUBBER
    assert sim["balls"].material == [RUBBER, rb.Material()]
    np.testing.assert_allclose(friction(sim), [0.02, 0.5, 0.9, 0.5] * 2, rtol=epsilon)
    assert sim.model.surfaces.velocity.numpy()[[2, 6]].tolist() == [[0, 0.5, 0]] * 2


def test_a_material_written_to_a_group_holds_for_all_its_members(scene):
    sim = rb.Simulation(scene)
    sim["balls"].material = RUBBER
    assert sim["balls"].material == [RUBBER, RUBBER]
    assert [body.material for body in sim.scene.groups["balls"]] == [RUBBER, RUBBER]
    assert sim["a"].material == rb.Material()
    np.testing.assert_allclose(friction(sim), [0.02, 0.5, 0.9, 0.9], rtol=epsilon)


def test_the_place_in_the_table_of_pairs_follows_the_material(scene):
    scene.pair(ICE, RUBBER, friction=0.1)
    sim = rb.Simulation(scene)
    row = sim.model.kinds
    assert kinds(sim) == [row.of(ICE, 0), -1, -1, -1]
    sim["a"].material = RUBBER
    assert kinds(sim) == [row.of(ICE, 0), row.of(RUBBER, 0), -1, -1]
    sim["floor"].material = rb.Material(0.03)
    assert kinds(sim) == [-1, row.of(RUBBER, 0), -1, -1]


def test_a_pair_said_to_the_scene_of_a_simulation_cannot_disturb_its_table(scene):
    scene.pair(ICE, RUBBER, friction=0.1)
    sim = rb.Simulation(scene)
    sim.scene.pair(rb.Material(3.0), rb.Material(4.0), friction=0.2)
    sim["a"].material = rb.Material(4.0)
    assert kinds(sim)[1] == -1


def test_the_scene_and_other_simulations_of_it_keep_their_materials(scene):
    first, second = rb.Simulation(scene), rb.Simulation(scene)
    first["a"].material = RUBBER
    assert scene["a"].material == second["a"].material == rb.Material()
    np.testing.assert_allclose(friction(second), [0.02, 0.5, 0.5, 0.5], rtol=epsilon)


def test_arrays_stay_where_they_are_and_the_simulation_goes_on(scene):
    sim = rb.Simulation(scene)
    sim.step()
    places = [array.ptr for _, array in arrays.each(sim.model.surfaces)]
    sim[scene["a"]].material = RUBBER
    assert [array.ptr for _, array in arrays.each(sim.model.surfaces)] == places
    sim.step()
    assert sim["a"].material == RUBBER
    assert sim["a"].mass == scene["a"].mass


@pytest.mark.parametrize("wrong", [0.5, None, "ice", rb.Material, [ICE, ICE], np.zeros(3)])
def test_what_is_not_a_material_is_refused_and_nothing_changes(scene, wrong):
    sim = rb.Simulation(scene)
    shown = re.escape(" ".join(repr(wrong).split())[:57])
    words = (
        rf"The material written to 'balls' is {shown}.*; it must be a Material, such as rb\.Material\(friction=0\.4\)\."
    )
    with pytest.raises(rb.InputError, match=words):
        sim["balls"].material = wrong
    assert sim["balls"].material == [rb.Material(), rb.Material()]


def test_a_saved_simulation_comes_back_with_the_material_it_had(scene, tmp_path):
    scene.pair(ICE, RUBBER, friction=0.1)
    scene.combine(friction="max")
    sim = rb.Simulation(scene)
    sim["b"].material = RUBBER
    sim.step()
    sim.save(tmp_path / "x.rb.npz")
    again = rb.load(tmp_path / "x.rb.npz")
    assert again["b"].material == RUBBER
    own = arrays.read(sim.model.surfaces)
    assert all((own[name] == array).all() for name, array in arrays.read(again.model.surfaces).items())
    assert (again.scene.rules, again.scene.pairs) == (scene.rules, scene.pairs)
