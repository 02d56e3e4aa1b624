"""How quantities change with the arguments of a function that builds a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from rattleback.core import checks
from rattleback.core.errors import InputError, RattlebackError
from rattleback.recording.observer import Observer
from rattleback.sensitivities.result import Jacobian, assembled, distance_of, followed, shifts
from rattleback.settings import Settings
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rattleback.model.scene import Scene


class Options(Settings, total=False):
    """Keyword options of :func:`jacobian`: when, and the settings of the simulation but ``worlds`` and ``vary``."""

    duration: Any
    steps: Any


def jacobian(
    build: Callable[..., Scene], parameters: Mapping[str, float], of: Any, **options: Unpack[Options]
) -> Jacobian:
    """The derivatives of quantities by the arguments of a function that builds a scene, from the start of that scene.

    The scenes of all differences are worlds of one simulation. An argument that cannot be smaller is made larger alone.

    Args:
        build: Function of the parameters by name that returns a scene; of the same structure for all values.
        parameters: The values at which to differentiate, by name.
        of: Names of quantities, as those of a recorder, functions of the simulation that return (worlds, n), or a list.
        **options: ``duration``, after what time [s], or ``steps``, after how many steps: a number or a list that rises;
            and settings of the simulation.
    """
    known = [name for name in Options.__annotations__ if name not in ("worlds", "vary", "seed")]
    checks.options(options, known, "jacobian")
    given: dict[str, Any] = {"warn": False, **options}
    steps, duration = given.pop("steps", None), given.pop("duration", None)
    values = {name: checks.number(value, f"The parameter {name!r}") for name, value in parameters.items()}
    if not values:
        raise InputError("A Jacobian needs parameters, such as {'length': 0.5}.")
    distances = [distance_of(abs(value)) for value in values.values()]
    moved = shifts(distances)
    one_sided = [not _builds(build, values, name, -distance) for name, distance in zip(values, distances, strict=True)]
    moved[:, one_sided] = moved[:, one_sided].clip(min=0.0)
    scenes = [build(**dict(zip(values, (list(values.values()) + row).tolist(), strict=True))) for row in moved]
    simulation = Simulation(scenes, **given)
    observer = Observer(of, simulation)
    found = followed(simulation, observer.look, steps, duration)
    return assembled((observer.names, list(values)), found, distances, one_sided)


def _builds(build: Callable[..., Scene], values: Mapping[str, float], name: str, shift: float) -> bool:
    """Whether a scene can be built with one parameter changed."""
    try:
        build(**{**values, name: values[name] + shift})
    except RattlebackError:
        return False
    return True
