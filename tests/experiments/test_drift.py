"""The fit with rigid-body modes against the whole model, fitted at once and densely."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from prism.experiments.drift import offsets_of, slopes_of, with_rigid
from prism.motion.steady.likelihood import estimate_lines
from prism.systems import LinearSystem, chain

FREE = chain([1.0, 2.0, 0.7], [1.0, 0.6], ends="free-free", observed=[0, 2])


def lines_of(record):
    return estimate_lines(record, false_alarm=1e-3)


def dense(record, lines, *, by_offset):
    """Shapes and amplitudes of rigid body and lines by a general solver, all at once."""
    t = record.times[0]
    K, R = len(lines.fit.omega), record.n_trials
    Y = np.stack(record.trials)

    def parts(x):
        return x[:K], x[K : 2 * K], x[2 * K]

    def columns(x):
        omega, angle, rigid = parts(x)
        cos, sin = np.cos(np.outer(t, omega)), np.sin(np.outer(t, omega))
        rows = []
        for a, turn in enumerate((np.cos, np.sin)):
            own = [turn(angle) * cos, turn(angle) * sin, turn(rigid) * t[:, None]]
            zero = np.zeros((len(t), 2))
            zero[:, a] = 1.0
            own.append(np.full((len(t), 1), turn(rigid)) if by_offset else zero)
            rows.append(np.hstack(own) / lines.noise[a])
        return np.vstack(rows)

    def rest(x):
        E = columns(x)
        y = (Y / lines.noise).transpose(0, 2, 1).reshape(R, -1).T
        return (y - E @ np.linalg.lstsq(E, y, rcond=None)[0]).ravel()

    d, v = lines.fit.shapes, FREE.participation[0]
    start = np.concatenate(
        [lines.fit.omega, np.arctan2(d[:, 1], d[:, 0]), [np.arctan2(v[1], v[0])]]
    )
    found = least_squares(rest, start, x_scale="jac", xtol=1e-14, ftol=1e-14)
    return found.x, np.linalg.inv(found.jac.T @ found.jac)


@pytest.mark.parametrize("by_offset", [False, True])
def test_shapes_and_errors_are_those_of_the_whole_model(by_offset):
    if by_offset:
        record = FREE.released(40, 0.2, [[1.0, -0.4], [0.3, 1.0]], noise=0.2, rng=4)
    else:
        record = FREE.free(40, 0.2, trials=2, noise=0.2, rng=4)
    lines = lines_of(record)
    offsets = offsets_of(lines.fit, lines.means, lines.trials) if by_offset else None
    fit = with_rigid(lines.fit, 1, offsets)
    x, covariance = dense(record, lines, by_offset=by_offset)
    N, angle = len(fit.omega), np.arctan2(fit.shapes[0, 1], fit.shapes[0, 0])
    across = np.array([-fit.shapes[0, 1], fit.shapes[0, 0]])
    std = np.sqrt(across @ fit.covariance[N : N + 2, N : N + 2] @ across)
    assert std == pytest.approx(np.sqrt(covariance[-1, -1]), rel=0.05)
    assert abs(np.sin(angle - x[-1])) < 0.2 * std
    np.testing.assert_allclose(fit.omega[1:], x[: N - 1], atol=0.3 * np.sqrt(covariance[0, 0]))


def test_one_direction_explains_the_slopes_of_one_rigid_body():
    lines = lines_of(FREE.equilibrium(60, 0.2, trials=10, noise=0.1, rng=2))
    slopes = slopes_of(lines.fit)
    assert slopes.trials == 10
    assert slopes.p_value < 1e-100
    assert slopes.rank == 1
    assert slopes.left(1) > 1e-3


def test_two_directions_explain_those_of_two():
    rng = np.random.default_rng(5)
    q, _ = np.linalg.qr(rng.normal(size=(5, 3)))
    K = q @ np.diag([0.5, 2.0, 5.0]) @ q.T
    system = LinearSystem(np.eye(5), K, np.eye(5)[:3])
    lines = lines_of(system.equilibrium(60, 0.2, trials=20, noise=0.1, rng=2))
    slopes = slopes_of(lines.fit)
    assert slopes.rank == 2
    D, V = slopes.directions(2), system.participation[:2]
    np.testing.assert_allclose(D @ D.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(V @ D.T @ D, V, atol=1e-3)


def test_a_held_body_has_offsets_of_noise():
    held = chain(4, observed=[0, 3])
    record = held.released(60, 0.2, [1.0, -0.4], noise=0.1, rng=3)
    lines = lines_of(record)
    assert offsets_of(lines.fit, lines.means, lines.trials).p_value > 1e-3
    lines = lines_of(record.with_values([y + np.array([0.2, 0.0]) for y in record.trials]))
    offsets = offsets_of(lines.fit, lines.means, lines.trials)
    assert offsets.rank == 1
    np.testing.assert_allclose(offsets.values[0][:, 0], [0.2, 0.0], atol=0.02)
