"""Methods by chain: every independent chain of joints solved by the method chosen for it.

    A = diag(A_1, …, A_n),   A_k λ_k = b_k each by its own method

A_k is the matrix of the joints of chain k, b_k the wanted changes of their velocities, λ_k the impulses. Joints belong
to the same chain if moving bodies lead from one to the other; the world and static bodies do not join chains.

    find the chains; give each the method named for one of its bodies or joints, or the default
    prepare every method once, for all joints of its chains; solutions are found one method after the other
Cost: that of the methods. Use it where one mechanism wants another method than the rest. All chains of a world go on
until the last of them is within its tolerance.

Reference: Bender, dissertation, §3.3.2.3 (independent chains) and §3.3.3.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import checks
from rattleback.core.choice import choose
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.sealed import sealed
from rattleback.core.stages import Program
from rattleback.maths.block_sparse import find_pattern
from rattleback.problem.delassus import shared_bodies
from rattleback.problem.joint_rows import JointRows


@kernel
def begin_share(share: wp.array[real], which: wp.array[wp.int32]) -> None:
    """Every world may use up its tolerances until a method says otherwise."""
    w = wp.tid()
    if which[w] == 1:
        share[w] = real(1.0)


@kernel
def take_least(share: wp.array[real], other: wp.array[real], which: wp.array[wp.int32]) -> None:
    """The least that a method allows."""
    w = wp.tid()
    if which[w] == 1:
        share[w] = wp.min(share[w], other[w])


@sealed
@dataclass(frozen=True)
class JointsByChain:
    """A method for every chain; made by :func:`joints_by_chain`.

    Args:
        methods: Pairs of a name in the scene, of a body or a joint, and the method for its chain.
        default: The method for all other chains.
    """

    methods: tuple[tuple[str, Any], ...] = ()
    default: Any = "direct"

    def __post_init__(self) -> None:
        """Take methods by name or as objects."""
        methods: Any = self.methods
        given = methods if isinstance(methods, tuple) else (methods,)
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in given):
            raise InputError(
                f"The methods of JointsByChain are {self.methods!r}; they must be pairs of name and method."
            )
        pairs = tuple((checks.text(name, "The name of a chain"), _method(method)) for name, method in self.methods)
        object.__setattr__(self, "methods", pairs)
        object.__setattr__(self, "default", _method(self.default))

    def prepare(self, problem: JointRows) -> "PreparedByChain":
        """Find the chains and prepare every method for its own."""
        chains = find_chains(problem)
        chosen: dict[int, tuple[str, Any]] = {}
        for name, method in self.methods:
            chain = _chain_of(problem, chains, name)
            other, before = chosen.setdefault(chain, (name, method))
            if before != method:
                raise InputError(
                    f"{other!r} and {name!r} belong to the same chain, and joints_by_chain gives {before!r} to one and "
                    f"{method!r} to the other; leave one of them out."
                )
        members: list[tuple[Any, list[int]]] = []
        for chain, joints in enumerate(chains):
            method = chosen.get(chain, ("", self.default))[1]
            own = next((own for known, own in members if known == method), None)
            if own is None:
                members.append((method, list(joints)))
            else:
                own.extend(joints)
        return PreparedByChain(problem, [method.prepare(problem, frozenset(own)) for method, own in members])


class PreparedByChain:
    """Several methods for the joints of one model.

    Attributes:
        methods: The methods, each prepared for its own joints.
        share: Part of the tolerances each world may use up: the least of theirs.
    """

    def __init__(self, problem: JointRows, methods: list[Any]) -> None:
        self.problem, self.methods = problem, methods
        self.share = wp.full(problem.model.worlds, 1.0, dtype=real, device=problem.model.device)
        for method in methods:
            self.share.assign(np.minimum(self.share.numpy(), method.share.numpy()))

    def record_preparation(self, program: Program, which: Any) -> None:
        """Prepare one method after the other, in the worlds where ``which`` is 1."""
        worlds = self.problem.model.worlds
        program.launch(begin_share, worlds, self.share, which)
        for method in self.methods:
            method.record_preparation(program, which)
            program.launch(take_least, worlds, self.share, method.share, which)

    def record_solution(self, program: Program) -> None:
        """Impulses of one method's joints after the other's."""
        for method in self.methods:
            method.record_solution(program)

    def redundant_rows(self) -> np.ndarray:
        """Rows of every joint that others imply, shape (worlds, joints)."""
        return np.asarray(sum(method.redundant_rows() for method in self.methods))


def joints_by_chain(methods: Mapping[str, Any], default: Any = "direct") -> JointsByChain:
    """A joint method made of others, one for every chain: ``joints=rb.joints_by_chain({"rope": "iterative"})``.

    Args:
        methods: For the name of any moving body or any joint of a chain, the method of that chain: a name from the menu
            or an object. The names are looked up when the simulation is made.
        default: The method of all other chains.
    """
    if not isinstance(methods, Mapping):
        raise InputError(
            f"The methods of joints_by_chain are {methods!r}; they must be a dict of names in the scene and methods, "
            'such as {"rope": "iterative"}.'
        )
    return JointsByChain(tuple(methods.items()), default)


def find_chains(problem: JointRows) -> list[list[int]]:
    """The joints of each independent chain of a world."""
    pattern = find_pattern(len(problem.names), shared_bodies(problem))
    ends = np.cumsum(pattern.chains)
    return [sorted(pattern.order[end - count : end]) for count, end in zip(pattern.chains, ends, strict=True)]


def _method(value: Any) -> Any:
    """The method for a chain, which must be able to do with some of the joints."""
    from rattleback.solvers.joints import MENU, NEEDS

    method = choose("joint method", value, MENU, NEEDS)
    if "members" not in inspect.signature(method.prepare).parameters:
        raise InputError(
            f"{method!r} cannot be the method of a chain: its prepare takes no members=, the joints it is for."
        )
    return method


def _chain_of(problem: JointRows, chains: list[list[int]], name: str) -> int:
    """The chain of a body or joint."""
    scene = problem.model.scene
    if name in problem.names:
        held = {problem.names.index(name)}
    else:
        held = {j for j, joint in enumerate(scene.joints.values()) if name in (joint.a, joint.b)}
        _check_moving(scene, name, bool(held))
    return next(k for k, joints in enumerate(chains) if held & set(joints))


def _check_moving(scene: Any, name: str, held: bool) -> None:
    """Refuse the name of what belongs to no chain."""
    body = next((body for body in scene.bodies if body.name == name), None)
    if name == scene.world.name or (body is not None and body.static):
        raise InputError(
            f"joints_by_chain has a method for {name!r}, which does not move and so joins no chain; name a body or a "
            "joint of the chain."
        )
    if body is None:
        known = [*scene.joints, *(body.name for body in scene.bodies)]
        raise UnknownName(
            f"joints_by_chain has a method for {name!r}, and there is no body or joint of that name."
            f"{did_you_mean(name, known)} There are {listing(known)}."
        )
    if not held:
        raise InputError(f"joints_by_chain has a method for {name!r}, a body that no joint holds.")
