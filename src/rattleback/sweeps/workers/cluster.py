"""Tasks on a cluster, through a client of dask.distributed.

Any cluster the client knows will do: one of this machine, one over SSH, one behind a queue. A worker process runs one
task at a time, since kernels share its device; give it one thread. Tasks are submitted as earlier ones are done, so
that neither scheduler nor workers hold more results than the disk could take meanwhile. Where a worker dies, dask runs
its task elsewhere; a task that brings down several is taken apart.
"""

from __future__ import annotations

import threading
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
    from distributed import as_completed

    if getattr(client, "asynchronous", False):
        raise InputError("The client of a sweep is asynchronous; make it with Client(..., asynchronous=False).")
    pending: dict[Any, Task] = {}
    completed: Any = as_completed()  # type: ignore[no-untyped-call]

    def submit(task: Task) -> None:
        future = client.submit(_run, target, task, __version__, pure=False)
        pending[future] = task
        completed.add(future)

    try:
        for _ in range(max(LEAST_AHEAD, AHEAD * sum(client.nthreads().values()))):
            if (task := next(tasks, None)) is not None:
                submit(task)
        for future in completed:
            task = pending.pop(future)
            parts, outcomes = _taken(future, task)
            if outcomes:
                yield task, outcomes
            for part in parts or [entry for entry in [next(tasks, None)] if entry is not None]:
                submit(part)
    finally:
        client.cancel(list(pending), force=True)


def _taken(future: Any, task: Task) -> tuple[list[Task], list[Outcome]]:
    """What a task gave, or the parts it is taken apart into."""
    from distributed import KilledWorker

    try:
        return [], future.result()
    except KilledWorker:
        return (task.halves(), []) if len(task.variants) > 1 else ([], [lost(task, "was lost")])
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
