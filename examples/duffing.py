r"""A nonlinear spring and two unseen oscillators from one record of the mass.

    x″ = −V′(x) − c₁ q₁ − c₂ q₂,      V′ = x + x³/2,      q_i″ = −ω_i² q_i − c_i x

One noisy record of x is given. Neither the terms of V nor the number of oscillators is told to the
fit; a linear fit of the same record needs ten lines and says nothing about either. Where pysindy is
installed, its regression of the derivatives on polynomials of x and x′ is shown beside them.

    python examples/duffing.py [--figure duffing.png]
"""

import argparse
from importlib.util import find_spec

import numpy as np
from scipy.integrate import solve_ivp

import prism

FREQUENCIES, COUPLINGS = (0.7, 1.9), (0.35, 0.6)
DURATION, DT, NOISE, FITTED = 150.0, 0.05, 0.05, 0.6


def main(figure=None):
    system = prism.systems.duffing(1.0, 0.5, FREQUENCIES, COUPLINGS)
    start = np.array([1.5, 0.0, 0.0])
    record = system.simulate(start, np.zeros(3), DURATION, DT, noise=NOISE, rng=0)
    model = prism.identify(record, potential="polynomial", fit_fraction=FITTED)
    linear = prism.identify(record, kind="steady", fit_fraction=FITTED)
    h = model.hamiltonian
    truth = np.concatenate([[1.0, 0.5], FREQUENCIES, COUPLINGS])
    found = np.concatenate(
        [h.potential.coefficients, h.hidden_frequencies, np.abs(h.couplings[:, 0])]
    )
    std = np.concatenate([h.potential.std, h.hidden_frequencies_std, h.couplings_std[:, 0]])
    numbers = {
        "hidden": len(h.hidden),
        "spring": float(found[0]),
        "cubic": float(found[1]),
        "omega_1": float(found[2]),
        "omega_2": float(found[3]),
        "z_max": float(np.abs((found - truth) / std).max()),
        "nrmse": float(model.forecast_check.nrmse[0]),
        "linear_lines": len(linear.modes),
        "linear_nrmse": float(linear.forecast_check.nrmse[0]),
    }
    print(h)
    print("            truth    found")
    names = ("k", "k₃", "ω₁", "ω₂", "c₁", "c₂")
    for name, a, b, s in zip(names, truth, found, std, strict=True):
        print(f"  {name:8s} {a:7.4f}  {b:7.4f} ± {s:.4f}")
    print(f"forecast of the last {100 * (1 - FITTED):.0f} %, error over the spread of the record:")
    print(f"  potential {numbers['nrmse']:.3f}")
    print(f"  {numbers['linear_lines']} lines  {numbers['linear_nrmse']:.3f}")
    if find_spec("pysindy"):
        numbers["sindy_nrmse"] = sindy_error(record)
        print(f"  PySINDy   {numbers['sindy_nrmse']:.3f}")
    if figure:
        draw(model, linear, record, figure)
    return numbers


def sindy_error(record):
    """Forecast error of x″ = f(x, x′), f a sparse polynomial of degree three fitted by PySINDy."""
    import pysindy

    x, fitted = record.trials[0][:, 0], int(FITTED * record.samples[0])
    smooth = pysindy.SmoothedFiniteDifference(smoother_kws={"window_length": 31})
    state = np.column_stack([x[:fitted], smooth(x[:fitted, None], DT)[:, 0]])
    library = pysindy.PolynomialLibrary(degree=3)
    fit = pysindy.SINDy(pysindy.STLSQ(threshold=0.05), library, smooth).fit(state, t=DT)
    weights, powers = fit.coefficients(), library.powers_
    start = fitted - 50  # the smoothed velocity is poor at the very end
    t = DT * np.arange(start, len(x))
    path = solve_ivp(
        lambda _, s: weights @ (s**powers).prod(axis=1), (t[0], t[-1]), state[start], t_eval=t
    )
    if not path.success:  # a fitted polynomial may run away to infinity
        return float("inf")
    return float(np.sqrt(np.mean((path.y[0, 50:] - x[fitted:]) ** 2)) / x[fitted:].std())


def draw(model, linear, record, path):
    import matplotlib.pyplot as plt

    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), width_ratios=(2, 3))
    V = model.hamiltonian.potential
    x = np.linspace(-2, 2, 300)
    zero = V(0.0)
    left.fill_between(x, V(x) - zero - 2 * V.band(x), V(x) - zero + 2 * V.band(x), alpha=0.3)
    left.plot(x, V(x) - zero, label="found, ±2σ")
    left.plot(x, x**2 / 2 + x**4 / 8, "k--", lw=1, label="truth")
    left.set(xlabel="x", title="V(x)")
    left.legend()
    t = record.times[0]
    late = t > 0.8 * DURATION
    right.plot(t[late], record.trials[0][late, 0], ".", ms=2, color="0.6", label="record")
    right.plot(t[late], model.forecast(t[late]).values[:, 0], label="potential")
    right.plot(t[late], linear.forecast(t[late]).values[:, 0], lw=1, label="lines")
    right.set(xlabel="t", title="forecast")
    right.legend(loc="lower left", ncols=3)
    fig.tight_layout()
    fig.savefig(path, dpi=130)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A nonlinear spring and two unseen oscillators.")
    parser.add_argument("--figure", metavar="FILE")
    main(parser.parse_args().figure)
