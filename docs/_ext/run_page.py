"""Run the code of a page, block after block, as a reader would who copies it into a terminal.

Blocks marked ``python`` share their names. Of blocks marked ``sh`` the lines that start with
``prism`` and ``python examples/`` are run, and ``make`` runs what its rule in the Makefile does
with the command ``prism``. Every other line must be one of setting up, which is done before
anything here can run. Blocks of other kinds are for reading. Tests and the site use this one
mechanism.
"""

import contextlib
import io
import os
import re
import runpy
import shlex
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(python|sh)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
FIGURES = (".svg", ".png")
SETTING_UP = re.compile(r"\. \.venv/bin/activate|cd \S+|python3 -m venv \.venv")
INSTALL = re.compile(r'pip install "?\.(?:\[([\w,]+)\])?"?')


class PageError(Exception):
    """A block of a page did not do what it should."""


@dataclass(frozen=True)
class Block:
    """A block of code, where it ends in the text, and the line it starts on."""

    kind: str
    code: str
    end: int
    line: int


@dataclass(frozen=True)
class Outcome:
    """What a block printed, and the figures it wrote."""

    text: str
    figures: tuple[Path, ...]


def blocks(text):
    """The runnable blocks of a page."""
    return [
        Block(match[1], match[2], match.end(), text[: match.start()].count("\n") + 2)
        for match in FENCE.finditer(text)
    ]


class Session:
    """A terminal in a directory of its own."""

    def __init__(self, directory, page):
        self.directory, self.page = Path(directory), page
        self.names = {"__name__": "__main__"}

    def run(self, block):
        """Run one block."""
        before = self._figures()
        said = io.StringIO()
        with contextlib.chdir(self.directory), contextlib.redirect_stdout(said):
            if block.kind == "python":
                # the line numbers of the page, for tracebacks
                source = "\n" * (block.line - 1) + block.code
                exec(compile(source, self.page, "exec"), self.names)
            else:
                for line in block.code.replace("\\\n", " ").splitlines():
                    self._command(line.strip(), block)
        after = self._figures()
        new = [path for path, age in after.items() if before.get(path) != age]
        return Outcome(said.getvalue(), tuple(sorted(new, key=after.__getitem__)))

    def _figures(self):
        found = (path for path in self.directory.iterdir() if path.suffix in FIGURES)
        return {path: path.stat().st_mtime_ns for path in found}

    def _command(self, line, block):
        words = shlex.split(line, comments=True)
        if not words or SETTING_UP.fullmatch(shlex.join(words)) or _installs(line):
            return
        if words[0] == "prism":
            self._prism(words[1:], block)
        elif words[0] == "make":
            for rule in made_by(words[1]):
                self._prism(rule, block)
        elif words[:1] == ["python"] and words[1].startswith("examples/"):
            _script(words[1], words[2:])
        else:
            raise PageError(f"{self.page}, line {block.line}: nobody runs {line!r}")

    def _prism(self, arguments, block):
        from prism.cli import main

        complaint = io.StringIO()
        with contextlib.redirect_stderr(complaint):
            status = main(arguments)
        # a page may show how something is refused; then it says so
        if bool(status) != ("# refused" in block.code):
            raise PageError(
                f"{self.page}, line {block.line}: prism {shlex.join(arguments)} ended with "
                f"{status}: {complaint.getvalue()}"
            )
        sys.stdout.write(complaint.getvalue())


def _installs(line):
    """Whether a line installs this package; its extras must exist."""
    match = INSTALL.fullmatch(line)
    if match is None:
        return False
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    unknown = set((match[1] or "").split(",")) - {"", *project["optional-dependencies"]}
    if unknown:
        raise PageError(f"no such extra: {', '.join(sorted(unknown))}")
    return True


def made_by(target):
    """What a rule of the Makefile runs with the command ``prism``."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    match = re.search(rf"^{target}:(?! export).*\n((?:\t.*\n)*)", makefile, flags=re.MULTILINE)
    if match is None:
        raise PageError(f"the Makefile has no rule {target!r}")
    return [shlex.split(rule) for rule in re.findall(r"\$\(BIN\)/prism (.*)", match[1])]


def _script(path, arguments):
    saved = sys.argv
    sys.argv = [path, *arguments]
    try:
        runpy.run_path(str(ROOT / path), run_name="__main__")
    finally:
        sys.argv = saved


def run(path, directory):
    """Run all blocks of a page; their outcomes, and the names that are left.

    Parameters
    ----------
    path : path
        Of the page.
    directory : path
        Where it runs, and where its files go.
    """
    os.environ.setdefault("MPLBACKEND", "Agg")
    session = Session(directory, str(path))
    found = blocks(Path(path).read_text("utf-8"))
    return [session.run(block) for block in found], session.names
