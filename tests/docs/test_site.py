"""The documentation site builds without a warning, hangs together, and needs no network."""

import json
import re
import shutil
import subprocess
import sys
import threading
import zlib
from functools import cached_property, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import pytest
from tests.places import ROOT

import prism

for _needed in ("sphinx", "myst_parser", "furo", "latex2mathml"):
    pytest.importorskip(_needed)


class Page(HTMLParser):
    """What a page refers to, what it loads, and the places in it."""

    LOADS = (("script", "src"), ("img", "src"), ("iframe", "src"), ("link", "href"))

    def __init__(self, path):
        super().__init__()
        self.path, self.ids, self.links, self.loads = path, {""}, [], []
        self.text = path.read_text("utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids.add(given.get("id") or "")
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        self.loads += [given[name] for kind, name in self.LOADS if tag == kind and given.get(name)]


class Site:
    def __init__(self, folder):
        self.folder = folder

    @cached_property
    def pages(self):
        return {path: Page(path) for path in sorted(self.folder.rglob("*.html"))}

    def page(self, name):
        return self.pages[self.folder / name]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, with the code of one page run; tests/docs/test_docs.py runs that of all."""
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("site")
    command = [
        *(sys.executable, "-m", "sphinx", "-q", "-E", "-n", "-W", "--keep-going"),
        *("-D", "run_pages=tutorials/chain", "-d", folder / "doctrees"),
        *("-b", "html", ROOT / "docs", folder / "html"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return Site(folder / "html")


def test_every_page_is_there(site):
    written = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    for page in written:
        if page.parts[0] != "_build":
            assert (site.folder / page.with_suffix(".html")).exists(), page


def test_internal_links_lead_somewhere(site):
    checked = 0
    for path, page in site.pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.name}: {link}"
            if target in site.pages and path.name not in ("search.html", "genindex.html"):
                assert unquote(parts.fragment) in site.pages[target].ids, f"{path.name}: {link}"
            checked += 1
    assert checked > 500


def test_nothing_is_loaded_from_elsewhere(site):
    for path, page in site.pages.items():
        assert page.loads
        for link in page.loads:
            parts = urlsplit(link)
            assert not parts.scheme, f"{path.name} loads {link}"
            assert not parts.netloc, f"{path.name} loads {link}"
            if parts.path:
                assert (path.parent / unquote(parts.path)).exists(), f"{path.name}: {link}"
    for sheet in site.folder.rglob("*.css"):
        text = sheet.read_text("utf-8")
        loaded = re.findall(r"url\(['\"]?([^)'\"]+)", text) + re.findall(r"@import (\S+)", text)
        assert not [link for link in loaded if urlsplit(link).scheme not in ("", "data")], sheet


PROBE = """<head><script>
const seen = {errors: [], asked: []};
addEventListener("error", event => seen.errors.push(event.message || "not loaded"), true);
addEventListener("load", () => setTimeout(() => {
  seen.asked = performance.getEntriesByType("resource").map(entry => entry.name);
  document.body.dataset.seen = encodeURIComponent(JSON.stringify(seen));
}, 200));
</script>"""


@pytest.fixture(scope="module")
def served(site):
    """The address of the site on this machine: a page from a file does not tell what it loads."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *words):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site.folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("name", ["theory", "tutorials/chain"])
def test_a_browser_asks_nothing_of_the_network(name, site, served, tmp_path):
    text = site.page(f"{name}.html").text.replace("<head>", PROBE, 1)
    (site.folder / f"{name}-probe.html").write_text(text, "utf-8")
    command = [
        *("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"),
        *(f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=4000"),
        f"{served}{name}-probe.html",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    seen = json.loads(unquote(re.search(r'data-seen="([^"]+)"', done.stdout)[1]))
    assert seen["errors"] == []
    assert any("prism.css" in url for url in seen["asked"])
    assert [url for url in seen["asked"] if not url.startswith((served, "data:"))] == []


def test_formulas_are_set_when_built(site):
    theory = site.page("theory.html")
    assert theory.text.count("<math") > 80
    for number in range(1, 6):
        assert f"equation-theory-{number}" in theory.ids
        assert f'href="#equation-theory-{number}">({number})</a>' in theory.text
    for page in site.pages.values():
        assert not [link for link in page.loads if "jax" in link.lower()]
        assert r"\frac" not in re.sub(r"<pre>.*?</pre>", "", page.text, flags=re.DOTALL)


def test_citations_of_the_theory_are_links(site):
    assert "theory.html#equation-theory-2" in "".join(site.page("api/main.html").links)
    assert "THEORY" not in site.page("api/main.html").text


def documented(site):
    """Names in the reference, from its inventory."""
    raw = (site.folder / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(raw).decode().splitlines()
    return {line.split(" ")[0] for line in lines if " py:" in line}


def test_every_public_name_is_in_the_reference(site):
    names = documented(site)
    rooms = {"io", "systems", "errors"}
    for name in set(prism.__all__) - rooms - {"__version__"}:
        assert f"prism.{name}" in names
    for room in rooms:
        for name in getattr(prism, room).__all__:
            home = f"prism.{room}.{name}"
            known = {home, f"prism.{name}"} & names
            assert known or name.isupper(), home


def test_the_command_line_is_complete(site):
    from typer.main import get_command

    from prism.cli._app import make_app

    page = site.page("commands.html")
    for name, command in get_command(make_app()).commands.items():
        assert f"prism-{name}" in page.ids
        for option in command.params:
            for spelling in option.opts:
                if spelling.startswith("--"):
                    assert spelling in page.text, f"{name} {spelling}"


def test_what_code_does_is_shown_below_it(site):
    page = site.page("tutorials/chain.html")
    assert page.text.count('class="figure"') == 4
    assert (site.folder / "_images" / "tutorials-chain-spectrum.svg").exists()
    assert "0.34729" in page.text
    assert "output" in page.text
    assert 'class="figure"' not in site.page("tutorials/gaps.html").text


def test_the_house_is_drawn_in_the_colours_of_the_page(site):
    page = site.page("architecture.html")
    assert '<svg xmlns="http://www.w3.org/2000/svg" class="house"' in page.text
    assert "currentColor" in page.text
