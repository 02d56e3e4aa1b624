"""The parameters of scenes, read off their functions."""

import pytest

from rattleback.scenes import MENU
from rattleback.scenes.parameters import Parameter, parameters_of, summary_of, written


def build(count: int = 3, heavy: bool = False, plain=0.5):
    """A scene to try things on.

    More about it.

    Args:
        count: Number of bodies; there
            may be many.
        heavy: Whether they are heavy.
    """


def test_parameters_have_type_default_and_meaning():
    assert list(parameters_of(build).values()) == [
        Parameter("count", "int", 3, "Number of bodies; there may be many."),
        Parameter("heavy", "bool", False, "Whether they are heavy."),
        Parameter("plain", "float", 0.5, ""),
    ]


def test_a_scene_is_summed_up_by_its_first_sentence():
    assert summary_of(build) == "A scene to try things on."
    assert summary_of(lambda: None) == ""


def test_values_are_written_as_the_command_line_takes_them():
    assert [written(value) for value in (True, 3, 0.5)] == ["true", "3", "0.5"]
    assert str(Parameter("heavy", "bool", False)) == "heavy=false"


@pytest.mark.parametrize("name", MENU)
def test_every_scene_says_what_its_parameters_mean(name):
    assert all(parameter.meaning.endswith(".") for parameter in parameters_of(MENU[name].build).values())
