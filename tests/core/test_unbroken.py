"""Blocks that Ctrl-C does not break: the first interrupt waits for their end, the second one does not."""

import os
import signal
import threading

import pytest

from rattleback.core.unbroken import Unbroken


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def work(interrupts: int, done: list[str], deep: bool = False) -> None:
    """Something that must not be broken, and is interrupted so many times."""
    with Unbroken():
        if deep:
            work(interrupts, [])
        else:
            for _ in range(interrupts):
                interrupt()
        done.append("all of it")


@pytest.mark.parametrize("deep", [False, True])
def test_an_interrupt_waits_for_the_end_of_the_block_and_of_those_around_it(deep: bool) -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        work(1, done, deep)
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_does_not_wait() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        work(2, done)
    assert done == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_where_nobody_interrupts_nothing_happens() -> None:
    with pytest.raises(ZeroDivisionError), Unbroken():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_are_left_alone() -> None:
    def look() -> None:
        with Unbroken():
            done.append(signal.getsignal(signal.SIGINT))

    done: list[object] = []
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert done == [signal.default_int_handler]
