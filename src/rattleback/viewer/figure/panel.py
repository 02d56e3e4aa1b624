"""The controls of the page: clips and their weights, time, looks, joints, the crowd and the fall."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import viser

from rattleback.characters.skinning import SKINNING
from rattleback.viewer.interaction.push import speed_slider

if TYPE_CHECKING:
    from rattleback.viewer.figure.stage import Stage

NONE, FIGURES, STRONGEST = "none", 400, 0.4
FILES = ".bvh,.glb,.gltf"
TABS = ("Clips", "Show", "Act", "Crowd", "Fall")
GAITS, POSTURES, STOP = ("walk", "run"), ("stand", "sit", "crouch"), "stop"


class Panel:
    """The controls.

    Attributes:
        open: Button that opens a file.
        play: Button that plays and pauses.
        phase: Slider of how far the clips are.
        reading: What is said of it.
        clip: Drop-down that plays one clip alone.
        weights: A slider for each clip by name.
        speed, loop, travels: How they are played.
        look, method: What the figure looks like, and how it is skinned.
        bones, names, joint, influence: What is shown of its skeleton.
        look_at_all: Button that turns the camera to it.
        acts, gait, posture, look_here: What it is told.
        crowd, crowd_reading: How many figures there are, and what they cost.
        fall, rise, middle, strength, push: The fall.

    Args:
        gui: Panel of the page.
    """

    def __init__(self, gui: Any) -> None:
        self._gui, self._phase = gui, 0.0
        self.weights: dict[str, Any] = {}
        self.open = gui.add_upload_button(
            "Open file …",
            icon=viser.Icon.UPLOAD,
            mime_type=FILES,
            hint="A BVH or glTF file; it may be dropped on the page, too.",
        )
        self.play = gui.add_button("Pause", icon=viser.Icon.PLAYER_PAUSE, hint="Space plays and pauses.")
        self.phase = gui.add_slider("Phase", 0.0, 1.0, 0.001, 0.0, hint="How far the clips are, from start to end.")
        self.reading = gui.add_html("")
        group = gui.add_tab_group()
        self.tabs: dict[str, Any] = {name: group.add_tab(name) for name in TABS}
        self._clips()
        self._show()
        self._act()
        self._crowd()
        self._fall()

    def renew(self, stage: Stage) -> None:
        """Fit the controls to another figure."""
        clips, playback = list(stage.figure.clips), stage.playback
        for slider in self.weights.values():
            slider.remove()
        self.clip.options = tuple(clips) or (NONE,)
        self.clip.value = next(iter(playback.shares), NONE)
        self.clip.visible = self._folder.visible = len(clips) > 1
        with self._folder:
            self.weights = {name: self._gui.add_slider(name, 0.0, 1.0, 0.01, playback.weights[name]) for name in clips}
        self.look.options = (*stage.looks, NONE)
        self.look.value = next(iter(stage.looks), NONE)
        self.joint.options = (NONE, *stage.figure.skeleton.names)
        self.joint.value, self.crowd.value, self.acts.value = NONE, 1, False
        self.bones.value, self.names.value, self.influence.value = stage.look is None, False, False
        self.method.value, self.travels.value = stage.method, False

    def follow(self, stage: Stage, playing: bool) -> None:
        """Show how far the clips are."""
        self.show_playing(playing)
        playback = stage.playback
        # What a client has just set stays until the clips have followed it.
        if self._phase != (phase := round(playback.phase, 3)):
            self._phase = self.phase.value = phase
        mixed = " + ".join(f"{share:.0%} {name}" if share < 1.0 else name for name, share in playback.shares.items())
        if stage.act is not None and not (stage.fall is not None and stage.fall.active):
            words = f"<b>{escape(stage.act.words)}</b>"
        elif stage.fall is not None and stage.fall.active:
            words = f"<b>falls</b> · {stage.fall.sim.time:.2f} s"
        else:
            words = f"<b>{escape(mixed) or 'at rest'}</b> · {playback.time:.2f} of {playback.duration:.2f} s"
        words = f'<div style="margin:0 0.9em 0.5em;font-size:0.85em">{words}</div>'
        if self.reading.content != words:
            self.reading.content = words

    def show_playing(self, playing: bool) -> None:
        """Say what the button does."""
        label = "Pause" if playing else "Play"
        if self.play.label != label:
            self.play.label = label
            self.play.icon = viser.Icon.PLAYER_PAUSE if playing else viser.Icon.PLAYER_PLAY

    def show_weights(self, stage: Stage) -> None:
        """Move the sliders to the weights that hold."""
        for name, slider in self.weights.items():
            slider.value = stage.playback.weights[name]

    def say_crowd(self, stage: Stage, rate: float) -> None:
        """Say what the crowd costs."""
        words = "Figures that walk, each elsewhere in its clips."
        if stage.throng is not None:
            throng = stage.throng
            words = (
                f"{len(throng.homes)} figures in {throng.frames} frames of a round: {throng.bytes / 1e6:.1f} MB once, "
                f"{stage.sent / 1e3:.1f} kB a frame, {rate:.0f} frames/s"
            )
        words = f'<div style="margin:0 0.9em 0.5em;font-size:0.85em">{words}</div>'
        if self.crowd_reading.content != words:
            self.crowd_reading.content = words

    def _clips(self) -> None:
        gui = self._gui
        with self.tabs["Clips"]:
            self.clip = gui.add_dropdown("Clip", (NONE,), hint="Plays one clip alone.")
            self._folder = gui.add_folder("Weights")
            self.speed = gui.add_slider("Speed", 0.0, 3.0, 0.05, 1.0, hint="Seconds of clips in a second.")
            self.loop = gui.add_checkbox("Loop", True, hint="Begin again where they end.")
            self.travels: Any = gui.add_checkbox(
                "Root motion", False, hint="Go where the clips lead; else stay in place."
            )

    def _show(self) -> None:
        gui = self._gui
        with self.tabs["Show"]:
            self.look = gui.add_dropdown("Look", (NONE,), hint="The skins of the figure, and tubes around its bones.")
            hint = "Linear blending is what files mean; dual quaternions keep the volume where joints twist."
            self.method = gui.add_dropdown("Skinning", tuple(SKINNING), hint=hint)
            self.bones = gui.add_checkbox("Skeleton", False, hint="Bones and joints in a skin of glass.")
            self.names = gui.add_checkbox("Names of all joints", False)
            self.joint = gui.add_dropdown("Joint", (NONE,), hint="A click on the figure chooses one.")
            hint = "Colours say how much the skin follows the chosen joint, from grey over blue and green to red."
            self.influence = gui.add_checkbox("Weights of the joint", False, hint=hint)
            self.look_at_all = gui.add_button("Look at all", hint="Turn the camera to the figure.")

    def _act(self) -> None:
        gui = self._gui
        with self.tabs["Act"]:
            self.acts = gui.add_checkbox("Does as it is told", False, hint="Commands take the place of its clips.")
            gui.add_markdown("A **click** on the ground: it goes there.")
            self.gait = gui.add_dropdown("Gait", GAITS, hint="How it goes there.")
            self.posture = gui.add_button_group("Now", (*POSTURES, STOP))
            self.look_here = gui.add_button("Look at me", hint="At where you look from.")

    def _crowd(self) -> None:
        gui = self._gui
        with self.tabs["Crowd"]:
            self.crowd = gui.add_slider("Figures", 1, FIGURES, 1, 1, hint="The same figure so many times.")
            self.crowd_reading = gui.add_html("")

    def _fall(self) -> None:
        gui = self._gui
        with self.tabs["Fall"]:
            gui.add_markdown("**Drag** the figure to push it; it falls as a ragdoll.")
            self.fall = gui.add_button("Fall", hint="From where it is, as fast as it is.")
            self.rise = gui.add_button("Back to the clip", hint="From where it lies.")
            self.middle = gui.add_button("Back to the middle", hint="Where it was at first.")
            hint = "Torque by which joints keep the pose at most, in weights of the figure times its height."
            self.strength = gui.add_slider("Strength", 0.0, STRONGEST, 0.01, 0.0, hint=hint)
            self.push = speed_slider(gui)
