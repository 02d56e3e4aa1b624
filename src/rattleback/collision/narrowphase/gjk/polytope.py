"""A convex polytope of triangles that grows by one corner at a time.

Arrays: corners w_k of A − B; for each face its plane (outward unit normal n, n · w) and its three corners,
anticlockwise from outside, as one number. A face sees a new corner when that lies above its plane. Those that see it
and hang together with the nearest face are taken away; an edge i → j of one of them whose twin j → i belongs to none
bounds the hole and is joined to the new corner. Which edges the hole has is kept as one row of bits for each corner:
the surface stays closed whatever rounding says about single faces, and needs no table of neighbours. A face that
rounding has left without area or turned inside out keeps its place but is never the nearest.

Reference: van den Bergen (2003), §4.3.8; Barber, Dobkin, Huhdanpaa (1996).
"""

import warp as wp

from rattleback.collision.narrowphase.gjk.simplex import FLAT, LARGE
from rattleback.core.precision import real, vec3, vec4

# One row of bits has 64 bits; a closed surface of n corners has 2 n − 4 triangles.
MOST_CORNERS = wp.constant(64)
MOST_FACES = wp.constant(128)
# A hole's rim has at most as many edges as there are corners.
MOST_RIM = wp.constant(64)


@wp.func
def face_of(i: int, j: int, k: int) -> int:
    """Three corners as one number."""
    return i + 64 * j + 4096 * k


@wp.func
def face_corner(face: int, k: int) -> int:
    """Corner k of a face; k from 0 to 2."""
    return (face >> (6 * k)) & 63


@wp.func
def plane_of(w: wp.array[vec3], face: int, inner: vec3) -> vec4:
    """The plane of a face; far away where it has no area or a point inside the polytope lies above it."""
    p = w[face_corner(face, 0)]
    e = w[face_corner(face, 1)] - p
    f = w[face_corner(face, 2)] - p
    n = wp.cross(e, f)
    length = wp.length(n)
    if length <= FLAT * wp.length(e) * wp.length(f):
        return vec4(real(0.0), real(0.0), real(0.0), LARGE)
    n = n / length
    if wp.dot(n, inner - p) >= real(0.0):
        return vec4(real(0.0), real(0.0), real(0.0), LARGE)
    return vec4(n[0], n[1], n[2], wp.dot(n, p))


@wp.func
def normal_of(plane: vec4) -> vec3:
    """The normal of a plane."""
    return vec3(plane[0], plane[1], plane[2])


@wp.func
def middle_of(w: wp.array[vec3]) -> vec3:
    """A point inside the polytope: the middle of the tetrahedron it started from."""
    return real(0.25) * (w[0] + w[1] + w[2] + w[3])


@wp.func
def has_edge(edges: wp.array[wp.uint64], i: int, j: int) -> bool:
    """Whether the edge i → j is noted."""
    return ((edges[i] >> wp.uint64(j)) & wp.uint64(1)) != wp.uint64(0)


@wp.func
def note_edge(edges: wp.array[wp.uint64], i: int, j: int) -> None:
    """Note the edge i → j."""
    edges[i] = edges[i] | (wp.uint64(1) << wp.uint64(j))


@wp.func
def begin(w: wp.array[vec3], planes: wp.array[vec4], faces: wp.array[wp.int32]) -> int:
    """The four faces of the tetrahedron of the first four corners; returns their number."""
    turned = wp.dot(wp.cross(w[1] - w[0], w[2] - w[0]), w[3] - w[0]) < real(0.0)
    second = wp.where(turned, 2, 1)
    third = wp.where(turned, 1, 2)
    faces[0] = face_of(0, third, second)
    faces[1] = face_of(0, second, 3)
    faces[2] = face_of(0, 3, third)
    faces[3] = face_of(second, third, 3)
    for f in range(4):
        planes[f] = plane_of(w, faces[f], middle_of(w))
    return 4


@wp.func
def nearest_face(planes: wp.array[vec4], count: int) -> int:
    """The face whose plane lies least far outside the origin."""
    best = int(0)
    low = planes[0][3]
    for f in range(1, count):
        d = planes[f][3]
        if d < low:
            low = d
            best = f
    return best


@wp.func
def most_seeing(planes: wp.array[vec4], count: int, x: vec3) -> int:
    """The face that a point lies highest above."""
    best = int(0)
    high = -LARGE
    for f in range(count):
        along = wp.dot(normal_of(planes[f]), x) - planes[f][3]
        if along > high:
            high = along
            best = f
    return best


@wp.func
def swap_faces(planes: wp.array[vec4], faces: wp.array[wp.int32], f: int, g: int) -> None:
    """Exchange the places of two faces."""
    plane = planes[f]
    face = faces[f]
    planes[f] = planes[g]
    faces[f] = faces[g]
    planes[g] = plane
    faces[g] = face


@wp.func
def note_face(edges: wp.array[wp.uint64], face: int) -> None:
    """Note the edges of a face."""
    i = face_corner(face, 0)
    j = face_corner(face, 1)
    k = face_corner(face, 2)
    note_edge(edges, i, j)
    note_edge(edges, j, k)
    note_edge(edges, k, i)


@wp.func
def open_hole(
    planes: wp.array[vec4],
    faces: wp.array[wp.int32],
    edges: wp.array[wp.uint64],
    count: int,
    nearest: int,
    apex: vec4,
) -> int:
    """Note the edges of the faces that see the new corner and move them to the end; returns the number of the others.

    Args:
        planes: Planes of the faces.
        faces: Corners of the faces.
        edges: Nothing noted yet.
        count: Number of faces.
        nearest: The face the hole begins with.
        apex: The new corner, and how far below a plane it may lie to be seen.
    """
    w = vec3(apex[0], apex[1], apex[2])
    # At the end the faces of the hole, before them those that see the corner but may not hang together with it.
    kept = int(count - 1)
    swap_faces(planes, faces, nearest, kept)
    note_face(edges, faces[kept])
    first = int(kept)
    for up in range(1, kept + 1):
        f = kept - up
        if wp.dot(normal_of(planes[f]), w) - planes[f][3] > -apex[3]:
            first -= 1
            swap_faces(planes, faces, f, first)
    f = int(kept - 1)
    while f >= first:
        face = faces[f]
        i = face_corner(face, 0)
        j = face_corner(face, 1)
        k = face_corner(face, 2)
        if has_edge(edges, j, i) or has_edge(edges, k, j) or has_edge(edges, i, k):
            note_face(edges, face)
            kept -= 1
            swap_faces(planes, faces, f, kept)
            f = kept - 1
        else:
            f -= 1
    return kept


@wp.func
def close_hole(
    w: wp.array[vec3],
    planes: wp.array[vec4],
    faces: wp.array[wp.int32],
    edges: wp.array[wp.uint64],
    hole: wp.vec2i,
    apex: int,
) -> int:
    """Join the rim of the hole to the new corner; returns the number of faces, too large where they do not fit.

    Args:
        w: The corners.
        planes: Planes of the faces.
        faces: Corners of the faces.
        edges: Those of the hole; none are noted afterwards.
        hole: The first face of the hole, and the number of faces.
        apex: The new corner.
    """
    inner = middle_of(w)
    count = int(hole[1])
    for f in range(hole[0], hole[1]):
        face = faces[f]
        for k in range(3):
            i = face_corner(face, k)
            j = face_corner(face, (k + 1) % 3)
            if not has_edge(edges, j, i):
                if count < MOST_FACES + MOST_RIM:
                    faces[count] = face_of(i, j, apex)
                count += 1
    for f in range(hole[0], hole[1]):
        face = faces[f]
        for k in range(3):
            edges[face_corner(face, k)] = wp.uint64(0)
    # The new faces move into the hole.
    holes = hole[1] - hole[0]
    for f in range(hole[0], wp.min(count - holes, MOST_FACES)):
        faces[f] = faces[f + holes]
        planes[f] = plane_of(w, faces[f], inner)
    return count - holes
