"""Measuring, names, and what arrows mean."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import rattleback as rb
from rattleback.viewer.drawing.arrows import Velocities
from rattleback.viewer.drawing.bodies import Bodies
from rattleback.viewer.drawing.contacts import Contacts
from rattleback.viewer.drawing.names import MOST, Names
from rattleback.viewer.interaction.measure import Measure, measured
from rattleback.viewer.panels.show import Show


def boxes():
    """Two boxes without gravity, one of which flies; their upper faces are at z = 1."""
    scene = rb.Scene((0, 0, 0))
    scene.add_body(rb.Box(1, 1, 2), position=(0, 0, 0), name="still")
    scene.add_body(rb.Box(1, 1, 2), position=(3, 4, 0), velocity=(0, 0, 1.5), name="<b>flies</b>")
    return rb.Simulation(scene, time_step=0.1)


@pytest.fixture
def page(open_page):
    return open_page(boxes(), Bodies, Contacts, Velocities, Names, Show, Measure)


def click(part, x, y):
    """A click from straight above."""
    event = SimpleNamespace(ray_origin=(x, y, 50.0), ray_direction=(0.0, 0.0, -1.0))
    with pytest.raises(StopIteration):  # it does not wait
        part._clicked(event).send(None)


def test_two_clicks_measure_a_distance_that_goes_along_with_the_bodies_and_a_third_an_angle(page, person, until):
    part = page.parts[-1]
    click(part, 0.0, 0.0)
    assert part.points == []
    person.turn(part.box, True)
    click(part, 0.0, 0.0)
    click(part, 3.0, 4.0)
    until(lambda: part.words == "5 m")
    page.session.step(8).result()
    until(lambda: part.words == f"{math.hypot(5.0, 1.2):.4g} m")
    click(part, 3.0, 4.4)
    # At the second, between the way back to the first and one along y.
    back, along = np.array((-3.0, -4.0, -1.2)), np.array((0.0, 0.4, 0.0))
    angle = math.degrees(math.acos(back @ along / np.linalg.norm(back) / 0.4))
    until(lambda: part.words == f"{angle:.4g}°")
    click(part, 0.0, 0.0)
    until(lambda: len(part.points) == 1 and part.words == "")


def test_points_of_bodies_that_are_gone_are_forgotten(page, person, until):
    part = page.parts[-1]
    person.turn(part.box, True)
    click(part, 0.0, 0.0)
    click(part, 3.0, 4.0)

    def without(scene):
        made = scene.copy()
        made.remove_body("still")
        return made

    page.session.rebuild(without).result()
    until(lambda: len(part.points) == 1 and part.words == "")
    assert measured([np.zeros(3), np.zeros(3), np.ones(3)]) == "no angle"


def test_names_stand_where_the_bodies_are_and_not_at_hidden_ones(page, until):
    names, bodies = page.parts[3], page.parts[0]
    names.visible = True
    page.session.step(8).result()
    until(lambda: len(names._labels) == 2)
    until(lambda: np.allclose(names._labels[1][1].position, (3, 4, 1.2)))
    assert names._labels[1][1].text == "<b>flies</b>"
    bodies.hidden = frozenset({"still"})
    page.session.step().result()
    until(lambda: [label.text for _, label in names._labels] == ["<b>flies</b>"])
    assert MOST <= 100


def test_the_legend_says_how_much_the_longest_arrow_is(page, until):
    show, arrows = page.parts[4], page.parts[2]
    arrows.visible = True
    page.session.step().result()
    until(lambda: "Velocities, largest 1.5 m/s" in show._legend.content)
    arrows.visible = False
    page.session.step().result()
    until(lambda: show._legend.content == "")
