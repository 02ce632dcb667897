r"""Bath spectral density at strong coupling, from one seen coordinate at equilibrium.

    J(ω) = (π/2) Σ_i (c_i²/ω_i) δ(ω − ω_i),    c_i and ω_i from the lines by the completion (3)

The seen coordinate does not show the bath: its lines are those of coordinate and bath together.
The completion undoes this mixing in closed form, at any strength of the coupling.

    python examples/bath.py [--figure bath.png]
"""

import argparse

import numpy as np

import prism

RECORDS, DURATION, STEP, NOISE = 100, 1000.0, 0.5, 0.02
WIDTH = 0.1  # of the broadening, the same for the exact and the identified density
GRID = np.linspace(0.1, 2.8, 136)


def main(figure=None):
    bath = prism.systems.caldeira_leggett(60, friction=1.0, cutoff=1.0)
    record = bath.equilibrium(DURATION, STEP, trials=RECORDS, noise=NOISE, rng=0)
    model = prism.identify(record, experiment="equilibrium", mass="identity")
    found = model.hamiltonian

    # hidden frequencies and couplings, one by one (the data may see two of them as one)
    omega, c2 = bath.hidden_frequencies, bath.couplings[:, 0] ** 2
    single = [h for h in found.hidden if h.rank == 1]
    match = [int(np.argmin(np.abs(omega - h.frequency))) for h in single]
    offset = np.array([h.frequency for h in single]) - omega[match]
    weight = np.array([h.residue[0, 0] for h in single]) / c2[match] - 1
    claimed = np.array([h.residue_std[0, 0] for h in single]) / c2[match]

    # the density itself, both sides broadened alike
    exact = prism.MemoryKernel(omega, c2[:, None, None])
    J = exact.spectral_density(GRID, WIDTH)[:, 0, 0]
    J_found = found.kernel.spectral_density(GRID, WIDTH)[:, 0, 0]

    numbers = {
        "lines": len(model.modes.frequencies),
        "line_error": float(np.abs(model.modes.frequencies - bath.frequencies).max())
        if len(model.modes.frequencies) == 61
        else float("inf"),
        "hidden": len(single),
        "hidden_error": float(np.abs(offset).max()),
        "spacing": bath.spacing,
        "coupling_median": 100 * float(np.median(np.abs(weight))),
        "coupling_z": float(np.sqrt(np.mean((weight / claimed) ** 2))),
        "density_rms": 100 * float(np.sqrt(np.mean((J_found - J) ** 2) / np.mean(J**2))),
        "density_max": 100 * float(np.abs(J_found / J - 1).max()),
        "energy_scatter": 100 / np.sqrt(RECORDS),
        "passive": model.certificate.passive,
    }
    print(f"{RECORDS} equilibrium records of one coordinate, {100 * NOISE:.0f} % noise")
    print(f"lines found                       {numbers['lines']} of 61")
    print(f"  largest error of a line         {numbers['line_error']:.1e}")
    print(f"bath modes found                  {numbers['hidden']} of 60")
    print(f"  largest error of a frequency    {numbers['hidden_error']:.4f}")
    print(f"    (they are {bath.spacing:.2f} apart)")
    print(f"  R_i/ω_i, median error           {numbers['coupling_median']:.1f} %")
    print(f"    rms of error / claimed        {numbers['coupling_z']:.2f}")
    print(f"J(ω) broadened by {WIDTH}, rms error  {numbers['density_rms']:.1f} %")
    print(f"  largest error                   {numbers['density_max']:.1f} %")
    print(f"scatter of the energies, 1/√R     {numbers['energy_scatter']:.0f} %")
    if figure:
        draw(figure, bath, found, J, J_found)
    return numbers


def draw(path, bath, found, J, J_found):
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    stems = np.pi / 2 * found.residues[:, 0, 0] / found.hidden_frequencies / bath.spacing
    ax.plot(found.hidden_frequencies, stems, ".", color="#8f8f8f", label="single bath modes, found")
    ax.plot(GRID, J, color="#222222", lw=2.5, label="exact, broadened")
    ax.plot(GRID, J_found, color="#d55e00", lw=1.4, label="identified, broadened")
    fine = np.linspace(0, 3, 200)
    ax.plot(fine, bath.spectral_density(fine), ":", color="#0072b2", label="Ohmic J(ω) itself")
    ax.set(xlabel="ω", ylabel="J(ω)", xlim=(0, 3), ylim=(0, None))
    ax.legend(frameon=False)
    fig.savefig(path, dpi=130)
    plt.close(fig)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Bath spectral density from one coordinate.")
    parser.add_argument("--figure", metavar="FILE")
    main(parser.parse_args().figure)
