"""BVH files, Biovision's hierarchical motion: a skeleton and one clip made of frames.

    R = R_c1(α₁) R_c2(α₂) R_c3(α₃)

c₁, c₂ … the axes in the order in which the channels of the joint are listed, which differs from file to file and from
joint to joint; angles in degrees. Channels of positions, which may stand before or behind, are places in the parent's
frame: they take the place of the offset, along the axes that they name.

At rest a joint is unturned at its offset. An end site is a joint that never turns, ``"Head_end"``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.clip import Clip
from rattleback.characters.figure import Figure
from rattleback.characters.skeleton import Joint, Skeleton
from rattleback.characters.track import Track
from rattleback.core import whole_file
from rattleback.core.errors import FileError
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CHANNEL = re.compile(r"([XYZ])(position|rotation)", re.IGNORECASE)


@dataclass
class _Node:
    """A joint as it is read."""

    name: str
    parent: str
    offset: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    channels: list[tuple[int, bool]] = field(default_factory=list)
    end: bool = False


def read_bvh(path: Any) -> Figure:
    """The figure of a BVH file: its skeleton and its clip, without a skin."""
    name = whole_file.location(path, "BVH file")
    text = whole_file.read(path, "BVH file").decode("utf-8-sig", errors="replace")
    reader = _Reader(name, text)
    nodes = reader.read_hierarchy()
    joints = [Joint(node.name, node.parent, node.offset, end=node.end) for node in nodes]
    skeleton = Skeleton(joints, Path(name).stem)
    frame_time, frames = reader.read_motion(sum(len(node.channels) for node in nodes))
    if not len(frames):
        return Figure(skeleton)
    times = np.asarray(frame_time * np.arange(len(frames)))
    return Figure(skeleton, {skeleton.name: Clip(skeleton, _tracks(nodes, times, frames), skeleton.name, frame_time)})


def _tracks(nodes: list[_Node], times: Floats, frames: Floats) -> list[Track]:
    turns: dict[str, Floats] = {}
    ways: dict[str, Floats] = {}
    column = 0
    for node in nodes:
        turn = np.tile([0.0, 0.0, 0.0, 1.0], (len(frames), 1))
        way = np.tile(node.offset, (len(frames), 1))
        for axis, turns_about in node.channels:
            if turns_about:
                each = rotation.quaternion_from_axis_angle(np.eye(3)[axis], np.radians(frames[:, column]))
                turn = rotation.multiply(turn, each)
            else:
                way[:, axis] = frames[:, column]
            column += 1
        if any(turns_about for _, turns_about in node.channels):
            turns[node.name] = turn
        if not all(turns_about for _, turns_about in node.channels):
            ways[node.name] = way
    found = (("rotation", turns), ("translation", ways))
    return [Track(part, list(made), times, np.stack(list(made.values()), axis=1)) for part, made in found if made]


class _Reader:
    """Lines of a BVH file, read from the front, with the number of the line for messages."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.at = name, 0
        # A brace may stand on the line of a name or on one of its own.
        self.lines = [
            (number, piece)
            for number, line in enumerate(text.splitlines(), 1)
            for part in re.split(r"([{}])", line)
            if (piece := part.strip())
        ]

    def read_hierarchy(self) -> list[_Node]:
        """The joints, in the order of their channels."""
        self._expect("HIERARCHY")
        nodes: list[_Node] = []
        open_nodes: list[_Node] = []
        taken: set[str] = set()
        while True:
            word, rest = self._split(self._next("the line MOTION"))
            if word in ("ROOT", "JOINT", "END"):
                nodes.append(self._begin(word, rest, open_nodes, taken))
                open_nodes.append(nodes[-1])
                self._expect("{")
            elif word == "}" and open_nodes:
                open_nodes.pop()
            elif word == "OFFSET" and open_nodes:
                open_nodes[-1].offset = self._numbers(rest, 3)
            elif word == "CHANNELS" and open_nodes:
                open_nodes[-1].channels = self._channels(rest)
            elif word == "MOTION" and not open_nodes and nodes:
                return nodes
            else:
                raise self._fault(f"{word!r} has no place here")

    def read_motion(self, channels: int) -> tuple[float, Floats]:
        """Time between frames [s], and the numbers of all frames (frames, channels)."""
        count = self._numbers(self._field("Frames:"), 1)[0]
        frame_time = self._numbers(self._field("Frame Time:"), 1)[0]
        if count < 0 or count != int(count) or (count and not frame_time > 0.0):
            raise self._fault(f"there are {count:g} frames of {frame_time:g} s; the time must be greater than zero")
        words = " ".join(line for _, line in self.lines[self.at :]).split()
        if len(words) != int(count) * channels:
            raise FileError(
                f"The BVH file {self.name!r} has {len(words)} numbers behind its frame time; {int(count)} frames of "
                f"{channels} channels need {int(count) * channels}."
            )
        try:
            values = np.array(words, dtype=np.float64).reshape(int(count), channels)
        except ValueError as error:
            raise FileError(f"The BVH file {self.name!r} has a frame that is not of numbers: {error}.") from None
        if not np.isfinite(values).all():
            frame = int(np.argwhere(~np.isfinite(values))[0, 0])
            raise FileError(f"The BVH file {self.name!r} has a number in frame {frame} that is not finite.")
        return frame_time, values

    def _begin(self, word: str, rest: str, open_nodes: list[_Node], taken: set[str]) -> _Node:
        if (word == "ROOT") == bool(open_nodes):
            raise self._fault("a ROOT stands inside of a joint" if open_nodes else f"{word} stands outside of a ROOT")
        if open_nodes and open_nodes[-1].end:
            raise self._fault("something hangs on an End Site")
        parent = open_nodes[-1].name if open_nodes else ""
        name = f"{parent}_end" if word == "END" else rest
        if not name:
            raise self._fault(f"a {word} has no name")
        unique, number = name, 2
        while unique in taken:
            unique, number = f"{name}_{number}", number + 1
        taken.add(unique)
        return _Node(unique, parent, end=word == "END")

    def _channels(self, rest: str) -> list[tuple[int, bool]]:
        """Axes of the channels, and whether each is a rotation."""
        count, *words = rest.split() or [""]
        found = [CHANNEL.fullmatch(word) for word in words]
        if count != str(len(words)) or not all(found):
            raise self._fault(f"the channels {rest!r} are not a number and as many of Xposition … Zrotation")
        return [("XYZ".index(match[1].upper()), match[2].lower() == "rotation") for match in found if match]

    def _field(self, label: str) -> str:
        line = " ".join(self._next(f"the line {label}").split())
        if not line.lower().startswith(label.lower()):
            raise self._fault(f"{line!r} stands where {label!r} is expected")
        return line[len(label) :]

    def _numbers(self, text: str, count: int) -> list[float]:
        try:
            found = [float(word) for word in text.split()]
        except ValueError:
            found = []
        if len(found) != count or not np.isfinite(found).all():
            raise self._fault(
                f"{text.strip()!r} stands where {'a number is' if count == 1 else '3 numbers are'} expected"
            )
        return found

    def _split(self, line: str) -> tuple[str, str]:
        word, _, rest = line.partition(" ") if " " in line else line.partition("\t")
        return word.upper(), rest.strip()

    def _expect(self, word: str) -> None:
        line = self._next(f"{word!r}")
        if line.upper() != word:
            raise self._fault(f"{line!r} stands where {word!r} is expected")

    def _next(self, expected: str) -> str:
        if self.at >= len(self.lines):
            raise FileError(f"The BVH file {self.name!r} ends where {expected} is expected.")
        self.at += 1
        return self.lines[self.at - 1][1]

    def _fault(self, what: str) -> FileError:
        line = self.lines[max(0, self.at - 1)][0] if self.lines else 1
        return FileError(f"The BVH file {self.name!r} cannot be read at line {line}: {what}.")
