"""Mirrors: what the host reads and writes is what kernels see, on every device there is."""

import weakref

import numpy as np
import pytest
import warp as wp

from rattleback.core.mirror import Mirror, seen


def test_what_is_put_is_what_warp_sees(device: str) -> None:
    array = wp.zeros(4, dtype=wp.vec3d, device=device)
    mirror = Mirror(array)
    mirror.put(np.arange(12.0).reshape(4, 3))
    mirror.put([7.0, 8.0, 9.0], [1, 3])
    np.testing.assert_array_equal(array.numpy(), [[0, 1, 2], [7, 8, 9], [6, 7, 8], [7, 8, 9]])


def test_a_look_sees_what_has_changed_since(device: str) -> None:
    array = wp.zeros(3, dtype=wp.int32, device=device)
    mirror = Mirror(array)
    taken = mirror.take()
    array.fill_(5)
    np.testing.assert_array_equal(mirror.look(), 5)
    np.testing.assert_array_equal(taken, 0)


@pytest.mark.parametrize("dtype", [wp.float64, wp.vec3d])
def test_an_empty_array_has_nothing_to_see(device: str, dtype: type) -> None:
    assert len(Mirror(wp.zeros(0, dtype=dtype, device=device)).take()) == 0


def test_an_array_that_was_seen_is_seen_as_it_is_now(device: str) -> None:
    array = wp.zeros(3, dtype=wp.int32, device=device)
    for value in (0, 5, -2):
        array.fill_(value)
        np.testing.assert_array_equal(seen(array), value)


def test_an_array_that_was_seen_goes_when_it_is_let_go() -> None:
    array = wp.zeros(3, dtype=wp.vec3d, device="cpu")
    assert seen(array).shape == seen(array).shape == (3, 3)
    gone = weakref.ref(array)
    del array
    assert gone() is None
