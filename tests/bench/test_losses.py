"""Scores by damping: what a test with full knowledge sees of friction between modes."""

import numpy as np
import pytest

from prism.errors import OptionError
from prism_bench.mechanics import friction
from prism_bench.mechanics.audit.nearest import Modal, Sight, _Problem
from prism_bench.mechanics.losses import CLASSES, Lossy, experiment, line_of, visible
from prism_bench.mechanics.scoring import ANSWERED, Score


@pytest.mark.parametrize("record", [False, True])
def test_an_oracle_sees_no_friction_between_modes_that_are_damped_alike(record):
    drawn, D, _ = friction.alike(np.random.default_rng(3))
    assert visible(drawn, D, record) == pytest.approx(1e-3, rel=0.05)


@pytest.mark.parametrize("record", [False, True])
def test_an_oracle_sees_the_damper_of_an_absorber(record):
    drawn, D, _ = friction.damper(np.random.default_rng(3), (0.1, 0.1))
    assert visible(drawn, D, record) > 0.999


def test_a_small_damper_may_pass_for_structural_losses_in_a_response():
    seen = [
        visible(*friction.damper(np.random.default_rng(seed), (1e-3, 1e-3))[:2], False)
        for seed in range(5)
    ]
    assert max(seen) < 0.5


@pytest.mark.parametrize("law", [None, "viscous", "structural"])
def test_slopes_of_the_nearest_system_are_those_of_differences(law):
    rng, K, n = np.random.default_rng(0), 3, 2
    omega, every = np.linspace(0.3, 3, 12), (12, n, n)
    start = Modal(
        np.array([1.0, 3.0, 6.0]),
        rng.standard_normal((K, n)),
        0.3 * np.tril(rng.standard_normal((K, K))),
        np.zeros((K, K)),
    )
    sight = Sight(omega, np.ones(every, complex), np.ones(every), np.ones(12, complex), apart=law)
    problem = _Problem(sight, K, n, 2.4)
    x = problem.pack(start)
    ends = [[problem.rest(x + sign * 1e-6 * step) for step in np.eye(len(x))] for sign in (1, -1)]
    slope = (np.array(ends[0]) - np.array(ends[1])).T / 2e-6
    np.testing.assert_allclose(problem.slope(x), slope, atol=1e-6)


@pytest.mark.parametrize("zeta", CLASSES)
@pytest.mark.parametrize("make", [friction.damper, friction.dashpots])
def test_systems_of_a_class_have_its_damping(make, zeta):
    drawn, D, _ = make(np.random.default_rng(1), (zeta, zeta))
    ratios = friction.poles(drawn.system, D)[1]
    if make is friction.dashpots:
        assert 0.3 * zeta < ratios.max() < 2 * zeta  # by proportion from a friction that is larger
    else:
        k, m = -drawn.system.full_stiffness[0, 1], drawn.system.full_mass[1, 1]
        assert -D[0, 1] == pytest.approx(2 * zeta * np.sqrt(k * m))


def test_systems_in_which_nothing_swings_are_drawn_again():
    name = b"dampers-record"
    drawn, D, _ = friction.dashpots(np.random.default_rng([1, *name, 1000, 3]), (0.1, 0.1))
    assert len(friction.poles(drawn.system, D)[0]) == len(D)


def test_friction_is_overlooked_where_a_test_sees_it_and_nothing_is_said():
    plain = Score("dampers-frf", 0, "held", ANSWERED, counted=True)
    assert Lossy(plain, 1.0).overlooked
    assert not Lossy(plain, 0.5).overlooked
    found = Score("dampers-frf", 0, "held", ANSWERED, counted=True, codes=("coupled-friction",))
    assert not Lossy(found, 1.0).overlooked
    text = line_of("dampers-frf", 0.1, [Lossy(plain, 1.0), Lossy(found, 1.0)])
    assert "right 2/2" in text
    assert "coupled 1" in text
    assert "overlooked 1" in text


def test_an_absorber_of_a_class_is_found():
    one = experiment("absorber-frf", 0.1, 0)
    assert one.score.good
    assert "coupled-friction" in one.score.codes
    assert one.seen > 0.999


def test_rows_without_friction_between_modes_have_no_classes():
    with pytest.raises(OptionError, match="absorber, dampers"):
        experiment("proportional-frf", 0.1, 0)
