"""A new kind of motion is one class and one entry: everything else follows by itself.

The class below is what someone would write in a file of their own: a pure tone whose frequency is
known, such as a calibrator, of which only amplitude and phase are unknown.
"""

import json
from typing import ClassVar

import numpy as np
import pytest

import prism
from prism.errors import OptionError
from prism.finding import Finding, RecordSummary
from prism.forecast import Forecast, checked_times
from prism.kernel import certify_lines
from prism.magnitudes import Undetermined
from prism.modes import Modes
from prism.motion import kinds
from prism.motion.explanation import Explanation
from prism.options import Option
from prism.options.values import Number
from prism.uncertainty import Gaussian

OMEGA = 3.0


# -- the file that someone writes ------------------------------------------------------------------


class ToneMotion:
    """Amplitudes of cosine and sine, one pair per channel."""

    key: ClassVar[str] = "tone"
    integrated: ClassVar[bool] = False

    def __init__(self, omega, amplitudes, noise_std):
        self.omega, self.amplitudes, self.noise_std = omega, amplitudes, noise_std
        self.trials = (0,)

    def values(self, t, trial=0):
        times = checked_times(t, trial, 1)
        columns = np.column_stack([np.cos(self.omega * times), np.sin(self.omega * times)])
        return columns @ self.amplitudes

    def at(self, t, trial=0):
        values = self.values(t, trial)
        return Forecast(np.atleast_1d(t), values, np.zeros_like(values), self.noise_std)

    def to_json(self):
        return {
            "omega": self.omega,
            "amplitudes": self.amplitudes.tolist(),
            "noise": self.noise_std.tolist(),
        }

    @classmethod
    def from_json(cls, data):
        return cls(data["omega"], np.array(data["amplitudes"]), np.array(data["noise"]))


class Tone(Explanation):
    """A tone of known frequency."""

    name = "tone"
    words = "a tone of known frequency"
    options = (
        Option(
            name="tone_frequency",
            kind=Number(0.0),
            metavar="W",
            label="Frequency of the tone",
            help="Angular frequency of a tone that is known.",
        ),
    )
    motions = (ToneMotion,)

    def meant(self, asked):
        return self if asked.settings.kind == self.name else None

    def check(self, asked):
        if asked.settings.more.get("tone_frequency") is None:
            raise OptionError("a tone needs its frequency: give tone_frequency.")

    def find(self, asked):
        record, omega = asked.record, asked.settings.more["tone_frequency"]
        t, y = record.times[0], record.trials[0]
        columns = np.column_stack([np.cos(omega * t), np.sin(omega * t)])
        amplitudes, rss, _, _ = np.linalg.lstsq(columns, y, rcond=None)
        noise = np.sqrt(rss / (len(t) - 2))
        size = np.hypot(*amplitudes)
        n = record.n_channels
        values = {"frequencies": [omega], "shapes": [size / np.linalg.norm(size)]}
        return Finding(
            kind=self.name,
            channels=record.channels,
            quantity=record.quantity,
            measured=RecordSummary.of(record),
            modes=Modes(
                Gaussian.of(values, np.zeros((1 + n, 1 + n))),
                amplitudes=np.linalg.norm(size)[None, None],
                significance=np.array([np.linalg.norm(size / noise)]),
                phase_ratio=np.zeros(1),
                in_phase=np.ones(1, bool),
            ),
            outcome=Undetermined("a tone is no mode", "record the system itself"),
            certificate=certify_lines(np.array([omega])),
            noise_std=noise,
            motion=ToneMotion(omega, amplitudes, noise),
        )


@pytest.fixture
def tone():
    """The one registry entry."""
    kind = Tone()
    kinds.register(kind)
    yield kind
    kinds.unregister(kind)


# -- kinds by their names --------------------------------------------------------------------------


def test_a_kind_is_fitted_by_its_name():
    t, rng = 0.1 * np.arange(1500), np.random.default_rng(0)
    x = np.exp(-0.02 * t) * np.cos(2 * t)
    decay = prism.Record(x + 0.02 * rng.standard_normal(len(x)), dt=0.1)
    model = prism.identify(decay, kind="decaying")
    assert model.kind == "decaying"
    same = prism.identify(decay, damped=True)
    np.testing.assert_array_equal(model.modes.damping, same.modes.damping)
    assert prism.identify(decay, kind="steady").kind == "steady"
    assert prism.identify(decay, kind="driven").kind == "driven"


def test_a_nonlinear_motion_by_its_name():
    bent = prism.systems.duffing(1.0, 0.5, [], [])
    record = bent.simulate([1.5], [0.0], 60, 0.1, noise=0.03, rng=0)
    model = prism.identify(record, kind="nonlinear", max_modes=1)
    assert model.kind == "nonlinear"
    assert model.hamiltonian is not None


def test_a_kind_that_cannot_be_is_refused(record):
    with pytest.raises(OptionError, match="kind of motion 'forced' is not one of"):
        prism.identify(record, kind="forced")


# -- what follows by itself ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record():
    t = 0.05 * np.arange(800)
    clean = np.column_stack([np.cos(OMEGA * t), 0.5 * np.sin(OMEGA * t)])
    return prism.Record(
        clean + 0.01 * np.random.default_rng(0).standard_normal(clean.shape), dt=0.05
    )


def test_python_knows_it(tone, record, tmp_path):
    model = prism.identify(record, kind="tone", tone_frequency=OMEGA)
    assert model.kind == "tone"
    np.testing.assert_allclose(model.noise_std, 0.01, rtol=0.1)
    expected = [np.cos(OMEGA * 50), 0.5 * np.sin(OMEGA * 50)]
    np.testing.assert_allclose(model.forecast([50.0]).values[0], expected, atol=0.01)
    assert model.settings.given == {"kind": "tone", "tone_frequency": OMEGA}
    model.save(tmp_path / "tone.json")
    again = prism.load(tmp_path / "tone.json")
    np.testing.assert_allclose(again.forecast([50.0]).values, model.forecast([50.0]).values)
    assert "1 mode in 2 channels" in model.summary()
    with pytest.raises(OptionError, match="needs its frequency"):
        prism.identify(record, kind="tone")


def test_forecasts_are_tested_on_what_was_held_back(tone, record):
    model = prism.identify(record, kind="tone", tone_frequency=OMEGA, fit_fraction=0.5)
    assert np.all(model.forecast_check.nrmse < 0.1)


def test_the_report_draws_it(tone, record, tmp_path):
    model = prism.identify(record, kind="tone", tone_frequency=OMEGA)
    model.report(tmp_path / "tone.html", record)
    text = (tmp_path / "tone.html").read_text("utf-8")
    assert "1 mode in 2 channels" in text
    assert "tone frequency" in text


def test_the_command_line_follows(tone, record, run, here):
    table = np.column_stack([record.times[0], record.trials[0]])
    np.savetxt("tone.csv", table, delimiter=",", header="t,a,b", comments="")
    status, out, _ = run("identify", "--help")
    assert status == 0
    assert "--tone-frequency" in out
    status, out, err = run(
        "identify", "tone.csv", "--kind", "tone", "--tone-frequency", OMEGA, "--json", "m.json"
    )
    assert status == 0, err
    saved = json.loads((here / "m.json").read_text())
    assert saved["kind"] == "tone"
    assert saved["settings"]["tone_frequency"] == OMEGA
    status, _, err = run("identify", "tone.csv", "--kind", "tone")
    assert status == 2
    assert "needs its frequency" in err


def test_without_the_entry_nothing_knows_it(record, run):
    with pytest.raises(OptionError, match="unknown kind 'tone'"):
        prism.identify(record, kind="tone")
    with pytest.raises(OptionError, match="unknown option 'tone_frequency'"):
        prism.identify(record, tone_frequency=1.0)
    assert "--tone-frequency" not in run("identify", "--help")[1]
