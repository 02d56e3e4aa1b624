"""Choosing by name or by object."""

from dataclasses import dataclass

import pytest

from rattleback.core.choice import choose, name_of
from rattleback.core.errors import InputError, UnknownName


@dataclass(frozen=True)
class Slow:
    patience: int = 3

    def work(self) -> None: ...


@dataclass(frozen=True)
class Fast:
    def work(self) -> None: ...


MENU = {"slow": Slow, "fast": Fast}


def test_a_name_gives_its_object_with_default_parameters() -> None:
    assert choose("worker", "slow", MENU, ("work",)) == Slow(patience=3)


def test_an_object_is_taken_as_it_is_even_if_it_is_not_on_the_menu() -> None:
    class Stranger:
        def work(self) -> None: ...

    stranger = Stranger()
    assert choose("worker", stranger, MENU, ("work",)) is stranger
    assert name_of(stranger, MENU) == "Stranger"
    assert name_of(Slow(), MENU) == "slow"


def test_a_wrong_name_lists_the_menu() -> None:
    with pytest.raises(
        UnknownName, match="There is no worker 'slwo'. Did you mean 'slow'\\? The menu: 'slow', 'fast'."
    ):
        choose("worker", "slwo", MENU, ("work",))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3, "3 cannot be the worker: it lacks 'work'."),
        (None, "it lacks 'work'"),
        (Slow, "make an object of the class first"),
    ],
)
def test_what_cannot_do_the_work_is_refused(value: object, words: str) -> None:
    with pytest.raises(InputError) as caught:
        choose("worker", value, MENU, ("work",))
    assert words in str(caught.value)
