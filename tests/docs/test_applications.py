"""Systems of the applications: every exact answer against a route of its own."""

import numpy as np
import pytest

import prism
from prism.errors import OptionError
from prism.systems import LinearSystem, TypicalSection, caldeira_leggett

SECTION = TypicalSection()
OTHER = TypicalSection(m=6.0, S=0.3, I=0.2, kh=900.0, ka=300.0, a=4.0, e=0.1, rho=1.0)


# -- bath ------------------------------------------------------------------------------------------


def test_bath_has_the_frequencies_and_couplings_it_was_built_from():
    bath = caldeira_leggett(64, friction=0.7, cutoff=0.8, highest=3.2, frequency=1.3, mass=2.0)
    omega = 0.05 * (np.arange(64) + 0.5)
    J = 0.7 * omega * np.exp(-omega / 0.8)
    np.testing.assert_allclose(bath.hidden_frequencies, omega, rtol=1e-10)
    np.testing.assert_allclose(bath.couplings[:, 0] ** 2, 2 / np.pi * omega * J * 0.05, rtol=1e-8)
    np.testing.assert_allclose(bath.spectral_density(omega), J)
    np.testing.assert_allclose(bath.mass, [[2.0]])


@pytest.mark.parametrize("friction", [0.01, 1.0, 100.0])
def test_bath_is_stable_at_every_coupling_and_keeps_its_mean_force(friction):
    bath = caldeira_leggett(60, friction)
    kernel = prism.MemoryKernel(bath.hidden_frequencies, (bath.couplings**2)[:, :, None])
    assert bath.frequencies[0] > 0
    np.testing.assert_allclose(bath.stiffness - kernel.static(), [[1.0]], rtol=1e-8)


def test_completion_inverts_strong_coupling_exactly():
    bath = caldeira_leggett(60, friction=5.0)
    found = prism.complete(bath.frequencies, bath.participation)
    omega = np.array([h.frequency for h in found.hidden])
    R = np.array([h.residue[0, 0] for h in found.hidden])
    np.testing.assert_allclose(omega, bath.hidden_frequencies, rtol=1e-9)
    np.testing.assert_allclose(R, bath.couplings[:, 0] ** 2, rtol=1e-7)


def test_sampled_density_has_the_integral_of_the_continuous_one():
    bath = caldeira_leggett(200, highest=20.0)
    c2 = bath.couplings[:, 0] ** 2
    total = np.pi / 2 * np.sum(c2 / bath.hidden_frequencies)  # ∫ η ω e^{-ω/ω_c} dω = η ω_c²
    assert total == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("wrong", [{"modes": 1}, {"friction": 0.0}, {"cutoff": np.inf}])
def test_bath_refuses_nonsense(wrong):
    with pytest.raises(OptionError, match="at least 2 modes"):
        caldeira_leggett(**wrong)


# -- typical section -------------------------------------------------------------------------------


def discriminant(section, speed):
    values = np.linalg.eigvals(np.linalg.solve(section.mass, section.stiffness(speed)))
    return ((values[0] - values[1]) ** 2).real


@pytest.mark.parametrize("section", [SECTION, OTHER])
def test_flutter_is_where_the_frequencies_coalesce(section):
    V = section.flutter_speed()
    below = [discriminant(section, V * f) for f in np.linspace(0, 1 - 1e-6, 200)]
    assert min(below) > 0
    assert discriminant(section, V * (1 + 1e-6)) < 0
    assert abs(discriminant(section, V)) < 1e-9 * below[0]


@pytest.mark.parametrize("section", [SECTION, OTHER])
def test_divergence_is_where_the_static_stiffness_vanishes(section):
    V = section.divergence_speed()
    assert abs(np.linalg.det(section.stiffness(V))) < 1e-9 * section.kh * section.ka


@pytest.mark.parametrize("speed", [0.0, 12.0, 25.0, 40.0])
def test_modes_sum_to_the_receptance(speed):
    values, residues = SECTION.modes(speed)
    s = 3.0 + 31.0j
    dense = np.linalg.inv(SECTION.mass * s**2 + SECTION.stiffness(speed))
    summed = np.tensordot(1 / (s**2 + values), residues, axes=1)
    np.testing.assert_allclose(summed, dense, rtol=1e-9)
    np.testing.assert_allclose(residues.sum(axis=0), np.linalg.inv(SECTION.mass), atol=1e-12)


@pytest.mark.parametrize("seen", ["plunge", "pitch"])
@pytest.mark.parametrize("speed", [0.0, 12.0, 25.0])
def test_kernel_is_what_the_inverse_receptance_leaves(seen, speed):
    k = ["plunge", "pitch"].index(seen)
    omega2, R = SECTION.kernel(speed, seen)
    values, residues = SECTION.modes(speed)
    mu = 1 / residues[:, k, k].sum()
    kappa = mu**2 * (residues[:, k, k] * values).sum()
    for s in (2.0 + 5j, 40j + 1.0):
        dense = np.linalg.inv(SECTION.mass * s**2 + SECTION.stiffness(speed))[k, k]
        assert 1 / dense == pytest.approx(mu * s**2 + kappa - R / (s**2 + omega2), rel=1e-9)


def test_without_flow_the_section_is_a_reciprocal_system():
    rest = LinearSystem(SECTION.mass, SECTION.stiffness(0.0), [[1.0, 0.0]])
    omega2, R = SECTION.kernel(0.0)
    assert np.sqrt(omega2.real) == pytest.approx(rest.hidden_frequencies[0])
    assert R.real == pytest.approx(rest.couplings[0, 0] ** 2)


@pytest.mark.parametrize("section", [SECTION, OTHER])
@pytest.mark.parametrize("seen", ["plunge", "pitch"])
def test_index_crosses_zero_before_flutter_where_a_pole_meets_the_zero(section, seen):
    V, F = section.index_speed(seen), section.flutter_speed()
    assert V < F
    assert section.kernel(0.999 * V, seen)[1].real > 0 > section.kernel(1.001 * V, seen)[1].real
    zero, _ = section.kernel(V, seen)
    poles = section.modes(V)[0].real
    assert np.abs(poles - zero.real).min() < 1e-9 * poles.max()
    # at coalescence: R = -(λz - λ)² times a positive number
    p2 = np.linalg.det(section.mass)
    inertia = section.I if seen == "plunge" else section.m
    zero, R = section.kernel(F * (1 - 1e-9), seen)
    double = section.modes(F * (1 - 1e-9))[0].real.mean()
    assert R.real == pytest.approx(-p2 / inertia * (zero.real - double) ** 2, rel=1e-4)
    assert R.real < 0


def test_section_refuses_nonsense():
    with pytest.raises(OptionError, match="m I > S²"):
        TypicalSection(S=10.0)
    with pytest.raises(OptionError, match="plunge, pitch"):
        SECTION.index_speed("yaw")
    # centre of mass almost on the axis and plunge stiffer than pitch: divergence comes first
    with pytest.raises(OptionError, match="does not flutter"):
        TypicalSection(m=10.0, S=0.01, I=10.0, kh=4000.0, ka=100.0).flutter_speed()
