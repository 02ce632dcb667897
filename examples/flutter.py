r"""What the flutter index says, and what it does not.

    M q'' + (K + q_dyn A) q = 0,    μ(V) = min_i λ_min(R_i(V)),    q_dyn = ½ρV²

For a wing section with plunge seen and pitch hidden there is one residue, and with the zero λ_z of
the receptance between the poles λ_1, λ_2 (squares of frequencies)

    R = (mI − S²)/I · (λ_z − λ_1)(λ_2 − λ_z).

At coalescence, λ_1 = λ_2, this is −(λ_z − λ_1)²·(mI − S²)/I ≤ 0. So R has crossed zero before,
where a pole met the zero: the index is a precursor of flutter, not the flutter point.

    python examples/flutter.py [--figure flutter.png]
"""

import argparse

import numpy as np

import prism
from prism.systems import TypicalSection

DURATION, STEP, NOISE, PULL = 20.0, 0.02, 0.02, 0.01
# Hodges and Pierce, Introduction to Structural Dynamics and Aeroelasticity: a = -1/5, e = -1/10,
# μ = 20, r² = 6/25, σ = 2/5; speeds in units of b ω_θ.
PUBLISHED = TypicalSection(
    m=20 * np.pi, S=2 * np.pi, I=4.8 * np.pi, kh=3.2 * np.pi, ka=4.8 * np.pi, a=4 * np.pi, e=0.3,
    rho=1.0,
)  # fmt: skip
MEASURED = (0.0, 6.0, 9.0, 12.0, 14.0, 16.0, 22.0, 28.0)


def pluck(section, speed, rng):
    """Plunge after a release from rest: x(t) = μ x(0) Σ r_j cos Ω_j t, r_j of either sign."""
    values, residues = section.modes(speed)
    r = residues[:, 0, 0].real
    t = np.arange(0, DURATION, STEP)
    x = PULL / r.sum() * np.cos(np.outer(t, np.sqrt(values.real))) @ r
    noise = NOISE * x.std() * np.random.default_rng(rng).standard_normal(len(t))
    return prism.Record(x + noise, dt=STEP, channels=["plunge"])


def measure(section, speed, rng):
    """The residue R with its error from one release, or None where no passive model exists."""
    mass = np.linalg.det(section.mass) / section.I  # effective mass of the plunge
    model = prism.identify(pluck(section, speed, rng), experiment="released", mass=mass)
    if model.hamiltonian is None:
        return None
    (hidden,) = model.hamiltonian.hidden
    return hidden.residue[0, 0], hidden.residue_std[0, 0]


def index_speed(section, measured):
    """Zero of R, a parabola in q_dyn, from the speeds at which it was measured; its error."""
    q = np.array([section.pressure(V) for V in measured])
    R, std = np.array(list(measured.values())).T
    found = prism.index_crossing(q, R, std)
    speed = float(np.sqrt(2 * found.pressure / section.rho))
    return speed, speed * found.std / (2 * found.pressure)


def main(figure=None):
    section = TypicalSection()
    exact = {V: section.kernel(V)[1].real for V in MEASURED}
    found = {V: measure(section, V, k) for k, V in enumerate(MEASURED)}
    below = {V: R for V, R in found.items() if R is not None}
    z = [(below[V][0] - exact[V]) / below[V][1] for V in below]

    flutter = section.flutter_speed()
    crossing, crossing_std = index_speed(section, below)
    numbers = {
        "index_speed": section.index_speed("plunge"),
        "index_speed_pitch": section.index_speed("pitch"),
        "flutter_speed": flutter,
        "divergence_speed": section.divergence_speed(),
        "ratio": section.index_speed("plunge") / flutter,
        "index_at_flutter": section.kernel(flutter)[1].real / exact[0.0],
        "measured_index_speed": crossing,
        "measured_index_std": crossing_std,
        "published_index_speed": PUBLISHED.index_speed("plunge"),
        "published_flutter_speed": PUBLISHED.flutter_speed(),
        "published_divergence_speed": PUBLISHED.divergence_speed(),
        "z": float(np.sqrt(np.mean(np.square(z)))),
        "refused_from": min(V for V, R in found.items() if R is None),
    }
    print("speed   Ω1 rad/s  Ω2 rad/s   R/R(0) exact   R/R(0) from one noisy release")
    for V in MEASURED:
        one, two = np.sqrt(section.modes(V)[0].real)
        text = "refused: no passive model"
        if found[V] is not None:
            text = f"{found[V][0] / exact[0.0]:.3f} ± {found[V][1] / exact[0.0]:.3f}"
        print(f" {V:4.0f}   {one:8.3f}  {two:8.3f}   {exact[V] / exact[0.0]:+8.3f}       {text}")
    print(f"index crosses zero, plunge seen    {numbers['index_speed']:.2f} m/s")
    print(f"  extrapolated from the releases   {crossing:.2f} ± {crossing_std:.2f} m/s")
    print(f"index crosses zero, pitch seen     {numbers['index_speed_pitch']:.2f} m/s")
    print(f"flutter (coalescence)              {flutter:.2f} m/s")
    print(f"divergence                         {numbers['divergence_speed']:.2f} m/s")
    speeds = [numbers[f"published_{name}_speed"] for name in ("index", "flutter", "divergence")]
    print("published section, index, flutter, divergence: {:.3f}, {:.3f}, {:.3f}".format(*speeds))
    if figure:
        draw(figure, section, below)
    return numbers


def draw(path, section, measured):
    import matplotlib.pyplot as plt

    flutter, crossing = section.flutter_speed(), section.index_speed()
    speeds = np.linspace(0, 0.99999 * flutter, 400)
    poles = np.sqrt([section.modes(V)[0].real for V in speeds])
    zero, R = np.array([section.kernel(V) for V in speeds]).real.T
    fig, (top, low) = plt.subplots(2, sharex=True, figsize=(6.4, 5.6), layout="constrained")
    top.plot(speeds, poles, color="#222222")
    top.plot([], [], color="#222222", label="frequencies Ω (poles)")
    top.plot(speeds, np.sqrt(zero), "--", color="#0072b2", label="bare pitch ω (zero)")
    top.set(ylabel="rad/s", ylim=(15, 55))
    top.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 0.28))
    low.plot(speeds, R / R[0], color="#222222", label="index, exact")
    points = np.array([(V, *value) for V, value in measured.items()])
    low.errorbar(points[:, 0], points[:, 1] / R[0], points[:, 2] / R[0], fmt="o", ms=4,
                 color="#d55e00", label="from one noisy release each")  # fmt: skip
    low.axhline(0, color="#8f8f8f", lw=0.8)
    for ax in (top, low):
        ax.axvline(crossing, color="#d55e00", ls=":")
        ax.axvline(flutter, color="#cc79a7", ls=":")
    low.text(crossing, -1.5, " pole meets zero", color="#d55e00")
    low.text(flutter, -0.3, "flutter ", color="#cc79a7", ha="right")
    low.set(xlabel="speed in m/s", ylabel="R(V) / R(0)", xlim=(0, 1.04 * flutter))
    low.legend(frameon=False, loc="lower left")
    fig.savefig(path, dpi=130)
    plt.close(fig)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The flutter index and its meaning.")
    parser.add_argument("--figure", metavar="FILE")
    main(parser.parse_args().figure)
