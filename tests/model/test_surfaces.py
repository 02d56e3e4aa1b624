"""What the device makes of two materials is what pencil and paper make of them."""

import dataclasses

import numpy as np
import pytest
import warp as wp
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb
from rattleback.core import arrays
from rattleback.core.device import find
from rattleback.core.precision import epsilon, real
from rattleback.model import surfaces as surfaces_file
from rattleback.model.compile import compile_scene
from rattleback.model.surfaces import Coefficients, PairRules, Surfaces, combine
from rattleback.model.worlds.live import adopt, changed

FORMULAS = {
    "product": lambda x, y: x * y,
    "sum": lambda x, y: x + y,
    "min": min,
    "max": max,
    "mean": lambda x, y: (x + y) / 2,
}


@wp.kernel(enable_backward=False)
def combine_all(surfaces: Surfaces, rules: PairRules, count: int, out: wp.array2d[real]) -> None:
    i = wp.tid()
    c = Coefficients()
    c = combine(surfaces, rules, i // count, i % count)
    out[i, 0] = c.static_friction
    out[i, 1] = c.dynamic_friction
    out[i, 2] = c.restitution
    out[i, 3] = c.rolling
    out[i, 4] = c.spinning


def write_material(model, body, material):
    adopt(model, changed(model, {(model.names[body], "material"): [material]}), anew=False)


def compiled(scene, worlds=None, device="cpu"):
    return compile_scene(scene, worlds, find(device))[0]


def launch(model, **options):
    """Results of every two rows of a model (rows, rows, 5), and the launch that fills them."""
    out = wp.zeros((model.count**2, 5), dtype=real, device=model.device)
    inputs = [model.surfaces, model.rules, model.count, out]
    command = wp.launch(combine_all, dim=model.count**2, inputs=inputs, device=model.device, **options)
    return out, command


def combined(model):
    out, _ = launch(model)
    return out.numpy().reshape(model.count, model.count, 5)


def scene_of(*materials):
    scene = rb.Scene()
    for index, material in enumerate(materials):
        scene.add_body(rb.Sphere(0.1), material=material, name=f"b{index}")
    return scene


def on_paper(scene, a, b):
    """Coefficients of two materials, straight from the description of ``combine`` and ``pair``."""
    rule = {name: FORMULAS[chosen] for name, chosen in dataclasses.asdict(scene.rules).items()}
    static = rule["friction"](a.static_friction, b.static_friction)
    dynamic = rule["friction"](a.dynamic_friction, b.dynamic_friction)
    restitution = rule["restitution"](a.restitution, b.restitution)
    rolling = rule["rolling"](a.rolling_friction, b.rolling_friction)
    spinning = rule["spinning"](a.spinning_friction, b.spinning_friction)
    told = next((values for key, values in scene.pairs.items() if {a, b} == set(key)), None)
    if told is not None:
        static = static if told.static_friction is None else told.static_friction
        dynamic = dynamic if told.dynamic_friction is None else told.dynamic_friction
        restitution = restitution if told.restitution is None else told.restitution
        rolling = rolling if told.rolling_friction is None else told.rolling_friction
        spinning = spinning if told.spinning_friction is None else told.spinning_friction
    return [static, min(dynamic, static), min(restitution, 1.0), rolling, spinning]


coefficient = st.floats(0, 3)
unit = st.floats(0, 1)
material = st.builds(
    lambda d, s, e, r, t: rb.Material(0.5, e, d + s, d, rolling_friction=r, spinning_friction=t),
    *(coefficient, coefficient, unit, coefficient, coefficient),
)
values = st.fixed_dictionaries(
    {},
    optional={
        "friction": coefficient,
        "restitution": unit,
        "rolling_friction": coefficient,
        "spinning_friction": coefficient,
    },
)
one_sided = st.fixed_dictionaries({}, optional={"static_friction": coefficient}) | st.fixed_dictionaries(
    {}, optional={"dynamic_friction": coefficient}
)


@given(st.data(), st.lists(material, min_size=2, max_size=4), st.tuples(*[st.sampled_from(list(FORMULAS))] * 4))
def test_the_device_combines_materials_as_pencil_and_paper_do(data, materials, rules):
    scene = scene_of(*materials)
    scene.combine(*rules)
    elsewhere = [*materials, rb.Material(7.0), rb.Material(8.0)]
    for told in data.draw(st.lists(values | one_sided, max_size=3)):
        scene.pair(data.draw(st.sampled_from(elsewhere)), data.draw(st.sampled_from(elsewhere)), **told)
    expected = [[on_paper(scene, a, b) for b in materials] for a in materials]
    np.testing.assert_allclose(combined(compiled(scene)), expected, rtol=2 * epsilon, atol=epsilon**4)


@pytest.mark.parametrize("rule", FORMULAS)
def test_a_rule_gives_what_its_name_says(rule, device):
    scene = scene_of(rb.Material(0.5, 0.25, 0.5, 0.25), rb.Material(0.5, 0.5, 2.0, 0.5))
    scene.combine(friction=rule, restitution=rule)
    wanted = {
        "product": [1.0, 0.125, 0.125],
        "sum": [2.5, 0.75, 0.75],
        "min": [0.5, 0.25, 0.25],
        "max": [2.0, 0.5, 0.5],
        "mean": [1.25, 0.375, 0.375],
    }
    found = combined(compiled(scene, device=device))
    assert found[0, 1, :3].tolist() == found[1, 0, :3].tolist() == wanted[rule]


def test_restitution_is_one_at_most_and_dynamic_friction_no_more_than_static():
    slippery, bouncy = rb.Material(0.5), rb.Material(2.0, 0.9)
    scene = scene_of(slippery, bouncy)
    scene.combine(restitution="sum")
    scene.pair(slippery, slippery, static_friction=0.25)
    scene.pair(slippery, bouncy, dynamic_friction=9.0)
    found = combined(compiled(scene))
    assert found[1, 1, 2] == 1.0
    assert found[0, 0, :2].tolist() == [0.25, 0.25]
    assert found[0, 1, :2].tolist() == [2.5, 2.5]


def test_a_pair_may_set_a_coefficient_to_zero():
    a, b = rb.Material(1.0, 1.0, rolling_friction=1.0, spinning_friction=1.0), rb.Material(2.0, 1.0)
    scene = scene_of(a, b)
    scene.pair(a, b, friction=0, restitution=0, rolling_friction=0, spinning_friction=0)
    assert not combined(compiled(scene))[0, 1].any()
    assert combined(compiled(scene))[1, 1, :3].tolist() == [4.0, 4.0, 1.0]


def test_frictions_beyond_all_sense_combine_to_finite_numbers():
    huge = rb.Material(1e300, rolling_friction=1e308, spinning_friction=1e308)
    for rule in FORMULAS:
        scene = scene_of(huge, huge, rb.Material(2.0))
        scene.combine(rule, rule, rule, rule)
        scene.pair(huge, rb.Material(2.0), friction=1e308)
        found = combined(compiled(scene))
        assert np.isfinite(found).all()
        assert found[0, 1, 0] >= 1e18 * (1 - epsilon)
        assert found[0, 2, 0] >= 1e18 * (1 - epsilon)


def test_every_world_has_the_surfaces_of_the_scene():
    belt = rb.Material(0.3, 0.5, 0.4, 0.25, 0.01, 0.02, (1, 2, 3))
    scene = scene_of(rb.Material(), belt)
    scene.pair(belt, rb.Material(0.9), friction=0.25)
    model = compiled(scene, worlds=3)
    found = arrays.read(model.surfaces)
    wanted = {"static_friction": [0.5, 0.4], "dynamic_friction": [0.5, 0.25], "restitution": [0.0, 0.5]}
    wanted |= {"rolling": [0.0, 0.01], "spinning": [0.0, 0.02]}
    for name, column in wanted.items():
        np.testing.assert_allclose(found[name], column * 3, rtol=epsilon)
    assert found["velocity"].tolist() == [[0, 0, 0], [1, 2, 3]] * 3
    assert found["kind"].tolist() == [-1, model.kinds.of(belt, 0)] * 3
    assert combined(model)[1, 5].tolist() == combined(model)[1, 1].tolist()


def test_a_written_material_reaches_launches_that_were_recorded_before(device):
    old, new = rb.Material(0.5), rb.Material(0.25, 0.5, rolling_friction=0.125, surface_velocity=(0, 1, 0))
    scene = scene_of(old, old, old)
    scene.pair(old, new, spinning_friction=0.75)
    model = compiled(scene, worlds=2, device=device)
    out, command = launch(model, record_cmd=True)
    command.launch()
    assert out.numpy()[:, 0].tolist() == [1.0] * 36
    before = {name: array.ptr for name, array in arrays.each(model.surfaces)}
    write_material(model, 1, new)
    assert {name: array.ptr for name, array in arrays.each(model.surfaces)} == before
    command.launch()
    found = out.numpy().reshape(2, 3, 2, 3, 5)
    for world in range(2):
        assert found[world, 1, world, 1].tolist() == [0.5, 0.5, 0.25, 0.25, 0.0]
        assert found[world, 0, world, 1].tolist() == [0.75, 0.75, 0.0, 0.125, 0.75]
        assert found[world, 0, world, 2].tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert model.surfaces.velocity.numpy().tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]] * 2


def test_a_surface_too_fast_for_single_precision_is_refused(monkeypatch):
    monkeypatch.setattr(surfaces_file, "numpy_real", np.float32)
    fast = rb.Material(surface_velocity=(0, 1e39, 0))
    message = r"The surface_velocity of body 'b1' is outside the range of numbers; make it slower\."
    with pytest.raises(rb.InputError, match=message):
        compiled(scene_of(rb.Material(), fast))
    monkeypatch.undo()
    model = compiled(scene_of(rb.Material(), rb.Material()))
    before = arrays.read(model.surfaces)
    monkeypatch.setattr(surfaces_file, "numpy_real", np.float32)
    with pytest.raises(rb.InputError, match=message):
        write_material(model, 1, fast)
    after = arrays.read(model.surfaces)
    assert all((before[name] == after[name]).all() for name in before)
