"""Pictures of an environment, drawn with what is made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rattleback.gym.worlds import Worlds

SIZE = (480, 360)


class Drawing:
    """Draws the first world, always from the same place.

    Args:
        worlds: The worlds.
        mode: ``"rgb_array"``, or None for no pictures.
    """

    def __init__(self, worlds: Worlds, mode: str | None) -> None:
        if mode not in (None, "rgb_array"):
            raise InputError(f"The render_mode is {mode!r}; it must be 'rgb_array' or None.")
        self._worlds, self._mode = worlds, mode
        self._renderer: Any = None
        self._stand: Any = None

    def draw(self) -> NDArray[np.uint8] | None:
        """A picture (height, width, 3); None without a mode."""
        if self._mode is None:
            return None
        from rattleback.recording.snapshot import snapshot_of

        snapshot = snapshot_of(self._worlds.simulation)
        if self._renderer is None:
            self._open(snapshot)
        drawn: NDArray[np.uint8] = self._renderer.draw(snapshot, self._stand)
        return drawn

    def close(self) -> None:
        """Give back what it draws in."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _open(self, snapshot: Any) -> None:
        from rattleback.recording.look import Appearance
        from rattleback.recording.renderer import Renderer
        from rattleback.recording.still import check_camera, depth_of

        self._renderer = Renderer(SIZE, Appearance(samples=1))
        camera = check_camera(self._worlds.task.camera)
        self._stand = self._renderer.aim(camera, [snapshot], depth_of(self._worlds.simulation))
