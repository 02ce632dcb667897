"""The page of ``prism app``, run without a browser."""

import io
import re
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import prism
from prism import systems
from prism.cli import main
from prism.errors import CannotTellError, OptionError, ReadError
from prism.plot import PotentialView, views

pytest.importorskip("streamlit", reason="the app needs the extra app")
pytest.importorskip("plotly", reason="the app needs the extra app")

from streamlit.testing.v1 import AppTest

from prism.app import charts, server, upload
from prism.app.jobs import Job
from prism.app.results import Answer
from prism.app.words import html_table, plain
from prism.options import Choice, Option, add_choice, forget, register
from prism.options.values import Flag, Names, Number, OneOf, Whole
from prism.report.csv import write_modes
from prism.report.tables import Table

PAGE = Path(server.__file__).with_name("page.py")
CHAIN = systems.chain()
EXACT = CHAIN.frequencies


def open_page():
    page = AppTest.from_file(str(PAGE), default_timeout=60).run()
    assert not page.exception
    return page


def drop(*files):
    """Open the page and drop files, given by name and contents."""
    page = open_page()
    page.file_uploader[0].set_value([(name, data, "application/x") for name, data in files])
    page.run()
    assert not page.exception
    return page


def identify(page):
    page.button(key="identify").click().run()
    end = time.monotonic() + 60
    while "job" in page.session_state and time.monotonic() < end:
        page.run()
    assert not page.exception
    return page


def model_of(page):
    answer = page.session_state["answer"]
    assert isinstance(answer, Answer), answer
    return answer.model


def texts(elements):
    return [element.value.replace("\\", "") for element in elements]


def tables(page):
    return " ".join(element.proto.body for element in page.get("html"))


def find(elements, label):
    (found,) = [element for element in elements if element.label == label]
    return found


def csv_of(record, names=("t", "q1", "q4"), delimiter=",", decimal="."):
    rows = np.column_stack([record.times[0], record.trials[0]])
    lines = [delimiter.join(names)] if names else []
    for row in rows:
        lines.append(delimiter.join(f"{value:.6f}".replace(".", decimal) for value in row))
    return "\n".join(lines).encode("utf-8")


def written(data, suffix):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"data{suffix}")
        prism.io.write(data, path)
        return path.read_bytes()


@pytest.fixture(scope="module")
def record():
    return CHAIN.free(200.0, 0.2, noise=0.05, rng=3)


# -- one's own record -----------------------------------------------------------------------------


def test_the_example_is_identified_and_the_verdict_comes_first():
    page = open_page()
    page.button(key="try").click().run()
    assert "chain.csv (csv)" in tables(page)
    identify(page)
    assert np.allclose(model_of(page).modes.frequencies, EXACT, rtol=1e-3)
    verdict = texts(page.info)[0]
    assert verdict.startswith("**4 modes in 2 channels; the Hamiltonian is not determined.**")
    assert "What would settle it" in verdict
    assert "0.34729" in tables(page)
    assert [tab.label for tab in page.tabs[1:-1]] == [
        "Record",
        "Spectrum",
        "Correlation",
        "Shapes",
        "Poles and zeros",
        "Forecast",
        "Certificate",
    ]


@pytest.mark.parametrize(
    ("names", "delimiter", "decimal"),
    [
        (("Zeit [s]", "Weg*_links|$x$", "<b>y</b>"), ";", "."),  # no name of a time, and markup
        (("t (s)", "x", "y"), ";", ","),
        ((), "\t", "."),
    ],
)
def test_odd_tables_are_read(record, names, delimiter, decimal):
    page = drop(("bench.csv", csv_of(record, names, delimiter, decimal)))
    assert not page.error
    identify(page)
    assert np.allclose(model_of(page).modes.frequencies, EXACT, rtol=1e-3)
    assert model_of(page).channels == (names[1:] or ("x1", "x2"))
    assert "<b>y</b>" not in tables(page)


def test_a_file_without_times_is_asked_for_its_step(record):
    buffer = io.BytesIO()
    np.save(buffer, record.trials[0])
    page = drop(("bench.npy", buffer.getvalue()))
    assert "Give the time between two samples." in texts(page.info)
    assert not [button for button in page.button if button.key == "identify"]
    find(page.number_input, "Time between two samples").set_value(0.2).run()
    identify(page)
    assert np.allclose(model_of(page).modes.frequencies, EXACT, rtol=1e-3)


def test_one_of_several_arrays_can_be_chosen(record):
    buffer = io.BytesIO()
    np.savez(buffer, dt=0.2, data=record.trials[0], other=record.trials[0][:, :1])
    page = drop(("bench.npz", buffer.getvalue()))
    find(page.selectbox, "Array with the values").select("other").run()
    assert model_of(identify(page)).channels == ("x1",)


def test_arrays_without_a_usual_name_are_asked_for(record):
    buffer = io.BytesIO()
    np.savez(buffer, dt=0.2, foo=record.trials[0], bar=record.trials[0][:, :1])
    page = drop(("bench.npz", buffer.getvalue()))
    assert "several arrays could be the values" in texts(page.error)[0]
    find(page.text_input, "Array with the values").input("foo").run()
    assert not page.error
    assert model_of(identify(page)).channels == ("x1", "x2")


def test_channels_and_quantities_can_be_chosen(record):
    page = drop(("bench.csv", csv_of(record)))
    find(page.selectbox, "What they measure").select("not the same on all channels").run()
    find(page.selectbox, "q4 measures").select("velocity").run()
    assert model_of(identify(page)).quantity == ("displacement", "velocity")
    find(page.multiselect, "Channels to use").unselect("q4").run()
    assert "The choices have changed: press Identify for a new answer." in texts(page.info)
    assert model_of(identify(page)).channels == ("q1",)


def test_many_channels_are_picked_from_a_field_that_shows_all():
    record = systems.chain(14, observed=range(14)).free(100.0, 0.3, noise=0.05, rng=0)
    page = drop(("array.csv", csv_of(record, ("t", *record.channels))))
    assert not [box for box in page.multiselect if box.label == "Channels to use"]
    picker = find(page.pills, "Channels to use")
    assert picker.value == list(record.channels)
    assert "14 of 14 are used." in texts(page.caption)
    next(button for button in page.button if button.label == "None").click().run()
    assert "Choose at least one channel." in texts(page.info)
    find(page.pills, "Channels to use").set_value(["q14", "q2", "q7"]).run()
    assert "3 of 14 are used." in texts(page.caption)
    assert model_of(identify(page)).channels == ("q2", "q7", "q14")
    next(button for button in page.button if button.label == "All").click().run()
    assert find(page.pills, "Channels to use").value == list(record.channels)
    assert not page.exception


def test_a_name_chooses_the_quantity_and_says_so(record):
    page = drop(("bench.csv", csv_of(record, ("t", "acc", "Accel 2"))))
    assert find(page.selectbox, "What they measure").value == "acceleration"
    assert any(
        text.startswith("acc, Accel 2 are called like acceleration") for text in texts(page.caption)
    )
    page = drop(("bench.csv", csv_of(record, ("t", "acc", "pos"))))
    assert find(page.selectbox, "acc measures").value == "acceleration"
    assert find(page.selectbox, "pos measures").value == "displacement"


def test_a_verdict_speaks_of_the_page(record):
    said = texts(identify(drop(("bench.csv", csv_of(record)))).info)[0]
    assert "(“Thermal equilibrium” at What was done)" in said
    assert "experiment=" not in said


def test_an_ensemble_with_a_known_mass_shows_what_is_hidden():
    record = CHAIN.equilibrium(60.0, 0.3, trials=40, noise=0.1, rng=0)
    page = drop(("ensemble.csv", written(record, ".csv")))
    find(page.radio, "What was done").set_value("equilibrium").run()
    find(page.text_input, "Known mass").input("1, 1").run()
    find(page.slider, "Fit the first part of the record").set_value(80).run()
    model = model_of(identify(page))
    assert len(model.hamiltonian.hidden_frequencies) == 2
    assert model.forecast_check.fit_fraction == 0.8
    assert {"Memory kernel", "Equations"} <= {tab.label for tab in page.tabs}
    assert "h1''" in page.code[0].value
    assert "2 hidden oscillators" in texts(page.success)[0]
    assert "noise alone" in tables(page)


def test_losses_are_found_and_can_be_insisted_on():
    t = 0.1 * np.arange(1500)
    decay = np.exp(-0.02 * t) * np.cos(2 * t) + 0.02 * np.random.default_rng(0).normal(size=1500)
    page = drop(("decay.csv", csv_of(prism.Record(decay, dt=0.1), ("t", "x"))))
    assert model_of(identify(page)).kind == "decaying"
    find(page.selectbox, "How it moves").select("steady").run()
    assert model_of(identify(page)).kind == "steady"
    find(page.selectbox, "How it moves").select("damped").run()
    assert not [box for box in page.text_input if box.label == "Known mass"]
    model = model_of(identify(page))
    assert np.allclose(model.modes.damping, 0.01, rtol=0.1)
    assert "ζ" in tables(page)


ASKED = (
    Option("pitch", Number(0.0), label="Its pitch", help="A frequency.", example="440"),
    Option("count", Whole(1), default=2, label="How many", help="A number of them."),
    Option("loud", Flag(), label="It is loud", help="Whether it is."),
    Option("sort", OneOf(), choices=(Choice("a", "First sort"), Choice("b")), help="Which."),
    Option("names", Names(), label="Their names", help="With commas between them."),
)


@pytest.fixture
def registered():
    for option in ASKED:
        register(option)
    add_choice("kind", Choice("tone", "a tone of known pitch"))
    yield
    forget("kind", "tone")
    for option in ASKED:
        forget(option.name)


def test_a_kind_that_came_later_is_asked_for_by_itself(record, registered, monkeypatch):
    asked = []

    def refuse(data, *, progress, **options):
        asked.append(options)
        raise CannotTellError("no.")

    page = drop(("bench.csv", csv_of(record)))
    monkeypatch.setattr(prism, "identify", refuse)  # what was played with is remembered
    identify(page)
    find(page.selectbox, "How it moves").select("tone").run()
    find(page.number_input, "Its pitch").set_value(440.0).run()
    find(page.number_input, "How many").set_value(3).run()
    find(page.checkbox, "It is loud").check().run()
    find(page.selectbox, "sort").select("a").run()
    find(page.text_input, "Their names").input("p, q").run()
    identify(page)
    plain, tone = asked
    assert not set(plain) & {option.name for option in ASKED}
    assert tone == {
        "experiment": "free",
        "fit_fraction": None,
        "kind": "tone",
        "pitch": 440.0,
        "count": 3,
        "loud": True,
        "sort": "a",
        "names": ["p", "q"],
    }


def test_several_files_are_trials(record):
    page = drop(("a.csv", csv_of(record)), ("b.csv", csv_of(record.head(0.5))))
    assert "The first of 2 files; the others are read like it." in texts(page.caption)
    assert model_of(identify(page)).record.samples == (1000, 500)


def test_forces_are_recognised_by_their_names():
    absorber = systems.tuned_absorber()
    push = systems.excitation("random", 0.3, 1.6, 0.2, 200.0, np.random.default_rng(0))
    done = systems.forced(absorber, push[:, None], 0.2, loss=0.01, noise=0.02, rng=1)
    page = drop(("shaker.csv", written(done.with_force(), ".csv")))
    assert find(page.radio, "What was done").value == "forced"
    assert find(page.multiselect, "Channels that are forces").value == ["f_x"]
    model = model_of(identify(page))
    assert np.allclose(model.hamiltonian.hidden_frequencies, absorber.hidden_frequencies, rtol=0.02)
    assert page.tabs[1].label == "Response"


def test_a_response_is_a_forced_experiment():
    omega = np.linspace(0.17, 2.3, 150)
    response = CHAIN.response(omega, loss=0.01, noise=0.02, rng=0)
    page = drop(("frf.csv", written(response, ".csv")))
    assert find(page.radio, "The file holds").value == "a response over frequency"
    assert "displacement per force" in tables(page)
    model = model_of(identify(page))
    assert np.allclose(model.hamiltonian.hidden_frequencies, CHAIN.hidden_frequencies, rtol=0.01)
    find(page.selectbox, "Output / input").select("q1 / q4").run()
    assert not page.exception
    assert {"Response", "Zeros"} <= {tab.label for tab in page.tabs}


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("bad.csv", b"t,x\n0,1\n0.1,hello\n0.2,3\n", "bad.csv, line 3, column 'x': 'hello' is not"),
        ("notes.docx", b"PK", "notes.docx: unknown format '.docx'"),
        ("empty.csv", b"", "empty.csv"),
    ],
)
def test_a_bad_file_is_refused_in_a_sentence_that_calls_it_by_its_name(name, data, words):
    page = drop((name, data))
    (sentence,) = texts(page.error)
    assert sentence.startswith(words)
    assert tempfile.gettempdir() not in sentence


def test_data_that_cannot_tell_are_refused_in_a_sentence():
    noise = np.random.default_rng(0).normal(size=400)
    page = drop(("noise.csv", csv_of(prism.Record(noise, dt=0.1), ("t", "x"))))
    identify(page)
    assert texts(page.error)[0].startswith("no line is significant")


def test_a_mass_that_is_no_number_is_refused(record):
    page = drop(("bench.csv", csv_of(record)))
    find(page.text_input, "Known mass").input("heavy").run()
    assert texts(page.error) == ["the mass is 'heavy': give numbers with commas between them."]


class Dropped:
    """A file as the page gives it."""

    def __init__(self, name, data):
        self.name, self.data = name, data

    def getvalue(self):
        return self.data


def test_a_large_file_is_sent_to_the_command_line():
    with pytest.raises(ReadError, match=r"big\.csv: 51 MB .* prism identify big\.csv"):
        upload.collect([Dropped("big.csv", bytes(51 * 2**20))])


def test_temporary_files_go_away(record, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    given = upload.collect([Dropped("../../a.csv", csv_of(record.head(0.3)))])
    with given.on_disk() as (path,):
        assert Path(path).name == "a.csv"
        assert tmp_path in Path(path).parents
    assert upload.describe(given).channels == ("q1", "q4")
    assert not list(tmp_path.iterdir())


def test_a_note_of_the_reader_is_kept():
    table = b"omega,H_x_x_re,H_x_x_im,coherence_x_x\n" + b"".join(
        f"{w},{1 / (1 - w * w)},0,1\n".encode() for w in np.linspace(0.2, 0.8, 20)
    )
    reading = upload.read_response(upload.collect([Dropped("frf.csv", table)]))
    assert str(reading.notes[0]).startswith("frf.csv: coherence_x_x is not used")


# -- work beside the page -------------------------------------------------------------------------


def test_work_says_how_far_it_is_and_can_be_stopped():
    def work(say):
        for step in range(1000):
            say(f"step {step}")
            time.sleep(0.01)

    job = Job(work)
    while not job.said:
        time.sleep(0.005)
    assert job.running
    job.stop()
    assert job.wait(5)
    assert job.error == "stopped before an answer was found."
    assert 0 < job.seconds < 5


def test_work_that_fails_says_so_in_a_sentence():
    def refuse(say):
        raise CannotTellError("no.")

    refused, broken = Job(refuse), Job(lambda say: 1 / 0)
    assert refused.wait(5)
    assert str(refused.error) == "no."
    assert broken.wait(5)
    assert str(broken.error).startswith(
        "this is a fault of PRISM (ZeroDivisionError: division by zero)"
    )


def test_the_page_does_not_wait_for_work_that_is_stopped(record, monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def endless(data, *, progress, **options):
        progress("3 lines")
        begun.set()
        ended.wait(30)

    page = drop(("bench.csv", csv_of(record)))
    monkeypatch.setattr(prism, "identify", endless)  # what was played with is remembered
    page.button(key="identify").click().run()
    assert begun.wait(10)
    page.run()
    assert page.status[0].label.endswith("s: 3 lines")
    page.button(key="stop").click().run()
    ended.set()
    assert texts(page.error) == ["stopped before an answer was found."]
    assert not page.status


# -- systems to play with -------------------------------------------------------------------------


@pytest.fixture
def toys():
    return open_page()


def test_the_truth_stands_beside_the_estimate(toys):
    shown = tables(toys)
    assert "resonance Ω1" in shown
    assert "hidden ω1" in shown
    assert "|c1(x)|" in shown
    assert texts(toys.success)[0].startswith("**2 modes in 1 channel, 1 hidden oscillator.**")


def test_without_coupling_the_hidden_mode_cannot_be_found(toys):
    toys.slider(key="absorber coupling").set_value(0.0).run()
    assert texts(toys.warning) == [
        "The mode at Ω = 0.8 does not move x at all: no measurement there can find it."
    ]
    assert texts(toys.success)[0].startswith("**1 mode in 1 channel, no hidden oscillator")


def test_a_free_record_leaves_the_energies_open(toys):
    toys.selectbox(key="play experiment").select("free").run()
    toys.checkbox(key="mass known").uncheck().run()
    assert "how strongly each mode was excited is unknown" in texts(toys.info)[0]


def test_a_mode_that_stands_still_where_one_looks_is_invisible(toys):
    toys.selectbox(key="system").select("chain").run()
    toys.slider(key="chain masses").set_value(3).run()
    toys.multiselect(key="chain seen 3").set_value(["q2"]).run()
    assert "The mode at Ω = 1.414 does not move q2 at all" in texts(toys.warning)[0]
    toys.multiselect(key="chain seen 3").set_value([]).run()
    assert "Choose at least one coordinate to be seen." in texts(toys.info)


def test_a_weak_mode_drowns_in_noise(toys):
    toys.slider(key="absorber coupling").set_value(0.02).run()
    toys.selectbox(key="play experiment").select("released").run()
    toys.slider(key="noise").set_value(60).run()
    assert "was not found: it does not stand out of the noise" in texts(toys.warning)[0]


@pytest.mark.parametrize("name", ["cart", "tank"])
@pytest.mark.parametrize("experiment", ["released", "forced"])
def test_every_system_can_be_played(toys, name, experiment):
    toys.selectbox(key="system").select(name).run()
    start = time.monotonic()
    toys.selectbox(key="play experiment").select(experiment).run()
    assert time.monotonic() - start < 10  # a second on a machine with nothing else to do
    assert not toys.exception
    assert toys.success


# -- words and charts -----------------------------------------------------------------------------


def test_words_of_a_user_are_no_markup():
    assert plain("a_b* $x$ <i>") == r"a\_b\* \$x\$ \<i\>"
    table = html_table(Table(("<b>",), (("<script>",),), notes=("a & b",)))
    assert "<script>" not in table
    assert "&lt;script&gt;" in table
    assert "a &amp; b" in table


def test_every_view_has_its_chart(record):
    x = np.linspace(-1.0, 1.0, 50)
    well = PotentialView("x", x, x**2, 0.1 * x**2, -2 * x, -0.8, 0.8, "x^2")
    omega = np.linspace(0.17, 2.3, 150)
    response = CHAIN.response(omega, loss=0.01, noise=0.02, rng=0)
    free = prism.identify(record)
    drawn = {
        **views(free, record),
        "potential": well,
        **views(prism.identify(response), response),
    }
    assert set(drawn) == {
        *("record", "spectrum", "correlation", "shapes", "poles", "forecast"),
        *("potential", "response", "kernel"),
    }
    for view in drawn.values():
        chart = charts.figure(view)
        assert len(chart.data)
        assert any(axis.title.text or axis.ticktext for axis in chart.select_xaxes())
    poles = charts.figure(views(free, record)["poles"])
    assert poles.layout.xaxis.title.text
    long = CHAIN.free(2000.0, 0.1, noise=0.1, rng=0)  # of its fit, a close-up is shown first
    chart = charts.figure(views(free, long)["record"])
    (menu,) = chart.layout.updatemenus
    assert [button.label for button in menu.buttons] == ["whole record", "close-up"]
    assert chart.layout.xaxis.range[1] < 1000
    spectrum = charts.figure(views(free, record)["spectrum"])
    by_name = {trace.name: trace for trace in spectrum.data}
    assert {"data", "after the fit", "found lines"} <= by_name.keys()
    assert np.allclose(by_name["found lines"].x, free.modes.frequencies)


def test_every_resonance_and_zero_is_marked():
    omega = np.linspace(0.2, 2.0, 50)
    curve = [("true", 1 / (1 - omega**2 + 0.1j), 0)]
    chart = charts.receptance(omega, curve, np.array([0.5, 1.5]), np.array([1.0]))
    assert [shape.x0 for shape in chart.layout.shapes] == [0.5, 1.5, 1.0]
    assert {"resonance (pole)", "anti-resonance (zero)"} <= {trace.name for trace in chart.data}
    assert chart.layout.yaxis.title.text == "|H(iω)| (displacement / force)"


def test_the_csv_of_the_modes(record):
    model = prism.identify(record)
    text = io.StringIO(newline="")
    write_modes(model, text)
    head, *rows = [line.split(",") for line in text.getvalue().splitlines()]
    assert head[:4] == ["mode", "frequency", "frequency_std", "frequency_hz"]
    assert head[4:6] == ["damping", "damping_std"]
    assert head[6:] == ["shape_q1", "shape_q1_std", "shape_q4", "shape_q4_std"]
    assert np.allclose([float(row[1]) for row in rows], model.modes.frequencies)
    assert {row[5] for row in rows} == {""}  # no damping was fitted


# -- the command ----------------------------------------------------------------------------------


def test_a_port_that_is_taken_is_refused(capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["app", "--no-browser", "--port", str(port)]) == OptionError.exit_status
    assert re.fullmatch(
        rf"prism: port {port} of this machine cannot be used \(.*\): give another, --port N\.\n",
        capsys.readouterr().err,
    )


def test_a_free_port_is_found_beside_one_that_is_taken():
    first = server.find_port()
    with socket.socket() as other:
        other.bind(("127.0.0.1", first))
        other.listen()
        assert server.find_port() > first


def test_the_browser_is_opened_when_the_server_answers(monkeypatch):
    opened = []
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        server._open(port)
    assert opened == [f"http://127.0.0.1:{port}"]


def test_the_server_is_told_to_stay_at_home_and_keep_quiet(monkeypatch):
    from streamlit.web import cli

    told = []
    monkeypatch.setattr(cli.main, "main", lambda arguments, **_: told.extend(arguments))
    server.run(12345, browser=False)
    assert told[:2] == ["run", str(PAGE)]
    assert {
        "--server.address=127.0.0.1",
        "--server.port=12345",
        "--server.headless=true",
        "--server.fileWatcherType=none",
        "--server.maxUploadSize=50",
        "--browser.gatherUsageStats=false",
    } <= set(told)


def test_a_missing_extra_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "streamlit", None)
    assert main(["app", "--no-browser"]) == 2
    assert 'the app needs streamlit: pip install "prism-id[app]"' in capsys.readouterr().err
