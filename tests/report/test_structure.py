"""The moving structure of a page: what it holds, and how it behaves in a browser."""

import json
import re
import time
from dataclasses import replace

import numpy as np
import pytest
from tests.report.test_browser import assert_quiet, open_page
from tests.report_kinds import KINDS

import prism
from prism.report.html import html_page

TOWER = prism.Geometry(
    ["0", "1", "2"],
    [[0, 0, 0], [0, 0, 3], [0, 0, 6]],
    [("0", "1"), ("1", "2")],
    {"left": "1x", "right": "2x"},
)


@pytest.fixture(scope="module")
def decay():
    return KINDS["decay"]()[0]


def values(page):
    found = re.search(r'id="values-structure">(.*?)</script>', page)
    return json.loads(found[1])


def test_a_page_holds_the_structure(decay):
    page = html_page(decay, geometry=TOWER)
    held = values(page)
    assert held["nodes"] == ["0", "1", "2"]
    assert held["positions"] == [0, 0, 0, 0, 0, 3, 0, 0, 6]
    assert (held["lines"], held["seen"], held["eye"]) == ([0, 1, 1, 2], [1, 2], [-90, 0])
    first = held["modes"][0]
    assert first["name"] == "mode 1"
    assert [words[:3] for words in first["values"]] == ["Ω =", "ζ ="]
    assert first["imaginary"] is None
    assert first["real"][3] / first["real"][0] == pytest.approx(
        decay.modes.shapes[0, 1] / decay.modes.shapes[0, 0], rel=1e-6
    )
    assert first["notes"][0].startswith("left ")
    assert "Modes on the structure" in page
    assert "Nodes without a channel, open ones, are drawn at rest." in page


def test_a_page_without_a_geometry_has_none(decay):
    assert "Modes on the structure" not in html_page(decay)


def test_a_motion_without_lines_has_no_structure(decay):
    none = replace(decay, modes=prism.Modes.none(2, 1), trajectories=None)
    assert "Modes on the structure" not in html_page(none, geometry=TOWER)


def test_what_is_left_out_is_said(decay):
    page = html_page(decay, geometry=prism.Geometry(["1"], [[0, 0, 0]], (), {"left": "1x"}))
    assert "Not drawn, because they have no place or measure a rotation: right." in page
    assert "open ones" not in page


def test_modes_that_turn(decay):
    moduli, phases = np.array([[0.6, 0.8]] * 2), np.array([[0.0, 1.0]] * 2)
    modes = replace(decay.modes, moduli=moduli, moduli_std=moduli, phases=phases)
    turning = replace(decay, modes=modes)
    page = html_page(turning, geometry=TOWER)
    assert "rings with an arrow are the ways of nodes" in page
    assert np.any(values(page)["modes"][0]["imaginary"])


# -- in a browser ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def path(decay, tmp_path_factory):
    path = tmp_path_factory.mktemp("structure") / "tower.html"
    decay.report(path, geometry=TOWER)
    return path


@pytest.fixture
def visit(browser):
    opened = []

    def go(path, **options):
        opened.append(open_page(browser, path, **options))
        opened[-1].locator("svg.stage").scroll_into_view_if_needed()
        return opened[-1]

    yield go
    for page in opened:
        assert_quiet(page)
        page.context.close()


def scene(page, expression):
    return page.evaluate(f"document.querySelector('.structure').scene.{expression}")


def until(page, expression, seconds=60):
    """Wait for the scene; the page lets no program of another wait inside it."""
    end = time.monotonic() + seconds
    while not scene(page, expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)


def drawn(page, look):
    return page.locator(f"svg.stage path.{look}").first.get_attribute("d")


def test_it_stands_still_where_motion_is_not_wanted(visit, path):
    page = visit(path, reduced_motion="reduce")
    page.wait_for_timeout(300)
    assert (scene(page, "phase"), scene(page, "playing")) == (0, False)
    assert drawn(page, "shape")
    assert drawn(page, "dash4")  # the other end stands beside it
    assert page.locator("button.choice svg").count() == 2  # all modes can be seen without moving
    page.get_by_role("button", name="play").click()  # who asks for it gets it
    until(page, "phase > 0.1")


def test_it_moves_while_it_is_in_sight(visit, path):
    page = visit(path)
    until(page, "phase > 0.1")
    before = drawn(page, "shape")
    until(page, "phase > 0.3")
    assert drawn(page, "shape") != before
    assert drawn(page, "dash4") == ""
    page.get_by_role("button", name="pause").click()
    still = scene(page, "phase")
    page.wait_for_timeout(150)
    assert scene(page, "phase") == still
    page.get_by_role("button", name="play").click()
    page.evaluate("scrollTo(0, 0)")
    until(page, "inSight === false")
    gone = scene(page, "phase")
    page.wait_for_timeout(150)
    assert scene(page, "phase") == gone


def test_the_phase_can_be_set(visit, path):
    page = visit(path, reduced_motion="reduce")
    ends = page.evaluate("document.querySelector('.structure').scene.at")
    page.get_by_label("phase in degrees").fill("180")
    other = page.evaluate("document.querySelector('.structure').scene.at")
    rest = page.evaluate("document.querySelector('.structure').scene.view.rest")
    np.testing.assert_allclose(np.add(ends, other), 2 * np.array(rest), atol=1e-9)
    page.get_by_label("phase in degrees").fill("90")
    np.testing.assert_allclose(scene(page, "at"), rest, atol=1e-9)


def test_modes_and_sides_can_be_chosen(visit, path, decay):
    page = visit(path, reduced_motion="reduce")
    before = drawn(page, "shape")
    page.locator("button.choice").nth(1).click()
    assert drawn(page, "shape") != before
    assert page.locator(".mode-name").inner_text().startswith("mode 2: Ω = 3.09")
    assert page.locator("button.choice").nth(1).get_attribute("aria-pressed") == "true"
    assert "mode 2" in page.locator("svg.stage").get_attribute("aria-label")
    page.get_by_role("button", name="oblique").click()
    assert scene(page, "eye") == [-60, 22]
    page.locator("svg.stage").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    assert scene(page, "eye") == [-55, 27]
    box = page.locator("svg.stage").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 140, box["y"] + 60)
    page.mouse.up()
    assert scene(page, "eye") == [-75, 27]
    page.locator(".structure").get_by_role("button", name="+", exact=True).click()
    assert scene(page, "size") == pytest.approx(1.5)


def test_nodes_are_named(visit, path):
    page = visit(path, reduced_motion="reduce")
    box = page.locator("svg.stage").bounding_box()
    for node, words in ((2, "node 2\nright "), (0, "no channel: drawn at rest")):
        x, y = page.evaluate(
            "(k) => { const s = document.querySelector('.structure').scene; "
            "return s.pixel(s.at[k]); }",
            node,
        )
        page.mouse.move(box["x"] + x, box["y"] + y)
        assert words in page.locator(".structure .tip").inner_text()


def test_paper_shows_one_end(visit, path):
    page = visit(path)
    until(page, "phase > 0.1")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (scene(page, "phase"), scene(page, "playing")) == (0, False)
    page.emulate_media(media="print")
    assert page.locator(".structure .tools").is_hidden()
    assert page.locator("button.choice svg").first.is_visible()


def test_everything_stays_in_the_picture(visit, path):
    for width in (1100, 360):
        page = visit(path, reduced_motion="reduce", viewport={"width": width, "height": 800})
        for side in ("oblique", "x", "y", "z"):
            page.get_by_role("button", name=side, exact=True).click()
            page.get_by_label("phase in degrees").fill("0")
            inside = page.evaluate(
                """() => { const s = document.querySelector('.structure').scene;
                const [w, h] = [s.stage.viewBox.baseVal.width, s.height];
                return s.at.every((at) => { const [x, y] = s.pixel(at);
                return x > 0 && y > 0 && x < w && y < h; }); }"""
            )
            assert inside, (width, side)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_names_of_a_user_are_words(visit, decay, tmp_path):
    bad = "</script><script>window.bad=1</script>"
    tower = prism.Geometry([bad, "2"], [[0, 0, 0], [0, 0, 1]], (), {"left": f"{bad}:x"})
    decay.report(tmp_path / "bad.html", geometry=tower)
    page = visit(tmp_path / "bad.html", reduced_motion="reduce")
    assert page.evaluate("window.bad") is None
    assert scene(page, "nodes[0]") == bad
