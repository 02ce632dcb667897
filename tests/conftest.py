"""Fixtures that several files share."""

import shutil

import numpy as np
import pytest

import prism
from prism import systems
from prism.cli import main

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser():
    """A Chromium that the machine has; without one, and without playwright, a test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium on this machine")
    with (
        playwright.sync_playwright() as run,
        run.chromium.launch(executable_path=path) as opened,
    ):
        yield opened


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command; return its exit status, its output and its complaints."""

    def call(*arguments):
        status = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return call


@pytest.fixture(scope="session")
def cart():
    """Model and response of a cart with a pendulum."""
    response = systems.cart_pendulum().response(np.linspace(0.5, 4, 300), noise=0.1, rng=0)
    return prism.identify(response), response


@pytest.fixture(scope="session")
def lossy():
    """Model and response of a chain with losses at three ports."""
    chain = systems.chain(6, observed=[0, 2, 5])
    response = chain.response(np.linspace(0.1, 2.2, 400), loss=0.02, noise=0.02, rng=1)
    return prism.identify(response), response


@pytest.fixture(scope="session")
def shaken():
    """Model and record of an absorber under a random force."""
    push = np.random.default_rng(0).standard_normal(1500)
    record = systems.forced(systems.tuned_absorber(), push, 0.1, loss=0.01, noise=0.05, rng=1)
    both = record.with_force()
    return prism.identify(both, force="f_x"), both
