"""Arrays of the state without a copy: the same memory in NumPy, torch and JAX, and writing there is a write."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts


def two_balls(worlds: int | None = 3, **settings: Any) -> rb.Simulation:
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Sphere(0.1), density=500.0, position=(0, 0, 1), name="low")
    scene.add_body(rb.Sphere(0.1), density=500.0, position=(0, 0, 2), name="high")
    return rb.Simulation(scene, worlds=worlds, **settings)


def of_numpy(array: Any) -> tuple[int, Any]:
    shared = np.from_dlpack(array) if array.device.is_cpu else pytest.skip("NumPy has no arrays on CUDA")
    return shared.ctypes.data, shared.shape


def of_torch(array: Any) -> tuple[int, Any]:
    torch = pytest.importorskip("torch", reason="needs torch: pip install torch")
    shared = torch.from_dlpack(array)
    return shared.data_ptr(), tuple(shared.shape)


def of_jax(array: Any) -> tuple[int, Any]:
    jax = pytest.importorskip("jax", reason="needs JAX: pip install jax")
    jax.config.update("jax_enable_x64", True)
    try:
        shared = jax.dlpack.from_dlpack(array)
    except RuntimeError as error:
        pytest.skip(f"this JAX has no such device: {error}")
    return shared.unsafe_buffer_pointer(), shared.shape


@pytest.mark.parametrize("library", [of_numpy, of_torch, of_jax])
def test_libraries_share_the_memory_of_the_state(library: Callable[[Any], Any], device: str) -> None:
    sim = two_balls(device=device)
    assert library(sim.state.array("position")) == (sim.state.motion.position.ptr, (3, 3, 3))
    assert library(sim.state.array("orientation")) == (sim.state.motion.orientation.ptr, (3, 3, 4))
    assert library(sim.state.array("time")) == (sim.state.clock.time.ptr, (3,))


def test_an_array_shows_every_step_and_reset_without_being_taken_anew(device: str) -> None:
    sim = two_balls(device=device)
    shared = sim.state.array("velocity")
    sim.step(10)
    assert np.array_equal(shared.numpy(), sim.state.velocity)
    sim.reset([1])
    assert not shared.numpy()[1].any()
    assert two_balls(None).state.array("position").shape == (3, 3)
    assert sim.state.array("joints.highest").shape == (3, 1)


@pytest.mark.parametrize("sleep", [False, True])
def test_writing_to_an_array_is_a_write_like_any_other(sleep: bool) -> None:
    """Equal bits with what is written in the usual way, in contact too, and other worlds stay as they are."""
    usual, shared, alone = (two_balls(sleep=sleep, warn=False) for _ in range(3))
    for sim in (usual, shared, alone):
        sim.run(1.5)
    usual["low"].velocity = usual["low"].velocity + np.outer([0, 0, 1], [1.0, 0, 2.0])
    velocity = shared.state.array("velocity").numpy()
    velocity[2, 1] += [1.0, 0, 2.0]
    shared.state.changed(worlds=[2])
    for sim in (usual, shared, alone):
        sim.step(20)
    assert np.array_equal(shared.state.position, usual.state.position)
    assert np.array_equal(shared.state.position[:2], alone.state.position[:2])
    assert not np.array_equal(shared.state.position[2], alone.state.position[2])


def test_arrays_read_before_are_records_after_a_change() -> None:
    sim = two_balls()
    before = sim.state.position
    sim.state.array("position").numpy()[:, 1, 2] = 5.0
    sim.state.changed()
    assert sim["low"].position[:, 2].tolist() == [5.0, 5.0, 5.0]
    assert not before.flags.writeable


def test_what_does_not_exist_is_refused() -> None:
    sim = two_balls()
    with pytest.raises(rb.UnknownName, match="The state has no array 'positions'. Did you mean 'position'?"):
        sim.state.array("positions")
    with pytest.raises(rb.InputError, match=r"The mask of worlds has shape \(2,\)"):
        sim.state.changed(worlds=[True, False])
    old = sim.state
    sim.rebuild(sim.scene.copy())
    with pytest.raises(rb.InputError, match="What is said to be changed is of a scene that was rebuilt"):
        old.changed()
