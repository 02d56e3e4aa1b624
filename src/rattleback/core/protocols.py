"""The only abstract page: what an object must offer to fill a slot of a simulation.

Nothing derives from these; an object that has the methods fits. Menus hold the ones that come with the package.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol


class Integrator(Protocol):
    """A way of moving free bodies through one step; see ``integrators``.

    It may say two things more, as class variables, which ``problem.held_velocities`` uses: ``forces_at``, the part of a
    step by which forces act on its mean velocities, a half if it does not say, 1 where it moves by the velocity at the
    end, 0 where it takes all forces at the start; and ``leaves_loads``, whether ``record_forces`` leaves the loads of
    the whole step in the step context. And ``explicit``, False where stiff forces do not limit the step.
    """

    order: ClassVar[int]

    @property
    def tolerance(self) -> float:
        """What its own error is compared with in the report; zero if it has none."""

    def record_forces(self, context: Any) -> None:
        """Record the launches that evaluate the forces the step starts from."""

    def record_prediction(self, context: Any) -> None:
        """Record the launches that take ``context.start`` to ``context.predicted``; joints may have them repeated."""


class Force(Protocol):
    """A force module as the user writes it; see ``forces``."""

    depends_on_velocity: ClassVar[bool]

    @property
    def depends_on_pose(self) -> bool:
        """Whether it changes with positions or orientations."""

    def compile(self, model: Any) -> CompiledForce:
        """Resolve names into body indices and move parameters to the device."""


class CompiledForce(Protocol):
    """A force module bound to a model."""

    def record(self, program: Any, moment: Any, loads: Any) -> None:
        """Record the launches that add force and torque at a moment to ``loads``."""

    def potential(self, position: Any, orientation: Any) -> Any:
        """Potential energy of each world [J], from shapes (worlds, bodies, 3) [m] and (worlds, bodies, 4)."""

    # It may offer ``rates() -> (ω² [1/s²], r [1/s])``: how fast it swings and brakes bodies, see ``stiff_forces``.


class Controller(CompiledForce, Protocol):
    """A force module bound to a model that has a memory or acts on a joint; one without these methods has neither."""

    def bind(self, label: str, state: Any, rows: Any) -> None:
        """Take its name in the scene, the state, and the joints as rows."""

    def record_start(self, program: Any) -> None:
        """Record the launches at the start of a step; may be left out."""

    def record_end(self, program: Any, stop: Any) -> None:
        """Record the launches at its end, which change nothing where ``stop`` is raised; may be left out."""


class JointMethod(Protocol):
    """A way of finding the impulses that hold joints, with its parameters; see ``solvers.joints``."""

    def prepare(self, problem: Any, members: Any = None) -> PreparedJoints:
        """The method on the joints of a model.

        Args:
            problem: The joints as rows, a ``problem.joint_rows.JointRows``.
            members: Joints of a world that it holds; None for all.
        """


class JointForceMethod(Protocol):
    """A way of holding joints by forces, with its parameters; see ``solvers.joints`` and ``problem.by_forces``.

    It has a ``level``, ``"acceleration"`` or ``"velocity"``, a ``stabilisation``, and a ``law`` that says how errors
    decay.
    """

    @property
    def law(self) -> Any:
        """The factors of the errors, a ``problem.by_forces.joint_forces.JointLaw``."""

    def prepare(self, problem: Any, inertias: Any) -> PreparedJoints:
        """The method on the joints of a model; it then solves (J M⁻¹ Jᵀ + c) λ = b.

        Args:
            problem: The joints as rows, a ``problem.joint_rows.JointRows``.
            inertias: Inverse inertias of the bodies in the world, a ``problem.joint_rows.Inertias``.
        """


class PreparedJoints(Protocol):
    """A joint method on the joints of one model; ``share`` is the part of the tolerances each world may use up."""

    share: Any

    def record_preparation(self, program: Any, which: Any) -> None:
        """Record what depends on the rows alone, such as a factor, in the worlds where ``which`` is 1."""

    def record_solution(self, program: Any) -> None:
        """Record the impulses for the wanted changes of the rows."""

    def redundant_rows(self) -> Any:
        """Rows of every joint that others imply, shape (worlds, joints)."""


class ContactScheme(Protocol):
    """Which contact problems a step solves, when, with which targets; see ``solvers.contacts.schemes``.

    ``finds`` says whether contacts are found at all, ``resolves`` whether anything is done about them; one that
    resolves has a ``solver``.
    """

    finds: ClassVar[bool]
    resolves: ClassVar[bool]

    def bind(
        self, context: Any, contacts: Any, tolerances: tuple[tuple[float, float], tuple[float, float]], distance: float
    ) -> Any:
        """The scheme on a model: what records its part of a step, see ``schemes.contact_steps.ContactSteps``.

        Args:
            context: What the step works on.
            contacts: The contacts found.
            tolerances: Depth [m] and speed [m/s] above which a contact is reported, and those that steps aim at.
            distance: Contact distance [m].
        """


class ContactSolver(Protocol):
    """A way of solving one contact problem, with its parameters; see ``solvers.contacts.solvers``.

    It may say two things, as class variables: ``in_order = True`` where it needs the contact graph and so one thread,
    and ``laws``, the laws of friction it solves, ``("coulomb", "frictionless")`` if it does not say; the law of its
    problem is ``problem.law``.
    """

    @property
    def sweeps(self) -> int:
        """Most sweeps of one problem; ``dataclasses.replace`` changes it."""

    def bind(self, problem: Any) -> BoundContactSolver:
        """The solver of a problem, a ``solvers.contacts.problem.contact_problem.ContactProblem``."""


class BoundContactSolver(Protocol):
    """A contact solver of the problem of a model."""

    def record(self, motion: Any, goal: Any, which: Any, response: ContactResponse | None = None) -> None:
        """Record the launches that solve the problem.

        They change ``problem.system.points.impulse`` and the velocities of the motion together, of the manifolds that
        take part, ``problem.active``, and leave in ``problem.status`` how many sweeps they took and the residual that
        they reached.

        Args:
            motion: The velocities to correct, which include the impulses so far.
            goal: Largest residual and most sweeps, a ``solvers.contacts.problem.goal.Goal``.
            which: 1 for every world that is solved; others keep every bit.
            response: The response of joints to each sweep; None where they hold no body that touches.
        """


class ContactResponse(Protocol):
    """Response of joints to the sweeps of a contact solver: M⁻¹ beyond the two bodies that touch.

    One that says ``accelerates = True`` has the methods for steps along conjugate directions, too; see
    ``solvers.contacts.coupling.joint_response``.
    """

    accelerates: ClassVar[bool]

    def note(self, motion: Any, which: Any) -> None:
        """Record that sweeps over a motion begin, in the worlds where ``which`` is 1."""

    def answer(self, motion: Any, which: Any) -> None:
        """Record the answer to a sweep, in the worlds where ``which`` is 1."""


class BroadPhase(Protocol):
    """A way of finding pairs of colliders whose boxes overlap; see ``collision.broadphase``."""

    def bind(self, geometry: Any, places: Any, pairs: Any, each_body: int) -> BoundBroadPhase:
        """The method on the colliders of a model.

        Args:
            geometry: The colliders.
            places: Their poses and boxes.
            pairs: Where the list goes.
            each_body: Number of bodies of a world.
        """


class BoundBroadPhase(Protocol):
    """A broad phase on the colliders of a model."""

    def record(self, program: Any) -> None:
        """Record the launches that write the list: sorted by collider, each pair once, with how many are needed."""

    def write_to(self, pairs: Any) -> None:
        """Write another list from now on; then ``record`` is called again."""


class BoundingVolume(Protocol):
    """A test of pairs between broad and narrow phase; see ``collision.broadphase.bounds``."""

    def record(self, program: Any, geometry: Any, places: Any, pairs: Any, keep: Any, wider: float) -> None:
        """Record the launches that say which pairs are kept; volumes are wider by a distance [m]."""


class NarrowPhase(Protocol):
    """A way of finding gap, normal and nearest points of two solids; see ``collision.narrowphase``."""

    cheap: ClassVar[frozenset[tuple[int, int]]]

    def record(self, program: Any, geometry: Any, items: Any, places: Any, max_gap: float, found: Any) -> None:
        """Record the launches that write the answers of the items.

        Args:
            program: Where to record.
            geometry: Colliders and their tables.
            items: The pairs of solids to test.
            places: Where the colliders are.
            max_gap: Gap [m] beyond which a bound will do.
            found: Where the answers go.
        """


class Shape(Protocol):
    """A shape as the user writes it; see ``shapes``. Contacts know it by its entry in the shape table."""

    def volume(self) -> float:
        """Volume [m³]."""

    def mass_properties(self, density: float) -> Any:
        """Mass, centre of mass and inertia about it, for a density [kg/m³]."""

    def bounds(self) -> Any:
        """Lower and upper corner of its box [m], each (3,)."""

    def support(self, direction: Any) -> Any:
        """The point farthest along a direction [m], shape (3,)."""


class Step(Protocol):
    """A recipe: what happens in one time step, in which order; see ``steps``."""

    def record(self, context: Any) -> None:
        """Record the launches of one step, stage by stage."""


class StepMethod(Protocol):
    """What a simulation takes as its step, with its parameters; see ``steps``.

    One with a scheme has a ``tolerance``, None for steps of fixed length, and ``max_substeps``.
    """

    def scheme(self) -> Any:
        """How a step is made of symmetric ones, a ``steps.symmetric.scheme.Scheme``; None for the usual step."""


class Observer(Protocol):
    """Something that observes the simulation between steps, such as a recorder.

    One that knows better than ``every`` when it is due next has ``steps_left(simulation)``, too: the number of steps
    until then. It is read before steps are taken; the observer is called after them all the same.
    """

    every: int

    def observe(self, simulation: Any) -> None:
        """Called after every ``every``-th step."""


class ComplementarityMethod(Protocol):
    """A method for contact problems as matrices; see ``lcp.methods``.

    Attributes:
        laws: Names of the laws it solves.
        storage: Forms of W it takes: ``"dense"``, ``"sparse"``, ``"operator"``.
        most_rows: Largest number of rows it takes; infinite where it has no limit.
        iterations: Largest number of iterations, where the caller names none.
    """

    laws: ClassVar[tuple[str, ...]]
    storage: ClassVar[tuple[str, ...]]
    most_rows: ClassVar[float]
    iterations: int

    def solve(self, problem: Any, law: Any, watch: Any) -> None:
        """Work until the watch says stop; the watch keeps the best impulses and the reason."""
