"""Screenshots of the simulator: every scene of the list, run to a moment, in windows of three sizes.

    .venv/bin/python benchmarks/screens.py out/screens [NAME ...]

It needs Chromium and playwright. With software WebGL all of them take a quarter of an hour or so.
"""

import shutil
import sys
import time
import warnings
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

import rattleback as rb
from rattleback.scenes import MENU
from rattleback.viewer.gallery.link import Link
from rattleback.viewer.view import view

SIZES = ((1440, 900), (900, 600), (400, 700))
FLAGS = ["--headless", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--no-first-run", "--disable-background-networking"]  # fmt: skip
# The browser warns of software WebGL; that is no part of the page.
STYLE = ".mantine-Notification-root { display: none !important; }"
# How much of what is worth watching of a scene has passed, and at most [s]; how long a browser may take [s].
PART, MOST, PATIENCE = 0.2, 2.0, 60.0


def take(shown, page, name, folder):
    """Run a scene and take its pictures."""
    session, entry = shown.session, MENU[name]
    shown.window.opener.open(Link(name, paused=True)).result(120.0)
    session.step(max(1, round(min(PART * entry.duration, MOST) / entry.time_step))).result()
    end = time.monotonic() + PATIENCE
    while session.frame.playing and time.monotonic() < end:
        time.sleep(0.1)
    for size in SIZES:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.wait_for_timeout(1500)
        page.screenshot(path=str(folder / f"{name}_{size[0]}x{size[1]}.png"), timeout=1e3 * PATIENCE)


def main(folder, *names):
    """Take the pictures of the scenes named, or of all."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", rb.NotConvergedWarning)
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    sim = rb.Simulation(MENU["pendulum"].build(), time_step=0.01)
    with view(sim, wait=False, browser=False, playing=False) as shown, sync_playwright() as running:
        window = running.chromium.launch(executable_path=browser, args=FLAGS)

        def visit():
            page = window.new_context(viewport={"width": SIZES[0][0], "height": SIZES[0][1]}).new_page()
            page.goto(shown.address)
            page.wait_for_selector("canvas")
            page.add_style_tag(content=STYLE)
            page.wait_for_timeout(2000)
            return page

        page = visit()
        for name in names or MENU:
            begun = time.perf_counter()
            try:
                take(shown, page, name, place)
            except (Error, TimeoutError) as error:
                print(f"{name}: {str(error).splitlines()[0]}", flush=True)
                page.context.close()
                page = visit()
                continue
            print(f"{name}: {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
