"""How values show themselves in a notebook."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.places import SOURCE

import prism
from prism import systems
from prism.forecast import Forecast

TAGS = {"div", "style", "p", "strong", "details", "summary", "pre", "svg", "polyline"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td"}
EVIL = '<script>alert("1")</script>'


class Page(HTMLParser):
    """Tags that are open, those that were seen, and the text."""

    def __init__(self, markup):
        super().__init__()
        self.open, self.seen, self.text, self.style = [], [], "", ""
        self.feed(markup)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            self.style += data
        else:
            self.text += data + "\n"

    @property
    def rows(self):
        return sum(tag == "tr" for tag, _ in self.seen)


@pytest.fixture(scope="module")
def five():
    record = systems.chain(5, observed=[0, 2, 4]).free(400, 0.05, noise=0.1, rng=2)
    return prism.identify(record, mass="identity"), record


@pytest.fixture(scope="module")
def evil():
    """Everything with a name that is markup."""
    record = systems.chain().free(100, 0.1, noise=0.1, rng=0)
    record = prism.Record(record.trials[0], dt=0.1, channels=[EVIL, "a&b"])
    model = prism.identify(record, mass="identity")
    omega = np.linspace(0.5, 2, 50)
    response = prism.FrequencyResponse(omega, 1 / (1.1 - omega**2), outputs=[EVIL], inputs=[EVIL])
    driven = prism.identify(response)
    assert driven.hamiltonian is not None
    values = (record, model, model.modes, model.forecast([1.0]), response, driven)
    return (*values, driven.hamiltonian)


@pytest.fixture(scope="module")
def pages(five, lossy, evil):
    model, record = five
    values = {
        "model": model,
        "record": record,
        "modes": model.modes,
        "hamiltonian": model.hamiltonian,
        "forecast": model.forecast(np.linspace(400, 500, 40)),
        "response": lossy[1],
        "forced": lossy[0],
    }
    made = {name: value._repr_html_() for name, value in values.items()}
    return made | {f"evil {k}": value._repr_html_() for k, value in enumerate(evil)}


def test_markup_is_whole_small_and_without_scripts_or_addresses(pages):
    for name, markup in pages.items():
        page = Page(markup)
        tags = {tag for tag, _ in page.seen}
        assert tags <= TAGS, name
        assert "http" not in markup
        assert "url(" not in markup
        assert not [key for _, attrs in page.seen for key in attrs if key.startswith("on")]
        assert len(markup) < 40_000
        assert page.seen[0] == ("div", {"class": "prism-repr"})


def test_names_are_escaped(evil):
    for value in evil:
        page = Page(value._repr_html_())
        assert "script" not in {tag for tag, _ in page.seen}
        assert "<script>" in page.text or not hasattr(value, "channels")


def test_colours_are_those_of_the_notebook(pages):
    for markup in pages.values():
        page = Page(markup)
        # A colour of its own would vanish on a dark page or on a light one.
        assert not re.findall(r"#[0-9a-fA-F]{3,6}\b", markup)
        assert set(re.findall(r"[;{]color:(\w+)", page.style)) == {"inherit"}
        assert all(
            rule.startswith(".prism-repr") for rule in re.findall(r"[^{}]+(?={)", page.style)
        )


def test_model_says_what_its_summary_says(five):
    model = five[0]
    text = Page(model._repr_html_()).text
    assert "5 modes in 3 channels, 2 hidden oscillators" in text
    for line in str(model.identifiability).splitlines() + str(model.hamiltonian).splitlines():
        assert line in text
    assert model.certificate.reason in text


def test_undetermined_model_says_why():
    model = prism.identify(systems.chain().free(100, 0.1, noise=0.1, rng=0))
    page = Page(model._repr_html_())
    assert "Not determined" in page.text
    assert "pre" not in {tag for tag, _ in page.seen}


def test_losses_are_named(lossy):
    assert "losses are the damping ratios" in Page(lossy[0]._repr_html_()).text
    assert "ζ" in Page(lossy[0].modes._repr_html_()).text


def test_record_shows_its_channels_and_gaps():
    values = np.random.default_rng(0).standard_normal((3, 500, 2))
    values[1, 7, 1] = np.nan
    record = prism.Record(values, dt=0.1, channels=["left", "right"], quantity="velocity")
    page = Page(record._repr_html_())
    assert "3 trials of 500 samples" in page.text
    assert "first trial" in page.text
    assert page.rows == 3
    cells = page.text.split("right\n")[1].split()
    assert cells == [
        "velocity",
        f"{np.nanmin(values[:, :, 1]):.4g}",
        f"{np.nanmax(values[:, :, 1]):.4g}",
        f"{np.nanstd(values[:, :, 1]):.4g}",
        "1",
    ]


def test_curve_keeps_the_extremes_of_a_long_record():
    y = np.zeros(100_000)
    y[54_321] = 5.0
    y[3::7] = -1.0
    page = Page(prism.Record(y, dt=1.0)._repr_html_())
    (points,) = [attrs["points"] for tag, attrs in page.seen if tag == "polyline"]
    xy = np.array([pair.split(",") for pair in points.split()], float)
    assert len(xy) <= 160
    top = xy[np.argmin(xy[:, 1])]
    assert top[1] == pytest.approx(1.0)
    assert top[0] == pytest.approx(160 * 0.54321, abs=2)


def test_long_tables_are_cut_and_say_so():
    rng = np.random.default_rng(0)
    wide = prism.Record(rng.standard_normal((20, 15)), dt=1.0)
    page = Page(wide._repr_html_())
    assert page.rows == 13
    assert "3 more rows" in page.text
    forecast = Forecast(np.arange(9.0), rng.standard_normal((9, 12)), np.ones((9, 12)), np.ones(12))
    page = Page(forecast._repr_html_())
    assert page.rows == 8
    assert "3 more columns" in page.text
    assert page.text.count("⋮") == 10


@pytest.mark.parametrize("count", [1, 4, 6])
def test_short_forecasts_are_whole(five, count):
    made = five[0].forecast(np.linspace(400, 410, count))
    page = Page(made._repr_html_())
    assert page.rows == count + 1
    assert "⋮" not in page.text


def test_response_shows_the_peak_of_each_entry(lossy):
    response = lossy[1]
    page = Page(response._repr_html_())
    assert page.rows == 10
    size = np.abs(response.values[:, 0, 0])
    assert f"{size.max():.4g}" in page.text
    assert f"{response.omega[size.argmax()]:.5g}" in page.text


def test_an_entry_without_values_has_no_peak():
    omega = np.linspace(1, 2, 9)
    H = np.ones((9, 2, 1), complex)
    H[:, 1] = np.nan
    H[3, 0] = 7.0
    response = prism.FrequencyResponse(omega, H, outputs=["a", "b"], inputs=["a"])
    page = Page(response._repr_html_())
    assert page.text.count("–") == 2
    assert sum(tag == "svg" for tag, _ in page.seen) == 1


def test_showing_a_value_draws_nothing():
    code = (
        "import sys, prism\n"
        "record = prism.systems.chain().free(100, 0.1, rng=0)\n"
        "record._repr_html_()\n"
        "print([m for m in ('matplotlib', 'IPython', 'rich') if m in sys.modules])\n"
    )
    here = os.environ | {"PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=here, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
