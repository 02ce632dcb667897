"""Bounds of everything that is reported, against scatter and against the bound of frequencies."""

import numpy as np
import pytest

import prism
from prism.errors import CannotTellError, OptionError
from prism.systems import chain

ONE = chain(observed=[0])


def test_frequencies_of_one_channel_have_the_known_bound():
    record = ONE.free(100, 0.2, rng=0)
    least = prism.bounds(record, 0.05)
    np.testing.assert_allclose(
        least.frequencies, prism.cramer_rao(record, ONE.frequencies, 0.05), rtol=5e-3
    )  # up to the drift, which is left out where it is not there
    assert least.hidden_frequencies is None
    assert "how strongly each mode was excited" in least.why


def test_bare_frequencies_scatter_by_their_bound():
    """Twenty releases of a chain seen at one end."""
    clean = ONE.released(80, 0.25, [1.0])
    sigma = 0.05 * clean.std()[0]
    least = prism.bounds(clean, sigma, experiment="released")
    found = []
    for seed in range(20):
        noise = sigma * np.random.default_rng(seed).standard_normal(clean.trials[0].shape)
        record = prism.Record(clean.trials[0] + noise, dt=0.25)
        h = prism.identify(record, experiment="released", kind="steady").hamiltonian
        found.append([*h.hidden_frequencies, *np.abs(h.couplings[:, 0])])
    ratio = np.std(found, axis=0) / [*least.hidden_frequencies, *least.couplings[:, 0]]
    assert np.all((ratio > 0.6) & (ratio < 1.5))


def test_a_known_mass_bounds_free_motion():
    system = chain(5, observed=[0, 2, 4])
    least = prism.bounds(system.free(200, 0.2, rng=1), 0.1, mass="identity")
    noisy = prism.identify(system.free(200, 0.2, noise=0.1, rng=1), mass="identity")
    # noise is a tenth of each channel there, about a tenth of one here
    ratio = noisy.hamiltonian.hidden_frequencies_std / least.hidden_frequencies
    assert np.ptp(np.log(ratio)) < 0.7
    assert least.residues.shape == (5, 3, 3)


def test_a_response_bounds_damping_too():
    omega = np.linspace(0.1, 2.5, 150)
    clean = ONE.response(omega, loss=0.02, damping="viscous")
    least = prism.bounds(clean, 0.0, relative=0.02)
    model = prism.identify(ONE.response(omega, loss=0.02, damping="viscous", noise=0.02, rng=0))
    np.testing.assert_allclose(model.modes.damping_std, least.damping, rtol=0.2)
    np.testing.assert_allclose(model.modes.frequencies_std, least.frequencies, rtol=0.2)
    np.testing.assert_allclose(
        model.hamiltonian.hidden_frequencies_std, least.hidden_frequencies, rtol=0.2
    )


def dense(motion, theta, sigma, step=1e-6):
    """Inverse of the Fisher matrix of all parameters, by differences."""
    rows = [(motion(theta + h) - motion(theta - h)) / (2 * step) for h in step * np.eye(len(theta))]
    J = np.array([(row / sigma).ravel() for row in rows])
    return np.linalg.inv(J @ J.T)


def spread(covariance, function, theta, step=1e-6):
    """Standard deviations of functions of the parameters."""
    J = [
        (function(theta + h) - function(theta - h)) / (2 * step) for h in step * np.eye(len(theta))
    ]
    return np.sqrt(np.einsum("ik,ij,jk->k", np.array(J), covariance, np.array(J)))


TIMES = np.arange(0, 80, 0.2)
NOISE = np.array([0.03, 0.05])
TWO = chain(observed=[0, 3])


def test_decays_have_the_bounds_of_the_dense_fisher_matrix():
    """Frequencies, ratios, amplitudes and phases of all channels and offsets, all unknown."""
    zeta = np.array([0.01, 0.02, 0.015, 0.01])
    A = np.array([1, 0.8, 0.6, 0.9])[:, None] * TWO.participation

    def motion(theta):
        poles = theta[:4] * (1j * np.sqrt(1 - theta[4:8] ** 2) - theta[4:8])
        z = theta[8:16] + 1j * theta[16:24]
        return (np.exp(np.outer(TIMES, poles)) @ z.reshape(4, 2)).real + theta[24:]

    theta = np.concatenate([TWO.frequencies, zeta, A.ravel(), np.zeros(10)])
    C = dense(motion, theta, NOISE)
    std = np.sqrt(np.diag(C))

    def sizes(at):
        return np.linalg.norm(np.hypot(at[8:16], at[16:24]).reshape(4, 2), axis=1)

    record = prism.Record(motion(theta), dt=0.2)
    exact = {"frequencies": std[:4], "damping": std[4:8], "amplitudes": [spread(C, sizes, theta)]}
    for name, known in exact.items():
        found = prism.cramer_rao(record, TWO.frequencies, NOISE, of=name, damped=True)
        np.testing.assert_allclose(found, known, rtol=1e-4)
    with pytest.raises(CannotTellError, match="no bound of couplings: an unmeasured start"):
        prism.cramer_rao(record, None, NOISE, of="couplings", damped=True)


def test_amplitudes_of_decaying_velocities_are_those_of_the_displacement():
    A = np.array([1.0, 0.7])

    def motion(theta):
        poles = theta[:2] * (1j * np.sqrt(1 - theta[2:4] ** 2) - theta[2:4])
        return (np.exp(np.outer(TIMES, poles)) @ (poles * (theta[4:6] + 1j * theta[6:8]))).real

    def sizes(at):
        return np.hypot(at[4:6], at[6:8])

    theta = np.concatenate([[1.0, 1.6], [0.02, 0.03], A, [0.2, -0.3]])
    whole = np.append(theta, 0.0)  # the fit has an offset too
    C = dense(lambda at: motion(at[:8]) + at[8], whole, 0.02)
    record = prism.Record(motion(theta), dt=0.2, quantity="velocity")
    found = prism.cramer_rao(record, None, 0.02, of="amplitudes", damped=True)
    np.testing.assert_allclose(found, [spread(C, sizes, whole)], rtol=1e-4)


def test_lossless_lines_have_the_bounds_of_the_dense_fisher_matrix():
    """Frequencies, common shapes, amplitudes of two trials and offsets, all unknown."""
    K, n = 4, 2
    rng = np.random.default_rng(3)
    angle = np.arctan2(TWO.participation[:, 1], TWO.participation[:, 0])
    theta = np.concatenate([TWO.frequencies, angle, rng.normal(size=16), np.zeros(4)])

    def trials(at):
        shapes = np.stack([np.cos(at[K : 2 * K]), np.sin(at[K : 2 * K])])
        turn = np.outer(TIMES, at[:K])
        both = at[8:24].reshape(2, 2, K)
        offsets = at[24:].reshape(2, n)
        return np.array(
            [
                (np.cos(turn) * A + np.sin(turn) * B) @ shapes.T + b
                for (A, B), b in zip(both, offsets, strict=True)
            ]
        )

    C = dense(trials, theta, NOISE)
    exact = {
        "frequencies": np.sqrt(np.diag(C))[:K],
        "amplitudes": spread(
            C,
            lambda at: np.hypot(
                at[8:24].reshape(2, 2, K)[:, 0], at[8:24].reshape(2, 2, K)[:, 1]
            ).ravel(),
            theta,
        ).reshape(2, K),
        "shapes": np.sqrt(np.diag(C))[K : 2 * K, None]
        * np.abs(np.stack([np.sin(angle), np.cos(angle)], axis=1)),
    }
    record = prism.Record(trials(theta), dt=0.2)
    least = prism.bounds(record, NOISE)
    for name, known in exact.items():
        np.testing.assert_allclose(least.of(name), known, rtol=2e-3)


def test_a_damped_absorber_has_the_bounds_of_the_dense_fisher_matrix():
    """Masses, springs and dampers of a tuned mass damper seen at the main mass."""
    omega = np.linspace(0.5, 1.6, 120)

    def response(theta):
        M, K, m, k, d, e, f = theta
        stiff = np.array([[K + k, -k], [-k, k]])
        loss = np.array([[d + e, -e], [-e, e + f]])
        A = stiff - omega[:, None, None] ** 2 * np.diag([M, m]) + 1j * omega[:, None, None] * loss
        return np.linalg.inv(A)[:, 0, 0]

    def parts(theta):
        M, K, m, k, _, e, f = theta
        return np.array([M, K + k, np.sqrt(k / m), k / np.sqrt(m), (e + f) / (2 * np.sqrt(k * m))])

    def both(at):
        return np.stack([response(at).real, response(at).imag])

    theta = np.array([1.0, 1.0, 0.1, 0.0826, 0.01, 0.02, 0.005])
    sigma = 0.05
    C = dense(both, theta, sigma / np.sqrt(2))  # half of the variance is that of the real part
    known = spread(C, parts, theta)
    frf = prism.FrequencyResponse(omega, response(theta))
    least = prism.bounds(frf, sigma)
    found = [
        *(least.mass.ravel(), least.stiffness.ravel(), least.hidden_frequencies),
        *(least.couplings.ravel(), least.hidden_damping),
    ]
    np.testing.assert_allclose(np.concatenate(found), known, rtol=1e-3)

    def poles(at):
        M, K, m, k, d, e, f = at
        masses = np.array([M, m])[:, None]
        stiff = np.array([[K + k, -k], [-k, k]]) / masses
        loss = np.array([[d + e, -e], [-e, e + f]]) / masses
        s = np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-stiff, -loss]]))
        s = s[s.imag > 0][np.argsort(np.abs(s[s.imag > 0]))]
        return np.concatenate([np.abs(s), -s.real / np.abs(s)])

    of_poles = np.concatenate([least.frequencies, least.damping])
    np.testing.assert_allclose(of_poles, spread(C, poles, theta), rtol=1e-3)


def test_what_is_named_must_be_there():
    record = ONE.released(80, 0.25, [1.0])
    with pytest.raises(OptionError, match="2 frequencies are named, and the data show 4 modes"):
        prism.cramer_rao(record, [1.0, 2.0], 0.1, of="couplings", experiment="released")
    with pytest.raises(OptionError, match="no bound of 'colour': use one of frequencies, shapes"):
        prism.cramer_rao(record, None, 0.1, of="colour")
    with pytest.raises(OptionError, match="decay are free ones"):
        prism.bounds(record, 0.1, experiment="released", damped=True)
    known = prism.cramer_rao(record, None, 0.1, of="stiffness", experiment="released")
    assert known.shape == (1, 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"experiment": "forced"}, "no bounds of 'forced' records"), ({}, "must be positive")],
)
def test_what_has_no_bound(options, words):
    with pytest.raises(OptionError, match=words):
        prism.bounds(ONE.free(50, 0.2, rng=0), 0.0, **options)
