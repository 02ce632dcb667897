"""Gyroscopic systems from records at equilibrium."""

import numpy as np
import pytest

from prism.errors import CannotTellError, OptionError
from prism.motion.gyroscopic import fit_gyroscopic, identify_gyroscopic, line_sum
from prism.motion.gyroscopic.amplitudes import (
    LineAmplitudes,
    LineFactors,
    line_amplitudes,
    line_factors,
    without_groups,
)
from prism.motion.gyroscopic.relations import _relations, adjust_lines, adjusted_lines
from prism.motion.steady.fit import evaluate, refine
from prism.record import Record
from prism.search.series import samplings_of
from prism.systems import chain
from prism.systems.gyroscopic import GyroscopicSystem, foucault_pendulum, rotor


def four_masses():
    """A 4-dof system with full matrices, seen at two coordinates; lines well apart."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4, 4))
    M = X @ X.T / 4 + np.eye(4)
    X = rng.standard_normal((4, 4))
    K = 2 * X @ X.T / 4 + np.eye(4)
    g = rng.standard_normal((4, 4))
    return GyroscopicSystem(M, g - g.T, K, np.eye(4)[:2])


SYSTEM = four_masses()
UPPER = np.triu_indices(2, 1)


def records(system, seed, noise=0.1, trials=300, duration=100.0):
    return system.equilibrium(duration, 0.1, trials=trials, noise=noise, rng=seed)


def exact_factors(system, temperature=1.0):
    """Factors as if measured, with equal canonical scatter and small other errors."""
    b = np.sqrt(temperature) * system.factors
    length = np.linalg.norm(b, axis=1)
    N, n = b.shape
    return LineFactors(
        omega=system.frequencies,
        omega_covariance=1e-8 * np.eye(N),
        directions=b / length[:, None],
        across=np.tile(2e-8 * np.eye(n, dtype=complex), (N, 1, 1)),
        log_energy=np.log(length**2),
        spread=np.full(N, 1 / 300),
        p_value=np.full(N, 0.5),
    )


# -- the pieces ----------------------------------------------------------------------------------


def test_amplitudes_are_those_of_the_dense_fit():
    record = records(SYSTEM, 0, trials=12)
    samplings, _, means = samplings_of(record)
    fit = evaluate(samplings, SYSTEM.frequencies, np.array([4.0, 9.0]))
    found = line_amplitudes(samplings, fit, np.zeros(2, int))
    t = record.times[0]
    u = t - 0.5 * (t[0] + t[-1])
    angle = np.multiply.outer(u, SYSTEM.frequencies)
    E = np.hstack([np.cos(angle), np.sin(angle), np.ones((len(u), 1)), u[:, None]])
    inverse = np.diag(np.linalg.inv(E.T @ E))
    for r in (0, 11):
        c = np.linalg.lstsq(E, record.trials[r] - means[r], rcond=None)[0]
        np.testing.assert_allclose(found.raw[:, :, r], c[:4] - 1j * c[4:8], atol=1e-9)
    expected = np.outer(inverse[:4] + inverse[4:8], 1 / np.array([4.0, 9.0]))
    np.testing.assert_allclose(found.variance[:, :, 0], expected, rtol=1e-8)


def test_factors_and_their_errors_are_calibrated():
    """Seeded: directions scatter as their covariance says, energies by 1/√R."""
    rng = np.random.default_rng(0)
    b, R = np.array([1.0, 0.5 - 0.8j]), 50
    sigma = np.array([0.3, 0.1])
    scores, logs, p = [], [], []
    for _ in range(300):
        a = (rng.standard_normal(R) + 1j * rng.standard_normal(R)) / np.sqrt(2)
        noise = (rng.standard_normal((2, R)) + 1j * rng.standard_normal((2, R))) / np.sqrt(2)
        z = 2 * np.outer(b, a) + sigma[:, None] * noise
        variance = np.broadcast_to(sigma[:, None] ** 2, (2, R))[None]
        lines = line_factors(
            LineAmplitudes(np.ones(1), np.eye(1), z[None], variance, np.zeros(2, int))
        )
        d = lines.directions[0]
        # the ratio of the entries does not depend on phase and length
        ratio = d[1] / d[0]
        gradient = np.array([-ratio / d[0], 1 / d[0]])
        C = lines.covariance[1:5, 1:5]
        C = 2 * (C[:2, :2] + 1j * C[2:, :2])
        error = ratio - b[1] / b[0]
        scores.append(abs(error) ** 2 / (gradient @ C @ gradient.conj()).real)
        logs.append((lines.log_energy[0] - np.log(1 + abs(b[1]) ** 2)) * np.sqrt(R))
        p.append(lines.p_value[0])
    assert 0.85 < np.mean(scores) < 1.15
    assert 0.85 < np.std(logs) < 1.2
    assert 0.42 < np.mean(p) < 0.58


def test_exact_lines_pass_the_adjustment_unchanged():
    for mass in (None, np.linalg.inv(SYSTEM.mass)):
        result = adjust_lines(exact_factors(SYSTEM, 2.5), mass)
        omega, factors = adjusted_lines(result, (4, 2))
        unit = 1.0 if mass is not None else np.sqrt(2.5)
        assert result.chi2 < 1e-15
        np.testing.assert_allclose(omega, SYSTEM.frequencies)
        np.testing.assert_allclose(np.abs(factors), unit * np.abs(SYSTEM.factors), rtol=1e-9)
        if mass is not None:
            np.testing.assert_allclose(np.exp(result.q), 2.5)


def test_derivatives_of_the_relations_equal_finite_differences():
    lines = exact_factors(SYSTEM)
    p = lines.measured
    q, mass = np.array([0.3]), np.linalg.inv(SYSTEM.mass)
    _, A, B = _relations(p, q, (4, 2), mass)
    step = 1e-6
    for i in range(len(p)):
        e = step * np.eye(len(p))[i]
        high, low = (_relations(p + t, q, (4, 2), mass)[0] for t in (e, -e))
        np.testing.assert_allclose(A[:, i], (high - low) / (2 * step), atol=1e-8)
    high, low = (_relations(p, q + t, (4, 2), mass)[0] for t in (step, -step))
    np.testing.assert_allclose(B[:, 0], (high - low) / (2 * step), atol=1e-8)


def test_leaving_out_trials_is_the_fit_without_them():
    """One Gauss-Newton step against the whole fit of the other trials, in standard errors."""
    record = records(SYSTEM, 4, trials=60)
    weights = np.ones(2)
    samplings = samplings_of(record)[0]
    fit = refine(samplings, SYSTEM.frequencies, weights, tolerance=1e-10)
    full = line_amplitudes(samplings, fit, np.zeros(2, int))
    found = without_groups(samplings, fit, full, 10)[3]
    keep = np.arange(60) % 10 != 3
    others = samplings_of(Record([record.trials[r] for r in np.flatnonzero(keep)], dt=0.1))[0]
    again = refine(others, SYSTEM.frequencies, weights, tolerance=1e-10)
    moved = np.abs(again.omega - fit.omega)
    np.testing.assert_allclose(found.omega, again.omega, rtol=0, atol=0.02 * moved.max())
    brute = line_factors(line_amplitudes(others, again, np.zeros(2, int)))
    quick = line_factors(found)
    np.testing.assert_allclose(quick.log_energy, brute.log_energy, atol=1e-3)
    np.testing.assert_allclose(quick.directions, brute.directions, atol=2e-4)


# -- from records --------------------------------------------------------------------------------


def test_lines_are_found_and_turn():
    model = identify_gyroscopic(records(SYSTEM, 1, noise=0.05), mass=SYSTEM.mass)
    np.testing.assert_allclose(model.frequencies, SYSTEM.frequencies, rtol=1e-4)
    np.testing.assert_allclose(model.gyroscopic[UPPER], SYSTEM.gyroscopic[UPPER], rtol=0.01)
    np.testing.assert_allclose(model.hidden_frequencies, SYSTEM.hidden_frequencies, rtol=0.01)
    np.testing.assert_allclose(model.mass, SYSTEM.mass, atol=1e-9)
    np.testing.assert_allclose(model.receptance(1.0 + 0j), SYSTEM.receptance(1.0), rtol=0.05)
    assert abs(model.temperature - 1) < 0.15
    assert model.rotating.all()
    assert model.evidence
    assert "4 of 4 lines turn, and no delay" in model.remarks[0]
    np.testing.assert_array_equal(model.sense(), np.sign(SYSTEM.residues[:, 0, 1].imag))
    assert {-1, 1} <= set(model.sense())


def scores(seeds, known):
    """z-scores of frequencies, γ and hidden frequencies, and relative errors of the last two."""
    z, gamma, hidden = [], [], []
    for seed in seeds:
        model = identify_gyroscopic(records(SYSTEM, seed), **known)
        assert len(model.frequencies) == 4
        parts = [
            (getattr(model, k) - getattr(SYSTEM, k)) / getattr(model, k + "_std")
            for k in ("frequencies", "hidden_frequencies")
        ]
        error = model.gyroscopic[UPPER] - SYSTEM.gyroscopic[UPPER]
        z.append(np.concatenate([*parts, error / model.gyroscopic_std[UPPER]]))
        gamma.append(error / SYSTEM.gyroscopic[UPPER])
        hidden.append(model.hidden_frequencies / SYSTEM.hidden_frequencies - 1)
    rms = [np.sqrt(np.mean(np.square(v), axis=0)) for v in (z, gamma, hidden)]
    return rms[0], float(rms[1][0]), rms[2]


@pytest.mark.parametrize(
    ("known", "gamma_error", "hidden_error"),
    [({"temperature": 1.0}, 0.045, 0.028), ({"mass": SYSTEM.mass}, 0.006, 0.009)],
)
def test_errors_are_calibrated_in_six_ensembles(known, gamma_error, hidden_error):
    z, gamma, hidden = scores(range(6), known)
    assert 0.6 < np.sqrt(np.mean(z**2)) < 1.4
    assert gamma < gamma_error
    assert hidden.max() < hidden_error


@pytest.mark.study
@pytest.mark.parametrize(
    ("known", "gamma_error", "hidden_error"),
    [({"temperature": 1.0}, 0.031, 0.018), ({"mass": SYSTEM.mass}, 0.0035, 0.006)],
)
def test_study_of_calibration(known, gamma_error, hidden_error):
    z, gamma, hidden = scores(range(100), known)
    assert np.all((z > 0.75) & (z < 1.25))
    assert gamma < gamma_error
    assert hidden.max() < hidden_error


def test_the_joint_covariance_has_the_errors_on_its_diagonal():
    fit = fit_gyroscopic(records(SYSTEM, 2, trials=60), mass=SYSTEM.mass)
    for name in ("frequencies", "hidden_frequencies", "gyroscopic", "static_stiffness"):
        np.testing.assert_array_equal(fit.joint.value(name), getattr(fit, name))
        np.testing.assert_array_equal(fit.joint.std(name), getattr(fit, f"{name}_std"))
    np.testing.assert_array_equal(fit.joint.value("residues_imag"), fit.residues.imag)
    np.testing.assert_array_equal(fit.joint.std("residues_imag"), fit.residues_std.imag)
    # Hermitian residues: an entry and its mirror have the same error, fully correlated
    C = fit.joint.between("residues_real")
    np.testing.assert_allclose(C[1, 2], C[1, 1], rtol=1e-9)
    # the static stiffness is what the hidden part leaves of the other
    static = fit.stiffness - line_sum(fit.hidden_frequencies, fit.couplings, 0j).real
    np.testing.assert_allclose(fit.static_stiffness, static, rtol=1e-9)
    assert fit.lines.motion.omega == pytest.approx(fit.frequencies, rel=1e-3)


def test_the_fit_says_what_it_does():
    told = []
    fit_gyroscopic(records(SYSTEM, 2, trials=20), progress=told.append)
    assert "leaving out trials" in told[-1]


def test_without_scale_frequencies_and_ratios_are_the_same():
    record = records(SYSTEM, 2)
    free, hot = identify_gyroscopic(record), identify_gyroscopic(record, temperature=2.0)
    assert free.temperature is None
    assert "kT" in free.scale
    assert hot.temperature == 2.0
    np.testing.assert_allclose(free.hidden_frequencies, hot.hidden_frequencies)
    np.testing.assert_allclose(hot.mass, 2 * free.mass, rtol=1e-9)
    np.testing.assert_allclose(
        np.linalg.solve(hot.mass, hot.gyroscopic), np.linalg.solve(free.mass, free.gyroscopic)
    )


def test_spinning_disc_from_its_translations():
    disc = rotor()
    model = identify_gyroscopic(records(disc, 0, noise=0.05), mass=1.0)
    z = (model.hidden_frequencies - disc.hidden_frequencies) / model.hidden_frequencies_std
    assert np.abs(z).max() < 4
    np.testing.assert_allclose(model.hidden_frequencies, disc.hidden_frequencies, rtol=0.06)
    assert abs(model.gyroscopic[0, 1]) < 4 * model.gyroscopic_std[0, 1]


def test_foucault_pendulum_gives_the_rotation_of_its_frame():
    model = identify_gyroscopic(records(foucault_pendulum(0.15), 0), mass=1.0)
    assert abs(model.gyroscopic[1, 0] - 0.3) < 4 * model.gyroscopic_std[1, 0] < 1e-3
    assert len(model.hidden_frequencies) == 0


def test_a_channel_may_measure_velocity():
    t = 0.1 * np.arange(1000)
    rng = np.random.default_rng(5)
    a = rng.standard_normal((300, 4)) + 1j * rng.standard_normal((300, 4))
    phase = np.exp(1j * np.multiply.outer(SYSTEM.frequencies, t))
    z = 2 * np.sqrt(0.5) * a[:, :, None] * SYSTEM.factors
    z[:, :, 1] *= 1j * SYSTEM.frequencies  # the second channel is a velocity
    values = np.einsum("rja,jt->rta", z, phase).real
    values += 0.05 * values.std(axis=(0, 1)) * rng.standard_normal(values.shape)
    record = Record(values, dt=0.1, quantity=["displacement", "velocity"])
    model = identify_gyroscopic(record, mass=SYSTEM.mass)
    np.testing.assert_allclose(model.gyroscopic[UPPER], SYSTEM.gyroscopic[UPPER], rtol=0.01)


def test_missing_samples_and_unequal_trials_do_not_matter():
    values = [np.array(v) for v in records(SYSTEM, 6, trials=60).trials]
    for r in range(0, 60, 2):
        values[r][100:140, 0] = np.nan
    for r in range(1, 60, 4):
        values[r] = values[r][:800]
    model = identify_gyroscopic(Record(values, dt=0.1), mass=SYSTEM.mass)
    z = (model.hidden_frequencies - SYSTEM.hidden_frequencies) / model.hidden_frequencies_std
    assert np.abs(z).max() < 4
    np.testing.assert_allclose(model.gyroscopic[UPPER], SYSTEM.gyroscopic[UPPER], rtol=0.03)


def test_reciprocal_system_shows_no_gyroscopic_matrix():
    system = chain()
    model = identify_gyroscopic(records(system, 0), mass=system.mass)
    assert not model.rotating.any()
    assert not model.evidence
    assert "no line turns" in model.remarks[0]
    assert abs(model.gyroscopic[0, 1]) < 4 * model.gyroscopic_std[0, 1]
    np.testing.assert_allclose(model.hidden_frequencies, system.hidden_frequencies, rtol=0.02)


def test_delay_between_channels_is_not_taken_for_a_gyroscopic_force():
    """It turns the lines too, and to first order in the delay passes the relations."""
    values = np.array(records(chain(), 0).trials)
    late = np.stack([values[:, 2:, 0], values[:, :-2, 1]], axis=2)
    model = identify_gyroscopic(Record(late, dt=0.1))
    assert model.rotating.any()
    assert model.delay.p_value > 1e-4
    np.testing.assert_allclose(model.delay.delays, [0, 0.2], atol=0.01)
    assert not model.evidence
    assert "may be such a delay" in model.remarks[0]


def test_two_modes_at_one_frequency_are_refused():
    equal = GyroscopicSystem(np.eye(2), np.zeros((2, 2)), np.eye(2), np.eye(2))
    third = np.diag([1.0, 1.0, 4.0])
    both = GyroscopicSystem(np.eye(3), np.zeros((3, 3)), third, [[1, 0, 0.5], [0, 1, 0.5]])
    with pytest.raises(CannotTellError, match="more than one complex direction"):
        identify_gyroscopic(records(both, 0))
    with pytest.raises(CannotTellError, match="at least as many lines"):
        identify_gyroscopic(records(equal, 0))


def test_what_is_not_equilibrium_is_refused():
    """One line with a hundred times its energy: positions would not commute."""
    energies = np.array([1.0, 100.0, 1.0, 1.0]) * np.random.default_rng(0).exponential(
        size=(300, 4)
    )
    record = SYSTEM.free(100.0, 0.1, trials=300, energies=energies, noise=0.02, rng=0)
    with pytest.raises(CannotTellError, match="not those of positions at equilibrium"):
        identify_gyroscopic(record)


def test_wrong_options_are_refused():
    record = records(SYSTEM, 0, trials=20)
    for known in (
        {"temperature": 1.0, "mass": SYSTEM.mass},
        {"temperature": -1.0},
        {"mass": np.eye(3)},
        {"mass": -np.eye(2)},
    ):
        with pytest.raises(OptionError):
            identify_gyroscopic(record, **known)
    with pytest.raises(CannotTellError, match="3 trials"):
        identify_gyroscopic(records(SYSTEM, 0, trials=3))
