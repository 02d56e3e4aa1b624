"""The menu of scenes: every entry builds, runs and can be driven from a command line."""

import inspect
import typing

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import MENU, Entry

NAMES = list(MENU)


def starts(scene: rb.Scene) -> list[tuple]:
    """Everything about the bodies of a scene, to compare two."""
    return [
        (body.name, body.shape, body.mass, *(getattr(body, name).tolist() for name in STARTING))
        for body in scene.bodies
    ]  # fmt: skip


STARTING = ("position", "orientation", "velocity", "angular_velocity", "inertia")


@pytest.mark.parametrize("name", NAMES)
def test_a_scene_runs_as_it_is_meant_to(name):
    entry = MENU[name]
    scene = entry.build()
    sim = rb.Simulation(scene, time_step=entry.time_step, integrator=entry.integrator)
    sim.step(20)
    assert scene.name == name
    assert sim.report.converged
    assert np.isfinite(sim.state.position).all()
    assert entry.duration >= 100 * entry.time_step


@pytest.mark.parametrize("name", NAMES)
def test_a_scene_is_the_same_whenever_it_is_built(name):
    build = MENU[name].build
    assert starts(build()) == starts(build())


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_has_a_plain_type_and_a_default_of_it(name):
    build = MENU[name].build
    types = typing.get_type_hints(build)
    for parameter in inspect.signature(build).parameters.values():
        assert types[parameter.name] in (int, float, str, bool)
        assert type(parameter.default) is types[parameter.name]
    assert types["return"] is rb.Scene


@pytest.mark.parametrize("name", NAMES)
def test_every_scene_says_in_one_sentence_what_it_is(name):
    first, *_ = inspect.getdoc(MENU[name].build).splitlines()
    assert first.endswith(".")
    assert first[0].isupper()


def test_an_entry_cannot_be_changed():
    with pytest.raises(rb.FieldError):
        MENU["thrown"].duration = 1.0
    assert isinstance(MENU["thrown"], Entry)


WRONG = [
    ("tumbling", {"count": 0}, "The count of tumbling is 0; it must be at least 1."),
    ("tumbling", {"spin": 0.0}, "The spin of tumbling is 0.0; it must be greater than zero."),
    ("tumbling", {"disturbance": -1}, "The disturbance of tumbling is -1; it must be greater than zero."),
    ("tumbling", {"drift": "fast"}, "The drift of tumbling is 'fast'; it must be a number."),
    ("tumbling", {"spacing": 0}, "The spacing of tumbling is 0; it must be greater than zero."),
    ("torque_free", {"tilt": float("nan")}, "The tilt of torque_free is nan; it must be finite."),
    ("torque_free", {"spin": None}, "The spin of torque_free is None; it must be a number."),
    ("thrown", {"count": 2.5}, "The count of thrown is 2.5; it must be a whole number."),
    ("thrown", {"speed": -3}, "The speed of thrown is -3; it must be greater than zero."),
    ("thrown", {"spin": "x"}, "The spin of thrown is 'x'; it must be a number."),
    ("thrown", {"drag": -0.1}, "The drag of thrown is -0.1; it must be zero or more."),
    ("orbits", {"offset": "up"}, "The offset of orbits is 'up'; it must be a number."),
    ("orbits", {"radius": 0}, "The radius of orbits is 0; it must be greater than zero."),
    ("kepler", {"eccentricity": 1.0}, "The eccentricity of kepler is 1.0; it must be less than 1."),
    ("kepler", {"eccentricity": -0.1}, "The eccentricity of kepler is -0.1; it must be zero or more."),
    ("kepler", {"mass_ratio": 1.5}, "The mass_ratio of kepler is 1.5; it must be less than 1."),
    ("kepler", {"radius": -1}, "The radius of kepler is -1; it must be greater than zero."),
    ("swarm", {"count": True}, "The count of swarm is True; it must be a whole number."),
    ("swarm", {"seed": -1}, "The seed of swarm is -1; it must be at least 0."),
    ("swarm", {"speed": -1}, "The speed of swarm is -1; it must be zero or more."),
    ("swarm", {"spin": -1}, "The spin of swarm is -1; it must be zero or more."),
    ("pendulum", {"length": 0}, "The length of pendulum is 0; it must be greater than zero."),
    ("pendulum", {"angle": -1}, "The angle of pendulum is -1; it must be greater than zero."),
    ("pendulum", {"angle": 4.0}, "The angle of pendulum is 4.0; it must be less than π, where it would stand still."),
    ("heavy_top", {"spin": "fast"}, "The spin of heavy_top is 'fast'; it must be a number."),
    ("chain", {"count": 0}, "The count of chain is 0; it must be at least 1."),
    ("chain", {"speed": -1}, "The speed of chain is -1; it must be zero or more."),
    ("rope", {"count": 0}, "The count of rope is 0; it must be at least 1."),
    ("rope", {"angle": "steep"}, "The angle of rope is 'steep'; it must be a number."),
    ("mass_ladder", {"ratio": 0}, "The ratio of mass_ladder is 0; it must be greater than zero."),
    ("mass_ladder", {"count": 0}, "The count of mass_ladder is 0; it must be at least 1."),
    ("mass_ladder", {"angle": None}, "The angle of mass_ladder is None; it must be a number."),
    ("tree", {"depth": 0}, "The depth of tree is 0; it must be at least 1."),
    ("tree", {"depth": 17}, "The depth of tree is 17, which makes 2^17 − 1 bars or more; it must be at most 16."),
    ("tree", {"hanging": 1}, "The hanging of tree is 1; it must be True or False."),
    ("four_bar", {"count": 0}, "The count of four_bar is 0; it must be at least 1."),
    ("four_bar", {"speed": "x"}, "The speed of four_bar is 'x'; it must be a number."),
    ("loops", {"count": 0}, "The count of loops is 0; it must be at least 1."),
    ("loops", {"long": 1.0}, "The long of loops is 1.0; it must be more than 1, as the others have, and at most 2."),
    ("loops", {"long": "x"}, "The long of loops is 'x'; it must be a number."),
    ("six_bar", {"width": 0}, "The width of six_bar is 0; it must be greater than zero."),
    ("six_bar", {"depth": -1}, "The depth of six_bar is -1; it must be greater than zero."),
    ("six_bar", {"height": 0}, "The height of six_bar is 0; it must be greater than zero."),
    ("slider_crank", {"spin": "fast"}, "The spin of slider_crank is 'fast'; it must be a number."),
]


@pytest.mark.parametrize(("name", "options", "said"), WRONG)
def test_a_parameter_that_cannot_be_is_refused(name, options, said):
    with pytest.raises(rb.InputError) as caught:
        MENU[name].build(**options)
    assert str(caught.value) == said
