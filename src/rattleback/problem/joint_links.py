"""Which joints hold each body, as a list that kernels walk in a fixed order."""

import numpy as np

from rattleback.core import arrays
from rattleback.problem.corrections import Links
from rattleback.problem.joint_rows import JointRows


def links_of(problem: JointRows) -> Links:
    """For every body the joints that hold it, in the order of the joints."""
    model = problem.model
    pairs = np.stack([problem.joints.body_a.numpy(), problem.joints.body_b.numpy()], axis=1)
    joint, is_b = np.nonzero(pairs >= 0)
    body = pairs[joint, is_b]
    order = np.lexsort((joint, body))
    count = np.bincount(body, minlength=model.count)
    links = arrays.allocate(Links, {"bodies": model.count, "ends": len(order)}, model.device)
    lists = {"first": np.cumsum(count) - count, "count": count, "joint": joint[order], "is_b": is_b[order]}
    arrays.write(links, {name: values.astype(np.int32) for name, values in lists.items()}, "the links")
    return links
