"""Shell completion, and what a terminal sees that a pipe does not."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from tests.places import ROOT

import prism
from prism import systems
from prism.cli import _complete
from prism.cli._app import make_app
from prism.cli._experiments import EXPERIMENTS
from prism.cli._systems import SYSTEMS
from prism.io.uff_modes import UNITS
from prism.options import COMMAND_LINE
from prism.report.text import summary
from prism.systems.excitation import EXCITATIONS
from prism_bench import BENCHMARKS, Benchmark, Row

COMMANDS = make_app().registered_commands
PRISM = "import sys; from prism.cli import main; sys.exit(main())"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]")


def environment(**changes):
    """The environment of a command, without what a terminal of the tests may have set."""
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return clean | {"PYTHONPATH": str(ROOT / "src"), "TERM": "xterm-256color"} | changes


@pytest.fixture
def program(tmp_path):
    """A directory with a command ``prism``, as an installation makes it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "prism"
    script.write_text(f"#!{sys.executable}\n{PRISM}\n", encoding="utf-8")
    script.chmod(0o755)
    return folder


# -- completion -----------------------------------------------------------------------------------


@pytest.fixture
def offered(run, monkeypatch):
    """Ask as fish does, whose protocol is the plainest: a line, and words one by one."""

    def ask(line):
        monkeypatch.setenv("_PRISM_COMPLETE", "complete_fish")
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        status, out, err = run()
        assert (status, err) == (0, "")
        return [line.split("\t")[0] for line in out.splitlines() if line]

    return ask


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("prism simulate ", list(SYSTEMS)),
        ("prism simulate ch", ["chain"]),
        ("prism simulate chain --experiment ", list(EXPERIMENTS)),
        ("prism simulate chain --excitation s", ["sweep"]),
        ("prism simulate chain --noise-kind ", ["multiplicative", "additive", "both"]),
        ("prism benchmark ", [*BENCHMARKS, "all"]),
        ("prism identify x.csv --experiment re", ["released"]),
        ("prism identify x.csv --method ", ["likelihood", "nnls", "sdp"]),
        ("prism identify x.csv --quantity velocity,a", ["velocity,acceleration"]),
        ("prism identify x.csv --potential p", ["polynomial"]),
        ("prism identify x.csv --hold ", ["auto", "zero", "first"]),
        ("prism identify x.csv --rank ", ["one", "full"]),
        ("prism identify x.csv --unit ", ["hz", "rad"]),
        ("prism identify x.csv --mass ", ["identity"]),
        ("prism info x.csv --unit h", ["hz"]),
        ("prism export m.json --units M", ["MG", "MM"]),
        ("prism identify be", []),
    ],
)
def test_values_are_offered(offered, line, words):
    assert offered(line) == words


def test_commands_and_options_are_offered(offered):
    assert offered("prism ") == [command.name for command in COMMANDS]
    assert "--fit-fraction" in offered("prism identify --f")


def test_offered_names_are_those_that_there_are():
    assert tuple(BENCHMARKS) == _complete.BENCHMARKS
    assert sorted(_complete.EXCITATIONS) == sorted(EXCITATIONS)
    assert tuple(UNITS) == _complete.UNITS


def test_a_key_press_does_not_wait_for_numerical_packages():
    code = (
        "import sys; from prism.cli import main; main()\n"
        "print([m for m in ('numpy', 'scipy', 'rich.table') if m in sys.modules])"
    )
    asked = {"_PRISM_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "prism simulate ch"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(**asked),
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"chain"' in done.stdout
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize(
    ("shell", "words"), [("bash", "complete -o default"), ("zsh", "compdef"), ("fish", "--command")]
)
def test_script_of_each_shell(run, monkeypatch, shell, words):
    monkeypatch.setenv("_PRISM_COMPLETE", f"source_{shell}")
    status, out, err = run()
    assert (status, err) == (0, "")
    assert words in out
    assert f"_PRISM_COMPLETE=complete_{shell}" in out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_after_installation(program, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    path = f"{program}{os.pathsep}{os.environ['PATH']}"
    script = (
        "prism --install-completion && source ~/.bashrc\n"
        "COMP_WORDS=(prism simulate h) COMP_CWORD=2\n"
        "_prism_completion prism && printf '<%s>' \"${COMPREPLY[@]}\"\n"
        "prism --show-completion > shown.sh; diff shown.sh ~/.bash_completions/prism.sh\n"
    )
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment(HOME=str(home), PATH=path),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "bash completion installed" in done.stdout, done.stderr
    assert "<henon-heiles>" in done.stdout
    assert (home / ".bash_completions" / "prism.sh").exists()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_examples_use_options_that_there_are(run, command):
    _, out, _ = run(command.name, "--help")
    options = set(re.findall(r"--?[a-z][a-z-]*", out.split("Examples:")[0]))
    lines = [line.strip() for line in command.epilog.splitlines() if "prism " in line]
    assert lines
    for line in lines:
        assert line.startswith(f"prism {command.name}")
        assert set(re.findall(r"(?<=\s)--?[a-z][a-z-]*", line)) <= options, line


# -- a terminal and a pipe ------------------------------------------------------------------------


def on_terminal(code, *arguments, cwd, columns):
    """Run a program with a terminal of some width for its output; return what that got."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env=environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    got = b""
    while part := _read(ours):
        got += part
    os.close(ours)
    assert process.wait(60) == 0, got.decode()
    return got.decode().replace("\r\n", "\n")


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # that is how the end of a terminal looks
        return b""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with a record."""
    folder = tmp_path_factory.mktemp("terminal")
    prism.io.write(systems.chain().free(60, 0.1, noise=0.1, rng=0), folder / "bench.csv")
    return folder


@pytest.fixture(scope="module")
def model(place):
    return prism.identify(prism.read(place / "bench.csv"))


BENCHMARK = Benchmark(
    "chain",
    3,
    (
        Row("T = 400", "frequency error", 0.5, high=1.0, paper="0.2 %"),
        Row("T = 400", "lines found", 0.25, low=0.9),
        Row("T = 60", "[red]no bar[/red]", 2.0, own_method=1.5),
    ),
)


@pytest.fixture(scope="module")
def screens(place):
    """What a terminal shows of one command: as it is, without colour, and if it can do nothing."""
    code = (
        "import os\n"
        "from prism_bench import Benchmark, Row\n"
        "from prism.cli import main\n"
        "from prism.cli._terminal import show_benchmark\n"
        f"show_benchmark({BENCHMARK!r})\n"
        "for name, value in [('TERM', 'xterm'), ('NO_COLOR', '1'), ('TERM', 'dumb')]:\n"
        "    print('=' * 9, flush=True)\n"
        "    os.environ[name] = value\n"
        "    assert main(['identify', 'bench.csv']) == 0\n"
    )
    return on_terminal(code, cwd=place, columns=78).split("=" * 9 + "\n")


def words_of(text):
    return re.sub(r"[\s─]+", " ", ESCAPE.sub("", text)).strip()


def test_terminal_gets_headings_progress_and_its_own_width(screens, model):
    got = screens[1]
    assert "\x1b[1mVisible modes" in got
    assert "\x1b[33mNot determined:" in got
    assert "searching for lines" in got
    shown = got[got.index("\x1b[1mPRISM") :]
    assert max(len(ESCAPE.sub("", line)) for line in shown.splitlines()) <= 78
    assert words_of(shown) == words_of(summary(model, COMMAND_LINE))


def test_terminal_without_colour_has_none(screens, model):
    got = screens[2]
    start = got.index("PRISM " + prism.__version__)
    assert words_of(got[start:]) == words_of(summary(model, COMMAND_LINE))
    assert not COLOUR.search(got)


def test_terminal_that_can_do_nothing_gets_plain_text(screens):
    assert "Not determined:" in screens[3]
    assert "\x1b" not in screens[3]


def test_pipe_gets_plain_text_and_no_progress(place, model):
    done = subprocess.run(
        [sys.executable, "-c", PRISM, "identify", "bench.csv"],
        cwd=place,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == summary(model, COMMAND_LINE)
    assert done.stderr == ""


def test_benchmark_on_a_terminal_marks_what_does_not_hold(screens):
    got = screens[0]
    assert "\x1b[1;31mNO" in got
    assert "\x1b[32myes" in got
    assert "[red]no bar[/red]" in got
    for line in str(BENCHMARK).splitlines()[2:]:
        for word in line.split():
            assert word in got


def test_benchmark_in_a_pipe_is_its_text(capsys):
    from prism.cli._terminal import show_benchmark

    show_benchmark(BENCHMARK)
    assert capsys.readouterr().out == str(BENCHMARK) + "\n"
    assert str(BENCHMARK).splitlines()[3].startswith("         lines found")
