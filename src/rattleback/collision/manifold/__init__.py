"""Contact manifolds: the contact points of one pair of convex parts, with one normal.

| stage | file |
|---|---|
| build a manifold from normal and nearest points | ``build``, ``box_box`` for two boxes |
| support faces of both solids, clipped against each other | ``support_face``, ``clip`` |
| keep at most n points | ``reduce``, ``reduce_surface`` for the triangles of one surface |
| match points with those of the last step by feature id | ``match`` |
| keep points between detections, move them with their bodies | ``persistent``, ``update``, ``refresh`` |
"""
