"""A small figure of the tests' own: an arm of three joints with a skin, and where the reference data is."""

from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.characters import Joint, Skeleton, Skin

DATA = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture
def data() -> Path:
    """The folder of reference data."""
    if not DATA.is_dir():
        pytest.skip("the folder shared/data with reference files is not here")
    return DATA


@pytest.fixture
def arm() -> Skeleton:
    """An upper arm, a forearm and a hand, the forearm turned at rest."""
    bent = rb.rotation.quaternion_from_axis_angle((0, 1, 0), 0.3)
    return Skeleton(
        [
            Joint("Hand", "Forearm", (0, 0, 2.0)),
            Joint("Upper", "", (1.0, 2.0, 3.0)),
            Joint("Forearm", "Upper", (0, 0, 3.0), bent),
            Joint("Hand_end", "Hand", (0, 0, 1.0), end=True),
        ],
        "arm",
    )


@pytest.fixture
def tube() -> Skin:
    """A tube about z with a joint at each end, whose weights go over evenly between them."""
    skeleton = Skeleton([Joint("Low"), Joint("High", "Low", (0, 0, 1.0))], "tube")
    heights, angles = np.linspace(0, 1, 21), np.linspace(0, 2 * np.pi, 16, endpoint=False)
    points = np.array([(np.cos(a), np.sin(a), z) for z in heights for a in angles])
    shares = np.repeat(np.stack([1 - heights, heights], axis=1), len(angles), axis=0)
    joints = np.tile([0, 1], (len(points), 1))
    return Skin(skeleton, points, [[0, 1, 2]], joints=joints, weights=3.0 * shares)
