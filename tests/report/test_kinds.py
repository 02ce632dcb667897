"""Every figure of every kind of report in a real browser: it holds its data and can be read off."""

import re

import pytest
from tests.report_kinds import KINDS

from prism.plot import views

DRAWN = {
    "free": "record spectrum shapes poles correlation forecast",
    "equilibrium": "record spectrum shapes poles kernel correlation forecast",
    "released": "record spectrum shapes poles kernel correlation forecast",
    "response": "response shapes poles kernel",
    "forced": "record response poles kernel",
    "decay": "record spectrum shapes poles correlation forecast",
    "noise-driven": "record spectrum shapes poles correlation ladder",
    "potential": "record spectrum poles potential kernel correlation forecast",
    "chaotic": "record spectrum poles potential kernel correlation forecast",
    "twenty-channels": "record spectrum shapes poles correlation forecast",
    "many-trials": "record spectrum shapes poles kernel correlation forecast",
}
SAID = {  # what the tip of a figure says, with its unit
    "record": r"t = [\d.]+ time units\n.* \((dis|acc|force)\w*\)\n(.*\n)*.*data: −?\d",
    "spectrum": r"ω = [\d.]+ rad / time unit\n.*\(amplitude\)\n(.*\n)*.*data: \d",
    "correlation": r"τ = [\d.]+ time units\nC\(.*\) \(.*²\)\n(.*\n)*.*data: −?\d",
    "forecast": r"t = [\d.]+ time units\n.*\n(.*\n)*.*(fit|forecast): −?\d",
    "shapes": r"Ω = [\d.]+.*: \S+ −?[\d.]",
    "ladder": r"[\d.]+ rad / time unit, ζ = [\d.e−-]+; gains \d+, price \d+",
    "poles": r"(poles|zeros|hidden).*: [\d.]+.* rad / time unit",
    "kernel": r"t = [\d.]+ time units\nK\(t\) \(force / displacement / time\)\n.*: −?\d",
    "potential": r" = −?[\d.]+ displacement\nV \(energy\)\n(.*\n)*.*V: \d",
    "response": r"ω = [\d.]+ rad / time unit\n\|H\| \(\w+ per force\)\n(.*\n)*.*fit: \d",
}
# Where to point in a panel of a figure, as shares of it: on a point where points are named.
AIM = """([name, at]) => {
  const panel = document.querySelector(`.plot[data-name=${name}]`).figure.panels.at(at);
  const {inner, X, Y} = panel;
  const named = panel.marks.find((mark) => mark.notes && mark.notes.length && mark.y);
  if (named) return [X(named.x[0]) / inner.width, Y(named.y[0]) / inner.height];
  return [0.47, 0.37];
}"""
HELD = """() => [...document.querySelectorAll('.plot')].map((plot) => [plot.dataset.name,
  plot.figure.panels.map((panel) => panel.marks.reduce((sum, mark) => sum
    + (mark.values ? mark.values.flat() : [...(mark.y || mark.high || [])])
      .filter(Number.isFinite).length, 0))])"""
BLANK = """() => [...document.querySelectorAll('svg.panel')].filter((panel) =>
  ![...panel.querySelectorAll('path.line, path.marker, path.band, rect.band')]
    .some((mark) => mark.tagName === 'rect' || mark.getAttribute('d'))).length"""
OUTSIDE = """() => [...document.querySelectorAll('svg.panel text')].filter((text) => {
  const own = text.getBoundingClientRect();
  const all = text.closest('svg.panel').getBoundingClientRect();
  return own.left < all.left - 2 || own.right > all.right + 2 || own.top < all.top - 2
    || own.bottom > all.bottom + 2;
}).map((text) => text.textContent)"""


@pytest.fixture(scope="module")
def desk(browser):
    """One page for all reports; what it complains of and asks for is kept on it."""
    page = browser.new_context(viewport={"width": 1100, "height": 900}).new_page()
    page.set_default_timeout(120_000)
    page.trouble = []
    page.on("console", lambda message: page.trouble.append(message.text))
    page.on("pageerror", lambda error: page.trouble.append(str(error)))
    page.on("request", lambda asked: page.trouble.append(asked.url) if is_foreign(asked) else None)
    return page


def is_foreign(request):
    return not request.url.startswith(("file:", "data:"))


@pytest.fixture(scope="module", params=KINDS)
def report(request, desk, tmp_path_factory):
    model, data = KINDS[request.param]()
    path = tmp_path_factory.mktemp("kind") / f"{request.param}.html"
    model.report(path, data)
    desk.trouble.clear()
    desk.goto(path.as_uri())
    desk.wait_for_function("document.documentElement.dataset.drawn === 'yes'")
    yield request.param, views(model, data), desk
    assert desk.trouble == []


def tip_of(page, name, at=0):
    share = page.evaluate(AIM, [name, at])
    area = page.locator(f".plot[data-name={name}] svg.panel").nth(at).locator("rect.pad")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    page.mouse.move(box["x"] + share[0] * box["width"], box["y"] + share[1] * box["height"])
    tip = page.locator(f".plot[data-name={name}] .tip")
    return tip.inner_text() if tip.is_visible() else ""


def test_every_figure_is_there_and_holds_its_data(report):
    kind, drawn, page = report
    held = dict(page.evaluate(HELD))
    assert set(held) == set(drawn) == set(DRAWN[kind].split())
    for name, counts in held.items():
        chart = drawn[name].chart()
        assert len(counts) == len(chart.panels)
        assert min(counts) > 0, name
    assert page.evaluate(BLANK) == 0


def test_every_figure_tells_its_values_with_units(report):
    _, drawn, page = report
    for name in drawn:
        text = tip_of(page, name)
        assert re.search(SAID[name], text), f"{name}: {text!r}"
        last = tip_of(page, name, -1)
        unit = drawn[name].chart().panels[-1].y.unit
        assert re.search(SAID[name], last) or (unit and f"({unit})" in last), f"{name}: {last!r}"
        for word in ("NaN", "undefined", "Infinity"):
            assert word not in text + last


@pytest.mark.parametrize("width", [1100, 390])
def test_nothing_is_cut_off(report, width):
    _, _, page = report
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        ".then(() => true)"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUTSIDE) == []
    page.set_viewport_size({"width": 1100, "height": 900})
