"""The page in a real browser: it opens clean, its figures hold their data and can be read off."""

import re

import numpy as np
import pytest

import prism
from prism import systems

FIGURES = ["record", "spectrum", "shapes", "poles", "kernel", "correlation", "forecast"]


@pytest.fixture(scope="module")
def ensemble(tmp_path_factory):
    record = systems.chain().equilibrium(100, 0.2, trials=30, noise=0.1, rng=1)
    model = prism.identify(record, experiment="equilibrium", mass="identity", fit_fraction=0.6)
    path = tmp_path_factory.mktemp("page") / "report.html"
    model.report(path, record)
    return model, record, path


def open_page(browser, path, **options):
    """Open a page that may fetch nothing; its complaints and its requests are kept on it."""
    context = browser.new_context(**{"viewport": {"width": 1100, "height": 900}} | options)
    page = context.new_page()
    page.set_default_timeout(120_000)  # a busy machine is slow, not wrong
    page.complaints, page.asked = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.route(re.compile(r"^(?!file:)"), lambda route: route.abort())
    page.goto(path.as_uri())
    page.wait_for_function("document.documentElement.dataset.drawn === 'yes'")
    return page


def assert_quiet(page):
    assert page.complaints == []
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == []


@pytest.fixture
def visit(browser):
    """Open a page for one test."""
    opened = []

    def go(path, **options):
        opened.append(open_page(browser, path, **options))
        return opened[-1]

    yield go
    for page in opened:
        assert_quiet(page)
        page.context.close()


@pytest.fixture(scope="module")
def desk(browser, ensemble):
    page = open_page(browser, ensemble[2], permissions=["clipboard-read", "clipboard-write"])
    yield page
    page.context.close()


@pytest.fixture
def page(desk):
    """The page of the ensemble on a desk; every test leaves it as it was."""
    yield desk
    assert_quiet(desk)


@pytest.fixture(scope="module")
def phone(browser, ensemble):
    page = open_page(browser, ensemble[2], viewport={"width": 400, "height": 800}, has_touch=True)
    yield page
    assert_quiet(page)
    page.context.close()


def marks(page, name, panel=0):
    """Names and lengths of what a panel holds, as the browser sees it."""
    found = page.evaluate(
        """([name, panel]) => document.querySelector(`.plot[data-name=${name}]`).figure
        .panels[panel].marks.map((mark) => [mark.name, (mark.x || mark.at).length])""",
        [name, panel],
    )
    return {name: length for name, length in found if name}


def pad(page, name, panel=0):
    """The drawing area of a panel, as a box on the screen."""
    area = page.locator(f".plot[data-name={name}] svg.panel").nth(panel).locator("rect.pad")
    area.scroll_into_view_if_needed()
    return area.bounding_box()


def test_every_figure_has_its_data(page, ensemble):
    model, record, _ = ensemble
    names = page.evaluate("[...document.querySelectorAll('.plot')].map((p) => p.dataset.name)")
    assert names == FIGURES
    samples = record.samples[0]
    assert marks(page, "record", 1) == {"data": samples, "fit": samples, "end of the fit": 1}
    spectrum = marks(page, "spectrum")
    assert spectrum["found lines"] == len(model.modes)
    assert spectrum["data"] == spectrum["after the fit"] > 100
    assert marks(page, "shapes") == {"shape": 8}
    assert marks(page, "poles") == {"poles": 4, "zeros of all together": 2, "zeros": 3}
    assert marks(page, "kernel", 1)["poles"] == 2
    assert set(marks(page, "correlation")) == {"data", "fit"}
    forecast = marks(page, "forecast")
    assert set(forecast) == {
        "±2σ with noise", "±2σ", "data", "fit", "forecast", "end of the fit"
    }  # fmt: skip
    # and what they hold is drawn
    drawn = page.evaluate(
        "[...document.querySelectorAll('svg.panel path.line')].filter((p) => !p.getAttribute('d'))"
        ".length"
    )
    assert drawn == 0


def test_the_numbers_of_the_browser_are_those_of_python(page, ensemble):
    _, record, _ = ensemble
    seen = page.evaluate(
        "[...document.querySelector('.plot[data-name=record]').figure.panels[0].marks[0].y]"
    )
    np.testing.assert_allclose(seen, record.trials[0][:, 0], rtol=1e-6)


def test_hovering_shows_values_with_units(page, ensemble):
    model, _, _ = ensemble
    box = pad(page, "record")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = page.locator(".plot[data-name=record] .tip")
    text = tip.inner_text()
    assert tip.is_visible()
    at = float(re.search(r"t = ([\d.]+) time units", text)[1])
    assert at == pytest.approx(50, abs=0.3)
    assert "q1 (displacement)" in text
    fit = float(re.search(r"fit: (−?[\d.]+)", text)[1].replace("−", "-"))
    assert fit == pytest.approx(model.forecast([at]).values[0, 0], abs=1e-3)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] - 60)
    assert not tip.is_visible()


def test_hovering_names_a_pole(page, ensemble):
    model, _, _ = ensemble
    box = pad(page, "poles")
    span = page.evaluate("document.querySelector('.plot[data-name=poles]').figure.panels[0].span.x")
    share = (model.modes.frequencies[1] - span[0]) / (span[1] - span[0])
    page.mouse.move(box["x"] + share * box["width"], box["y"] + 0.175 * box["height"])
    assert page.locator(".plot[data-name=poles] .tip").inner_text().startswith("poles Ω: 1.000")


def test_dragging_zooms_all_panels_and_a_double_click_goes_back(page):
    spans = "document.querySelector('.plot[data-name=record]').figure.panels.map((p) => p.span.x)"
    whole = page.evaluate(spans)
    box = pad(page, "record")
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.25 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], middle, steps=3)
    page.mouse.up()
    low, high = np.array(whole[0]) @ [[0.75, 0.5], [0.25, 0.5]]
    np.testing.assert_allclose(page.evaluate(spans), [[low, high]] * 2, atol=0.2)
    page.mouse.dblclick(box["x"] + 100, middle)
    assert page.evaluate(spans) == whole
    page.locator(".plot[data-name=record] .tool", has_text="+").click()
    assert page.evaluate(spans)[0][1] == pytest.approx(0.75 * whole[0][1], rel=1e-6)
    page.locator(".plot[data-name=record] .tool", has_text="reset").click()
    assert page.evaluate(spans) == whole


def test_the_legend_hides_and_shows(page):
    lines = page.locator(".plot[data-name=correlation] svg.panel path.line.blue")
    assert lines.count() == 2
    entry = page.locator(".plot[data-name=correlation] button.entry", has_text="fit")
    entry.click()
    assert lines.count() == 0
    assert entry.get_attribute("aria-pressed") == "false"
    entry.click()
    assert lines.count() == 2


def test_the_table_is_copied_and_saved(page, ensemble):
    model, _, _ = ensemble
    page.locator("button.copy").first.click()
    page.get_by_text("copied", exact=True).wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    rows = [line.split("\t") for line in copied.splitlines()]
    assert rows[0][:2] == ["mode", "frequency"]
    np.testing.assert_allclose([float(r[1]) for r in rows[1:]], model.modes.frequencies)
    with page.expect_download() as waiting:
        page.locator("a.csv").first.click()
    assert waiting.value.suggested_filename == "modes.csv"
    assert waiting.value.path().read_text(encoding="utf-8") == copied.replace("\t", ",")


def colours(page):
    return page.evaluate(
        """[getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.querySelector('svg.panel path.line.blue')).stroke,
        getComputedStyle(document.querySelector('svg.panel text')).fill]"""
    )


def test_dark_mode_changes_the_figures_and_paper_is_light(page):
    page.emulate_media(color_scheme="light")
    light = colours(page)
    page.emulate_media(color_scheme="dark")
    dark = colours(page)
    assert all(a != b for a, b in zip(light, dark, strict=True))
    assert sum(map(int, re.findall(r"\d+", dark[0]))) < 120
    page.emulate_media(color_scheme="dark", media="print")
    assert colours(page)[1:] == light[1:]
    page.emulate_media(color_scheme="light", media="screen")


def fits(page):
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    widths = page.evaluate(
        "[...document.querySelectorAll('svg.panel')]"
        ".map((panel) => panel.getBoundingClientRect().width)"
    )
    return wide == inner == 400 and min(widths) > 300 and max(widths) < 400


def test_a_phone_needs_no_sideways_scrolling(phone, visit, lossy, tmp_path):
    assert fits(phone)
    lossy[0].report(tmp_path / "lossy.html", lossy[1])
    assert fits(visit(tmp_path / "lossy.html", viewport={"width": 400, "height": 800}))


def test_a_finger_reads_values(phone):
    box = pad(phone, "forecast")
    phone.touchscreen.tap(box["x"] + 0.7 * box["width"], box["y"] + 0.5 * box["height"])
    assert "forecast: " in phone.locator(".plot[data-name=forecast] .tip").inner_text()


def test_names_of_a_user_are_words(visit, tmp_path):
    values = systems.chain(3, observed=[0, 2]).free(100, 0.1, noise=0.1, rng=0).trials[0]
    bad = ["<img src=x onerror=alert(1)>", "</script><script>window.bad=1</script>"]
    record = prism.Record(values, dt=0.1, channels=bad)
    prism.identify(record, mass="identity").report(tmp_path / "bad.html", record)
    page = visit(tmp_path / "bad.html")
    assert page.evaluate("window.bad") is None
    assert page.locator("img").count() == 0
    box = pad(page, "record")
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    assert bad[0] in page.locator(".plot[data-name=record] .tip").inner_text()


def test_paper_cuts_nothing_off(visit, ensemble, lossy, tmp_path):
    lossy[0].report(tmp_path / "lossy.html", lossy[1])
    for path in (ensemble[2], tmp_path / "lossy.html"):
        page = visit(path)
        page.set_viewport_size({"width": 680, "height": 960})  # of A4 between its margins
        page.emulate_media(media="print")
        right = page.evaluate(
            "Math.max(...[...document.querySelectorAll('svg.panel, table, math, pre')]"
            ".map((one) => one.getBoundingClientRect().left + one.scrollWidth))"
        )
        assert right <= 680
        assert page.locator(".tools").first.is_hidden()


def test_a_million_samples(browser, tmp_path):
    record = systems.chain().free(100_000, 0.1, noise=0.1, rng=0)
    # The model of a short part stands for that of the whole: only drawing is measured here.
    model = prism.identify(record.head(0.02))
    path = tmp_path / "million.html"
    model.report(path, record)
    assert path.stat().st_size < 1_000_000
    page = open_page(browser, path)
    assert_quiet(page)
    assert sum(marks(page, "record").values()) < 10_000
    # The time that the page keeps a processor busy: on an idle machine it opens as fast.
    meter = page.context.new_cdp_session(page)
    meter.send("Performance.enable")
    page.reload()
    page.wait_for_function("document.documentElement.dataset.drawn === 'yes'")
    found = meter.send("Performance.getMetrics")["metrics"]
    assert next(one["value"] for one in found if one["name"] == "ThreadTime") < 3.0
    page.context.close()
