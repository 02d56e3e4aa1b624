"""Tasks in processes of this machine, each started afresh: a process that dies takes down nothing but its task.

    parent:   task -> pipe -> worker        worker:   outcomes -> pipe -> parent

Every worker has a pipe and one task at a time, so that the parent knows which task a dead worker had. Processes are
spawned, never forked: a forked copy of a process with Warp's threads may stand still for ever. A worker imports the
package once, in about a second; a task costs a fraction of a millisecond beside what it computes. Files are written by
the parent alone.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError
from rattleback.sweeps.workers.losses import Losses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.process import BaseProcess

    from rattleback.sweeps.outcome import Outcome, Task
    from rattleback.sweeps.workers import Runs

NAME = "rattleback-sweep"
READY = "ready"
CALLED_AGAIN = 77  # exit code of a worker that met the sweep while it imported the script
STARTS = 10  # workers in a row that may be killed before they are ready
GUARD = (
    "The workers import the script that started them, and it starts the sweep again: put the sweep under "
    '`if __name__ == "__main__":`, or give workers=1.'
)


class Worker:
    """A process with its pipe and the task it has.

    Args:
        payload: The target, pickled.
    """

    def __init__(self, payload: bytes) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(theirs, payload), name=NAME, daemon=True)
        self.process.start()
        theirs.close()
        self.task: Task | None = None
        self.ready = False

    def give(self, task: Task | None) -> None:
        """Send a task, or None to end it; where it is dead already, its pipe says so when it is read."""
        self.task = task
        with suppress(OSError):
            self.pipe.send(task)

    def ending(self) -> str:
        """How it ended, as a part of a sentence."""
        self.process.join()
        code = self.process.exitcode or 0
        if code >= 0:
            return f"ended with exit code {code}"
        names = {int(entry): entry.name for entry in signal.Signals}
        return f"was ended by {names.get(-code, f'signal {-code}')}"


class Pool:
    """Workers for the tasks of one sweep.

    Args:
        target: What is run.
        tasks: The tasks.
        count: Number of processes.
    """

    def __init__(self, target: Any, tasks: Iterator[Task], count: int) -> None:
        self._payload, self._tasks, self._count = _payload(target), tasks, count
        self._again: deque[Task] = deque()
        self._losses, self._killed_starts = Losses(), 0
        self._workers: dict[Any, Worker] = {}

    def run(self) -> Runs:
        """Give tasks to workers until all are done."""
        try:
            self._hire(self._count)
            while self._workers:
                for pipe in wait(list(self._workers)):
                    yield from self._hear(self._workers[pipe])
        finally:
            self._dismiss()

    def _hear(self, worker: Worker) -> Runs:
        """Take what a worker sends, or notice that it is dead."""
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        if isinstance(message, str) and message != READY:
            raise InputError(message)
        if worker.task is not None:
            yield worker.task, message
        worker.ready, self._killed_starts = True, 0
        worker.give(self._next())
        if worker.task is None:
            self._remove(worker).process.join()

    def _bury(self, worker: Worker) -> Runs:
        """See what a dead worker leaves, and hire another."""
        how, task = self._remove(worker).ending(), worker.task
        if not worker.ready:
            self._check_start(worker, how)
        elif task is not None:
            again, given_up = self._losses.after(task, how)
            self._again.extend(again)
            if given_up:
                yield task, given_up
        self._hire(1)

    def _check_start(self, worker: Worker, how: str) -> None:
        """Give up where workers cannot even start; being killed at that time is no reason to, unless it goes on."""
        self._killed_starts += 1
        if worker.process.exitcode == CALLED_AGAIN:
            raise InputError(GUARD)
        if (worker.process.exitcode or 0) >= 0 or self._killed_starts > STARTS:
            raise InputError(f"A worker process {how} before it was ready; what it wrote says why. Or give workers=1.")

    def _hire(self, count: int) -> None:
        """Start workers, as many as there are tasks for."""
        starting = sum(not worker.ready for worker in self._workers.values())
        for number in range(starting, starting + count):
            while len(self._again) <= number and (task := next(self._tasks, None)) is not None:
                self._again.append(task)
            if len(self._again) <= number:
                return
            worker = Worker(self._payload)
            self._workers[worker.pipe] = worker

    def _next(self) -> Task | None:
        return self._again.popleft() if self._again else next(self._tasks, None)

    def _remove(self, worker: Worker) -> Worker:
        del self._workers[worker.pipe]
        worker.pipe.close()
        return worker

    def _dismiss(self) -> None:
        """End all workers, whatever they do."""
        for worker in list(self._workers.values()):
            self._remove(worker).process.terminate()
            worker.process.join()


def in_processes(target: Any, tasks: Iterator[Task], count: int) -> Runs:
    """Run tasks in ``count`` processes.

    Raises:
        InputError: The target cannot be sent to another process, or processes cannot start.
    """
    return Pool(target, tasks, count).run()


def refuse_recursion() -> None:
    """End a worker that meets a sweep while it imports the script it was started from."""
    process = multiprocessing.current_process()
    if process.name == NAME and getattr(process, "_inheriting", False):
        raise SystemExit(CALLED_AGAIN)


def _payload(target: Any) -> bytes:
    main = sys.modules["__main__"]
    try:
        payload = pickle.dumps(target)
    except Exception as error:
        raise InputError(
            f"{target.name} cannot be sent to worker processes: {error}. Define functions at the top of a module or "
            "script, or give workers=1."
        ) from None
    file = getattr(main, "__file__", None)
    typed = main.__spec__ is None and not (file and os.path.isfile(file))
    if typed and (file or b"__main__" in payload):
        raise InputError(
            f"{target.name} was defined in a notebook or at a prompt, where worker processes cannot import it; put it "
            "into a module, give workers=1, or a dask client, which sends it along."
        )
    return payload


def _serve(pipe: Connection, payload: bytes) -> None:
    """What a worker does: run tasks until there are no more. Ctrl-C is for the parent, which then ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            target = pickle.loads(payload)
        except Exception as error:
            pipe.send(f"A worker process cannot import what it is to run: {type(error).__name__}: {error}.")
            return
        pipe.send(READY)
        while (task := pipe.recv()) is not None:
            pipe.send(_run(target, task))


def _run(target: Any, task: Task) -> list[Outcome]:
    outcomes: list[Outcome] = target.run(task.variants)
    return outcomes
