"""Modes that a fit overlooks are proposed where the lines have more power than it says."""

import numpy as np
import pytest

import prism
from prism.motion.driven.bands import DrivenMode
from prism.motion.driven.driven import band_of
from prism.motion.driven.overlooked import _Scan, overlooked
from prism.motion.driven.search import ModeSearch
from prism.motion.driven.spectrum import fourier_lines
from prism.motion.driven.whittle import spectrum


@pytest.fixture(scope="module")
def chain():
    """Two masses, 2 % damping, and the fit of their slower mode alone."""
    K = np.array([[1.5, -0.4], [-0.4, 1.7]])
    system = prism.systems.LinearSystem(np.eye(2), K, np.eye(2))
    record = prism.systems.driven(system, 600, 0.2, damping=0.02, noise=0.1, rng=1)
    search = ModeSearch(fourier_lines(record), band_of(record), 1e-3)
    slow = DrivenMode(system.frequencies[0], 0.02, system.shapes[0], force=1.0)
    (part,) = search.sweep([slow], test=False)
    return system, part.fit


def test_the_missing_mode_is_proposed_with_its_shape(chain):
    system, fit = chain
    best = max(overlooked(fit, 1e-3), key=lambda mode: mode.gain)
    assert abs(best.omega - system.frequencies[1]) < 0.04 * system.frequencies[1]
    assert abs(best.shape @ system.shapes[1]) > 0.98
    assert best.gain > 100


def test_the_promise_is_the_squared_score_over_its_information(chain):
    _, fit = chain
    mode = max(_Scan.of(fit).peaks(0.04), key=lambda mode: mode.gain)
    D, Y, w = spectrum(fit.model, fit.band), fit.band.values, fit.band.omega
    h = 1 / (mode.omega**2 - w**2 + 2j * mode.zeta * mode.omega * w)
    shape = mode.shape / fit.band.displacement
    score = information = 0.0
    for k in range(len(w)):
        c, inverse = h[k] * shape * fit.band.powers[k], np.linalg.inv(D[k])
        W = inverse @ (np.outer(Y[k], Y[k].conj()) - D[k]) @ inverse
        score += (c.conj() @ W @ c).real
        information += (c.conj() @ inverse @ c).real ** 2
    assert mode.gain == pytest.approx(score**2 / information, rel=1e-9)
