"""The picker of scenes, without a browser."""

import pytest

import rattleback as rb
from rattleback.scenes import MENU
from rattleback.viewer.panels.scenes import Scenes


@pytest.fixture
def panel(open_page):
    return open_page(rb.Simulation(MENU["pendulum"].build(), time_step=0.01), Scenes).parts[0]


def test_the_picker_starts_at_the_scene_that_is_shown_and_offers_all(panel):
    assert panel.picker.value == "pendulum"
    assert panel.picker.options == tuple(MENU)


def test_every_scene_has_a_summary_and_a_field_with_the_default_of_every_parameter(panel, person):
    for name, entry in MENU.items():
        person.turn(panel.picker, name)
        assert panel.summary.content == entry.build.__doc__.partition("\n")[0]
        defaults = dict(zip(entry.build.__code__.co_varnames, entry.build.__defaults__ or (), strict=False))
        assert {key: field.value for key, field in panel.fields.items()} == defaults
        assert all(field.hint for field in panel.fields.values())


def test_a_scene_is_opened_with_its_parameters_its_time_step_and_its_integrator(panel, person, until):
    person.turn(panel.picker, "thrown")
    person.turn(panel.fields["count"], 3)
    person.turn(panel.fields["drag"], 0.5)
    version = panel.session.frame.version
    person.press(panel.button)
    until(lambda: panel.session.frame.version > version)
    frame = panel.session.frame
    assert frame.picture.scene.name == "thrown"
    assert len(frame.picture.position) == len(MENU["thrown"].build(count=3).bodies)
    assert frame.time_step == MENU["thrown"].time_step
    assert type(frame.picture.methods.integrator).__name__ == "RK4"
    assert not frame.playing
    until(lambda: panel.button.label == "Open" and not panel.button.disabled)


def test_a_parameter_that_is_refused_leaves_the_scene_as_it_is(panel, person, until):
    person.turn(panel.picker, "tree")
    person.turn(panel.fields["depth"], 99)
    person.press(panel.button)
    until(lambda: panel.session.notices)
    assert "The depth of tree is 99" in panel.session.notices[-1].text
    assert panel.session.frame.picture.scene.name == "pendulum"
    until(lambda: panel.button.label == "Open")


def test_a_running_scene_goes_on_while_another_is_only_looked_at(panel, person, until):
    panel.session.play().result()
    person.turn(panel.picker, "wall")
    there = panel.session.frame.steps
    until(lambda: panel.session.frame.steps > there)
    assert panel.session.frame.picture.scene.name == "pendulum"
