"""The memory kernel in sentences."""

import prism
from prism.report.kernel import kernel_facts, kernel_sentence
from prism.systems import chain


def test_friction_index_and_observability_are_said():
    system = chain(observed=[0])
    model = prism.identify(system.released(80, 0.25, [1.0]), experiment="released", kind="steady")
    friction, index, seen = kernel_facts(model)
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
