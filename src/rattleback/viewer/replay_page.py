"""Replays: a run as one HTML file with the bodies and a play bar, which needs nothing but a browser.

rb.replay_page(sim, "run.html", duration=5.0)
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks, whole_file
from rattleback.core.errors import InputError
from rattleback.recording.files import check_suffix
from rattleback.simulation import Simulation
from rattleback.viewer.door import LOCAL_ADDRESS
from rattleback.viewer.drawing.lookout import Lookout
from rattleback.viewer.frame import Frame, take_picture
from rattleback.viewer.front import Front
from rattleback.viewer.gate import Gate
from rattleback.viewer.server import make_server, stop_server

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from rattleback.viewer.frame import Picture

SUFFIXES = (".html",)
# Binary digits of places, beside the farthest one, and of quaternions: more than a screen shows.
PLACE_BITS, TURN_BITS = 15, 14


def replay_page(sim: Simulation, path: str | PathLike[str], duration: float, rate: float = 30.0) -> None:
    """Run a simulation and write what it does as one HTML file.

    Args:
        sim: The simulation; it is ``duration`` later afterwards.
        path: Where to; its name ends with ``.html``.
        duration: How long to run [s].
        rate: Pictures in a simulated second.
    """
    checks.instance(sim, Simulation, "What is replayed", "rb.Simulation(scene)")
    target = check_suffix(path, SUFFIXES, "a replay")
    length, rate = sim.check_duration(duration), checks.positive(rate, "The rate of a replay")
    count = max(1, math.ceil(length * rate - 1e-9))
    frames = [_still(sim, 0)]
    for number in range(1, count + 1):
        sim.run(length / count)
        frames.append(_still(sim, number))
    whole_file.write(target, compose(frames).encode(), "replay")


def compose(frames: Sequence[Frame]) -> str:
    """A page that shows frames one after the other, as far apart as they were in simulated time.

    Args:
        frames: The frames, all of one scene.

    Raises:
        InputError: There are none.
    """
    if not frames:
        raise InputError("There is nothing to replay yet; record while the simulation runs.")
    stage = _Stage(frames[0])
    try:
        return stage.play(frames)
    finally:
        stop_server(stage.server)


class _Stage:
    """Stands in for a window without clients: it has what the parts that draw need.

    Args:
        frame: The first frame.
    """

    def __init__(self, frame: Frame) -> None:
        from rattleback.viewer.parts import DRAWN

        self.selected = ""
        self.server = make_server(Gate(), Front(frame.picture.scene.name), LOCAL_ADDRESS, port=0)
        self.lookout, self.parts = Lookout(self.server), list[Any]()
        stage: Any = self
        for make in DRAWN:
            self.parts.append(make(stage))
        for part in self.parts:
            part.renew(frame)
            part.show(frame)

    def on_select(self, tell: Any) -> None:
        """Nothing is ever chosen."""

    def play(self, frames: Sequence[Frame]) -> str:
        """The page."""
        serializer, grid = self.server.get_scene_serializer(), _grid(frames)
        for before, frame in pairwise(frames):
            # Where the run went back to an earlier moment, the replay jumps there.
            serializer.insert_sleep(max(0.0, frame.time - before.time))
            rounded = replace(frame, pictures=tuple(_rounded(picture, grid) for picture in frame.pictures))
            for part in self.parts:
                part.show(rounded)
        return serializer.as_html()


def _grid(frames: Sequence[Frame]) -> float:
    """How finely places are told apart [m]: a power of two, since numbers that end with zeros take less room."""
    reach = max(float(np.abs(picture.position).max(initial=1e-3)) for frame in frames for picture in frame.pictures)
    return float(2.0 ** (math.floor(math.log2(reach)) - PLACE_BITS))


def _rounded(picture: Picture, grid: float) -> Picture:
    """A picture with no more digits than can be seen."""
    position = np.round(picture.position.astype(np.float64) / grid) * grid
    orientation = np.round(picture.orientation.astype(np.float64) * 2.0**TURN_BITS) / 2.0**TURN_BITS
    return replace(picture, position=position, orientation=orientation)


def _still(sim: Simulation, number: int) -> Frame:
    """A simulation as a frame, outside of a session."""
    return Frame(
        number,
        version=0,
        time=sim.time,
        steps=sim.state.steps,
        time_step=sim.time_step,
        playing=False,
        speed=1.0,
        real_time=0.0,
        step_seconds=0.0,
        budget_ms=None,
        save_points=0,
        pictures=(take_picture(sim, "0", (), {}),),
    )
