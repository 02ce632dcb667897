"""How many modes, and how many vectors at a pole: join, drop and merge by one price for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import chdtri

import prism.motion.forced.response._limits as limits
from prism._types import Array
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.modal import ModalPoint
from prism.motion.forced.response.noise import deviance
from prism.motion.forced.response.relocate import relocated
from prism.motion.forced.response.scan import promises, scan
from prism.motion.forced.response.scoring import ResponseFit, climb, wald
from prism.motion.forced.response.start import tolerance
from prism.search.pursuit import LOOSE, AbstractFamily, Move, Places, pursue, simplified


def empty_value(data: ResponseData) -> float:
    r""":math:`-2 \log L` of no mode at all: everything is noise."""
    H = np.zeros_like(data.Y)
    return deviance(data.variance(data.noise_about(H), H), data.counts, data.squares(H))


def refit(fit: ResponseFit, point: ModalPoint, price: float = np.inf) -> ResponseFit:
    """Fit another point: with the variances of the data, then with those of the model."""
    close = relocated(approached(replace(fit, point=point), price))
    return climb(close.held_at(None), limits.SETTLE_STEPS)


def approached(fit: ResponseFit, price: float = np.inf) -> ResponseFit:
    """Fit roughly first, then closer and closer, up to the variances of the data.

    Multiplicative noise weighs a value of 1e-6 as much as one of 1, and such values are small by
    the cancellation of many modes; with additive noise a line next to a pole is known to many
    digits. A start with errors of a percent would get lost among them. A tolerance that falls
    from step to step keeps each step well conditioned. With a finite price, a mode that shows
    only at a closer look may join there.
    """
    fixed = fit.data_variance
    rough = tolerance(fit.data, fixed)
    share = 1e-2
    while np.any((share * rough > fixed)[fit.data.counts > 0]):
        fit = climb(fit.held_at(fixed + share * rough), limits.CLOSER_STEPS)
        fit = _completed(fit, price)
        share *= 1e-2
    return _completed(climb(fit.held_at(fixed), 2 * limits.CLOSER_STEPS), price)


def _completed(fit: ResponseFit, price: float) -> ResponseFit:
    """Add modes until the residual is noise at these variances, or none helps.

    No pursuit: on this way to the start nothing is taken out again, and of several modes that pay
    the more promising one is preferred to a better one unless that gains its price once more.
    """
    for _ in range(limits.MOST_ROUNDS):
        if not np.isfinite(price) or _is_noise(fit, fit.variance):
            break
        best = fit
        for start in _joined(fit, fit.variance, price):
            trial = climb(replace(fit, point=start), 8)
            if trial.value < best.value - price:
                best = trial
        if best is fit:
            break
        fit = best
    return fit


def _joined(fit: ResponseFit, variance: Array, least: float) -> list[ModalPoint]:
    """Points with a mode more where the score promises at least so much, the best first."""
    found = [one for one in scan(fit, variance) if one.gain >= least]
    return [fit.point.joined(one.lam, one.v, one.eta).sorted() for one in found]


def _is_noise(fit: ResponseFit, variance: Array) -> bool:
    """Whether what is left over may be noise of these variances."""
    return bool((fit.squares / variance).sum() <= limits.COMPLETE * fit.data.total)


def settle(fit: ResponseFit) -> ResponseFit:
    """Alternate between the noise and the modes.

    While modes are missing the residual is not noise, and a noise read off it would hide them:
    then the noise stays as it is, and so do the variances, which come from the data.
    """
    noise = fit.noise
    for _ in range(limits.SETTLE_ROUNDS):
        if fit.trusted and not _is_noise(fit, fit.data_variance):
            held = climb(fit.held_at(fit.data_variance), limits.SETTLE_STEPS)
            return replace(held, noise=noise)
        fit = replace(fit, noise=fit.data.noise_about(fit.H), held=None)
        before, fit = fit.value, climb(fit, limits.SETTLE_STEPS)
        if before - fit.value < limits.SETTLED:
            break
    return fit


def memory(fit: ResponseFit) -> float:
    r"""How many lines share one error: :math:`1 + 2 \sum_k ρ_k` of the residual over frequency.

    Noise is new in every line. What the model cannot do (modes with complex shapes, a small
    nonlinearity) is smooth in frequency, and a gain against it counts as often as it is new.
    """
    data = fit.data
    z = (data.Y - fit.H) * np.sqrt(data.counts / fit.spread)
    power = float((np.abs(z) ** 2).sum())
    if power == 0:
        return 1.0
    doubt = 3 / np.sqrt(data.total)
    total = 0.0
    for lag in range(1, len(z) // 4):
        rho = float((z[:-lag].conj() * z[lag:]).real.sum()) / power
        if rho < doubt:
            break
        total += rho
    return 1 + 2 * total


Moves = Iterator[Sequence[Move[ModalPoint]]]


class ResponseModes(AbstractFamily[ModalPoint, ResponseFit, ResponseFit]):
    """The modes of a response, each at one price.

    Parameters
    ----------
    price : float
        What a mode must gain where errors are independent and the noise is known.
    """

    def __init__(self, price: float) -> None:
        self.price = price

    def look(self, fit: ResponseFit) -> ResponseFit:
        """The price where errors have a memory, and where few data leave the noise uncertain.

        With p parameters fitted to N real numbers, residuals are smaller than the noise by
        :math:`1 - p/N`, and a gain in their units is larger.
        """
        size = 2 * fit.data.total
        spare = size - fit.point.free_count - fit.noise.parameters
        return replace(fit, due=self.price * memory(fit) * size / max(spare, 1))

    def fit(self, rest: ResponseFit) -> ResponseFit:
        """The fit itself: what it leaves over belongs to it."""
        return rest

    def members(self, fit: ResponseFit) -> ModalPoint:
        """The modes."""
        return fit.point

    def cost(self, fit: ResponseFit) -> float:
        r""":math:`-2 \log L`."""
        return fit.value

    def words(self, fit: ResponseFit) -> str:
        """How many modes there are."""
        return f"{len(fit.point)} modes"

    def additions(self, rest: ResponseFit) -> Moves:
        """A mode where the score promises most."""
        least = (limits.SEEN_LOSSY if rest.point.lossy else limits.SEEN_LOSSLESS) * rest.due
        starts = _joined(rest, rest.data_variance, least)
        yield [Move(start, rest.due, plain=True) for start in starts]

    def removals(self, fit: ResponseFit, around: Places | None) -> Moves:
        """One mode instead of two neighbours, then one less; the first that can be afforded."""
        if len(fit.point) > 1:
            for start in _merged(fit):
                yield [Move(start, fit.due)]
            for j in _doubtful(fit):
                yield [Move(fit.point.without(j), fit.due)]

    def enlarged(self, start: ModalPoint, like: ResponseFit) -> ResponseFit:
        """One mode more, fitted with the present noise."""
        return refit(like, start)

    def refined(
        self,
        start: ModalPoint,
        like: ResponseFit,
        tolerance: float = LOOSE,
        hopeless: float = np.inf,
    ) -> ResponseFit | None:
        """Fewer modes; None if the loss is far above the price."""
        fewer = approached(replace(like, point=start))
        now = like.held_at(like.data_variance).value
        # without a true mode the misfit stays far above, and moving poles about is in vain
        if fewer.value > now + limits.OUT_OF_REACH * like.due:
            return None
        found = refit(like, fewer.point)
        # a mode may stand for noise of another kind than the present one
        return found if found.value < hopeless else settle(found)

    def joined(self, fit: ResponseFit) -> ResponseFit:
        """With the noise that is left, and what a mode is due then."""
        return self.look(settle(fit))

    def left(self, fit: ResponseFit) -> ResponseFit:
        """With the noise that is left."""
        return settle(fit)

    def better(self, before: ResponseFit, after: ResponseFit) -> bool:
        """Whether there are more modes, or as many that fit better."""
        more = len(after.point) > len(before.point)
        return more or after.value <= before.value - limits.TAKEN_BACK


class FurtherVectors(ResponseModes):
    """Vectors at known poles: they join, each at its price, and none is taken out."""

    def look(self, fit: ResponseFit) -> ResponseFit:
        """The fit itself: a vector at a known pole has one price."""
        return fit

    def additions(self, rest: ResponseFit) -> Moves:
        """A vector at the pole where the score promises most, up to full rank."""
        point, ports = rest.point, rest.data.ports
        gains, vectors = promises(rest)
        full = np.bincount(point.pole, minlength=len(point)) >= ports
        j = int(np.where(full, 0.0, gains).argmax())
        if gains[j] >= self.price and not full[j]:
            yield [Move(point.widened(j, vectors[j]), self.price, plain=True)]

    def removals(self, fit: ResponseFit, around: Places | None) -> Moves:
        """None."""
        yield from ()

    def better(self, before: ResponseFit, after: ResponseFit) -> bool:
        """A vector that joined stays."""
        return True


def select(fit: ResponseFit, price: float, say: Callable[[str], None]) -> ResponseFit:
    """Join and drop modes until neither pays."""
    family = ResponseModes(price)
    fit = simplified(family, family.look(fit), LOOSE)
    say(family.words(fit))
    return pursue(family, fit, rounds=limits.MOST_ROUNDS, polish=False, tell=say)


def strongest(fit: ResponseFit, most: int) -> ResponseFit:
    """Leave out the weakest modes until no more than ``most`` are left, whatever that costs."""
    while len(fit.point) > most:
        weakest = int(np.argmin(wald(fit)))
        fit = settle(refit(replace(fit, trusted=False), fit.point.without(weakest)))
    return fit


def widen(fit: ResponseFit, false_alarm: float) -> ResponseFit:
    """Give poles further vectors while the likelihood asks for them, up to full rank.

    A structure with equal frequencies (a square plate, a shaft) has residues of rank two; so has
    a pair of modes closer than the measurement can tell.
    """
    price = float(chdtri(fit.data.ports, false_alarm / len(fit.point)))
    most = (fit.data.ports - 1) * len(fit.point)
    return pursue(FurtherVectors(price), fit, rounds=most, polish=False)


def _merged(fit: ResponseFit) -> Iterator[ModalPoint]:
    """Points with one mode instead of two neighbours, the closest first."""
    point, x = fit.point.sorted(), fit.data.x
    step = np.interp(point.lam, x, np.gradient(x))
    for j in np.argsort(np.diff(point.lam) / step[:-1]):
        if point.lam[j + 1] - point.lam[j] > limits.MERGE_STEPS * step[j]:
            return
        pair = slice(j, j + 2)
        values, vectors = np.linalg.eigh(point.V[pair].T @ point.V[pair])
        share = (point.V[pair] ** 2).sum(axis=1)
        one = point.without(int(j + 1))
        one.lam[j] = float(share @ point.lam[pair] / share.sum())
        one.V[j] = np.sqrt(values[-1]) * vectors[:, -1]
        yield one


def _doubtful(fit: ResponseFit) -> list[int]:
    """Modes worth a trial without: weak ones, and those whose loss is unlike the others'.

    The Wald statistic is the gain of a mode in a linear world; next to modes that cancel it is
    far too large, so that weak means weak among its fellows too.
    """
    worth, eta = wald(fit), fit.point.eta
    limit = max(4 * fit.due, 1e-3 * float(np.median(worth)))
    out = [int(j) for j in np.argsort(worth)[:2] if worth[j] < limit]
    if fit.point.lossy:
        odd = np.flatnonzero(eta > 5 * fit.point.typical_loss + 1e-6)
        out += [int(j) for j in odd if int(j) not in out and worth[j] < limit * 10]
    return out
