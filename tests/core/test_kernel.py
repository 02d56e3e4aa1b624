"""Kernels of the house find rows of every type where NumPy does; functions of users may count from the end."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import warp as wp

import rattleback as rb
from rattleback import scenes
from rattleback.core.device import own_modules, start
from rattleback.core.kernel import PLAIN_ROWS, fetch, kernel, lone_kernel
from rattleback.core.node import launches_of
from rattleback.core.precision import mat33, numpy_real, real, vec3
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


def test_every_kernel_is_one_of_the_house() -> None:
    ours = [module for module in own_modules() if module.name.startswith("rattleback.")]
    assert len(ours) > 50
    plain = [module.name for module in ours if module.options["extra_build_options"] is None]
    assert not plain
    builds = [module.options["extra_build_options"] for module in ours]
    assert all(build.extra_cpu_preamble == build.extra_cuda_preamble == PLAIN_ROWS for build in builds)
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
