"""Wrong calls: whatever is handed in, the answer is one of our errors or a result; never a traceback from inside."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rattleback as rb
from rattleback.model.body import BodyOptions

NAN, INF = float("nan"), float("inf")
JUNK: list[Any] = [
    *(None, True, False, 0, -1, 1, 3, 0.0, -0.5, 1e308, -1e308, 1e-308, 5e-324, NAN, INF, -INF, 10**400, 2 + 3j),
    *("", "x", "arm", "ärm", "cuda", "rk4", b"arm", (), (1,), (0, 0, 0), (1, 2, 3), (0, 0, 0, 1), (1, 1, 1, 1)),
    *((1e308,) * 3, (NAN,) * 3, ("a", "b", "c"), [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[]], [None], {}, {"a": 1}),
    *({1, 2}, object(), int, len, np.zeros(3), np.zeros((3, 3)), np.zeros((0, 3)), np.array(["a"] * 3)),
    *(np.array([1, 2, 3], dtype=np.int8), np.float32(2.5), np.array(object(), dtype=object), np.ones(3) * 1j),
    *(range(3), iter([1, 2, 3]), Ellipsis, slice(None), rb.Box(1, 1, 1), rb.Material(), rb.Scene()),
]


def scene() -> rb.Scene:
    made = rb.Scene()
    made.add_body(rb.Box(1, 2, 3), name="arm", group="limbs")
    made.add_static(rb.Plane(), name="floor")
    return made


_ready: list[rb.Simulation] = []


def sim() -> rb.Simulation:
    """One simulation for all calls; a wrong call must leave it usable."""
    if not _ready:
        _ready.append(rb.Simulation(scene()))
    return _ready[0]


def write(name: str) -> Callable[[Any], Any]:
    return lambda junk: setattr(sim()["arm"], name, junk)


def body(option: str) -> Callable[[Any], Any]:
    return lambda junk: scene().add_body(rb.Box(1, 2, 3), **{option: junk})


def setting(option: str) -> Callable[[Any], Any]:
    return lambda junk: rb.Simulation(scene(), **{option: junk})


CALLS: dict[str, Callable[[Any], Any]] = {
    "Scene(gravity)": lambda junk: rb.Scene(gravity=junk),
    "Scene(name)": lambda junk: rb.Scene(name=junk),
    "add_body(shape)": lambda junk: scene().add_body(junk),
    **{f"add_body({option})": body(option) for option in BodyOptions.__annotations__},
    "add_body(mass, inertia)": lambda junk: scene().add_body(mass=1.0, inertia=junk),
    "add_static(shape)": lambda junk: scene().add_static(junk),
    "add_static(position)": lambda junk: scene().add_static(rb.Plane(), position=junk),
    "add_force": lambda junk: scene().add_force(junk),
    "add_force(name)": lambda junk: scene().add_force(rb.Gravity(), name=junk),
    "scene[...]": lambda junk: scene()[junk],
    **{
        f"Simulation({option})": setting(option) for option in ("time_step", "device", "integrator", "worlds", "strict")
    },
    "Simulation(scene)": rb.Simulation,
    "Simulation(tolerance)": lambda junk: rb.Simulation(scene(), position_tolerance=junk),
    "sim[...]": lambda junk: sim()[junk],
    "sim.servo": lambda junk: sim().servo(junk),
    "sim.joints.torque": lambda junk: setattr(sim().joints, "torque", junk),
    "sim.warn": lambda junk: setattr(rb.Simulation(scene()), "warn", junk),
    "scene.gravity": lambda junk: setattr(scene(), "gravity", junk),
    "scene.name": lambda junk: setattr(scene(), "name", junk),
    "sim.use(integrator)": lambda junk: rb.Simulation(scene()).use(integrator=junk),
    "sim.step": lambda junk: sim().step(junk),
    "sim.run": lambda junk: sim().run(junk),
    "sim.time_step": lambda junk: setattr(rb.Simulation(scene()), "time_step", junk),
    "sim.state": lambda junk: setattr(sim(), "state", junk),
    "sim.profile": lambda junk: sim().profile(junk),
    **{
        f"body.{name}": write(name)
        for name in ("position", "orientation", "velocity", "angular_velocity", "applied_force")
    },
    "body.origin": write("origin"),
    "apply_impulse": lambda junk: sim()["arm"].apply_impulse(junk),
    "apply_impulse(at)": lambda junk: sim()["arm"].apply_impulse((1, 0, 0), at=junk),
    "Material(friction)": lambda junk: rb.Material(friction=junk),
    "Material(restitution)": lambda junk: rb.Material(restitution=junk),
    "Sphere": rb.Sphere,
    "Box": lambda junk: rb.Box(1, junk, 1),
    "Capsule": lambda junk: rb.Capsule(0.1, junk),
    "Cylinder": lambda junk: rb.Cylinder(junk, 1),
    "Cone": lambda junk: rb.Cone(1, junk),
    "Ellipsoid": lambda junk: rb.Ellipsoid(junk, 1, 1),
    "Plane": lambda junk: rb.Plane(normal=junk),
    "Mesh": lambda junk: rb.Mesh(junk, [[0, 1, 2]]),
    "Mesh(triangles)": lambda junk: rb.Mesh(np.eye(3), junk),
    "Compound": rb.Compound,
    "Placed": rb.Placed,
    "Gravity": rb.Gravity,
    "Attraction": rb.Attraction,
    "Drag(linear)": lambda junk: rb.Drag(linear=junk),
    "Drag(bodies)": lambda junk: scene().add_force(rb.Drag(bodies=junk)),
    "Wrench(force)": lambda junk: rb.Wrench("arm", force=junk),
    "Wrench(at)": lambda junk: rb.Wrench("arm", at=junk),
    "Wrench(until)": lambda junk: rb.Wrench("arm", until=junk),
    "PythonForce": rb.PythonForce,
    "WarpForce": rb.WarpForce,
    "RK45(error)": lambda junk: rb.integrators.RK45(error=junk),
    "ImplicitEuler(max_iterations)": lambda junk: rb.integrators.ImplicitEuler(max_iterations=junk),
    "rotation.quaternion_from_matrix": rb.rotation.quaternion_from_matrix,
    "rotation.matrix_from_quaternion": rb.rotation.matrix_from_quaternion,
    "rotation.quaternion_from_euler": lambda junk: rb.rotation.quaternion_from_euler(junk, "zxz"),
    "rotation.quaternion_from_euler(sequence)": lambda junk: rb.rotation.quaternion_from_euler((0, 0, 0), junk),
    "rotation.rotate": lambda junk: rb.rotation.rotate((0, 0, 0, 1), junk),
}


def attempt(name: str, junk: Any) -> None:
    """Call with junk; anything but a result or one of our errors fails the test by itself."""
    try:
        CALLS[name](junk)
    except rb.RattlebackError as error:
        text = str(error)
        assert len(text) > 20, text
        assert text.rstrip().endswith((".", "?", ")")), text


@pytest.mark.parametrize("name", CALLS)
def test_a_call_with_any_of_the_junk_is_answered_in_a_sentence(name: str) -> None:
    for junk in JUNK:
        attempt(name, junk)


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(), st.text(max_size=5), st.binary(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.tuples(inner, inner, inner), st.dictionaries(st.text(max_size=2), inner)
    ),
    max_leaves=6,
)


@settings(max_examples=300)
@given(st.sampled_from([name for name in CALLS if name != "sim.run"]), values)
def test_a_call_with_random_values_is_answered_in_a_sentence(name: str, junk: Any) -> None:
    attempt(name, junk)


def test_after_all_that_the_simulation_still_steps() -> None:
    simulation = rb.Simulation(scene())
    _ready[:] = [simulation]
    for name in CALLS:
        for junk in (None, "x", float("nan"), (1, 2)):
            attempt(name, junk)
    simulation.step()
    assert np.isfinite(simulation.state.position).all()


def test_more_worlds_than_memory_holds_are_refused() -> None:
    with pytest.raises(rb.InputError, match=r"1000000000 worlds of 2 bodies .* do not fit"):
        rb.Simulation(scene(), worlds=10**9)
