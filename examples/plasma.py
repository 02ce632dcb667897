r"""Waves of a plasma column, seen by one probe.

    φ'' = c² ∂²φ/∂z² − ω_p² φ            waves of a warm plasma (Bohm and Gross), ends held
    Ω_k² = ω_p² + 4c²/h² sin²(kπ/2(N+1))     on a lattice of N cells of width h
    ω_i: the same for the columns left and right of a probe whose field is held

A field is a chain of coordinates, one for each cell. The probe sees one of them at thermal
equilibrium. What it does not see are the waves of the two columns on either side of it, whose
frequencies are known exactly.

    python examples/plasma.py [--figure plasma.png]
"""

import argparse

import numpy as np

import prism

CELLS, PROBE = 7, 3  # the probe sits in the third cell, where no wave has a node
PLASMA, SPEED = 1.0, 0.9  # ω_p, and c/h
RECORDS, DURATION, STEP, NOISE = 300, 150.0, 0.4, 0.05


def waves(cells):
    """Frequencies of a column of so many cells between ends that are held."""
    k = np.arange(1, cells + 1)
    return np.sqrt(PLASMA**2 + 4 * SPEED**2 * np.sin(np.pi * k / (2 * (cells + 1))) ** 2)


def column():
    """The lattice, of which the probe sees one cell."""
    beside = np.eye(CELLS, k=1) + np.eye(CELLS, k=-1)
    stiffness = (PLASMA**2 + 2 * SPEED**2) * np.eye(CELLS) - SPEED**2 * beside
    return prism.systems.LinearSystem(np.eye(CELLS), stiffness, np.eye(CELLS)[[PROBE - 1]], ["E"])


def main(figure=None):
    system = column()
    lines, hidden = waves(CELLS), np.sort(np.r_[waves(PROBE - 1), waves(CELLS - PROBE)])
    record = system.equilibrium(DURATION, STEP, trials=RECORDS, noise=NOISE, rng=1)
    model = prism.identify(record, experiment="equilibrium")
    found, std = model.hamiltonian.hidden_frequencies, model.hamiltonian.hidden_frequencies_std

    numbers = {
        "lines": len(model.modes),
        "line_error": float(np.abs(model.modes.frequencies / lines - 1).max()),
        "hidden": len(found),
        "exact_1": float(hidden[0]),
        "found_1": float(found[0]),
        "std_1": float(std[0]),
        "hidden_error": 100 * float(np.abs(found / hidden - 1).max()),
        "z": float(np.sqrt(np.mean(((found - hidden) / std) ** 2))),
    }
    print(f"{RECORDS} equilibrium records of one probe in a column of {CELLS} cells")
    print("waves of the whole column     " + " ".join(f"{w:.4f}" for w in model.modes.frequencies))
    print("waves beside the probe, exact " + " ".join(f"{w:.3f}" for w in hidden))
    print("  found                       " + " ".join(f"{w:.3f}" for w in found))
    print("  standard errors             " + " ".join(f"{w:.3f}" for w in std))
    if figure:
        draw(figure, model, hidden)
    return numbers


def draw(path, model, hidden):
    import matplotlib.pyplot as plt

    fig, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
    omega = np.linspace(0.9, 2.2, 1500)
    response = np.array([model.receptance(1j * w)[0, 0].real for w in omega])
    axis.plot(omega, np.arcsinh(response), color="#0072B2", label="response at the probe, found")
    axis.axhline(0, color="0.6", lw=0.8)
    for k, w in enumerate(hidden):
        axis.axvline(w, color="#D55E00", ls="--", lw=1, label=None if k else "beside it, exact")
    axis.set(xlabel="frequency", ylabel="arsinh of the receptance", ylim=(-6, 6))
    axis.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    fig.savefig(path, dpi=130)
    plt.close(fig)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Waves of a plasma column, seen by one probe.")
    parser.add_argument("--figure", metavar="FILE")
    main(parser.parse_args().figure)
