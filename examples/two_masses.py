r"""A measured rig: two masses on springs, of which one is seen.

Motion-tracked positions of two masses that decay freely (Schmidt and Lipson, *Distilling
free-form natural laws from experimental data*, Science 324, 2009; its data are published with it).
One mass alone shows the modes of both, and the other one, which it never saw, agrees.

    python examples/two_masses.py real_double_linear_h_1.txt [--figure two_masses.png]
"""

import argparse

import numpy as np

import prism

HELD_BACK = 0.6


def record(path, columns):
    values = np.loadtxt(path, comments="%")  # trial, t, x1, x2, v1, v2
    return prism.Record(values[:, columns], t=values[:, 1])


def main(path, figure=None):
    first, other, both = (record(path, one) for one in ([2], [3], [2, 3]))
    seen = prism.identify(first)
    modes, there = seen.modes, prism.identify(other).modes
    error = np.hypot(modes.frequencies_std, there.frequencies_std)
    whole = prism.identify(both).modes
    check = prism.identify(both, damped=True, fit_fraction=HELD_BACK).forecast_check
    numbers = {
        "kind": seen.kind,
        "modes": len(modes),
        "found_1": float(modes.frequencies_hz[0]),
        "std_1": float(modes.frequencies_std[0] / (2 * np.pi)),
        "other_1": float(there.frequencies_hz[0]),
        "found_2": float(modes.frequencies_hz[1]),
        "std_2": float(modes.frequencies_std[1] / (2 * np.pi)),
        "other_2": float(there.frequencies_hz[1]),
        "z": float(np.abs((modes.frequencies - there.frequencies) / error).max()),
        "damping": float(100 * modes.damping[0]),
        "ratio_1": float(whole.shapes[0, 1] / whole.shapes[0, 0]),
        "ratio_2": float(-whole.shapes[1, 1] / whole.shapes[1, 0]),
        "nrmse": float(check.nrmse.max()),
    }
    _tell(numbers)
    if figure is not None:
        seen.plot.record(first).savefig(figure)
    return numbers


def _tell(numbers):
    print(f"motion of the one mass that is seen  {numbers['kind']}, {numbers['modes']} modes")
    for k in (1, 2):
        value, std = numbers[f"found_{k}"], numbers[f"std_{k}"]
        other = numbers[f"other_{k}"]
        print(f"mode {k}: {value:.5f} ± {std:.5f} Hz, by the other mass alone {other:.5f}")
    print(f"their difference over its error      {numbers['z']:.1f} at most")
    print(f"forecast error of the last 40 %      {numbers['nrmse']:.3f} of the motion")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Two masses, of which one is seen.")
    parser.add_argument("path", help="real_double_linear_h_1.txt of the published data")
    parser.add_argument("--figure", help="write a figure here")
    arguments = parser.parse_args()
    main(arguments.path, arguments.figure)
