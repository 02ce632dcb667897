"""The price of a mode against the dense version: the largest gain of noise over all modes."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom, chi2

from prism.motion.forced.response.price import price_of

LINES = 40


def grid(n, lines=LINES):
    omega = np.linspace(0.3, 1.0, lines)
    return SimpleNamespace(omega=omega, x=omega**2, ports=n)


def largest_gain(data, eta, rng, draws):
    """Of white noise, over poles on a fine grid and all unit directions (largest eigenvalue)."""
    x, n = data.x, data.ports
    steps = np.arange(40) / 40 + 1 / 80
    poles = (x[:-1, None] + np.diff(x)[:, None] * steps).ravel()
    psi = 1 / (poles * (1 + 1j * eta) - x[:, None])
    psi /= np.linalg.norm(psi, axis=0)
    out = np.empty(draws)
    for k in range(draws):
        # off the diagonal half the variance: the entry counts twice
        Z = rng.normal(size=(2, len(x), n, n))
        Z = Z[0] + 1j * Z[1] if eta else Z[0]
        Z = (Z + Z.swapaxes(1, 2)) / 2
        G = np.tensordot(psi.conj().T, Z, axes=1).real
        out[k] = max(np.linalg.eigvalsh(G)[:, -1].max(), 0.0) ** 2
    return out


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("eta", [0.0, 1e-3, 0.05])
def test_noise_exceeds_the_price_as_often_as_stated(n, eta):
    data, draws = grid(n), 300
    gains = largest_gain(data, eta, np.random.default_rng([n, int(1e4 * eta)]), draws)
    count = int((gains > price_of(data, 0.1, eta, own=False)).sum())
    low, high = binom.ppf([1e-3, 1 - 1e-3], draws, 0.1)
    # the length of the curve is an upper bound in between no loss and much
    assert (low if eta in (0.0, 0.05) else 0.5 * low) <= count <= high


@pytest.mark.parametrize("n", [1, 3])
def test_a_loss_of_its_own_has_the_same_chance_for_one_parameter_more(n):
    data = grid(n)
    own, shared = (price_of(data, 1e-3, 0.02, own=own) for own in (True, False))
    assert chi2.sf(own, n + 2) == pytest.approx(chi2.sf(shared, n + 1), rel=1e-9)
    assert price_of(data, 1e-3, 0.0, own=False) == price_of(data, 1e-3, 0.0)


def test_the_curve_of_lossless_poles_has_the_length_of_pi_over_root_three_per_step():
    k, u = np.arange(-3000, 3001), np.linspace(0.02, 0.98, 400)
    psi = 1 / (u[:, None] - k)
    psi /= np.linalg.norm(psi, axis=1, keepdims=True)
    length = np.arccos(np.clip((psi[1:] * psi[:-1]).sum(axis=1), -1, 1)).sum()
    assert length / 0.96 == pytest.approx(np.pi / np.sqrt(3), rel=1e-4)


def test_wide_modes_have_fewer_places_and_cost_less():
    data = grid(2, 400)
    assert price_of(data, 1e-3, 0.0) > price_of(data, 1e-3, 0.02) > price_of(data, 1e-3, 0.2)
