"""Every Python block and every command of the README and of the pages in docs/ is executed."""

import itertools
import re
import sys

import numpy as np
import pytest
from tests.places import ROOT

from prism.io import write
from prism.systems import chain

DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))
from run_page import Block, PageError, Session, blocks, made_by, run  # noqa: E402

TEXTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts),
]
PAGES = {
    path.relative_to(ROOT).as_posix(): path for path in TEXTS if blocks(path.read_text("utf-8"))
}


# What the words of a page claim about its numbers, checked on the names it leaves.


def within(found, std, truth, most=3.5):
    assert np.abs((np.asarray(found) - truth) / std).max() < most


def check_index(names, here, outcomes):
    assert outcomes[-1].text == "[0.34728922 1.00001483 1.53210932 1.87930638]\n"


def check_start(names, here, outcomes):
    assert (here / "report.html").exists()
    assert (here / "prism-demo" / "report.html").exists()
    assert any("prism-demo/model.json" in outcome.text for outcome in outcomes)
    assert names["model"].hamiltonian is None


def check_chain(names, here, outcomes):
    assert names["test"].forecast_check.nrmse == pytest.approx([0.1, 0.1], abs=0.004)
    within(names["hidden"].hidden_frequencies, names["hidden"].hidden_frequencies_std, 2**0.5)
    within(names["hidden"].couplings[0], names["hidden"].couplings_std[0], [1, 1, 0])


def check_setups(names, here, outcomes):
    tower, modes = names["tower"], names["model"].modes
    within(modes.frequencies, modes.frequencies_std, tower.frequencies)
    order = [names["storeys"].index(name) for name in names["model"].channels]
    shapes = tower.shapes[:, order]
    signs = np.sign(np.sum(shapes * modes.shapes, axis=1))[:, None]
    within(modes.shapes, modes.shapes_std, signs * shapes)
    assert "mode 4: 3x over 1x is" in outcomes[1].text
    assert "2 set-ups" in outcomes[-1].text
    assert (here / "tower.json").exists()


def check_own_csv(names, here, outcomes):
    frame, modes = names["frame"], names["model"].modes
    within(modes.frequencies, modes.frequencies_std, frame.frequencies)
    said = "".join(outcome.text for outcome in outcomes)
    assert "missing   40 values" in said
    assert "--time-column 1" in said
    assert "no sampling step" in said
    assert "slip.csv, line 3, column 'a2'" in said
    assert (here / "frame.html").exists()


def check_first_use(names, here, outcomes):
    said = "".join(outcome.text for outcome in outcomes)
    assert "column 'Time', dt = 0.01" in said
    assert "Accel 1, Accel 2 are called like acceleration" in said
    assert "Accel 1, Accel 2 (acceleration)" in said
    assert (here / "logger.html").exists()


def check_ensemble(names, here, outcomes):
    h, exact = names["h"], names["chain"]
    within(h.hidden_frequencies, h.hidden_frequencies_std, exact.hidden_frequencies)
    within(np.abs(h.couplings), h.couplings_std, np.abs(exact.couplings))
    assert "common scale" in str(names["scaled"].identifiability)


def check_forced(names, here, outcomes):
    h, machine = names["model"].hamiltonian, names["machine"]
    within(h.hidden_frequencies, h.hidden_frequencies_std, machine.hidden_frequencies)
    within(names["model"].modes.damping, names["model"].modes.damping_std, 0.005)
    within(names["zero"].frequency, names["zero"].frequency_std, 9.81**0.5)


def check_modal(names, here, outcomes):
    modes, tower = names["model"].modes, names["tower"]
    within(modes.frequencies, modes.frequencies_std, tower.frequencies)
    assert "'fs': 20.0" in outcomes[1].text
    assert "Geometry(4 nodes, 3 lines)" in outcomes[2].text
    assert "Modes on the structure" in (here / "tower.html").read_text("utf-8")
    assert outcomes[5].text.startswith("151 164 2411 82 55 55 55\n")
    assert "modal mass not determined" in outcomes[5].text
    np.testing.assert_allclose(names["first"]["r1"], modes.shapes[0], atol=1e-5)


def check_gaps(names, here, outcomes):
    modes, exact = names["model"].modes, names["chain"].frequencies
    within(modes.frequencies, modes.frequencies_std, exact)
    assert np.all(modes.frequencies_std < 1.1 * names["whole"].modes.frequencies_std)
    kept, shrunk = (
        [float(word) for word in re.findall(r"\d\.\d*", line)]
        for line in outcomes[-2].text.splitlines()
    )
    assert kept == pytest.approx([1] * 4, abs=0.01)
    assert max(shrunk) < 0.86


def check_nonlinear(names, here, outcomes):
    within(names["found"], names["error"], names["truth"])
    assert len(names["linear"].modes) > 8
    assert any("potential='auto'" in text for text in names["linear"].identifiability.remarks)
    assert names["model"].forecast_check.nrmse[0] < names["linear"].forecast_check.nrmse[0]


def check_kernel(names, here, outcomes):
    assert len(names["h"].hidden) == 30
    assert np.abs(names["error"]).max() < 0.05 * names["bath"].spacing
    assert names["model"].certificate.passive
    assert "61 of 61" in outcomes[-2].text
    table = outcomes[-1].text.splitlines()
    poles = itertools.takewhile(
        lambda row: not row.startswith("Note"), table[table.index("frequency,rank,R_q1_q1") + 1 :]
    )
    found = np.array([float(row.split(",")[0]) for row in poles])
    assert found.size >= 2
    bare = chain(observed=[0]).hidden_frequencies
    assert np.all(np.abs(found[:, None] / bare - 1).min(axis=1) < 0.05)


def check_choose(names, here, outcomes):
    assert names["model"].modes.damping == pytest.approx([0.01] * 4, abs=0.012)
    assert "unknown" in outcomes[0].text
    assert "a slope is significant" in str(names["asked"].identifiability.why)


def check_kinds(names, here, outcomes):
    decay, lines, driven = names["decay"], names["lines"], names["driven"]
    assert (decay.kind, lines.kind, driven.kind) == ("decaying", "steady", "driven")
    within(decay.modes.frequencies, decay.modes.frequencies_std, np.hypot([2, 3.1], [0.02, 0.05]))
    assert (len(decay.modes), len(lines.modes)) == (2, 5)
    assert decay.evidence.margin == pytest.approx(52, abs=0.5)
    within(driven.modes.frequencies, driven.modes.frequencies_std, names["pair"].frequencies)
    low, high = driven.modes.damping_interval.T
    assert np.all((low < 0.03) & (high > 0.03))
    assert not driven.evidence.close


def check_changes(names, here, outcomes):
    found = names["found"]
    assert [pair.frequency.moved for pair in found.pairs] == [True] * 3
    assert not any(pair.damping.moved for pair in found.pairs)
    ends = np.array([pair.frequency.interval for pair in found.pairs])
    exact = names["loaded"].frequencies / names["frame"].frequencies - 1
    within(ends.mean(axis=1), np.diff(ends)[:, 0] / 3.92, exact)
    assert "nothing moved beyond its error" in outcomes[1].text
    assert (here / "moved.json").exists()


def check_readme(names, here, outcomes):
    assert (here / "out.html").exists()
    assert (here / "forecast.csv").exists()


CHECKS = {
    "README.md": check_readme,
    "docs/changes.md": check_changes,
    "docs/choose.md": check_choose,
    "docs/index.md": check_index,
    "docs/kinds.md": check_kinds,
    "docs/first-use.md": check_first_use,
    "docs/start.md": check_start,
    "docs/tutorials/chain.md": check_chain,
    "docs/tutorials/ensemble.md": check_ensemble,
    "docs/tutorials/forced.md": check_forced,
    "docs/tutorials/gaps.md": check_gaps,
    "docs/tutorials/kernel.md": check_kernel,
    "docs/tutorials/modal.md": check_modal,
    "docs/tutorials/nonlinear.md": check_nonlinear,
    "docs/tutorials/own-csv.md": check_own_csv,
    "docs/tutorials/setups.md": check_setups,
}


def test_every_page_with_code_is_checked():
    assert sorted(PAGES) == sorted(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_page(name, here):
    if name == "README.md":  # it speaks of a file that the reader has
        write(chain().free(400, 0.05, noise=0.1, rng=0), "bench.csv")
    outcomes, names = run(PAGES[name], here)
    CHECKS[name](names, here, outcomes)
    drawn = sum(len(outcome.figures) for outcome in outcomes)
    assert drawn == len(re.findall(r'\.savefig\("|--figure ', PAGES[name].read_text("utf-8")))


# -- the runner itself -------------------------------------------------------------------------


def one(kind, code):
    return Block(kind, code, 0, 7)


def test_blocks_are_found_with_their_lines():
    text = "a\n\n```python\nx = 1\n```\n\n```text\nnot run\n```\n\n```sh\nprism demo\n```\n"
    found = blocks(text)
    assert [(b.kind, b.code, b.line) for b in found] == [
        ("python", "x = 1\n", 4),
        ("sh", "prism demo\n", 12),
    ]
    assert text[: found[0].end].endswith("x = 1\n```")


def test_names_are_shared_and_output_is_kept(here):
    session = Session(here, "page.md")
    session.run(one("python", "x = 2"))
    assert session.run(one("python", "print(x + 1)")).text == "3\n"


def test_a_traceback_has_the_line_of_the_page(here):
    with pytest.raises(ZeroDivisionError) as caught:
        Session(here, "page.md").run(one("python", "x = 0\n1 / x"))
    last = caught.traceback[-1]
    assert (last.path.name if hasattr(last.path, "name") else last.path) == "page.md"
    assert last.lineno + 1 == 8


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("prism identify nothing.csv", "ended with 2: prism: nothing.csv"),
        ("prism --version  # refused", "ended with 0"),
        ("rm -rf .", "nobody runs 'rm -rf .'"),
        ("make coffee", "no rule 'coffee'"),
        ('pip install ".[coffee]"', "no such extra: coffee"),
    ],
)
def test_what_does_not_run_is_not_passed_over(line, words, here):
    with pytest.raises(PageError, match=re.escape(words)):
        Session(here, "page.md").run(one("sh", line))


def test_setting_up_is_known():
    assert made_by("demo") == [["demo"]]
    assert made_by("test") == []


# -- words ---------------------------------------------------------------------------------------


def test_links_lead_somewhere():
    for page in TEXTS:
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_architecture_page_names_modules_that_exist():
    text = (DOCS / "architecture.md").read_text("utf-8")
    names = re.findall(r"`([\w/]+(?:/|\.py))`", text)
    assert len(names) > 15
    for name in names:
        homes = (ROOT / "src" / "prism" / name, ROOT / name)
        assert any(home.exists() for home in homes), name


def test_architecture_page_fits_on_a_screen():
    lines = (DOCS / "architecture.md").read_text("utf-8").splitlines()
    assert len(lines) <= 70


def test_the_picture_of_the_house_has_rooms_that_exist():
    text = (DOCS / "house.svg").read_text("utf-8")
    lines = re.findall(r'class="rooms"[^>]*>([^<]+)<', text)
    rooms = [name for line in lines for name in line.split(" · ")]
    assert len(rooms) > 14
    for name in rooms:
        home = ROOT / "src" / "prism" / name
        assert home.is_dir() or home.with_suffix(".py").exists(), name


def test_equations_that_the_code_cites_are_in_the_theory():
    theory = (DOCS / "theory.md").read_text("utf-8")
    source = "".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    numbers = set(re.findall(r"THEORY \((\d)\)", source))
    sections = set(re.findall(r"THEORY §(\d)", source))
    assert {"1", "3", "4"} <= numbers
    for number in numbers:
        assert f"$$ (theory-{number})" in theory
    for section in sections:
        assert f"(theory-section-{section})=\n## §{section} " in theory
    labels = re.findall(r"\$\$ \(theory-(\d)\)", theory)
    assert labels == sorted(labels)  # they are numbered in the order they stand in


@pytest.mark.parametrize("name", ["report.png", "app.png"])
def test_the_readme_shows_small_pictures(name):
    picture = DOCS / "_static" / name
    assert f"](docs/_static/{name})" in (ROOT / "README.md").read_text("utf-8")
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert 10_000 < len(data) < 200_000
    assert f"def {picture.stem}(browser)" in (DOCS / "_ext" / "screenshots.py").read_text("utf-8")
