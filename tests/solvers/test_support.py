"""What carries whom: the small arithmetic of it against NumPy."""

import numpy as np
import warp as wp

from rattleback.core.precision import vec3
from rattleback.solvers.contacts.stages.support import off_diagonal

COUNT = 50


@wp.kernel(enable_backward=False)
def multiply(a: wp.array(dtype=vec3), b: wp.array(dtype=vec3), out: wp.array(dtype=vec3)) -> None:
    i = wp.tid()
    out[i] = off_diagonal(a[i], b[i])


def test_the_mixed_products_of_two_vectors_are_those_of_their_outer_product():
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, COUNT, 3))
    out = wp.zeros(COUNT, dtype=vec3, device="cpu")
    wp.launch(multiply, COUNT, inputs=[*(wp.array(v, dtype=vec3, device="cpu") for v in (a, b)), out], device="cpu")
    outer = np.einsum("ki,kj->kij", a, b)
    np.testing.assert_allclose(out.numpy(), outer[:, [1, 2, 0], [2, 0, 1]], rtol=1e-15)
