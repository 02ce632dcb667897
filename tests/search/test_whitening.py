"""Noise shared by channels and unequal between trials: estimate, tests, and dense least squares."""

import numpy as np
import pytest
import scipy.linalg

from prism import Record, identify, load
from prism.errors import NoLineError
from prism.motion.decays.decays import fit_decays
from prism.motion.steady import estimate_lines
from prism.motion.steady.inphase import fit_in_phase
from prism.motion.steady.unmixed import unmixed
from prism.search.series import samplings_of
from prism.search.whitening import Whitening, whitening_of

STEP = 0.1
OMEGA = np.array([3.1, 7.7, 12.9])
SHAPES = np.array([[0.5, -0.3, 0.7, 0.41], [0.8, 0.4, -0.3, 0.33], [0.3, 0.6, 0.1, -0.73]])
SHAPES /= np.linalg.norm(SHAPES, axis=1, keepdims=True)


def shared(n, rho):
    return np.full((n, n), rho) + (1 - rho) * np.eye(n)


def noise(rng, samples, n, rho):
    return rng.standard_normal((samples, n)) @ np.linalg.cholesky(shared(n, rho)).T


def moving(rng, samples, *, rho=0.9, size=1.0, level=1.0, omega=OMEGA, shapes=SHAPES):
    t = STEP * np.arange(samples)
    z = size * np.cos(np.multiply.outer(t, omega) + rng.uniform(0, 2 * np.pi, len(omega)))
    return z @ shapes + level * noise(rng, samples, shapes.shape[1], rho)


def lines_of(record):
    try:
        return estimate_lines(record, false_alarm=1e-3)
    except NoLineError:
        return None


# -- the dense version: least squares with the covariance of all numbers ---------------------------


class Dense:
    """Generalised least squares with the full covariance of channels × samples, every trial."""

    def __init__(self, record, S, levels, orders):
        self.record, self.orders = record, orders
        self.n = record.n_channels
        self.roots = []
        for values, level in zip(record.trials, levels, strict=True):
            whole = level**2 * np.kron(np.eye(len(values)), S)
            self.roots.append(np.linalg.cholesky(whole))

    def model(self, omega, shapes, trial):
        """Columns of (cosine, sine of every mode, offset of every channel), all numbers."""
        t = self.record.times[trial]
        lag = t - 0.5 * (t[0] + t[-1])
        out = []
        for part in (1.0, -1j):
            for w, d in zip(omega, shapes, strict=True):
                seen = d * (1j * w) ** self.orders * part
                out.append((np.exp(1j * w * lag)[:, None] * seen).real.ravel())
        out += [np.tile(row, len(t)) for row in np.eye(self.n)]
        return np.array(out).T

    def fit(self, omega, shapes):
        """Of every trial: rest, columns and amplitudes, and derivatives by (Ω, d), all whitened."""
        out = []
        for r, (y, root) in enumerate(zip(self.record.trials, self.roots, strict=True)):
            E, x = (_whitened(root, what) for what in (self.model(omega, shapes, r), y.ravel()))
            c = np.linalg.lstsq(E, x, rcond=None)[0]
            D = _whitened(root, self._derivatives(omega, shapes, r, c))
            out.append((x - E @ c, E, c, D))
        return out

    def _derivatives(self, omega, shapes, trial, c, h=1e-5):
        at, columns = np.concatenate([omega, shapes.ravel()]), []
        for step in h * np.eye(len(at)):
            ends = [
                self.model(p[: len(omega)], p[len(omega) :].reshape(shapes.shape), trial) @ c
                for p in (at + step, at - step)
            ]
            columns.append((ends[0] - ends[1]) / (2 * h))
        return np.array(columns).T


def _whitened(root, what):
    return scipy.linalg.solve_triangular(root, what, lower=True)


def dense_case(orders):
    rng = np.random.default_rng(3)
    omega, n = OMEGA[:2], 3
    shapes = SHAPES[:2, :n] / np.linalg.norm(SHAPES[:2, :n], axis=1, keepdims=True)
    S = np.array([[1.0, 0.7, 0.0], [0.7, 1.4, 0.0], [0.0, 0.0, 0.6]])
    S = S if orders.any() else S + 0.3
    levels = np.array([0.6, 1.3])
    trials = []
    for level in levels:
        t = STEP * np.arange(60)
        y = level * rng.standard_normal((60, n)) @ np.linalg.cholesky(S).T
        for w, d in zip(omega, shapes, strict=True):
            z = 3 * np.exp(1j * (w * t + rng.uniform(0, 6)))[:, None]
            y = y + (z * (1j * w) ** orders * d).real
        trials.append(y)
    groups = (np.array([0, 1]), np.array([2])) if orders.any() else (np.arange(3),)
    root = np.linalg.inv(np.linalg.cholesky(S))
    record = Record(trials, dt=STEP)
    return record, S, Whitening(root, levels, groups, S), omega, shapes


@pytest.mark.parametrize("orders", [np.zeros(3, int), np.array([0, 0, 1])])
def test_the_whitened_fit_is_generalised_least_squares(orders):
    record, S, whitening, omega, shapes = dense_case(orders)
    samplings, trials, means = samplings_of(whitening.applied(record))
    start = shapes @ whitening.matrix.T
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    mixed = fit_in_phase(samplings, omega, np.arange(2), start, np.ones(3), orders, background=1)
    fit = unmixed(mixed, whitening, trials)
    parts = Dense(record, S, whitening.levels, orders).fit(fit.omega, fit.shapes)
    whole, explained = sum(float(one.power.sum()) for one in samplings), 0.0
    gradient, fisher = 0.0, 0.0
    for r, (i, place) in enumerate(trials):
        rest, E, c, D = parts[r]
        v, motion = mixed.motions[i].values[:, place], fit.motions[i]
        explained += float(v @ np.linalg.solve(mixed.motions[i].covariance, v))
        # amplitudes, their covariance, and how they follow frequencies and shapes
        ours = motion.values[:, place].copy()
        ours[4:] += whitening.restored(list(means))[r]
        np.testing.assert_allclose(ours, c, rtol=1e-8, atol=1e-10)
        inverse = np.linalg.inv(E.T @ E)
        close(motion.covariance * motion.scatter[place], inverse)
        close(motion.sensitivity[place] @ tangent_of(fit), -inverse @ E.T @ D @ tangent_of(fit))
        D = (D - E @ inverse @ (E.T @ D)) @ tangent_of(fit)
        gradient, fisher = gradient + D.T @ rest, fisher + D.T @ D
    assert sum(rest @ rest for rest, *_ in parts) == pytest.approx(whole - explained, rel=1e-8)
    # the same minimum and the same covariance
    inverse = np.linalg.inv(fisher)
    assert np.abs(inverse @ gradient / np.sqrt(np.diag(inverse))).max() < 1e-3
    close(fit.covariance, tangent_of(fit) @ inverse @ tangent_of(fit).T)


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-8 * np.abs(theirs).max())


def tangent_of(fit):
    """Directions in which frequencies and unit shapes may move."""
    return scipy.linalg.block_diag(
        np.eye(len(fit.omega)), *(scipy.linalg.null_space(d[None]) for d in fit.shapes)
    )


def test_a_pair_of_modes_at_one_frequency_comes_back_orthonormal():
    rng = np.random.default_rng(1)
    t = STEP * np.arange(400)
    D = np.linalg.qr(rng.standard_normal((3, 2)))[0].T
    z = np.stack([np.cos(4 * t), np.sin(4 * t + 0.4)], axis=1)
    record = Record(z @ D + 0.1 * noise(rng, 400, 3, 0.8), dt=STEP)
    A = np.linalg.inv(np.linalg.cholesky(shared(3, 0.8)))
    whitening = Whitening(A, np.array([1.0]), (np.arange(3),), shared(3, 0.8))
    samplings, trials, _ = samplings_of(whitening.applied(record))
    start = np.linalg.qr(A @ D.T)[0].T
    fit = fit_in_phase(
        samplings, np.array([4.0]), np.zeros(2, int), start, np.ones(3), np.zeros(3, int)
    )
    back = unmixed(fit, whitening, trials)
    np.testing.assert_allclose(back.shapes @ back.shapes.T, np.eye(2), atol=1e-12)
    ours = np.einsum("ma,m->a", back.shapes, back.motions[0].values[:2, 0])
    theirs = whitening.inverse @ np.einsum("ma,m->a", fit.shapes, fit.motions[0].values[:2, 0])
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    np.testing.assert_allclose(back.covariance[1:4, 1:4] @ back.shapes[0], 0, atol=1e-12)


# -- the estimate ----------------------------------------------------------------------------------


def rests_of(rng, samples, n, rho, levels=(1.0,)):
    return [level * noise(rng, samples, n, rho) for level in levels]


def asked(rests, quantity=None, **options):
    n = rests[0].shape[1]
    kinds = quantity or ["displacement"] * n
    return whitening_of(rests, [STEP] * len(rests), np.zeros(0), kinds, **options)


def test_correlation_and_levels_are_found():
    levels = np.array([0.5, 1.0, 1.6])
    found = asked(rests_of(np.random.default_rng(0), 3000, 3, 0.6, levels))
    assert found.mixes
    assert found.unequal
    np.testing.assert_allclose(found.correlation, shared(3, 0.6), atol=0.05)
    np.testing.assert_allclose(found.levels, levels / np.sqrt(np.mean(levels**2)), rtol=0.05)
    S = shared(3, 0.6) * np.mean(levels**2)
    np.testing.assert_allclose(found.matrix @ S @ found.matrix.T, np.eye(3), atol=0.1)


def test_plain_noise_is_left_alone():
    rng = np.random.default_rng(7)
    assert all(asked(rests_of(rng, 400, 4, 0.0, (1.0,) * 3)) is None for _ in range(100))


def test_lines_that_were_not_found_do_not_look_like_correlation():
    rng = np.random.default_rng(2)
    t = STEP * np.arange(2000)
    common = np.cos(2 * np.pi * 40 * t / t[-1] + 0.3)[:, None]
    assert asked([noise(rng, 2000, 3, 0.0) + 0.3 * common]) is None


def test_channels_of_different_quantities_are_not_mixed():
    rests = rests_of(np.random.default_rng(0), 2000, 3, 0.8)
    found = asked(rests, ["displacement", "displacement", "velocity"])
    np.testing.assert_array_equal(found.matrix[2, :2], 0)
    np.testing.assert_array_equal(found.matrix[:2, 2], 0)
    assert asked(rests, ["displacement", "velocity", "acceleration"]) is None


def test_many_channels_in_few_samples_stay_well_conditioned():
    rng = np.random.default_rng(4)
    found = asked(rests_of(rng, 240, 24, 0.5))
    size = np.linalg.eigvalsh(found.matrix @ shared(24, 0.5) @ found.matrix.T)
    assert size[0] > 0.3
    assert size[-1] < 3
    assert asked(rests_of(rng, 240, 24, 0.0)) is None


def test_noise_of_one_colour_is_mixed_and_of_several_only_where_that_explains_it():
    rng = np.random.default_rng(5)
    e = noise(rng, 4000, 3, 0.8)
    y = np.zeros_like(e)
    for k in range(1, len(e)):
        y[k] = 0.8 * y[k - 1] + e[k]
    found = asked([y], coloured=True)
    np.testing.assert_allclose(found.correlation, shared(3, 0.8), atol=0.06)


def test_restoring_undoes_what_was_applied():
    rng = np.random.default_rng(0)
    record = Record(list(rng.standard_normal((2, 50, 3))), dt=STEP)
    whitening = Whitening(
        rng.standard_normal((3, 3)), np.array([0.5, 2.0]), (np.arange(3),), np.eye(3)
    )
    back = whitening.restored(list(whitening.applied(record).trials))
    for one, other in zip(back, record.trials, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


# -- what comes of it ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 8])
def test_correlated_noise_alone_shows_no_lines(n):
    rng = np.random.default_rng(11)
    assert all(lines_of(Record(noise(rng, 600, n, 0.5), dt=STEP)) is None for _ in range(8))


def test_trials_of_unequal_noise_alone_show_no_lines():
    rng = np.random.default_rng(12)
    for _ in range(4):
        levels = np.exp(0.5 * rng.standard_normal(8))
        assert lines_of(Record(rests_of(rng, 300, 3, 0.0, levels), dt=STEP)) is None


def test_lines_in_correlated_noise_are_found_as_well_as_can_be():
    rng, z = np.random.default_rng(13), []
    for _ in range(12):
        lines = lines_of(Record(moving(rng, 600), dt=STEP))
        assert len(lines.fit.omega) == 3
        z.append((lines.fit.omega - OMEGA) / np.sqrt(np.diag(lines.fit.covariance)[:3]))
        assert lines.noise == pytest.approx(np.ones(4), rel=0.12)
        assert lines.correlation[0, 1] == pytest.approx(0.9, abs=0.05)
    assert 0.7 < np.sqrt(np.mean(np.square(z))) < 1.35
    # channels that count as independent would know this frequency nearly twice less well
    assert np.sqrt(lines.fit.covariance[0, 0]) < 0.6 * np.sqrt(6 * 4 / (600 * (600 * STEP) ** 2))


def test_forecast_noise_and_motion_are_in_the_units_of_the_record():
    rng = np.random.default_rng(14)
    levels = (0.5, 1.0, 2.0)
    record = Record([7 + 100 * moving(rng, 500, level=s) for s in levels], dt=STEP)
    model = identify(record)
    assert {remark.code for remark in model.identifiability.remarks} >= {
        "correlated-noise",
        "unequal-noise",
    }
    assert model.noise_correlation[0, 1] == pytest.approx(0.9, abs=0.05)
    std = []
    for r in range(3):
        made = model.trajectories.at(record.times[r], r)
        rest = record.trials[r] - made.values
        np.testing.assert_allclose(rest.std(axis=0), made.noise_std, rtol=0.15)
        np.testing.assert_allclose(
            model.trajectories.values(record.times[r], r), made.values, atol=1e-8
        )
        std.append(made.std.mean())
    # errors of amplitudes are the trial's own, those of frequencies and shapes are shared
    assert 1.5 < std[2] / std[0] < 4


def test_a_saved_model_keeps_correlation_and_levels(tmp_path):
    rng = np.random.default_rng(15)
    record = Record([moving(rng, 300, level=s) for s in (0.5, 2.0)], dt=STEP)
    model = identify(record)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_allclose(again.noise_correlation, model.noise_correlation)
    one, other = (m.trajectories.at(record.times[1][:5] + 40, 1) for m in (model, again))
    np.testing.assert_allclose(one.std, other.std, rtol=1e-9)
    np.testing.assert_allclose(one.noise_std, other.noise_std, rtol=1e-9)


def test_rows_that_are_not_whole_are_given_up_and_that_is_said():
    rng = np.random.default_rng(16)
    values = moving(rng, 600)
    values[rng.random(values.shape) < 0.03] = np.nan
    model = identify(Record(values, dt=STEP))
    (said,) = [r for r in model.identifiability.remarks if r.code == "correlated-noise"]
    assert "left out" in str(said)
    assert len(model.modes) == 3
    values[rng.random(values.shape) < 0.3] = np.nan
    (said,) = [
        r
        for r in identify(Record(values, dt=STEP)).identifiability.remarks
        if r.code == "correlated-noise"
    ]
    assert "could not be used" in str(said)


def test_uneven_times_are_whitened_too():
    rng = np.random.default_rng(17)
    t = np.sort(rng.uniform(0, 60, 600))
    z = np.cos(np.multiply.outer(t, OMEGA))
    lines = lines_of(Record(z @ SHAPES + noise(rng, 600, 4, 0.9), t=t))
    assert len(lines.fit.omega) == 3
    assert lines.correlation[0, 1] == pytest.approx(0.9, abs=0.05)


def test_decays_in_correlated_noise():
    rng, z, shape = np.random.default_rng(18), [], []
    t = 0.05 * np.arange(800)
    omega, zeta = np.array([4.0, 9.0]), np.array([0.01, 0.008])
    poles = omega * (-zeta + 1j * np.sqrt(1 - zeta**2))
    for _ in range(6):
        start = 3 * np.exp(2j * np.pi * rng.random(2))
        y = (np.exp(np.multiply.outer(t, poles)) * start).real @ SHAPES[:2]
        fit = fit_decays(Record(2 + y + noise(rng, 800, 4, 0.9), dt=0.05))
        assert len(fit.frequencies) == 2
        z += list((fit.frequencies - omega) / fit.frequencies_std)
        z += list((fit.damping - zeta) / fit.damping_std)
        shape += list(((fit.shapes - SHAPES[:2]) / fit.shapes_std).ravel())
        np.testing.assert_allclose(fit.noise_std, 1, rtol=0.15)
        np.testing.assert_allclose(np.median(fit.offset), 2, atol=0.2)
        rest = y + 2 - fit.forecast(t)[0]
        assert np.sqrt(np.mean(rest**2)) < 0.3
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.45
    assert 0.7 < np.sqrt(np.mean(np.square(shape))) < 1.4


def test_channels_that_are_never_seen_together_cannot_be_compared():
    rest = np.random.default_rng(3).standard_normal((400, 2))
    rest[::2, 0] = rest[1::2, 1] = np.nan
    assert whitening_of([rest], [None], np.zeros(0), ["displacement"] * 2) is None


def test_a_trial_that_is_far_noisier_counts_accordingly():
    """All its cells stood out, none was kept, and its level was that of the others."""
    t, rng = 0.4 * np.arange(1000), np.random.default_rng(11)
    true = np.array([1.0, 0.9, 1.1, 1.0, 60.0, 1.2])
    values = [
        np.cos(np.outer(t, [0.95, 1.7]) + rng.uniform(0, 6.3, 2)) @ [[0.8, 0.5], [0.4, -0.7]]
        + 0.05 * level * rng.standard_normal((1000, 2))
        for level in true
    ]
    model = identify(Record(np.array(values), dt=0.4))
    assert (model.kind, len(model.modes)) == ("steady", 2)
    (said,) = [str(r) for r in model.identifiability.remarks if r.code == "unequal-noise"]
    assert "to 2.4 times the rms of all" in said
