"""The result as text and as a page."""

import base64
import hashlib
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import prism
from prism import systems
from prism._format import format_percent
from prism.errors import WriteError
from prism.plot import shapes_view, views
from prism.plot.chart import Axis, Cells, Chart, Dots, Line, Panel
from prism.report import format_value, summary, write_report
from prism.report._figures import chart_values, embedded, pack
from prism.report.html import html_page
from prism.report.tables import Table, facts, mode_table
from prism.report.text import WIDTH, layout
from prism.uncertainty import Gaussian


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
    modes = model.modes.take(np.resize(np.arange(len(model.modes)), count))
    values = {"frequencies": np.linspace(1, 30, count), "shapes": modes.shapes}
    joint = Gaussian.of(values, modes.joint.covariance)
    return replace(model, modes=replace(modes, joint=joint))


def test_sixty_modes(single):
    model = with_modes(single[0], 60)
    text = summary(model)
    assert "60 modes in 2 channels" in text
    assert lines_fit(text)
    assert len(mode_table(model).rows) == 60
    (panel,) = shapes_view(model).chart().panels
    assert len(panel.y.ticks) == 30
    assert isinstance(panel.marks[0], Cells)
    assert panel.marks[0].values.shape == (60, 2)


def test_missing_samples_and_mixed_quantities_are_named():
    values = systems.chain().free(200, 0.1, noise=0.1, rng=0).trials[0].copy()
    values[5:9, 0] = np.nan
    record = prism.Record(
        values, dt=0.1, channels=["a", "b"], quantity=["displacement", "velocity"]
    )
    text = summary(prism.identify(record))
    assert "4 missing" in text
    assert "a (displacement), b (velocity)" in text


def test_very_many_channels_are_counted(single):
    model = single[0]
    names = tuple(f"s{k}" for k in range(40))
    many = replace(
        model,
        channels=names,
        quantity=("displacement",) * 40,
        noise_std=np.full(40, 0.1),
        record=replace(model.record, std=np.ones(40)),
    )
    said = dict(facts(many))
    assert said["channels"].endswith("s14, s15 and 24 more (displacement)")
    assert said["noise"].endswith("s15 0.1 (10 %) and 24 more")


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

    EMPTY = frozenset({"meta", "br", "link"})

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


def figures(page):
    """Names of the figures of a page."""
    return re.findall(r'<div class="plot" data-name="(\w+)"', page)


def test_page_stands_alone(ensemble):
    page = html_page(*ensemble)
    found = checked(page)
    # The one address in it is the name of the svg language, which nobody visits.
    assert set(re.findall(r"https?://[^\s\"']+", page)) == {"http://www.w3.org/2000/svg"}
    assert "@import" not in page
    assert "url(" not in page
    assert all(link.startswith("data:") for link in found.links)
    assert figures(page) == [
        "record",
        "spectrum",
        "shapes",
        "poles",
        "kernel",
        "correlation",
        "forecast",
    ]


def test_page_may_run_nothing_but_its_own_script(ensemble):
    page = html_page(*ensemble)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; ")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2]


def test_page_holds_what_the_text_holds(ensemble, single):
    text = " ".join(checked(html_page(*ensemble)).text)
    for words in ("Visible modes", "Hidden modes", "h1''", "Passive", "Verdict", "likelihood", "∑"):
        assert words in text
    text = " ".join(checked(html_page(*single)).text)
    assert "Equations of motion" not in text
    assert "Tested on the part of the record" in text
    assert "What would settle it" in text


def test_page_without_a_record_draws_what_the_model_knows(single):
    page = html_page(single[0])
    checked(page)
    assert figures(page) == ["shapes", "poles", "forecast"]
    assert "not given with the model" in page


def test_page_escapes_names(tmp_path):
    values = systems.chain(3, observed=[0, 2]).free(100, 0.1, noise=0.1, rng=0).trials[0]
    bad = ['<b>&"x', "</script><script>alert(1)</script><!--"]
    record = prism.Record(values, dt=0.1, channels=bad)
    model = prism.identify(record, mass="identity")
    write_report(model, tmp_path / "r.html", record)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    found = checked(page)
    assert "<b>" not in page
    assert "<!--" not in page
    assert page.count("<script") == 1 + len(figures(page))
    assert any('<b>&"x' in text for text in found.text)
    assert all(name in "".join(found.text) for name in bad)


def test_page_is_the_same_every_time(single):
    assert html_page(*single) == html_page(*single)


def test_identifiers_do_not_clash(ensemble):
    names = re.findall(r' id="([^"]+)"', html_page(*ensemble))
    assert len(names) == 7
    assert len(names) == len(set(names))


def test_every_colour_of_a_figure_is_one_of_the_page(ensemble, lossy):
    for model, data in (ensemble, lossy):
        page = html_page(model, data)
        marks = [m for v in views(model, data).values() for p in v.chart().panels for m in p.marks]
        used = {mark.colour for mark in marks if not isinstance(mark, Cells)}
        assert used >= {"blue", "orange", "green", "muted"}
        for colour in used:
            assert page.count(f"--{colour}:#") == 2, "light and dark"
            assert re.search(rf"\.{colour}\{{--now:", page)


def test_curves_of_one_panel_differ_by_more_than_colour(ensemble):
    panels = views(*ensemble)["kernel"].chart().panels
    for panel in panels:
        dashes = [mark.dash for mark in panel.marks if isinstance(mark, Line)]
        assert len(dashes) == 3
        assert len(set(dashes)) == 3


def unpacked(packed):
    if isinstance(packed, list):
        return np.array([np.nan if v is None else v for v in packed])
    return np.frombuffer(base64.b64decode(packed["data"]), "<" + packed["kind"])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.array([1.0, np.nan, 3.0]), None),
        (np.linspace(0, 1, 500), "f4"),
        (np.r_[np.linspace(0, 1, 500), np.nan], "f4"),
        (1.6e9 + np.linspace(0, 1, 500), "f8"),
        (np.full(100, np.nan), "f4"),
    ],
)
def test_packed_numbers_come_back(values, kind):
    packed = pack(values)
    assert (None if isinstance(packed, list) else packed["kind"]) == kind
    spread = np.ptp(values[np.isfinite(values)]) if np.isfinite(values).any() else 1.0
    np.testing.assert_allclose(unpacked(packed), values, rtol=0, atol=1e-6 * spread)


def test_values_of_a_figure_hold_its_points_and_no_markup():
    x = np.array([0.0, 1.0, np.inf])
    axis = Axis("</script>&<", "m", (0.0, 1.0))
    panel = Panel(axis, axis, [Dots("a", "blue", x, x, "ring", notes=("<i>", "b", "c"))])
    text = embedded(Chart([panel]), "one")
    assert text.count("<") == text.count(">") == 4
    data = json.loads(re.search(r">(\{.*\})<", text)[1])
    assert data == chart_values(Chart([panel]))
    (mark,) = data["panels"][0]["marks"]
    assert mark["x"] == [0.0, 1.0, None]
    assert mark["notes"][0] == "<i>"


def test_every_figure_can_be_told_in_json(ensemble, lossy, shaken, five):
    for model, data in (ensemble, lossy, shaken, five):
        for view in views(model, data).values():
            text = json.dumps(chart_values(view.chart()), allow_nan=False)
            assert len(text) < 1_000_000


def test_a_long_record_makes_a_small_page():
    record = systems.chain().free(20_000, 0.1, noise=0.1, rng=0)
    page = html_page(prism.identify(record), record)
    assert len(page) < 600_000


def test_report_is_whole_or_not_there(tmp_path, single):
    with pytest.raises(WriteError, match="cannot be written"):
        write_report(single[0], tmp_path / "missing" / "r.html")
    single[0].report(tmp_path / "r.html", single[1])
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]
    assert (tmp_path / "r.html").stat().st_size < 1_500_000


def test_report_needs_no_extra(monkeypatch, tmp_path, single):
    for name in [m for m in sys.modules if m.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    write_report(single[0], tmp_path / "r.html", single[1])
    assert (tmp_path / "r.html").stat().st_size > 50_000


def test_saved_model_gives_the_same_summary_and_page(tmp_path, single):
    model, record = single
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    assert summary(again) == summary(model)
    assert html_page(again, record) == html_page(model, record)
