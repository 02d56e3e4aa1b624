"""Anatomy: which joints of a skeleton are its legs, its arms, its spine and its head.

From the hips every joint at which nothing more hangs ends a chain. A chain with a foot in its names, or one that comes
down to the ground, is a leg; one with a hand in its names, or one that goes far to a side, an arm; one with a head,
or the highest of what is left, the neck. Of a leg or an arm the two longest bones that follow each other are thigh
and shank, upper arm and forearm. Sides go by names, else by where they are at rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.characters.motion.footing import Leg
from rattleback.characters.motion.ground import hips_of
from rattleback.characters.motion.limb import Limb
from rattleback.core.errors import InputError, listing
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]

SIDES = ("left", "right")
FOOT, HAND, HEAD = re.compile("foot|ankle|toe"), re.compile("hand|wrist|finger|thumb|palm"), re.compile("head|skull")
END = re.compile("foot|ankle|hand|wrist|palm")
SIDED = {
    "left": re.compile(r"(?i:left)|(?<![A-Za-z])[lL](?![a-z])"),
    "right": re.compile(r"(?i:right)|(?<![A-Za-z])[rR](?![a-z])"),
}
# Parts of the height of the hips: a leg ends below the first, an arm is as far to a side as the second.
LOW, FAR = 0.3, 0.25


@sealed
@dataclass(frozen=True)
class Anatomy:
    """What the joints of a skeleton are; see :func:`anatomy`.

    Args:
        skeleton: The skeleton, in metres with z up, looking along x.
        hips: The joint that carries it over the ground.
        spine: From above the hips to the joint that the arms hang on.
        neck: From there to the head; empty where it has none.
        legs: Left and right.
        arms: By side, ``"left"`` and ``"right"``; those that it has.
    """

    skeleton: Skeleton
    hips: str
    spine: tuple[str, ...]
    neck: tuple[str, ...]
    legs: tuple[Leg, ...]
    arms: dict[str, Limb]

    def bend(self, limb: Limb, leg: bool) -> Floats:
        """Axis in the frame of its upper joint about which a straight limb bends: knees forwards, elbows backwards."""
        frames = self.skeleton.matrices(self.skeleton.rest)
        a, _, c = limb.numbers(self.skeleton)
        axis = np.cross(frames[c, :3, 3] - frames[a, :3, 3], (-1.0 if leg else 1.0, 0.0, 0.0))
        inward = np.linalg.inv(frames[a, :3, :3]) @ axis
        return np.asarray(inward / np.linalg.norm(inward))

    def arm(self, side: str) -> Limb:
        """An arm by side, ``"left"``, ``"left_hand"`` and the like."""
        short = side.removesuffix("_hand").removesuffix("_arm")
        if short not in SIDES:
            raise InputError(f"{side!r} is no hand; there are 'left_hand' and 'right_hand'.")
        if short not in self.arms:
            raise InputError(
                f"{self.skeleton.name!r} has no {short} arm: no chain of three joints goes from its chest to a hand "
                "on that side."
            )
        return self.arms[short]


def anatomy(skeleton: Skeleton) -> Anatomy:
    """What the joints of a skeleton are.

    Args:
        skeleton: The skeleton, in metres with z up, looking along x, as ``Figure.in_world`` makes it.
    """
    return _Search(skeleton).found()


class _Search:
    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.points = skeleton.matrices(skeleton.rest)[:, :3, 3]
        self.hips = hips_of(skeleton)
        self.chains = [chain for j in range(len(skeleton)) if (chain := self._chain(j))]
        self.ground = float(self.points[:, 2].min())
        self.height = float(self.points[self.hips, 2]) - self.ground

    def found(self) -> Anatomy:
        legs, arms, heads = self._limbs()
        trunk = _common([*arms.values(), *([self._highest(heads)] if heads else [])])
        neck = self._neck(heads, len(trunk))
        if not neck and heads and len(trunk) > 1:
            trunk, neck = trunk[:-1], trunk[-1:]
        bones = {side: self._bones(chain, len(trunk)) for side, chain in arms.items()}
        names = self.skeleton.names
        return Anatomy(
            self.skeleton,
            names[self.hips],
            tuple(names[j] for j in trunk),
            tuple(names[j] for j in neck),
            tuple(self._leg(legs[side]) for side in SIDES),
            {side: Limb(*(names[j] for j in joints)) for side, joints in bones.items() if joints},
        )

    def _limbs(self) -> tuple[dict[str, list[int]], dict[str, list[int]], list[list[int]]]:
        """Chains of the legs and of the arms by side, and those that may lead to a head."""
        feet = self._named(FOOT, self.chains) or [c for c in self.chains if self._end(c)[2] < LOW * self.height]
        rest = [c for c in self.chains if not any(c[0] == foot[0] for foot in feet)]
        heads = self._named(HEAD, rest)
        hands = [c for c in self._named(HAND, rest) if c not in heads]
        if not hands:
            hands = [c for c in rest if c not in heads and abs(self._end(c)[1]) > FAR * self.height]
        legs, arms = self._sides(feet), self._sides(hands)
        self._check(legs, arms)
        return legs, arms, heads or [c for c in rest if c not in hands]

    def _neck(self, heads: list[list[int]], skipped: int) -> list[int]:
        """Joints from behind those of the trunk to the head."""
        if not heads:
            return []
        neck = [j for j in self._highest(heads)[skipped:] if not self.skeleton.joints[j].end]
        named = [k for k, j in enumerate(neck) if HEAD.search(self._plain(j))]
        return neck[: named[0] + 1] if named else neck

    def _chain(self, joint: int) -> list[int]:
        """Joints from below the hips to one that nothing hangs on; empty if it is another."""
        chain, at = [], joint
        while at >= 0 and at != self.hips:
            chain.append(at)
            at = int(self.skeleton.parents[at])
        return chain[::-1] if at == self.hips and not (self.skeleton.parents == joint).any() else []

    def _plain(self, joint: int) -> str:
        return self.skeleton.names[joint].rpartition(":")[2].lower()

    def _named(self, words: re.Pattern[str], chains: list[list[int]]) -> list[list[int]]:
        return [c for c in chains if any(words.search(self._plain(j)) for j in c)]

    def _end(self, chain: list[int]) -> Floats:
        return np.asarray(self.points[chain[-1]] - (*self.points[self.hips, :2], self.ground))

    def _length(self, chain: list[int]) -> float:
        return float(np.linalg.norm(np.diff(self.points[[self.hips, *chain]], axis=0), axis=1).sum())

    def _highest(self, chains: list[list[int]]) -> list[int]:
        return max(chains, key=lambda c: (bool(self._named(HEAD, [c])), float(self._end(c)[2])))

    def _sides(self, chains: list[list[int]]) -> dict[str, list[int]]:
        """The longest chain on each side."""
        found: dict[str, list[int]] = {}
        for chain in sorted(chains, key=self._length):
            told = [s for j in chain for s, words in SIDED.items() if words.search(self.skeleton.names[j])]
            side = told[-1] if told else "left" if self._end(chain)[1] > 0.0 else "right"
            found[side] = chain
        return found

    def _bones(self, chain: list[int], skipped: int) -> list[int]:
        """The three joints that end at one named a foot or a hand, else those of the two longest bones in a row."""
        joints = chain[skipped:]
        for k, joint in enumerate(joints):
            if k >= 2 and END.search(self._plain(joint)):
                return joints[k - 2 : k + 1]
        lengths = np.linalg.norm(np.diff(self.points[joints], axis=0), axis=1)
        if len(lengths) < 2:
            return []
        k = int(np.argmax(np.minimum(lengths[:-1], lengths[1:])))
        return joints[k : k + 3] if min(lengths[k], lengths[k + 1]) > 0.0 else []

    def _leg(self, chain: list[int]) -> Leg:
        names, bones = self.skeleton.names, self._bones(chain, 0)
        beyond = chain[chain.index(bones[2]) + 1 :]
        toe = next((j for j in beyond if np.linalg.norm(self.points[j] - self.points[bones[2]]) > 1e-6), bones[2])
        return Leg(Limb(*(names[j] for j in bones)), names[toe])

    def _check(self, legs: dict[str, list[int]], arms: dict[str, list[int]]) -> None:
        name, names = self.skeleton.name, self.skeleton.names
        missing = [side for side in SIDES if side not in legs or not self._bones(legs[side], 0)]
        if missing or self.height <= 0.0:
            raise InputError(
                f"{name!r} has no {' and no '.join(missing or SIDES)} leg: below its hips, {names[self.hips]!r}, no "
                f"chain of hip, knee and ankle goes down to a foot. Its joints are {listing(list(names), 20)}."
            )
        across = self.points[legs["left"][0]] - self.points[legs["right"][0]]
        across = self._end(legs["left"]) - self._end(legs["right"]) if np.hypot(*across[:2]) < 1e-6 else across
        if across[1] < 0.5 * np.hypot(*across[:2]):
            raise InputError(
                f"{name!r} does not look along x with z up: its left leg is not to the left of its right one. "
                "Figure.in_world(height=...) turns figures of files with y up."
            )
        if arms and all(self._end(chain)[2] < LOW * self.height for chain in arms.values()):
            raise InputError(
                f"{name!r} stands on its hands too, at rest; an actor goes on two legs, and animals on four are moved "
                "by their own clips."
            )


def _common(chains: list[list[int]]) -> list[int]:
    """The joints with which all chains begin."""
    if not chains:
        return []
    count = 0
    while all(len(c) > count and c[count] == chains[0][count] for c in chains):
        count += 1
    return chains[0][:count]
