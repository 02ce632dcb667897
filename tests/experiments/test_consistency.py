"""Equal mean energy is tested against what is known, and it is said where it cannot be."""

import numpy as np
import pytest

import prism
from prism.experiments.consistency import Cause, Consistency, equilibrium_remark
from prism.systems import chain

FIVE = chain(5, [1, 2, 1, 1.5, 0.5], observed=[0, 2, 4])


def codes(model):
    return [remark.code for remark in model.identifiability.remarks]


@pytest.fixture(scope="module")
def ensemble():
    return chain().equilibrium(60, 0.1, trials=100, noise=0.1, rng=4)


def test_untested_equilibrium_is_said(ensemble):
    model = prism.identify(ensemble, experiment="equilibrium")
    assert model.hamiltonian is not None
    assert "equilibrium-untested" in codes(model)
    assert "was not tested: these data cannot" in str(model.identifiability)
    one = prism.identify(ensemble.select("q1"), experiment="equilibrium", mass=[[1.0]])
    assert "equilibrium-untested" in codes(one)


def test_tested_equilibrium_is_said_with_its_probability(ensemble):
    model = prism.identify(ensemble, experiment="equilibrium", mass="identity")
    (remark,) = (r for r in model.identifiability.remarks if r.code == "equilibrium-tested")
    assert "2 of 3 ratios of energies, p = " in str(remark)


def test_a_wrong_gain_is_named():
    right = FIVE.equilibrium(60, 0.1, trials=200, noise=0.02, rng=1)
    wrong = right.with_values([trial * [1.0, 1.08, 1.0] for trial in right.trials])
    model = prism.identify(wrong, experiment="equilibrium", mass="identity")
    assert model.hamiltonian is None
    assert "a gain of channel 2 of 1.0" in model.identifiability.why


def test_energies_that_grow_with_frequency_are_refused():
    rng = np.random.default_rng(1)
    energies = rng.exponential(size=(200, 5)) * FIVE.frequencies
    record = FIVE.free(60, 0.1, trials=200, noise=0.05, energies=energies, rng=2)
    model = prism.identify(record, experiment="equilibrium", mass="identity")
    assert model.hamiltonian is None
    assert "do not agree with thermal equilibrium" in model.identifiability.why


def test_few_canonical_trials_are_not_refused():
    """Three trials of random systems: logarithms of their energies would reject one in fifty."""
    refused = 0
    for seed in range(12):
        record = chain().equilibrium(40, 0.1, trials=3, noise=0.05, rng=seed)
        model = prism.identify(record, experiment="equilibrium", mass="identity")
        refused += "do not agree" in model.identifiability.why
    assert refused == 0


def test_causes_pay_for_their_number():
    causes = [Cause("a {0:.1f}", 0.0, 1.0), Cause("b of {1:.1f}", 0.4, 0.1)]
    test = Consistency(18.0, 5).against(causes, few=False)
    assert test.focused == pytest.approx(4 * 3.167e-5, rel=1e-3)
    assert test.suspect == "; b of 1.5 would explain it"
    assert test.p_value == pytest.approx(2 * test.focused)
    assert Consistency(18.0, 5).against(causes, few=True).p_value == pytest.approx(test.whole)
    assert equilibrium_remark(test, 4).code == "equilibrium-doubtful"


def test_a_factor_far_from_one_is_no_cause():
    """An energy is never negative, and a shift of ten in its logarithm explains nothing."""
    half = Consistency(18.0, 5).against([Cause("{1:.1f} times", -0.7, 0.17)], few=False)
    assert half.suspect == "; 0.5 times would explain it"
    far = Consistency(18.0, 5).against([Cause("{1:.1f} times", -10.6, 2.6)], few=False)
    assert far.suspect == ""
    assert far.worst < 0.05


def test_what_a_test_could_not_see_is_said():
    gains = [Cause("", 0.0, std, np.log(1.05), "gains of {0} channels") for std in (0.002, 0.02)]
    test = Consistency(1.0, 3).against([Cause("", 0.1, 0.1, 1.0, "power"), *gains], few=False)
    assert test.unseen == ("gains of 1 of 2 channels",)
    assert "could not be tested: gains of 1 of 2 channels" in str(equilibrium_remark(test, 4))
    sharp = Consistency(1.0, 3).against(gains[:1], few=False)
    assert "could not be tested" not in str(equilibrium_remark(sharp, 4))


# -- other experiments -----------------------------------------------------------------------------


def test_free_motion_without_redundancy_says_what_it_could_not_test():
    """Three modes in two channels take up all that the mass says: a wrong gain goes unseen."""
    record = chain(3, [1, 1.5, 0.8], observed=[0, 2]).free(200, 0.1, noise=0.05, rng=0)
    mass = chain(3, [1, 1.5, 0.8], observed=[0, 2]).mass
    model = prism.identify(record, kind="steady", mass=mass)
    assert "untested" in codes(model)
    assert "gains of 2 of 2 channels to 5 %" in str(model.identifiability)


def test_free_motion_with_redundancy_has_tested_the_gains():
    system = chain(4, [1, 2, 1, 1.5], observed=[0, 1, 2])
    model = prism.identify(
        system.free(400, 0.1, noise=0.01, rng=0), kind="steady", mass=system.mass
    )
    assert model.hamiltonian is not None
    assert "untested" not in codes(model)


def test_a_pull_that_nothing_tests_is_said():
    system = chain(4, [1, 2, 1, 1.5], observed=[0, 2])
    record = system.snapback(200, 0.1, [1.0, -0.4], noise=0.02, rng=0)
    model = prism.identify(record, experiment="snapback", pull=[1.0, -0.4])
    assert "pulls of 2 of 2 channels to 10 %" in str(model.identifiability)
    tested = prism.identify(record, experiment="snapback", pull=[1.0, -0.4], mass=system.mass)
    assert "untested" not in codes(tested)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_mode_that_a_pull_hardly_drives_is_left_open(seed):
    """What drives the third mode is -0.024: seed 1 gave 1.720 +- 0.008 where 1.225 is true."""
    system = chain(4, [1, 2, 1, 1.5], observed=[0, 2])
    record = system.snapback(200, 0.1, [1.0, 0.5], noise=0.02, rng=seed)
    verdict = prism.identify(record, experiment="snapback", pull=[1.0, 0.5]).identifiability
    assert "the mode at 1.8" in verdict.why
    assert "is not told from zero" in verdict.why


def test_a_decay_at_equilibrium_is_doubted():
    still = chain(2, observed=[0]).equilibrium(60, 0.3, trials=12, noise=0.05, rng=1)
    fade = np.exp(-0.5 * still.times[0] / 60)[:, None]
    fading = prism.Record(np.stack(still.trials) * fade, dt=0.3)
    assert "doubt" not in codes(prism.identify(still, experiment="equilibrium"))
    assert "doubt" in codes(prism.identify(fading, experiment="equilibrium"))
