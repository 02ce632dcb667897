"""PRISM itself, as a user would call it, with nothing told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from prism._types import Array
from prism.errors import PrismError
from prism.kernel import MemoryKernel
from prism.model import Model
from prism.pipeline import identify
from prism.record import Record
from prism_bench.peers.peer import Answer, Question

__all__ = ["PEERS", "answer_of", "friction_of"]

_ADVICE = "potential='auto'"


class Prism:
    """The default method.

    Where the model advises to fit a potential, or the experimenter says that there is one, that
    is done, and kept where PRISM says that it is determined.
    """

    name = "PRISM"
    package = "prism-id"
    modules: tuple[str, ...] = ()
    told = ""

    def answer(self, question: Question) -> Answer:
        """Identify."""
        model = _identified(question)
        answer = answer_of(model, question)
        if not isinstance(question.data, Record) or question.experiment != "free":
            return answer
        advised = any(_ADVICE in remark for remark in model.identifiability.remarks)
        if not (question.nonlinear or advised):
            return answer
        return _with_potential(question) or answer


def _identified(question: Question) -> Model:
    if not isinstance(question.data, Record):
        return identify(question.data)
    mass = question.kernel_mass
    return identify(question.data, experiment=question.experiment, mass=mass)


def _with_potential(question: Question) -> Answer | None:
    """The answer with a potential, as the model advised; None where it is not determined."""
    assert isinstance(question.data, Record)
    try:
        model = identify(question.data, potential="auto")
    except PrismError:
        return None
    if model.hamiltonian is None:
        return None
    why = "as the task says" if question.nonlinear else "as it advised"
    return replace(answer_of(model, question), notes=(f"fitted a potential, {why}",))


def answer_of(model: Model, question: Question) -> Answer:
    """All that a model holds of what is asked."""
    hidden = None if model.hamiltonian is None else _with_rank(model)
    kernel = friction = None
    if model.kernel and question.kernel_times is not None:
        kernel = model.kernel(question.kernel_times)
        friction = friction_of(model.kernel, question.kernel_times)
    run = _run(model)
    ahead = question.ahead
    return Answer(
        frequencies=model.modes.frequencies,
        forecast=None if run is None or ahead is None else run(ahead),
        kernel=kernel,
        hidden=hidden,
        zeros=hidden if model.response is not None else None,
        run=run,
        passive=model.certificate.passive,
        intervals=True,
        friction=friction,
    )


def _with_rank(model: Model) -> Array:
    """Bare frequencies, each as often as its residue has ranks."""
    assert model.hamiltonian is not None
    each = [h.frequency for h in model.hamiltonian.hidden for _ in range(h.rank)]
    return np.array(each, float)


def _run(model: Model) -> Callable[[Array], Array] | None:
    if model.trajectories is None:
        return None

    def run(t: Array) -> Array:
        # The errors of a forecast take memory with the square of nothing but its length.
        parts = np.array_split(t, max(1, len(t) // 4000))
        return np.concatenate([model.forecast(part).values for part in parts])

    return run


def friction_of(kernel: MemoryKernel, times: Array) -> Array:
    r"""Memory in its friction form, :math:`Γ(τ) = \sum_i R_i \cos(ω_i τ)/ω_i^2`."""
    weights = np.cos(np.multiply.outer(times, kernel.poles)) / kernel.poles**2
    return np.asarray(np.tensordot(weights, kernel.residues, axes=1))


PEERS = (Prism(),)
