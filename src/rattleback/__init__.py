"""rattleback: dynamics and kinematics of rigid multibody systems that state their error.

    import rattleback as rb

    scene = rb.Scene()
    ball = scene.add_body(rb.Sphere(0.1), position=(0, 0, 2), name="ball")
    sim = rb.Simulation(scene, time_step=0.01)
    sim.run(0.5)
    print(sim["ball"].position, sim.energy().total)

The names below are the public face. Rooms that need heavy libraries load on first use.
"""

from typing import TYPE_CHECKING, Any

from rattleback import forces, integrators, shapes
from rattleback._version import __version__
from rattleback.core.errors import (
    DeviceError,
    DivergenceError,
    FileError,
    InputError,
    NotConverged,
    RattlebackError,
    UnknownName,
)
from rattleback.forces import Attraction, Drag, Gravity, PythonForce, WarpForce, Wrench
from rattleback.maths import rotation
from rattleback.model import Body, Material, Scene, State
from rattleback.shapes import Box, Capsule, Compound, Cone, Cylinder, Ellipsoid, Mesh, Placed, Plane, Sphere
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from rattleback import scenes, types
    from rattleback.io.state_file import load
    from rattleback.recording import Recorder

_LATE = {
    "Recorder": ("rattleback.recording", "Recorder"),
    "load": ("rattleback.io.state_file", "load"),
    "scenes": ("rattleback.scenes", None),
    "types": ("rattleback.types", None),
}


def __getattr__(name: str) -> Any:
    """Load a late name on first use."""
    if name not in _LATE:
        raise AttributeError(f"module 'rattleback' has no attribute {name!r}")
    from importlib import import_module

    module, inner = _LATE[name]
    value = import_module(module) if inner is None else getattr(import_module(module), inner)
    globals()[name] = value
    return value


__all__ = [
    "Attraction",
    "Body",
    "Box",
    "Capsule",
    "Compound",
    "Cone",
    "Cylinder",
    "DeviceError",
    "DivergenceError",
    "Drag",
    "Ellipsoid",
    "FileError",
    "Gravity",
    "InputError",
    "Material",
    "Mesh",
    "NotConverged",
    "Placed",
    "Plane",
    "PythonForce",
    "RattlebackError",
    "Recorder",
    "Scene",
    "Simulation",
    "Sphere",
    "State",
    "UnknownName",
    "WarpForce",
    "Wrench",
    "__version__",
    "forces",
    "integrators",
    "load",
    "rotation",
    "scenes",
    "shapes",
    "types",
]
