"""Text and page of forced experiments."""

import re
from dataclasses import replace

import numpy as np

import prism
from prism import systems
from prism.motion.forced.zeros import Zero
from prism.report.html import html_page
from prism.report.tables import facts, mode_table
from prism.report.text import WIDTH, layout, summary
from prism.report.zeros import zero_table


def figures(page):
    """Names of the figures of a page."""
    return re.findall(r'<div class="plot" data-name="(\w+)"', page)


def with_zeros(model, *zeros):
    return replace(model, response=replace(model.response, zeros=zeros))


def test_facts_of_a_response(cart, lossy):
    said = dict(facts(cart[0]))
    assert said["experiment"] == "forced"
    assert said["ports"] == "x (displacement per force)"
    assert said["measured"] == "x/x (output/input)"
    assert said["response"] == "300 lines, ω = 0.5 to 4 rad per time unit, none missing"
    assert "10 % of each value" in said["noise"]
    assert said["damping"].startswith("none")
    assert dict(facts(lossy[0]))["measured"] == "all 9 pairs of output and input"


def test_facts_of_a_forced_record(shaken):
    said = dict(facts(shaken[0]))
    assert said["ports"] == "x (displacement)"
    assert said["record"].startswith("1500 samples, dt = 0.1")
    assert said["noise"].startswith("white noise")
    assert said["damping"].startswith("viscous")
    assert "response" not in said


def test_many_pairs_are_cut(cart):
    model = cart[0]
    pairs = tuple((f"y{k}", "x") for k in range(30))
    many = replace(model, response=replace(model.response, pairs=pairs))
    assert dict(facts(many))["measured"].endswith("y11/x and 18 more (output/input)")


def test_modes_have_no_amplitude_and_show_where_they_are(cart, lossy):
    table = mode_table(cart[0])
    assert table.headers == ("mode", "Ω", "Ω/2π", "signif.", "d(x)")
    assert [row[0] for row in table.rows] == ["1", "2†"]
    assert table.notes == ("† outside the measured band: it stands for all modes there.",)
    table = mode_table(lossy[0])
    assert table.headers[3] == "ζ"
    assert all(re.match(r"0\.0(09|10)\d*\(\d+\)", row[3]) for row in table.rows)


def test_a_mode_without_significance_has_a_dash(cart):
    modes = replace(cart[0].modes, significance=np.array([558.0, 0.0]))
    assert [row[3] for row in mode_table(replace(cart[0], modes=modes)).rows] == ["558 σ", "–"]


def test_summary_of_a_forced_experiment(cart, lossy):
    text = summary(cart[0])
    assert text.startswith(f"PRISM {prism.__version__}: 2 modes at 1 port, 1 hidden oscillator")
    assert "Zeros (anti-resonances, rad per time unit)" in text
    assert "conservative part" not in text
    text = summary(lossy[0])
    assert "6 modes at 3 ports, 3 hidden oscillators" in text
    assert "conservative part of the model" in text
    assert all(len(line) <= WIDTH for line in text.splitlines())


def test_saved_models_say_the_same(tmp_path, cart, lossy, shaken):
    for model, data in (cart, lossy, shaken):
        model.save(tmp_path / "m.json")
        again = prism.load(tmp_path / "m.json")
        assert summary(again) == summary(model)
        if len(model.channels) == 1:
            assert html_page(again, data) == html_page(model, data)


# ------------------------------------------------------------------ zeros


def test_zeros_are_listed_by_entry(lossy):
    table = zero_table(lossy[0], 100)
    entries = [row[0] for row in table.rows]
    assert list(dict.fromkeys(entries))[-1] == "all ports"
    assert "q3/q1" not in entries
    assert "q1/q3" in entries
    assert table.headers == ("entry", "ω", "ω/2π", "ζ")
    whole = [float(row[1].split("(")[0]) for row in table.rows if row[0] == "all ports"]
    np.testing.assert_allclose(whole, lossy[0].hamiltonian.hidden_frequencies, rtol=1e-2)
    assert any("listed once" in note for note in table.notes)


def test_many_zeros_are_cut_evenly(lossy):
    every = zero_table(lossy[0], 100)
    table = zero_table(lossy[0], 5)
    entries = [row[0] for row in table.rows]
    assert max(entries.count(entry) for entry in entries) == 3
    left = len(every.rows) - len(table.rows)
    assert table.notes[0] == (
        f"The lowest 3 of each entry; {left} more inside the band are in the model file."
    )


def test_other_zeros_are_told_in_words(cart):
    a = (("x",), ("x",))
    model = with_zeros(
        cart[0],
        Zero(*a, 1.0, 0.1, -0.02, True),
        Zero(*a, 2.0, 0.1, -0.5, False),
        Zero(*a, 9.0, np.inf, 0.0, False),
        Zero(*a, 0.0, 0.1, -1.0, False),
    )
    table = zero_table(model, 10)
    assert table.rows == (("x/x", "1.00(10)", "0.159(16)", "-0.02"),)
    assert table.notes == (
        "A negative ζ is a zero in the right half plane.",
        "Outside the measured band: 1 of x/x.",
        "Off the axis, where the response has no sharp minimum: x/x at ω = 2.00(10) with ζ = -0.5 "
        "(right half plane).",
        "Pairs of real zeros ±s, which belong to no frequency: 1 of x/x.",
    )


def test_very_many_other_zeros_are_counted(cart):
    zeros = [Zero((f"y{k}",), ("x",), 2.0, 0.1, 0.5 * (-1) ** k, False) for k in range(8)]
    (note,) = zero_table(with_zeros(cart[0], *zeros), 10).notes
    assert "1 of y0/x, 1 of y1/x, 1 of y2/x, 1 of y3/x, 4 of other entries" in note
    assert "(4 in the right half plane)" in note


def test_zeros_outside_the_band_alone_make_no_table(cart):
    model = with_zeros(cart[0], Zero(("x",), ("x",), 9.0, 0.1, 0.0, False))
    assert layout(zero_table(model, 10)) == ["  Outside the measured band: 1 of x/x."]
    assert "<th>entry</th>" not in html_page(model)
    assert "Outside the measured band: 1 of x/x." in html_page(model)
    assert zero_table(with_zeros(cart[0]), 10) is None
    assert "anti-resonances" not in summary(with_zeros(cart[0]))


def test_free_models_have_no_zeros():
    record = systems.chain(2).free(100, 0.1, noise=0.1, rng=0)
    assert zero_table(prism.identify(record), 10) is None


# ------------------------------------------------------------------ page


def test_page_of_a_response(cart, lossy, tmp_path):
    model, response = cart
    page = html_page(model, response)
    assert "<title>PRISM: what the response shows</title>" in page
    assert figures(page) == ["response", "poles", "kernel"]
    for heading in (
        "Response",
        "Poles and zeros",
        "Hamiltonian",
        "Zeros (anti-resonances)",
        "Hidden modes",
        "Memory kernel",
    ):
        assert f"<h2>{heading}</h2>" in page
    assert "<h2>Forecast</h2>" not in page
    assert "no limit" in page
    page = html_page(*lossy)
    assert "conservative part" in page
    assert len(page) < 1_500_000
    model.report(tmp_path / "r.html", response)
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == html_page(model, response)


def test_page_without_the_response(cart, shaken):
    page = html_page(cart[0])
    assert "Magnitude and phase of the response that was fitted." in page
    assert figures(page) == ["response", "poles", "kernel"]
    page = html_page(*shaken)
    assert "<title>PRISM: what the record shows</title>" in page
    assert figures(page) == ["record", "response", "poles", "kernel"]


def test_page_says_what_is_not_drawn():
    chain = systems.chain(4, observed=[0, 1, 2, 3])
    full = chain.response(np.linspace(0.1, 2.2, 200), loss=0.02, noise=0.01, rng=0)
    assert "7 more entries are not drawn." in html_page(prism.identify(full), full)
