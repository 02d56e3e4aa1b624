"""A function as the target of a sweep: called once for each variant, wherever the task is run."""

from __future__ import annotations

import functools
import inspect
import math
import traceback
import types
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError, listing
from rattleback.sweeps.address import address, imported
from rattleback.sweeps.identity import digest
from rattleback.sweeps.outcome import Outcome, clean, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rattleback.sweeps.outcome import Variant


MOST, CHUNKS = 256, 128  # variants in a chunk; chunks of a sweep that has fewer than both allow


@dataclass(frozen=True)
class FunctionTarget:
    """A function ``f(**parameters)`` that returns a dict of results.

    Attributes:
        function: The function; one that has a parameter ``seed`` gets the seed of the variant.
    """

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return address(self.function).rpartition(":")[2]

    @property
    def timed(self) -> int:
        """How many variants are run to see what one costs."""
        return 1

    def chunk_size(self, count: int) -> int:
        """How many variants a chunk has, unless something is said: few files, none too large to lose."""
        return min(MOST, math.ceil(count / CHUNKS))

    def digest(self) -> str:
        """What tells it from other functions."""
        return digest(self.function)

    def describe(self) -> dict[str, Any]:
        """What a store keeps of it."""
        return {"kind": "function", "function": address(self.function)}

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Refuse parameters it does not take."""
        try:
            inspect.signature(self.function).bind(**self._given(parameters, 0))
        except TypeError as error:
            raise InputError(
                f"The function {address(self.function)!r} cannot be called with the parameters "
                f"{listing(list(parameters))}: {error}."
            ) from None

    def run(self, variants: Iterable[Variant]) -> list[Outcome]:
        """Call it for each variant; what it raises becomes the outcome of that variant."""
        return [self._call(variant) for variant in variants]

    def _call(self, variant: Variant) -> Outcome:
        try:
            results = self.function(**self._given(variant.parameters, variant.seed))
            return Outcome(variant.index, clean(results, variant.parameters))
        except (Exception, SystemExit) as error:
            message = f"{type(error).__name__}: {error}".rstrip(": ")
            return Outcome(variant.index, {}, message, places(error))

    def _given(self, parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
        wanted = "seed" in inspect.signature(self.function).parameters and "seed" not in parameters
        return {**parameters, "seed": seed} if wanted else dict(parameters)


def make_function_target(function: Any) -> FunctionTarget:
    """The target that a function, a ``functools.partial`` or the text ``package.module:function`` names."""
    if isinstance(function, str):
        function = imported(function)
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if not isinstance(inner, types.FunctionType):
        raise InputError(
            f"The target of a sweep is {short(function)}; give a function written in Python, a scene, or text such as "
            "'package.module:function'."
        )
    return FunctionTarget(function)


def places(error: BaseException) -> str:
    """Where it was raised, from the function inward, by names of files without their folders."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    return "\n".join(f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}" for frame in frames)
