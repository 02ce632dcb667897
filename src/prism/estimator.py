"""PRISM as an estimator, with the conventions of scikit-learn."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from prism._types import Array
from prism.errors import NoLineError, NotFittedError, OptionError, PrismWarning
from prism.labelled import Labelled, is_labelled
from prism.pipeline import DEFAULT_FALSE_ALARM, identify
from prism.record import Record
from prism.remarks import Ask, Words

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from prism.model import Model

__all__ = ["PRISM"]

_FORCED = "forced"


class PRISM:
    r"""Identify a record and forecast what comes after it, as an estimator.

    Follows the conventions of scikit-learn, which need not be installed: the constructor stores
    its parameters as they are, `fit` checks them, attributes that end in ``_`` are what was found,
    and a second fit forgets the first. X is time by channels: its rows follow each other with the
    step `dt`, the first at time zero. They must stay in their order, so that a cross-validation
    is one of ``TimeSeriesSplit``, whose test samples follow those of the training.

    Parameters
    ----------
    dt : float
        Sampling step of X; by default time is counted in samples.
    channels : sequence of str, optional
        Names of the columns; by default those of a data frame, or ``x1, x2, ...``.
    quantity : str or sequence of str
        What the columns measure: displacement, velocity or acceleration, one or one per column.
    experiment : {"free", "equilibrium", "released"}
        How the record was made. A forced motion cannot be continued: use `prism.identify`.
    mass, stiffness, rigid, damped, potential, method, max_modes, false_alarm, ignore, drift
        As in `prism.identify`.

    Attributes
    ----------
    model_ : Model or None
        What was found; None when no line stands out of the noise, which a warning says. The
        forecast is then the mean of each channel, so that a search over parameters can compare.
    mean_ : array (channels,)
        Mean of each channel.
    end_ : float
        Time of the last fitted sample.
    n_features_in_ : int
        Number of channels.
    feature_names_in_ : array of str
        Names of the channels, where X had names: columns of a data frame, or a record.

    See Also
    --------
    prism.identify : The same without the conventions.

    Examples
    --------
    >>> import prism
    >>> record = prism.systems.chain().free(400, 0.05, noise=0.1, rng=0)
    >>> X = record.trials[0]
    >>> estimator = prism.PRISM(dt=0.05).fit(X[:4000])
    >>> estimator.model_.modes.frequencies.round(3)
    array([0.347, 1.   , 1.532, 1.879])
    >>> estimator.predict([300.0, 400.0]).shape
    (2, 2)
    >>> round(estimator.score(X[4000:]), 2)
    0.99
    """

    def __init__(
        self,
        dt: float = 1.0,
        *,
        channels: Sequence[str] | None = None,
        quantity: str | Sequence[str] = "displacement",
        experiment: str = "free",
        mass: ArrayLike | str | None = None,
        stiffness: ArrayLike | None = None,
        rigid: int | None = None,
        damped: bool | None = None,
        potential: str | Sequence[str] | None = None,
        method: str = "likelihood",
        max_modes: int | None = None,
        false_alarm: float = DEFAULT_FALSE_ALARM,
        ignore: Any = None,
        drift: int = 1,
    ) -> None:
        self.dt = dt
        self.channels = channels
        self.quantity = quantity
        self.experiment = experiment
        self.mass = mass
        self.stiffness = stiffness
        self.rigid = rigid
        self.damped = damped
        self.potential = potential
        self.method = method
        self.max_modes = max_modes
        self.false_alarm = false_alarm
        self.ignore = ignore
        self.drift = drift

    # -- what an estimator does -----------------------------------------------------------------

    def fit(self, X: ArrayLike | Record | Labelled, y: None = None) -> Self:
        """Identify the motion in X.

        Parameters
        ----------
        X : array (samples, channels), data frame, Record or xarray.DataArray
            Samples at the times 0, dt, 2 dt, ...; NaN is a missing one. A record or a labelled
            array has its own times, names and quantities, and may have several trials.
        y : ignored
            Here because pipelines pass it.

        Returns
        -------
        PRISM
            The estimator itself.
        """
        if self.experiment == _FORCED:
            raise OptionError(
                Words(
                    "a forced motion cannot be continued without the force to come: use "
                    "prism.identify(record, {0}).",
                    (Ask("force", like="[...]"),),
                )
            )
        record, names = self._record(X)
        model = self._identified(record)
        self._forget()
        self.model_: Model | None = model
        self.mean_: Array = np.nanmean(np.concatenate(record.trials), axis=0)
        self.end_ = max(record.ends)
        self.n_features_in_ = record.n_channels
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def predict(self, t: ArrayLike, trial: int = 0) -> Array:
        """Motion at the times t, inside or after the record.

        Parameters
        ----------
        t : array (times,) or (times, 1)
            Counted as in `fit`: the first sample was at zero, or where the record says.
        trial : int
            Which trial of a record of several to continue.

        Returns
        -------
        array (times, channels)
            ``model_.forecast(t)`` has the standard deviations too.

        Raises
        ------
        CannotTellError
            For motion that unmeasured noise drives, which nobody can continue. With
            ``damped=False`` steady lines are fitted, which go on.
        """
        self._check_fitted()
        times = _times(t)
        if self.model_ is None:
            return np.tile(self.mean_, (len(times), 1))
        return self.model_.forecast(times, trial).values

    def score(self, X: ArrayLike | Record | Labelled, y: None = None) -> float:
        r"""Coefficient of determination of the forecast, averaged over the channels.

        .. math:: R^2 = 1 - \frac{\sum_t (\hat x(t) - x(t))^2}{\sum_t (x(t) - \bar x)^2}
                  = 1 - \mathrm{NRMSE}^2

        One is a perfect forecast, zero one no better than the mean; with a noise of the share r
        of the standard deviation of the samples the best is :math:`1 - r^2`.

        Parameters
        ----------
        X : array (samples, channels), data frame or Record
            The samples that follow those of `fit`, with the same step; a record has its own times.
        y : ignored
            Here because searches pass it.
        """
        self._check_fitted()
        later = self._record(X, after=self.end_)[0]
        if later.n_channels != self.n_features_in_:
            raise OptionError(
                f"X has {later.n_channels} features, but PRISM is expecting "
                f"{self.n_features_in_} features as input."
            )
        seen = np.concatenate(later.trials)
        made = np.concatenate([self.predict(t, trial) for trial, t in enumerate(later.times)])
        share = np.nanmean((made - seen) ** 2, axis=0) / np.nanvar(seen, axis=0)
        return float(np.mean(1 - share))

    # -- parameters ------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Without meaning here: no parameter is an estimator.
        """
        return {name: getattr(self, name) for name in _defaults()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters, for the next fit.

        Parameters
        ----------
        **params
            By name.

        Returns
        -------
        PRISM
            The estimator itself.
        """
        known = _defaults()
        for name in params:
            if name not in known:
                raise OptionError(f"unknown parameter {name!r}; use one of {', '.join(known)}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        # What differs from its default, as scikit-learn writes it.
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, default in _defaults().items()
            if repr(getattr(self, name)) != repr(default)
        ]
        return f"PRISM({', '.join(changed)})"

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn asks of an estimator; it is there when it asks."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(allow_nan=True),
        )

    # -- the work --------------------------------------------------------------------------------

    def _identified(self, record: Record) -> Model | None:
        own = ("dt", "channels", "quantity")
        options = {k: v for k, v in self.get_params().items() if k not in own}
        try:
            return identify(record, **options)
        except NoLineError as error:
            note = error.words + " The forecast is the mean of each channel."
            warnings.warn(PrismWarning(note), stacklevel=3)
            return None

    def _record(
        self, X: ArrayLike | Record | Labelled, after: float | None = None
    ) -> tuple[Record, Sequence[str] | None]:
        """X as a record, from time zero or one step after a time, and the names that it has."""
        if is_labelled(X) or isinstance(X, Record):
            record = X if isinstance(X, Record) else Record.from_xarray(X)
            return record, record.channels
        values = _matrix(X)
        names = _column_names(X)
        channels = names if self.channels is None else self.channels
        if after is None:
            return Record(values, self.dt, channels=channels, quantity=self.quantity), names
        t = after + self.dt * np.arange(1, len(values) + 1)
        return Record(values, t=t, channels=channels, quantity=self.quantity), names

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _check_fitted(self) -> None:
        if not hasattr(self, "n_features_in_"):
            raise _not_fitted()("this PRISM is not fitted yet: call fit(X) first.")


def _defaults() -> dict[str, Any]:
    """Parameters of the constructor with their defaults."""
    parameters = inspect.signature(PRISM.__init__).parameters
    return {name: p.default for name, p in parameters.items() if name != "self"}


def _matrix(X: Any) -> Array:
    """X as numbers, (samples, channels), or an error in the words that scikit-learn expects."""
    if sparse.issparse(X):
        raise OptionError("X is a sparse matrix: give a dense array, a motion has no empty times.")
    if np.iscomplexobj(X):
        raise OptionError("Complex data not supported: X holds displacements, which are real.")
    values = np.asarray(X, dtype=float)
    if values.ndim != 2:
        raise OptionError(
            f"X has {values.ndim} dimensions: give samples by channels; one channel is "
            "X.reshape(-1, 1), several trials are a prism.Record."
        )
    if not values.shape[1]:
        raise OptionError(
            f"X has 0 feature(s) (shape={values.shape}) while a minimum of 1 is required."
        )
    return values


def _column_names(X: object) -> list[str] | None:
    """Names of the columns of a data frame, if all are text."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return list(columns)


def _times(t: ArrayLike) -> Array:
    times = np.asarray(t, dtype=float)
    if times.ndim == 2 and times.shape[1] == 1:
        times = times[:, 0]
    if times.ndim > 1:
        raise OptionError(
            f"predict takes times, one number each, not an array of shape {times.shape}; samples "
            "are compared with the forecast by score(X)."
        )
    return np.atleast_1d(times)


def _not_fitted() -> type[NotFittedError]:
    """The error of an estimator that is not fitted; also that of scikit-learn where it is used."""
    theirs = sys.modules.get("sklearn.exceptions")
    if theirs is None:
        return NotFittedError
    return type("NotFittedError", (NotFittedError, theirs.NotFittedError), {})
