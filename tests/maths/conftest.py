"""Rotations at which conversions tend to fail."""

import itertools

import numpy as np
import pytest

TINY = [
    0.0,
    1e-300,
    1e-200,
    1e-155,
    1e-100,
    1e-17,
    1e-16,
    1e-12,
    1e-9,
    1e-8,
    1e-7,
    1e-5,
    0.999e-3,
    1e-3,
    1.001e-3,
    2e-3,
]


@pytest.fixture(scope="session")
def tiny():
    """Angles from nothing to the thousandth part of a radian."""
    return np.array(TINY)


@pytest.fixture(scope="session")
def quaternions():
    """Random rotations, and the awkward ones: none, half turns, quarter turns, and close to each of these."""
    axes = [np.array(axis, float) for axis in itertools.product((-1, 0, 1), repeat=3) if any(axis)]
    axes = [axis / np.linalg.norm(axis) for axis in axes] + [np.array([0.6, 0.0, -0.8]), np.array([0.0, 1.0, 1e-9])]
    made = []
    for axis in axes:
        for base, off, sign in itertools.product((0.0, 0.25 * np.pi, 0.5 * np.pi), TINY, (1, -1)):
            half = base + sign * off
            made.append([*(axis * np.sin(half)), np.cos(half)])
            if base == 0.5 * np.pi:  # the half turn to the last digit, which cos(π/2) is not
                made.append([*axis, sign * off])
    group = [np.array(q, float) for q in itertools.product((-1, 0, 1), repeat=4) if any(q)]
    made = [*made, *(q / np.linalg.norm(q) for q in group)]
    spread = np.random.default_rng(7).standard_normal((500, 4))
    made = np.concatenate([np.array(made), spread])
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.fixture(scope="session")
def apart():
    """The largest difference between quaternions, or matrices, that stand for the same rotations."""

    def difference(first, second):
        first, second = np.asarray(first), np.asarray(second)
        if first.shape[-1] == 4 and first.shape[-2:] != (3, 4):
            first = np.where((first * second).sum(axis=-1, keepdims=True) < 0.0, -first, first)
        return float(np.abs(first - second).max())

    return difference
