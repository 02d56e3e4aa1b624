"""Glances at arrays: the same numbers as NumPy sees, on every device there is."""

import numpy as np
import pytest
import warp as wp

from rattleback.core import host_read

pytestmark = pytest.mark.parametrize("device", [pytest.param("cpu"), pytest.param("cuda", marks=pytest.mark.cuda)])


@pytest.mark.parametrize(("dtype", "value"), [(wp.int32, -7), (wp.int64, 2**40), (wp.float64, 0.1)])
def test_the_first_entry_is_that_of_numpy(device, dtype, value):
    array = wp.array([value, 1], dtype=dtype, device=device)
    assert host_read.first(array) == value
    assert type(host_read.first(array)) is type(value)


def test_the_first_entry_is_set(device):
    array = wp.zeros(1, dtype=wp.int32, device=device)
    host_read.set_first(array, 5)
    assert array.numpy().tolist() == [5]


@pytest.mark.parametrize("values", [[0, 0, 0], [0, 0, 1], [-1, 0, 0], []])
def test_an_entry_that_is_set_is_seen(device, values):
    array = wp.array(np.array(values, dtype=np.int32), dtype=wp.int32, device=device)
    assert host_read.watching(array)() is any(values)


def test_all_entries_are_cleared(device):
    full = [wp.full(count, 3.5, dtype=dtype, device=device) for count, dtype in ((4, wp.float64), (3, wp.vec3d))]
    empty = wp.zeros(0, dtype=wp.int32, device=device)
    clear = host_read.clearing(*full, empty)
    for _ in range(2):
        clear()
        assert not any(array.numpy().any() for array in full)
        for array in full:
            array.fill_(2.0)
