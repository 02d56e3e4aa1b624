"""What the live simulator costs: server time a frame, frames a second, and what is left of the simulation's speed.

Each case is run beside the bare session, in turns, several times; medians of the ratios are shown, so that what else
the machine does counts for both. Clients are real ones without a screen: they read whatever the server sends.
"""

from __future__ import annotations

import argparse
import http.client
import math
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import msgspec
from websockets.sync.client import connect

import rattleback as rb
from rattleback.scenes import cubes_1000, swarm
from rattleback.viewer.session import Session
from rattleback.viewer.window import Window

SECONDS = 2.0
ROUNDS = 5


class Client:
    """A browser without a screen, in a process of its own: it reads, or does not, and may send messages."""

    def __init__(self, window, reads=True, messages_per_second=0.0):
        argv = [sys.executable, __file__, "--client", window.address, str(int(reads)), str(messages_per_second)]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._process.stdout.readline()

    def close(self):
        self._process.communicate("end\n", timeout=10)


def be_client(address, reads, rate):
    """What the process of a client does until its standard input ends."""
    socket, stop = _open(address), threading.Event()
    print("in", flush=True)
    threads = [threading.Thread(target=_read, args=(socket, stop))] if reads else []
    threads += [threading.Thread(target=_send, args=(socket, stop, rate))] if rate else []
    for thread in threads:
        thread.start()
    sys.stdin.readline()
    stop.set()
    for thread in threads:
        thread.join()


def _read(socket, stop):
    while not stop.is_set():
        with suppress(TimeoutError):
            socket.recv(timeout=0.2)


def _send(socket, stop, rate):
    camera = {
        "type": "ViewerCameraMessage",
        "wxyz": (1.0, 0.0, 0.0, 0.0),
        "position": (3.0, 0.0, 1.0),
        "image_height": 400,
        "image_width": 640,
        "fov": 1.0,
        "near": 0.01,
        "far": 100.0,
        "look_at": (0.0, 0.0, 0.0),
        "up_direction": (0.0, 0.0, 1.0),
    }
    message = msgspec.msgpack.encode(camera)
    while not stop.wait(1.0 / rate):
        socket.send(message)


def _open(whole):
    address = urlsplit(whole)
    asking = http.client.HTTPConnection(address.hostname, address.port)
    asking.request("GET", f"/?{address.query}")
    cookie = asking.getresponse().headers["Set-Cookie"].split(";")[0]
    return connect(
        f"ws://{address.netloc}/",
        additional_headers={"Cookie": cookie},
        subprotocols=["viser-v1.1.1"],
        max_size=None,
        compression=None,
    )


def steps_per_second(session):
    begun, first = time.perf_counter(), session.sims[0].state.steps
    time.sleep(SECONDS)
    return (session.sims[0].state.steps - first) / (time.perf_counter() - begun)


@contextmanager
def shown(session, clients=1, **options):
    with ExitStack() as stack:
        window = Window(session)
        stack.callback(window.close)
        for _ in range(clients):
            stack.callback(Client(window, **options).close)
        time.sleep(0.5)
        yield window


CASES = {
    "page, nobody looks": {"clients": 0},
    "page, one client": {"clients": 1},
    "page, a client that does not read": {"clients": 1, "reads": False},
    "page, 100 messages a second": {"clients": 1, "messages_per_second": 100.0},
}


def measure(session, rounds):
    for name, options in CASES.items():
        ratios = []
        for _ in range(rounds):
            before = steps_per_second(session)
            with shown(session, **options):
                during = steps_per_second(session)
            after = steps_per_second(session)
            ratios.append(during / (0.5 * (before + after)))
        spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
        print(f"{name:<36} speed left {statistics.median(ratios):.3f} ({spread})", flush=True)


def frame_cost(session):
    """Processor time a frame of all that is not the simulation's thread, with one client that reads."""
    clock = time.pthread_getcpuclockid(session._thread.ident)
    with shown(session) as window:
        begun, number = (time.process_time(), time.clock_gettime(clock), time.perf_counter()), window._shown
        time.sleep(2.0 * SECONDS)
        spent = time.process_time() - begun[0] - (time.clock_gettime(clock) - begun[1])
        frames, seconds = window._shown - number, time.perf_counter() - begun[2]
    print(f"server time a frame {1e3 * spent / frames:.2f} ms, {frames / seconds:.1f} frames a second", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--client", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.client:
        be_client(arguments.client[0], arguments.client[1] == "1", float(arguments.client[2]))
        return
    for name, scene in (("cubes", cubes_1000()), ("every primitive shape", swarm(count=1000))):
        session = Session([rb.Simulation(scene, time_step=0.01, contacts="none")], speed=math.inf)
        session.start()
        session.play().result()
        time.sleep(1.0)
        print(f"1000 moving bodies, {name}: {steps_per_second(session):.0f} steps a second alone", flush=True)
        frame_cost(session)
        if name == "cubes":
            measure(session, arguments.rounds)
        session.stop()


if __name__ == "__main__":
    main()
