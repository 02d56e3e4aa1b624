"""Colliders: the collision shapes of all bodies as flat arrays, corners and faces of the angular ones, their places.

A body may have several colliders, a compound has one for each part, a decomposed mesh one for each convex part.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, quat, real, vec3, vec4


@group(axis="colliders")
class Colliders:
    """What does not change about a collider."""

    kind: wp.int32 = field("1", "what it is; see collision.geometry.solid")
    body: wp.int32 = field("1", "row of its body")
    world: wp.int32 = field("1", "world it lives in")
    movable: wp.int32 = field("1", "1 unless its body is static")
    position: vec3 = field("m", "origin of its frame from the centre of mass, in the body's frame")
    orientation: quat = field("1", "from its frame to the body's")
    size: vec3 = field("m", "size of its core; see collision.geometry.solid")
    center: vec3 = field("m", "middle of the box around a mesh, in its frame; of others, its origin")
    round: real = field("m", "thickness of the shell around its core")
    reach: real = field("m", "radius of a ball around its origin that holds it, shell included; negative for no end")
    hull: wp.int32 = field("1", "row of its corners, edges and faces in Hulls, of a mesh in Surfaces; -1 for none")
    first: wp.int32 = field("1", "first of its vertices in Hulls")
    count: wp.int32 = field("1", "number of its vertices; of a mesh, three for each triangle")
    category: wp.int32 = field("1", "bits of the categories it belongs to")
    mask: wp.int32 = field("1", "bits of the categories it meets")
    excluded: wp.int32 = field("1", "first of the bodies of its world it must not meet, in Exclusions")
    exclusions: wp.int32 = field("1", "their number")


@group(axis="exclusions")
class Exclusions:
    """Pairs of bodies that must not meet, listed with either of the two."""

    body: wp.int32 = field("1", "index of the other body in its world")


@group(axis="hulls")
class Hulls:
    """Corners, edges and faces of convex polyhedra, boxes included, each in its collider's frame.

    Vertices, edges and faces are numbered through all hulls. A face is a loop of corners, anticlockwise from outside;
    corner k of a loop begins the edge ``corner_edge[k]`` to the next corner, across which lies ``corner_face[k]``.
    """

    center: vec3 = field("m", "a point inside")
    first_vertex: wp.int32 = field("1", "first vertex")
    vertices: wp.int32 = field("1", "number of vertices")
    first_edge: wp.int32 = field("1", "first edge")
    edges: wp.int32 = field("1", "number of edges")
    first_face: wp.int32 = field("1", "first face")
    faces: wp.int32 = field("1", "number of faces")
    vertex: vec3 = field("m", "place of a vertex; behind those of hulls, corners of triangles", axis="hull_vertices")
    vertex_edge: wp.int32 = field("1", "first of its edges in spoke", axis="hull_own_vertices")
    vertex_edges: wp.int32 = field("1", "number of its edges", axis="hull_own_vertices")
    spoke: wp.int32 = field("1", "edges of the vertices, one after the other", axis="hull_spokes")
    edge_tail: wp.int32 = field("1", "vertex an edge starts at", axis="hull_edges")
    edge_head: wp.int32 = field("1", "vertex it ends at", axis="hull_edges")
    edge_left: wp.int32 = field("1", "face whose loop runs along it", axis="hull_edges")
    edge_right: wp.int32 = field("1", "face whose loop runs against it", axis="hull_edges")
    plane: vec4 = field("1, m", "outward unit normal of a face, and its distance from the origin", axis="hull_faces")
    face_corner: wp.int32 = field("1", "first corner of its loop", axis="hull_faces")
    face_corners: wp.int32 = field("1", "number of its corners", axis="hull_faces")
    corner: wp.int32 = field("1", "vertex at a corner", axis="hull_corners")
    corner_edge: wp.int32 = field("1", "edge from this corner to the next", axis="hull_corners")
    corner_face: wp.int32 = field("1", "face on the other side of that edge", axis="hull_corners")


@group(axis="colliders")
class Places:
    """Where the colliders are now."""

    position: vec3 = field("m", "origin of its frame, world frame")
    rotation: mat33 = field("1", "from its frame to the world")
    lower: vec3 = field("m", "lower corner of a box around it along the axes, half the contact distance wider")
    upper: vec3 = field("m", "upper corner of that box")
    max_travel: real = field(
        "m", "how far its points move in the coming step at most; zero without speculative contacts"
    )
    travel: vec3 = field("m", "how far its body has moved from there already")
    turn: vec3 = field("rad", "how far it has turned")
    stays: wp.int32 = field("1", "1 where its reference pose is that of the last detection")
    seen: vec3 = field("m", "where its body was in the last step")
    heading: quat = field("1", "orientation of its body then")
    rests: wp.int32 = field("1", "1 where it stays and its body is where it was, to the bit")


@wp.struct
class PlacedColliders:
    """Colliders, where they are, and the corners of those that are polyhedra."""

    colliders: Colliders
    places: Places
    hulls: Hulls


@group(axis="colliders")
class SpeculativeMargins:
    """Motion of colliders in the coming step, their boxes before it, and how far impacts may move them."""

    lower: vec3 = field("m", "lower corner of the box around it now, half the contact distance wider")
    upper: vec3 = field("m", "upper corner of that box")
    travel: vec3 = field("m", "way of its body")
    impact_travel: real = field("m", "travel by an impact at a contact it has, at most")
    neighbor_travel: real = field("m", "the same, by an impact on a collider that it touches")
    new_impact_travel: real = field("m", "the same, by an impact with a collider that it has not touched yet")
    ahead_travel: real = field("m", "travel by an impact with a solid that it meets in the step, at most")
    chained_travel: real = field("m", "the same, by an impact that another solid passes on")
    turn: real = field("m", "way of its points by turning, at most; of a half-space, minus the angle [rad]")
    held_lower: vec3 = field("m", "lower corner of the box that pairs were listed with")
    held_upper: vec3 = field("m", "upper corner of that box")
    changed: wp.int32 = field("1", "1 where one of these boxes is new, so that pairs must be listed again", axis="one")
    has_new_impacts: wp.int32 = field("1", "1 where new impacts are possible", axis="one")
