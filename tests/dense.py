"""The line models written out sample by sample: slow, obvious, and the reference of the tests.

Nothing here imports prism. Data have the shape (channels, trials, samples) throughout, and a
sample that is missing is marked in ``present`` (channels, samples).
"""

import numpy as np


def scaled_time(times):
    """Time centred on the record and in units of its half length."""
    return (times - 0.5 * (times[0] + times[-1])) / (0.5 * (times[-1] - times[0]))


def columns(times, omega, derivatives=True):
    """Columns of the model with free amplitudes, (samples, 4N+2) or (samples, 2N+2)."""
    u = scaled_time(times)
    phase = np.multiply.outer(u, omega * (0.5 * (times[-1] - times[0])))
    parts = [np.ones_like(u)[:, None], u[:, None], np.cos(phase), np.sin(phase)]
    if derivatives:
        parts += [u[:, None] * np.cos(phase), u[:, None] * np.sin(phase)]
    return np.hstack(parts)


def gram(times, omega, present):
    """``EᵀE`` of the samples present, (channels, 4N+2, 4N+2)."""
    E = columns(times, omega)
    return np.stack([E[seen].T @ E[seen] for seen in present])


def project(values, times, omega, present):
    """``Eᵀy`` of the samples present, (channels, 4N+2, trials)."""
    E = columns(times, omega)
    return np.stack([E[seen].T @ y[:, seen].T for y, seen in zip(values, present, strict=True)])


def residual(values, times, omega, coefficients, present):
    """``y - E c`` where a sample is present, zero elsewhere."""
    fit = np.einsum("mk,akr->arm", columns(times, omega, derivatives=False), coefficients)
    return np.where(present[:, None], values - fit, 0.0)


def periodogram(values, times, omega, present):
    """``Σ_r |Σ_t y e^{-iωt}|² / M`` by the definition, (channels, frequencies)."""
    wave = np.exp(-1j * np.multiply.outer(times - times[0], omega))
    power = (np.abs((values * present[:, None]) @ wave) ** 2).sum(axis=1)
    return power / present.sum(axis=1)[:, None]


def least_squares(values, times, omega, present):
    """Coefficients (channels, 2N+2, trials) and residual sums of squares (channels,)."""
    E = columns(times, omega, derivatives=False)
    solved = [
        np.linalg.lstsq(E[seen], y[:, seen].T, rcond=None)[0]
        for y, seen in zip(values, present, strict=True)
    ]
    coefficients = np.stack(solved)
    rest = residual(values, times, omega, coefficients, present)
    return coefficients, np.einsum("arm,arm->a", rest, rest)


def projected(matrix, onto_complement_of):
    """``P⊥ matrix`` with P⊥ the projector that removes the columns of the second argument."""
    q, _ = np.linalg.qr(onto_complement_of)
    return matrix - q @ (q.T @ matrix)


def frequency_information(times, omega, coefficients, weights, present):
    """``Σ J^T P⊥ J`` of the frequencies with all amplitudes free, one series at a time."""
    N, half = len(omega), 0.5 * (times[-1] - times[0])
    E = columns(times, omega)
    plain, ucos, usin = E[:, : 2 * N + 2], E[:, 2 * N + 2 : 3 * N + 2], E[:, 3 * N + 2 :]
    total = np.zeros((N, N))
    for c, weight, seen in zip(coefficients, weights, present, strict=True):
        for a in c.T:
            J = half * (a[2 + N :] * ucos - a[2 : 2 + N] * usin)
            J = projected(J[seen], plain[seen])
            total += weight * J.T @ J
    return total


def derivative_of_wave(phase, omega, order):
    """Time derivatives of ``cos Ωτ`` and ``sin Ωτ``, written out."""
    cos, sin = np.cos(phase), np.sin(phase)
    return {
        0: (cos, sin),
        1: (-omega * sin, omega * cos),
        2: (-(omega**2) * cos, -(omega**2) * sin),
    }[int(order)]


def in_phase_design(times, centre, half, omega, line, shapes, orders, background):
    """Design of one trial in (cosines, sines, background of channel 1, 2, ...).

    Shape (channels, samples, parameters); any times, inside or outside the record.
    """
    K, n = shapes.shape
    lag = np.asarray(times) - centre
    design = np.zeros((n, len(lag), 2 * K + background * n))
    for a in range(n):
        for m in range(K):
            frequency = omega[line[m]]
            cos, sin = derivative_of_wave(frequency * lag, frequency, orders[a])
            design[a, :, m] = shapes[m, a] * cos
            design[a, :, K + m] = shapes[m, a] * sin
        for i in range(background):
            design[a, :, 2 * K + background * a + i] = (lag / half) ** i
    return design


def in_phase_fit(values, times, present, omega, line, shapes, weights, orders, background):
    """Cost, residuals and linear parameters at given frequencies and shapes, by lstsq."""
    centre, half = 0.5 * (times[0] + times[-1]), 0.5 * (times[-1] - times[0])
    design = in_phase_design(times, centre, half, omega, line, shapes, orders, background)
    root = np.sqrt(weights)[:, None] * present
    A = (root[:, :, None] * design).reshape(-1, design.shape[-1])
    y = (root[:, None] * np.where(present[:, None], values, 0.0)).transpose(0, 2, 1)
    y = y.reshape(-1, values.shape[1])
    parameters = np.linalg.lstsq(A, y, rcond=None)[0]
    rest = y - A @ parameters
    return float(np.sum(rest**2)), A, parameters
