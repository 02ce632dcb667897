"""Positive semidefinite residues: rank two, overlapping lines, the memory kernel."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest

import prism
from prism.correlation import Correlation, CosineSum, correlate
from prism.deconvolution import kernel_at_equilibrium
from prism.errors import MissingDependencyError, OptionError
from prism.motion.steady._convex import band_top, default_grid
from prism.motion.steady.nnls import nnls_lines
from prism.motion.steady.sdp import (
    correlation_residues,
    estimate_sdp,
    kernel_residues,
    psd_spectrum,
)
from prism.record import Record
from prism.systems import LinearSystem, chain


def isotropic_pair(*, third=False):
    """Two seen coordinates of one frequency, each coupled to its own of two equal hidden modes.

    The couplings are turned by 0.4 rad. With ``third``, one more hidden mode on the first
    coordinate: no visible line is degenerate then, but the bare frequency still is.
    """
    turn = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    size = 5 if third else 4
    K = np.diag([3.0, 3.0, 1.5, 1.5, 4.0][:size])
    K[:2, 2:4], K[2:4, :2] = 0.8 * turn, 0.8 * turn.T
    if third:
        K[0, 4] = K[4, 0] = 0.7
    return LinearSystem(np.eye(size), K, np.eye(size)[:2])


PAIR, TRIPLE = isotropic_pair(), isotropic_pair(third=True)

needs_solver = pytest.mark.skipif(
    not (find_spec("cvxpy") and find_spec("clarabel")),
    reason="needs the extra sdp",
)


def exact_correlation(omega, amplitudes, noise=0.0, lags=2000, step=0.05):
    values = CosineSum(np.asarray(omega), amplitudes)(step * np.arange(lags + 1))
    values = values + noise * np.random.default_rng(0).standard_normal(values.shape)
    return Correlation(step, values, np.ones_like(values), 2 * lags * step, np.zeros(2, int))


def degenerate_residue(system, frequency):
    same = np.abs(system.frequencies - frequency) < 0.05
    return system.residues[same].sum(axis=0)


def rank_two_errors(trials, seed):
    """Relative errors of the two rank-two residues of the pair."""
    record = PAIR.equilibrium(60, 0.05, trials=trials, noise=0.1, rng=seed)
    correlation = correlate(record)
    lines = correlation_residues(correlation, default_grid(correlation, band_top(record, 1e-3)))
    assert [line.rank for line in lines] == [2, 2]
    errors = []
    for line in lines:
        truth = degenerate_residue(PAIR, line.frequency)
        found = line.frequency**2 * line.residue
        errors.append(np.linalg.norm(found - truth) / np.linalg.norm(truth))
    return errors


@needs_solver
def test_rank_two_residue_within_five_percent():
    """2000 canonical records: their energies scatter by 2.2 %, those of 300 by 5.8 %."""
    assert max(rank_two_errors(2000, 0)) < 0.05


@needs_solver
@pytest.mark.study
def test_rank_two_residue_over_20_seeds():
    errors = np.array([rank_two_errors(2000, seed) for seed in range(20)])
    assert np.median(errors) < 0.04
    assert np.mean(errors < 0.05) > 0.9


@needs_solver
def test_identify_with_degenerate_lines():
    record = PAIR.equilibrium(60, 0.05, trials=50, noise=0.1, rng=0)
    model = prism.identify(record, method="sdp", experiment="equilibrium", mass="identity")
    np.testing.assert_allclose(model.modes.frequencies, PAIR.frequencies, rtol=2e-3)
    assert model.hamiltonian is not None
    h = model.hamiltonian
    z = (h.hidden_frequencies - PAIR.hidden_frequencies[: len(h.hidden_frequencies)]) / (
        h.hidden_frequencies_std
    )
    assert np.abs(z).max() < 4
    assert model.certificate.passive


@needs_solver
@pytest.mark.parametrize("distance", [0.5, 0.2])
def test_lines_nearer_than_the_resolution_separate(distance):
    """Two lines of different direction; on the trace alone they are one."""
    width = 2 * np.pi / 100
    omega = np.array([1.0, 1.0 + distance * width, 2.0])
    d = np.array([[1, 0.3], [0.4, 1], [1, -0.5]])
    B = np.einsum("ja,jb->jab", d, d)
    correlation = exact_correlation(omega, B, noise=0.02)
    grid = default_grid(correlation, 2.5)
    lines = correlation_residues(correlation, grid)
    assert [line.rank for line in lines] == [1, 1, 1]
    np.testing.assert_allclose([line.frequency for line in lines], omega, atol=0.02 * width)
    np.testing.assert_allclose([line.residue for line in lines], B, atol=0.03)
    np.testing.assert_allclose(np.abs(lines[0].factors), [d[0]], atol=0.03)
    assert len(nnls_lines(correlation, grid)[0]) == 2


@needs_solver
def test_spectrum_is_optimal_on_the_whole_grid():
    """λ_max(H_j - Σ G_jk B_k) ≤ λ/2 everywhere, with equality where B_j is not zero."""
    d = np.array([[1, 0.3], [0.4, 1]])
    correlation = exact_correlation([1.0, 1.7], np.einsum("ja,jb->jab", d, d), 0.05, lags=400)
    grid = default_grid(correlation, 2.5)
    penalty = 5.0
    spectrum = psd_spectrum(correlation, grid, penalty=penalty)
    unit = np.sqrt(np.diag(correlation.values[0]))
    A = np.cos(np.outer(correlation.lags[1:], grid))
    rest = correlation.symmetric[1:] - np.tensordot(A, spectrum.residues, axes=1)
    slack = np.tensordot(A.T, rest / np.outer(unit, unit), axes=1)
    top = np.linalg.eigvalsh(slack)[:, -1]
    assert top.max() < 0.5 * penalty * 1.02
    active = spectrum.weights > 1e-3 * spectrum.weights.max()
    np.testing.assert_allclose(top[active], 0.5 * penalty, rtol=0.02)
    assert np.linalg.eigvalsh(spectrum.residues).min() > -1e-9


@needs_solver
def test_both_solvers_agree():
    pytest.importorskip("scs")
    record = PAIR.equilibrium(30, 0.05, trials=20, noise=0.1, rng=0)
    correlation = correlate(record)
    grid = default_grid(correlation, 2.5)
    a, b = (
        correlation_residues(correlation, grid, solver=solver) for solver in ("CLARABEL", "SCS")
    )
    np.testing.assert_allclose(
        [line.frequency for line in a], [line.frequency for line in b], rtol=1e-4
    )
    np.testing.assert_allclose(
        [line.residue for line in a], [line.residue for line in b], rtol=1e-2, atol=1e-2
    )


def exact_kernel(system, s):
    weights = 1 / (s[:, None] ** 2 + system.hidden_frequencies**2)
    return np.einsum("si,ia,ib->sab", weights, system.couplings, system.couplings)


@needs_solver
def test_kernel_with_a_degenerate_pole():
    """Exact K̂(s) of the pair with a third hidden mode: rank two at √1.5, rank one at 2."""
    s = 0.08 + 1j * np.linspace(0.5, 2.6, 60)
    lines = kernel_residues(exact_kernel(TRIPLE, s), s, np.arange(0.3, 3, 0.04))
    assert [line.rank for line in lines] == [2, 1]
    np.testing.assert_allclose([line.frequency for line in lines], [np.sqrt(1.5), 2], rtol=1e-3)
    np.testing.assert_allclose(lines[0].residue, 0.64 * np.eye(2), atol=1e-3)
    np.testing.assert_allclose(lines[1].residue, [[0.49, 0], [0, 0]], atol=1e-3)


@needs_solver
def test_kernel_from_data_with_a_degenerate_pole():
    """Equilibrium records, Kubo's relation, then the program: the bare residue of rank two."""
    record = TRIPLE.equilibrium(100, 0.05, trials=1000, noise=0.1, rng=0)
    s = 0.2 + 1j * np.linspace(0.5, 2.6, 60)
    kernel = kernel_at_equilibrium(correlate(record), s, TRIPLE.mass, TRIPLE.stiffness)
    line = kernel_residues(kernel, s, np.arange(0.3, 3, 0.1))[0]
    assert line.rank == 2
    assert line.frequency == pytest.approx(np.sqrt(1.5), rel=0.01)
    assert np.linalg.norm(line.residue - 0.64 * np.eye(2)) < 0.08 * 0.64 * np.sqrt(2)


def test_refusals(monkeypatch):
    record = chain().free(20, 0.1, rng=0)
    mixed = Record(record.trials[0], dt=0.1, quantity=["displacement", "velocity"])
    with pytest.raises(OptionError, match="one kind"):
        psd_spectrum(correlate(mixed))
    with pytest.raises(OptionError, match="do not fit"):
        kernel_residues(np.zeros((3, 2, 2)), [1.0], np.arange(1.0, 2.0, 0.1))
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingDependencyError, match=r"prism-id\[sdp\]"):
        estimate_sdp(record, false_alarm=1e-3)
