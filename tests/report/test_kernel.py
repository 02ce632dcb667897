"""The memory kernel in sentences."""

import prism
from prism.report.kernel import kernel_facts, kernel_sentence
from prism.report.sentences import horizon_sentence, mode_facts
from prism.systems import chain


def test_friction_index_and_observability_are_said():
    system = chain(observed=[0])
    model = prism.identify(system.released(80, 0.25, [1.0]), experiment="released", kind="steady")
    friction, index = kernel_facts(model)
    peaks, seen = mode_facts(model)
    assert peaks.startswith("Active peaks, with 19 % of the energy of the strongest or more: ")
    # κ = 2 and a static stiffness of 1: the hidden masses take off 1
    assert "tr γ(0) = 1;" in friction
    assert f"index): {(system.couplings**2).min():.4g}." in index
    assert "8 of 8 states" in seen
    assert all(one in model.summary().replace("\n  ", " ") for one in (index, "K(t) = R1 sin"))
    assert kernel_sentence(model).startswith("K(t) = R1 sin(0.44504 t)/0.44504")


def test_nothing_is_said_of_a_kernel_that_is_not_there():
    free = prism.identify(chain().free(60, 0.3, rng=0), kind="steady")
    assert kernel_facts(free) == ()
    assert kernel_sentence(free) is None


def test_the_horizon_of_a_tested_forecast_is_said():
    model = prism.identify(chain().free(100, 0.25, noise=0.1, rng=0), fit_fraction=0.5)
    (said,) = horizon_sentence(model)
    assert said.endswith("more than noise explains: at least 49.75.")
    assert "Horizon" in model.summary()
    short = prism.identify(chain().free(100, 0.25, noise=0.1, rng=0), kind="steady")
    assert horizon_sentence(short) == ()
