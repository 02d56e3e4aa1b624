"""Figures: a skeleton with its clips and its skins, as a file holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rattleback.characters.acting.actor import Actor
    from rattleback.characters.clip import Clip
    from rattleback.characters.skeleton import Skeleton
    from rattleback.characters.skin import Skin


@sealed
class Figure:
    """A skeleton with its clips and its skins.

    Attributes:
        skeleton: The skeleton.
        clips: Motions by name.
        skins: Looks by name.

    Args:
        skeleton: The skeleton.
        clips: Motions by name, all of that skeleton.
        skins: Looks by name, all of that skeleton.
    """

    def __init__(
        self, skeleton: Skeleton, clips: Mapping[str, Clip] | None = None, skins: Mapping[str, Skin] | None = None
    ) -> None:
        self.skeleton, self.clips, self.skins = skeleton, dict(clips or {}), dict(skins or {})
        parts: list[tuple[str, str, Any]] = [("Clip", name, clip) for name, clip in self.clips.items()]
        for kind, name, part in [*parts, *(("Skin", name, skin) for name, skin in self.skins.items())]:
            if part.skeleton is not skeleton:
                raise InputError(f"{kind} {name!r} belongs to {part.skeleton!r}, not to the skeleton of the figure.")

    def __repr__(self) -> str:
        return f"<figure of {self.skeleton!r}: {len(self.clips)} clips, {len(self.skins)} skins>"

    @property
    def skin(self) -> Skin:
        """Its look, where it has one; the first of several."""
        if not self.skins:
            raise InputError(f"The figure of {self.skeleton.name!r} has no skin; its file holds motion alone.")
        return next(iter(self.skins.values()))

    def clip(self, name: str | None = None) -> Clip:
        """A clip by name; the first if none is given."""
        if not self.clips:
            raise InputError(f"The figure of {self.skeleton.name!r} has no clips.")
        wanted = next(iter(self.clips)) if name is None else name
        if wanted not in self.clips:
            hint = did_you_mean(wanted, list(self.clips))
            raise UnknownName(f"The figure has no clip {wanted!r}.{hint} It has {listing(list(self.clips))}.")
        return self.clips[wanted]

    def in_world(self, *, unit: float | None = None, height: float | None = None, up: str = "y") -> Figure:
        """The figure in metres with z up, as scenes have it; it looks along x.

        Args:
            unit: Metres a unit of the file.
            height: Its height at rest instead [m].
            up: Upward axis of the file, ``"y"``, as in BVH and glTF files, or ``"z"``.
        """
        from rattleback.characters.in_world import in_world

        return in_world(self, unit, height, up)

    def do(self, command: str, **options: Any) -> Actor:
        """An actor of it that is told to do something, such as ``figure.do("walk", to=(3, 1)).do("sit").clip()``.

        Args:
            command: What to do, see ``Actor.do``.
            **options: How, see there.
        """
        from rattleback.characters.acting.actor import Actor

        return Actor(self).do(command, **options)

    def save(self, path: Any, clip: str | None = None) -> None:
        """Write it to a file.

        Args:
            path: ``.glb`` or ``.gltf`` for all of it; ``.bvh`` for the skeleton and one clip.
            clip: The clip of a BVH file; the first if left out.
        """
        from rattleback.characters.formats.bvh_write import write_bvh
        from rattleback.characters.formats.gltf_write import write_gltf

        if str(path).lower().endswith(".bvh"):
            write_bvh(path, self.clip(clip))
        else:
            write_gltf(path, self)
