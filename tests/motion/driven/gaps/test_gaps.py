"""Driven motion with gaps: the modes of the full record, with larger errors."""

from dataclasses import replace

import numpy as np
import pytest

import prism
from prism.errors import NoLineError
from prism.motion.driven.driven import fit_driven
from prism.motion.driven.gaps import fit_gapped
from prism.motion.driven.gaps.expected import expected
from prism.motion.driven.gaps.kept import kept
from prism.motion.driven.gaps.places import places_of
from prism.motion.driven.gaps.spectra import RecordSpectrum
from prism.motion.driven.scoring import score_and_information
from prism.motion.driven.search import ModeSearch
from prism.motion.driven.spectrum import fourier_lines
from prism.record import Record
from prism.systems import chain
from prism.systems.driven import driven

SYSTEM = chain(3, springs=8.0, observed=[0, 2])


@pytest.fixture(scope="module")
def full():
    return driven(SYSTEM, 500.0, 0.25, damping=0.02, noise=0.1, rng=1)


def thinned(record, share, seed=0):
    x = np.array(record.trials[0])
    x[np.random.default_rng(seed).random(len(x)) < share] = np.nan
    return record.with_values([x])


def test_the_answer_is_that_of_the_full_record_and_less_certain(full):
    whole, fit = fit_driven(full), fit_gapped(thinned(full, 0.3))
    assert len(fit) == len(whole) == 3
    off = np.abs(fit.frequencies - whole.frequencies)
    assert np.all(off < whole.frequencies_std)
    ratio = fit.frequencies_std / whole.frequencies_std
    assert np.all((ratio > 0.9) & (ratio < 1.35))
    (said,) = [one for one in fit.remarks if getattr(one, "code", None) == "gaps"]
    assert "30% of the samples are missing" in str(said)


def test_what_is_kept_of_the_information_falls_with_what_is_missing(full):
    fit = fit_driven(full)
    lines = fourier_lines(full)
    spectrum = RecordSpectrum.of(fit.bands, lines)
    shares = []
    for share in (0.2, 0.7):
        record = thinned(full, share)
        here = expected(record, places_of(record), spectrum, 24)
        one = fit.bands[0]
        shares.append(kept(one, here.lines, here.drawn)[one.model.at["noise"]].mean())
    assert 1 > shares[0] > shares[1] + 0.1


def test_a_record_that_lacks_nothing_has_its_own_lines(full):
    lines = fourier_lines(full)
    spectrum = RecordSpectrum.of(fit_driven(full).bands, lines)
    here = expected(full, places_of(full), spectrum, 2)
    size = np.abs(lines.values).max()
    assert np.allclose(here.lines.values, lines.values, atol=1e-3 * size)
    assert np.abs(here.lines.spread.rest).max() < 1e-5 * size**2


@pytest.mark.slow
def test_the_score_of_expected_lines_is_the_mean_of_the_scores_of_draws(full):
    record = thinned(full, 0.3)
    fit = fit_driven(full)
    here = expected(
        record, places_of(record), RecordSpectrum.of(fit.bands, fourier_lines(full)), 48
    )
    search = ModeSearch(here.lines, (0.1, 12.0), 1e-3)
    (part, *_) = search.sweep(_modes(fit), test=False)
    band, model = part.fit.band, part.fit.model
    inside = (here.lines.omega >= band.omega.min()) & (here.lines.omega <= band.omega.max())
    every = [replace(band.entire, values=drawn[inside] / band.scale) for drawn in here.drawn]
    scores = np.array([score_and_information(model, one, exact=False)[0] for one in every])
    mean = score_and_information(model, band, exact=False)[0]
    error = scores.std(axis=0) / np.sqrt(len(scores)) + 1e-2 * np.abs(scores).max(axis=0)
    # the mean of the lines is exact, that of the draws is not
    assert np.all(np.abs(mean - scores.mean(axis=0)) < 5 * error)


def _modes(fit):
    from prism.motion.driven.bands import DrivenMode

    each = zip(fit.frequencies, fit.damping, fit.shapes, strict=True)
    return [DrivenMode(float(w), float(z), shape, 1.0) for w, z, shape in each]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["dropped", "jitter"])
def test_the_front_door_takes_dropped_rows_and_uneven_times(how):
    rng = np.random.default_rng(5)
    fine = driven(SYSTEM, 500.0, 0.25 / 8, damping=0.02, rng=2).trials[0]
    places = 8 * np.arange(2000)
    if how == "jitter":
        places = np.clip(places + rng.integers(-2, 3, 2000), 0, len(fine) - 1)
    else:
        places = places[rng.random(2000) > 0.3]
    x = fine[places] + 0.1 * fine.std(axis=0) * rng.standard_normal((len(places), 2))
    model = prism.identify(Record(x, t=places * 0.25 / 8))
    assert model.kind == "driven"
    assert len(model.modes) == 3
    z = (model.modes.frequencies - SYSTEM.frequencies) / model.modes.frequencies_std
    assert np.all(np.abs(z) < 4)
    assert model.evidence.rivals[0] == "driven" or model.evidence.sentence("driven")
    codes = [getattr(one, "code", None) for one in model.identifiability.remarks]
    assert {"gaps", "full-draw"} <= set(codes)


def test_steady_lines_with_gaps_stay_steady():
    rng = np.random.default_rng(6)
    t = 0.1 * np.arange(3000)
    x = np.column_stack([np.cos(t) + np.cos(2.3 * t), np.cos(t) - 0.5 * np.cos(2.3 * t)])
    x += 0.1 * rng.standard_normal(x.shape)
    x[rng.random(3000) < 0.3] = np.nan
    model = prism.identify(Record(x, dt=0.1))
    assert model.kind == "steady"
    assert len(model.modes) == 2


def test_noise_with_gaps_has_no_modes():
    x = np.random.default_rng(7).standard_normal((1500, 2))
    x[200:500] = np.nan
    with pytest.raises(NoLineError):
        fit_gapped(Record(x, dt=0.1))


def test_insisting_works_with_gaps(full):
    model = prism.identify(thinned(full, 0.3), kind="driven")
    assert model.kind == "driven"
    assert len(model.modes) == 3
