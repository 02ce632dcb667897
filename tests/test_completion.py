import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prism
from prism.completion import complete
from prism.errors import OptionError
from prism.finding import determined
from prism.kernel import certify
from prism.systems import LinearSystem, chain
from prism.uncertainty import Gaussian
from prism_bench.chain import random_hamiltonian


def flat(omega, participation):
    """Everything that completion returns, in one vector; couplings up to a common sign."""
    done = complete(omega, participation)
    parts = [done.mass.ravel(), done.stiffness.ravel(), [h.frequency for h in done.hidden]]
    parts += [h.couplings[0] for h in done.hidden]
    return np.concatenate(parts)


@pytest.mark.parametrize("seed", range(4))
def test_standard_deviations_equal_finite_differences(seed):
    """First-order propagation against a numerical Jacobian of the whole map."""
    rng = np.random.default_rng(seed)
    omega = np.sort(rng.uniform(0.5, 3.0, 5))
    v = rng.standard_normal((5, 2))
    x = np.concatenate([omega, v.ravel()])
    A = rng.standard_normal((len(x), len(x)))
    covariance = 1e-10 * A @ A.T  # so small that the second order is below the tolerance

    step, columns = 1e-6, []
    for i in range(len(x)):
        e = np.zeros(len(x))
        e[i] = step
        high, low = (flat((x + t)[:5], (x + t)[5:].reshape(5, 2)) for t in (e, -e))
        columns.append((high - low) / (2 * step))
    J = np.array(columns).T
    expected = np.sqrt(np.diag(J @ covariance @ J.T))

    done = complete(omega, v, covariance)
    found = [done.mass_std.ravel(), done.stiffness_std.ravel()]
    found += [[h.frequency_std for h in done.hidden]] + [h.coupling_std for h in done.hidden]
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-5)


def test_residue_of_coincident_frequencies_has_rank_two_and_calibrated_errors():
    """Equal springs: √2 twice. The residue is smooth in the data, its two factors are not."""
    system = chain(5, observed=[0, 2, 4])
    K, n = system.participation.shape
    truth = system.couplings.T @ system.couplings
    rng = np.random.default_rng(0)
    sigma = 1e-3
    covariance = sigma**2 * np.eye(K + K * n)
    scores = []
    for _ in range(200):
        noise = sigma * rng.standard_normal(K + K * n)
        done = complete(
            system.frequencies + noise[:K],
            system.participation + noise[K:].reshape(K, n),
            covariance,
        )
        assert [h.rank for h in done.hidden] == [2]
        assert done.hidden[0].coupling_std is None
        np.testing.assert_allclose(
            done.hidden[0].couplings.T @ done.hidden[0].couplings,
            done.hidden[0].residue,
            atol=1e-12,
        )
        scores.append(((done.hidden[0].residue - truth) / done.hidden[0].residue_std).ravel())
    # 200 runs: the rms of a unit normal scatters by 5 %
    assert 0.85 < np.sqrt(np.mean(np.square(scores))) < 1.15


def test_separate_frequencies_stay_separate():
    system = chain()
    covariance = 1e-8 * np.eye(4 + 8)
    done = complete(system.frequencies, system.participation, covariance)
    assert [h.rank for h in done.hidden] == [1, 1]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_every_completion_is_passive(seed):
    """Passivity is structural: any frequencies and any magnitudes give a certificate."""
    h = random_hamiltonian(np.random.default_rng(seed))
    certificate = certify(h.stiffness, h.kernel)
    assert certificate.passive, str(certificate)
    assert certificate.min_mean_force_stiffness > 0


def test_thousand_random_spectra_are_passive():
    rng = np.random.default_rng(2024)
    assert all(
        certify(h.stiffness, h.kernel).passive
        for h in (random_hamiltonian(rng) for _ in range(1000))
    )


def test_as_many_modes_as_channels_leave_no_hidden_mode():
    done = complete(np.array([1.0, 2.0]), np.array([[1.0, 0.5], [-0.3, 1.0]]))
    assert done.hidden == ()


def test_frequencies_that_cannot_be_told_apart_leave_the_energy_positive():
    """Part of a band: hidden modes beyond it have large errors, and their mean is no mode."""
    system = prism.systems.chain(20, observed=[0, 9, 19])
    response = system.response(np.linspace(0.3, 1, 400), loss=0.01, noise=0.02, rng=1)
    model = prism.identify(response)
    assert model.certificate.passive
    assert model.certificate.min_mean_force_stiffness > 0


def test_errors_hold_where_a_derivative_vanishes():
    """A hidden oscillator that the second channel does not feel: its residue there is zero."""
    system = chain(4, observed=[0, 1])
    K, n = system.participation.shape
    truth = complete(system.frequencies, system.participation)
    assert np.abs(truth.hidden[0].residue[0, 0]) < 1e-12
    rng, sigma, scores = np.random.default_rng(5), 0.01, []
    for _ in range(200):
        noise = sigma * rng.standard_normal(K + K * n)
        done = complete(
            system.frequencies + noise[:K],
            system.participation + noise[K:].reshape(K, n),
            sigma**2 * np.eye(K + K * n),
        )
        if len(done.hidden) == len(truth.hidden):
            one, true = done.hidden[0], truth.hidden[0]
            scores.append(((one.residue - true.residue) / one.residue_std)[0, 0])
    assert len(scores) > 150
    assert np.mean(np.abs(scores) < 1.96) > 0.92
    assert 0.3 < np.sqrt(np.mean(np.square(scores))) < 1.2


def test_a_mass_that_is_given_has_no_error_of_second_order():
    """Modes adjusted to a mass move on the surface where it is what it is."""
    system = chain(4, observed=[0, 2])
    V = system.participation.T
    K = V.shape[1]
    # changes of V that keep V Vᵀ: rotations of the modes
    turns = [np.eye(K)[:, [i]] @ np.eye(K)[[j]] for i in range(K) for j in range(i)]
    columns = [np.concatenate([np.zeros(K), (V @ (T - T.T)).T.ravel()]) for T in turns]
    F = 1e-2 * np.array(columns).T
    done = complete(system.frequencies, V.T, F @ F.T)
    assert done.mass_std.max() < 1e-12
    assert done.stiffness_std.min() > 1e-4


@pytest.mark.parametrize(
    ("omega", "modes", "words"),
    [
        ([1.0], [[1.0, 0.5]], "1 modes do not span 2 channels"),
        ([1.0, 2.0], [[1.0, 0.5], [2.0, 1.0]], "do not span"),
        ([1.0, 2.0], [[1.0]], "do not belong together"),
        ([1.0, -2.0], [[1.0], [1.0]], "no frequency negative"),
        ([1.0, np.nan], [[1.0], [1.0]], "finite"),
    ],
)
def test_modes_that_cannot_be_completed(omega, modes, words):
    with pytest.raises(OptionError, match=words):
        complete(omega, modes)


def test_lists_are_arrays():
    by_lists = complete([1.0, 2.0], [[0.6], [0.8]])
    by_arrays = complete(np.array([1.0, 2.0]), np.array([[0.6], [0.8]]))
    assert by_lists.hidden[0].frequency == by_arrays.hidden[0].frequency
    with pytest.raises(OptionError, match="covariance has shape"):
        complete([1.0, 2.0], [[0.6], [0.8]], np.eye(2))


@pytest.mark.parametrize("seed", range(6))
def test_a_free_body_is_completed_exactly(seed):
    """Zero frequencies enter like all others: dense elimination gives the same."""
    rng = np.random.default_rng(seed)
    size, seen, rigid = 6, int(rng.integers(2, 4)), 1 + seed % 2
    spread = rng.normal(size=(size - rigid, size))
    M = np.diag(rng.uniform(0.5, 2, size))
    system = LinearSystem(M, spread.T @ spread, rng.normal(size=(seen, size)))
    assert system.rigid == rigid
    found = complete(system.frequencies, system.participation)
    np.testing.assert_allclose(found.mass, system.mass, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.stiffness, system.stiffness, rtol=1e-9, atol=1e-9)
    bare = [one.frequency for one in found.hidden]
    np.testing.assert_allclose(bare, system.hidden_frequencies, rtol=1e-9)
    for one, c in zip(found.hidden, system.couplings, strict=True):
        np.testing.assert_allclose(one.residue, np.outer(c, c), atol=1e-9)


def test_a_free_body_is_certified_as_one():
    system = chain([1.0, 2.0, 0.7, 1.5], [1.0, 0.6, 1.4], ends="free-free", observed=[0])
    modes = Gaussian.of(
        {"frequencies": system.frequencies, "participation": system.participation},
        1e-12 * np.eye(8),
    )
    certificate = determined(modes, ("x",), "given").certificate
    assert certificate.passive
    assert certificate.rigid == 1
    assert abs(certificate.min_mean_force_stiffness) < 1e-12
    assert "rigid-body mode drifts" in str(certificate)
    held = chain([1.0, 2.0], [1.0, 0.6], observed=[0])
    modes = Gaussian.of(
        {"frequencies": held.frequencies, "participation": held.participation}, 1e-12 * np.eye(4)
    )
    assert determined(modes, ("x",), "given").certificate.rigid == 0
