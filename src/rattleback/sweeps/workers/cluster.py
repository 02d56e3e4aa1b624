"""Tasks on a cluster, through a client of dask.distributed.

Any cluster the client knows will do: one of this machine, one over SSH, one behind a queue. A worker process runs one
task at a time, since kernels share its device; give it one thread. Tasks are submitted as earlier ones are done, so
that neither scheduler nor workers hold more results than the disk could take meanwhile. Where a worker dies, dask runs
its task elsewhere; once several have died, it gives up on all tasks that waited there. These are run again one by one,
and the one that is to blame is taken apart.
"""

from __future__ import annotations

import threading
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any

from rattleback._version import __version__
from rattleback.core.errors import InputError, RattlebackError
from rattleback.sweeps.workers.losses import lost

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rattleback.sweeps.outcome import Outcome, Task
    from rattleback.sweeps.workers import Runs

AHEAD = 2  # tasks a thread of the cluster has waiting
LEAST_AHEAD = 8
_ONE_AT_A_TIME = threading.Lock()


def on_cluster(target: Any, tasks: Iterator[Task], client: Any) -> Runs:
    """Run tasks on the workers of a client.

    Args:
        target: What is run; functions are sent along with it.
        tasks: The tasks.
        client: A ``dask.distributed.Client``, not an asynchronous one.

    Raises:
        InputError: The workers cannot run the target, or the client is asynchronous.
    """
    if getattr(client, "asynchronous", False):
        raise InputError("The client of a sweep is asynchronous; make it with Client(..., asynchronous=False).")
    suspects: deque[Task] = deque()
    ahead = max(LEAST_AHEAD, AHEAD * sum(client.nthreads().values()))
    for task, outcomes in _together(target, tasks, client, ahead):
        if outcomes is None:
            suspects.append(task)
        else:
            yield task, outcomes
    while suspects:
        ((task, outcomes),) = _together(target, iter([suspects.popleft()]), client, 1)
        if outcomes is None and len(task.variants) > 1:
            suspects.extend(task.halves())
        else:
            yield task, [lost(task, "was lost")] if outcomes is None else outcomes


def _together(target: Any, tasks: Iterator[Task], client: Any, ahead: int) -> Iterator[tuple[Task, Any]]:
    """Tasks with their outcomes as they come, at most so many at once; None for those that died with their worker."""
    from distributed import as_completed

    pending: dict[Any, Task] = {}
    completed: Any = as_completed()  # type: ignore[no-untyped-call]

    def submit(count: int) -> None:
        for task in islice(tasks, count):
            future = client.submit(_run, target, task, __version__, pure=False)
            pending[future] = task
            completed.add(future)

    try:
        submit(ahead)
        for future in completed:
            yield pending.pop(future), _outcomes(future)
            submit(1)
    finally:
        client.cancel(list(pending), force=True)


def _outcomes(future: Any) -> list[Outcome] | None:
    """What a task gave; None where its workers died, be it by this task or by one that was waiting beside it."""
    from distributed import KilledWorker

    try:
        found: list[Outcome] = future.result()
        return found
    except KilledWorker:
        return None
    except RattlebackError:
        raise
    except Exception as error:
        raise InputError(
            f"The workers of the cluster cannot run the sweep: {type(error).__name__}: {error}. They need the same "
            "packages as this process, and the module of the function."
        ) from error


def _run(target: Any, task: Task, version: str) -> list[Outcome]:
    """What a worker of the cluster does."""
    if version != __version__:
        raise InputError(
            f"A worker of the cluster has rattleback {__version__}, the client {version}; install the same."
        )
    with _ONE_AT_A_TIME:
        outcomes: list[Outcome] = target.run(task.variants)
    return outcomes
