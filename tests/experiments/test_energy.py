"""Mean energies beyond the classical limit, and records at equilibrium in which quanta matter."""

import numpy as np
import pytest

import prism
from prism.errors import OptionError
from prism.experiments.energy import mean_energy
from prism.systems import chain

SYSTEM = chain(observed=[0, 3])
HBAR, KT = 2.0, 0.4


def quantum_record(seed, trials=200, hbar=HBAR, temperature=KT):
    """Canonical samples whose modes have the mean energy of quanta."""
    rng = np.random.default_rng(seed)
    omega = SYSTEM.frequencies
    theta = 0.5 * hbar * omega / np.tanh(0.5 * hbar * omega / temperature)
    gauss = rng.standard_normal((2, trials, len(omega)))
    z = (gauss[0] + 1j * gauss[1]) * np.sqrt(theta) / omega
    return SYSTEM._record(z, 60, 0.1, 0.05, rng)


@pytest.mark.parametrize("hbar", [1e-7, 1e-3, 0.1, 1.0, 30.0, 1e4])
def test_mean_energy_and_its_derivatives(hbar):
    omega, log_kt = np.array([0.3, 1.0, 2.7]), np.log(0.7)
    x = 0.5 * hbar * omega / 0.7
    exact = np.log(0.5 * hbar * omega / np.tanh(x))
    theta = mean_energy(omega, log_kt, hbar)
    assert theta.log == pytest.approx(exact, abs=1e-9)
    step = 1e-5
    colder, hotter = (mean_energy(omega, log_kt + d, hbar).log for d in (-step, step))
    assert theta.by_log_temperature == pytest.approx((hotter - colder) / (2 * step), abs=1e-6)
    slower, faster = (mean_energy(omega * np.exp(d), log_kt, hbar).log for d in (-step, step))
    assert omega * theta.by_omega == pytest.approx((faster - slower) / (2 * step), abs=1e-6)


def test_classical_limit():
    theta = mean_energy(np.array([0.3, 2.7]), -0.5, None)
    assert theta.log == pytest.approx([-0.5, -0.5])
    assert theta.by_omega == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize("known", [{"mass": "identity"}, {"temperature": KT}])
def test_hidden_frequencies_where_quanta_matter(known):
    record = quantum_record(3)
    model = prism.identify(record, experiment="equilibrium", hbar=HBAR, **known)
    h = model.hamiltonian
    z = (h.hidden_frequencies - SYSTEM.hidden_frequencies) / h.hidden_frequencies_std
    assert np.abs(z).max() < 4
    assert h.mass == pytest.approx(np.eye(2), abs=0.3)
    (said,) = [one for one in model.identifiability.remarks if one.code == "quantum"]
    assert "quanta matter" in str(said)


def test_classical_statistics_are_refused_there():
    """Energies that grow with the frequency do not add up to the mass."""
    model = prism.identify(quantum_record(3), experiment="equilibrium", mass="identity")
    assert model.hamiltonian is None
    assert "do not agree with thermal equilibrium" in model.identifiability.why


def test_temperature_is_found_with_the_mass():
    """Over a few ensembles the temperature scatters about the true one, as its error says."""
    found = []
    for seed in range(6):
        model = prism.identify(
            quantum_record(seed), experiment="equilibrium", hbar=HBAR, mass="identity"
        )
        found.append(model.temperature)
    assert np.mean(found) == pytest.approx(KT, rel=0.1)


def test_small_quanta_change_nothing():
    record = SYSTEM.equilibrium(60, 0.1, trials=50, noise=0.05, rng=1)
    plain = prism.identify(record, experiment="equilibrium", mass="identity")
    small = prism.identify(record, experiment="equilibrium", mass="identity", hbar=1e-4)
    assert small.hamiltonian.hidden_frequencies == pytest.approx(
        plain.hamiltonian.hidden_frequencies, rel=1e-6
    )
    assert "hardly matter" in " ".join(str(one) for one in small.identifiability.remarks)


def test_temperature_fixes_the_scale():
    record = SYSTEM.equilibrium(60, 0.1, trials=200, noise=0.05, temperature=2.5, rng=1)
    model = prism.identify(record, experiment="equilibrium", temperature=2.5)
    assert model.hamiltonian.mass == pytest.approx(np.eye(2), abs=0.25)
    assert model.identifiability.scale == "fixed by the given temperature"


def test_quanta_need_a_temperature():
    record = SYSTEM.equilibrium(60, 0.1, trials=20, noise=0.05, rng=1)
    with pytest.raises(OptionError, match="needs the temperature"):
        prism.identify(record, experiment="equilibrium", hbar=1.0)
    with pytest.raises(OptionError, match="hbar"):
        prism.identify(record, experiment="equilibrium", hbar=-1.0, temperature=1.0)
    with pytest.raises(OptionError, match="belongs to equilibrium experiments"):
        prism.identify(record, hbar=1.0)
