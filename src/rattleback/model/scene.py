"""The scene builder: bodies, forces and their names, as friendly objects; compiled into a model later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed
from rattleback.model.assemble import TOLERANCE, Assembly, assemble
from rattleback.model.body import Body, BodyOptions, StaticOptions, make_body, make_static
from rattleback.model.editing import (
    INSTEAD,
    body_or_group,
    changed_body,
    changed_force,
    changed_joint,
    check_ends,
    check_force,
    check_joint,
    check_name,
    check_unneeded,
    join_group,
    known_joint,
    leave_group,
    new_name,
    numbered,
    placed_force,
)
from rattleback.model.filter import check_predicate
from rattleback.model.pairing import PairOptions, PairValues, Rules, make_values, pair_key
from rattleback.model.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from rattleback.io.robots.report import Report
    from rattleback.model.material import Material


@sealed
class Scene:
    """What is simulated: bodies and the forces on them.

    ``bodies`` lists the bodies, ``groups`` the bodies of each group, ``joints`` and ``forces`` the joints and force
    modules by name, all in the order they were added; ``world`` is the frame nothing moves. ``meetings`` says of pairs
    of names, or of a group, whether they may collide, as ``exclude`` and ``allow`` put it; ``predicates`` lists what
    ``exclude_if`` was given. ``rules`` and ``pairs`` say what two materials have in common, as ``combine`` and ``pair``
    put it. ``import_report`` and ``robot`` say more of a scene made by ``from_file``, ``export_report`` of the file
    that ``export`` wrote last; they are None otherwise.

    Args:
        gravity: Uniform acceleration of every body that is not static [m/s²]; zeros for none.
        name: What the scene is called in tables and files.
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81), name: str = "scene") -> None:
        self.gravity, self.name = gravity, name
        self.world = World()
        self.bodies: list[Body] = []
        self.forces, self.joints = dict[str, Any](), dict[str, Any]()
        self.groups: dict[str, list[Body]] = {}
        self.meetings: dict[tuple[str, ...], bool] = {}
        self.predicates: list[Callable[[Body, Body], bool]] = []
        self.rules, self.import_report, self.export_report, self.robot = Rules(), None, None, None
        self.pairs: dict[tuple[Material, Material], PairValues] = {}
        self._index: dict[str, int] = {}
        self._former_joints: list[tuple[Any, str]] = []

    @property
    def gravity(self) -> NDArray[np.float64]:
        """Uniform acceleration of every body that is not static (3,) [m/s²]; may be written."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = checks.vector(value, "The gravity of the scene")

    @property
    def name(self) -> str:
        """What it is called in tables and files; may be written."""
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        self._name = checks.text(value, "The name of the scene")

    def add_body(self, shape: Any = None, **options: Unpack[BodyOptions]) -> Body:
        """Add a body that moves.

        Args:
            shape: Its shape; may be left out when ``mass`` and ``inertia`` are given.
            **options: ``mass`` [kg] or ``density`` [kg/m³] (default 1000); ``inertia`` about the centre of mass,
                three principal moments or (3, 3) [kg m²]; ``center_of_mass`` in the body's frame [m];
                ``position`` of the centre of mass, or ``origin`` of the body's frame [m] (default: the frame
                is that of the world); ``orientation`` (x, y, z, w); ``velocity`` of the centre of mass [m/s];
                ``angular_velocity`` in the world frame [rad/s]; ``name``; ``material``; ``group``;
                ``collision``, what collides instead of the shape: a shape, a ``Placed`` in the body's frame, a list
                of these, or None for a body that is only for show; ``margin``, thickness of a shell around what
                collides [m] (default 0); ``category``, one name or several (default ``"default"``);
                ``collides_with``, categories it can meet (default None: all of them), asked of both bodies;
                ``continuous``, whether it must not pass through others within a step (default False).
        """
        return self._add(make_body(new_name(shape, options, len(self.bodies), self._taken), shape, options))

    def add_static(self, shape: Any, **options: Unpack[StaticOptions]) -> Body:
        """Add a body that nothing can push. Given a velocity, it moves on at that velocity.

        Args:
            shape: Its shape, such as ``rb.Plane()``.
            **options: ``position`` of its frame [m], ``orientation``, ``velocity`` [m/s],
                ``angular_velocity`` [rad/s], ``name``, ``material``, ``group``; ``collision``, ``margin``,
                ``category``, ``collides_with`` as in ``add_body``.
        """
        return self._add(make_static(new_name(shape, options, len(self.bodies), self._taken), shape, options))

    def add_force(self, force: Any, name: str | None = None) -> Any:
        """Add a force module, such as ``rb.Drag(linear=0.1)``; returns it as the scene keeps it."""
        check_force(force, "add_force")
        usual = numbered(type(force).__name__.lower(), len(self.forces) + 1, self.forces.__contains__)
        label = usual if name is None else checks.text(name, "The name of a force")
        if label in self.forces:
            raise InputError(f"The scene already has a force named {label!r}; choose another name.")
        force = placed_force(self, force, label)
        self.forces[label] = force
        return force

    def add_joint(self, joint: Any, name: str | None = None) -> Any:
        """Add a joint, such as ``rb.Ball(scene.world, arm, at=(0, 0, 0))``; returns it."""
        check_joint(joint, "add_joint")
        label = name
        if label is None:
            label = numbered(type(joint).__name__.lower(), len(self.joints) + 1, self._taken)
        elif self._taken(checks.text(label, "The name of a joint")):
            raise InputError(f"The scene already uses the name {label!r}; a joint needs one of its own.")
        check_ends(self, joint, label)
        self.joints[label] = joint
        return joint

    def exclude(self, a: Any, b: Any = None) -> None:
        """Keep two bodies from colliding; or two groups, a body and a group, or the members of one group.

        Bodies that join a group later are kept apart, too. Every two members cost a pair to remember; a crowd of
        thousands is better given a ``category`` and a ``collides_with``.

        Args:
            a: A body, by name or as ``add_body`` returned it, or the name of a group.
            b: The body or group it never meets; left out for the members of group ``a`` among themselves.
        """
        names = {body_or_group(self, entry, "exclude") for entry in (a, a if b is None else b)}
        if names <= self._index.keys() and len(names) == 1:
            raise InputError(f"exclude got only the body {min(names)!r}; name another body beside it, or a group.")
        self.meetings[tuple(sorted(names))] = False

    def allow(self, a: Any, b: Any) -> None:
        """Let two bodies collide although a joint holds both, or an exclusion of a group or by ``exclude_if`` does.

        Of ``exclude`` and ``allow`` for the same two bodies, the later one counts. Categories are not overruled.

        Args:
            a: A body, by name or as ``add_body`` returned it.
            b: The other body.
        """
        names = {body_or_group(self, entry, "allow") for entry in (a, b)}
        if groups := sorted(names & self.groups.keys()):
            raise InputError(f"allow got the group {groups[0]!r}; it takes two bodies.")
        if len(names) == 1:
            raise InputError(f"allow got only the body {min(names)!r}; name another body beside it.")
        self.meetings[tuple(sorted(names))] = True

    def exclude_if(self, predicate: Callable[[Body, Body], bool]) -> Callable[[Body, Body], bool]:
        """Keep those pairs from colliding that a function names; returns it, so that it can be a decorator.

        Args:
            predicate: A function of two bodies, the one added earlier first, that says whether to keep them apart. It
                is called once for every pair, when the scene is compiled, and cannot be saved to a file.
        """
        check_predicate(predicate)
        self.predicates.append(predicate)
        return predicate

    def combine(
        self, friction: str = "sum", restitution: str = "product", rolling: str = "sum", spinning: str = "sum"
    ) -> None:
        """Choose how the coefficients of two materials that touch become one; each call chooses all four rules.

        The rules are ``"product"``, ``"sum"``, ``"min"``, ``"max"`` and ``"mean"``. Whatever they give, restitution is
        1 at most, and dynamic friction at most the static one.

        Args:
            friction: The rule for static and dynamic friction, each by itself.
            restitution: The rule for restitution.
            rolling: The rule for rolling friction.
            spinning: The rule for spinning friction.
        """
        vars(self)["rules"] = Rules(friction, restitution, rolling, spinning)

    def pair(self, first: Material, second: Material, **values: Unpack[PairOptions]) -> None:
        """Say what holds where two materials touch, whatever the rules; which is named first does not matter.

        A second call for the same two replaces the first; without any value they follow the rules again.

        Args:
            first: A material.
            second: The other, or the same again for two bodies of one material.
            **values: ``friction``, or ``static_friction`` and ``dynamic_friction``; ``restitution``;
                ``rolling_friction`` and ``spinning_friction`` [m]. What is left out or None follows the rules.
        """
        key, told = pair_key(first, second), make_values(values)
        self.pairs.pop(key, None)
        if told != PairValues():
            self.pairs[key] = told

    def assemble(self, tolerance: float = TOLERANCE, max_iterations: int = 200, fixed: Iterable[Any] = ()) -> Assembly:
        """Move the bodies until every joint is closed, even if they lie metres apart, each about as little as it must.

        Joints stay where they are on their bodies, and velocities stay as they are. Static bodies do not move, nor do
        bodies whose joints are closed already. The objects that ``add_body`` returned keep the old place and are still
        good as names; ``scene["arm"]`` is the body as it starts now.

        Args:
            tolerance: How far a joint may be off in the end [m, rad]; in single precision 1e-4 if left out.
            max_iterations: Most steps to take for each mechanism of the scene.
            fixed: Bodies that must not move, by name, by group, or as ``add_body`` returned them.

        Returns:
            The errors that are left, the joint with the largest, the steps taken, and how many rows are redundant.

        Raises:
            NotConverged: The joints cannot all be closed, or not in so many steps; the scene stays as it was.
        """
        return assemble(self, tolerance, max_iterations, fixed)

    def change_body(self, body: Any, **changes: Any) -> Body:
        """Change a body in its place, ``scene.change_body("arm", mass=2.0)``; returns it as it is now.

        Args:
            body: Its name, or what ``add_body`` returned.
            **changes: ``shape``, and options of ``add_body``, or of ``add_static`` for a static one, but the name.
                With another mass alone the inertia changes in proportion; with another shape alone the mass stays.
        """
        index = self.index(body)
        old, made = self.bodies[index], changed_body(self.bodies[index], changes)
        if made.group != old.group:
            join_group(self, made)
            leave_group(self, old)
        self.renew({index: made}, {}, {})
        return made

    def change_joint(self, name: str, **changes: Any) -> Any:
        """Give fields of a joint other values: ``scene.change_joint("hinge", axis=(1, 0, 0))``; returns the new one."""
        return self.replace_joint(
            name, changed_joint(self.joints[check_name(name, self.joints, "joint")], name, changes)
        )

    def change_force(self, name: str, **changes: Any) -> Any:
        """Give fields of a force other values: ``scene.change_force("spring", stiffness=90)``; returns the new one."""
        return self.replace_force(
            name, changed_force(self.forces[check_name(name, self.forces, "force")], name, changes)
        )

    def replace_joint(self, name: str, joint: Any) -> Any:
        """Put another joint in the place of one, under its name; returns it."""
        check_name(name, self.joints, "joint")
        check_joint(joint, "replace_joint")
        check_ends(self, joint, name)
        self.renew({}, {name: joint}, {})
        return joint

    def replace_force(self, name: str, force: Any) -> Any:
        """Put another force module in the place of one, under its name; returns it as the scene keeps it."""
        check_name(name, self.forces, "force")
        check_force(force, "replace_force")
        self.forces[name] = placed_force(self, force, name)
        return self.forces[name]

    def remove_body(self, body: Any) -> None:
        """Take a body out of the scene; what holds or pushes it must go first."""
        gone = self.bodies[self.index(body)]
        check_unneeded(self, gone.name, "body")
        leave_group(self, gone)
        self.bodies.remove(gone)
        self._index = {known.name: place for place, known in enumerate(self.bodies)}
        for names in [names for names in self.meetings if not {*self._index, *self.groups}.issuperset(names)]:
            del self.meetings[names]

    def remove_joint(self, name: str) -> None:
        """Take a joint out of the scene; what drives it must go first."""
        check_unneeded(self, check_name(name, self.joints, "joint"), "joint")
        del self.joints[name]
        self._former_joints = [(joint, known) for joint, known in self._former_joints if known != name]

    def remove_force(self, name: str) -> None:
        """Take a force module out of the scene."""
        del self.forces[check_name(name, self.forces, "force")]

    def renew(self, bodies: Mapping[int, Body], joints: Mapping[str, Any], forces: Mapping[str, Any]) -> None:
        """Put other bodies in the place of those at these indices, other joints and forces under these names."""
        for index, body in bodies.items():
            self.bodies[index] = body
        for name in {body.group for body in bodies.values() if body.group}:
            self.groups[name][:] = [self[member.name] for member in self.groups[name]]
        # Only what add_joint returned must be known on; what stood in between was never given away.
        known = {name for _, name in self._former_joints}
        self._former_joints.extend((self.joints[name], name) for name in joints if name not in known)
        self.joints.update(joints)
        self.forces.update(forces)

    def joint_name(self, joint: Any) -> str | None:
        """Name of a joint, from its name or from what ``add_joint`` returned; None if there is none."""
        return known_joint(joint, self.joints, self._former_joints)

    def _taken(self, name: str) -> bool:
        return name in self._index or name in self.groups or name in self.joints or name == self.world.name

    def index(self, body: Any) -> int:
        """Place of a body in ``bodies``, from its name or from what ``add_body`` returned."""
        name = getattr(body, "name", body)
        if not isinstance(name, str) or name not in self._index:
            names = [*self._index]
            raise UnknownName(f"There is no body {name!r}.{did_you_mean(name, names)} There are {listing(names)}.")
        return self._index[name]

    def copy(self) -> Scene:
        """A scene of its own with the same bodies and forces."""
        twin = Scene(self.gravity, self.name)
        twin.bodies[:], twin.predicates[:] = self.bodies, self.predicates
        twin.groups.update({name: list(bodies) for name, bodies in self.groups.items()})
        for name in ("forces", "joints", "meetings", "pairs", "_index"):
            getattr(twin, name).update(getattr(self, name))
        vars(twin).update(_former_joints=list(self._former_joints))
        vars(twin).update({name: getattr(self, name) for name in ("rules", "robot", "import_report")})
        return twin

    def __getitem__(self, name: str) -> Body:
        """The body of this name."""
        return self.bodies[self.index(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __len__(self) -> int:
        return len(self.bodies)

    def __repr__(self) -> str:
        return f"<Scene {self.name!r} of {len(self.bodies)} bodies and {len(self.forces)} forces>"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the scene as a JSON file (``.rb.json``); reading it back gives the same scene, digit for digit."""
        from rattleback.io.scene_file import save

        save(self, path)

    def to_python(self, time_step: float | None = None) -> str:
        """A Python script that makes the scene, digit for digit; run, it opens it with steps of this length [s]."""
        from rattleback.io.script import write

        return write.to_python(self, time_step)

    @staticmethod
    def load(path: str | PathLike[str]) -> Scene:
        """Read a scene file; every fault in it is named with its path inside the file."""
        from rattleback.io.scene_file import load

        return load(path)

    def export(self, path: str | PathLike[str], **options: Any) -> Report:
        """Write a URDF, MJCF or USD file, meshes beside it; returns the report, which ``export_report`` keeps.

        Options: ``format``, ``"urdf"``, ``"mjcf"`` or ``"usd"`` (default: by ending); ``strict=True`` refuses losses.
        """
        from rattleback.io.robots.write import export_scene

        return export_scene(self, path, **options)

    @staticmethod
    def from_file(path: str | PathLike[str], **options: Any) -> Scene:
        """A scene from a URDF, MJCF, SDF or USD file, or one of our own, told apart by content and ending.

        ``import_report`` says what was kept, approximated or dropped. Options: ``base``, ``"fixed"`` or ``"floating"``
        (default: as the format says); ``strict=True`` refuses what cannot be kept; ``search``, folders for meshes;
        ``loops``, for URDF, pairs of frames or a YAML file, or False; ``drives=False``: no armature, no joint friction.
        """
        from rattleback.io.robots.read import scene_from_file

        return scene_from_file(path, **options)

    def _advice(self, name: str) -> str:
        return INSTEAD.get(name, "")

    def _add(self, body: Body) -> Body:
        join_group(self, body)
        self._index[body.name] = len(self.bodies)
        self.bodies.append(body)
        return body
