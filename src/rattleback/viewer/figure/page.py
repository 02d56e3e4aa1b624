"""The page of a figure: play and blend its clips, look at its skin and skeleton, gather a crowd of it, let it fall.

All is done in a thread of its own, thirty frames a second; what the page asks for is carried out between two of them.
"""

from __future__ import annotations

import re
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from rattleback.characters.figure import Figure
from rattleback.characters.load import load
from rattleback.core import checks
from rattleback.core.errors import FileError
from rattleback.viewer.door import Door
from rattleback.viewer.figure.loop import Loop
from rattleback.viewer.figure.opening import staged
from rattleback.viewer.figure.panel import NONE, STOP, Panel
from rattleback.viewer.figure.push import Pushes
from rattleback.viewer.figure.stage import Stage
from rattleback.viewer.host import Host
from rattleback.viewer.opened import Opened

if TYPE_CHECKING:
    from os import PathLike


class Wishes(TypedDict, total=False):
    """Options of :class:`FigurePage`."""

    clip: str | None
    crowd: int
    playing: bool
    unit: float | None
    height: float | None
    up: str
    door: Door | None


class FigurePage(Opened):
    """A page with a figure.

    Attributes:
        host: What serves the page.
        panel: Its controls.
        stage: What is drawn.
        playing: Whether time goes on.

    Args:
        figure: The figure, or its file; a person with a few clips if left out.
        **wishes: ``clip``, the one that is played at first; ``crowd``, how many figures; ``playing``, whether it plays
            at once (default True); ``unit``, metres a unit of the file, or ``height`` of the figure at rest [m], both
            guessed if left out; ``up``, upward axis of the file, ``"y"`` (the default) or ``"z"``; ``door``, the
            address it is served at.
    """

    def __init__(self, figure: Figure | str | PathLike[str] | None = None, **wishes: Unpack[Wishes]) -> None:
        checks.options(wishes, Wishes.__annotations__, "a figure's page")
        crowd = checks.count(wishes.get("crowd", 1), "The crowd")
        self._sizes: Any = {key: wishes.get(key) for key in ("unit", "height")} | {"up": wishes.get("up", "y")}
        clip = wishes.get("clip") or ("walk" if figure is None else None)
        shown = _person() if figure is None else figure if isinstance(figure, Figure) else self._read(figure)
        if clip is not None:
            shown.clip(clip)
        super().__init__()
        self.playing = checks.flag(wishes.get("playing", True), "playing")
        self.host = Host(f"rattleback character {shown.skeleton.name}", wishes.get("door"))
        self.panel = Panel(self.host.server.gui)
        self.stage = Stage(self.host, shown, clip)
        self.pushes = Pushes(self.host.server, lambda: self.stage, self._fall)
        self._loop = Loop(self._frame, partial(self.host.notify, fault=True))
        self._begin()
        self._wire()
        if crowd > 1:
            self.panel.crowd.value = min(crowd, self.panel.crowd.max)
            self.stage.gather(int(self.panel.crowd.value))
        self._loop.start()

    @property
    def address(self) -> str:
        """The address of the page, good for every browser for as long as it is served."""
        return self.host.address

    def do(self, command: Any) -> Any:
        """Have a function called between two frames; returns a future, which is done once a frame has shown it."""
        return self._loop.do(command)

    def open(self, figure: Figure | str | PathLike[str]) -> None:
        """Show another figure, or that of another file; where that fails, all stays as it is."""
        self._put(figure if isinstance(figure, Figure) else self._read(figure))

    def open_bytes(self, name: str, content: bytes) -> None:
        """Show the figure of a file that a client sent."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / (re.sub(r"[^\w.-]+", "_", Path(name).name).lstrip(".") or "file")
            path.write_bytes(content)
            try:
                shown = self._read(path)
            except FileError as error:
                raise FileError(str(error).replace(str(path), Path(name).name)) from None
        self._put(shown)

    def _take_down(self) -> None:
        self._loop.close()
        self.host.stop()

    def _read(self, path: Any) -> Figure:
        return staged(load(path), **self._sizes)

    def _put(self, figure: Figure) -> None:
        self.pushes.cancel_all()
        before = self.stage
        before.remove()
        try:
            self.stage = Stage(self.host, figure)
        except Exception:
            self.stage = Stage(self.host, before.figure)
            raise
        finally:
            self._begin()
        self.host.rename(f"rattleback character {self.stage.figure.skeleton.name}")

    def _begin(self) -> None:
        """Fit the controls to the figure, and listen to the mouse on it."""
        self.panel.renew(self.stage)
        self._move()
        for slider in self.panel.weights.values():
            slider.on_update(self._hand(self._weigh))
        self.stage.listen = self._listen
        for handle in self.stage.look.handles if self.stage.look is not None else ():
            self._listen(handle)

    def _frame(self, seconds: float) -> None:
        self.stage.tick(seconds, self.playing)
        self.panel.follow(self.stage, self.playing)
        self.panel.say_crowd(self.stage, self._loop.rate)

    # What follows is done between two frames.

    def _clips_again(self) -> None:
        """A figure that did as it was told follows its clips."""
        if self.stage.act is not None:
            self.panel.acts.value = False
            self.stage.listen_to_commands(False)

    def _weigh(self) -> None:
        self._clips_again()
        self.stage.playback.weights = {name: float(slider.value) for name, slider in self.panel.weights.items()}
        self.stage.renew()

    def _choose_clip(self) -> None:
        self._clips_again()
        if self.panel.clip.value in self.stage.figure.clips:
            self.stage.choose_clip(self.panel.clip.value)
            self.panel.show_weights(self.stage)

    def _scrub(self, phase: float) -> None:
        self._clips_again()
        self.playing = False
        self.stage.playback.phase = phase
        self.stage.scrubbed()

    def _play(self) -> None:
        playback = self.stage.playback
        if not self.playing and not playback.loop and playback.phase >= 1.0:
            playback.phase = 0.0
        self.playing = not self.playing

    def _move(self) -> None:
        """Speed, loop and root motion have changed."""
        playback, panel = self.stage.playback, self.panel
        playback.speed, playback.loop = float(panel.speed.value), bool(panel.loop.value)
        if playback.travels != panel.travels.value:
            playback.travels = bool(panel.travels.value)
            self.stage.renew()
            self.stage.look_at_all()

    def _dress(self) -> None:
        look = self.panel.look.value
        self.stage.choose_look("" if look == NONE else look)
        self.panel.bones.value = self.stage.bones.visible
        self.panel.show_playing(self.playing)

    def _skin(self) -> None:
        self.stage.method = self.panel.method.value
        self.stage.renew()

    def _joint(self) -> None:
        panel, names = self.panel, self.stage.figure.skeleton.names
        joint = names.index(panel.joint.value) if panel.joint.value in names else -1
        self.stage.choose_joint(joint, bool(panel.influence.value))
        self.stage.name(bool(panel.names.value))

    def _gather(self) -> None:
        self.stage.gather(int(self.panel.crowd.value))
        self.panel.acts.value = self.stage.act is not None

    def _fall(self) -> None:
        if self.stage.throng is not None:
            self.panel.crowd.value = 1
            self.stage.gather(1)
        self.stage.strength = float(self.panel.strength.value)
        self.stage.drop()
        self.playing = True

    def _command(self, command: str, **options: Any) -> None:
        """Have the figure do something; one that follows its clips listens from now on."""
        if self.stage.act is None:
            self.panel.acts.value = True
            self._listen_to_commands()
        self.playing = True
        act: Any = self.stage.act
        if command == STOP:
            act.actor.stop()
        else:
            act.tell(command, **options)

    def _listen_to_commands(self) -> None:
        try:
            self.stage.listen_to_commands(bool(self.panel.acts.value))
        finally:
            self.panel.acts.value = self.stage.act is not None
        self.panel.crowd.value = 1 if self.stage.throng is None else self.panel.crowd.value

    def _pick(self, ray: Any) -> None:
        joint = self.stage.pick(*ray)
        if joint < 0 and self.stage.act is not None and (place := self.stage.ground(*ray)) is not None:
            self._command(self.panel.gait.value, to=place)
            return
        self.panel.joint.value = NONE if joint < 0 else self.stage.figure.skeleton.names[joint]
        self._joint()

    # What follows is called by the page.

    def _hand(self, act: Any) -> Any:
        """A callback that has something done between two frames when a client wants it."""
        return lambda event: None if event.client is None else self._loop.do(act)

    # Functions that do not wait are called in the order of what happened.
    async def _clicked(self, event: Any) -> None:
        ray = np.array(event.ray_origin, dtype=np.float64), np.array(event.ray_direction, dtype=np.float64)
        self._loop.do(lambda: self._pick(ray))

    async def _dragged(self, event: Any) -> None:
        start, end = (np.array(place, dtype=np.float64) for place in (event.start_position, event.end_position))
        speed = float(self.panel.push.value)
        self._loop.do(partial(self.pushes.drag, event.client_id, event.phase, start, end, speed))

    def _look_at(self, event: Any) -> None:
        eye = np.array(event.client.camera.position, dtype=np.float64)
        self._loop.do(partial(self._command, "look", to=eye))

    def _listen(self, handle: Any) -> None:
        handle.on_drag("left")(self._dragged)

    def _wire(self) -> None:
        """Have the controls do what they say."""
        panel: Any = self.panel
        acts: list[tuple[Any, Any]] = [
            (panel.clip, self._choose_clip), (panel.look, self._dress),
            (panel.method, self._skin), (panel.crowd, self._gather), (panel.acts, self._listen_to_commands),
            (panel.bones, lambda: self.stage.show_bones(bool(panel.bones.value))),
            *((control, self._joint) for control in (panel.joint, panel.names, panel.influence)),
            *((control, self._move) for control in (panel.speed, panel.loop, panel.travels)),
        ]  # fmt: skip
        for control, act in acts:
            control.on_update(self._hand(act))
        panel.phase.on_update(
            lambda event: event.client and self._loop.do(partial(self._scrub, float(event.target.value)))
        )
        self._wire_buttons()
        scene: Any = self.host.server.scene
        scene.on_click()(self._clicked)

    def _wire_buttons(self) -> None:
        """Have the buttons do what they say."""
        panel: Any = self.panel
        presses: list[tuple[Any, Any]] = [
            (panel.play, self._play),
            (panel.fall, self._fall),
            (panel.rise, lambda: self.stage.rise()),
            (panel.middle, lambda: self.stage.rise(middle=True)),
            (panel.look_at_all, lambda: self.stage.look_at_all()),
        ]
        for button, act in presses:
            button.on_click(lambda _, act=act: self._loop.do(act))
        panel.posture.on_click(lambda event: self._loop.do(partial(self._command, event.target.value)))
        panel.look_here.on_click(self._look_at)
        key: Any = self.host.server.gui.add_command("Play or pause", hotkey="space")
        key.on_trigger(lambda _: self._loop.do(self._play))
        panel.open.on_upload(lambda event: self._loop.do(self._opening(event.target.value)))

    def _opening(self, file: Any) -> Any:
        """What opens a file that a client sent."""

        def open_it() -> None:
            self.host.show_waiting(f"{file.name} is opened.")
            try:
                self.open_bytes(file.name, file.content)
            finally:
                self.host.show_waiting("")

        return open_it


def view_figure(
    figure: Figure | str | PathLike[str] | None = None, browser: bool | None = None, **wishes: Unpack[Wishes]
) -> FigurePage:
    """Open the page of a figure, say where it is, and open a browser where there is a screen or one is wished for."""
    from rattleback.viewer.view import announce

    shown = FigurePage(figure, **wishes)
    announce(shown.address, browser, "character")
    return shown


def _person() -> Figure:
    from rattleback.characters.person import person

    return person()
