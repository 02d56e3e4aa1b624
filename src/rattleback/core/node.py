"""The nodes of a recorded step: launches, calls into Python, loops and branches, and the calls that execute them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import warp as wp


@dataclass
class Launch:
    """One kernel launch."""

    kernel: Any
    dim: int
    inputs: tuple[Any, ...]
    command: Any = None


@dataclass
class HostCall:
    """A call into Python in the middle of a step."""

    function: Callable[[], None]


@dataclass
class Loop:
    """Launches repeated while ``flag[0]`` is not zero; the flag lives on the device."""

    flag: Any
    may_stop: bool = False
    nodes: "list[Node]" = field(default_factory=list)


@dataclass
class Branch:
    """Launches done only where ``flag[0]`` is not zero, and others where it is; the flag lives on the device."""

    flag: Any
    nodes: "list[Node]" = field(default_factory=list)
    otherwise: "list[Node]" = field(default_factory=list)


Node = Launch | HostCall | Loop | Branch


def launches_of(nodes: list[Node]) -> list[Launch]:
    """All launches, also those inside loops and branches."""
    found: list[Launch] = []
    for node in nodes:
        if isinstance(node, Launch):
            found.append(node)
        elif isinstance(node, Loop | Branch):
            found.extend(launches_of(inner_nodes(node)))
    return found


def inner_nodes(node: Loop | Branch) -> list[Node]:
    """What stands inside a node."""
    return [*node.nodes, *node.otherwise] if isinstance(node, Branch) else node.nodes


def may_stop(node: Node) -> bool:
    """Whether it is a loop that a deadline may end."""
    return isinstance(node, Loop) and node.may_stop


def together(calls: list[Callable[[], None]]) -> Callable[[], None]:
    """One call that makes all of these."""

    def make() -> None:
        for call in calls:
            call()

    return make


def direct(node: Node) -> Callable[[], None]:
    """A call that executes one node, or records it while a capture is under way."""
    if isinstance(node, Launch):
        run: Callable[[], None] = node.command.launch
        return run
    if isinstance(node, HostCall):
        return node.function
    body = together([direct(inner) for inner in node.nodes])
    if isinstance(node, Loop):
        return lambda: wp.capture_while(node.flag, body)
    other = together([direct(inner) for inner in node.otherwise]) if node.otherwise else None
    return lambda: wp.capture_if(node.flag, body, other)
