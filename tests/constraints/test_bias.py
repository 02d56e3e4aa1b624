"""The bias of rows and coordinates: against differences of their rates while the bodies keep their velocities."""

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from rattleback.constraints import KINDS
from rattleback.constraints.bias import coordinate_bias, rates_of, row_bias
from rattleback.constraints.change import row_change
from rattleback.constraints.coordinate import COORDINATES, coordinate_row
from rattleback.constraints.evaluation import definitions_of, evaluate, frames_of
from rattleback.constraints.frame import Frames, Row
from rattleback.constraints.row import RowDefinition
from rattleback.core.precision import real, vec3
from rattleback.joints.joint import RowSpec

POSES, H = 60, 2e-4
AXES = {
    "slide": (3, 1),
    "linear_rate": (3, 1),
    "angular_rate": (3, 1),
    "orient": (3, 1),
    "cross": (3, 3),
    "turn": (3, 1),
}
DEFINITIONS = [
    (kind, k, m) for kind in KINDS for k in range(AXES.get(kind, (1, 1))[0]) for m in range(AXES.get(kind, (1, 1))[1])
]


@wp.kernel(enable_backward=False)
def find_biases(
    definition: wp.array[RowDefinition],
    freedom: int,
    frames: wp.array[Frames],
    twist: wp.array2d[vec3],
    out: wp.array[real],
) -> None:
    """J̇ V of the row, or of the coordinate where one is named."""
    i = wp.tid()
    rates = rates_of(frames[i], twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3])
    if freedom >= 0:
        out[i] = coordinate_bias(freedom, frames[i], rates)
    else:
        out[i] = row_bias(definition[0], frames[i], rates)


@wp.kernel(enable_backward=False)
def find_changes(
    definition: wp.array[RowDefinition], frames: wp.array[Frames], twist: wp.array2d[vec3], rows: wp.array[Row]
) -> None:
    i = wp.tid()
    rates = rates_of(frames[i], twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3])
    rows[i] = row_change(definition[0], frames[i], rates)


@wp.kernel(enable_backward=False)
def find_coordinate_rows(freedom: int, frames: wp.array[Frames], rows: wp.array[Row]) -> None:
    i = wp.tid()
    rows[i] = coordinate_row(freedom, frames[i])


class Moving:
    """Pairs of bodies with a frame on each, which keep their velocities; frames stay off what has no direction."""

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        self.q = [Rotation.random(POSES, rng) for _ in "ab"]
        self.anchors, self.x = rng.uniform(-1, 1, (2, POSES, 3)), rng.uniform(-1, 1, (2, POSES, 3))
        near = Rotation.from_rotvec(rng.uniform(-0.8, 0.8, (POSES, 3)) + np.array((0.3, 0.9, 0.2)))
        first = Rotation.random(POSES, rng)
        self.turn = [first, self.q[1].inv() * self.q[0] * first * near]
        # The anchors are about a metre apart, across the z axes of both frames.
        across = (self.q[0] * first).apply(rng.uniform(-0.3, 0.3, (POSES, 3)) + np.array((0.1, 1.0, 0.0)))
        levers = [q.apply(anchor) for q, anchor in zip(self.q, self.anchors, strict=True)]
        self.x[1] = self.x[0] + levers[0] + across - levers[1]
        self.twist = rng.standard_normal((POSES, 4, 3))

    def frames(self, time: float) -> np.ndarray:
        q = [Rotation.from_rotvec(time * self.twist[:, 2 * s + 1]) * self.q[s] for s in range(2)]
        levers = [q[s].apply(self.anchors[s]) for s in range(2)]
        at = [self.x[s] + time * self.twist[:, 2 * s] + levers[s] for s in range(2)]
        turns = [(q[s] * self.turn[s]).as_quat() for s in range(2)]
        names = ("turn_a", "turn_b", "lever_a", "lever_b", "way")
        return frames_of(dict(zip(names, (*turns, *levers, at[1] - at[0]), strict=True)))

    def bias(self, definitions: np.ndarray, freedom: int) -> np.ndarray:
        out = wp.zeros(POSES, dtype=real, device="cpu")
        given = [wp.array(definitions, dtype=RowDefinition, device="cpu"), freedom]
        given += [
            wp.array(self.frames(0.0), dtype=Frames, device="cpu"),
            wp.array(self.twist, dtype=vec3, device="cpu"),
        ]
        wp.launch(find_biases, POSES, inputs=given, outputs=[out], device="cpu")
        return out.numpy()

    def difference(self, jacobian) -> np.ndarray:
        """The derivative of J V by time, from four points."""
        rate = {step: np.einsum("pij,pij->p", jacobian(self.frames(step * H)), self.twist) for step in (-2, -1, 1, 2)}
        return (8.0 * (rate[1] - rate[-1]) - (rate[2] - rate[-2])) / (12.0 * H)


def definition(kind: str, a: int, b: int) -> np.ndarray:
    return definitions_of([RowSpec(kind, a, b, 0.2, 0.3, -0.7)])


@pytest.mark.parametrize(("kind", "a", "b"), DEFINITIONS)
def test_the_bias_of_a_row_is_the_rate_of_its_jacobian_times_the_velocities(kind: str, a: int, b: int) -> None:
    moving, definitions = Moving(), definition(kind, a, b)
    expected = moving.difference(lambda frames: evaluate(definitions.repeat(POSES), np.arange(POSES), frames)[1])
    np.testing.assert_allclose(moving.bias(definitions, -1), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("kind", "a", "b"), DEFINITIONS)
def test_the_change_of_a_row_is_the_rate_of_its_jacobian(kind: str, a: int, b: int) -> None:
    moving, definitions = Moving(), definition(kind, a, b)
    at = {
        step: evaluate(definitions.repeat(POSES), np.arange(POSES), moving.frames(step * H))[1]
        for step in (-2, -1, 1, 2)
    }
    expected = (8.0 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12.0 * H)
    rows = wp.zeros(POSES, dtype=Row, device="cpu")
    given = [wp.array(definitions, dtype=RowDefinition, device="cpu")]
    given += [
        wp.array(moving.frames(0.0), dtype=Frames, device="cpu"),
        wp.array(moving.twist, dtype=vec3, device="cpu"),
    ]
    wp.launch(find_changes, POSES, inputs=given, outputs=[rows], device="cpu")
    found = np.stack([rows.numpy()[side] for side in ("linear_a", "angular_a", "linear_b", "angular_b")], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", COORDINATES)
def test_the_bias_of_a_coordinate_is_the_rate_of_its_jacobian_times_the_velocities(name: str) -> None:
    moving = Moving()

    def jacobian(frames: np.ndarray) -> np.ndarray:
        rows = wp.zeros(POSES, dtype=Row, device="cpu")
        given = [COORDINATES[name], wp.array(frames, dtype=Frames, device="cpu")]
        wp.launch(find_coordinate_rows, POSES, inputs=given, outputs=[rows], device="cpu")
        return np.stack([rows.numpy()[side] for side in ("linear_a", "angular_a", "linear_b", "angular_b")], axis=1)

    expected = moving.difference(jacobian)
    np.testing.assert_allclose(
        moving.bias(definition("slide", 0, 0), COORDINATES[name]), expected, rtol=1e-7, atol=1e-8
    )
