"""Array groups: one declaration allocates, copies, checks, hashes and describes."""

import hashlib

import numpy as np
import pytest
import warp as wp

from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real, quat, real, vec3
from rattleback.model.state import Clock, Motion


@arrays.group(axis="rows")
class Sample:
    """A group for the tests."""

    point: vec3 = arrays.field("m", "a point")
    turn: quat = arrays.field("1", "a turn")
    weight: real = arrays.field("kg", "a weight", axis="wholes")


@wp.kernel(enable_backward=False)
def weigh(sample: Sample) -> None:
    i = wp.tid()
    sample.point[i] = sample.weight[0] * sample.point[i]


def sample(device: str = "cpu") -> Sample:
    found = arrays.allocate(Sample, {"rows": 4, "wholes": 1}, device)
    found.point.assign(np.arange(12, dtype=numpy_real).reshape(4, 3))
    found.weight.fill_(2.0)
    return found


def test_every_field_has_the_rows_of_its_axis() -> None:
    shapes = {name: array.numpy().shape for name, array in arrays.each(sample())}
    assert shapes == {"point": (4, 3), "turn": (4, 4), "weight": (1,)}


def test_a_group_is_one_argument_of_a_kernel(device: str) -> None:
    found = sample(device)
    wp.launch(weigh, dim=4, inputs=[found], device=device)
    np.testing.assert_array_equal(found.point.numpy(), 2.0 * np.arange(12).reshape(4, 3))


def test_a_clone_shares_nothing() -> None:
    first = sample()
    second = arrays.clone(first)
    second.point.fill_(0.0)
    assert first.point.numpy()[1, 0] == 3.0
    arrays.copy_into(second, first)
    np.testing.assert_array_equal(second.point.numpy(), first.point.numpy())


def test_reading_and_writing_are_inverse() -> None:
    first, second = sample(), arrays.allocate(Sample, {"rows": 4, "wholes": 1}, "cpu")
    arrays.write(second, arrays.read(first), "the copy")
    np.testing.assert_array_equal(second.point.numpy(), first.point.numpy())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda values: values.pop("turn"), "the file has no array 'turn'"),
        (lambda values: values.update(point=np.zeros((5, 3))), "the file: point has shape (5, 3)"),
        (lambda values: values.update(weight=np.zeros(1, dtype=np.int32)), "the file: weight has shape (1,) of int32"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_and_nothing_is_written(change: object, words: str) -> None:
    target, values = sample(), arrays.read(sample())
    values["point"] = values["point"] + 1
    change(values)
    with pytest.raises(InputError) as caught:
        arrays.write(target, values, "the file")
    assert words in str(caught.value)
    assert target.point.numpy()[1, 0] == 3.0


def test_the_hash_is_that_of_names_and_bytes_in_declared_order() -> None:
    found, digest, expected = sample(), hashlib.sha256(), hashlib.sha256()
    arrays.feed_hash(arrays.read(found), digest)
    for name in ("point", "turn", "weight"):
        expected.update(name.encode() + getattr(found, name).numpy().tobytes())
    assert digest.hexdigest() == expected.hexdigest()


def test_every_field_of_the_state_has_a_unit_and_a_meaning() -> None:
    for kind in (Motion, Clock):
        for name, unit, meaning in arrays.describe(kind):
            assert unit, name
            assert len(meaning) > 4, name
