r"""Deep-delay autoencoder: a network finds coordinates in which the motion is a simple flow.

.. math:: z = W u + \mathrm{net}(u), \qquad z_{k+1} = K z_k + B\,q(z_k), \qquad
    u = V z + \mathrm{net}'(z)

with u the leading singular coordinates of windows of delayed samples, q all products of two
states, and small networks of one hidden layer; after Lusch, Kutz and Brunton (2018), Champion and
others (2019) and Bakarji and others (2022). All is trained together, by Adam, on how well windows
many steps ahead are forecast, for a stated time with a fixed seed. It starts at the best linear
map (K by least squares, networks and B zero), so that it need not find that by gradient.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from prism._optional import require
from prism._types import Array
from prism_bench.peers._delays import Delays, delay_coordinates
from prism_bench.peers._rollout import Run, answer_by_run
from prism_bench.peers._series import Series, thinned
from prism_bench.peers.peer import Answer, CannotAnswer, Question
from prism_bench.peers.settings import settings

__all__ = ["PEERS", "DeepDelay"]

ROWS = 6_000
"""Most windows of the training; of more trials the first are used."""

FARTHEST = 1e3
"""A latent state beyond this has run away."""

Own = dict[str, Any]
Weights = dict[str, Any]


@dataclass(frozen=True)
class DeepDelay:
    """The autoencoder, trained for `seconds`.

    Parameters
    ----------
    own : dict, optional
        Settings instead of the stored ones.
    """

    name: str = "deep delay autoencoder"
    package: str = "torch"
    modules: tuple[str, ...] = ("torch",)
    told: str = "order"
    own: dict[str, Any] | None = field(default=None, hash=False)

    def answer(self, question: Question) -> Answer:
        """Train, and run the latent flow."""
        own = self.own or settings(self.name)
        steps: list[int] = []

        def fit(series: Series, own: Own) -> Run:
            run, count = train(series, own, question.order)
            steps.append(count)
            return run

        answer = answer_by_run(question, fit, [own])
        note = f"trained for {own['seconds']:g} s, {steps[-1]} steps"
        return Answer(answer.frequencies, answer.forecast, run=answer.run,
                      notes=(*answer.notes, note))  # fmt: skip


@dataclass(frozen=True, eq=False)
class LatentRun:
    """A trained model from the last window of the record.

    Attributes
    ----------
    weights : dict of arrays
    delays : Delays
    mean : array (channels,)
    start : array (latents,)
    time, dt : float
        Of the last window, and of a step.
    """

    weights: dict[str, Array]
    delays: Delays
    mean: Array
    start: Array
    time: float
    dt: float

    def __call__(self, t: Array) -> Array:
        """Steps of the latent flow, decoded; a cubic spline between them."""
        count = int(np.ceil((np.max(t) - self.time) / self.dt)) + 2
        z = self._states(max(count, 4))
        x = decoded(np, self.weights, z) @ self.delays.newest.T + self.mean
        good = np.isfinite(x).all(axis=1)
        last = len(x) if good.all() else max(int(np.argmin(good)), 2)
        steps = self.time + self.dt * np.arange(last)
        inside = np.asarray(CubicSpline(steps, x[:last])(np.minimum(t, steps[-1])))
        return np.where((np.asarray(t) <= steps[-1])[:, None], inside, np.inf)

    def _states(self, count: int) -> Array:
        z, out = self.start, np.full((count, len(self.start)), np.inf)
        for k in range(count):
            out[k] = z
            z = stepped(np, self.weights, z)
            if not np.abs(z).max() < FARTHEST:
                break
        return out


# -- the model, for arrays and for tensors alike ---------------------------------------------------


def encoded(lib: Any, w: Weights, u: Any) -> Any:
    """Latent states of windows u."""
    return u @ w["W"] + lib.tanh(u @ w["W1"] + w["b1"]) @ w["W2"]


def decoded(lib: Any, w: Weights, z: Any) -> Any:
    """Windows of latent states z."""
    return z @ w["V"] + lib.tanh(z @ w["V1"] + w["c1"]) @ w["V2"]


def stepped(lib: Any, w: Weights, z: Any) -> Any:
    """One step of the latent flow."""
    if "B" not in w:
        return z @ w["K"]
    products = (z[..., :, None] * z[..., None, :]).reshape(*z.shape[:-1], -1)
    return z @ w["K"] + products @ w["B"]


def first_weights(u: list[Array], latents: int, own: Own) -> dict[str, Array]:
    """The best linear map of the leading coordinates, and networks that add nothing yet."""
    rng = np.random.default_rng(own["seed"])
    inputs, hidden = u[0].shape[1], int(own["hidden"])
    now = np.concatenate([part[:-1, :latents] for part in u])
    then = np.concatenate([part[1:, :latents] for part in u])
    weights = {
        "W": np.eye(inputs, latents),
        "V": np.eye(latents, inputs),
        "K": np.linalg.lstsq(now, then, rcond=None)[0],
        "W1": rng.standard_normal((inputs, hidden)) / np.sqrt(inputs),
        "V1": rng.standard_normal((latents, hidden)) / np.sqrt(latents),
        "b1": rng.standard_normal(hidden),
        "c1": rng.standard_normal(hidden),
        "W2": np.zeros((hidden, latents)),
        "V2": np.zeros((hidden, inputs)),
    }
    return weights | ({"B": np.zeros((latents**2, latents))} if own["quadratic"] else {})


# -- training -------------------------------------------------------------------------------------


def train(series: Series, own: Own, order: int) -> tuple[LatentRun, int]:
    """Train on all windows; the run, and the number of steps of the training."""
    thin = thinned(series, own["per_period"], own["samples"])
    mean = np.mean(np.concatenate(thin.trials), axis=0)
    length = max(int(own["share"] * thin.shortest), 2 * order + 2)
    count = max(1, ROWS // (thin.shortest - length + 1))
    latents = 2 * order + int(own["extra"])
    trials = [trial - mean for trial in thin.trials[:count]]
    delays = delay_coordinates(trials, length, max(int(own["inputs"] * latents), latents))
    ahead = min(int(own["ahead"]), min(len(z) for z in delays.trials) // 2)
    if ahead < 1:
        raise CannotAnswer("the record is too short to train on.")
    # Windows are weighted as they are in the record, not each coordinate alike.
    power = np.sqrt(np.sum(delays.axes**2, axis=0))
    start = first_weights(list(delays.trials), latents, own)
    weights, steps = _descend(start, list(delays.trials), power / power[0], ahead, own)
    z = encoded(np, weights, delays.trials[0][-1])
    return LatentRun(weights, delays, mean, np.asarray(z), thin.end, thin.dt), steps


def _descend(
    start: dict[str, Array], u: list[Array], power: Array, ahead: int, own: Own
) -> tuple[dict[str, Array], int]:
    torch = require("torch", "the deep-delay autoencoder", "peers")
    torch.set_num_threads(1)
    torch.manual_seed(own["seed"])
    w = {k: torch.tensor(v, dtype=torch.float64, requires_grad=True) for k, v in start.items()}
    loss = _loss(torch, w, [torch.tensor(part) for part in u], torch.tensor(power), ahead, own)
    optimizer = torch.optim.Adam(list(w.values()), lr=own["rate"])
    begun, steps, best, kept = time.process_time(), 0, np.inf, start
    while (spent := (time.process_time() - begun) / own["seconds"]) < 1:
        for group in optimizer.param_groups:
            group["lr"] = own["rate"] * 0.5 * (1 + np.cos(np.pi * spent))
        optimizer.zero_grad()
        value = loss()
        if not torch.isfinite(value):
            break
        if steps % 50 == 0 and float(value.detach()) < best:
            best, kept = float(value.detach()), {k: v.detach().numpy().copy() for k, v in w.items()}
        value.backward()
        torch.nn.utils.clip_grad_norm_(list(w.values()), 1.0)
        optimizer.step()
        steps += 1
    return kept, steps


def _loss(
    torch: Any, w: Weights, u: list[Any], power: Any, ahead: int, own: Own
) -> Callable[[], Any]:
    """Mean square of windows forecast from randomly drawn ones, and of their own decoding."""
    places = [(k, s) for k, part in enumerate(u) for s in range(len(part) - ahead)]
    k, s = (torch.tensor(column) for column in zip(*places, strict=True))
    offsets = torch.tensor(np.cumsum([0, *(len(part) for part in u[:-1])]))
    rows, first = torch.cat(u), offsets[k] + s
    batch = min(int(own["batch"]), len(first))

    def loss() -> Any:
        chosen = first[torch.randint(len(first), (batch,))]
        z = encoded(torch, w, rows[chosen])
        total = torch.mean(((decoded(torch, w, z) - rows[chosen]) * power) ** 2)
        for j in range(1, ahead + 1):
            z = stepped(torch, w, z)
            total = total + torch.mean(((decoded(torch, w, z) - rows[chosen + j]) * power) ** 2)
        return total / (ahead + 1)

    return loss


PEERS = (DeepDelay(),)
