"""A rotation or a late channel: told apart by magnitudes where phases do not, or left open."""

import numpy as np
import pytest

import prism
from prism.motion.gyroscopic.amplitudes import LineFactors
from prism.motion.gyroscopic.delay import delay_test
from prism.motion.gyroscopic.fit import delay_at_equilibrium
from prism.motion.gyroscopic.free import delay_of_free
from prism.motion.gyroscopic.late import adjust_late, late_relations
from prism.motion.gyroscopic.relations import adjust_lines
from prism.systems.gyroscopic import GyroscopicSystem

STIFFNESS = np.array([[2.0, -0.7], [-0.7, 1.2]])
UNIT = np.eye(2)
COUPLED = np.array([[1.0, 0.3], [0.3, 0.8]])


def two_masses(spin, mass=UNIT):
    return GyroscopicSystem(mass, spin * np.array([[0, 1], [-1, 0]]), STIFFNESS, np.eye(2))


def factors_of(system, delays=(0.0, 0.0), error=1e-8):
    """Exact lines of a system at equilibrium, seen late, with small errors."""
    b = system.factors * np.exp(-1j * np.outer(system.frequencies, delays))
    length = np.linalg.norm(b, axis=1)
    N, n = b.shape
    return LineFactors(
        omega=system.frequencies,
        omega_covariance=error * np.eye(N),
        directions=b / length[:, None],
        across=np.tile(2 * error * np.eye(n, dtype=complex), (N, 1, 1)),
        log_energy=np.log(length**2),
        spread=np.full(N, 1 / 30),
        p_value=np.full(N, 0.5),
    )


def seen(system, seed, late=0, **options):
    """Canonical records, the second channel some samples late."""
    record = system.equilibrium(300.0, 0.05, trials=40, noise=0.02, rng=seed)
    values = [np.column_stack([y[late:, 0], y[: len(y) - late, 1]]) for y in record.trials]
    data = prism.Record([one[::5] for one in values], dt=0.25)
    return prism.identify(data, experiment="equilibrium", **options)


def test_exact_late_lines_pass_the_adjustment_unchanged():
    system = two_masses(0.0, COUPLED)
    lines = factors_of(system, (0.0, 0.2))
    inverse = np.linalg.inv(system.mass)
    result = adjust_late(lines, np.array([0.15]), inverse)
    assert result.converged
    assert (result.dof, result.chi2 < 1e-9) == (3, True)
    np.testing.assert_allclose(result.q, [0.2, 0.0], atol=1e-9)
    assert adjust_lines(lines, inverse).chi2 > 100


@pytest.mark.parametrize("known", [True, False])
def test_derivatives_equal_differences(known):
    lines = factors_of(two_masses(0.3), (0.0, 0.1))
    inverse = np.linalg.inv(COUPLED) if known else None
    p, q, h = lines.measured, np.array([0.17]), 1e-6

    def at(p, q):
        return late_relations(p, q, lines.directions.shape, inverse)

    _, A, B = at(p, q)
    by_p = [(at(p + h * e, q)[0] - at(p - h * e, q)[0]) / (2 * h) for e in np.eye(len(p))]
    by_q = (at(p, q + h)[0] - at(p, q - h)[0]) / (2 * h)
    np.testing.assert_allclose(A, np.array(by_p).T, atol=1e-8)
    np.testing.assert_allclose(B[:, 0], by_q, atol=1e-8)


def test_a_delay_passes_for_a_rotation_to_first_order():
    """Without coupled masses a small delay obeys the relations of positions, and is left open."""
    slow, late = factors_of(two_masses(0.02), error=1e-6), factors_of(two_masses(0.0), (0, 0.02))
    for lines in (slow, late):
        test = delay_at_equilibrium(lines, np.eye(2))
        assert test.open
        assert abs(test.lead) < 2


def test_what_tells_them_apart():
    """A fast spin changes the magnitudes; a late channel of coupled masses does not commute."""
    fast = delay_at_equilibrium(factors_of(two_masses(0.6)), np.eye(2))
    assert fast.refuted
    late = factors_of(two_masses(0.0, COUPLED), (0, 0.2))
    test = delay_at_equilibrium(late, np.linalg.inv(COUPLED))
    assert not test.refuted
    assert not test.open
    np.testing.assert_allclose(test.delays, [0, 0.2], atol=1e-9)
    free = delay_of_free(late, np.linalg.inv(COUPLED))
    assert not free.refuted
    assert not free.open
    assert delay_of_free(factors_of(two_masses(0.6)), np.eye(2)).refuted


def test_long_delays_are_looked_for_where_they_are():
    lines = factors_of(two_masses(0.0), (0, 1.6))
    assert delay_test(lines).p_value < 1e-4
    np.testing.assert_allclose(delay_test(lines, np.array([0, 1.5])).delays, [0, 1.6], atol=1e-9)


@pytest.mark.parametrize(("spin", "late"), [(0.02, 0), (0.0, 1)])
def test_what_cannot_be_told_is_left_open(spin, late):
    """It was called a delay, and answered as one, whether it was or not."""
    model = seen(two_masses(spin), 1, late, mass=np.eye(2))
    assert model.hamiltonian is None
    said = str(model.identifiability)
    assert "is late by" in said
    assert "the system rotates" in said


def test_who_knows_settles_it():
    turning = seen(two_masses(0.02), 1, mass=np.eye(2), gyroscopic=True).hamiltonian
    z = (turning.gyroscopic[0, 1] - 0.02) / turning.gyroscopic_std[0, 1]
    assert abs(z) < 4
    still = seen(two_masses(0.0), 1, 1, mass=np.eye(2), gyroscopic=False)
    assert not hasattr(still.hamiltonian, "gyroscopic")
    assert "delay" in {one.code for one in still.identifiability.remarks}


def test_magnitudes_tell_a_fast_rotor_from_a_late_channel():
    """Its phases alone would be those of a delay; the energies then contradicted the mass."""
    model = seen(two_masses(0.5), 2, mass=np.eye(2))
    assert model.kind == "gyroscopic"
    z = (model.hamiltonian.gyroscopic[0, 1] - 0.5) / model.hamiltonian.gyroscopic_std[0, 1]
    assert abs(z) < 4


def test_a_late_channel_of_coupled_masses_is_put_in_time():
    model = seen(two_masses(0.0, COUPLED), 3, 4, mass=COUPLED)
    assert model.kind == "steady"
    assert "delay" in {one.code for one in model.identifiability.remarks}
    np.testing.assert_allclose(model.hamiltonian.stiffness, STIFFNESS, rtol=0.1)
