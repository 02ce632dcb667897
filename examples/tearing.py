r"""A line that slows down, followed from one probe.

    y(t) = cos φ(t) + ½ cos(Ω₂ t + 1) + noise,    φ' = ω(t) = ω_a + (ω_b − ω_a)(1 − cos(πt/T))/2

as a tearing mode does while it brakes, beside a steady line. The fit of one frequency in a window
of length W is displaced by W² ω''/40, the known bias of a curved chirp.

    python examples/tearing.py [--figure tearing.png]
"""

import argparse

import numpy as np

import prism
from prism.tracking import track

DURATION, STEP, NOISE = 400.0, 0.1, 0.1
FIRST, LAST, STEADY = 3.0, 2.0, 4.2
WINDOW, HOP = 40.0, 20.0


def frequency(t):
    return FIRST + (LAST - FIRST) * (1 - np.cos(np.pi * t / DURATION)) / 2


def phase(t):
    turn = DURATION / np.pi * np.sin(np.pi * t / DURATION)
    return FIRST * t + (LAST - FIRST) * (t - turn) / 2


def curvature(t):
    rate = np.pi / DURATION
    return (LAST - FIRST) / 2 * rate**2 * np.cos(rate * t)


def probe(rng):
    t = np.arange(0, DURATION, STEP)
    clean = np.cos(phase(t)) + 0.5 * np.cos(STEADY * t + 1)
    noise = NOISE * clean.std() * np.random.default_rng(rng).standard_normal(len(t))
    return prism.Record(clean + noise, dt=STEP, channels=["probe"])


def main(figure=None):
    record = probe(rng=0)
    found = track(record, WINDOW, HOP)
    moving, steady = found.frequencies.T
    std = found.frequencies_std[:, 0]
    error = moving - frequency(found.times)
    bias = WINDOW**2 / 40 * curvature(found.times)

    numbers = {
        "windows": len(found.times),
        "lines": found.frequencies.shape[1],
        "seen": int(found.present.sum()),
        "std": float(std.mean()),
        "error_rms": float(np.sqrt((error**2).mean())),
        "error_max": float(np.abs(error).max()),
        "bias_max": float(np.abs(bias).max()),
        "z_raw": float(np.sqrt(((error / std) ** 2).mean())),
        "z": float(np.sqrt((((error - bias) / std) ** 2).mean())),
        "z_max": float(np.abs((error - bias) / std).max()),
        "steady_error": float(np.abs(steady - STEADY).max()),
        "amplitude": float(found.amplitudes[:, 0].mean()),
    }
    print(f"one probe, {100 * NOISE:.0f} % noise, {numbers['windows']} windows of {WINDOW:g}")
    print("   t     found      ±         exact    error    known bias")
    for k in range(0, len(found.times), 3):
        t = found.times[k]
        print(
            f" {t:5.0f}  {moving[k]:.5f}  {std[k]:.5f}   {frequency(t):.5f}  {error[k]:+.5f}"
            f"  {bias[k]:+.5f}"
        )
    print(f"error / claimed, rms: {numbers['z_raw']:.2f}; without the bias {numbers['z']:.2f}")
    print(f"largest error {numbers['error_max']:.4f}, largest bias {numbers['bias_max']:.4f}")
    print(f"steady line at {STEADY}: largest error {numbers['steady_error']:.4f}")
    if figure:
        draw(figure, found)
    return numbers


def draw(path, found):
    import matplotlib.pyplot as plt

    t = np.linspace(0, DURATION, 400)
    fig, (top, low) = plt.subplots(
        2, sharex=True, figsize=(6.4, 5.2), layout="constrained", height_ratios=[3, 2]
    )
    top.plot(t, frequency(t), color="#222222", label="exact")
    top.axhline(STEADY, color="#222222")
    top.plot(found.times, found.frequencies, "o", color="#d55e00", ms=4, mfc="none")
    top.plot([], [], "o", color="#d55e00", mfc="none", ms=4, label="tracked")
    top.set(ylabel="frequency", ylim=(1.8, 4.6))
    top.legend(frameon=False, loc="center right")
    error = 1e3 * (found.frequencies[:, 0] - frequency(found.times))
    low.errorbar(
        found.times, error, 1e3 * found.frequencies_std[:, 0], fmt="o", ms=4, color="#d55e00",
        label="error of the moving line",
    )  # fmt: skip
    low.plot(t, 1e3 * WINDOW**2 / 40 * curvature(t), color="#0072b2", label="W² ω''/40")
    low.axhline(0, color="#8f8f8f", lw=0.8)
    low.set(xlabel="time", ylabel="error × 1000", xlim=(0, DURATION))
    low.legend(frameon=False)
    fig.savefig(path, dpi=130)
    plt.close(fig)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A moving line, tracked from one probe.")
    parser.add_argument("--figure", metavar="FILE")
    main(parser.parse_args().figure)
