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

from rattleback.collision.narrowphase.simplex import FLAT, LARGE
from rattleback.core.precision import real, vec3, vec4

# One row of bits has 64 bits; a closed surface of n corners has 2 n − 4 triangles.
MOST_CORNERS = wp.constant(64)
MOST_FACES = wp.constant(128)


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
def open_hole(
    planes: wp.array[vec4],
    faces: wp.array[wp.int32],
    edges: wp.array[wp.uint64],
    count: int,
    nearest: int,
    apex: vec4,
) -> int:
    """Note the edges of the faces that see the new corner and drop them; returns the number of faces left.

    Args:
        planes: Planes of the faces.
        faces: Corners of the faces.
        edges: Nothing noted yet.
        count: Number of faces.
        nearest: The face the hole begins with.
        apex: The new corner, and how far below a plane it may lie to be seen.
    """
    w = vec3(apex[0], apex[1], apex[2])
    kept = int(count)
    f = int(nearest)
    # Faces looked at since the hole last grew.
    idle = int(0)
    while idle < kept or kept == count:
        face = faces[f]
        i = face_corner(face, 0)
        j = face_corner(face, 1)
        k = face_corner(face, 2)
        joined = kept == count or has_edge(edges, j, i) or has_edge(edges, k, j) or has_edge(edges, i, k)
        if joined and (kept == count or wp.dot(normal_of(planes[f]), w) - planes[f][3] > -apex[3]):
            note_edge(edges, i, j)
            note_edge(edges, j, k)
            note_edge(edges, k, i)
            kept -= 1
            planes[f] = planes[kept]
            faces[f] = faces[kept]
            idle = 0
        else:
            f += 1
            idle += 1
        if f >= kept:
            f = 0
    return kept


@wp.func
def close_hole(
    w: wp.array[vec3],
    planes: wp.array[vec4],
    faces: wp.array[wp.int32],
    edges: wp.array[wp.uint64],
    kept: int,
    apex: int,
) -> int:
    """Join the rim of the hole to the new corner; returns the number of faces, too large where they do not fit."""
    count = int(kept)
    inner = middle_of(w)
    for i in range(apex):
        if edges[i] != wp.uint64(0):
            for j in range(apex):
                if has_edge(edges, i, j) and not has_edge(edges, j, i):
                    if count < MOST_FACES:
                        faces[count] = face_of(i, j, apex)
                        planes[count] = plane_of(w, faces[count], inner)
                    count += 1
    for i in range(apex):
        edges[i] = wp.uint64(0)
    return count
