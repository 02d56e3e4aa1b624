"""Draw a scene, a scene file or a saved state: a film, a still picture, or both."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.cli import output
from rattleback.cli.options import add_simulation_options, add_source_arguments, number, whole_number
from rattleback.cli.output import FINE
from rattleback.cli.sources import open_source
from rattleback.cli.targets import check_target, write_target
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from rattleback.recording.camera import Camera
    from rattleback.simulation import Simulation

FPS = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_source_arguments(parser)
    what = parser.add_argument_group("what to draw; at least one of --video and --still")
    what.add_argument("--video", metavar="FILE", type=Path, help="write a film, as .mp4")
    what.add_argument("--still", metavar="FILE", type=Path, help="write a picture, as .png")
    what.add_argument("--duration", metavar="S", type=number, help="time the film shows [s]; 1 for a file")
    what.add_argument("--at", metavar="S", type=number, help="time of the picture, from the start [s] (default: 0)")
    what.add_argument("--fps", metavar="N", type=number, help="frames in a second of film (default: 30)")
    what.add_argument("--speed", metavar="X", type=number, help="simulated seconds in a second of film (default: 1)")
    how = parser.add_argument_group("how it looks")
    how.add_argument("--size", metavar="WxH", type=size, default=(1280, 720), help="pixels (default: 1280x720)")
    how.add_argument(
        "--azimuth", metavar="DEG", type=number, help="direction to look from, about z from the x axis [°]"
    )
    how.add_argument("--elevation", metavar="DEG", type=number, help="angle to look down by [°] (default: 20)")
    how.add_argument("--distance", metavar="M", type=number, help="distance of the camera [m]")
    how.add_argument("--quality", metavar="NAME", help="quick (the default), or film for a picture that takes a minute")
    how.add_argument("--colour", metavar="BY", help="body (the default), palette or speed")
    how.add_argument("--samples", metavar="N", type=whole_number, help="drawings averaged (default: still 32, film 1)")
    add_simulation_options(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def execute(arguments: argparse.Namespace) -> int:
    """Draw."""
    check_usage(arguments)
    for path, suffix, what in ((arguments.video, ".mp4", "a film"), (arguments.still, ".png", "a picture")):
        if path is not None:
            from rattleback.recording.files import check_suffix

            check_target(check_suffix(path, (suffix,), what))
    view = camera_of(arguments)
    if arguments.still is not None:
        sim, _ = open_source(arguments)
        draw_still(sim, arguments, view)
    if arguments.video is not None:
        sim, duration = open_source(arguments)
        draw_film(sim, duration, arguments, view)
    return FINE


def check_usage(arguments: argparse.Namespace) -> None:
    """Options that would have no effect are wrong usage."""
    if arguments.video is None and arguments.still is None:
        arguments.parser.error("name what to draw: --video out.mp4, --still picture.png, or both")
    needs = {"duration": "video", "fps": "video", "speed": "video", "at": "still", "quality": "still"}
    for option, needed in needs.items():
        if getattr(arguments, option) is not None and getattr(arguments, needed) is None:
            arguments.parser.error(f"--{option} has no effect without --{needed}")


def draw_still(sim: Simulation, arguments: argparse.Namespace, view: Camera) -> None:
    """Step to the time of the picture, to the nearest step, and draw it."""
    from rattleback.recording.still import render
    from rattleback.recording.video import step_to

    if (at := 0.0 if arguments.at is None else arguments.at) < 0.0 or not math.isfinite(at):
        raise InputError(f"--at is {at:g}; it must be zero or more.")
    step_to(sim, sim.time + at)
    given = {"size": arguments.size, "camera": view, **look_of(arguments)}
    if arguments.quality is not None:
        given["quality"] = arguments.quality
    write_target(arguments.still, lambda path: render(sim, path, **given))
    output.write(f"Wrote the picture at t = {sim.time:.6g} s to {arguments.still}")


def draw_film(sim: Simulation, duration: float, arguments: argparse.Namespace, view: Camera) -> None:
    """Simulate and draw the film."""
    from rattleback.recording.video import check_tempo, film

    fps = FPS if arguments.fps is None else arguments.fps
    tempo = check_tempo(sim, duration, fps, 1.0 if arguments.speed is None else arguments.speed)
    given = {**tempo._asdict(), "size": arguments.size, "camera": view, "progress": not arguments.quiet}
    write_target(arguments.video, lambda path: film(sim, path, **given, **look_of(arguments)))
    output.write(f"Wrote the film, {tempo.frames} frames, {tempo.frames / tempo.fps:.6g} s, to {arguments.video}")


def camera_of(arguments: argparse.Namespace) -> Camera:
    """The camera asked for."""
    from rattleback.recording.camera import Camera

    given: dict[str, Any] = {} if arguments.distance is None else {"distance": arguments.distance}
    for name in ("azimuth", "elevation"):
        if (degrees := getattr(arguments, name)) is not None:
            given[name] = math.radians(degrees)
    return Camera(**given)


def look_of(arguments: argparse.Namespace) -> Any:
    """What was said about the look."""
    return {name: getattr(arguments, name) for name in ("colour", "samples") if getattr(arguments, name) is not None}


def size(text: str) -> tuple[int, int]:
    """Width and height as 1280x720, for argparse."""
    width, sign, height = text.lower().partition("x")
    if not sign or not width.isdecimal() or not height.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write 1280x720")
    return int(width), int(height)
