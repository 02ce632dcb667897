"""The page of ``prism app`` in a real browser, as a user meets it."""

import csv
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import prism
from prism import systems

pytest.importorskip("streamlit", reason="the app needs the extra app")
playwright = pytest.importorskip("playwright.sync_api", reason="the browser needs playwright")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason=f"no browser is installed: {', '.join(NAMES)}"
)

CHAIN = systems.chain()
PATIENCE = 60_000  # milliseconds, on a machine that has other things to do


@pytest.fixture(scope="module")
def address():
    """Start ``prism app`` as a user would, and end it as a user would."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    source = str(Path(prism.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "prism", "app", "--port", str(port), "--no-browser"],
        env=os.environ | {"PYTHONPATH": source},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", process)
        yield f"http://127.0.0.1:{port}"
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20)
        assert f"PRISM is at http://127.0.0.1:{port}, on this machine only." in output
        assert "Traceback" not in output
    finally:
        process.kill()
        process.wait()


def wait_for(url, process, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert process.poll() is None, process.stdout.read()
        with suppress(OSError), urllib.request.urlopen(url, timeout=1) as answer:
            assert answer.read() == b"ok"
            return
        time.sleep(0.1)
    raise AssertionError("the server did not answer")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as tool:
        options = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
        running = tool.chromium.launch(executable_path=BROWSER, args=options)
        yield running
        running.close()


@pytest.fixture
def page(browser, address):
    """A fresh visit, which must neither complain nor ask anyone but the server."""
    context = browser.new_context(accept_downloads=True, viewport={"width": 1200, "height": 900})
    context.set_default_timeout(PATIENCE)
    visit, trouble = context.new_page(), []
    visit.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
    visit.on("pageerror", lambda error: trouble.append(str(error)))
    own = re.compile(rf"(http|ws)://{re.escape(address.removeprefix('http://'))}/|data:|blob:")
    visit.on("request", lambda asked: None if own.match(asked.url) else trouble.append(asked.url))
    visit.on("websocket", lambda asked: None if own.match(asked.url) else trouble.append(asked.url))
    visit.goto(address)
    visit.get_by_role("tab", name="Your record").wait_for()
    yield visit
    context.close()
    assert trouble == []


def drop(page, path):
    page.locator("input[type=file]").first.set_input_files(str(path))


def identify(page):
    page.get_by_role("button", name="Identify").click()
    page.get_by_role("heading", name="What it shows").wait_for()


def download(page, label, path):
    with page.expect_download() as waiting:
        page.get_by_role("button", name=label).click()
    waiting.value.save_as(path)
    return waiting.value.suggested_filename


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "bench.csv"
    prism.io.write(CHAIN.free(200.0, 0.2, noise=0.05, rng=3), path)
    return path


def test_a_csv_is_identified_and_everything_can_be_taken_away(page, browser, bench, tmp_path):
    drop(page, bench)
    page.get_by_text("bench.csv (csv)").wait_for()
    identify(page)
    page.get_by_text("4 modes in 2 channels; the Hamiltonian is not determined.").wait_for()
    cells = page.locator("table.prism tbody tr td:nth-child(2)").all_inner_texts()
    found = [float(cell.split("(")[0]) for cell in cells if re.fullmatch(r"\d\.\d+\(\d+\)", cell)]
    assert np.allclose(found[:4], CHAIN.frequencies, rtol=1e-3)
    for name in ("Spectrum", "Shapes", "Forecast"):
        page.get_by_role("tab", name=name).click()
        page.locator(".js-plotly-plot:visible .main-svg").first.wait_for()

    assert download(page, "Model", tmp_path / "model.json") == "model.json"
    model = prism.load(tmp_path / "model.json")
    assert np.allclose(model.modes.frequencies, CHAIN.frequencies, rtol=1e-3)

    assert download(page, "Modes", tmp_path / "modes.csv") == "modes.csv"
    rows = list(csv.DictReader((tmp_path / "modes.csv").open(encoding="utf-8")))
    assert np.allclose([float(row["frequency"]) for row in rows], model.modes.frequencies)
    assert {"frequency_std", "shape_q1", "shape_q4_std"} <= set(rows[0])

    assert download(page, "Forecast", tmp_path / "forecast.csv") == "forecast.csv"
    rows = list(csv.reader((tmp_path / "forecast.csv").open(encoding="utf-8")))
    assert rows[0] == ["t", "q1", "q1_std", "q4", "q4_std"]
    assert float(rows[1][0]) == pytest.approx(200.0)
    assert len(rows) == 1000

    assert download(page, "Report", tmp_path / "report.html") == "report.html"
    report = browser.new_page()
    report.goto((tmp_path / "report.html").as_uri())
    assert "4 modes in 2 channels" in report.inner_text("body")
    report.close()


def test_a_bad_file_shows_a_sentence(page, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("t,x\n0,1\n0.1,hello\n0.2,3\n")
    drop(page, bad)
    page.get_by_text("bad.csv, line 3, column 'x': 'hello' is not a number").wait_for()
    assert page.get_by_role("button", name="Identify").count() == 0


def test_a_large_file_is_sent_to_the_command_line(page, tmp_path):
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(51 * 2**20)
    drop(page, large)
    page.get_by_text("File must be 50.0MB or smaller").wait_for()
    assert "use the command line" in page.get_by_text("Files above 50 MB").inner_text()


def test_a_slider_makes_a_hidden_mode_vanish(page):
    page.get_by_role("tab", name="Play with a system").click()
    page.get_by_text("2 modes in 1 channel, 1 hidden oscillator.").wait_for()
    page.locator(".js-plotly-plot:visible .main-svg").first.wait_for()
    coupling = page.get_by_role("slider", name="Coupling c")
    for _ in range(100):  # a key that is pressed while the page is drawn anew may be lost
        if float(coupling.get_attribute("aria-valuenow") or coupling.input_value()) == 0:
            break
        coupling.press("ArrowLeft")
    page.get_by_text("does not move x at all: no measurement there can find it.").wait_for()
