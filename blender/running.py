# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate: a scene file is written, the program runs it, its recording comes back as F-curves.

h = 1/(fps · steps per frame),   one sample a frame,   duration = (last − first frame)/fps
"""

from __future__ import annotations

import json
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import bpy

from .baking import bake, clear
from .geometry import Faults
from .read_scene import read_scene
from .recordings import Recording
from .write_scene import scene_data

QUANTITIES = "origin,position,orientation,velocity"
RECORDED = "motion.npz"


def write_scene(scene: Any, path: str) -> list[str]:
    """Write the scene file as the objects are at the first frame; returns what could not be written, in sentences."""
    scene.frame_set(scene.frame_start)
    bpy.context.view_layer.update()
    faults = Faults()
    text = json.dumps(scene_data(scene, faults), indent=1)
    Path(path).write_text(text + "\n", encoding="utf-8")
    return faults


def command(scene: Any, program: str, folder: str) -> list[str]:
    """The command that simulates the scene file in a folder."""
    settings, rate = scene.rattleback, scene.render.fps / scene.render.fps_base
    duration = (scene.frame_end - scene.frame_start) / rate
    step = 1.0 / (rate * settings.steps)
    told = ["--duration", repr(duration), "--time-step", repr(step), "--every", str(settings.steps)]
    kept = ["--record", str(Path(folder) / RECORDED), "--quantities", QUANTITIES]
    scene_file = str(Path(folder) / "scene.rb.json")
    # A path with spaces, or with the backslashes of Windows, is one word; else it is a command with arguments.
    words = [program] if Path(program).exists() else shlex.split(program)
    return [*words, "run", scene_file, *told, *kept, "--json", *shlex.split(settings.options)]


def complaint(code: int, out: str, err: str) -> str:
    """What a run that failed says."""
    try:
        return str(json.loads(out)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        lines = [line for line in err.splitlines() if line.strip()]
        return lines[-1] if lines else f"The simulation ended with code {code}."


def program_of(context: Any) -> str:
    """The program, as the preferences name it."""
    return str(context.preferences.addons[__package__].preferences.program)


class _Run:
    """A simulation in a folder of its own."""

    def __init__(self, context: Any) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="rattleback-")
        self.faults = write_scene(context.scene, str(Path(self.folder.name) / "scene.rb.json"))
        # To files, which take whatever is said; a pipe that is read at the end only would fill and stop the run.
        self.said = [Path(self.folder.name) / name for name in ("out", "err")]
        with self.said[0].open("w") as out, self.said[1].open("w") as err:
            told = command(context.scene, program_of(context), self.folder.name)
            self.process = subprocess.Popen(told, stdout=out, stderr=err)

    def finish(self, scene: Any) -> tuple[str, list[str]]:
        """Bake what came of it; returns what went wrong, if it did, and what else is to be told."""
        self.process.wait()
        out, err = (path.read_text(encoding="utf-8", errors="replace") for path in self.said)
        with self.folder:
            recorded = Path(self.folder.name) / RECORDED
            fault = complaint(self.process.returncode, out, err) if self.process.returncode else ""
            if not recorded.exists():
                return fault or "The simulation left no recording.", list(self.faults)
            return fault, [*self.faults, *bake(scene, Recording(str(recorded)), scene.rattleback.arrows)]

    def stop(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


class RATTLEBACK_OT_simulate(bpy.types.Operator):
    """Simulate the frames of the scene with rattleback and bake the motion"""

    bl_idname = "rattleback.simulate"
    bl_label = "Simulate"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        """Simulate, and wait for it."""
        return self._end(context) if self._begin(context) else {"CANCELLED"}

    def invoke(self, context: Any, event: Any) -> set[str]:
        """Simulate beside what else is done; Escape ends it."""
        if not self._begin(context):
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.2, window=context.window)
        manager.modal_handler_add(self)
        context.workspace.status_text_set("rattleback simulates; Escape ends it")
        return {"RUNNING_MODAL"}

    def modal(self, context: Any, event: Any) -> set[str]:
        """Look whether it is done."""
        stopped = event.type == "ESC"
        if not stopped and (event.type != "TIMER" or self._run.process.poll() is None):
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)
        if stopped:
            self._run.stop()
            return {"CANCELLED"}
        return self._end(context)

    def _begin(self, context: Any) -> bool:
        try:
            self._run = _Run(context)
        except OSError as error:
            self.report(
                {"ERROR"},
                f"The program {program_of(context)!r} cannot be started: {error.strerror}. "
                "Install rattleback and give its path in the preferences of the add-on.",
            )
            return False
        return True

    def _end(self, context: Any) -> set[str]:
        try:
            fault, said = self._run.finish(context.scene)
        except ValueError as error:
            fault, said = str(error), []
        for sentence in said:
            self.report({"WARNING"}, sentence)
        if fault:
            self.report({"ERROR"}, fault)
            return {"CANCELLED"}
        return {"FINISHED"}


class _WithFile:
    """What operators with a file have in common."""

    bl_options = {"REGISTER", "UNDO"}
    filepath: bpy.props.StringProperty(subtype="FILE_PATH")

    def invoke(self, context: Any, event: Any) -> set[str]:
        """Ask for the file."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        """Do it and tell what was lost."""
        try:
            said = self.do(context, bpy.path.abspath(self.filepath))
        except (OSError, ValueError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for sentence in said:
            self.report({"WARNING"}, sentence)
        return {"FINISHED"}


class RATTLEBACK_OT_export_scene(_WithFile, bpy.types.Operator):
    """Write a scene file of rattleback"""

    bl_idname = "rattleback.export_scene"
    bl_label = "Export scene file"

    filepath: bpy.props.StringProperty(subtype="FILE_PATH", default="scene.rb.json")

    def do(self, context: Any, path: str) -> list[str]:
        """Write it."""
        return write_scene(context.scene, path)


class RATTLEBACK_OT_import_scene(_WithFile, bpy.types.Operator):
    """Read a scene file of rattleback"""

    bl_idname = "rattleback.import_scene"
    bl_label = "Import scene file"

    filepath: bpy.props.StringProperty(subtype="FILE_PATH")

    def do(self, context: Any, path: str) -> list[str]:
        """Read it."""
        return read_scene(context.scene, path)


class RATTLEBACK_OT_import_recording(_WithFile, bpy.types.Operator):
    """Bake a recording (.npz) onto the bodies of its names; those that are not there become empties"""

    bl_idname = "rattleback.import_recording"
    bl_label = "Import recording"

    filepath: bpy.props.StringProperty(subtype="FILE_PATH")
    arrows: bpy.props.BoolProperty(name="Velocity arrows", default=True)

    def do(self, context: Any, path: str) -> list[str]:
        """Bake it."""
        return bake(context.scene, Recording(path), self.arrows)


class RATTLEBACK_OT_clear_motion(bpy.types.Operator):
    """Take away the motion and the arrows that were baked"""

    bl_idname = "rattleback.clear_motion"
    bl_label = "Clear motion"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        """Do it."""
        context.scene.frame_set(context.scene.frame_start)
        clear(context.scene)
        return {"FINISHED"}


CLASSES = (
    RATTLEBACK_OT_simulate,
    RATTLEBACK_OT_export_scene,
    RATTLEBACK_OT_import_scene,
    RATTLEBACK_OT_import_recording,
    RATTLEBACK_OT_clear_motion,
)
