"""The two pictures of the README: the report of an ensemble, and the page of ``prism app``.

``make screenshots`` writes them again into docs/_static, with the Chromium that the machine has.
"""

import contextlib
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import prism

STATIC = Path(__file__).resolve().parents[1] / "_static"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH, HEIGHT = 1100, 1000
COLOURS = 128  # of a picture: enough for lines and letters
PATIENCE = 60.0  # seconds


def report(browser):
    """The page of a report, with the pointer on a curve."""
    chain = prism.systems.chain(4, observed=[0, 3])
    record = chain.equilibrium(100, 0.2, trials=100, noise=0.1, rng=1)
    options = {"experiment": "equilibrium", "mass": "identity", "fit_fraction": 0.6}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        prism.identify(record, **options).report(path, record)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(path.as_uri())
        page.wait_for_function("document.documentElement.dataset.drawn === 'yes'")
        page.locator(".plot[data-name=record] svg.panel").first.scroll_into_view_if_needed()
        page.evaluate("scrollTo(0, 0)")
        box = page.locator(".plot[data-name=record] rect.pad").first.bounding_box()
        page.mouse.move(box["x"] + 0.62 * box["width"], box["y"] + 0.5 * box["height"])
        taken = page.screenshot()
        page.close()
    return taken


def app(browser):
    """The page of the app, where a system can be turned."""
    with served() as address:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(address)
        page.get_by_role("tab", name="Play with a system").click()
        page.get_by_text("2 modes in 1 channel, 1 hidden oscillator.").wait_for()
        page.locator(".js-plotly-plot:visible .main-svg").first.wait_for()
        page.wait_for_timeout(1500)  # until the chart has its width
        taken = page.screenshot()
        page.close()
    return taken


@contextlib.contextmanager
def served():
    """Run the app, and tell where it is."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "prism", "app", "--port", str(port), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait(f"http://127.0.0.1:{port}/_stcore/health")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


def wait(url):
    """Wait until a server answers."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def small(png):
    """A picture with few colours, which takes a third of the room."""
    out = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "png", optimize=True)
    return out.getvalue()


def main():
    """Write both pictures."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        sys.exit(f"no browser is installed: one of {', '.join(NAMES)} takes the pictures.")
    options = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=path, args=options)
        for take in (report, app):
            target = STATIC / f"{take.__name__}.png"
            target.write_bytes(small(take(browser)))
            sys.stdout.write(f"{target.name}: {target.stat().st_size / 1000:.0f} kB\n")
        browser.close()


if __name__ == "__main__":
    main()
