"""Devices and kernels: found by name, compiled with a line that shows, silent when there is nothing to say."""

import io
import os
import subprocess
import sys
import time

import pytest

from rattleback.core import device, stages
from rattleback.core.errors import DeviceError, InputError


def test_the_cpu_is_always_there() -> None:
    assert device.find("cpu").is_cpu
    assert device.names()[0] == "cpu"


def test_a_device_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(DeviceError, match="There is no device 'tpu'. Devices here: 'cpu'"):
        device.find("tpu")
    with pytest.raises(DeviceError, match="'cuda:99'"):
        device.find("cuda:99")


def test_a_device_is_a_name() -> None:
    with pytest.raises(InputError, match="device is 0; it must be a name such as 'cpu', 'cuda' or 'cuda:0'"):
        device.find(0)


class SlowModule:
    """Takes long enough for the progress line to show."""

    def load(self, _device: object, block_dim: int) -> None:
        time.sleep(2.2 * device.SECONDS_BEFORE_PROGRESS)


class QuickModule:
    def load(self, _device: object, block_dim: int) -> None: ...


class BrokenModule:
    def load(self, _device: object, block_dim: int) -> None:
        raise RuntimeError("the compiler is out of order")


def test_a_slow_compilation_shows_how_far_it_is() -> None:
    stream = io.StringIO()
    seconds = device.load_kernels([SlowModule(), QuickModule()], device.find("cpu"), stream)
    assert seconds > 2 * device.SECONDS_BEFORE_PROGRESS
    first, last = stream.getvalue().strip().splitlines()
    assert first == "Compiling kernels for cpu (once per machine): 1 of 2"
    assert last.startswith("Compiling kernels for cpu (once per machine): 2 of 2, 1.")


def test_loading_from_the_cache_says_nothing() -> None:
    stream = io.StringIO()
    device.load_kernels([QuickModule()], device.find("cpu"), stream)
    assert stream.getvalue() == ""


def test_a_failed_compilation_is_not_hidden() -> None:
    with pytest.raises(RuntimeError, match="out of order"):
        device.load_kernels([BrokenModule()], device.find("cpu"), io.StringIO())


def test_importing_and_stepping_print_nothing() -> None:
    code = (
        "import rattleback as rb; s = rb.Scene(); s.add_body(rb.Sphere(1)); sim = rb.Simulation(s); sim.step();"
        "print(sim.time)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0.01\n"
    assert "Warp" not in done.stderr


def test_the_precision_switch_takes_two_words() -> None:
    words = "RATTLEBACK_PRECISION is 'half'; it may be 'double' or 'single'."
    environment = dict(os.environ, RATTLEBACK_PRECISION="half")
    for call in (["-c", "import rattleback; rattleback.Scene()"], ["-m", "rattleback", "run", "torque_free"]):
        done = subprocess.run([sys.executable, *call], capture_output=True, text=True, env=environment, check=False)
        assert words in done.stderr
        assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_single_precision_runs_every_integrator_to_its_own_digits() -> None:
    code = """
import numpy as np, rattleback as rb
for name in rb.integrators.MENU:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 2, 3), velocity=(1, 2, 3), angular_velocity=(1, 2, 3), name="box")
    integrator = rb.integrators.RK45(error=1e-5) if name == "rk45" else name
    sim = rb.Simulation(scene, time_step=1e-3, integrator=integrator)
    assert sim.state.position.dtype == np.float32
    sim.run(1.0)
    assert sim.report.converged, (name, sim.report)
    assert abs(sim.time - 1.0) < 1e-9
    np.testing.assert_allclose(sim["box"].position, [1, 2, 3 - 0.5 * 9.81], atol=1e-2 if "euler" in name else 1e-4)
    assert abs(sim.momentum().angular @ sim.momentum().angular) > 0
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=dict(os.environ, RATTLEBACK_PRECISION="single"),
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


def test_a_kernel_is_compiled_once_for_the_cpu() -> None:
    asked = []

    class Module:
        def load(self, _device: object, **options: int) -> None:
            asked.append(options)

    device.load_kernels([Module()], device.find("cpu"), io.StringIO())
    assert asked == [{"block_dim": 1}]


def test_without_compiling_kernels_are_loaded_from_memory_or_the_cache_only(monkeypatch, tmp_path) -> None:
    module, cpu = stages.count_down.module, device.find("cpu")
    device.load_kernels([module], cpu)
    with device.without_compiling():
        device.load_kernels([module], cpu)
    monkeypatch.setattr(module, "execs", {})
    assert device.is_compiled(module, cpu)
    monkeypatch.setattr(device, "kernel_cache", lambda: str(tmp_path))
    with device.without_compiling():
        with pytest.raises(device.NotCompiled):
            device.load_kernels([module], cpu)
        with device.without_compiling(False):
            device.load_kernels([module], cpu)
