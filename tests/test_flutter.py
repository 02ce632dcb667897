"""The flutter index of lines, of a kernel, and where it vanishes."""

import numpy as np
import pytest

import prism
from prism.errors import OptionError
from prism.systems import TypicalSection, chain

# Hodges and Pierce, Introduction to Structural Dynamics and Aeroelasticity: a = -1/5, e = -1/10,
# μ = 20, r² = 6/25, σ = 2/5, with b = ω_θ = ρ = 1 and a lift of 2π.
PUBLISHED = TypicalSection(
    m=20 * np.pi,
    S=2 * np.pi,
    I=4.8 * np.pi,
    kh=3.2 * np.pi,
    ka=4.8 * np.pi,
    a=4 * np.pi,
    e=0.3,
    rho=1.0,
)


@pytest.mark.parametrize("section", [TypicalSection(), PUBLISHED])
@pytest.mark.parametrize("seen", [0, 1])
def test_the_index_of_lines_is_the_residue_of_the_kernel(section, seen):
    flutter = section.flutter_speed()
    for speed in np.linspace(0, 0.98, 5) * flutter:
        values, residues = section.modes(speed)
        r = residues[:, seen, seen].real
        if np.all(values.real > 0):
            index = prism.flutter_index(np.sqrt(values.real), r)
            exact = section.kernel(speed, ("plunge", "pitch")[seen])[1].real
            np.testing.assert_allclose(index, exact, rtol=1e-6, atol=1e-9)


def test_speeds_of_a_published_section():
    np.testing.assert_allclose(PUBLISHED.divergence_speed(), np.sqrt(8))
    np.testing.assert_allclose(PUBLISHED.flutter_speed(), 1.843, atol=5e-4)
    assert PUBLISHED.index_speed() < PUBLISHED.flutter_speed()


def test_a_passive_kernel_has_the_smallest_eigenvalue_of_its_residues():
    system = chain(4, observed=[0])
    kernel = prism.complete(system.frequencies, system.participation)
    index = prism.flutter_index(system.frequencies, system.participation[:, 0] ** 2)
    np.testing.assert_allclose(index, (system.couplings**2).min(), rtol=1e-9)
    model = prism.Hamiltonian(kernel, ("q1",))
    np.testing.assert_allclose(model.kernel.index(), index, rtol=1e-9)


def test_the_friction_kernel_is_minus_the_integral_of_the_memory():
    system = chain(4)
    kernel = prism.Hamiltonian(
        prism.complete(system.frequencies, system.participation), system.channels
    ).kernel
    t = np.linspace(0, 5, 2001)
    slope = np.gradient(kernel.friction(t), t, axis=0)
    np.testing.assert_allclose(slope[1:-1], -kernel(t)[1:-1], atol=1e-5)
    np.testing.assert_allclose(kernel.friction(0.0), kernel.static())
    assert not kernel.friction(-1.0).any()


def test_where_a_measured_index_vanishes():
    section = TypicalSection()
    speeds = np.array([0.0, 6.0, 9.0, 12.0, 14.0])
    q = np.array([section.pressure(V) for V in speeds])
    R = np.array([section.kernel(V)[1].real for V in speeds])
    exact = section.pressure(section.index_speed())
    found = prism.index_crossing(q, R, np.full(5, 0.01 * R[0]))
    np.testing.assert_allclose(found.pressure, exact, rtol=1e-9)
    rng = np.random.default_rng(0)
    draws = [
        prism.index_crossing(q, R + 0.01 * R[0] * rng.standard_normal(5), np.full(5, 0.01 * R[0]))
        for _ in range(200)
    ]
    z = [(one.pressure - exact) / one.std for one in draws]
    assert 0.85 < np.std(z) < 1.15


def test_what_has_no_index():
    with pytest.raises(OptionError, match="two lines or more"):
        prism.flutter_index([1.0], [1.0])
    with pytest.raises(OptionError, match="complex"):
        prism.flutter_index([1.0, 2.0, 3.0], [1.0, -3.0, 3.0])
    with pytest.raises(OptionError, match="three flow speeds"):
        prism.index_crossing([1.0], [1.0], [1.0])
    with pytest.raises(OptionError, match="does not vanish"):
        prism.index_crossing([0.0, 1.0, 2.0], [1.0, 2.0, 5.0], [0.1, 0.1, 0.1])
