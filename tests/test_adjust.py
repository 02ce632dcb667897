import numpy as np

from prism.adjust import adjust


def test_linear_adjustment_equals_generalised_least_squares():
    """p = X q measured with covariance C: h = p - X q gives the Gauss-Markov estimate."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 2))
    A = rng.standard_normal((6, 6))
    C = A @ A.T + np.eye(6)
    measured = rng.standard_normal(6)
    result = adjust(measured, C, np.zeros(2), lambda p, q: (p - X @ q, np.eye(6), -X))
    W = np.linalg.inv(C)
    covariance = np.linalg.inv(X.T @ W @ X)
    q = covariance @ X.T @ W @ measured
    np.testing.assert_allclose(result.q, q, rtol=1e-10)
    np.testing.assert_allclose(result.p, X @ q, rtol=1e-10)
    np.testing.assert_allclose(result.covariance[6:, 6:], covariance, rtol=1e-10)
    np.testing.assert_allclose(result.covariance[:6, :6], X @ covariance @ X.T, atol=1e-10)
    residual = measured - X @ q
    np.testing.assert_allclose(result.chi2, residual @ W @ residual, rtol=1e-10)
    assert result.dof == 4
    assert result.converged


def test_relations_among_unknowns_alone_are_kept():
    """A gauge on the unknowns has no noise of its own."""
    measured = np.array([1.0, 2.1, 2.9])

    def relations(p, q):
        h = np.append(p - q[:3] * q[3], q[:3].sum() - 3)
        A = np.vstack([np.eye(3), np.zeros((1, 3))])
        B = np.zeros((4, 4))
        B[:3, :3] = -q[3] * np.eye(3)
        B[:3, 3] = -q[:3]
        B[3, :3] = 1
        return h, A, B

    result = adjust(measured, 0.01 * np.eye(3), np.array([1.0, 1, 1, 1]), relations)
    np.testing.assert_allclose(result.q[:3] * result.q[3], measured, rtol=1e-9)
    assert abs(result.q[:3].sum() - 3) < 1e-12
    assert result.dof == 0
    assert result.p_value == 1.0


def test_nonlinear_adjustment_is_calibrated():
    """Points measured around a circle through the origin's unit radius: p on |p| = r."""
    rng = np.random.default_rng(1)
    angles = np.linspace(0, 2, 5)
    truth = 2 * np.column_stack([np.cos(angles), np.sin(angles)])

    def relations(p, q):
        points = p.reshape(5, 2)
        A = np.zeros((5, 10))
        for i in range(5):
            A[i, 2 * i : 2 * i + 2] = 2 * points[i]
        return (points**2).sum(axis=1) - q[0] ** 2, A, np.full((5, 1), -2 * q[0])

    scores, misfits = [], []
    for _ in range(400):
        measured = truth.ravel() + 0.01 * rng.standard_normal(10)
        result = adjust(measured, 1e-4 * np.eye(10), np.array([1.5]), relations)
        scores.append((result.q[0] - 2) / np.sqrt(result.covariance[-1, -1]))
        misfits.append(result.chi2)
    # the rms of 400 unit normals scatters by 3.5 %, the mean of χ² on 4 dof by 3.5 %
    assert 0.88 < np.sqrt(np.mean(np.square(scores))) < 1.12
    assert 3.5 < np.mean(misfits) < 4.5
