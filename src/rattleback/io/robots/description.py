"""One description of a robot or mechanism for all file formats: readers fill it, one builder makes a scene of it.

    reader (URDF, MJCF, SDF, USD) → Description → Scene, kinematic Tree
    Scene → Description → writer (URDF, MJCF, USD)

Frames are 4 × 4 matrices. The z axis of the two frames of a joint is its axis; where its coordinate is zero, they
coincide. Links may lack mass; a chain of joints on one body is a chain of links without mass.

| kind of joint | coordinates | motion of the child's frame in the parent's |
|---|---|---|
| ``fixed`` | none | none |
| ``revolute`` | angle | turn about z |
| ``prismatic`` | way | along z |
| ``cylindrical`` | way, angle | along and about z |
| ``screw`` | angle | about z, and along it by the pitch for a turn |
| ``universal`` | angle, angle | about z of the parent's frame, then about x, which is z of the child's frame |
| ``ball`` | quaternion (x, y, z, w) | turn |
| ``planar`` | way, way, angle | along x and y, about z |
| ``free`` | position, quaternion | any; no joint at all |
| ``point_on_line``, ``point_on_plane``, ``distance`` … | | of trees only where a writer can hang bodies by them |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# A bound that nothing reaches [rad, m, N …], where a format wants a number.
FAR = 1e6
# The link that is the world; no link of a file has an empty name.
WORLD = ""
# How many numbers the coordinate of a joint has.
COORDINATES = {
    "fixed": 0,
    "revolute": 1,
    "prismatic": 1,
    "screw": 1,
    "cylindrical": 2,
    "universal": 2,
    "planar": 3,
    "ball": 4,
    "free": 7,
}
# Kinds of sensors that are quantities of a simulation, in the words of MJCF.
MEASURED = (
    *("jointpos", "jointvel", "actuatorpos", "actuatorvel", "actuatorfrc"),
    *("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel"),
    *("velocimeter", "gyro", "clock", "e_kinetic", "e_potential"),
)
Colour = tuple[float, float, float, float]


def unmoved() -> Floats:
    """The frame that is nowhere else."""
    return np.eye(4)


@dataclass
class Inertia:
    """Mass [kg], centre of mass in the link's frame (3,) [m], tensor about it in the link's axes (3, 3) [kg m²]."""

    mass: float
    center: Floats
    tensor: Floats


@dataclass
class Geometry:
    """A shape on a link.

    Attributes:
        name: Its name; empty if it has none.
        shape: The shape.
        place: Frame of the shape in the link's frame (4, 4).
        seen: Whether it is shown.
        collides: Whether it collides.
        colour: Red, green, blue and opacity, 0 to 1; None if not given.
        surface: Options of a ``Material``, such as ``friction``.
        category: The category it belongs to; empty for the default.
        collides_with: The categories it can meet; None for all.
    """

    name: str
    shape: Any
    place: Floats = field(default_factory=unmoved)
    seen: bool = True
    collides: bool = False
    colour: Colour | None = None
    surface: dict[str, Any] = field(default_factory=dict)
    category: str = ""
    collides_with: tuple[str, ...] | None = None


@dataclass
class Link:
    """A rigid segment.

    Attributes:
        name: Its name.
        where: Its place in the file, for the report.
        place: Frame in the world where all coordinates are zero (4, 4); of links that hang on others it is computed.
        inertia: Mass properties; None for a link without mass.
        geometries: What it looks like and what collides.
        velocity: Start velocity of its frame's origin [m/s] and angular velocity in the world [rad/s], (6,); or None.
        gravity_compensation: Part of its weight that is taken off.
        unseen: Whether something of its looks is missing, so that what collides is shown with the rest.
    """

    name: str
    where: str = ""
    place: Floats = field(default_factory=unmoved)
    inertia: Inertia | None = None
    geometries: list[Geometry] = field(default_factory=list)
    velocity: Floats | None = None
    gravity_compensation: float = 0.0
    unseen: bool = False


@dataclass
class Joint:
    """A joint of the tree, or one that closes a loop.

    Attributes:
        name: Its name.
        kind: See the table of this file.
        parent: Link it hangs on; empty for the world.
        child: Link that hangs on it.
        frame_parent: Its frame in the parent's (4, 4).
        frame_child: Its frame in the child's (4, 4).
        where: Its place in the file, for the report.
        limits: Least and largest value of each coordinate, None where there is none; empty for no limits.
        start: Value at the start; None for zero, or the nearest to it within the limits.
        effort_limit: Largest force or torque of its drive [N or N m].
        velocity_limit: Largest speed [rad/s or m/s].
        damping: Force or torque for a unit of speed [N s/m or N m s/rad].
        friction_loss: Force or torque of dry friction [N or N m].
        armature: Inertia of the rotor as the joint feels it [kg or kg m²].
        stiffness: Spring towards ``rest`` [N/m or N m/rad].
        rest: Coordinate without spring load [rad or m].
        pitch: Way of a screw for one turn [m].
        closes: Whether it closes a loop, so that the child does not hang on it.
        length: Distance that a ``distance`` joint keeps [m].
        breaking_force: Force above which it breaks [N], or None.
        breaking_torque: Torque above which it breaks [N m], or None.
    """

    name: str
    kind: str
    parent: str
    child: str
    frame_parent: Floats = field(default_factory=unmoved)
    frame_child: Floats = field(default_factory=unmoved)
    where: str = ""
    limits: tuple[tuple[float | None, float | None] | None, ...] = ()
    start: Any = None
    effort_limit: float | None = None
    velocity_limit: float | None = None
    damping: float = 0.0
    friction_loss: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    pitch: float = 0.0
    closes: bool = False
    length: float = 0.0
    breaking_force: float | None = None
    breaking_torque: float | None = None

    @property
    def limit(self) -> tuple[float, float]:
        """Limits of its first coordinate, infinite where there is none."""
        lower, upper = (self.limits[0] if self.limits else None) or (None, None)
        return -np.inf if lower is None else lower, np.inf if upper is None else upper


@dataclass
class Coupling:
    """A joint whose coordinate is a polynomial of another's: q_f = Σ c_k (q_l − x₀)^k.

    Attributes:
        follower: Name of the joint that follows.
        leader: Name of the joint it follows; empty where the follower is held at c₀.
        coefficients: c_k, the constant first.
        origin: x₀ [rad or m].
        where: Its place in the file, for the report.
    """

    follower: str
    leader: str
    coefficients: tuple[float, ...]
    origin: float = 0.0
    where: str = ""

    def value(self, leader: float) -> float:
        """Coordinate of the follower for one of the leader."""
        return float(np.polynomial.polynomial.polyval(leader - self.origin, self.coefficients))

    @property
    def linear(self) -> bool:
        """Whether the follower moves in proportion to the leader."""
        return not any(self.coefficients[2:])


@dataclass
class Actuator:
    """What drives a joint: effort = gain·u − position_gain·q − velocity_gain·q̇ + bias, within ±limit.

    Attributes:
        name: Its name.
        joints: Names of the joints it drives, each with the effort it gets for a unit of the actuator's force.
        kind: ``"motor"`` (an effort), ``"position"`` or ``"velocity"``.
        gain: Effort for a unit of control.
        position_gain: Effort for a unit of the coordinate.
        velocity_gain: Effort for a unit of speed.
        bias: Effort that is always there.
        limit: Largest effort.
        control: Control at the start.
        control_range: Least and largest control, or None.
        where: Its place in the file, for the report.
    """

    name: str
    joints: dict[str, float]
    kind: str
    gain: float = 1.0
    position_gain: float = 0.0
    velocity_gain: float = 0.0
    bias: float = 0.0
    limit: float = np.inf
    control: float = 0.0
    control_range: tuple[float, float] | None = None
    where: str = ""


@dataclass
class Line:
    """A damped spring between two points; the link of either may be the world.

    Attributes:
        name: Its name.
        links: Names of the two links.
        points: The points in the frames of the links, two of (3,) [m].
        stiffness: Force for a unit of elongation [N/m].
        damping: Force for a unit of its rate [N s/m].
        length: Length without load [m].
    """

    name: str
    links: tuple[str, str]
    points: tuple[Floats, Floats]
    stiffness: float
    damping: float
    length: float


@dataclass
class Site:
    """A named frame on a link, or on the world where that is empty: frame in the link's (4, 4)."""

    name: str
    link: str
    place: Floats


@dataclass
class View:
    """A camera on a link, looking along −z with y upwards: link, frame (4, 4), field of view from below to above [rad].

    The link may be the world, as that of a site.
    """

    name: str
    link: str
    place: Floats
    field_of_view: float = np.pi / 4


@dataclass
class Sensor:
    """Something the file wants to be measured.

    Attributes:
        name: Its name.
        kind: Its kind, in the file's words.
        on: What it is on, in the file's words.
        joint: The joint it is on; empty for none.
        actuator: The actuator it is on; empty for none.
        frame: The frame it is on, link and frame in the link's (4, 4); None for none.
        reference: The frame from which that is seen, likewise; None for the world.
    """

    name: str
    kind: str
    on: str
    joint: str = ""
    actuator: str = ""
    frame: tuple[str, Floats] | None = None
    reference: tuple[str, Floats] | None = None


@dataclass
class Keyframe:
    """A named state: coordinates of joints by name, and controls of actuators by name.

    The coordinates of a ``free`` joint are a position and a quaternion (x, y, z, w).
    """

    name: str
    coordinates: dict[str, Any]
    controls: dict[str, float] = field(default_factory=dict)


@dataclass
class Description:
    """Everything of a file that any of the formats can say.

    Attributes:
        name: What the robot is called.
        links: Links by name.
        joints: Joints by name: those of the trees, then those that close loops.
        couplings: Joints that follow others.
        actuators: What drives joints.
        sites: Named frames.
        keyframes: Named states, by name.
        cameras: Views.
        sensors: Quantities to be measured.
        exclusions: Pairs of links that never collide.
        allowed: Pairs of links that collide although they are joined.
        lines: Springs between points; only scenes have them.
        gravity: Uniform acceleration (3,) [m/s²].
        combine: How coefficients of two materials combine, as for ``Scene.combine``.
        time_step: Length of a step that the file asks for [s]; None where it asks for none.
    """

    name: str
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    couplings: list[Coupling] = field(default_factory=list)
    actuators: list[Actuator] = field(default_factory=list)
    sites: dict[str, Site] = field(default_factory=dict)
    keyframes: dict[str, Keyframe] = field(default_factory=dict)
    cameras: dict[str, View] = field(default_factory=dict)
    sensors: list[Sensor] = field(default_factory=list)
    exclusions: list[tuple[str, str]] = field(default_factory=list)
    allowed: list[tuple[str, str]] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    combine: dict[str, str] = field(default_factory=dict)
    time_step: float | None = None
