"""The state as users see it: pictures of a moment, writable until the next step, copied bit for bit."""

import numpy as np
import pytest

import rattleback as rb


def simulation(**settings: object) -> rb.Simulation:
    scene = rb.Scene(gravity=(0, 0, 0))
    for k in range(3):
        scene.add_body(rb.Box(1, 2, 3), position=(k, 0, 0), name="abc"[k], group="all" if k else "first")
    return rb.Simulation(scene, time_step=0.5, **settings)


def test_what_is_written_into_a_picture_reaches_the_simulation(device: str) -> None:
    sim = simulation(device=device)
    sim.state.velocity[1] = (0, 2, 0)
    sim["c"].velocity[2] = 4.0
    sim["a"].position = (9, 9, 9)
    sim.step(2)
    np.testing.assert_allclose(sim.state.position, [[9, 9, 9], [1, 2, 0], [2, 0, 4]])


def test_a_picture_stays_as_it_was_and_becomes_read_only(device: str) -> None:
    sim = simulation(device=device)
    sim["a"].velocity = (1, 0, 0)
    whole, part = sim.state.position, sim["a"].position
    sim.step()
    np.testing.assert_array_equal(part, [0, 0, 0])
    np.testing.assert_array_equal(sim["a"].position, [0.5, 0, 0])
    for stale in (whole, part):
        with pytest.raises(ValueError, match="read-only"):
            stale[...] = 7.0


def test_a_group_is_read_and_written_together() -> None:
    sim = simulation()
    assert sim["all"].position.shape == (2, 3)
    assert sim["all"].names == ["b", "c"]
    np.testing.assert_allclose(sim["all"].mass, [6000, 6000])
    sim["all"].velocity = [(1, 0, 0), (0, 1, 0)]
    np.testing.assert_array_equal(sim.state.velocity, [[0, 0, 0], [1, 0, 0], [0, 1, 0]])


def test_a_body_can_be_named_by_what_add_body_returned() -> None:
    scene = rb.Scene()
    ball = scene.add_body(rb.Sphere(1), position=(1, 2, 3))
    np.testing.assert_array_equal(rb.Simulation(scene)[ball].position, [1, 2, 3])


def test_a_copy_lives_on_its_own_and_restores_every_bit(device: str) -> None:
    sim = simulation(device=device)
    sim["a"].angular_velocity = (1, 2, 3)
    sim.step(3)
    kept, mark = sim.state.copy(), sim.hash()
    sim.step(5)
    assert sim.hash() != mark
    assert kept.hash() == mark
    sim.state = kept
    assert sim.hash() == mark
    assert sim.time == 1.5


def test_a_copy_holds_what_was_written_but_not_yet_stepped(device: str) -> None:
    sim = simulation(device=device)
    sim["a"].velocity = (1, 0, 0)
    kept = sim.state.copy()
    sim["a"].velocity = (0, 0, 0)
    sim.state = kept
    np.testing.assert_array_equal(sim["a"].velocity, [1, 0, 0])


def test_a_changed_bit_changes_the_hash() -> None:
    sim = simulation()
    before = sim.hash()
    sim["a"].position[0] = np.nextafter(0.0, 1.0)
    assert sim.hash() != before


def test_orientations_written_are_brought_to_length_one_or_refused() -> None:
    sim = simulation()
    sim["a"].orientation = np.array([0, 0, 0.6, 0.8]) * (1 + 1e-9)
    sim.step()
    assert abs(np.linalg.norm(sim["a"].orientation) - 1) < 1e-15
    sim["a"].orientation = (0, 0, 1, 1)
    with pytest.raises(rb.InputError, match="An orientation written is not a quaternion of length 1"):
        sim.step()


@pytest.mark.parametrize("value", [(1, 2), "up", (0, 0, float("nan")), None, [[1, 2, 3], [4, 5, 6]]])
def test_nonsense_written_to_a_body_is_refused_at_once(value: object) -> None:
    sim = simulation()
    with pytest.raises(rb.InputError, match="velocity"):
        sim["a"].velocity = value
    np.testing.assert_array_equal(sim["a"].velocity, 0)


def test_what_is_not_finite_in_a_picture_is_refused_at_the_next_step_and_nothing_changes() -> None:
    sim = simulation()
    before = sim.hash()
    sim.state.velocity[1, 2] = np.inf
    with pytest.raises(rb.InputError, match="The velocity written is not finite in row 1; nothing was changed"):
        sim.step()
    assert sim.hash() == before
    sim.step()


def test_a_state_of_another_model_is_refused() -> None:
    sim = simulation()
    with pytest.raises(rb.InputError, match="The state given is of \\(2, 3\\) bodies; this simulation has \\(3,\\)"):
        sim.state = simulation(worlds=2).state.copy()
    with pytest.raises(rb.InputError, match="use what sim.state.copy\\(\\) returned"):
        sim.state = "earlier"


def test_origin_follows_the_frame_of_the_body() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Cone(1.0, 4.0), name="cone")
    sim = rb.Simulation(scene)
    np.testing.assert_allclose(sim["cone"].origin, 0, atol=1e-15)
    sim["cone"].origin = (1, 2, 3)
    np.testing.assert_allclose(sim["cone"].position, [1, 2, 2])


def test_an_impulse_changes_momentum_by_itself() -> None:
    sim = simulation(worlds=2)
    sim["b"].apply_impulse((0, 3, 0), at=(2, 0, 0))
    np.testing.assert_allclose(sim.momentum().linear, [[0, 3, 0]] * 2)
    np.testing.assert_allclose(sim.momentum().angular, [[0, 0, 6]] * 2, atol=1e-12)
    with pytest.raises(rb.InputError, match="The impulse on 'b'"):
        sim["b"].apply_impulse("hard")


def test_an_impulse_cannot_move_a_static_body() -> None:
    scene = rb.Scene()
    scene.add_static(rb.Box(1, 1, 1), name="rock")
    with pytest.raises(rb.InputError, match="'rock' is static; an impulse cannot move it"):
        rb.Simulation(scene)["rock"].apply_impulse((1, 0, 0))


def test_a_view_says_what_it_looks_at() -> None:
    assert repr(simulation()["b"]) == "<'b' at [1. 0. 0.]>"
