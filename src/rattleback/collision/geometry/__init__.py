"""Collision geometry: colliders as flat arrays, hulls, surfaces, bounding volume trees, and their world poses.

Shapes of bodies are compiled once (``compile``) into rows of ``colliders``, with the vertices, edges and faces of
polyhedra in ``hull_table`` and the triangles of meshes and height fields in ``surface_table``. ``solid`` is a collider
as a kernel reads it, with its support function; ``world_poses`` moves colliders with their bodies and bounds them.
"""
