"""Mathematics without bodies: rotations in kernels and for users, Euler angles, inertia tensors."""
