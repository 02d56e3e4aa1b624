"""Bodies on one pin that overlap there do not collide; what does not overlap, slides or is allowed does."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.collision.geometry.pinned import pinned_pairs

pytestmark = pytest.mark.contacts


def branches(angle=0.3, common="stem", joint=rb.Ball):
    """Two bars that hang down from one point of a common body, at an angle to either side of it."""
    scene = rb.Scene()
    scene.add_body(rb.Capsule(0.01, 0.2), mass=0.1, position=(0, 0, 0.1), name="stem")
    scene.add_joint(rb.Ball(scene.world, "stem", at=(0, 0, 0.2)))
    for name, turn in (("left", angle), ("right", -angle)):
        way = np.array([np.sin(turn), 0, -np.cos(turn)])
        place = {"position": 0.1 * way, "orientation": rb.rotation.quaternion_from_axis_angle((0, 1, 0), -turn)}
        scene.add_body(rb.Capsule(0.01, 0.2), mass=0.1, name=name, **place)
        scene.add_joint(joint(scene.world if common == "world" else common, name, at=(0, 0, 0)))
    return scene


@pytest.mark.parametrize("common", ["stem", "world"])
@pytest.mark.parametrize("joint", [rb.Ball, rb.Revolute, rb.Fixed])
def test_branches_that_overlap_at_their_pin_do_not_collide(common, joint):
    scene = branches(common=common, joint=joint)
    assert pinned_pairs(scene, set()) == {(1, 2)}
    assert pinned_pairs(scene, {(1, 2)}) == set()


def test_a_joint_by_frames_pins_where_its_frame_is():
    scene = branches()
    scene.remove_joint(list(scene.joints)[-1])
    up = np.array((0, 0, 0, 1))
    scene.add_joint(rb.Ball("stem", "right", frame_a=((0, 0, -0.1), up), frame_b=((0, 0, 0.1), up)))
    assert pinned_pairs(scene, set()) == {(1, 2)}


def test_branches_that_are_apart_or_slide_or_are_allowed_collide():
    assert pinned_pairs(branches(joint=rb.Prismatic), set()) == set()
    scene = branches()
    scene.allow("right", "left")
    assert pinned_pairs(scene, set()) == set()
    scene = branches()
    scene.change_body("left", position=(-0.5, 0, -0.1))
    assert pinned_pairs(scene, set()) == set()


def test_links_next_but_one_collide_also_where_they_overlap():
    scene = rb.Scene()
    for k in range(3):
        scene.add_body(rb.Sphere(0.15), mass=1.0, position=(0.1 * k, 0, 0), name=f"b{k}")
        if k:
            scene.add_joint(rb.Ball(f"b{k - 1}", f"b{k}", at=(0.1 * k - 0.05, 0, 0)))
    assert pinned_pairs(scene, set()) == set()


def test_a_tree_that_hangs_in_equilibrium_stays_there_without_contacts():
    scene = branches(angle=0.0)
    sim = rb.Simulation(scene, time_step=1 / 60)
    start = sim.state.position.copy()
    sim.step(30)
    assert len(sim.contacts.point) == 0
    np.testing.assert_allclose(sim.state.position, start, atol=1e-9)
