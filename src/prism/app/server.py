"""The server behind the page: this machine only, no telemetry, nothing asked at the start."""

from __future__ import annotations

import os
import socket
import threading
import time
import webbrowser
from pathlib import Path

from prism._optional import require
from prism.app import _limits as limits
from prism.errors import OptionError

__all__ = ["MOST_MEGABYTES", "check_packages", "find_port", "run", "url"]

MOST_MEGABYTES = 50
"""Largest file that the page takes; the command line has no such limit."""

_HOST = "127.0.0.1"
_PAGE = Path(__file__).with_name("page.py")

_SETTINGS = {
    "server.address": _HOST,
    "server.headless": "true",  # no question about an e-mail address; the browser is ours to open
    "server.fileWatcherType": "none",
    "server.runOnSave": "false",
    "server.maxUploadSize": str(MOST_MEGABYTES),
    "browser.gatherUsageStats": "false",
    "browser.serverAddress": _HOST,
    "client.toolbarMode": "minimal",
    "client.showErrorDetails": "none",
    "logger.hideWelcomeMessage": "true",
    "logger.level": "warning",
    "global.developmentMode": "false",
    "theme.light.primaryColor": "#0072b2",  # the blues of the figures; red is for errors
    "theme.dark.primaryColor": "#56b4e9",
}


def find_port(asked: int | None = None) -> int:
    """Return a free port of this machine.

    Parameters
    ----------
    asked : int, optional
        The one to use; by default the first free one from 8501 on.

    Raises
    ------
    OptionError
        When the port is taken, or all that were tried.
    """
    tried = (
        [asked]
        if asked is not None
        else range(limits.FIRST_PORT, limits.FIRST_PORT + limits.PORTS_TRIED)
    )
    reason = ""
    for port in tried:
        reason = _refusal(port)
        if not reason:
            return port
    which = f"port {tried[0]}" + (f" to {tried[-1]}" if len(tried) > 1 else "")
    raise OptionError(f"{which} of this machine cannot be used ({reason}): give another, --port N.")


def _refusal(port: int) -> str:
    """Why the port cannot be used; empty when it can."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if os.name == "posix":  # elsewhere this option lets two programs share a port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            return (error.strerror or str(error)).lower()
    return ""


def url(port: int) -> str:
    """Where the page is.

    Parameters
    ----------
    port : int
    """
    return f"http://{_HOST}:{port}"


def run(port: int, *, browser: bool = True) -> None:
    """Serve the page until interrupted.

    Parameters
    ----------
    port : int
    browser : bool
        Open the page once the server answers.

    Raises
    ------
    MissingDependencyError
        When the packages of the extra ``app`` are not installed.
    """
    check_packages()
    streamlit = require("streamlit.web.cli", "the app", "app")
    if browser:
        threading.Thread(target=_open, args=(port,), daemon=True).start()
    known = {word for option in streamlit.main.commands["run"].params for word in option.opts}
    settings = {**_SETTINGS, "server.port": str(port)}
    # What only tidies the terminal has come with some version: an older one does without.
    arguments = [f"--{name}={value}" for name, value in settings.items() if f"--{name}" in known]
    streamlit.main(["run", str(_PAGE), *arguments], prog_name="prism app", standalone_mode=False)


def check_packages() -> None:
    """Make sure that the extra ``app`` is installed."""
    for package in ("streamlit", "plotly", "matplotlib"):
        require(package, "the app", "app")


def _open(port: int) -> None:
    end = time.monotonic() + limits.SERVER_SECONDS
    while time.monotonic() < end:
        try:
            socket.create_connection((_HOST, port), timeout=1.0).close()
        except OSError:
            time.sleep(0.1)
            continue
        webbrowser.open(url(port))
        return
