"""rattleback: dynamics and kinematics of rigid multibody systems that state their error.

    import rattleback as rb

    scene = rb.Scene()
    ball = scene.add_body(rb.Sphere(0.1), position=(0, 0, 2), name="ball")
    sim = rb.Simulation(scene, time_step=0.01)
    sim.run(0.5)
    print(sim["ball"].position, sim.energy().total)

The names below are the public face. Rooms that need heavy libraries load on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rattleback._version import __version__

if TYPE_CHECKING:
    from rattleback import (
        characters,
        collision,
        dynamics,
        forces,
        gym,
        integrators,
        kinematics,
        lcp,
        molecules,
        scenes,
        shapes,
        sweeps,
        types,
    )
    from rattleback.collision.events import ContactEvent, ContactEvents
    from rattleback.core.errors import (
        DeviceError,
        DivergenceError,
        FieldError,
        FileError,
        InputError,
        NotConverged,
        NotConvergedWarning,
        RattlebackError,
        UnknownName,
    )
    from rattleback.forces import (
        Attraction,
        Drag,
        Gravity,
        ImplicitHandPD,
        ImplicitPD,
        ImplicitSpring,
        PythonForce,
        Schedule,
        Servo,
        Spring,
        TorsionSpring,
        WarpForce,
        Wrench,
    )
    from rattleback.io.robots.digest import digest
    from rattleback.io.state_file import load
    from rattleback.joints import (
        Ball,
        CommonDirection,
        Cylindrical,
        Distance,
        DistanceToLine,
        DistanceToPlane,
        DoubleRotation,
        Fixed,
        FixedOrientation,
        Gear,
        Planar,
        PointOnLine,
        PointOnPlane,
        Prismatic,
        Rack,
        Revolute,
        Screw,
        Universal,
        VelocityJoint,
    )
    from rattleback.kinematics import ik
    from rattleback.maths import rotation
    from rattleback.model import Body, Material, Scene, State
    from rattleback.problem.break_events import BreakEvent, BreakEvents
    from rattleback.recording import Recorder
    from rattleback.recording.camera import Camera
    from rattleback.recording.dense_output import DenseOutput
    from rattleback.recording.still import render
    from rattleback.recording.video import film
    from rattleback.sensitivities import Jacobian, jacobian
    from rattleback.shapes import (
        Box,
        Capsule,
        Compound,
        Cone,
        ConvexHull,
        Cylinder,
        Ellipsoid,
        HeightField,
        Mesh,
        Placed,
        Plane,
        Sphere,
    )
    from rattleback.simulation import Simulation
    from rattleback.solvers import contacts
    from rattleback.solvers.joints.by_chain import joints_by_chain
    from rattleback.steps import Composed, Extrapolated
    from rattleback.sweeps.sweep import sweep
    from rattleback.viewer.replay_page import replay_page
    from rattleback.viewer.view import view

# Where each public name lives; it is imported when it is first asked for.
_HOME = {
    "rattleback": (
        "characters",
        "collision",
        "dynamics",
        "forces",
        "gym",
        "integrators",
        "kinematics",
        "lcp",
        "molecules",
        "scenes",
        "shapes",
        "sweeps",
        "types",
    ),
    "rattleback.collision.events": ("ContactEvent", "ContactEvents"),
    "rattleback.core.errors": (
        "DeviceError",
        "DivergenceError",
        "FieldError",
        "FileError",
        "InputError",
        "NotConverged",
        "NotConvergedWarning",
        "RattlebackError",
        "UnknownName",
    ),
    "rattleback.forces": (
        "Attraction",
        "Drag",
        "Gravity",
        "ImplicitHandPD",
        "ImplicitPD",
        "ImplicitSpring",
        "PythonForce",
        "Schedule",
        "Servo",
        "Spring",
        "TorsionSpring",
        "WarpForce",
        "Wrench",
    ),
    "rattleback.io.robots.digest": ("digest",),
    "rattleback.io.state_file": ("load",),
    "rattleback.joints": (
        "Ball",
        "CommonDirection",
        "Cylindrical",
        "Distance",
        "DistanceToLine",
        "DistanceToPlane",
        "DoubleRotation",
        "Fixed",
        "FixedOrientation",
        "Gear",
        "Planar",
        "PointOnLine",
        "PointOnPlane",
        "Prismatic",
        "Rack",
        "Revolute",
        "Screw",
        "Universal",
        "VelocityJoint",
    ),
    "rattleback.kinematics": ("ik",),
    "rattleback.maths": ("rotation",),
    "rattleback.model": ("Body", "Material", "Scene", "State"),
    "rattleback.problem.break_events": ("BreakEvent", "BreakEvents"),
    "rattleback.recording": ("Recorder",),
    "rattleback.recording.camera": ("Camera",),
    "rattleback.recording.dense_output": ("DenseOutput",),
    "rattleback.recording.still": ("render",),
    "rattleback.recording.video": ("film",),
    "rattleback.sensitivities": ("Jacobian", "jacobian"),
    "rattleback.shapes": (
        "Box",
        "Capsule",
        "Compound",
        "Cone",
        "ConvexHull",
        "Cylinder",
        "Ellipsoid",
        "HeightField",
        "Mesh",
        "Placed",
        "Plane",
        "Sphere",
    ),
    "rattleback.simulation": ("Simulation",),
    "rattleback.model.worlds.draws": ("choice", "loguniform", "normal", "uniform"),
    "rattleback.solvers": ("contacts",),
    "rattleback.steps": ("Composed", "Extrapolated"),
    "rattleback.sweeps.sweep": ("sweep",),
    "rattleback.solvers.joints.by_chain": ("joints_by_chain",),
    "rattleback.viewer.replay_page": ("replay_page",),
    "rattleback.viewer.view": ("view",),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    home = next((module for module, names in _HOME.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'rattleback' has no attribute {name!r}")
    inner = home in ("rattleback", "rattleback.kinematics", "rattleback.maths", "rattleback.solvers")
    value = import_module(f"{home}.{name}") if inner else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted(__all__)


__all__ = [
    "Attraction",
    "Ball",
    "Body",
    "Box",
    "BreakEvent",
    "BreakEvents",
    "Camera",
    "Capsule",
    "CommonDirection",
    "Composed",
    "Compound",
    "Cone",
    "ContactEvent",
    "ContactEvents",
    "ConvexHull",
    "Cylinder",
    "Cylindrical",
    "DenseOutput",
    "DeviceError",
    "Distance",
    "DistanceToLine",
    "DistanceToPlane",
    "DivergenceError",
    "DoubleRotation",
    "Drag",
    "Ellipsoid",
    "Extrapolated",
    "FieldError",
    "FileError",
    "Fixed",
    "FixedOrientation",
    "Gear",
    "Gravity",
    "HeightField",
    "ImplicitHandPD",
    "ImplicitPD",
    "ImplicitSpring",
    "InputError",
    "Jacobian",
    "Material",
    "Mesh",
    "NotConverged",
    "NotConvergedWarning",
    "Placed",
    "Planar",
    "Plane",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "PythonForce",
    "Rack",
    "RattlebackError",
    "Recorder",
    "Revolute",
    "Scene",
    "Schedule",
    "Screw",
    "Servo",
    "Simulation",
    "Sphere",
    "Spring",
    "State",
    "TorsionSpring",
    "Universal",
    "UnknownName",
    "VelocityJoint",
    "WarpForce",
    "Wrench",
    "__version__",
    "characters",
    "choice",
    "collision",
    "contacts",
    "digest",
    "dynamics",
    "film",
    "forces",
    "gym",
    "ik",
    "integrators",
    "jacobian",
    "joints_by_chain",
    "kinematics",
    "lcp",
    "load",
    "loguniform",
    "molecules",
    "normal",
    "render",
    "replay_page",
    "rotation",
    "scenes",
    "shapes",
    "sweep",
    "sweeps",
    "types",
    "uniform",
    "view",
]
