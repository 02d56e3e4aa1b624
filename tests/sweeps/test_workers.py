"""Processes and clusters give what one process gives, bit for bit, whatever happens to their workers."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import rattleback as rb
from rattleback.core.errors import InputError

GRID = {"speed": [5.0, 10.0, 20.0], "friction": [0.25, 0.5]}
LOST = "at every attempt at this variant; it may have run out of memory, or called code that crashes."


def children():
    """Worker processes of this one that run tasks: processes of its children, but for the tracker of resources."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat, open(f"/proc/{entry}/cmdline") as line:
                    parent, words = int(stat.read().rpartition(")")[2].split()[1]), line.read()
            except OSError:
                continue
            if parent == os.getpid() and "spawn_main" in words:
                found.append(int(entry))
    return found


def is_alive(group):
    """Whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


class Killer(threading.Thread):
    """Ends workers at random times, until it has ended ``count`` of them."""

    def __init__(self, count, pause):
        super().__init__(daemon=True)
        self.count, self.pause, self.killed, self.done = count, pause, 0, threading.Event()

    def run(self):
        draw = random.Random(1)
        while self.killed < self.count and not self.done.is_set():
            time.sleep(draw.uniform(0.2, 1.8) * self.pause)
            if found := children():
                os.kill(draw.choice(found), signal.SIGKILL)
                self.killed += 1


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="finds its workers in /proc")
@pytest.mark.parametrize(
    ("variants", "kills", "pause"),
    [(300, 2, 0.9), pytest.param(2000, 20, 1.0, marks=pytest.mark.slow)],
)
def test_a_sweep_with_workers_killed_at_random_leaves_the_store_of_one_without(
    functions, tmp_path, read_all, variants, kills, pause
):
    space = {"x": range(variants)}
    rb.sweep(functions.slowly_drawn, space, tmp_path / "alone")
    killer = Killer(kills, pause)
    killer.start()
    result = rb.sweep(functions.slowly_drawn, space, tmp_path / "killed", workers=2)
    killer.done.set()
    killer.join()
    assert killer.killed == kills
    assert not result.failed
    assert read_all(tmp_path / "killed") == read_all(tmp_path / "alone")


def test_two_processes_leave_the_store_of_one(functions, tmp_path, read_all):
    alone = rb.sweep(functions.picky, {"x": range(7)}, tmp_path / "alone", chunk=2)
    rb.sweep(functions.picky, {"x": range(7)}, tmp_path / "two", chunk=2, workers=2)
    assert len(alone.failed) == 1
    assert read_all(tmp_path / "two") == read_all(tmp_path / "alone")


def test_a_variant_that_no_worker_survives_is_a_row_and_its_neighbours_are_run(functions):
    result = rb.sweep(functions.deadly, {"x": [4, 5, 6]}, chunk=2, workers=2)
    assert result.failed == {1: f"The worker process was ended by SIGKILL {LOST}"}
    assert [value for value in result["y"].tolist() if value == value] == [4, 6]


def test_a_cluster_leaves_the_store_of_one_process(functions, tmp_path, read_all):
    distributed = pytest.importorskip("distributed")
    rb.sweep(functions.picky, {"x": range(7)}, tmp_path / "alone", chunk=2)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        rb.sweep(functions.picky, {"x": range(7)}, tmp_path / "cluster", chunk=2, client=client)
    assert read_all(tmp_path / "cluster") == read_all(tmp_path / "alone")


@pytest.mark.slow
def test_a_cluster_of_processes_survives_what_its_workers_do_not(functions):
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    # A task that has lost one worker is given up at once; dask would try three more, which takes a minute.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        result = rb.sweep(functions.deadly, {"x": [3, 4, 5, 6]}, chunk=2, client=client)
    assert result.failed == {2: f"The worker process was lost {LOST}"}
    assert [value for value in result["y"].tolist() if value == value] == [3, 4, 6]


def test_a_function_that_cannot_be_sent_is_refused_by_a_sentence():
    with pytest.raises(InputError, match=r"<lambda> cannot be sent to worker processes: .* or give workers=1\."):
        rb.sweep(lambda x: {"y": x}, {"x": [1, 2]}, workers=2)


SCRIPT = """
import rattleback as rb

def double(x):
    return {{"y": 2 * x}}

{guard}print(rb.sweep(double, {{"x": [1, 2, 3]}}, workers=2)["y"].sum())
"""


@pytest.mark.parametrize(
    ("guard", "code", "said"),
    [('if __name__ == "__main__":\n    ', 0, "12\n"), ("", 1, 'put the sweep under `if __name__ == "__main__":`')],
)
def test_a_script_needs_a_guard_and_is_told_so(tmp_path, guard, code, said):
    script = tmp_path / "doubled.py"
    script.write_text(SCRIPT.format(guard=guard), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr


def test_a_function_of_a_prompt_is_refused_by_a_sentence():
    code = SCRIPT.format(guard="")
    done = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, timeout=120, check=False)
    assert "double was defined in a notebook or at a prompt" in done.stderr


SWEEP = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {folder!r})
import rattleback as rb, swept_functions
rb.sweep(swept_functions.slow, {{"x": range({count})}}, {store!r}, workers=2, chunk=5)
"""


def start(functions, store, count):
    """A sweep in a process group of its own, after its next chunk is there."""
    code = SWEEP.format(folder=os.path.dirname(functions.__file__), store=str(store), count=count)
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, start_new_session=True)
    before = len(list(store.glob("chunks/[0-9]*")))
    while len(list(store.glob("chunks/[0-9]*"))) <= before and process.poll() is None:
        time.sleep(0.02)
    return process


def wait_for_the_end(group):
    deadline = time.monotonic() + 30.0
    while is_alive(group) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(group)


def test_ctrl_c_ends_the_workers_and_leaves_a_store_that_goes_on(functions, tmp_path):
    store = tmp_path / "runs"
    process = start(functions, store, 2000)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert err.rstrip().endswith("KeyboardInterrupt")
    wait_for_the_end(process.pid)
    result = rb.sweeps.load(store)
    assert 0 < result.missing < 2000
    assert result.survey.done.sum() == 5 * len(list(store.glob("chunks/[0-9]*")))


@pytest.mark.slow
def test_a_sweep_that_is_itself_killed_takes_its_workers_along_and_goes_on(functions, tmp_path, read_all):
    store = tmp_path / "runs"
    for _ in range(4):
        process = start(functions, store, 600)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        wait_for_the_end(process.pid)
    rb.sweep(functions.slow, {"x": range(600)}, store)
    rb.sweep(functions.slow, {"x": range(600)}, tmp_path / "alone", chunk=5)
    found = {name: content for name, content in read_all(store).items() if not name.endswith(".part")}
    assert found == read_all(tmp_path / "alone")


def test_workers_that_cannot_import_the_function_are_told_of(functions, monkeypatch):
    monkeypatch.setattr(functions.brake, "__module__", "swept_functions")
    monkeypatch.setattr("sys.path", [entry for entry in sys.path if entry != os.path.dirname(functions.__file__)])
    with pytest.raises(InputError, match="A worker process cannot import what it is to run: ModuleNotFoundError"):
        rb.sweep(functions.brake, GRID, workers=2)


def test_a_cluster_that_cannot_run_the_sweep_is_told_of(functions):
    distributed = pytest.importorskip("distributed")
    from rattleback.sweeps.outcome import Task
    from rattleback.sweeps.workers import cluster

    with pytest.raises(InputError, match="A worker of the cluster has rattleback .*, the client 0.0; install the same"):
        cluster._run(None, Task(0, ()), "0.0")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as local,
        distributed.Client(local) as client,
        pytest.raises(InputError, match="The workers of the cluster cannot run the sweep: AttributeError"),
    ):
        list(cluster.on_cluster(None, iter([Task(0, ())]), client))

    class Asynchronous:
        asynchronous = True
        submit = nthreads = cancel = print

    with pytest.raises(InputError, match="The client of a sweep is asynchronous"):
        rb.sweep(functions.brake, GRID, client=Asynchronous())
