"""Every Python block of the README and every command it shows is executed."""

import re
import shlex
from pathlib import Path

import pytest

from prism.cli import main
from prism.io import write
from prism.systems import chain

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
COMMANDS = [
    line
    for kind, text in BLOCKS
    if kind == "sh"
    for line in text.splitlines()
    if line.startswith("prism ")
]


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A directory with the file that the README speaks of."""
    monkeypatch.chdir(tmp_path)
    write(chain().free(400, 0.05, noise=0.1, rng=0), "bench.csv")


def test_something_is_checked():
    assert len(PYTHON) >= 2
    assert len(COMMANDS) >= 3


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_block(code, bench, capsys):
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out


def test_commands_in_order(bench, capsys):
    for command in COMMANDS:
        assert main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    assert Path("out.html").exists()
    assert Path("forecast.csv").exists()


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"^make (\w+)", README, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_architecture_page_names_modules_that_exist():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?) \|", text, flags=re.MULTILINE)
    assert len(rows) > 15
    for name in re.findall(r"`([\w/.]+)`", " ".join(rows)):
        assert (ROOT / "src" / "prism" / name).exists(), name
