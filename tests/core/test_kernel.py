"""Kernels of the package find rows where NumPy does and loop as Python does; those of users may count from the end."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import warp as wp

import rattleback as rb
from rattleback import scenes
from rattleback.core.device import own_modules, start
from rattleback.core.kernel import fetch, kernel, lone_kernel
from rattleback.core.node import launches_of
from rattleback.core.precision import mat33, numpy_real, real, vec3
from rattleback.core.warp_preamble import PREAMBLE
from rattleback.model.model import Bodies
from rattleback.model.state import Motion

KINDS = [(wp.int8, ()), (wp.int32, ()), (wp.int64, ()), (real, ()), (vec3, (3,)), (mat33, (3, 3))]


def pick(kind: Any) -> Any:
    @lone_kernel
    def take(source: wp.array(dtype=kind), row: wp.array[wp.int32], target: wp.array(dtype=kind)) -> None:
        target[wp.tid()] = source[row[wp.tid()]]

    return take


start()
PICKS = {kind: pick(kind) for kind, _ in KINDS}


@pytest.mark.parametrize(("kind", "shape"), KINDS)
def test_rows_are_those_of_numpy(kind: Any, shape: tuple[int, ...], device: str) -> None:
    rows = np.random.default_rng(1).integers(0, 7, 200)
    values = np.arange(7 * int(np.prod(shape))).reshape(7, *shape)
    source, row = (wp.array(given, dtype=of, device=device) for given, of in ((values, kind), (rows, wp.int32)))
    target = wp.zeros(len(rows), dtype=kind, device=device)
    wp.launch(PICKS[kind], len(rows), [source, row, target], device=device)
    assert np.array_equal(target.numpy(), values[rows])


@kernel
def turn_round(table: wp.array2d[real], out: wp.array2d[real]) -> None:
    i, j = wp.tid()
    out[j, i] = table[i, j]


def test_arrays_of_two_axes_may_have_gaps(device: str) -> None:
    table = np.arange(24.0, dtype=numpy_real).reshape(4, 6)
    whole = wp.array(table, dtype=real, device=device)
    out = wp.zeros((3, 4), dtype=real, device=device)
    wp.launch(turn_round, (4, 3), [whole[:, ::2], out], device=device)
    assert np.array_equal(out.numpy(), table[:, ::2].T)


@kernel
def double(rows: wp.array[vec3], names: wp.array[wp.int32]) -> None:
    i = wp.tid()
    fetch(rows, i + 4)
    fetch(names, i + 1000000)
    rows[i] = real(2.0) * rows[i]


def test_rows_may_be_asked_for_before_they_are_read_also_where_there_are_none(device: str) -> None:
    values = np.random.default_rng(2).standard_normal((50, 3)).astype(numpy_real)
    rows, names = wp.array(values, dtype=vec3, device=device), wp.zeros(50, dtype=wp.int32, device=device)
    wp.launch(double, 50, [rows, names], device=device)
    assert np.array_equal(rows.numpy(), 2.0 * values)
    assert not names.numpy().any()


@kernel
def count(
    first: wp.array[wp.int32], end: wp.array[wp.int32], step: wp.array[wp.int32], digits: wp.array[wp.int64]
) -> None:
    k = wp.tid()
    found = wp.int64(0)
    for i in range(first[k], end[k], step[k]):
        for _twice in range(2):
            found = found * wp.int64(7) + wp.int64(i + 20)
    for i in range(first[k], end[k]):
        if i == 3:
            continue
        if i > 5:
            break
        found = found * wp.int64(7) + wp.int64(i)
    digits[k] = found


def digits(first: int, end: int, step: int) -> int:
    """What the kernel above counts."""
    twice = [i + 20 for i in range(first, end, step) for _ in range(2)]
    once = [i for i in range(first, end) if i != 3 and i <= 5]
    found = 0
    for value in twice + once:
        found = (found * 7 + value + 2**63) % 2**64 - 2**63
    return found


def test_loops_go_as_those_of_python(device: str) -> None:
    ranges = [(first, end, step) for first in range(-3, 9, 2) for end in range(-9, 12, 2) for step in (-3, -1, 1, 2, 5)]
    given = [wp.array(column, dtype=wp.int32, device=device) for column in zip(*ranges, strict=True)]
    found = wp.zeros(len(ranges), dtype=wp.int64, device=device)
    wp.launch(count, len(ranges), [*given, found], device=device)
    assert found.numpy().tolist() == [digits(*one) for one in ranges]


@kernel
def compare(a: wp.array[real], b: wp.array[real], most: wp.array[vec3], least: wp.array[vec3]) -> None:
    k = wp.tid()
    i = wp.max(int(a[k]), int(b[k]))
    j = wp.min(int(a[k]), int(b[k]))
    v = vec3(a[k], b[k], real(0.0))
    most[k] = vec3(wp.max(a[k], b[k]), real(i), wp.max(v))
    least[k] = vec3(wp.min(a[k], b[k]), real(j), wp.min(wp.max(v, -v)))


def test_larger_and_smaller_numbers_are_those_of_numpy(device: str) -> None:
    values = np.array([-3.0, -0.5, 0.0, 1e-30, 2.0, 7.5], dtype=numpy_real)
    a, b = (grid.ravel() for grid in np.meshgrid(values, values))
    given = [wp.array(column, dtype=real, device=device) for column in (a, b)]
    most, least = (wp.zeros(len(a), dtype=vec3, device=device) for _ in range(2))
    wp.launch(compare, len(a), [*given, most, least], device=device)
    whole = np.trunc(np.stack([a, b]))
    expected = np.stack([np.maximum(a, b), whole.max(axis=0), np.maximum(np.maximum(a, b), 0.0)], axis=1)
    assert np.array_equal(most.numpy(), expected)
    expected = np.stack([np.minimum(a, b), whole.min(axis=0), np.zeros(len(a))], axis=1)
    assert np.array_equal(least.numpy(), expected)


def test_of_two_values_one_of_which_is_no_number_the_second_is_taken(device: str) -> None:
    lost = np.nan
    given = [wp.array(column, dtype=real, device=device) for column in ([lost, 1.0], [1.0, lost])]
    most, least = (wp.zeros(2, dtype=vec3, device=device) for _ in range(2))
    wp.launch(compare, 2, [*given, most, least], device=device)
    for found in (most, least):
        assert np.array_equal(found.numpy()[:, 0], [1.0, lost], equal_nan=True)


def test_every_kernel_has_the_preamble_and_no_backward_pass() -> None:
    ours = [module for module in own_modules() if module.name.startswith("rattleback.")]
    assert len(ours) > 50
    plain = [module.name for module in ours if module.options["extra_build_options"] is None]
    assert not plain
    builds = [module.options["extra_build_options"] for module in ours]
    assert all(build.extra_cpu_preamble == build.extra_cuda_preamble == PREAMBLE for build in builds)
    kernels = [made for module in ours for made in module.kernels.values()]
    assert not [made.key for made in kernels if made.options["enable_backward"] is not False]


def arrays_in(given: Any) -> Iterator[Any]:
    """The arrays that a kernel is given, those inside structs too."""
    if isinstance(given, wp.array):
        yield given
    for name in getattr(getattr(given, "_cls", None), "vars", ()):
        yield from arrays_in(getattr(given, name))


@pytest.mark.contacts
@pytest.mark.parametrize("scene", [scenes.ragdoll_on_stairs, lambda: scenes.wall(3)])
def test_no_array_of_a_step_has_gaps(scene: Any, device: str) -> None:
    program = rb.Simulation(scene(), device=device, sleep=True)._step.program
    nodes = [node for stage in program.stages.values() for node in stage]
    found = [array for launch in launches_of(nodes) for given in launch.inputs for array in arrays_in(given)]
    assert len(found) > 1000
    assert all(array.is_contiguous for array in found)


@wp.func
def pulled_by_the_last(time: wp.float64, i: int, bodies: Bodies, motion: Motion) -> tuple[vec3, vec3]:
    return motion.position[-1] - motion.position[i], vec3()


def test_functions_of_users_may_count_from_the_end(device: str) -> None:
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    for name, x in (("a", 0.0), ("b", 1.0), ("c", 3.0)):
        scene.add_body(rb.Sphere(0.1), name=name, mass=1.0, position=(x, 0.0, 0.0), collision=())
    scene.add_force(rb.WarpForce(pulled_by_the_last, bodies="a"))
    sim = rb.Simulation(scene, time_step=1e-3, device=device)
    sim.step(1000)
    # x'' = 3 − x from rest
    assert sim["a"].position[0] == pytest.approx(3.0 - 3.0 * np.cos(1.0), rel=1e-5)
