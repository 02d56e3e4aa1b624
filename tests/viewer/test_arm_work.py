"""The thread that works for an arm's page: the newest job of a kind, kinds in their order, faults told."""

import threading

import pytest

from rattleback.core.errors import InputError
from rattleback.viewer.arm.work import Worker


@pytest.fixture
def told():
    return []


@pytest.fixture
def worker(told):
    made = Worker(("first", "second"), told.append)
    yield made
    made.close()


def hold(worker):
    """Keep the worker busy until the event that is returned is set."""
    begun, go_on = threading.Event(), threading.Event()
    worker.ask("first", lambda: (begun.set(), go_on.wait(10.0)))
    assert begun.wait(10.0)
    return go_on


def test_of_one_kind_only_the_newest_job_is_done(worker):
    done, go_on = [], hold(worker)
    for number in range(5):
        worker.ask("first", lambda number=number: done.append(number))
    go_on.set()
    assert worker.wait(10.0)
    assert done == [4]


def test_kinds_are_done_in_their_order(worker):
    done, go_on = [], hold(worker)
    worker.ask("second", lambda: done.append("second"))
    worker.ask("first", lambda: done.append("first"))
    go_on.set()
    assert worker.wait(10.0)
    assert done == ["first", "second"]


def test_a_job_that_goes_on_in_parts_lets_earlier_kinds_pass(worker):
    done, go_on = [], hold(worker)

    def part(number):
        done.append(number)
        if number == 0:
            worker.ask("first", lambda: done.append("newer"))
        if number < 2:
            worker.ask("second", lambda: part(number + 1))

    worker.ask("second", lambda: part(0))
    go_on.set()
    assert worker.wait(10.0)
    assert done == [0, "newer", 1, 2]


def test_a_job_that_has_not_begun_can_be_dropped(worker):
    done, go_on = [], hold(worker)
    worker.ask("second", lambda: done.append("second"))
    worker.drop("second")
    go_on.set()
    assert worker.wait(10.0)
    assert done == []


def test_faults_are_told_and_the_thread_goes_on(worker, told):
    def fail(error):
        raise error

    done = []
    worker.ask("first", lambda: fail(InputError("The arm is wrong.")))
    assert worker.wait(10.0)
    worker.ask("first", lambda: fail(ZeroDivisionError("by nought")))
    assert worker.wait(10.0)
    worker.ask("first", lambda: done.append(True))
    assert worker.wait(10.0)
    assert told == ["The arm is wrong.", "This is a fault of rattleback: ZeroDivisionError: by nought"]
    assert done == [True]


def test_asking_does_not_wait_for_the_job(worker):
    go_on = hold(worker)
    worker.ask("second", lambda: None)
    assert not worker.wait(0.05)
    go_on.set()
    assert worker.wait(10.0)


def test_a_kind_that_is_none_is_refused(worker):
    with pytest.raises(KeyError):
        worker.ask("third", lambda: None)
