"""Laws of friction by name, and the projections that belong to them.

    coulomb        |p_t| ≤ μ p_n,   0 ≤ p_n ⟂ u_n ≥ 0,   p_t against u_t at the limit       the true law
    cone           |p_t| ≤ μ p_n,   u_n ≥ μ |u_t|,   p · u = 0                            its convex relaxation
    pyramid        −μ p_n ≤ p_t, p_s ≤ μ p_n,   0 ≤ p_n ⟂ u_n ≥ 0                         each tangent for itself
    frictionless   p_t = 0,   0 ≤ p_n ⟂ u_n ≥ 0

Under ``cone`` impulses minimise ½ p·W p + q·p over the cones, so there is one minimum and a method that descends finds
it; but a contact that slides separates with u_n = μ |u_t|. With the De Saxcé shift û = u + μ |u_t| n the condition of
``cone`` on û is that of ``coulomb`` on u.

Reference: De Saxcé, Feng (1998), The bipotential method; Anitescu (2006), for the relaxation.
"""

import warp as wp

from rattleback.core.precision import real, vec3

LAWS = ("coulomb", "cone", "pyramid", "frictionless")
# The laws of a solver that does not say which it takes: without friction the cone of Coulomb's law is a ray.
USUAL_LAWS = ("coulomb", "frictionless")


@wp.func
def project_on_cone(p: vec3, mu: real) -> vec3:
    """The nearest impulse within the friction cone."""
    size = wp.sqrt(p[1] * p[1] + p[2] * p[2])
    # First the polar cone: without friction a pull is within |p_t| ≤ μ p_n, too.
    if mu * size <= -p[0]:
        return vec3()
    if size <= mu * p[0]:
        return p
    normal = (p[0] + mu * size) / (real(1.0) + mu * mu)
    part = mu * normal / size
    return vec3(normal, part * p[1], part * p[2])


@wp.func
def shift_velocity(u: vec3, mu: real) -> vec3:
    """The velocity of a point with its De Saxcé shift û = u + μ |u_t| n."""
    return vec3(u[0] + mu * wp.sqrt(u[1] * u[1] + u[2] * u[2]), u[1], u[2])
