"""A task: a scene, what is observed, what actions do, how well it goes and when it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rattleback.gym.acting import Actuator
    from rattleback.model.scene import Scene
    from rattleback.recording.camera import Camera
    from rattleback.simulation import Simulation


@dataclass(frozen=True)
class Step:
    """One step of an episode in all worlds, as rewards and ends of episodes look at it.

    Attributes:
        simulation: The simulation, after the step.
        before: Observations before it (worlds, n), neither rounded nor clipped.
        action: Actions in it (worlds, actions), within their bounds.
        observation: Observations after it (worlds, n), neither rounded nor clipped.
    """

    simulation: Simulation
    before: NDArray[Any]
    action: NDArray[Any]
    observation: NDArray[Any]


class Options(Settings, total=False):
    """Keyword options of environments: those below, and the settings of a simulation but ``worlds`` and ``sleep``."""

    observe: Any
    act: Sequence[Actuator] | Actuator
    reward: Callable[[Step], Any]
    done: Callable[[Step], Any] | None
    start: Mapping[str, Any] | Callable[..., None] | None
    bounds: tuple[ArrayLike, ArrayLike] | None
    steps: int
    max_episode_steps: int | None
    camera: Camera | None


OWN = tuple(Options.__annotations__)


@sealed
@dataclass(frozen=True)
class Task:
    """What an environment is made of.

    Attributes:
        scene: The scene.
        observe: Names of quantities and functions of the simulation, which return (worlds,) or (worlds, n).
        act: An actuator for each number of an action: ``Effort``, ``Target``, ``Push``, or one of your own.
        reward: Function of a :class:`Step` that gives the rewards (worlds,).
        done: Function of a :class:`Step` that says where the episode has ended (worlds,); None for never.
        start: How episodes begin: numbers or bounds by names of coordinates, or a function of the simulation and the
            draws of the worlds that begin; None for what the scene says.
        bounds: Least and largest observations; observations are clipped to them.
        steps: Steps of the simulation in a step of the environment.
        max_episode_steps: Steps after which an episode is cut off; None for no end.
        camera: Where pictures are taken from.
        settings: Settings of the simulation.
    """

    scene: Scene
    observe: Any
    act: Sequence[Actuator]
    reward: Callable[[Step], Any]
    done: Callable[[Step], Any] | None = None
    start: Mapping[str, Any] | Callable[[Simulation, Any], None] | None = None
    bounds: tuple[ArrayLike, ArrayLike] | None = None
    steps: int = 1
    max_episode_steps: int | None = None
    camera: Camera | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def as_task(scene: Any, what: str, **options: Unpack[Options]) -> Task:
    """A task from a scene and options, or a task with some of them changed.

    Args:
        scene: The scene, a function that returns one, or a task.
        what: What it is for, in messages.
        **options: See :class:`Options`.
    """
    known = [name for name in dict.fromkeys((*OWN, *Settings.__annotations__)) if name not in ("worlds", "sleep")]
    checks.options(options, known, what)
    given: dict[str, Any] = dict(options)
    settings = {name: given.pop(name) for name in list(given) if name in Settings.__annotations__}
    if isinstance(scene, Task):
        fields = {name: getattr(scene, name) for name in Task.__dataclass_fields__}
        settings = {**scene.settings, **settings}
        given = {**fields, **given}
    else:
        given["scene"] = scene() if callable(scene) else scene
    if missing := [name for name in ("observe", "act", "reward") if name not in given]:
        raise InputError(
            f"{what} needs {' and '.join(missing)}, as observe=['hinge.angle'], act=[rb.gym.Effort('hinge')], "
            "reward=lambda step: step.observation[:, 0]."
        )
    act = given["act"]
    given["act"] = tuple(act) if isinstance(act, (list, tuple)) else (act,)
    return Task(**{**given, "settings": settings})
