"""The data say which kind of motion it is, without any option."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

import prism
from prism.errors import NoLineError
from prism.experiments import Free
from prism.motion import contest
from prism.motion.decays.kind import Decays
from prism.motion.driven.peak import NoisePeakError
from prism.motion.explanation import Question
from prism.motion.moving.kind import Moving
from prism.motion.steady.kind import Steady
from prism.settings import Settings
from prism_bench.kinds import TUNING, make


def chain(**options):
    return prism.systems.chain(4, observed=[0, 3]).free(400, 0.1, noise=0.1, **options)


def decaying(rate, rng=0):
    """Three lines that decay by ``rate`` over the record, 10 % noise, two channels."""
    rng = np.random.default_rng(rng)
    t = 0.1 * np.arange(4000)
    poles = -rate / 400 * np.array([1.0, 0.7, 1.3]) + 1j * np.array([0.5, 1.1, 1.7])
    shapes = rng.standard_normal((3, 2))
    phases = np.exp(2j * np.pi * rng.random(3))
    values = (np.exp(np.outer(t, poles)) * phases).real @ shapes
    return prism.Record(values + 0.1 * values.std(axis=0) * rng.standard_normal((4000, 2)), dt=0.1)


def driven(zeta, rng=0):
    system = prism.systems.chain(3, observed=[0, 1])
    return prism.systems.driven(system, 800, 0.2, damping=zeta, noise=0.1, rng=rng)


def test_steady_lines_cost_no_further_fit():
    model = prism.identify(chain(rng=1))
    assert model.kind == "steady"
    assert [one.kind for one in model.evidence.rivals] == ["steady"]
    assert model.evidence.doubts == ()
    assert "no test speaks against it" in model.summary()


@pytest.mark.parametrize("rate", [0.3, 1.0, 3.0])
def test_a_free_decay_is_found(rate):
    model = prism.identify(decaying(rate))
    assert model.kind == "decaying"
    assert len(model.modes) == 3
    assert model.evidence.doubts
    assert model.evidence.margin > 10
    truth = np.array([1.0, 0.7, 1.3]) * rate / 400 / model.modes.frequencies
    assert np.all(np.abs(model.modes.damping - truth) < 4 * model.modes.damping_std)


@pytest.mark.parametrize("zeta", [0.004, 0.03])
def test_motion_driven_by_noise_is_found(zeta):
    model = prism.identify(driven(zeta))
    assert model.kind == "driven"
    assert len(model.modes) == 3
    assert "motion driven by unmeasured noise; next best" in model.summary()


def test_losses_insisted_on_are_of_the_kind_that_the_data_say():
    assert prism.identify(driven(0.01), damped=True).kind == "driven"
    assert prism.identify(decaying(1.0), damped=True).kind == "decaying"
    assert prism.identify(chain(rng=2), damped=True).kind == "decaying"


def test_a_choice_against_the_evidence_is_carried_out():
    model = prism.identify(decaying(1.0), damped=False)
    assert model.kind == "steady"
    assert prism.identify(driven(0.01), kind="decaying", max_modes=3).kind == "decaying"


def test_a_strong_decay_in_a_long_record_is_no_drive():
    # long enough for random motion to be asked first
    rng = np.random.default_rng(4)
    t = 0.02 * np.arange(30_000)
    poles = np.array([-0.004, -0.006, -0.008]) + 1j * np.array([3.0, 7.0, 11.0])
    values = np.exp(np.outer(t, poles)).real @ rng.standard_normal((3, 4))
    noisy = values + 0.1 * values.std(axis=0) * rng.standard_normal(values.shape)
    model = prism.identify(prism.Record(noisy, dt=0.02))
    assert model.kind == "decaying"
    assert len(model.modes) == 3


def test_white_noise_stays_noise():
    rng = np.random.default_rng(9)
    with pytest.raises(NoLineError):
        prism.identify(prism.Record(rng.standard_normal((2000, 2)), dt=0.1))


def test_a_saved_model_keeps_what_was_weighed(tmp_path):
    model = prism.identify(decaying(1.0))
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    assert again.evidence == model.evidence
    assert again.summary() == model.summary()


def codes(model):
    return {remark.code for remark in model.identifiability.remarks}


def test_what_the_data_say_against_a_choice_is_said():
    assert "doubt" in codes(prism.identify(decaying(1.0), damped=False))
    assert "doubt" not in codes(prism.identify(chain(rng=1), damped=False))


def test_a_decay_with_gaps_is_weighed_too():
    values = np.array(decaying(1.0).trials[0])
    values[::7] = np.nan
    model = prism.identify(prism.Record(values, dt=0.1))
    assert model.kind == "decaying"
    assert len(model.modes) == 3


def test_a_mass_that_is_of_no_use_is_said():
    assert "unused" in codes(prism.identify(decaying(1.0), mass="identity"))


def test_a_limit_on_the_modes_is_no_evidence():
    model = prism.identify(chain(rng=1), max_modes=2)
    assert model.kind == "steady"
    assert model.evidence.rivals == ()


def test_the_forecast_of_random_motion_is_not_tested():
    model = prism.identify(driven(0.03), fit_fraction=0.7)
    assert model.kind == "driven"
    assert model.forecast_check is None
    assert "no-forecast" in codes(model)


def test_decays_between_kicks_that_no_sample_shows():
    """The kicks are below the noise of a single sample; they are found from the poles."""
    t, rng = 0.2 * np.arange(3000), np.random.default_rng(7)
    poles = np.array([-0.006 + 1.1j, -0.01 + 2.7j])
    values = np.zeros((len(t), 2))
    for k in (0, 900, 1900):
        A = rng.standard_normal((2, 2)) * (1 + 0j)
        # the velocity jumps, the displacement does not
        values[k:] += (np.exp(np.multiply.outer(t[k:] - t[k], poles)) @ (-1j * A)).real
    model = prism.identify(prism.Record(values + 0.1 * rng.standard_normal(values.shape), dt=0.2))
    assert model.kind == "kicked"
    assert model.evidence.rivals[0].words == "decays between kicks"
    off = np.abs(model.modes.frequencies - np.abs(poles)) / model.modes.frequencies_std
    assert np.all(off < 4)
    assert np.all(np.abs(model.modes.damping + poles.real / np.abs(poles)) < 1e-3)
    said = next(one for one in model.identifiability.remarks if one.code == "kicks")
    assert "2 kicks" in said.what
    # a first look at the poles is enough: modes driven by noise, which take long, are not fitted
    assert all(one.kind != "driven" for one in model.evidence.rivals)


@pytest.mark.parametrize("seed", [11, 31])
def test_a_broad_peak_of_noise_is_no_line(seed):
    """Leakage, and one level of noise in a wide band, made a line on it worth its price."""
    kind = "noise"
    with suppress(NoLineError):
        kind = prism.identify(make("ar2", seed, TUNING).record).kind
    assert kind in ("noise", "driven")


def test_lines_on_a_slope_of_noise_are_no_lines():
    """A peak of the noise is seen, and two lines on its slope gain where it has one level."""
    with pytest.raises(NoisePeakError, match="independently"):
        prism.identify(make("ar1-neg", 1471).record)


@pytest.mark.parametrize(
    ("row", "seed"),
    [("gain-drift", 2023), ("gain-drift", 2072), ("gain-drift", 2120), ("modulated", 2072)],
)
def test_lines_that_are_modulated_are_no_more_than_they_are(row, seed):
    """Sidebands that meet; half a period, nearly a decay; combinations of three frequencies.

    In the last, decays leave noise but explain less than two steady lines a fiftieth of a
    resolution apart, and these less than a line that moves.
    """
    case = make(row, seed, TUNING)
    model = prism.identify(case.record)
    assert (model.kind, len(model.modes)) == ("moving", len(case.modes))


@pytest.mark.parametrize("seed", [20, 45, 118, 334, 382, 2014, 2049])
def test_one_line_that_is_modulated_is_not_three(seed):
    """A factor that swings is one pair of sidebands, with half as many numbers as two lines."""
    case = make("modulated", seed, TUNING)
    model = prism.identify(case.record)
    assert (model.kind, len(model.modes)) == ("moving", len(case.modes))
    assert "modulated" in [one.code for one in model.identifiability.remarks]


def test_a_close_call_says_where_both_agree_and_which_foretells_better():
    t, rng = 0.1 * np.arange(3000), np.random.default_rng(2)
    beat = np.cos(1.3 * t) + 0.1 * np.cos(1.308 * t + 1.0) + np.cos(2.9 * t)
    model = prism.identify(prism.Record(beat + 0.15 * rng.standard_normal(len(t)), dt=0.1))
    best, second = model.evidence.rivals[:2]
    assert model.evidence.close == (second,)
    assert 1 <= second.shared <= best.modes
    assert 0.9 < best.foretold < 1.3
    said = model.evidence.sentence(model.kind)
    assert "not ruled out" in said
    assert f"{second.shared} of {best.modes} modes are the same in both" in said
    assert "the last fifth, foretold from the rest" in said


def test_a_clock_that_drifts_is_no_sum_of_lines_that_nobody_resolves():
    """Combinations a seventh of a resolution apart describe any slow change of two lines."""
    model = prism.identify(make("fault-clock", 347, TUNING).record)
    assert (model.kind, len(model.modes)) == ("moving", 2)
    assert "that the record does not resolve" in model.evidence.doubts[0]


@pytest.mark.parametrize("seed", [313, 418])
def test_harmonics_show_a_nonlinear_motion_whatever_its_lines_do(seed):
    """One harmonic is 3.2 errors off; the other motion beats more slowly than it lasts."""
    assert "nonlinear" in codes(prism.identify(make("duffing", seed, TUNING).record))


def test_the_limit_of_a_first_look_decides_nothing():
    t, rng = 0.1 * np.arange(2000), np.random.default_rng(3)
    values = np.cos(np.outer(t, [0.7, 1.3, 2.2, 3.1])).sum(axis=1)
    record = prism.Record(values + 0.1 * rng.standard_normal(len(t)), dt=0.1)
    asked = Question(record, Free(), Settings(), lambda text: None)
    few = Steady().find(asked._replace(settings=Settings(max_modes=2)))
    cut = contest._contender(asked, Steady(), few, 2)
    other = replace(cut, explanation=Moving(), most=None)
    fuller = contest._fuller(asked, [cut, other], [30.0, 0.0, 99.0])
    assert [len(one.finding.modes) for one in fuller] == [4, 2]
    for scores in ([0.0, 30.0, 99.0], [300.0, 0.0, 999.0]):
        assert contest._fuller(asked, [cut, other], scores) is None
    assert contest._fuller(asked, [replace(cut, most=3), other], [30.0, 0.0, 99.0]) is None


def test_decays_of_which_a_first_look_misses_one_are_not_lines_that_move():
    """Five bunches of steady lines stand for six decays; lines that move find all of them."""
    model = prism.identify(make("decay-strong", 600, TUNING).record)
    assert (model.kind, len(model.modes)) == ("decaying", 6)


def test_lines_in_coloured_noise_that_crowd_are_doubted():
    """A narrow resonance that noise drives, which steady lines explain better."""
    model = prism.identify(make("driven-narrow", 955, TUNING).record)
    assert model.kind == "driven" or "doubt" in codes(model)


def test_lost_samples_are_found_where_invented_lines_look_like_combinations():
    case = make("fault-lost", 447)
    model = prism.identify(case.record)
    assert model.kind == "steady"
    assert any(one.code == "lost-samples" for one in model.identifiability.remarks)
    assert len(model.modes) == 3


def test_kicks_are_looked_for_where_the_best_leaves_more_than_noise():
    record = make("kicked", 455).record
    asked = Question(record, Free(), Settings(max_modes=6), lambda text: None)
    lines = Steady().find(asked)
    (attempt,) = Decays().overlooked(asked, lines, Steady().account(asked, lines))
    found = attempt.find()
    assert (found.kind, len(found.modes)) == ("kicked", 3)
    kicked = Decays(attempt.explanation.struck)
    assert not list(Decays().overlooked(asked, found, kicked.account(asked, found)))


@pytest.mark.slow
def test_no_kind_is_left_out_because_another_takes_long():
    """Lines that move were followed until the work allowed was done, and noise drove the motion."""
    record = make("driven-broad", 509, 0).record
    model = prism.identify(record)
    assert model.kind == "driven"
    assert len(model.modes) == 2


def test_where_lines_stand_is_nothing_against_them():
    """Two lines of a chain that happen to be close are no doubt about records at equilibrium."""
    record = prism.systems.chain().equilibrium(60, 0.2, trials=30, noise=0.1, rng=1)
    assert "doubt" not in codes(prism.identify(record, experiment="equilibrium", mass="identity"))
