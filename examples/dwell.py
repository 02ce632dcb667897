r"""Slosh frequencies of a tank from a sine-dwell test of the tank alone.

    H(iω) = Σ_j v_j² / (Ω_j² − ω² + iη_jΩ_j²),      H(iω_i) ≈ 0 at the bare slosh frequencies ω_i

A rectangular tank on a spring mount is driven by a shaker at one frequency after the other. The
liquid is not seen. Neither the number of modes nor the noise nor the loss is told to the fit.

    python examples/dwell.py [--figure dwell.png]
"""

import argparse

import numpy as np

import prism

MODES, LOSS, NOISE = 3, 5e-3, 0.03
DWELLS = 150


def main(figure=None):
    tank = prism.systems.slosh_tank(modes=MODES)
    omega = np.linspace(3.0, 20.0, DWELLS)
    frf = tank.response(omega, loss=LOSS, noise=NOISE, noise_kind="both", rng=4)
    model = prism.identify(frf)
    h = model.hamiltonian
    exact = tank.hidden_frequencies
    zeros = [z for z in model.response.zeros if z.inside]
    numbers = {
        "modes": len(model.modes),
        "exact_1": float(exact[0]),
        "found_1": float(h.hidden_frequencies[0]),
        "std_1": float(h.hidden_frequencies_std[0]),
        "found_2": float(h.hidden_frequencies[1]),
        "found_3": float(h.hidden_frequencies[2]),
        "error_max": 100 * float(np.abs(h.hidden_frequencies / exact - 1).max()),
        "z_max": float(np.abs((h.hidden_frequencies - exact) / h.hidden_frequencies_std).max()),
        "mass_error": 100 * float(h.mass[0, 0] / tank.mass[0, 0] - 1),
        "zeros": len(zeros),
        "loss": 2 * float(np.average(model.modes.damping, weights=model.modes.damping_std**-2.0)),
    }
    print(f"{DWELLS} dwells, {100 * NOISE:.0f} % additive and {100 * NOISE:.0f} % relative noise")
    print(f"modes found {numbers['modes']}, loss factor {numbers['loss']:.4f} ({LOSS})")
    print("bare slosh frequency, rad/s   exact    found")
    for true, found, std in zip(exact, h.hidden_frequencies, h.hidden_frequencies_std, strict=True):
        print(f"                            {true:7.4f}  {found:7.4f} ± {std:.4f}")
    if figure:
        model.plot.response(frf).figure.savefig(figure, dpi=130)
    return numbers


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Slosh frequencies from a sine-dwell test.")
    parser.add_argument("--figure", metavar="FILE")
    main(parser.parse_args().figure)
