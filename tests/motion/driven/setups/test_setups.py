"""Modes of several set-ups, fitted at once."""

from __future__ import annotations

import numpy as np
import pytest

from prism.errors import NoLineError
from prism.motion.driven import fit_driven
from prism.motion.driven.setups import fit_setups
from prism.record import Record
from prism.systems.chain import chain
from prism.systems.driven import driven

TOWER = chain(4, springs=20.0, observed=range(4))
NAMES = ("q1", "q2", "q3", "q4")
ZETA = np.array([0.02, 0.015, 0.01, 0.01])
DT = 0.25


def a_setup(names, seed, level=1.0, duration=150.0, forces=None):
    whole = driven(
        TOWER,
        duration,
        DT,
        damping=ZETA,
        forces=level**2 * (np.eye(4) if forces is None else forces),
        noise=0.05,
        rng=seed,
    )
    return Record(whole.trials[0], dt=DT, channels=NAMES).select(names)


def true_shapes(fit):
    order = [NAMES.index(name) for name in fit.channels]
    shapes = TOWER.shapes[:, order]
    return shapes * np.sign(np.sum(shapes * fit.shapes, axis=1))[:, None]


CHAIN = (("q1", "q2"), ("q2", "q4"), ("q4", "q3"))  # the second mode has a node at q3


@pytest.fixture(scope="module")
def linked():
    levels = (1.0, 3.0, 0.3)
    records = [
        a_setup(names, k, level) for k, (names, level) in enumerate(zip(CHAIN, levels, strict=True))
    ]
    return records, fit_setups(records)


def test_shapes_reach_over_a_chain_of_set_ups(linked):
    _, fit = linked
    assert fit.channels == ("q1", "q2", "q4", "q3")
    assert np.all(np.abs(fit.frequencies - TOWER.frequencies) < 4 * fit.frequencies_std)
    assert np.all(np.abs(fit.damping - ZETA) < 4 * fit.damping_std)
    shapes = true_shapes(fit)
    assert np.all(np.sum(shapes * fit.shapes, axis=1) ** 2 > 0.99)
    assert np.all(np.abs(fit.shapes - shapes) < 4 * fit.shapes_std)
    assert np.allclose(np.linalg.norm(fit.shapes, axis=1), 1.0)
    assert fit.covariance.shape == (24, 24)
    assert np.linalg.eigvalsh(fit.covariance).min() > -1e-12


def test_poles_are_known_better_than_from_one_set_up(linked):
    records, fit = linked
    one = fit_driven(records[0])
    near = np.argmin(np.abs(fit.frequencies[:, None] - one.frequencies), axis=0)
    assert np.all(fit.frequencies_std[near] < one.frequencies_std)


def test_every_set_up_is_fitted_once_more_in_the_joint_fit(linked):
    _, fit = linked
    assert len(fit.bands) % 3 == 0
    assert {len(support.setups) for support in fit.supports} <= {1, 2, 3}
    assert "set-up 3" in fit.noise


def test_groups_without_a_link_keep_joint_poles():
    records = [a_setup(("q1", "q2"), 5), a_setup(("q3", "q4"), 6)]
    fit = fit_setups(records)
    assert np.all(np.abs(fit.frequencies - TOWER.frequencies) < 4 * fit.frequencies_std)
    truth = true_shapes(fit)
    for group in ([0, 1], [2, 3]):
        assert np.allclose(np.linalg.norm(fit.shapes[:, group], axis=1), np.sqrt(0.5))
        part = truth[:, group] / np.linalg.norm(truth[:, group], axis=1, keepdims=True)
        cosine = np.sum(part * fit.shapes[:, group], axis=1) * np.sqrt(2)
        assert np.all(cosine**2 > 0.98)
    codes = [getattr(remark, "code", "") for remark in fit.remarks]
    assert "unlinked-set-ups" in codes


def test_a_mode_that_one_set_up_alone_shows_is_kept():
    """The lowest mode is not driven while the second set-up is measured."""
    upper = TOWER.participation[1:].T @ TOWER.participation[1:]
    records = [a_setup(("q1", "q2", "q4"), 1), a_setup(("q1", "q3", "q4"), 2, forces=upper)]
    fit = fit_setups(records)
    assert len(fit) == 4
    assert fit.supports[0].setups == (0,)
    remark = next(r for r in fit.remarks if getattr(r, "code", "") == "mode-not-everywhere")
    assert "by 1" in str(remark)
    # what nobody measured of it is known to be unknown
    assert fit.shapes_std[0, fit.channels.index("q3")] > 0.1


def test_noise_alone_is_refused():
    rng = np.random.default_rng(0)
    names = (("a", "b"), ("b", "c"))
    records = [Record(rng.standard_normal((800, 2)), dt=0.1, channels=two) for two in names]
    with pytest.raises(NoLineError, match="set-ups"):
        fit_setups(records)


def test_set_ups_without_common_frequencies_are_refused():
    rng = np.random.default_rng(0)
    slow = Record(rng.standard_normal((100, 1)), dt=10.0, channels=["a"])
    fast = Record(rng.standard_normal((100, 1)), dt=0.01, channels=["a"])
    with pytest.raises(NoLineError, match="share no frequencies"):
        fit_setups([slow, fast], fits=[None, None])
