"""State files: a running simulation on disk, to go on from later, on another device or machine, bit for bit.

A file holds the scene, the settings and every array of the state. A scene with joints or forces that carry code cannot
be written; its state file then names them and is loaded into a scene of the user's own.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback._version import __version__
from rattleback.core import arrays, checks, whole_file
from rattleback.core.device import find
from rattleback.core.errors import InputError, UnknownName, listing
from rattleback.core.precision import PRECISION
from rattleback.io import scene_data, scene_schema
from rattleback.io.faults import Faults
from rattleback.io.state_archive import pack, unpack
from rattleback.io.state_schema import ENTRIES, FORMAT, VERSION, HeaderEntry, make_settings, settings_data
from rattleback.model import Scene
from rattleback.model.contact_memory import ContactMemory, enlarged
from rattleback.model.row_counts import servo_places
from rattleback.model.sleep import with_room
from rattleback.model.state import GROUPS, State
from rattleback.model.state_fit import StateFit
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

KIND = "state file"
ARRAYS = [f"{group}.{name}" for group, kind in GROUPS.items() for name in arrays.fields(kind)]
# Names that older files have for arrays, and arrays of contacts that those files lack.
RENAMED = {"contacts.force": "contacts.load", "sleeping_contacts.force": "sleeping_contacts.load"}
ADDED = ("impulse", "remainder", "extent")
# Groups of arrays that older files lack.
LATER = ("breaks", "efforts", "contacts", "sleep", "sleeping_contacts", "impulses", "trees")


def save(simulation: Simulation, path: str | PathLike[str]) -> None:
    """Write scene, settings and state of a simulation to a file.

    Args:
        simulation: The simulation; its methods must be on their menus.
        path: Where to; a file that is there is replaced, in one move.
    """
    checks.instance(simulation, Simulation, "What is saved", "rb.Simulation(scene)")
    simulation.state.send()
    values = {
        f"{part}.{name}": array for part, group in simulation.state.read().items() for name, array in group.items()
    }
    whole_file.write(path, pack(_header(simulation), values), KIND)


def load(
    path: str | PathLike[str], scene: Scene | Sequence[Scene] | None = None, device: str | None = None
) -> Simulation:
    """A simulation that goes on where the saved one stood.

    Args:
        path: The state file.
        scene: A scene to load into, or one for each world, in place of those in the file; needed if they have parts
            that carry code.
        device: Where to run; the CPU if left out, wherever it was saved.

    Raises:
        FileError: The file cannot be read, is damaged, or does not fit this version or precision.
        InputError: The scene given has other bodies than the file.
    """
    faults = Faults(KIND, whole_file.location(path, KIND), ENTRIES)
    data, values = unpack(whole_file.read(path, KIND), [*ARRAYS, *RENAMED], faults)
    header = _checked_header(data, faults)
    place = find("cpu" if device is None else device).alias
    if scene is None:
        stored = _stored_scenes(header, faults)
        groups = _checked_groups(values, stored[0], header, faults)
        with _told_of_the_file(faults):
            simulation = _simulation(stored if header.scenes else stored[0], header, place, faults)
    else:
        given: list[Any] = list(scene) if isinstance(scene, (list, tuple)) else [scene]
        for own in given:
            _check_given_scene(own, header, faults)
        groups = _checked_groups(values, given[0], header, faults)
        simulation = _simulation(scene, header, place, faults)
    _restore(simulation.state, groups)
    return simulation


@contextmanager
def _told_of_the_file(faults: Faults) -> Iterator[None]:
    """What goes wrong inside is the fault of the file, not of the caller."""
    try:
        yield
    except (InputError, UnknownName, ArithmeticError, np.linalg.LinAlgError) as error:
        raise faults.error(f"cannot be loaded: {str(error).rstrip('.')}.") from None


def _header(simulation: Simulation) -> dict[str, Any]:
    scene = simulation.scene
    code = {
        f"code_{parts}": [name for name, part in getattr(scene, parts).items() if scene_data.carries_code(part)]
        for parts in ("joints", "forces")
    }
    unwritten, varied = any(code.values()) or scene.predicates, simulation.model.scenes.varied
    header = {
        "format": FORMAT,
        "version": VERSION,
        "rattleback": __version__,
        "precision": PRECISION,
        **_names(scene),
        **code,
        "scene": None if unwritten else scene_data.to_data(scene),
        "scenes": [scene_data.to_data(own) for own in simulation.scenes] if varied and not unwritten else [],
        "settings": settings_data(simulation),
    }
    faults = Faults("simulation", scene.name, ENTRIES)
    with faults.at():
        HeaderEntry.model_validate(header)
    if faults:
        raise InputError(f"The simulation of {scene.name!r} cannot be written; it has {faults.told()}")
    return header


def _checked_header(data: Any, faults: Faults) -> HeaderEntry:
    scene_data.check_format(data, FORMAT, VERSION, faults)
    with faults.at():
        header = HeaderEntry.model_validate(data)
    faults.check()
    if header.precision != PRECISION:
        raise faults.error(
            f"was saved in {header.precision} precision, and this process runs in {PRECISION}; set "
            f"RATTLEBACK_PRECISION={header.precision} before starting Python."
        )
    return header


def _stored_scenes(header: HeaderEntry, faults: Faults) -> list[Scene]:
    """The scene of the file, or those of its worlds."""
    if header.scene is None:
        code = {"joints": header.code_joints, "forces": header.code_forces}
        said = " and ".join(f"its {parts} {listing(names)}" for parts, names in code.items() if names)
        why = f", because {said} carry code" if said else ""
        raise faults.error(f"holds no scene{why}; build the scene and pass it: rb.load(path, scene=my_scene).")
    if header.scenes and len(header.scenes) != header.settings.worlds:
        raise faults.error(f"has {len(header.scenes)} scenes for {header.settings.worlds} worlds.")
    found = []
    for data in header.scenes or [header.scene]:
        scene = scene_data.from_data(data, Faults("scene in the state file", faults.name, scene_schema.ENTRIES))
        for parts, there in _names(scene).items():
            if there != getattr(header, parts):
                raise faults.error(f"names other {parts} than its scene.")
        found.append(scene)
    return found


def _check_given_scene(scene: Scene, header: HeaderEntry, faults: Faults) -> None:
    """A state fits a scene that has the same bodies and joints in the same order, and the forces that carry code."""
    checks.instance(scene, Scene, "The scene given to load", "rb.Scene()")
    what = f"The state file {faults.name!r}"
    for parts, there in _names(scene).items():
        _check_names(parts, there, getattr(header, parts), what)
    for name in header.code_forces:
        if name not in scene.forces:
            raise InputError(
                f"{what} was saved with the force {name!r}, and the scene given has no force of that name; add it: "
                f"scene.add_force(..., name={name!r})."
            )


def _names(scene: Scene) -> dict[str, list[str]]:
    """The names of the parts a state has arrays for, in order."""
    servos = list(servo_places(scene))
    return {"bodies": [body.name for body in scene.bodies], "joints": list(scene.joints), "servos": servos}


def _check_names(parts: str, there: list[str], saved: list[str], what: str) -> None:
    lacking, added = _without(saved, there), _without(there, saved)
    if lacking or added:
        said = [f"it lacks {listing(lacking)}"] * bool(lacking) + [f"it also has {listing(added)}"] * bool(added)
        counts = f"is of {len(saved)} {parts}, and the scene given has {len(there)}"
        raise InputError(f"{what} {counts}: {' and '.join(said)}.")
    if there != saved:
        raise InputError(f"{what} has its {parts} in the order {listing(saved)}; the scene given has another.")


def _without(names: list[str], others: list[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name not in known]


def _simulation(scene: Scene | Sequence[Scene], header: HeaderEntry, device: str, faults: Faults) -> Simulation:
    with _told_of_the_file(faults):
        settings = make_settings(header.settings)
    return Simulation(scene, device=device, **settings)


def _checked_groups(
    values: dict[str, NDArray[Any]], scene: Scene, header: HeaderEntry, faults: Faults
) -> dict[str, Mapping[str, NDArray[Any]]]:
    """The arrays by their groups, checked against the scene before anything is made of them."""
    worlds, values = header.settings.worlds or 1, _renewed(values)
    given: dict[str, dict[str, NDArray[Any]]] = {}
    for group, kind in GROUPS.items():
        own = {name: values[f"{group}.{name}"] for name in arrays.fields(kind) if f"{group}.{name}" in values}
        # Files from before there were such things lack them.
        empty = group in LATER or (group == "servos" and not header.servos) or (group == "joints" and not header.joints)
        if own or not empty:
            given[group] = own
    with _told_of_the_file(faults):
        return StateFit(scene, worlds, GROUPS).checked(given)


def _renewed(values: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays under their names of today; what older files do not remember of contacts is zero."""
    found = {RENAMED.get(name, name): array for name, array in values.items()}
    if "contacts.force" in values:
        empty, memory = np.zeros_like(values["contacts.force"]), arrays.fields(ContactMemory)
        for name in ADDED:
            found[f"contacts.{name}"] = empty if memory[name].dtype is memory["load"].dtype else empty[..., 0].copy()
    return found


def _restore(state: State, groups: dict[str, Mapping[str, NDArray[Any]]]) -> None:
    """Write checked arrays into the state of a simulation."""
    kept = len(groups.get("sleeping_contacts", {}).get("part", ()))
    state.sleeping_contacts = with_room(state.sleeping_contacts, kept)
    if "contacts" in groups and len(rows := groups["contacts"]["first"]):
        room = len(groups["contacts"]["part"]) + kept
        state.contacts = enlarged(state.contacts, room, len(rows), state.clock.time.device)
    for name, columns in groups.items():
        part = state.groups[name]
        if name != "contacts" or len(columns["first"]) == len(part.first):
            arrays.write(part, _filled(columns, part), f"group {name!r}")
    if "contacts" in groups:
        state.settle_whole(groups)


def _filled(values: Mapping[str, NDArray[Any]], group: Any) -> dict[str, NDArray[Any]]:
    """The arrays with rows of zeros up to the room there is for contacts; older files say ``pending`` once for all."""
    axes = {name: declared.axis for name, declared in arrays.fields(group).items()}
    once = [name for name, array in values.items() if name == "pending" and array.shape == (1,)]
    values = {**values} | {name: np.repeat(values[name], len(getattr(group, name))) for name in once}
    return {
        name: np.pad(array, [(0, len(getattr(group, name)) - len(array))] + [(0, 0)] * (array.ndim - 1))
        if axes[name] == "contacts"
        else array
        for name, array in values.items()
    }
