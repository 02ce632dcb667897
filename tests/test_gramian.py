"""The observability Gramian over a finite record, against its integral."""

import numpy as np
import pytest

import prism
from prism.diagnostics import active_peaks
from prism.errors import CannotTellError, OptionError
from prism.systems import chain


def integrated(omega, v, T):
    """The same by Simpson's rule."""
    t = np.linspace(0, T, 20001)
    swing = np.where(omega > 0, np.sin(np.outer(t, omega)), t[:, None] / T)
    states = np.hstack([np.cos(np.outer(t, omega)), swing])
    weights = np.full(len(t), 2.0)
    weights[1:-1:2], weights[[0, -1]] = 4.0, 1.0
    weights *= (t[1] - t[0]) / 3
    return ((states * weights[:, None]).T @ states) * np.tile(v @ v.T, (2, 2))


@pytest.mark.parametrize("ends", ["fixed-free", "free-free"])
def test_it_is_the_integral(ends):
    system = chain(3, ends=ends, observed=[0, 2])
    omega, v = system.frequencies, system.participation
    found = prism.observability(omega, v, 7.3)
    np.testing.assert_allclose(found.gramian, integrated(omega, v, 7.3), atol=1e-6)
    assert found.complete
    np.testing.assert_allclose(found.participation, np.linalg.norm(v, axis=1))


def test_a_mode_that_no_channel_sees_lowers_the_rank():
    system = chain(3, ends="fixed-fixed", observed=[1])  # the middle one stands still in mode two
    found = prism.observability(system.frequencies, system.participation, 40.0)
    assert found.rank == 4
    assert not found.complete
    assert found.participation[1] < 1e-12


def test_a_model_knows_its_own():
    system = chain(3, observed=[0])
    model = prism.identify(system.released(60, 0.2, [1.0]), experiment="released", kind="steady")
    exact = prism.observability(system.frequencies, system.participation, model.record.end)
    np.testing.assert_allclose(
        model.observability().singular_values, exact.singular_values, rtol=1e-5
    )
    assert len(model.active_peaks()) >= 1
    free = prism.identify(system.free(60, 0.2, rng=0), kind="steady")
    with pytest.raises(CannotTellError, match="the observability is not determined"):
        free.observability()
    with pytest.raises(OptionError, match="one row for each mode"):
        prism.observability([1.0, 2.0], [[1.0]], 3.0)


def test_a_rigid_body_mode_is_no_peak():
    """Its weight is zero, by which an average was divided."""
    system = chain(5, ends="free-free", observed=[0, 4])
    record = system.equilibrium(100, 0.25, trials=30, noise=0.02, rng=1)
    model = prism.identify(record, experiment="equilibrium", mass="identity", rigid=1)
    assert model.modes.rigid.any()
    peaks = model.active_peaks()
    np.testing.assert_allclose(peaks, system.frequencies[1 : 1 + len(peaks)], atol=0.01)
    assert "Active peaks" in model.summary()
    response = prism.identify(system.response(np.linspace(0.3, 2.2, 80), noise=0.01, rng=0))
    with pytest.raises(CannotTellError, match="no amplitudes are known"):
        active_peaks(response.modes, 0.1)
