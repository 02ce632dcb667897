r"""Slosh frequency of a tank from its motion alone.

    H(s) = [C(0) − s Ĉ(s)] / kT                                      Kubo, THEORY (4): holds
    K̂(s) = [s² Ĉ − s C(0) + κ Ĉ] Ĉ⁻¹                                 THEORY (5): displaced here

A tank on a spring mount; the liquid's first slosh mode acts on it like a hanging pendulum, through
the acceleration. The bare slosh frequency is that of the liquid in a tank held still.

    python examples/slosh.py [--figure slosh.png]
"""

import argparse

import numpy as np
from scipy.optimize import brentq

import prism

GRAVITY = 9.81
RADIUS, DEPTH, DENSITY = 0.5, 0.5, 1000.0  # of the liquid in an upright cylinder, SI units
EMPTY_TANK, MOUNT = 150.0, 4.0e4
RECORDS, DURATION, STEP, NOISE = 300, 60.0, 0.05, 0.1


def tank():
    """The mechanical analogue of the first slosh mode: a pendulum in the tank."""
    root = 1.841  # first zero of J1'
    filled = np.tanh(root * DEPTH / RADIUS)
    liquid = DENSITY * np.pi * RADIUS**2 * DEPTH
    sloshing = liquid * RADIUS / (2.199 * DEPTH) * filled
    length = RADIUS / (root * filled)  # g/length = ω²
    rigid = EMPTY_TANK + liquid - sloshing
    return prism.systems.cart_pendulum(rigid, sloshing, length, MOUNT, GRAVITY)


def paper_kernel(omega, lines, a, stiffness):
    r"""K̂(iω) by (5), per unit mass, from C(τ) = Σ a_j cos Ω_j τ: exact line sums."""
    s = 1j * omega
    C = np.sum(a * s / (s**2 + lines**2))
    return ((s**2 * C - s * a.sum() + stiffness * C) / C).real


def main(figure=None):
    system = tank()
    exact = float(system.hidden_frequencies[0])
    record = system.equilibrium(DURATION, STEP, trials=RECORDS, noise=NOISE, rng=0)
    model = prism.identify(record, experiment="equilibrium")  # the mass is not needed
    (slosh,) = model.hamiltonian.hidden

    # the pole of (5) with the exact correlation: no noise, no estimate
    lines = system.frequencies
    a = system.residues[:, 0, 0] / lines**2
    kappa = float(system.stiffness[0, 0] / system.mass[0, 0])
    inside = lines + np.array([1e-6, -1e-6])
    displaced = brentq(lambda w: 1 / paper_kernel(w, lines, a, kappa), *inside)

    numbers = {
        "line_1": float(model.modes.frequencies[0]),
        "line_2": float(model.modes.frequencies[1]),
        "line_error": float(np.abs(model.modes.frequencies / lines - 1).max()),
        "exact": exact,
        "found": slosh.frequency,
        "std": slosh.frequency_std,
        "z": (slosh.frequency - exact) / slosh.frequency_std,
        "displaced": float(displaced),
        "displacement": 100 * float(displaced / exact - 1),
    }
    print(f"{RECORDS} equilibrium records of the tank, {100 * NOISE:.0f} % noise")
    print("                              rad/s")
    print(f"lines of tank and liquid      {numbers['line_1']:.4f}  {numbers['line_2']:.4f}")
    print(f"bare slosh frequency, exact   {exact:.3f}")
    print(f"  by (4), found               {slosh.frequency:.3f} ± {slosh.frequency_std:.3f}")
    print(f"  by (5), exact correlation   {displaced:.3f}  ({numbers['displacement']:+.1f} %)")
    if figure:
        draw(figure, system, model, displaced)
    return numbers


def draw(path, system, model, displaced):
    import matplotlib.pyplot as plt

    w = np.linspace(3, 14, 1200)
    size = [abs(system.receptance(1j * x)[0, 0]) for x in w]
    # without the mass the scale is free: drawn per unit mass
    scale = system.mass[0, 0] / model.hamiltonian.mass[0, 0]
    found = np.abs(model.receptance(1j * w)[:, 0, 0]) / scale
    fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    ax.semilogy(w, size, color="#222222", lw=2.5, label="exact receptance")
    ax.semilogy(w, found, color="#d55e00", lw=1.2, label="identified")
    ax.axvline(system.hidden_frequencies[0], color="#0072b2", ls="--", label="bare slosh, exact")
    ax.axvline(displaced, color="#cc79a7", ls=":", lw=2, label="by (5): displaced")
    ax.set(xlabel="ω in rad/s", ylabel="|H(iω)| in m/N", xlim=(3, 14), ylim=(1e-7, 1e-2))
    ax.legend(frameon=False)
    fig.savefig(path, dpi=130)
    plt.close(fig)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Slosh frequency from output alone.")
    parser.add_argument("--figure", metavar="FILE")
    main(parser.parse_args().figure)
