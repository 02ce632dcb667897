"""One likelihood for all kinds of motion, against its dense form."""

import numpy as np
import pytest

import prism
from prism.motion.account import Account, blocks, costs, lines_of, price_of, usable
from prism.motion.driven.driven import fit_driven


@pytest.fixture
def noise():
    rng = np.random.default_rng(3)
    mixed = rng.standard_normal((2000, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    return prism.Record(mixed, dt=0.1)


def filter_of(r):
    """Yule and Walker's equations of second order, written out."""
    c = [r @ r, r[1:] @ r[:-1], r[2:] @ r[:-2]]
    return np.linalg.solve([[c[0], c[1]], [c[1], c[0]]], c[1:])


def dense(record, rests):
    """Minus twice the log-likelihood of all Fourier lines, block by block, written out."""
    y = rests[0]
    first, second = np.array([filter_of(channel) for channel in (y - y.mean(0)).T]).T
    total, lines = 0.0, lines_of(record, [y[2:] - first * y[1:-1] - second * y[:-2]])
    for block in blocks(lines, ()):
        R = sum(np.outer(y, y.conj()) for y in lines.values[block]) / len(block)
        R = R if len(block) >= 12 else np.diag(np.diag(R))
        for y in lines.values[block]:
            total += 2 * (np.log(np.linalg.det(R).real) + (y.conj() @ np.linalg.solve(R, y)).real)
    return total


def test_cost_is_the_dense_likelihood(noise):
    account = Account(noise.trials, 7.5)
    assert costs(noise, [account])[0] == pytest.approx(dense(noise, noise.trials) + 7.5, rel=1e-9)


def test_a_line_taken_out_gains_its_energy_over_the_noise():
    # in white noise of known variance the gain of a line is its energy over that variance
    rng = np.random.default_rng(8)
    t = 0.1 * np.arange(4000)
    noise = rng.standard_normal((4000, 1))
    line = 0.08 * np.cos(2 * np.pi * 700 * t / 400.0)[:, None]
    record = prism.Record(noise + line, dt=0.1)
    before, after = costs(record, [Account(record.trials, 0.0), Account((noise,), 0.0)])
    energy = float(np.sum((noise + line) ** 2 - noise**2))
    assert before - after == pytest.approx(energy, rel=0.1)


def test_blocks_hold_every_line_once(noise):
    lines = lines_of(noise, noise.trials)
    held = np.concatenate(blocks(lines, ()))
    assert len(held) == len(set(held.tolist()))
    slow = lines.omega < 2 * np.pi * 3 / lines.longest
    assert set(held.tolist()) == set(np.flatnonzero(~slow).tolist())


def test_random_motion_is_weighed_by_its_spectrum():
    # the lead of random motion over no motion does not hang on the units of the record
    chain = prism.systems.chain(2, observed=[0, 1])
    record = prism.systems.driven(chain, 300, 0.2, damping=0.02, noise=0.1, rng=1)
    leads = []
    for unit in (1.0, 1e6):
        scaled = prism.Record(unit * record.trials[0], dt=0.2)
        fit = fit_driven(scaled)
        random, nothing = costs(
            scaled, [Account(scaled.trials, 0.0, fit.bands), Account(scaled.trials, 0.0)]
        )
        leads.append(nothing - random)
    assert len(fit) == 2
    assert leads[0] > 500
    assert leads[1] == pytest.approx(leads[0], rel=1e-6)


def test_what_has_no_fourier_lines_is_not_weighed(noise):
    assert usable(noise)
    assert not usable(
        prism.Record(noise.trials[0], t=np.sort(np.random.default_rng(0).random(2000)))
    )
    holes = noise.trials[0].copy()
    holes[5] = np.nan
    assert not usable(prism.Record(holes, dt=0.1))
    assert price_of(noise, 3) == pytest.approx(3 * np.log(4000))


def test_a_noisy_trial_is_not_all_that_counts():
    """Who takes a part of its noise away gained more than who explains all other trials."""
    rng = np.random.default_rng(5)
    noise = rng.standard_normal((5, 800, 1))
    noise[2] *= 20
    line = 0.4 * np.cos(1.3 * 0.2 * np.arange(800))[:, None]
    record = prism.Record(noise + line, dt=0.2)
    taken = np.fft.rfft(record.trials[2], axis=0)
    taken[np.r_[0:30, 50:401]] = 0.0
    part = np.fft.irfft(taken, 800, axis=0)
    rival = tuple(y - part * (r == 2) for r, y in enumerate(record.trials))
    explained, imitated = costs(record, [Account(tuple(noise), 0.0), Account(rival, 0.0)])
    assert explained < imitated - 50
