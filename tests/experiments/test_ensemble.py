"""Whether trials are an ensemble at equilibrium: scatter of energies, phases that go on."""

import numpy as np
import pytest

import prism
from prism.experiments.ensemble import TrialClock, advance, scatter
from prism.systems import chain
from prism.systems.gyroscopic import foucault_pendulum

OMEGA = np.array([0.7, 1.3, 2.1])


def clock(trials, length=30.0, starts=None):
    half = np.full(trials, 0.5 * (length - 0.1))
    starts = np.zeros(trials) if starts is None else starts
    return TrialClock(starts + half, half, np.full(trials, 0.1))


def amplitudes(rng, trials):
    z = rng.standard_normal((2, 3, 1, trials))
    return z[0] + 1j * z[1]


def pieces(rng, times):
    """Amplitudes of one motion at some times, with errors of phase."""
    z = amplitudes(rng, 1) * np.exp(1j * np.multiply.outer(OMEGA, times))[:, None]
    return z * np.exp(0.02j * rng.standard_normal(z.shape))


@pytest.mark.parametrize("trials", [2, 3, 10, 100])
def test_independent_trials_do_not_go_on(trials):
    rng = np.random.default_rng(trials)
    seen = [advance(amplitudes(rng, trials), OMEGA, clock(trials)) for _ in range(300)]
    assert not any(one.goes_on for one in seen)
    # Markov: a number whose mean is at most one exceeds 20 in less than one case of 20
    assert np.mean([one.evidence > np.log(20) for one in seen]) < 0.05


def test_pieces_that_join_go_on():
    rng = np.random.default_rng(0)
    assert advance(pieces(rng, 30.0 * np.arange(3)), OMEGA, clock(3)).goes_on


def test_pieces_with_a_constant_unknown_gap_go_on():
    rng = np.random.default_rng(0)
    seen = advance(pieces(rng, 37.7 * np.arange(8)), OMEGA, clock(8))
    assert seen.goes_on
    assert seen.resultant > 0.99


def test_pieces_with_known_times_go_on_in_any_order():
    rng = np.random.default_rng(0)
    starts = rng.permutation(np.cumsum(rng.uniform(31, 60, 5)))
    assert advance(pieces(rng, starts), OMEGA, clock(5, starts=starts)).goes_on


@pytest.mark.parametrize("trials", [2, 3, 10, 300])
def test_canonical_energies_are_taken_for_canonical(trials):
    """At the level 1e-4 none of 500 is lost; the p-values are uniform at both ends."""
    rng = np.random.default_rng(trials)
    seen = [scatter(rng.exponential(size=(4, trials)), np.zeros(4)) for _ in range(500)]
    assert {one.kind for one in seen} == {"canonical"}
    assert np.mean([one.p_value < 0.1 for one in seen]) == pytest.approx(0.1, abs=0.05)


def test_equal_and_other_energies_are_told_apart():
    rng = np.random.default_rng(0)
    noise = np.full(4, 0.05**2)
    equal = 1 + 0.05 * rng.standard_normal((4, 30))
    assert scatter(equal, noise).kind == "equal"
    assert scatter(rng.uniform(0.5, 1.5, (4, 30)), noise).kind == "neither"
    assert scatter(np.exp(2 * rng.standard_normal((4, 30))), noise).kind == "neither"


def cut(record, count):
    values = np.array_split(record.trials[0], count)
    return prism.Record(values, dt=record.dt, channels=record.channels)


def test_a_record_cut_into_pieces_is_no_equilibrium():
    whole = chain().free(40 * 30.0, 0.1, noise=0.1, rng=0)
    model = prism.identify(cut(whole, 40), experiment="equilibrium")
    assert model.hamiltonian is None
    assert "pieces of one motion" in model.identifiability.why
    assert "39 steps of 4 lines" in model.identifiability.why
    assert 'experiment="free"' in str(model.identifiability.remedy).replace("'", '"')


def test_energies_that_scatter_otherwise_are_refused_with_the_figure():
    record = chain().free(40, 0.1, trials=40, noise=0.1, rng=0)  # energies uniform in 0.5 to 1.5
    model = prism.identify(record, experiment="equilibrium")
    assert model.hamiltonian is None
    assert "scatter by" in model.identifiability.why
    assert "canonical" in model.identifiability.why


def test_pieces_of_a_rotating_system_are_refused():
    system = foucault_pendulum(0.2)
    whole = system.equilibrium(1200, 0.1, trials=1, noise=0.05, rng=0)
    with pytest.raises(prism.errors.CannotTellError, match="pieces of one motion"):
        prism.identify(cut(whole, 20), experiment="equilibrium", gyroscopic=True)
