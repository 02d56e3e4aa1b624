"""Questions about shapes in space, without any dynamics: distances, overlaps, rays, swept shapes.

| question | answered by |
|---|---|
| how far apart, how deep, where nearest | ``distance``, ``closest_points``, ``penetration``, ``overlap`` |
| what does a ray hit first | ``ray_cast`` |
| where does a moving shape first touch | ``shape_cast`` |
| the same again and again in one place | ``Space`` |

They are public as ``rattleback.collision.distance`` and so on. Everything takes one or many.
"""
