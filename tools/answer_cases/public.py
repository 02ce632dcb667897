"""The other public functions of the estimation."""

from __future__ import annotations

import numpy as np

import prism

from .made import CHAIN, FIVE, LAST_DIGIT, Case, grid, identify


def _track() -> prism.Track:
    t, rng = grid(300, 0.2), np.random.default_rng(0)
    x = np.cos(2 * t + 0.0005 * t**2) + 0.5 * np.cos(1.1 * t)
    noisy = x + 0.1 * rng.standard_normal(len(t))
    return prism.track(LAST_DIGIT.of(prism.Record(noisy, dt=0.2)), 40, 40)


def _completion() -> object:
    covariance = 1e-6 * np.eye(FIVE.participation.size + len(FIVE.frequencies))
    return prism.complete(FIVE.frequencies, FIVE.participation, covariance)


def _kernel() -> dict[str, object]:
    model = identify(FIVE.free(200, 0.1, noise=0.1, rng=1), mass="identity")
    kernel, form = model.kernel, model.port_hamiltonian()
    assert kernel is not None
    s = np.array([0.1 + 0.4j, 0.2 + 1.1j])
    return {
        "kernel": kernel([0.0, 0.7, 5.0]),
        "laplace": kernel.laplace(s),
        "static": kernel.static(),
        "density": kernel.spectral_density([0.5, 1.0, 1.5]),
        "transfer": form.transfer(s),
        "lossless": form.lossless,
        "statespace": model.to_statespace().A,
    }


def _estimator() -> dict[str, object]:
    record = LAST_DIGIT.of(CHAIN.free(100, 0.1, noise=0.1, rng=0))
    fitted = prism.PRISM(dt=0.1).fit(record.head(0.6).trials[0])
    return {"predict": fitted.predict([61.0, 75.5, 99.0]), "params": repr(fitted)}


PUBLIC: dict[str, Case] = {
    "track": _track,
    "complete": _completion,
    "chain_form": lambda: prism.chain_form(FIVE.frequencies, FIVE.participation),
    "cramer_rao": lambda: prism.cramer_rao(CHAIN.free(100, 0.1, rng=0), CHAIN.frequencies, 0.1),
    "kernel": _kernel,
    "estimator": _estimator,
}
