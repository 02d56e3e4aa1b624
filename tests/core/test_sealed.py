"""Sealed objects: what they do not have is refused with a sentence, what they have is written and read as ever."""

import copy
import pickle
from dataclasses import dataclass, replace

import pytest

from rattleback.core.errors import FieldError, InputError, RattlebackError
from rattleback.core.sealed import sealed, writable


@sealed
class Motor:
    """Has a speed to write, a load to read, and an age that others keep."""

    _kind = "motor"
    _open = ("age",)

    def __init__(self, name: str) -> None:
        self.name, self.age, self._speed = name, 0, 1.0

    @property
    def speed(self) -> float:
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        self._speed = value

    @property
    def load(self) -> float:
        return 2.0 * self._speed

    def _advice(self, name: str) -> str:
        return "Motors are driven by their speed." if name == "torque" else ""


class Tuned(Motor):
    """Somebody's own motor."""


@sealed
@dataclass(frozen=True)
class Plate:
    """A frozen thing."""

    width: float
    height: float = 1.0

    @property
    def area(self) -> float:
        return self.width * self.height


def test_what_can_be_written_is_written() -> None:
    motor = Motor("m")
    motor.speed, motor.age, motor._note = 3.0, 7, "own business"
    assert (motor.load, motor.age, motor._note) == (6.0, 7, "own business")
    assert writable(Motor) == ["speed"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sped", "Motor 'm' has no 'sped'; nothing was changed. Did you mean 'speed'? It can be given 'speed'."),
        ("lod", "Motor 'm' has no 'lod'; nothing was changed. Did you mean 'load'? It can be given 'speed'."),
        ("load", "The load of motor 'm' cannot be written."),
        ("name", "The name of motor 'm' cannot be written."),
        ("torque", "Motor 'm' has no 'torque'; nothing was changed. Motors are driven by their speed. It can be given"),
    ],
)
def test_what_cannot_be_written_is_refused_with_a_sentence(name: str, said: str) -> None:
    motor = Motor("m")
    before = dict(vars(motor))
    with pytest.raises(FieldError) as error:
        setattr(motor, name, 5.0)
    assert str(error.value).startswith(said)
    assert vars(motor) == before


def test_a_name_that_is_read_in_vain_is_answered_as_well() -> None:
    with pytest.raises(
        FieldError, match=r"Motor 'm' has no 'sped'. Did you mean 'speed'\? It has 'age', 'load', 'name'"
    ):
        _ = Motor("m").sped
    assert not hasattr(Motor("m"), "no_such_thing")
    assert getattr(Motor("m"), "_private", 3) == 3


def test_such_an_error_is_what_people_catch() -> None:
    assert issubclass(FieldError, RattlebackError)
    assert issubclass(FieldError, InputError)
    assert issubclass(FieldError, AttributeError)


def test_a_class_of_ones_own_that_is_derived_is_open() -> None:
    motor = Tuned("m")
    motor.colour = "red"
    assert motor.colour == "red"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("width", "The width of a Plate cannot be changed. Make another: dataclasses.replace(it, width=...)."),
        ("area", "The area of a Plate cannot be changed."),
        ("widht", "A Plate has no 'widht'; nothing was changed. Did you mean 'width'? It has 'width', 'height'."),
    ],
)
def test_a_frozen_thing_says_how_another_one_is_made(name: str, said: str) -> None:
    plate = Plate(2.0)
    with pytest.raises(FieldError) as error:
        setattr(plate, name, 5.0)
    assert str(error.value) == said
    assert replace(plate, width=5.0) == Plate(5.0)


@pytest.mark.parametrize("thing", [Motor("m"), Plate(2.0, 3.0)], ids=["ordinary", "frozen"])
def test_sealed_things_can_be_copied_and_pickled(thing: object) -> None:
    for twin in (copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
        assert vars(twin) == vars(thing)
        with pytest.raises(FieldError):
            twin.no_such_thing = 1
