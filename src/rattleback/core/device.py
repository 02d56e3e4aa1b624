"""Devices and kernels: find a device by name, compile the kernels it needs with a visible progress line."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import warp as wp

from rattleback.core.errors import DeviceError, InputError, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Loading cached kernels takes milliseconds; only a compilation lasts long enough for its line to show.
SECONDS_BEFORE_PROGRESS = 0.5
_refuses: ContextVar[bool] = ContextVar("_refuses", default=False)


class NotCompiled(Exception):
    """Kernels would have to be compiled first, inside ``without_compiling``."""


@functools.cache
def start() -> None:
    """Start Warp without its banner; only its errors are shown."""
    wp.config.log_level = wp.LOG_ERROR
    with nullcontext() if _has_driver() else _silent_stderr():
        wp.init()


def _has_driver() -> bool:
    name = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


@contextmanager
def _silent_stderr() -> Iterator[None]:
    """Warp's native library prints a warning when there is no CUDA driver; a machine without one is no fault."""
    sys.stderr.flush()
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def names() -> list[str]:
    """Names of the devices of this machine, the CPU first."""
    start()
    return [device.alias for device in wp.get_devices()]


def find(name: object) -> Any:
    """The device called ``"cpu"``, ``"cuda"`` or ``"cuda:0"``."""
    start()
    if not isinstance(name, str):
        raise InputError(f"device is {name!r}; it must be a name such as 'cpu', 'cuda' or 'cuda:0'.")
    if name.startswith("cuda") and not wp.is_cuda_available():
        raise DeviceError(f"Device {name!r} is not there: no CUDA driver was found. Devices here: {listing(names())}.")
    try:
        return wp.get_device(name)
    except (ValueError, RuntimeError):
        raise DeviceError(f"There is no device {name!r}. Devices here: {listing(names())}.") from None


def memory(device: Any) -> int:
    """Bytes of memory the device has."""
    if device.is_cuda:
        return int(device.total_memory)
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 2**40


def kernel_cache() -> str:
    """Folder that holds the compiled kernels."""
    start()
    return str(wp.config.kernel_cache_dir)


@contextmanager
def without_compiling(refuses: bool = True) -> Iterator[None]:
    """While this is open, kernels of this thread are loaded only; ``False`` lets them be compiled inside it again."""
    token = _refuses.set(refuses)
    try:
        yield
    finally:
        _refuses.reset(token)


def is_compiled(module: Any, device: Any) -> bool:
    """Whether a Warp module is loaded, or its kernels lie in the cache."""
    block = 1 if device.is_cpu else module.options["block_dim"]
    if (device.context, block) in module.execs:
        return True
    folder = Path(kernel_cache()) / module.get_module_identifier(block)
    return (folder / module._get_compile_output_name(device, block_dim=block)).exists()


def load_kernels(modules: Iterable[Any], device: Any, stream: TextIO | None = None) -> float:
    """Compile or load Warp modules, two at a time, with a progress line if it takes a while.

    Returns:
        Seconds it took [s].

    Raises:
        NotCompiled: A module is not compiled yet, inside ``without_compiling``.
    """
    begun, waiting = time.perf_counter(), list(dict.fromkeys(modules))
    if _refuses.get() and not all(is_compiled(module, device) for module in waiting):
        raise NotCompiled
    line = _ProgressLine(len(waiting), device, stream or sys.stderr)
    # Warp compiles a module for one number of threads in a block; on a CPU, launches have blocks of one.
    block = {"block_dim": 1} if device.is_cpu else {}
    with line, ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        for future in as_completed([pool.submit(module.load, device, **block) for module in waiting]):
            future.result()
            line.count += 1
    return time.perf_counter() - begun


def own_modules() -> list[Any]:
    """Every Warp module of the rooms imported so far."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("rattleback"):
            for thing in vars(module).values():
                if isinstance(thing, wp.Kernel):
                    found[thing.module.name] = thing.module
    return list(found.values())


class _ProgressLine:
    """One line on a terminal or log that says how far the compilation is; silent when it is quick."""

    def __init__(self, total: int, device: Any, stream: TextIO) -> None:
        self.total, self.device, self.stream, self.count = total, device, stream, 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)
        self._begun = time.perf_counter()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _show(self) -> None:
        head = f"Compiling kernels for {self.device} (once per machine):"
        shown, live = False, self.stream.isatty()
        while not self._done.wait(SECONDS_BEFORE_PROGRESS):
            if live or not shown:
                self.stream.write(
                    f"{chr(13) if live else ''}{head} {self.count} of {self.total}{'' if live else chr(10)}"
                )
                self.stream.flush()
            shown = True
        if shown:
            seconds = time.perf_counter() - self._begun
            self.stream.write(f"{chr(13) if live else ''}{head} {self.total} of {self.total}, {seconds:.1f} s\n")
            self.stream.flush()
