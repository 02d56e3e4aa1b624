"""Reduced coordinates: scenes as forests of articulated bodies, and the recursions over them as functions for kernels.

| file | what it does |
|---|---|
| ``moves`` | which coordinates a joint leaves, as slides, turns and spins in order |
| ``spanning`` | the joints of a scene that span a forest, and those that close loops |
| ``forest`` | the forest as arrays |
| ``walk`` | poses, velocities, motion subspaces and bias accelerations from coordinates and rates |
| ``newton_euler`` | joint forces from accelerations |
| ``composite`` | the mass matrix |
| ``articulated`` | accelerations from joint forces, and the answer to wrenches |
| ``factor`` | the mass matrix factored along the branches |
| ``points`` | Jacobians of points and their rates |
| ``momentum`` | momentum, energy and centre of mass of all bodies |
| ``slopes`` | derivatives of inverse dynamics |
| ``reading`` | coordinates and rates from poses and velocities of bodies |
| ``manifold`` | steps and differences of coordinates |
"""
