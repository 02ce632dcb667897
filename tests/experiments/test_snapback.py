"""Snap-back: x(0) - s X(s) = H(s) f, with the pull known or not, and told from a release."""

import numpy as np
import pytest

import prism
from prism.errors import OptionError
from prism.systems import LinearSystem, chain

ONE = chain(observed=[0])
TWO = chain(4, springs=[1.0, 1.7, 0.6, 1.2], observed=[0, 2])
PULLS = [[0.5, 0.0], [0.0, 0.8]]


def random_system(rng, size, seen):
    """Random masses and springs, some coordinates seen, with kinetic coupling."""
    L = np.tril(rng.normal(0, 0.2, (size, size)), -1) + np.diag(rng.uniform(0.8, 1.3, size))
    K = np.diag(rng.uniform(0.5, 2.0, size))
    for i in range(size - 1):
        k = rng.uniform(0.5, 2.0)
        K[[i, i + 1], [i, i + 1]] += k
        K[[i, i + 1], [i + 1, i]] -= k
    return LinearSystem(L @ L.T, K, np.eye(size)[:seen])


def z_of(model, system):
    h = model.hamiltonian
    return (h.hidden_frequencies - system.hidden_frequencies) / h.hidden_frequencies_std


def test_relation_of_the_theory():
    """The Laplace transform of the exact motion against the receptance."""
    system, s = TWO, 0.3
    f = np.array([0.5, 0.8])
    record = system.snapback(200, 0.005, f)
    t, x = record.times[0], record.trials[0]
    transform = np.trapezoid(np.exp(-s * t)[:, None] * x, t, axis=0)
    H = sum(np.outer(v, v) / (s**2 + w**2) for v, w in zip(
        system.participation, system.frequencies, strict=True))  # fmt: skip
    assert x[0] - s * transform == pytest.approx(H @ f, rel=1e-4)


def test_one_channel_without_scale():
    record = ONE.snapback(400, 0.05, [0.5], noise=0.05, rng=0)
    model = prism.identify(record, experiment="snapback")
    assert np.abs(z_of(model, ONE)).max() < 3.5
    assert "free" in model.identifiability.scale


def test_known_pull_gives_the_mass():
    record = ONE.snapback(400, 0.05, [0.5], noise=0.05, rng=0)
    model = prism.identify(record, experiment="snapback", pull=0.5)
    h = model.hamiltonian
    assert np.abs(z_of(model, ONE)).max() < 3.5
    assert h.mass[0, 0] == pytest.approx(1.0, abs=0.02)
    assert model.identifiability.scale == "fixed by the given pull"
    double = prism.identify(record, experiment="snapback", pull=1.0).hamiltonian
    assert double.mass[0, 0] == pytest.approx(2 * h.mass[0, 0])
    assert double.hidden_frequencies == pytest.approx(h.hidden_frequencies)


def test_pull_and_mass_together_are_tested():
    record = ONE.snapback(400, 0.05, [0.5], noise=0.05, rng=0)
    both = prism.identify(record, experiment="snapback", pull=[0.5], mass="identity")
    assert np.abs(z_of(both, ONE)).max() < 3.5
    wrong = prism.identify(record, experiment="snapback", pull=[0.8], mass="identity")
    assert wrong.hamiltonian is None
    assert "does not look like a steady pull" in wrong.identifiability.why


def test_pulls_of_several_channels():
    record = TWO.snapback(200, 0.05, PULLS, noise=0.05, rng=1)
    for known in ({}, {"pull": PULLS}, {"mass": "identity"}):
        model = prism.identify(record, experiment="snapback", **known)
        assert np.abs(z_of(model, TWO)).max() < 4, known


def test_release_and_snapback_are_told_apart():
    pulled = TWO.snapback(300, 0.05, PULLS, noise=0.05, rng=1)
    model = prism.identify(pulled, experiment="released", mass="identity")
    assert model.hamiltonian is None
    assert "but like a steady pull that was let go" in model.identifiability.why
    assert "snapback" in model.identifiability.remedy
    released = TWO.released(300, 0.05, np.eye(2), noise=0.05, rng=1)
    model = prism.identify(released, experiment="snapback", mass="identity")
    assert model.hamiltonian is None
    assert "but like a release from rest" in model.identifiability.why


@pytest.mark.parametrize("experiment", ["released", "snapback"])
def test_one_channel_cannot_tell_them_apart(experiment):
    record = ONE.snapback(400, 0.05, [0.5], noise=0.05, rng=0)
    model = prism.identify(record, experiment=experiment)
    (remark,) = [one for one in model.identifiability.remarks if one.code == "untested"]
    assert "could not be tested" in str(remark)


def test_hidden_frequencies_are_covered():
    """Random systems with kinetic coupling, one to three channels, pull known or not."""
    rng = np.random.default_rng(7)
    z = []
    for trial in range(30):
        seen = 1 + trial % 3
        system = random_system(rng, seen + 1 + trial % 2, seen)
        pulls = np.eye(seen)
        record = system.snapback(250, 0.1, pulls, noise=0.03, rng=rng)
        known = {"pull": pulls} if trial % 2 else {}
        model = prism.identify(record, experiment="snapback", damped=False, **known)
        if model.hamiltonian is not None and len(model.modes) == len(system.frequencies):
            z.extend(z_of(model, system))
    assert len(z) > 30
    assert 0.8 < np.sqrt(np.mean(np.square(z))) < 1.2


@pytest.mark.parametrize(
    ("pull", "words"),
    [
        ([1.0, 2.0], "1 channels"),
        ("much", "a force for each channel"),
        ([0.0], "the pull is zero"),
        ([[1.0], [2.0]], "2 rows"),
        ([np.nan], "finite"),
    ],
)
def test_pulls_that_make_no_sense(pull, words):
    record = ONE.snapback(100, 0.05, [0.5], noise=0.05, rng=0)
    with pytest.raises(OptionError, match=words):
        prism.identify(record, experiment="snapback", pull=pull)


def test_pull_belongs_to_snapback():
    record = ONE.released(100, 0.05, [0.5], noise=0.05, rng=0)
    with pytest.raises(OptionError, match="belongs to snapback experiments"):
        prism.identify(record, experiment="released", pull=[0.5])


def test_pull_is_kept_with_the_model(tmp_path):
    record = ONE.snapback(100, 0.05, [0.5], noise=0.05, rng=0)
    model = prism.identify(record, experiment="snapback", pull=[0.5])
    model.save(tmp_path / "m.json")
    again = prism.load(tmp_path / "m.json")
    assert again.experiment == "snapback"
    assert again.settings.pull == (0.5,)
