"""Records of rotors give the gyroscopic form; what is neither still nor rotates is refused."""

import numpy as np
import pytest
import scipy.linalg

import prism
from prism.errors import CannotTellError
from prism.motion.forced.records.data import take_apart
from prism.motion.forced.records.pole_fit import Poles, evaluate, joint_covariance
from prism.systems import GyroscopicSystem

MASS = np.diag([1.0, 1.5, 0.8])
STIFFNESS = np.array([[3.0, -1.0, -0.7], [-1.0, 5.0, -1.2], [-0.7, -1.2, 4.0]])
TURN = np.array([[0.0, 1.0, -0.6], [-1.0, 0.0, 0.8], [0.6, -0.8, 0.0]])
CHANNELS = ["x", "y", "f_x", "f_y"]
DT = 0.2


def record(spin=0.3, circulatory=0.0, gain=1.0, samples=2500, rng=0):
    """Motion of two coordinates of three from rest, for forces that are held."""
    rng, n, N = np.random.default_rng(rng), 2, 3
    K = STIFFNESS + circulatory * TURN
    inverse = np.linalg.inv(MASS)
    below = [-inverse @ K, -inverse @ (spin * TURN + 0.02 * MASS)]
    A = np.block([[np.zeros((N, N)), np.eye(N)], below])
    B = np.vstack([np.zeros((N, n)), inverse[:, :n]])
    whole = np.block([[A, B], [np.zeros((n, 2 * N + n))]])
    step = scipy.linalg.expm(DT * whole)
    force, state, out = rng.standard_normal((samples, n)), np.zeros(2 * N), []
    for f in force:
        out.append(state[:n])
        state = step[: 2 * N, : 2 * N] @ state + step[: 2 * N, 2 * N :] @ f
    x = np.array(out) * [gain, 1.0]
    x = x + 0.02 * x.std(axis=0) * rng.standard_normal(x.shape)
    return prism.Record(np.hstack([x, force]), dt=DT, channels=CHANNELS)


def identified(**options):
    return prism.identify(record(**options), force=["f_x", "f_y"])


def test_a_rotor_is_found_from_its_record(tmp_path):
    system = GyroscopicSystem(MASS, 0.3 * TURN, STIFFNESS, np.eye(3)[:2])
    model = identified()
    h = model.hamiltonian
    assert len(model.modes) == 3
    assert "rotation" in [one.code for one in model.identifiability.remarks]
    z = (h.hidden_frequencies - system.hidden_frequencies) / h.hidden_frequencies_std
    assert np.abs(z).max() < 4
    z = (h.gyroscopic - system.gyroscopic)[0, 1] / h.gyroscopic_std[0, 1]
    assert abs(z) < 4
    assert h.gyroscopic_std[0, 1] < 0.05 * system.gyroscopic[0, 1]
    z = (model.modes.frequencies - system.frequencies) / model.modes.frequencies_std
    assert np.abs(z).max() < 4
    model.save(tmp_path / "m.json")
    assert prism.load(tmp_path / "m.json") == model
    model.report(tmp_path / "r.html")
    assert "<mi>γ</mi>" in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize("gain", [1.0, 1.05])
def test_what_does_not_turn_is_not_called_a_rotor(gain):
    """A gain makes residues unsymmetric as well, by one factor for all lines."""
    model = identified(spin=0.0, gain=gain)
    assert not hasattr(model.hamiltonian, "gyroscopic")


def test_circulatory_forces_are_refused_with_figures():
    with pytest.raises(CannotTellError, match=r"not that of a reciprocal system.*nor does it"):
        identified(circulatory=0.4, spin=0.0)


def test_gyroscopic_false_insists():
    model = prism.identify(record(samples=800), force=["f_x", "f_y"], gyroscopic=False)
    assert not hasattr(model.hamiltonian, "gyroscopic")


def test_errors_are_those_of_the_dense_normal_equations():
    data = take_apart(record(samples=300), ["f_x", "f_y"], None)
    omega, decay = np.array([1.4, 1.9, 2.5]), np.array([0.01, 0.02, 0.03])
    poles = Poles(omega, decay, np.ones(3, bool), False, False, "zero", False, turned=True)
    weights = np.array([3.0, 5.0])
    fit = evaluate(data, poles, weights)
    size = fit.shared.shape[1]

    def motion(p):
        """All samples of both channels by (ω, δ, C, local amplitudes)."""
        at = Poles(p[:3], p[3:6], np.ones(3, bool), False, False, "zero", False, turned=True)
        X = _columns(data, at)
        C = p[6 : 6 + 2 * size].reshape(2, size)
        c = p[6 + 2 * size :].reshape(2, -1)
        return (X[1] @ C.T + X[0] @ c.T).T.ravel()

    p = np.concatenate([omega, decay, fit.shared.ravel(), fit.local[0].ravel()])
    J = np.array([_slope(motion, p, k) for k in range(len(p))]).T
    J *= np.repeat(np.sqrt(weights), len(data.trials[0].motion))[:, None]
    scale = np.linalg.norm(J, axis=0)
    dense = np.linalg.inv((J / scale).T @ (J / scale)) / np.outer(scale, scale)
    known = 6 + 2 * size
    found, spread = joint_covariance(data, fit), np.sqrt(np.diag(dense)[:known])
    off = (found - dense[:known, :known]) / np.outer(spread, spread)
    assert np.abs(off).max() < 1e-4


def _columns(data, poles):
    from prism.motion.forced.records.columns import mode_columns

    trial = data.trials[0]
    modes = [
        mode_columns(w, d, trial.force, data.dt, poles.hold)
        for w, d in zip(poles.omega, poles.decay, strict=True)
    ]
    local = np.hstack([trial.background, *(one.moving(0)[0] for one in modes)])
    return local, np.hstack([one.turned(0)[0] for one in modes])


def _slope(of, p, k):
    step = np.zeros(len(p))
    step[k] = 1e-5 * max(1.0, abs(p[k]))
    return (of(p + step) - of(p - step)) / (2 * step[k])
