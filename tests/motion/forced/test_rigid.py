"""Poles at zero: a rigid-body mode is called so, and a slow mode that is told from one is not."""

import numpy as np
import pytest

import prism
from prism.motion.forced.foster import Foster, FosterFit
from prism.motion.forced.rigid import with_rigid_bodies
from prism.systems import chain
from prism_bench.mechanics.table import TUNING, make

FREE = chain([1.0, 2.0, 0.7, 1.5], [1.0, 0.6, 1.4], ends="free-free", observed=[0, 2])
BAND = np.linspace(0.1, 3, 300)


def fitted(slow, std, loss=0.0):
    """A receptance of one port with a slow mode, whose errors are tied to those of the others."""
    foster = Foster(np.array([slow, 1.0]), np.array([[0.7], [0.5]]), np.array([loss, 0.01]), "none")
    root = np.zeros((6, 6))
    root[0, 0], root[2, 0], root[2, 2], root[1, 1] = std, 0.01, 0.02, 1e-3
    inside = np.array([False, True])
    return FosterFit(
        foster, root @ root.T, np.ones(2), 1.0, 10, "white", np.ones(1), inside, driven=True
    )


def test_a_mode_that_is_not_told_from_zero_is_put_there():
    fit = fitted(0.02, 0.02)
    found = with_rigid_bodies(fit, 0.1)
    assert found.foster.omega.tolist() == [0.0, 1.0]
    assert found.covariance[0, 0] == 0
    # the other error of the participation is what is left, and half of Ω moves it along
    assert found.covariance[2, 2] == pytest.approx(0.02**2)
    assert found.foster.participation[0, 0] == pytest.approx(0.7 - 0.5 * 0.01)
    assert "rigid-body" in [one.code for one in found.remarks]


@pytest.mark.parametrize("fit", [fitted(0.02, 0.004), fitted(0.2, 0.2), fitted(0.02, 0.02, 0.5)])
def test_what_is_told_from_zero_or_in_the_band_or_loses_stays(fit):
    assert with_rigid_bodies(fit, 0.1) is fit


@pytest.mark.parametrize("seed", range(4))
def test_a_free_body_under_force_has_a_mode_at_zero(seed):
    model = prism.identify(FREE.response(BAND, noise=0.02, loss=0.01, rng=seed))
    assert model.modes.frequencies[0] == 0
    assert model.certificate.rigid == 1
    h = model.hamiltonian
    z = (h.hidden_frequencies - FREE.hidden_frequencies) / h.hidden_frequencies_std
    assert np.abs(z).max() < 4
    assert "(1 of them a rigid-body mode)" in model.summary()
    # it has no damping ratio: that of some seeds was 0(10)e+133
    assert (model.modes.damping[0], model.modes.damping_std[0]) == (0, 0)


def test_a_support_that_shows_is_not_called_free():
    held = chain([1.0, 2.0, 0.7, 1.5], [1.0, 0.6, 1.4, 0.02], ends="free-fixed", observed=[0, 2])
    assert held.frequencies[0] < BAND[0]
    model = prism.identify(held.response(BAND, noise=0.02, loss=0.01, rng=1))
    slow, std = model.modes.frequencies[0], model.modes.frequencies_std[0]
    assert slow == pytest.approx(held.frequencies[0], abs=4 * std)
    assert slow > 0
    assert model.certificate.rigid == 0


def test_a_rigid_body_alone_has_no_zeros():
    lump = chain([2.0, 1.0], 1e6, ends="free-free", observed=[0])
    model = prism.identify(lump.response(BAND, noise=0.01, rng=1))
    assert model.modes.frequencies.tolist() == [0.0]
    assert model.response.zeros == ()
    assert model.hamiltonian.mass[0, 0] == pytest.approx(3.0, rel=0.01)


@pytest.mark.parametrize("seed", [2, 11, 16, 20])
def test_several_rigid_bodies_are_at_zero(seed):
    """Plates and molecules, whose fits stopped short: friction made up for that."""
    made = make("frf-free", seed, TUNING).made
    model = prism.identify(made.data)
    assert int(model.modes.rigid.sum()) == made.truth.rigid == model.certificate.rigid
    assert len(model.modes) == made.truth.rigid + made.truth.elastic
    assert model.response.damping != "coupled"
    h = model.hamiltonian
    z = (h.hidden_frequencies - made.truth.hidden) / h.hidden_frequencies_std
    assert np.abs(z).max() < 4


@pytest.mark.parametrize("seed", range(3))
def test_a_damper_inside_a_free_body_leaves_it_at_zero(seed):
    arm = np.array([0.0, 0.0, 1.0, -1.0])
    friction = 0.15 * np.outer(arm, arm) + 0.003 * FREE.full_stiffness
    model = prism.identify(FREE.response(BAND, friction=friction, noise=0.02, rng=seed))
    assert model.response.damping == "coupled"
    assert model.modes.frequencies[0] == model.modes.damping[0] == 0
    assert len(model.modes) == 4
    assert model.certificate.rigid == 1
    exact = FREE.response(BAND, friction=friction).values
    assert np.abs(model.receptance(1j * BAND) / exact - 1).max() < 0.1
    assert "rigid-body" in [one.code for one in model.identifiability.remarks]


def test_a_mode_that_noise_may_have_made_is_named():
    """A fifth mode, six standard errors high, was given without a word."""
    case = make("frf-free", 58, TUNING)
    model = prism.identify(case.made.data)
    (said,) = [str(one) for one in model.identifiability.remarks if one.code == "faint"]
    false = model.modes.frequencies[np.argmin(model.modes.significance)]
    assert f"the mode at {false:.5g} may be noise" in said
