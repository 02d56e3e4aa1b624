"""Triangles of meshes and height fields: answers for single triangles turned into answers for the surface."""
