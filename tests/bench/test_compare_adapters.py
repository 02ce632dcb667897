"""Each adapter of the comparison on a small case whose answer is known."""

import numpy as np
import pytest

from prism.record import Record
from prism.systems import cart_pendulum, chain
from prism_bench.peers import registry
from prism_bench.peers.peer import CannotAnswer, Question
from prism_bench.peers.scoring import score
from prism_bench.peers.tasks import TASKS, Asked, Truth
from prism_bench.peers.tasks.linear import KERNEL_TIMES, friction_of


def peer(name):
    return next(p for p in registry.listed().values() if p.name == name)


def asked_response(noise):
    system = chain()
    response = system.response(np.linspace(0.1, 2.0, 120), noise=noise, rng=0)
    truth = Truth(0.01, system.frequencies, zeros=system.hidden_frequencies)
    return Asked(Question(response, "forced", 4), truth)


def asked_equilibrium(trials):
    system = cart_pendulum()
    record = system.equilibrium(30, 0.05, trials=trials, noise=0.02, rng=0)
    question = Question(
        record, "equilibrium", 2, kernel_times=KERNEL_TIMES[:80], kernel_mass=system.mass
    )
    truth = Truth(
        0.2,
        system.frequencies,
        friction=friction_of(system, KERNEL_TIMES[:80]),
        hidden=system.hidden_frequencies,
    )
    return Asked(question, truth)


def scores(name, asked):
    return score(peer(name).answer(asked.question), asked.question, asked.truth)


def test_prism_on_the_chain():
    asked = TASKS["length-50"].ask(0)
    found = scores("PRISM", asked)
    assert found["frequency_found"] == 4
    assert found["frequency_spurious"] == 0
    assert found["forecast"] < 0.2
    assert found["passive"] == 1
    answer = peer("PRISM").answer(asked.question)
    assert np.array_equal(answer.run(asked.question.ahead), answer.forecast)


def test_prism_on_a_response_offers_zeros():
    found = scores("PRISM", asked_response(0.01))
    assert found["frequency_found"] == 4
    assert found["zero_found"] == 2
    assert found["zero_error"] < 1e-3


@pytest.mark.parametrize("name", ["PRISM", "NNLS of the paper"])
def test_hidden_frequency_and_kernel_at_equilibrium(name):
    found = scores(name, asked_equilibrium(100))
    assert found["hidden_error"] < 0.03
    assert found["kernel_error"] < 0.3


def test_prism_fits_a_potential_only_where_it_is_advised_or_said(monkeypatch):
    from prism_bench.peers import prism_

    called = []
    monkeypatch.setattr(prism_, "_with_potential", lambda question: called.append(question))
    record = Record(np.cos(0.05 * np.arange(600)), dt=0.05)
    plain = peer("PRISM").answer(Question(record, "free", 1))
    assert called == []
    said = peer("PRISM").answer(Question(record, "free", 1, nonlinear=True))
    assert len(called) == 1
    assert np.allclose(plain.frequencies, said.frequencies)


def test_nnls_on_the_chain():
    found = scores("NNLS of the paper", TASKS["length-100"].ask(0))
    assert found["frequency_found"] == 4
    assert 1e-5 < found["frequency_error"] < 0.01


def test_aaa_is_exact_without_noise():
    pytest.importorskip("scipy", minversion="1.15", reason="AAA is there from scipy 1.15 on")
    found = scores("AAA", asked_response(0.0))
    assert found["frequency_error"] < 1e-9
    assert found["zero_error"] < 1e-9
    assert (found["frequency_spurious"], found["zero_spurious"]) == (0, 0)


def test_vector_fitting_is_exact_without_noise():
    pytest.importorskip("skrf")
    found = scores("vector fitting", asked_response(0.0))
    assert found["frequency_error"] < 1e-6
    assert found["zero_error"] < 1e-6


def test_gleqpy_finds_the_kernel_of_the_cart():
    pytest.importorskip("gleqpy")
    pytest.importorskip("ase")
    assert scores("GLEqPy", asked_equilibrium(300))["kernel_error"] < 0.4


def test_fdd_finds_the_modes_of_the_chain():
    pytest.importorskip("pyoma2")
    found = scores("pyOMA2 FDD", TASKS["chain"].ask(0))
    assert found["frequency_found"] == 4


def test_ssi_finds_the_modes_of_the_ensemble():
    pytest.importorskip("pyoma2")
    question = TASKS["ensemble"].ask(0)
    assert scores("pyOMA2 SSI-cov", question)["frequency_found"] == 4


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("AAA", "chain"),
        ("vector fitting", "chain"),
        ("NNLS of the paper", "cart-forced"),
        ("pyOMA2 FDD", "cart-forced"),
        ("GLEqPy", "chain"),
    ],
)
def test_a_method_refuses_data_it_is_not_made_for(name, task):
    with pytest.raises(CannotAnswer):
        peer(name).answer(TASKS[task].ask(0).question)
