"""The result as text and as a page."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import prism
from prism import systems
from prism.errors import MissingDependencyError, WriteError
from prism.plot import shapes_view
from prism.report import format_value, summary, write_report
from prism.report._figures import COLOURS, inline_svg
from prism.report.html import html_page
from prism.report.numbers import format_percent
from prism.report.tables import Table, mode_table
from prism.report.text import WIDTH, layout


@pytest.fixture(scope="module")
def single():
    record = systems.chain().free(400, 0.1, noise=0.1, rng=0)
    return prism.identify(record, fit_fraction=0.4), record


@pytest.fixture(scope="module")
def ensemble():
    record = systems.chain().equilibrium(100, 0.2, trials=60, noise=0.1, rng=1)
    return prism.identify(record, experiment="equilibrium", mass="identity"), record


@pytest.fixture(scope="module")
def five():
    record = systems.chain(5, observed=[0, 2, 4]).free(400, 0.05, noise=0.1, rng=2)
    return prism.identify(record, mass="identity"), record


# ------------------------------------------------------------------ numbers


@pytest.mark.parametrize(
    ("value", "std", "text"),
    [
        (0.3472893, 8.2e-6, "0.347289(8)"),
        (0.3472893, 1.24e-5, "0.347289(12)"),
        (-0.7086, 0.0031, "-0.709(3)"),
        (123.44, 1.5, "123.4(1.5)"),
        (1234.0, 56.0, "1230(60)"),
        (12.3, 4.4, "12(4)"),
        (0.002, 0.015, "0.002(15)"),
        (1.0, 0.0096, "1.000(10)"),
        (0.0, 0.2, "0.0(2)"),
        (3.2e-9, 1.1e-11, "3.200(11)e-09"),
        (4.56789e12, 2e9, "4.568(2)e+12"),
        (0.5, None, "0.5"),
        (0.5, 0.0, "0.5"),
        (0.5, float("nan"), "0.5"),
        (2 / 3, None, "0.666667"),
        (2 / 3, 1e-16, "0.666666666667"),
        (float("nan"), 0.1, "–"),
    ],
)
def test_values_have_the_digits_of_their_error(value, std, text):
    assert format_value(value, std) == text


def test_digits_keep_value_and_error():
    rng = np.random.default_rng(0)
    for _ in range(500):
        std = 10 ** rng.uniform(-6, 2)
        value = rng.uniform(-1, 1) * 10 ** rng.uniform(-2, 3)
        text = format_value(value, std)
        shown = float(re.sub(r"\(.*\)", "", text))
        assert abs(shown - value) <= 0.51 * std, text


@pytest.mark.parametrize(
    ("share", "text"), [(0.4, "40 %"), (0.0987, "9.9 %"), (1.0, "100 %"), (2.5, "250 %")]
)
def test_percentages(share, text):
    assert format_percent(share) == text


# ------------------------------------------------------------------ text


def test_summary_of_a_single_record(single):
    text = summary(single[0])
    for words in (
        "4 modes in 2 channels; the Hamiltonian is not determined",
        "q1, q4 (displacement)",
        "1600 samples, dt = 0.1, t = 0 to 159.9, none missing, the first 40 %",
        "0.347",
        "Not determined: the bare hidden frequencies",
        "What would settle it",
        "passive: every mode is undamped",
        "Forecast of the rest",
    ):
        assert words in text
    assert "Hidden modes" not in text
    assert single[0].summary() == str(single[0]) == text


def test_summary_of_an_ensemble_has_the_hamiltonian(ensemble):
    text = summary(ensemble[0])
    for words in (
        "2 hidden oscillators",
        "60 trials of 500 samples",
        "kT = ",
        "rms ampl.",
        "Hidden modes",
        "c(q1)",
        "h1''",
        "K(t) = R1 sin(",
        "smallest eigenvalue",
    ):
        assert words in text
    assert "Forecast of the rest" not in text


def test_summary_of_a_double_hidden_frequency_prints_the_residue(five):
    model, _ = five
    assert model.hamiltonian.hidden[0].rank == 2
    text = " ".join(summary(model).split())
    assert "hidden 1 has rank 2: only the residue is determined, R = [" in text


def lines_fit(text):
    return all(len(line) <= WIDTH for line in text.splitlines())


def test_summary_lines_are_never_too_long(single, ensemble, five):
    assert all(lines_fit(summary(model)) for model, _ in (single, ensemble, five))


def test_wide_tables_are_broken_with_a_mark():
    record = systems.chain(10, observed=list(range(10))).free(400, 0.2, noise=0.1, rng=2)
    model = prism.identify(record, mass="identity")
    text = summary(model)
    assert lines_fit(text)
    assert "… continued" in text
    for name in model.channels:
        assert f"d({name})" in text
    # A number is never torn from its name where an equation is broken.
    equations = text.partition("Equations of motion\n")[2].partition("\n\n")[0].splitlines()
    broken = [line.strip() for line in equations if line.startswith(8 * " ")]
    assert broken
    assert all(line[:2] in ("+ ", "- ") for line in broken)


def test_one_channel(tmp_path):
    record = systems.chain(3, observed=[1]).free(200, 0.1, noise=0.1, rng=0)
    text = summary(prism.identify(record))
    assert "in 1 channel;" in text
    assert lines_fit(text)


def with_modes(model, count):
    """The model with its modes repeated."""
    modes = model.modes
    many = {
        name: np.resize(getattr(modes, name), (count, *getattr(modes, name).shape[1:]))
        for name in ("frequencies_std", "shapes", "shapes_std", "significance", "in_phase")
    }
    many["frequencies"] = np.linspace(1, 30, count)
    many["amplitudes"] = np.resize(modes.amplitudes, (1, count))
    return replace(model, modes=replace(modes, **many))


def test_sixty_modes(single):
    model = with_modes(single[0], 60)
    text = summary(model)
    assert "60 modes in 2 channels" in text
    assert lines_fit(text)
    assert len(mode_table(model).rows) == 60
    assert inline_svg(shapes_view(model), "shapes").count("Ω = ") == 30


def test_missing_samples_and_mixed_quantities_are_named():
    values = systems.chain().free(200, 0.1, noise=0.1, rng=0).trials[0].copy()
    values[5:9, 0] = np.nan
    record = prism.Record(
        values, dt=0.1, channels=["a", "b"], quantity=["displacement", "velocity"]
    )
    text = summary(prism.identify(record))
    assert "4 missing" in text
    assert "a (displacement), b (velocity)" in text


def test_lines_out_of_phase_are_marked(single):
    model, _ = single
    modes = replace(model.modes, in_phase=np.array([True, False, True, True]))
    text = summary(replace(model, modes=modes))
    assert "2*" in text
    assert "* not in phase on all channels" in text


def test_layout_breaks_at_the_width():
    table = Table(("k", "aaaa", "bbbb"), (("1", "2", "3"),))
    assert len(layout(table, 40)) == 3
    broken = layout(table, 12)
    assert [line.split()[:2] for line in broken if "k" in line] == [["k", "aaaa"], ["k", "bbbb"]]


# ------------------------------------------------------------------ page


class Checker(HTMLParser):
    """Collect text and attributes, and make sure that every element is closed."""

    EMPTY = frozenset({"meta", "br", "use"})

    def __init__(self):
        super().__init__()
        self.open, self.text, self.links = [], [], []

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.links += [value for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def checked(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


def test_page_stands_alone(ensemble):
    model, record = ensemble
    page = html_page(model, record)
    found = checked(page)
    assert "http" not in page
    assert "<script" not in page
    assert "@import" not in page
    assert "url(" not in page.replace("url(#", "")
    assert all(link.startswith("#") for link in found.links)
    assert page.count("<svg") == 4


def test_page_holds_what_the_text_holds(ensemble, single):
    text = " ".join(checked(html_page(*ensemble)).text)
    for words in ("Visible modes", "Hidden modes", "h1''", "Passive", "Verdict", "likelihood"):
        assert words in text
    text = " ".join(checked(html_page(*single)).text)
    assert "Equations of motion" not in text
    assert "Tested on the part of the record" in text
    assert "What would settle it" in text


def test_page_without_a_record_has_no_spectrum(single):
    page = html_page(single[0])
    checked(page)
    assert page.count("<svg") == 2


def test_page_escapes_names(tmp_path):
    values = systems.chain(3, observed=[0, 2]).free(100, 0.1, noise=0.1, rng=0).trials[0]
    record = prism.Record(values, dt=0.1, channels=['<b>&"x', "<script>alert(1)</script>"])
    model = prism.identify(record)
    write_report(model, tmp_path / "r.html", record)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    found = checked(page)
    assert "<b>" not in page
    assert "<script" not in page
    assert any('<b>&"x' in text for text in found.text)


def test_page_is_the_same_every_time(single):
    assert html_page(*single) == html_page(*single)


def test_identifiers_of_figures_do_not_clash(ensemble):
    page = html_page(*ensemble)
    clips = re.findall(r'<clipPath id="([^"]+)"', page)
    assert clips
    assert len(clips) == len(set(clips))


def test_figures_take_the_colours_of_the_page(single):
    svg = inline_svg(shapes_view(single[0]), "shapes")
    assert "var(--blue)" in svg
    assert not any(colour in svg.lower() for colour in COLOURS)


def test_report_is_whole_or_not_there(tmp_path, single):
    with pytest.raises(WriteError, match="cannot be written"):
        write_report(single[0], tmp_path / "missing" / "r.html")
    single[0].report(tmp_path / "r.html", single[1])
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]
    assert (tmp_path / "r.html").stat().st_size < 1_500_000


def test_report_without_matplotlib_names_the_extra(monkeypatch, tmp_path, single):
    def missing(module, feature, extra):
        raise MissingDependencyError(feature, module, extra)

    monkeypatch.setattr("prism.report.html.require", missing)
    with pytest.raises(MissingDependencyError, match=r"the report needs matplotlib.*\[plot\]"):
        write_report(single[0], tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_saved_model_gives_the_same_summary_and_page(tmp_path, single):
    model, record = single
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    assert summary(again) == summary(model)
    assert html_page(again, record) == html_page(model, record)
