"""Scene parameters as words: read by type, refused by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rattleback.cli.parameters import read_pairs
from rattleback.core.errors import InputError
from rattleback.scenes import MENU
from rattleback.scenes.parameters import parameters_of


def build(count: int = 3, speed: float = 2, label: str = "ball", heavy: bool = False, plain=0.5):
    """A scene with a parameter of every type; the last one only has a default."""


KNOWN = parameters_of(build)


def read(*words):
    return read_pairs(words, KNOWN, "drop")


def test_every_parameter_is_read_by_the_type_its_annotation_or_default_has():
    values = read("count=7", "speed=3", "label=7", "heavy=yes", "plain=1")
    assert values == {"count": 7, "speed": 3.0, "label": "7", "heavy": True, "plain": 1.0}
    assert [type(value) for value in values.values()] == [int, float, str, bool, float]


@pytest.mark.parametrize(
    ("word", "value"), [("true", True), ("On", True), ("1", True), ("FALSE", False), ("no", False), ("0", False)]
)
def test_a_flag_is_written_in_several_ways(word, value):
    assert read(f"heavy={word}") == {"heavy": value}


def test_a_text_keeps_its_equals_signs_and_may_be_empty():
    assert read("label=a=b") == {"label": "a=b"}
    assert read("label=") == {"label": ""}


@given(st.floats(allow_nan=False))
def test_a_number_is_read_back_bit_for_bit(value):
    assert read(f"speed={value!r}") == {"speed": value}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["count"], "'count' is not a parameter; write name=value. The scene 'drop' takes count=3, speed=2, "),
        (["sped=1"], "The scene 'drop' has no parameter 'sped'. Did you mean 'speed'? It takes count=3, "),
        (["=1"], "The scene 'drop' has no parameter ''. It takes count=3, "),
        (["count=1", "count=2"], "The parameter 'count' of the scene 'drop' is given twice; give it once."),
        (["count=1.5"], "The parameter 'count' of the scene 'drop' is '1.5'; it must be a whole number, such as 3."),
        (["speed=fast"], "The parameter 'speed' of the scene 'drop' is 'fast'; it must be a number, such as 2."),
        (["heavy=2"], "The parameter 'heavy' of the scene 'drop' is '2'; it must be true or false, such as false."),
    ],
)
def test_a_wrong_word_is_answered_with_a_sentence(words, sentence):
    with pytest.raises(InputError) as caught:
        read(*words)
    assert str(caught.value).startswith(sentence)


def test_a_scene_without_parameters_says_so():
    with pytest.raises(InputError, match=r"has no parameter 'a'\. It takes none\.$"):
        read_pairs(["a=1"], parameters_of(lambda: None), "still")


@pytest.mark.parametrize("name", list(MENU))
def test_the_defaults_of_every_scene_read_back_as_they_are_listed(name):
    known = parameters_of(MENU[name].build)
    assert read_pairs([str(entry) for entry in known.values()], known, name) == {
        entry.name: entry.default for entry in known.values()
    }
