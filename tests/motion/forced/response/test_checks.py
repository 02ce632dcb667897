"""What is said where the form does not fit: with one port, and with several."""

from dataclasses import replace

import numpy as np
import pytest

from prism.frequency_response import FrequencyResponse
from prism.motion.forced import fit_response
from prism.motion.forced.response.checks import misfit_remark
from prism.motion.forced.response.correlated import line_errors
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.modal import ModalPoint
from prism.motion.forced.response.noise import ResponseNoise
from prism.motion.forced.response.scoring import ResponseFit
from prism.systems import cart_pendulum, chain

LINES = np.linspace(0.5, 1.6, 300)


def codes(fit):
    return [one.code for one in fit.remarks if hasattr(one, "code")]


def bent(cubic, ratio=0.02, force=0.02):
    """Response at one level of the force of an oscillator with a cubic spring."""
    out = []
    for w in LINES:
        size = 0.0
        for _ in range(300):
            x = force / (1 - w**2 + cubic * size**2 + 2j * ratio * w)
            size = 0.9 * size + 0.1 * abs(x)
        out.append(x / force)
    return np.array(out)


def noisy(H, seed, size=0.01):
    re, im = np.random.default_rng(seed).standard_normal((2, *H.shape)) / np.sqrt(2)
    return FrequencyResponse(LINES, H * (1 + size * (re + 1j * im)))


def test_one_port_tells_a_spring_that_is_not_linear():
    assert codes(fit_response(noisy(bent(1.0), 0))) == ["misfit"]


@pytest.mark.parametrize("seed", range(2))
def test_a_linear_one_is_not_remarked(seed):
    assert codes(fit_response(noisy(bent(0.0), seed))) == []


@pytest.mark.parametrize("wound", [0.0, 0.1])
def test_repeated_measurements_tell_a_misfit_that_the_noise_has_taken_in(wound):
    """Reciprocal values agree to 1 %, and a factor that winds over frequency changes both."""
    lines, system = np.linspace(0.1, 2.2, 200), chain(3, observed=[0, 2])
    exact = system.response(lines, loss=0.03, damping="viscous", noise=0.01, rng=0)
    factor = 1 + wound * np.sin(40 * lines)
    response = FrequencyResponse(lines, exact.values * factor[:, None, None])
    data = ResponseData.of(response.ports)
    unit = np.sqrt(data.value_unit) * data.frequency_unit
    lam = (system.frequencies / data.frequency_unit) ** 2
    point = ModalPoint(lam, system.participation / unit, np.full(3, 0.03), "viscous")
    fit = ResponseFit(data, point, ResponseNoise())
    fit = replace(fit, noise=data.noise_about(fit.H))
    said = [one.code for one in misfit_remark(fit, line_errors(fit))]
    assert said.count("misfit") == bool(wound)


def test_a_good_fit_of_several_ports_is_not_remarked():
    cart = cart_pendulum()
    response = cart.response(np.linspace(1.0, 8.0, 200), loss=0.01, noise=0.02, rng=2)
    assert codes(fit_response(response)) == []


@pytest.mark.parametrize("seed", [1, 2])
def test_a_misfit_of_a_few_lines_is_told_though_the_noise_takes_it_in(seed):
    """Near one mode all entries are 10 % larger, which no passive system has."""
    lines, system = np.linspace(0.1, 2.2, 200), chain(3, observed=[0, 2])
    exact = system.response(lines, loss=0.03, damping="viscous").values
    near = 1 / (1 + ((lines - system.frequencies[1]) / 0.02) ** 2)
    re, im = np.random.default_rng(seed).standard_normal((2, *exact.shape)) / np.sqrt(2)
    noise = 0.01 * np.sqrt(np.mean(np.abs(exact) ** 2)) * (re + 1j * im)
    assert codes(fit_response(FrequencyResponse(lines, exact + noise))) == []
    bumped = FrequencyResponse(lines, exact * (1 + 0.1 * near)[:, None, None] + noise)
    (said,) = [one for one in fit_response(bumped).remarks if one.code == "misfit"]
    place = float(str(said).split("near ")[1].split()[0])
    assert place == pytest.approx(system.frequencies[1], abs=0.05)
