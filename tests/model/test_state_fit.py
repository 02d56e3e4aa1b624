"""No state with an index of nothing, a number out of its range or contacts that cannot be gets into a simulation."""

import functools
import math
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.core import arrays
from rattleback.core.ranges import Range
from rattleback.model.collider_list import list_colliders
from rattleback.model.contact_memory import ADVANCED, WRITTEN
from rattleback.model.state import GROUPS, State

pytestmark = pytest.mark.contacts
RANGED = [
    (group, name, declared.within)
    for group, kind in GROUPS.items()
    for name, declared in arrays.fields(kind).items()
    if declared.within is not None
]
FLOATS = [
    (group, name)
    for group, kind in GROUPS.items()
    for name in arrays.fields(kind)
    if name not in ("count", "first", "newest") and (group, name) not in {entry[:2] for entry in RANGED}
]


def full_scene() -> rb.Scene:
    """Something in every array of a state: contacts of bodies awake and asleep, servos, a joint that breaks."""
    scene = rb.Scene()
    scene.add_static(rb.HeightField(np.zeros((3, 3)), (4.0, 4.0)), name="ground")
    for k in range(2):
        scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(0.5, 0.0, 0.1 + 0.2 * k), name=f"brick {k}")
    pair = rb.Compound([rb.Placed(rb.Sphere(0.1)), rb.Placed(rb.Sphere(0.1), position=(0.3, 0.0, 0.0))])
    scene.add_body(pair, position=(-1.0, 0.0, 0.1), velocity=(0.0, 1.0, 0.0), name="roller")
    for name, x in (("arm", 1.8), ("hand", 2.2)):
        scene.add_body(rb.Box(0.4, 0.1, 0.1), position=(x, 1.0, 1.0), name=name)
    scene.add_joint(rb.Revolute("world", "arm", at=(1.6, 1.0, 1.0), axis=(0, 1, 0)), name="shoulder")
    scene.add_joint(rb.Revolute("arm", "hand", at=(2, 1, 1), axis=(0, 1, 0), breaking_force=1e4), name="elbow")
    scene.add_force(rb.Servo("shoulder", target=0.3, gain=20.0, reset_time=1.0, window=0.2), name="near")
    scene.add_force(rb.Servo("elbow", target=0.3, gain=5.0, reset_time=1.0), name="far")
    return scene


@functools.cache
def full_state() -> State:
    sim = rb.Simulation(full_scene(), sleep=True, time_step=0.02, worlds=2, warn=False)
    sim.step(50)
    assert sim["brick 0"].asleep.all()
    assert not sim["roller"].asleep.any()
    return sim.state.copy()


def full_groups() -> dict[str, dict[str, np.ndarray]]:
    return full_state().read()


def refusal(groups: dict[str, dict[str, np.ndarray]]) -> str:
    """Why groups of arrays are refused."""
    with pytest.raises(rb.InputError) as caught:
        full_state().fit.checked(groups)
    return str(caught.value)


def changed(group: str, name: str, value: Any, row: int = 0) -> dict[str, dict[str, np.ndarray]]:
    groups = full_groups()
    groups[group][name][row] = value
    return groups


def outside(within: Range, sizes: dict[str, int]) -> list[float]:
    """The numbers next to a range."""
    if within.length:
        return [0.9, 1.1]
    least, above = within.least, within.above
    most = min(within.most, sizes[within.rows] - 1 + within.more if within.rows else math.inf)
    return [n for n in (least - 1, most + 1, above) if math.isfinite(n)]


def sizes_of(groups: dict[str, dict[str, np.ndarray]], group: str) -> dict[str, int]:
    """Rows along the axes that ranges of the full state name, counted by hand: 4 bodies that collide as 5 solids."""
    each = (
        {"contacts": 0} if group not in ("contacts", "sleeping_contacts") else {"contacts": len(groups[group]["part"])}
    )
    return {"bodies": 2 * 6, "colliders": 2 * 7, "ring": 130, "triangles": 8, **each}


def test_every_whole_number_of_a_state_has_a_range() -> None:
    """Kernels take them for indices, counts and flags."""
    for group, kind in GROUPS.items():
        for name, declared in arrays.fields(kind).items():
            if "int" in declared.dtype.__name__:
                assert declared.within is not None, f"{group}.{name} says nothing of what it may be: within="
                assert math.isfinite(declared.within.least), f"{group}.{name} may be anything below zero"


def test_what_a_simulation_has_fits() -> None:
    groups = full_groups()
    assert list(full_state().fit.checked(groups)) == list(groups)
    assert all(array.size for columns in groups.values() for array in columns.values())


@pytest.mark.parametrize(("group", "name", "within"), RANGED, ids=[f"{group}.{name}" for group, name, _ in RANGED])
def test_numbers_next_to_their_range_are_refused(group: str, name: str, within: Range) -> None:
    groups = full_groups()
    bad = outside(within, sizes_of(groups, group))
    assert bad
    for number in bad:
        row = len(groups[group][name]) - 1
        value = number * np.eye(4)[3][: groups[group][name].shape[1]] if within.length else number
        said = refusal(changed(group, name, value, row))
        assert said.startswith(f"group {group!r}: {name} is ")
        assert f" in row {row}; it must be " in said


@pytest.mark.parametrize(("group", "name"), FLOATS, ids=[".".join(entry) for entry in FLOATS])
def test_numbers_that_are_not_finite_are_refused(group: str, name: str) -> None:
    for value in (np.nan, np.inf, -np.inf):
        assert refusal(changed(group, name, value)) == f"group {group!r}: {name} is not finite in row 0."


@pytest.mark.parametrize(
    ("group", "name", "row", "value", "message"),
    [
        ("servos", "newest", 1, 1, "group 'servos': newest is 1 in row 1, beyond its ring."),
        ("sleep", "asleep", 1, 4, "group 'sleep': asleep is 4 in row 1, which is no island's number."),
        ("sleep", "asleep", 7, 2, "group 'sleep': asleep is 2 in row 7, which is no island's number."),
        ("contacts", "count", 0, 1, "group 'contacts': first and count do not divide the contacts"),
        ("contacts", "first", 0, 1, "group 'contacts': first and count do not divide the contacts"),
        ("contacts", "first", 3, 0, "group 'contacts': first and count do not divide the contacts"),
        ("joints", "angle", 0, 1e300, "angle is 1e+300 in row 0; it must be from -1099511627776 to 1099511627776"),
        ("contacts", "collider", 0, 0, "group 'contacts': row 0 is a contact of the colliders 0 and 0 at the triangle"),
        ("contacts", "collider", 0, 9, "group 'contacts': row 0 is a contact of the colliders 0 and 9 at the triangle"),
        ("contacts", "part", 0, -1, "at the triangle -1, which cannot have one."),
        ("sleeping_contacts", "count", 0, 1, "group 'sleeping_contacts': count is not the number of its contacts."),
        ("sleeping_contacts", "part", -1, 0, "at the triangle 0, which cannot have one."),
        ("sleeping_contacts", "body_a", 0, 1, "body_a is 1 in row 0, which is not the body of collider_a."),
        ("sleeping_contacts", "body_b", 0, 7, "body_b is 7 in row 0, which is not the body of collider_b."),
    ],
)
def test_rows_that_do_not_belong_together_are_refused(
    group: str, name: str, row: int, value: int, message: str
) -> None:
    assert message in refusal(changed(group, name, value, row))


def test_arrays_of_another_form_are_refused() -> None:
    groups = full_groups()
    groups["sleeping_contacts"]["part"] = np.zeros((), np.int32)
    assert refusal(groups) == "group 'sleeping_contacts' has no list 'part'."
    groups = full_groups()
    groups["contacts"]["load"] = groups["contacts"]["load"][:-1]
    assert "group 'contacts': load has shape (3, 3) of " in refusal(groups)
    groups = full_groups()
    groups["motion"]["velocity"] = groups["motion"]["velocity"].astype(np.int64)
    assert "velocity has shape (12, 3) of int64; it must be (12, 3) of " in refusal(groups)


def test_contacts_of_other_colliders_are_forgotten() -> None:
    groups = full_groups()
    groups["contacts"]["first"] = groups["contacts"]["first"][:-1]
    assert set(full_state().fit.checked(groups)) == set(GROUPS) - {"contacts", "sleeping_contacts"}


@pytest.mark.parametrize(("group", "name"), [("contacts", "collider"), ("sleep", "asleep"), ("clock", "time_step")])
def test_a_state_that_was_spoilt_is_not_taken_over(group: str, name: str) -> None:
    """States are open to writing; a wrong index in one stays where it is."""
    sim = rb.Simulation(full_scene(), sleep=True, worlds=2)
    before, other = sim.hash(), full_state().copy()
    getattr(other.groups[group], name).fill_(-7)
    with pytest.raises(rb.InputError, match=f"^The state given does not fit this simulation: group '{group}': {name}"):
        sim.state = other
    assert sim.hash() == before


def test_the_state_of_another_scene_with_as_many_bodies_is_not_taken_over() -> None:
    scene = full_scene()
    scene.add_joint(rb.Ball("arm", "brick 0", at=(1, 0, 0)))
    other = rb.Simulation(scene, sleep=True, worlds=2).state
    with pytest.raises(rb.InputError, match=r"group 'joints': angle has shape \(6,\) of float64; it must be \(4,\)"):
        rb.Simulation(full_scene(), sleep=True, worlds=2).state = other


def test_contacts_of_a_scene_of_other_colliders_are_not_taken_over() -> None:
    """As many bodies, but one of them of a single solid: contacts and those asleep are found anew."""
    scene = full_scene()
    other = rb.Scene()
    for body in scene.bodies:
        shape = rb.Sphere(0.1) if body.name == "roller" else body.shape
        add = other.add_static if body.static else other.add_body
        add(shape, name=body.name, position=body.position)
    for name, joint in scene.joints.items():
        other.add_joint(joint, name=name)
    for name, force in scene.forces.items():
        other.add_force(force, name=name)
    sim = rb.Simulation(other, sleep=True, worlds=2, time_step=0.02, warn=False)
    sim.state = full_state()
    assert int(sim.state.sleeping_contacts.count.numpy()[0]) == 0
    sim["brick 0"].asleep = False
    sim.step(3)
    assert abs(sim["brick 1"].position[:, 2] - 0.3).max() < 1e-3


def test_a_state_of_half_a_step_goes_on_from_where_its_bodies_are() -> None:
    state = full_state().copy()
    state.contacts.pending.fill_(int(ADVANCED))
    sim = rb.Simulation(full_scene(), sleep=True, worlds=2, time_step=0.02, warn=False)
    sim.state = state
    assert int(sim.state.contacts.pending.numpy()[0]) == int(WRITTEN)
    sim.step(3)
    assert np.isfinite(sim.state.velocity).all()


def test_colliders_are_listed_in_the_order_they_are_compiled_in() -> None:
    """The list of the door and the arrays of the collision finder say the same of whose they are and of how much."""
    scene = full_scene()
    points, faces = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    scene.add_static(rb.Mesh(points, faces), name="shard")
    inner = rb.Compound([rb.Placed(rb.Cone(0.1, 0.2)), rb.Placed(rb.Capsule(0.1, 0.4))])
    scene.add_body(rb.Compound([rb.Placed(inner), rb.Placed(rb.Sphere(0.1))]), name="nest")
    scene.add_static(rb.Sphere(1.0), name="two", collision=[rb.Plane(), rb.Sphere(1.0)])
    scene.add_body(rb.Sphere(1.0), name="ghost", collision=None)
    geometry, listed = compile_colliders(rb.Simulation(scene).model), list_colliders(scene)
    assert geometry.colliders.body.numpy().tolist() == listed.body.tolist()
    surfaces = geometry.colliders.kind.numpy() == max(geometry.kinds)
    triangles = np.where(listed.triangles > 0, 3 * listed.triangles, geometry.colliders.count.numpy())
    assert (listed.triangles[surfaces] > 0).all()
    assert geometry.colliders.count.numpy().tolist() == triangles.tolist()
