"""A scene as the target of a sweep: the variants of a task are worlds side by side in one simulation.

    Simulation(scene, worlds=n, vary={name: values of the n variants})

Parameters are named as in ``vary``: ``"arm.mass"``, ``"ground.friction"``, ``"gravity"``. Besides the settings of a
simulation a sweep of a scene takes

- ``duration``: time that is simulated [s];
- ``record``: quantities to keep over time, by the names of a Recorder, every ``every``-th step;
- ``results``: numbers to keep, a dict of text such as ``"ball.position.z"`` for the last value of a quantity or
  ``"max(ball.position.z)"`` (``first``, ``last``, ``min``, ``max``, ``mean``) over the steps, and of functions of the
  simulation at its end, which return an array with a row for each world.

The bits of a world do not depend on the worlds beside it, so neither does a result on the chunk it is run in. Where a
simulation gives up, its variants are run in halves until the one that does it is alone: that one becomes a row with the
message, and with ``strict=True`` so does one that missed its tolerance.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rattleback.core import checks
from rattleback.core.errors import InputError, RattlebackError, listing
from rattleback.sweeps.address import imported
from rattleback.sweeps.function_target import places
from rattleback.sweeps.identity import digest
from rattleback.sweeps.kept import Kept, make_kept
from rattleback.sweeps.outcome import Outcome, clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rattleback.model import Scene
    from rattleback.simulation import Simulation
    from rattleback.sweeps.outcome import Variant

LEAST, MOST, PARTS = 32, 512, 16  # worlds side by side: enough to pay for the simulation, few enough for many processes
TIMED = 16
OWN = ("duration", "record", "results", "every")


@dataclass(frozen=True)
class SceneTarget:
    """A scene with what is simulated and kept of it.

    Attributes:
        text: The scene as the text of a scene file.
        settings: The settings of the simulation as JSON text, with all defaults.
        run_settings: ``device`` and ``time_step``, which the others do not hold.
        duration: Time that is simulated [s].
        kept: What is kept of a simulation.
    """

    text: str
    settings: str
    run_settings: tuple[str, float]
    duration: float
    kept: Kept

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"the scene {_scene(self.text).name!r}"

    @property
    def timed(self) -> int:
        """How many variants are run to see what one costs; side by side, as they will be."""
        return TIMED

    def chunk_size(self, count: int) -> int:
        """How many variants a chunk has, unless something is said."""
        return min(count, MOST, max(LEAST, math.ceil(count / PARTS)))

    def digest(self) -> str:
        """What tells it from others."""
        return digest([self.text, self.settings, self.run_settings, self.duration, self.kept])

    def describe(self) -> dict[str, Any]:
        """What a store keeps of it."""
        return {
            "kind": "scene",
            "scene": json.loads(self.text),
            "settings": json.loads(self.settings),
            "device": self.run_settings[0],
            "time_step": self.run_settings[1],
            "duration": self.duration,
            **self.kept.describe(),
        }

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Refuse parameters it does not have, and quantities that differ from world to world by no number."""
        self.kept.check(self._simulation([dict(parameters)]))

    def run(self, variants: Sequence[Variant]) -> list[Outcome]:
        """Simulate the variants side by side; in halves, where that fails."""
        try:
            return self._simulate(variants)
        except Exception as error:
            if len(variants) > 1:
                middle = len(variants) // 2
                return [*self.run(variants[:middle]), *self.run(variants[middle:])]
            message = str(error) if isinstance(error, RattlebackError) else f"{type(error).__name__}: {error}"
            return [Outcome(variants[0].index, {}, message, places(error))]

    def _simulate(self, variants: Sequence[Variant]) -> list[Outcome]:
        sim = self._simulation([variant.parameters for variant in variants])
        watched = self.kept.watch(sim)
        sim.run(self.duration)
        found = self.kept.gather(sim, watched)
        return [
            Outcome(variant.index, clean(found(world), variant.parameters)) for world, variant in enumerate(variants)
        ]

    def _simulation(self, rows: Sequence[Mapping[str, Any]]) -> Simulation:
        from rattleback.io.state_schema import SettingsEntry, make_settings
        from rattleback.simulation import Simulation

        settings = make_settings(SettingsEntry.model_validate(json.loads(self.settings)))
        device, time_step = self.run_settings
        vary = {name: [row[name] for row in rows] for name in rows[0]}
        given = {**settings, "device": device, "time_step": time_step, "worlds": len(rows), "vary": vary}
        return Simulation(_scene(self.text), **given)


def make_scene_target(scene: Scene, options: Mapping[str, Any]) -> SceneTarget:
    """The target that a scene and its options make.

    Raises:
        InputError: The scene holds code, an option is missing, or nothing is to be kept.
    """
    from rattleback.io.state_schema import settings_data
    from rattleback.simulation import Simulation

    own = {name: options[name] for name in OWN if name in options}
    rest = {"warn": False, **{name: value for name, value in options.items() if name not in OWN}}
    if taken := [name for name in ("worlds", "vary", "seed") if name in rest]:
        raise InputError(f"A sweep of a scene sets {listing(taken)} itself; give its parameters in the space.")
    if "duration" not in own:
        raise InputError("A sweep of a scene needs a duration; give duration=2.0 for two seconds.")
    kept = make_kept(own.get("record", ()), own.get("results", {}), own.get("every", 1))
    sim = Simulation(scene, **rest)
    return SceneTarget(
        _text(scene),
        json.dumps(settings_data(sim), sort_keys=True),
        (str(rest.get("device", "cpu")), sim.time_step),
        checks.positive(own["duration"], "The duration of a sweep"),
        kept,
    )


def scene_of(told: Mapping[str, Any]) -> tuple[Scene, dict[str, Any]]:
    """The scene and the options that a store says are swept; modules of functions are imported."""
    from rattleback.io.faults import Faults
    from rattleback.io.scene_data import from_data
    from rattleback.io.scene_schema import ENTRIES
    from rattleback.io.state_schema import SettingsEntry, make_settings

    faults = Faults("scene of a sweep", "scene", ENTRIES)
    scene = from_data(told["scene"], faults)
    settings = make_settings(SettingsEntry.model_validate(told["settings"]))
    settings.pop("worlds", None)
    results = {name: imported(text) if ":" in text else text for name, text in told["results"].items()}
    own = {name: told[name] for name in ("device", "time_step", "duration", "every", "record")}
    return scene, {**settings, **own, "results": results}


@functools.lru_cache(maxsize=4)
def _scene(text: str) -> Scene:
    """The scene of a text, read once a process."""
    from rattleback.io import json_text
    from rattleback.io.faults import Faults
    from rattleback.io.scene_data import from_data
    from rattleback.io.scene_schema import ENTRIES

    faults = Faults("scene of a sweep", "scene", ENTRIES)
    return from_data(json_text.parse(text.encode(), faults), faults)


def _text(scene: Scene) -> str:
    from rattleback.io.scene_data import to_data

    try:
        return json.dumps(to_data(scene))
    except InputError as error:
        raise InputError(f"A sweep keeps its scene as a file. {error} Or sweep a function that makes it.") from None
