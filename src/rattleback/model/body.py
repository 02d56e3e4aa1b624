"""A body of a scene: its mass properties, where it starts and how it moves, under a name."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.maths import inertia as inertia_maths
from rattleback.maths.rotation import rotate
from rattleback.model.material import Material
from rattleback.shapes import MENU as SHAPES
from rattleback.shapes import Placed, Plane

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

DEFAULT_DENSITY = 1000.0
DEFAULT_CATEGORY = ("default",)


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
    collision: Any
    margin: float
    category: str | Sequence[str]
    collides_with: str | Sequence[str] | None
    continuous: bool


class StaticOptions(TypedDict, total=False):
    """Keyword options of :meth:`Scene.add_static`."""

    position: ArrayLike
    orientation: ArrayLike
    velocity: ArrayLike
    angular_velocity: ArrayLike
    name: str
    material: Material
    group: str
    collision: Any
    margin: float
    category: str | Sequence[str]
    collides_with: str | Sequence[str] | None


@sealed
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
        colliders: What collides, in the body's frame: each entry a ``Placed``, or a ``Plane``, which has no place of
            its own; empty where the body is only for show.
        margin: Thickness of a shell around every collider [m].
        category: Names of the categories it belongs to, at least one.
        collides_with: Names of the categories it can meet; None for all. Two bodies meet where each admits a category
            of the other.
        continuous: Whether it must not pass through others within a step, however fast it is.
    """

    _kind = "body"

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
    colliders: tuple[Placed | Plane, ...] = ()
    margin: float = 0.0
    category: tuple[str, ...] = DEFAULT_CATEGORY
    collides_with: tuple[str, ...] | None = None
    continuous: bool = False

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

    def _advice(self, name: str) -> str:
        return f"A scene has it changed: scene.change_body({self.name!r}, {name}=...)." if name in vars(self) else ""

    def __repr__(self) -> str:
        kind = "static body" if self.static else f"body of {self.mass:.6g} kg"
        return f"<{kind} {self.name!r}>"


def make_body(name: str, shape: Any, options: Mapping[str, Any]) -> Body:
    """A dynamic body from the options of ``add_body``; every fault names the body."""
    what = f"body {name!r}"
    checks.options(options, BodyOptions.__annotations__, f"add_body for {what}")
    check_shape(shape, what)
    mass, center, inertia = _mass_properties(shape, options, what)
    start = {**_placement(center, options, what), **_collision(shape, options, what)}
    return Body(name, shape, mass=mass, center_of_mass=center, inertia=inertia, **start)


def make_static(name: str, shape: Any, options: Mapping[str, Any]) -> Body:
    """A static body from the options of ``add_static``."""
    what = f"static body {name!r}"
    checks.options(options, StaticOptions.__annotations__, f"add_static for {what}")
    if shape is None:
        raise InputError(f"The {what} has no shape; give one, such as rb.Plane() or rb.Box(1, 1, 1).")
    check_shape(shape, what)
    start = {**_placement(np.zeros(3), options, what), **_collision(shape, options, what)}
    return Body(name, shape, static=True, **start)


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


def _collision(shape: Any, options: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The colliding shapes of the body, and the categories they collide with."""
    category = _names(options.get("category", DEFAULT_CATEGORY), f"The category of {what}")
    if not category:
        raise InputError(f"The category of {what} is empty; name at least one, or leave it out for 'default'.")
    met = options.get("collides_with")
    return {
        "colliders": _colliders(options.get("collision", shape), what),
        # Adding zero turns −0.0 into 0.0.
        "margin": checks.not_negative(options.get("margin", 0.0), f"The margin of {what}") + 0.0,
        "category": category,
        "collides_with": None if met is None else _names(met, f"The collides_with of {what}"),
        "continuous": checks.flag(options.get("continuous", False), f"The option continuous of {what}"),
    }


def _colliders(given: Any, what: str) -> tuple[Placed | Plane, ...]:
    """Collision shapes, each at its place in the body's frame."""
    if given is None:
        return ()
    listed = isinstance(given, (list, tuple))
    found = []
    for index, entry in enumerate(given if listed else (given,)):
        shape = entry.shape if isinstance(entry, Placed) else entry
        if not isinstance(shape, tuple(SHAPES.values())):
            which = f"Entry {index} of the collision" if listed else "The collision"
            others = "" if listed else ", a list of these, or None for a body that is only for show"
            raise InputError(
                f"{which} of {what} is {entry!r}; it must be a shape, such as rb.Sphere(0.1), a rb.Placed{others}."
            )
        found.append(entry if isinstance(entry, Plane) else _placed(entry))
    return tuple(found)


def _placed(entry: Any) -> Placed:
    """A collision shape at its place; a density means nothing there."""
    return replace(entry, density_ratio=1.0) if isinstance(entry, Placed) else Placed(entry)


def _names(given: Any, what: str) -> tuple[str, ...]:
    """One name or several, each once."""
    if isinstance(given, str):
        given = (given,)
    if not isinstance(given, (list, tuple)):
        raise InputError(f"{what} is {given!r}; it must be a name or a list of names.")
    return tuple(dict.fromkeys(checks.text(name, f"A name in {what[0].lower()}{what[1:]}") for name in given))


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
