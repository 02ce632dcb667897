"""The data decide: kinds of motion are weighed against each other where there is doubt.

Steady lines are asked first, since they cost least and most is known of them. If what they leave
is noise, and no line may be one that decays, nothing else is fitted. Otherwise every kind that
competes is fitted in turn, until one leaves nothing that asks for another; the score of
`prism.motion.account` chooses among those that were fitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from prism._format import format_chance
from prism._types import Array
from prism.errors import CannotTellError, NoLineError
from prism.finding import Finding
from prism.motion import _limits as limits
from prism.motion.account import Account, costs, lines_of, price_of, usable
from prism.motion.doubts import coincident, hump_chance, rough, symmetric
from prism.motion.driven.kind import Driven, parameters_of
from prism.motion.driven.peak import NoisePeakError
from prism.motion.explanation import CUT_SHORT, Attempt, Explanation, Question, cut_short
from prism.motion.losses import LossyMotion
from prism.motion.ranking import (
    SMOOTH_KINDS,
    Contender,
    compared,
    leads,
    rival,
    with_evidence,
    with_forecasts,
)
from prism.motion.steady import Lines
from prism.motion.steady.kind import Steady
from prism.motion.unsteady import changes, scores_of
from prism.record import Record
from prism.remarks import Remark
from prism.search.rounding import is_rounding
from prism.search.work import allowed, over

__all__ = ["against", "decide", "is_open", "undoubted"]


def is_open(asked: Question, explanation: Explanation) -> bool:
    """Whether the options leave it to the data which kind of motion it is."""
    settings = asked.settings
    free = asked.experiment.name == "free" and settings.method == "likelihood"
    if asked.is_response or not free or settings.kind is not None or settings.drift > 1:
        return False
    steady = isinstance(explanation, Steady) and settings.damped is None
    return steady or isinstance(explanation, LossyMotion)


def decide(asked: Question, first: Explanation, kinds: Sequence[Explanation]) -> Finding:
    """Fit the kind that options or habit ask first, and others where the data ask for them.

    Parameters
    ----------
    asked : Question
    first : Explanation
        Steady lines, or losses where they are insisted on.
    kinds : sequence of Explanation
        All that there are.

    Raises
    ------
    CannotTellError
        When nothing explains the record.
    """
    smooth = not usable(asked.record) or not rough(lines_of(asked.record, asked.record.trials))
    if isinstance(first, LossyMotion):
        wanted = [kind for kind in kinds if isinstance(kind, LossyMotion)]
        return _chosen(asked, *_fitted(asked, wanted, None, smooth))
    lead, refusal = None, None
    try:
        lead = _first_look(asked, first, smooth)
    except NoLineError as error:
        refusal = error
        if _hump(asked, asked.record.trials) > limits.DOUBT_LEVEL:
            raise
    plain = None if lead is None else _settled_by(asked, lead)
    if plain is not None:
        return plain
    asked.tell("other kinds of motion")
    others = [
        kind for kind in kinds if kind is not first and _worth_asking(asked, kind, lead, smooth)
    ]
    found, refused = _fitted(asked, others, lead, smooth)
    if isinstance(refused, NoisePeakError):
        refusal = refused
    return _chosen(asked, [*([] if lead is None else [lead]), *found], refusal)


def undoubted(asked: Question, first: Explanation) -> Finding | None:
    """What is asked first, where nothing asks for more; None where something does.

    Parameters
    ----------
    asked : Question
        Of a record without Fourier lines.
    first : Explanation
    """
    if isinstance(first, LossyMotion):
        return None
    try:
        lead = _first_look(asked, first, smooth=True)
    except NoLineError:
        return None
    return None if lead is None else _settled_by(asked, lead)


def _settled_by(asked: Question, lead: Contender) -> Finding | None:
    """The finding of a first look that leaves nothing to ask."""
    if _full(asked, lead.finding):
        return lead.finding
    return None if lead.doubts else with_evidence(asked, lead, [(lead, rival(lead, 0.0))])


def _worth_asking(asked: Question, kind: Explanation, lead: Contender | None, smooth: bool) -> bool:
    """Whether a kind may explain more: not random motion, where smooth lines leave noise alone.

    It has many parameters in many channels, and takes long there. What leaves rounding alone can
    only be told with fewer parameters, as a line with sidebands can.
    """
    if lead is None:
        return True
    if is_rounding(asked.record, lead.account.rests):
        return kind.name in SMOOTH_KINDS and _SIDEBANDS in lead.doubts
    quiet = smooth and lead.chance >= limits.DOUBT_LEVEL
    return not (quiet and isinstance(kind, Driven))


def _first_look(asked: Question, first: Explanation, smooth: bool) -> Contender | None:
    """A few steady lines: motion that is not steady has no end of them, in little noise above all.

    All of them where the motion is smooth and they stand apart.
    """
    most = asked.settings.max_modes
    if most is not None:
        return _contender(asked, first, first.find(asked), most)
    most = limits.FIRST_LINES
    settings = replace(asked.settings, max_modes=most)
    with allowed(limits.FIRST_SHARE * asked.work):
        finding = first.find(asked._replace(settings=settings))
        if over():
            return _contender(asked, first, finding, len(finding.modes))
    if smooth and len(finding.modes) >= most and _apart(asked, finding):
        return _contender(asked, first, first.find(asked))
    return _contender(asked, first, finding, most)


def _apart(asked: Question, finding: Finding) -> bool:
    """Whether most lines stand further apart than those that make up one that changes."""
    gaps = np.diff(finding.modes.frequencies) * asked.record.duration / (2 * np.pi)
    return float(np.median(gaps)) > limits.MODULATED


def _full(asked: Question, finding: Finding) -> bool:
    """Whether as many lines were found as were allowed: what is left is no evidence then."""
    most = asked.settings.max_modes
    return most is not None and len(finding.modes) >= most


_SIDEBANDS = "weaker lines stand symmetrically on both sides of a stronger one"
_NOTHING = (
    "no mode stands out of the noise: record longer, reduce the noise, or raise the false-alarm "
    "probability."
)


def _fitted(
    asked: Question, kinds: Sequence[Explanation], lead: Contender | None, smooth: bool
) -> tuple[list[Contender], CannotTellError | None]:
    """Fits of several kinds, until the best leaves no doubt, and what the last that failed said.

    Nothing explains more than one that leaves rounding. Random motion can always be doubted: it
    leaves nothing to look at.
    """
    out: list[Contender] = []
    refusal: CannotTellError | None = None
    first = None if lead is None else lead.finding
    tried: set[str] = set()
    for attempt in _attempts(asked, kinds, first, out, smooth):
        late = over(limits.LAST_SHARE)
        if late and attempt.explanation.name in tried:
            continue
        tried.add(attempt.explanation.name)
        one = _tried(asked, attempt, late=late)
        if isinstance(one, CannotTellError):
            refusal = refusal if isinstance(refusal, NoisePeakError) else one
        elif one is not None:
            out.append(one)
            others = [*([] if lead is None else [lead]), *out[:-1]]
            done = not one.doubts or is_rounding(asked.record, one.account.rests)
            if done and not one.account.bands and _beats(asked, one, others):
                break
    best = _best(asked, out)
    if best is not None and not best.account.bands and not over(limits.LAST_SHARE):
        out += _overlooked(asked, kinds, best)
    return out, refusal


def _best(asked: Question, contenders: Sequence[Contender]) -> Contender | None:
    """The one that scores best."""
    if not contenders:
        return None
    scores = costs(asked.record, [one.account for one in contenders])
    return contenders[int(np.argmin(scores))]


def _beats(asked: Question, one: Contender, others: Sequence[Contender]) -> bool:
    """Whether a fit scores best: one that leaves noise may still explain less than another."""
    lines = [other.account for other in others if not other.account.bands]
    scores = costs(asked.record, [*lines, one.account])
    return scores[-1] <= min(scores)


def _tried(
    asked: Question, attempt: Attempt, *, late: bool = False
) -> Contender | CannotTellError | None:
    """A fit that was made; what it said where it failed, None where it cannot be compared.

    Late, when the work allowed is nearly done, it has a little on top of that: no kind is left out
    because another one takes long.
    """
    share = limits.LATE_SHARE if late else limits.MOST_SHARE
    try:
        with allowed(share * asked.work, more=late):
            finding = cut_short(attempt.find())
        return _contender(asked, attempt.explanation, finding, attempt.most)
    except CannotTellError as error:
        return error


def _overlooked(
    asked: Question, kinds: Sequence[Explanation], best: Contender
) -> Iterator[Contender]:
    """Fits that promise more than the best: noise hides much."""
    for kind in kinds:
        for attempt in kind.overlooked(asked, best.finding, best.account):
            one = _tried(asked, attempt)
            if isinstance(one, Contender):
                yield one


def _attempts(
    asked: Question,
    kinds: Sequence[Explanation],
    lead: Finding | None,
    found: Sequence[Contender],
    smooth: bool,
) -> Iterator[Attempt]:
    """Fits to be made: what the samples and the look of the spectrum suggest comes first."""
    for kind in kinds:
        yield from kind.at_sight(asked)
    random = [kind for kind in kinds if isinstance(kind, Driven)]
    others = [kind for kind in kinds if kind not in random]
    if smooth:
        for kind in others:
            if not _ended_early(kind, found):
                yield from kind.rivals(asked, lead, None)
    for kind in random:
        yield from kind.rivals(asked, lead, None)
    driven = next((one.finding for one in found if one.account.bands), None)
    if smooth and driven is None:
        return
    for kind in others:
        if isinstance(kind, LossyMotion) or not (smooth or _ended_early(kind, found)):
            yield from kind.rivals(asked, lead, driven)


def _ended_early(kind: Explanation, found: Sequence[Contender]) -> bool:
    """Whether a search of a kind was ended early: it would be again."""
    return any(one.explanation is kind and CUT_SHORT in one.finding.remarks for one in found)


def _contender(
    asked: Question, explanation: Explanation, finding: Finding, most: int | None = None
) -> Contender | None:
    account = explanation.account(asked, finding)
    if account is None:
        return None
    if account.bands:
        return Contender(explanation, finding, account, (), 1.0, most)
    told = not is_rounding(asked.record, account.rests)
    chance = _hump(asked, account.rests) if told else 1.0
    doubts = tuple(_doubts(asked, finding, account.rests if told else (), chance))
    return Contender(explanation, finding, account, doubts, chance, most)


def _hump(asked: Question, rests: Sequence[Array]) -> float:
    """Chance of what is left, where it has Fourier lines."""
    record = asked.record
    return hump_chance(lines_of(record, rests)) if usable(record) else 1.0


def against(asked: Question, finding: Finding) -> Remark | None:
    """What the data say against steady lines that were insisted on.

    Where lines stand alone is a reason to ask other kinds, but none to doubt what was told, unless
    several lines of one shape are not told apart.
    """
    one = _contender(asked, Steady(), finding)
    if one is None or _full(asked, finding):
        return None
    places = set(_doubts(asked, finding, (), 1.0))
    doubts = [doubt for doubt in one.doubts if doubt not in places]
    same = coincident(finding.modes.vibrating())
    if same:
        where = ", ".join(f"{w:.5g}" for w in same[: limits.NAMED])
        doubts.append(f"several lines of one shape stand at {where}, as of one that changes")
    if not doubts:
        return None
    return Remark(
        "the data speak against steady lines",
        "; ".join(doubts),
        "without that option, as free motion, the kind of motion is found from the data",
        code="doubt",
    )


def _doubts(
    asked: Question, finding: Finding, rests: Sequence[Array], chance: float
) -> Iterator[str]:
    """What speaks against an explanation by lines, in words; of the places alone without rests."""
    record = asked.record
    resolution, omega = 2 * np.pi / record.duration, finding.modes.frequencies
    lines = finding.fit
    crowds = isinstance(lines, Lines) and lines.crowded
    if chance < limits.DOUBT_LEVEL:
        yield f"what the lines leave is not white noise (chance {format_chance(chance)})"
    apart = np.diff(np.unique(omega)) / resolution
    if isinstance(lines, Lines) and lines.ties is not None and not crowds:
        # combinations of a few frequencies stand close, and symmetrically, by themselves; what
        # moves slowly is a sum of them too, of such as the record does not resolve
        if np.any(apart < limits.UNRESOLVED):
            yield "lines are combinations of a few frequencies that the record does not resolve"
        if symmetric(finding.modes.vibrating(), limits.MODULATED * resolution):
            yield _SIDEBANDS
        return
    if crowds or np.any(apart < limits.MODULATED):
        yield "lines stand closer together than separate lines are likely to"
    if symmetric(finding.modes.vibrating()):
        yield _SIDEBANDS
    if isinstance(lines, Lines) and rests:
        tests = changes(scores_of(record, lines, rests))
        words, small = min(tests, key=lambda one: one[1], default=("", 1.0))
        if small < limits.CHANGE_LEVEL:
            yield f"{words} by a first test (chance {format_chance(small)})"


def _chosen(
    asked: Question, contenders: Sequence[Contender], refusal: CannotTellError | None
) -> Finding:
    """The contender with the lowest score; the refusal where noise alone scores lower."""
    record = asked.record
    nothing = _noise_alone(record, refusal)
    scores = costs(record, [*(one.account for one in contenders), nothing])
    fuller = _fuller(asked, contenders, scores)
    if fuller is not None:
        contenders = fuller
        scores = costs(record, [*(one.account for one in contenders), nothing])
    plain = scores
    contenders, scores = with_forecasts(asked, contenders, plain)
    order = np.argsort(scores[:-1])
    if not len(order) or scores[order[0]] > scores[-1]:
        raise refusal or NoLineError(_NOTHING)
    ranked = [contenders[k] for k in order]
    if not _beats_noise(record, ranked[0], [nothing, *(one.account for one in ranked)]):
        raise refusal or NoLineError(_NOTHING)
    best = replace(
        ranked[0], finding=_complete(asked, ranked[0]).with_remarks(_left(record, ranked[0]))
    )
    behind = [leads(plain, scores, int(order[0]))[k] for k in order]
    return with_evidence(asked, best, compared(asked, [best, *ranked[1:]], behind))


def _noise_alone(record: Record, refusal: CannotTellError | None) -> Account:
    """Noise without any motion, with the peaks in it where there are some."""
    if not isinstance(refusal, NoisePeakError):
        return Account(record.trials, 0.0)
    price = price_of(record, parameters_of(refusal.bands))
    return Account(record.trials, price, refusal.bands)


def _fuller(
    asked: Question, contenders: Sequence[Contender], scores: Sequence[float]
) -> list[Contender] | None:
    """The contenders with all steady lines, where the limit of a first look may have beaten them.

    None where it has not: they are the best, did not meet their limit, or are far behind.
    """
    lowest = min(scores[: len(contenders)], default=0.0)
    for k, (one, score) in enumerate(zip(contenders, scores, strict=False)):
        full = one.most is not None and len(one.finding.modes) >= one.most
        if full and isinstance(one.explanation, Steady) and 0 < score - lowest < limits.MAY_BRING:
            whole = _contender(asked, one.explanation, one.explanation.find(asked))
            return None if whole is None else [*contenders[:k], whole, *contenders[k + 1 :]]
    return None


def _beats_noise(record: Record, best: Contender, weighed: Sequence[Account]) -> bool:
    """Whether lines beat noise whose spectrum is free in narrow blocks too.

    In the band of a driven mode, or of a peak of the noise, lines stand in noise of one level, so
    that a line on a broad peak would gain by the peak.
    """
    if best.account.bands or not any(one.bands for one in weighed):
        return True
    lines, noise = costs(record, [best.account, Account(record.trials, 0.0)])
    return lines < noise


def _left(record: Record, best: Contender) -> Remark | None:
    """What even the best explanation does not explain; one that leaves rounding explains all."""
    if is_rounding(record, best.account.rests):
        return None
    lines = best.finding.fit
    coloured = isinstance(lines, Lines) and lines.coloured and not lines.crowded
    white = best.chance >= limits.DOUBT_LEVEL
    beyond = best.doubts if white else best.doubts[1:]  # the first one says that it is not
    if best.account.bands or not best.doubts or (coloured and not beyond):
        return None
    if white or coloured:
        return Remark(
            "the lines explain the record to the noise, but they may stand for another motion",
            "; ".join(beyond),
            "treat them as modes with care",
            code="doubt",
        )
    return Remark(
        "no kind of motion that was fitted explains the record to the noise",
        "; ".join(best.doubts),
        "treat numbers and errors with care",
        code="unexplained",
    )


def _complete(asked: Question, best: Contender) -> Finding:
    """The finding, once more without the limit under which it competed, where it met that."""
    if not best.doubts or best.most is None or len(best.finding.modes) < best.most or over():
        return best.finding
    if isinstance(best.explanation, Steady):
        return best.explanation.find(asked)
    # decays and moving lines take much longer than steady ones: their search stays bounded
    more = replace(asked.settings, max_modes=limits.ONCE_MORE * best.most)
    return best.explanation.find(asked._replace(settings=more))
