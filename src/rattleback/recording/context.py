"""Where pictures are drawn: an OpenGL context without a window, by EGL, on a GPU or, without one, in software.

Nothing needs to be plugged in: where there is no GPU, Mesa draws on the CPU (llvmpipe).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from rattleback.core.errors import DeviceError

NO_PACKAGE = "Pictures and films need {package}, which is not installed: pip install 'rattleback[video]'."
NO_EGL = (
    "Pictures are drawn by OpenGL through EGL, and this machine has none that works ({reason}); "
    "on Debian or Ubuntu install libegl1 and libgl1-mesa-dri, which need no GPU."
)
LEAST_VERSION = 330


def open_context() -> Any:
    """A new OpenGL context that draws to memory.

    Raises:
        DeviceError: moderngl or EGL is missing; the sentence says what to install.
    """
    try:
        import moderngl
    except ImportError:
        raise DeviceError(NO_PACKAGE.format(package="moderngl")) from None
    reason = ""
    # The plain names belong to the packages of developers; those with a number are always there.
    plain: dict[str, Any] = {"standalone": True, "backend": "egl", "require": LEAST_VERSION}
    for settings in (plain, {**plain, "libgl": "libGL.so.1", "libegl": "libEGL.so.1"}):
        try:
            return moderngl.create_context(**settings)
        except Exception as error:  # glcontext raises plain exceptions
            reason = reason or _short(error)
    raise DeviceError(NO_EGL.format(reason=reason))


def close_context(context: Any) -> None:
    """Give back a context and all that was made in it."""
    context.gc_mode = "context_gc"
    with suppress(Exception):
        context.gc()
    context.release()


def _short(error: Exception) -> str:
    said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return said if len(said) <= 80 else f"{said[:77]}..."
