"""A body of a scene: its mass properties, where it starts and how it moves, under a name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.maths import inertia as inertia_maths
from rattleback.maths.rotation import rotate
from rattleback.model.material import Material
from rattleback.shapes import MENU as SHAPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

DEFAULT_DENSITY = 1000.0


class BodyOptions(TypedDict, total=False):
    """Keyword options of :meth:`Scene.add_body`."""

    mass: float
    density: float
    inertia: ArrayLike
    center_of_mass: ArrayLike
    position: ArrayLike
    origin: ArrayLike
    orientation: ArrayLike
    velocity: ArrayLike
    angular_velocity: ArrayLike
    name: str
    material: Material
    group: str


class StaticOptions(TypedDict, total=False):
    """Keyword options of :meth:`Scene.add_static`."""

    position: ArrayLike
    orientation: ArrayLike
    velocity: ArrayLike
    angular_velocity: ArrayLike
    name: str
    material: Material
    group: str


@dataclass(frozen=True, eq=False)
class Body:
    """A body of a scene, as it starts. Make it with :meth:`Scene.add_body` or :meth:`Scene.add_static`.

    Attributes:
        name: Its unique name.
        shape: Its shape, or None.
        static: Whether it is held still, or driven at its velocity, whatever pushes it.
        mass: Mass [kg]; zero for a static body.
        center_of_mass: Centre of mass in the body's own frame (3,) [m].
        inertia: Inertia about the centre of mass, in the axes of the body's frame (3, 3) [kg m²].
        position: Centre of mass in the world (3,) [m].
        orientation: Quaternion (x, y, z, w) from the body's frame to the world.
        velocity: Velocity of the centre of mass (3,) [m/s].
        angular_velocity: Angular velocity in the world frame (3,) [rad/s].
        material: Surface properties.
        group: Name of the group it belongs to; empty for none.
    """

    name: str
    shape: Any = None
    static: bool = False
    mass: float = 0.0
    center_of_mass: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    inertia: NDArray[np.float64] = field(default_factory=lambda: np.zeros((3, 3)))
    position: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    orientation: NDArray[np.float64] = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))
    velocity: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    angular_velocity: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    material: Material = field(default_factory=Material)
    group: str = ""

    def __post_init__(self) -> None:
        """Freeze the arrays too, so that what was checked stays as it is."""
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @property
    def origin(self) -> NDArray[np.float64]:
        """Origin of the body's frame in the world (3,) [m]."""
        return self.position - rotate(self.orientation, self.center_of_mass)

    @property
    def principal_moments(self) -> NDArray[np.float64]:
        """Moments of inertia about the principal axes (3,) [kg m²]."""
        return inertia_maths.principal_axes(self.inertia)[0]

    @property
    def principal_axes(self) -> NDArray[np.float64]:
        """Quaternion from the principal axes to the body's frame."""
        return inertia_maths.principal_axes(self.inertia)[1]

    def __repr__(self) -> str:
        kind = "static body" if self.static else f"body of {self.mass:.6g} kg"
        return f"<{kind} {self.name!r}>"


def make_body(name: str, shape: Any, options: Mapping[str, Any]) -> Body:
    """A dynamic body from the options of ``add_body``; every fault names the body."""
    what = f"body {name!r}"
    checks.options(options, BodyOptions.__annotations__, f"add_body for {what}")
    check_shape(shape, what)
    mass, center, inertia = _mass_properties(shape, options, what)
    placed = _placement(center, options, what)
    return Body(name, shape, mass=mass, center_of_mass=center, inertia=inertia, **placed)


def make_static(name: str, shape: Any, options: Mapping[str, Any]) -> Body:
    """A static body from the options of ``add_static``."""
    what = f"static body {name!r}"
    checks.options(options, StaticOptions.__annotations__, f"add_static for {what}")
    if shape is None:
        raise InputError(f"The {what} has no shape; give one, such as rb.Plane() or rb.Box(1, 1, 1).")
    check_shape(shape, what)
    return Body(name, shape, static=True, **_placement(np.zeros(3), options, what))


def check_shape(shape: Any, what: str) -> None:
    """Refuse what is not a shape."""
    if shape is not None and not isinstance(shape, tuple(SHAPES.values())):
        names = ", ".join(kind.__name__ for kind in SHAPES.values())
        raise InputError(f"The shape of {what} is {shape!r}; it must be an object of one of {names}.")


def _placement(center: NDArray[np.float64], options: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Where the body starts, how it moves, and what it belongs to."""
    if "position" in options and "origin" in options:
        raise InputError(f"The {what} has both position= (of its centre of mass) and origin= (of its frame); give one.")
    orientation = checks.unit_quaternion(options.get("orientation", (0, 0, 0, 1)), f"The orientation of {what}")
    if "position" in options:
        position = checks.vector(options["position"], f"The position of {what}")
    else:
        origin = checks.vector(options.get("origin", (0, 0, 0)), f"The origin of {what}")
        position = origin + rotate(orientation, center)
    material = options.get("material", Material())
    checks.instance(material, Material, f"The material of {what}", "rb.Material(friction=0.4)")
    return {
        "position": position,
        "orientation": orientation,
        "velocity": checks.vector(options.get("velocity", (0, 0, 0)), f"The velocity of {what}"),
        "angular_velocity": checks.vector(
            options.get("angular_velocity", (0, 0, 0)), f"The angular_velocity of {what}"
        ),
        "material": material,
        "group": checks.text(options["group"], f"The group of {what}") if "group" in options else "",
    }


def _mass_properties(
    shape: Any, options: Mapping[str, Any], what: str
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Mass, centre of mass and inertia, given or from shape and density."""
    if "mass" in options and "density" in options:
        raise InputError(f"The {what} has both mass= and density=; give one.")
    mass = checks.positive(options["mass"], f"The mass of {what}") if "mass" in options else None
    if "inertia" in options:
        return _given_inertia(shape, mass, options, what)
    if "center_of_mass" in options:
        raise InputError(f"The {what} has center_of_mass= without inertia=; give mass=, inertia= and it together.")
    if shape is None:
        raise InputError(f"The {what} has no shape; give mass= and inertia=, or a shape with mass= or density=.")
    density = checks.positive(options.get("density", DEFAULT_DENSITY), f"The density of {what}")
    try:
        found = shape.mass_properties(density)
    except InputError as error:
        raise InputError(f"The {what} has no mass properties: {error}") from None
    own = found if mass is None else found.with_mass(mass)
    return own.mass, np.array(own.center_of_mass), np.array(own.inertia)


def _given_inertia(
    shape: Any, mass: float | None, options: Mapping[str, Any], what: str
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    if mass is None:
        raise InputError(f"The {what} has inertia= without mass=; give both.")
    label = f"The inertia of {what}"
    given = checks.finite(options["inertia"], label)
    inertia = inertia_maths.check_inertia(np.diag(given) if given.shape == (3,) else given, label)
    center = np.zeros(3)
    if "center_of_mass" in options:
        center = checks.vector(options["center_of_mass"], f"The center_of_mass of {what}")
    elif shape is not None:
        try:
            center = np.array(shape.mass_properties(1.0).center_of_mass)
        except InputError:
            raise InputError(f"The shape of {what} has no centre of mass of its own; give center_of_mass=.") from None
    return mass, center, inertia
