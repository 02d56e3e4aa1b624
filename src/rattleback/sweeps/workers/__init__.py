"""Where the tasks of a sweep are run: in this process, in processes beside it, or on a cluster.

Each takes the target and the tasks and gives pairs of a task and its outcomes as they come, in any order; a task that a
worker did not survive may come back in parts. What a variant gives is the same everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.sweeps.outcome import short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rattleback.sweeps.outcome import Outcome, Task

    Runs = Iterator[tuple[Task, list[Outcome]]]

MOST_WORKERS = 4096


def execute(target: Any, tasks: Iterable[Task], workers: int, client: Any) -> Runs:
    """Run tasks.

    Args:
        target: What is run, with ``run(variants)``.
        tasks: The tasks; they are taken as they are needed.
        workers: Number of processes; 0 or 1 for this one.
        client: A ``dask.distributed.Client``, which takes them all, or None.
    """
    count = checks.count(workers, "The number of workers", least=0, most=MOST_WORKERS)
    if client is not None:
        if count > 1:
            raise InputError(
                "A sweep got both workers= and client=; the client has its own workers, leave out workers=."
            )
        if not all(callable(getattr(client, name, None)) for name in ("submit", "nthreads", "cancel")):
            raise InputError(f"The client of a sweep is {short(client)}; give a dask.distributed.Client.")
        from rattleback.sweeps.workers.cluster import on_cluster

        return on_cluster(target, iter(tasks), client)
    if count > 1:
        from rattleback.sweeps.workers.processes import in_processes

        return in_processes(target, iter(tasks), count)
    return ((task, target.run(task.variants)) for task in tasks)
