"""Speculative AABBs: kept at rest, so that pairs are not listed again; as wide as needed in motion; small again."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.collision.broadphase.pair_lists import END

STEP = 0.01


def stacks():
    """Four stacks of three cubes on a plane, and a ball that can be thrown at them."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    for x in range(4):
        for z in range(3):
            scene.add_body(rb.Box(1, 1, 1), position=(1.5 * x, 0, 0.5 + z), name=f"cube {x} {z}")
    scene.add_body(rb.Sphere(0.3), position=(-5, 0, 0.3), name="ball")
    return scene


def finder(simulation):
    return simulation._step.contacts.finder


def relisted(simulation):
    """Whether pairs were listed again in the last step."""
    return int(finder(simulation).speculative.margins.changed.numpy()[0]) == 1


def test_at_rest_pairs_are_not_listed_again_and_in_motion_they_are():
    simulation = rb.Simulation(stacks(), time_step=STEP, contacts="impulse")
    simulation.step(20)
    again = []
    for _ in range(10):
        simulation.step()
        again.append(relisted(simulation))
    assert not any(again)
    assert len(simulation.contacts) == 4 * 3 * 4 + 1
    simulation["ball"].velocity = (8.0, 0, 0)
    simulation.step()
    assert relisted(simulation)


def test_a_ball_that_starts_from_rest_is_stopped_by_what_it_meets():
    simulation = rb.Simulation(stacks(), time_step=STEP, contacts="impulse")
    simulation.step(30)
    simulation["ball"].velocity = (8.0, 0, 0)
    ways = []
    for _ in range(80):
        simulation.step()
        ways.append(simulation["ball"].position[0])
    surface = simulation["cube 0 0"].position[0] - 0.5 - 0.3
    assert surface - 0.08 < max(ways) < surface + 1e-3


def test_contacts_do_not_depend_on_boxes_that_were_held():
    simulation = rb.Simulation(stacks(), time_step=STEP, contacts="impulse")
    simulation.step(30)
    simulation["ball"].velocity = (8.0, 0, 0)
    other = rb.Simulation(stacks(), time_step=STEP, contacts="impulse")
    other.state = simulation.state.copy()
    for _ in range(70):
        simulation.step()
        other.step()
    for name in ("position", "orientation", "velocity"):
        np.testing.assert_array_equal(getattr(simulation.state, name), getattr(other.state, name))


@pytest.mark.parametrize(("speed", "seen"), [(1.0, 1), (-1.0, 0), (0.0, 0)])
def test_a_plane_that_turns_is_seen_coming_far_from_its_axis(speed, seen):
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Plane(), angular_velocity=(0, -speed, 0), name="ground")
    scene.add_body(rb.Sphere(0.1), position=(20.0, 0, 0.2), name="ball")
    simulation = rb.Simulation(scene, time_step=STEP, contacts="impulse")
    assert len(simulation.contacts) == seen


def links(simulation):
    """Number of pairs of fat boxes of a sweep."""
    lists = finder(simulation).broad.swept.lists
    head, link = lists.head.numpy(), lists.link.numpy()
    count = 0
    for k in head:
        while k != int(END):
            count, k = count + 1, link[k][1]
    return count


def test_a_sweep_forgets_pairs_of_boxes_that_were_large():
    scene = rb.Scene(gravity=(0, 0, 0))
    for k in range(60):
        scene.add_body(rb.Sphere(0.1), position=(k, 0, 0), velocity=(500.0, 0, 0), name=f"ball {k}")
    simulation = rb.Simulation(scene, time_step=STEP, contacts="impulse", broadphase="sweep")
    simulation.step()
    # Ways of five metres reach five neighbours, fat boxes one more.
    assert links(simulation) >= 5 * 60 - 15
    for k in range(60):
        simulation[f"ball {k}"].velocity = (0, 0, 0)
    simulation.step(2)
    assert links(simulation) == 0
