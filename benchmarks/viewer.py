"""What the live simulator costs: server time a frame, frames a second, and what is left of the simulation's speed.

Each case is run beside the bare session, in turns, several times; medians of the ratios are shown, so that what else
the machine does counts for both. Clients are real ones without a screen: they read whatever the server sends.
"""

from __future__ import annotations

import argparse
import math
import statistics
import threading
import time
from contextlib import ExitStack, contextmanager

import msgspec
from websockets.sync.client import connect

import rattleback as rb
from rattleback.scenes import swarm
from rattleback.viewer.session import Session
from rattleback.viewer.window import Window

SECONDS = 2.0
ROUNDS = 5


class Client:
    """A browser without a screen: it reads, or does not, and may send messages."""

    def __init__(self, window, reads=True, messages_per_second=0.0):
        self.frames = self.bytes = 0
        self._stop = threading.Event()
        self._socket = _open(window)
        self._threads = []
        if reads:
            self._threads.append(threading.Thread(target=self._read, daemon=True))
        if messages_per_second:
            self._threads.append(threading.Thread(target=self._send, args=(messages_per_second,), daemon=True))
        for thread in self._threads:
            thread.start()

    def close(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._socket.close()

    def _read(self):
        while not self._stop.is_set():
            try:
                self.bytes += len(self._socket.recv(timeout=0.2))
                self.frames += 1
            except TimeoutError:
                continue

    def _send(self, rate):
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
        while not self._stop.wait(1.0 / rate):
            self._socket.send(message)


def _open(window):
    import http.client
    from urllib.parse import urlsplit

    address = urlsplit(window.address)
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
def bare(session):
    yield None


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
    """Server time a frame, of a window that shows every new frame of a running simulation."""
    with shown(session) as window:
        costs, seen = [], []
        for _ in range(90):
            number = session.frame.number
            while session.frame.number == number:
                time.sleep(0.001)
            seen.append(time.perf_counter())
            costs.append(window.frame_seconds)
        rate = (len(seen) - 1) / (seen[-1] - seen[0])
    print(f"server time a frame {1e3 * statistics.median(costs):.2f} ms, {rate:.1f} frames a second", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    scene = swarm(count=arguments.bodies)
    session = Session([rb.Simulation(scene, time_step=0.01, contacts="none")], speed=math.inf)
    session.start()
    session.play().result()
    time.sleep(1.0)
    print(f"{arguments.bodies} moving bodies, {steps_per_second(session):.0f} steps a second alone", flush=True)
    frame_cost(session)
    measure(session, arguments.rounds)
    session.stop()


if __name__ == "__main__":
    main()
