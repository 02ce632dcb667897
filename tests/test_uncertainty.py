"""The joint Gaussian: blocks by name against index arithmetic written out."""

import numpy as np
import pytest

from prism._linalg import inverse_scaled
from prism.errors import OptionError
from prism.uncertainty import Gaussian, curved, root_of_variance

RNG = np.random.default_rng(0)
ROOT = RNG.standard_normal((8, 8))
C = ROOT @ ROOT.T
VALUES = {"omega": np.array([1.0, 2.0]), "shapes": np.arange(4.0).reshape(2, 2), "s": [5.0, 6.0]}
JOINT = Gaussian.of(VALUES, C)


def test_blocks_are_laid_out_one_after_the_other():
    assert JOINT.names == ("omega", "shapes", "s")
    assert JOINT.where("shapes") == slice(2, 6)
    np.testing.assert_array_equal(JOINT.value("shapes"), VALUES["shapes"])
    np.testing.assert_allclose(JOINT.std("shapes"), np.sqrt(np.diag(C)[2:6]).reshape(2, 2))
    np.testing.assert_array_equal(JOINT.between("omega", "s"), C[:2, 6:])
    np.testing.assert_array_equal(JOINT.between("s"), C[6:, 6:])
    assert "s" in JOINT
    assert "mass" not in JOINT


def test_marginal_in_another_order():
    part = JOINT.only("s", "omega")
    pick = [6, 7, 0, 1]
    np.testing.assert_array_equal(part.mean, JOINT.mean[pick])
    np.testing.assert_array_equal(part.covariance, C[np.ix_(pick, pick)])


def test_rows_of_every_block():
    second = JOINT.rows(np.array([1]))
    pick = [1, 4, 5, 7]
    assert second.blocks == (("omega", (1,)), ("shapes", (1, 2)), ("s", (1,)))
    np.testing.assert_array_equal(second.mean, JOINT.mean[pick])
    np.testing.assert_array_equal(second.covariance, C[np.ix_(pick, pick)])


def test_mapping_is_first_order_propagation():
    J = RNG.standard_normal((3, 8))
    made = JOINT.mapped({"a": np.zeros(2), "b": 1.0}, J)
    np.testing.assert_allclose(made.covariance, J @ C @ J.T)
    assert made.value("b").shape == ()


def test_draws_have_the_covariance():
    draws = JOINT.draw(rng=1, size=40_000)
    assert draws["shapes"].shape == (40_000, 2, 2)
    flat = np.hstack([draws[name].reshape(40_000, -1) for name in JOINT.names])
    assert np.all(np.abs(flat.mean(axis=0) - JOINT.mean) < 5 * np.sqrt(np.diag(C) / 4e4))
    np.testing.assert_allclose(np.cov(flat.T), C, atol=0.03 * np.abs(C).max())


def test_a_singular_covariance_can_be_drawn_from():
    tied = Gaussian.of({"a": [1.0, 1.0]}, np.ones((2, 2)))
    a = tied.draw(rng=0, size=100)["a"]
    np.testing.assert_allclose(a[:, 0], a[:, 1], atol=1e-7)


def test_round_trip():
    again = Gaussian.from_json(JOINT.to_json(), VALUES)
    assert again == JOINT
    assert again != Gaussian.of(VALUES, 2 * C)


def test_sizes_are_checked():
    with pytest.raises(OptionError, match="a, b hold 3 numbers"):
        Gaussian.of({"a": [1.0, 2.0], "b": 1.0}, np.eye(2))
    with pytest.raises(OptionError, match="no block 'mass'; use one of omega, shapes, s"):
        JOINT.std("mass")


def test_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        JOINT.covariance[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        JOINT.value("omega")[0] = 1.0


def test_a_variance_that_is_negative_is_no_error_of_zero():
    found = root_of_variance(np.array([4.0, -1e-13, -0.1, 0.0]))
    np.testing.assert_array_equal(found, [2.0, 0.0, np.inf, 0.0])


def test_curvature_gives_the_second_order_of_a_quadratic():
    """The mean square of ½ ξᵀHξ is ½ tr H² + ¼ (tr H)²."""
    rng = np.random.default_rng(1)
    A, root = rng.standard_normal((3, 3)), 0.1 * rng.standard_normal((3, 2))
    slope, at = rng.standard_normal(3), rng.standard_normal(3)

    def quantity(x):
        return (x @ slope + 0.5 * np.einsum("ki,ij,kj->k", x, A + A.T, x))[:, None]

    H = root.T @ (A + A.T) @ root
    expected = 0.5 * np.trace(H @ H) + 0.25 * np.trace(H) ** 2
    rows = curved(quantity, at, root)
    # 256 draws of a quadratic form: its mean square is known to a fifth
    assert np.sum(rows**2) == pytest.approx(expected, rel=0.4)
    np.testing.assert_array_equal(rows, curved(quantity, at, root))


def test_information_that_rounding_ended_gives_a_large_error():
    """Two columns that are the same: what is left is rounding, of either sign."""
    information = np.array([[1.0, 1.0, 0.0], [1.0, 1.0 - 1e-16, 0.0], [0.0, 0.0, 1e-8]])
    C = inverse_scaled(information)
    assert np.all(np.linalg.eigvalsh(C) > 0)
    assert np.all(np.diag(C)[:2] > 1e12)
    assert C[2, 2] == pytest.approx(1e8)
    assert np.all(np.diag(inverse_scaled(np.diag([1.0, -1e-20]))) > 0)
