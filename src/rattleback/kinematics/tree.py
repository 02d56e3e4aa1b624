"""Kinematic trees: links and joints without masses, for forward and inverse kinematics.

    T_i(q) = T_parent(i)(q) · P_i · M_i(q)

T_i frame of link i in the world, P_i place of its joint in the parent, M_i its turn about, or way along, its axis.

Structure is kept apart from looks: what a link looks like is attached by its name, so one motion drives many looks.

Reference: lecture notes on forward and inverse kinematics, §4.1 and §4.2.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks, device
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed
from rattleback.kinematics.arrays import Links, compile_links
from rattleback.kinematics.link import HERE, Frame, Link, Mimic, as_frame, as_matrix

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from rattleback.kinematics.dh import Table

    Floats = NDArray[np.float64]

# A coordinate without limits is drawn, where one is drawn at random, from this range [rad or m].
UNLIMITED = (-np.pi, np.pi)


@sealed
class Tree:
    """A tree of links.

    Attributes:
        links: Its links, parents before children.
        coordinates: Names of the links whose joints have a coordinate of their own, in the order of q.
        lower: Least value of each coordinate (coordinates,) [rad or m]; −∞ without limits.
        upper: Greatest value of each coordinate.
        base: Frame of the base in the world.
        tools: Frames by name, each on a link: (link, frame); ``"tip"`` is the one that is meant where none is named.
        device: Where batches are computed.
        kept: What kernels need again and again, made once.

    Args:
        links: The links, in any order.
        tools: Frames by name: the name of a link, or a pair (link, frame). Without ``"tip"``, the frame of the last
            link is the tip.
        base: Frame of the base in the world.
        name: What it is called.
        on: Device for batches: ``"cpu"``, ``"cuda"`` or ``"cuda:0"``.
    """

    def __init__(
        self,
        links: Iterable[Link],
        tools: Mapping[str, Any] | None = None,
        base: Any = HERE,
        name: str = "tree",
        on: str = "cpu",
    ) -> None:
        self.name, self.base = checks.text(name, "The name of a tree"), as_frame(base, "The base of a tree")
        self.links = _in_order(list(links))
        self._number = {link.name: i for i, link in enumerate(self.links)}
        self.coordinates = tuple(link.name for link in self.links if link.moves)
        self._check_mimics()
        bounds = [_bounds(link) for link in self.links if link.moves]
        self.lower, self.upper = np.array(bounds, dtype=np.float64).reshape(-1, 2).T
        self._tighten()
        given = dict(tools or {})
        self.tools = {"tip": self._tool("tip", given.pop("tip", self.links[-1].name))}
        self.tools |= {key: self._tool(key, value) for key, value in given.items()}
        self.device = device.find(on)
        self.arrays: Links = compile_links(self.links, self._columns(), self.device)
        self.kept: dict[Any, Any] = {}

    @classmethod
    def from_dh(cls, rows: ArrayLike, convention: str = "modified", limits: Any = None, **options: Any) -> Tree:
        """A chain from a Denavit–Hartenberg table; its links and coordinates are ``joint1``, ``joint2`` and on.

        Args:
            rows: a [m], α [rad], d [m], θ [rad] of each joint (joints, 4); the variable of a revolute joint is added to
                θ, that of a prismatic one to d.
            convention: ``"modified"`` or ``"standard"``.
            limits: Least and greatest value of each variable [rad or m], or None, one for each row.
            **options: ``kinds``, ``"revolute"`` (default) or ``"prismatic"``, for all rows or for each; ``tool``, frame
                of the tip on the last row's; ``base``, ``name`` and ``on`` as for a tree.
        """
        from rattleback.kinematics.dh import links_from_rows

        checks.options(options, ("kinds", "tool", "base", "name", "on"), "from_dh")
        links, end = links_from_rows(rows, convention, options.pop("kinds", None), limits)
        tip = as_matrix(as_frame(options.pop("tool", HERE), "The tool of a table"))
        return cls(links, tools={"tip": (links[-1].name, end @ tip)}, **options)

    @classmethod
    def from_scene(cls, scene: Any, root: Any = "world", leave_out: Iterable[str] = (), **options: Any) -> Tree:
        """The tree of the bodies of a scene that hang, by joints, on one body or on the world.

        Links have the names and frames of the bodies, coordinates the names of the joints; a joint of several freedoms
        has one for each, ``"shoulder.turn_x"`` and on. Stops are limits.

        Args:
            scene: The scene.
            root: The body it hangs on, which stays where it is; the world with all that is static if left out.
            leave_out: Names of joints not to follow, such as those that close loops.
            **options: ``tools``, ``name`` and ``on`` as for a tree.
        """
        from rattleback.kinematics.scene import links_from_scene

        links, base = links_from_scene(scene, root, leave_out)
        return cls(links, base=base, **{"name": scene.name, **options})

    @classmethod
    def from_file(cls, path: Any, **options: Any) -> Tree:
        """The tree of a robot from a URDF, MJCF, SDF or USD file, or of a scene file of our own.

        Coordinates have the names of the joints; links, merged or not, and sites are links and tools by name. Joints
        that follow others do so; those that close loops are left out.

        Args:
            path: The file.
            **options: ``base``, ``search`` and ``loops`` as for ``Scene.from_file``; ``tools``, ``name`` and ``on`` as
                for a tree.
        """
        from rattleback.io.robots.read import tree_from_file

        return tree_from_file(path, **options)

    def to_dh(self, tool: str = "tip") -> Table:
        """The Denavit–Hartenberg table of the chain to a tool or a link, in the modified form."""
        from rattleback.kinematics.dh import table_of

        return table_of(self, tool)

    def __len__(self) -> int:
        return len(self.links)

    def __repr__(self) -> str:
        return f"<{self.name!r}: {len(self.links)} links, {len(self.coordinates)} coordinates>"

    @property
    def middle(self) -> Floats:
        """The configuration in the middle of all limits (coordinates,); near zero where they are not both there."""
        both = np.isfinite(self.lower) & np.isfinite(self.upper)
        low, high = np.where(both, self.lower, 0.0), np.where(both, self.upper, 0.0)
        return np.clip(0.5 * (low + high), self.lower, self.upper)

    @cached_property
    def size(self) -> float:
        """Half the length of all links one after the other [m], what a radian is weighed with; 1 where they have none.

        A prismatic joint counts with the range of its limits.
        """
        lengths = [float(np.linalg.norm(link.place.position)) for link in self.links]
        slides = [np.ptp(link.limits) for link in self.links if link.joint == "prismatic" and link.limits is not None]
        tools = [float(np.linalg.norm(frame.position)) for _, frame in self.tools.values()]
        total = sum(lengths) + sum(way for way in slides if np.isfinite(way)) + max(tools)
        return 0.5 * float(total) if total > 0.0 else 1.0

    def link(self, name: str) -> int:
        """Number of a link."""
        if name not in self._number:
            names = list(self._number)
            raise UnknownName(
                f"{self.name!r} has no link {name!r}.{did_you_mean(name, names)} It has {listing(names, 30)}."
            )
        return self._number[name]

    def tool(self, name: str) -> tuple[int, Frame]:
        """Number of the link a tool, or a link, is on, and its frame there."""
        if name in self.tools:
            link, frame = self.tools[name]
            return self._number[link], frame
        return self.link(name), Frame(*HERE)

    def path(self, name: str) -> list[int]:
        """Numbers of the links from the base to a link or to that of a tool."""
        found = [self.tool(name)[0]]
        while parent := self.links[found[-1]].parent:
            found.append(self._number[parent])
        return found[::-1]

    def configurations(self, q: ArrayLike, what: str = "A configuration") -> tuple[Floats, tuple[int, ...]]:
        """Configurations as rows (n, coordinates), and the shape of what was given without the last axis."""
        found = checks.finite(q, what)
        if found.shape[-1:] != (len(self.coordinates),):
            raise InputError(
                f"{what} of {self.name!r} has shape {found.shape}; its last axis must be {len(self.coordinates)}, one "
                f"for each of {listing(list(self.coordinates), 12)}."
            )
        count = int(np.prod(found.shape[:-1]))
        return np.ascontiguousarray(found.reshape(count, found.shape[-1]), dtype=np.float64), found.shape[:-1]

    def random(self, count: int, seed: int) -> Floats:
        """Configurations drawn evenly within the limits (count, coordinates); unlimited ones within ±π."""
        low, high = self.range
        drawn = np.random.default_rng(checks.count(seed, "The seed", least=0)).uniform(
            size=(checks.count(count, "The number"), len(low))
        )
        return low + drawn * (high - low)

    @property
    def range(self) -> tuple[Floats, Floats]:
        """Least and greatest value of each coordinate where one is drawn at random; a turn where there is no limit."""
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        turn = UNLIMITED[1] - UNLIMITED[0]
        least = np.where(low, self.lower, np.where(high, self.upper - turn, UNLIMITED[0]))
        return least, np.where(high, self.upper, np.where(low, self.lower + turn, UNLIMITED[1]))

    def within_limits(self, q: ArrayLike, slack: float = 0.0) -> NDArray[np.bool_]:
        """Whether configurations respect the limits, up to some slack [rad or m]."""
        rows, shape = self.configurations(q)
        inside = ((rows >= self.lower - slack) & (rows <= self.upper + slack)).all(axis=1)
        return inside.reshape(shape)

    def forward(self, q: ArrayLike, tool: str = "tip") -> Floats:
        """Frames of a tool, or of a link, in the world as 4 × 4 matrices, one for each configuration (..., 4, 4)."""
        from rattleback.kinematics.forward import frames_of

        return frames_of(self, q, tool)

    def frames(self, q: ArrayLike) -> Floats:
        """Frames of all links in the world as 4 × 4 matrices (..., links, 4, 4)."""
        from rattleback.kinematics.forward import all_frames

        return all_frames(self, q)

    def jacobian(self, q: ArrayLike, tool: str = "tip", point: ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
        """How the frame of a tool, or of a link, moves with the coordinates (..., 6, coordinates).

        Args:
            q: Configurations (..., coordinates).
            tool: Name of the tool or link.
            point: The point of it that is meant, in its frame (3,) [m].

        Returns:
            V = J q̇: velocity of the point [m/s] above angular velocity [rad/s], both in the world frame.
        """
        from rattleback.kinematics.jacobian import geometric

        return geometric(self, q, tool, point)

    def _columns(self) -> dict[str, int]:
        return {name: column for column, name in enumerate(self.coordinates)}

    def _check_mimics(self) -> None:
        for link in self.links:
            if link.mimic is not None and link.mimic.link not in self.coordinates:
                raise InputError(
                    f"Link {link.name!r} follows {link.mimic.link!r}, which has no coordinate of its own; it must be "
                    f"one of {listing(list(self.coordinates), 30)}."
                )

    def _tighten(self) -> None:
        """Limits of a joint that follows another are limits of the other's coordinate."""
        columns = self._columns()
        for link in self.links:
            if link.mimic is not None and link.limits is not None and link.mimic.ratio != 0.0:
                leader, ratio, offset = Mimic(*link.mimic)
                ends = sorted((limit - offset - link.offset) / ratio for limit in link.limits)
                column = columns[leader]
                self.lower[column] = max(self.lower[column], ends[0])
                self.upper[column] = min(self.upper[column], ends[1])

    def _tool(self, name: str, value: Any) -> tuple[str, Frame]:
        try:
            link, frame = (value, HERE) if isinstance(value, str) else value
        except (TypeError, ValueError):
            raise InputError(f"Tool {name!r} is {value!r}; it must be the name of a link, or (link, frame).") from None
        self.link(link)
        return link, as_frame(frame, f"The frame of tool {name!r}")


def _in_order(links: list[Link]) -> tuple[Link, ...]:
    """Links with parents before children, otherwise as given."""
    if not links:
        raise InputError("A tree has no links; give at least one.")
    names = [link.name for link in links]
    for link in links:
        if names.count(link.name) > 1:
            raise InputError(f"Two links are called {link.name!r}; give each a name of its own.")
        if link.parent and link.parent not in names:
            hint = did_you_mean(link.parent, names)
            raise InputError(f"Link {link.name!r} hangs on {link.parent!r}, which is no link of the tree.{hint}")
    placed: dict[str, Link] = {}
    while len(placed) < len(links):
        before = len(placed)
        for link in links:
            if not link.parent or link.parent in placed:
                placed.setdefault(link.name, link)
        if len(placed) == before:
            stuck = [name for name in names if name not in placed]
            raise InputError(f"The links {listing(stuck, 12)} hang on each other in a circle.")
    return tuple(placed.values())


def _bounds(link: Link) -> tuple[float, float]:
    """Limits of the coordinate of a link; those of the joint without its offset."""
    if link.limits is None:
        return -np.inf, np.inf
    return link.limits[0] - link.offset, link.limits[1] - link.offset
