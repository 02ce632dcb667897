import numpy as np
import pytest

from prism.motion.decays.kind import _fill
from prism.record import Record

SPAN = 600.0


def a_record(trials=1):
    return Record([np.eye(2400, 1)] * trials, dt=SPAN / 2400)


def kicks(count):
    return (np.linspace(0, SPAN, count + 2)[1:-1],)


@pytest.mark.parametrize(
    ("modes", "band", "blows", "fill"),
    [
        (17, 4.3, 24, True),  # 425 amplitudes for 411 + 50 numbers
        (17, 4.3, 8, False),  # 153 for 429
        (8, 12.6, 24, False),  # 200 for 1253: a structure that is struck every half minute
        (1, 0.0, 24, False),  # one mode has two numbers in each stretch
        (3, 0.05, 24, True),
        (17, 4.3, 0, False),  # a free decay, whatever it has
    ],
)
def test_decays_between_many_kicks_explain_any_motion(modes, band, blows, fill):
    omega = 1 + band * np.linspace(0, 1, modes)
    assert _fill(a_record(), omega, kicks(blows) if blows else ()) is fill


def test_they_do_explain_it():
    # random motion in a band, cut as often: free amplitudes leave a twentieth of its power
    rng = np.random.default_rng(0)
    t = np.arange(2400) * 0.25
    omega = np.arange(0.5, 4.8, 2 * np.pi / SPAN)
    y = np.cos(np.multiply.outer(t, omega) + rng.uniform(0, 2 * np.pi, len(omega))).sum(axis=1)

    def left(modes, blows):
        w = np.linspace(0.5, 4.8, modes)
        columns = np.exp(1j * np.multiply.outer(t, w))
        basis = np.column_stack([columns.real, columns.imag])
        rest = 0.0
        for part in np.array_split(np.arange(len(t)), blows + 1):
            fit = np.linalg.lstsq(basis[part], y[part], rcond=None)[0]
            rest += float(np.sum((y[part] - basis[part] @ fit) ** 2))
        return rest / float(y @ y)

    for modes, blows in ((17, 24), (17, 8)):
        filled = _fill(a_record(), np.linspace(0.5, 4.8, modes), kicks(blows))
        assert (left(modes, blows) < 0.1) is filled
