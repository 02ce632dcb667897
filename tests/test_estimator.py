"""PRISM as an estimator: alone, and under the rules of scikit-learn."""

import doctest
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from tests.places import SOURCE

import prism
import prism.estimator
from prism import PRISM, systems
from prism.errors import NotFittedError, OptionError, PrismWarning

DT = 0.1
TIMES = np.array([210.0, 203.3, 280.0])


@pytest.fixture(scope="module")
def record():
    return systems.chain().free(300, DT, noise=0.1, rng=0)


@pytest.fixture(scope="module")
def fitted(record):
    return PRISM(dt=DT).fit(record.trials[0][:2000])


# -- what it does -------------------------------------------------------------------------------


def test_fit_is_identify(record, fitted):
    model = prism.identify(record.head(2 / 3))
    np.testing.assert_array_equal(fitted.model_.modes.frequencies, model.modes.frequencies)
    np.testing.assert_array_equal(fitted.predict(TIMES), model.forecast(TIMES).values)
    np.testing.assert_array_equal(fitted.predict(TIMES[:, None]), fitted.predict(TIMES))
    assert fitted.n_features_in_ == 2
    assert fitted.end_ == pytest.approx(199.9)
    assert not hasattr(fitted, "feature_names_in_")


def test_score_is_one_minus_the_squared_nrmse_of_the_samples_that_follow(record, fitted):
    model = prism.identify(record, fit_fraction=2 / 3)
    expected = np.mean(1 - model.forecast_check.nrmse**2)
    assert fitted.score(record.trials[0][2000:]) == pytest.approx(expected)
    assert fitted.score(record.tail(2 / 3)) == pytest.approx(expected)
    assert expected > 0.98
    # The times matter: the same samples one second late are another motion.
    assert fitted.score(record.trials[0][2010:]) < 0.9


def test_a_record_brings_times_names_and_trials():
    ensemble = systems.chain().free(200, DT, noise=0.1, trials=3, rng=1)
    estimator = PRISM().fit(ensemble.head(0.5))
    assert list(estimator.feature_names_in_) == list(ensemble.channels)
    expected = estimator.model_.forecast(TIMES, 2).values
    np.testing.assert_array_equal(estimator.predict(TIMES, trial=2), expected)
    assert estimator.score(ensemble.tail(0.5)) > 0.98


def test_parameters_reach_identify():
    five = systems.chain(5, observed=[0, 2, 4]).free(400, 0.05, noise=0.1, rng=0)
    estimator = PRISM(0.05, mass="identity", channels=["a", "b", "c"]).fit(five.trials[0])
    assert estimator.model_.channels == ("a", "b", "c")
    np.testing.assert_allclose(estimator.model_.hamiltonian.mass, np.eye(3), atol=1e-9)
    few = estimator.set_params(max_modes=2).fit(five.trials[0])
    assert few is estimator
    assert len(few.model_.modes) == 2


def test_missing_samples_are_left_out(record):
    X = record.trials[0][:2000].copy()
    X[300:320, 1] = np.nan
    estimator = PRISM(dt=DT).fit(X)
    assert estimator.model_.record.missing == 20
    later = record.trials[0][2000:].copy()
    later[5] = np.nan
    assert estimator.score(later) > 0.98


def test_noise_alone_is_forecast_by_its_mean():
    X = 3 + np.random.default_rng(0).standard_normal((400, 2))
    with pytest.warns(PrismWarning, match="mean of each channel"):
        estimator = PRISM().fit(X)
    assert estimator.model_ is None
    np.testing.assert_allclose(estimator.predict([500, 600]), [X.mean(axis=0)] * 2)
    assert estimator.score(X[:200]) == pytest.approx(0, abs=0.02)


def test_refit_forgets(record):
    estimator = PRISM(dt=DT).fit(record)
    assert hasattr(estimator, "feature_names_in_")
    estimator.fit(record.trials[0][:1000, :1])
    assert estimator.n_features_in_ == 1
    assert not hasattr(estimator, "feature_names_in_")


def test_a_failed_fit_leaves_what_was_there(record):
    estimator = PRISM(dt=DT).fit(record.trials[0])
    with pytest.raises(OptionError, match="unknown method"):
        estimator.set_params(method="magic").fit(record.trials[0])
    assert len(estimator.model_.modes) == 4


def test_constructor_stores_and_repr_shows_what_was_given():
    mass = np.eye(2)
    estimator = PRISM(dt=-1, mass=mass, method="magic")
    assert estimator.get_params()["mass"] is mass
    assert repr(PRISM(dt=0.05, drift=2)) == "PRISM(dt=0.05, drift=2)"
    with pytest.raises(prism.errors.RecordError, match="dt is -1"):
        estimator.fit(np.random.default_rng(0).standard_normal((50, 2)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda e: e.set_params(dx=1), "unknown parameter 'dx'"),
        (lambda e: e.predict(np.zeros((3, 2))), "predict takes times"),
        (lambda e: e.score(np.ones((9, 3)) * np.arange(9)[:, None]), "expecting 2 features"),
        (lambda e: e.fit(np.arange(20.0)), r"reshape\(-1, 1\)"),
        (lambda e: PRISM(experiment="forced").fit(np.zeros((9, 2))), "cannot be continued"),
    ],
)
def test_what_makes_no_sense_is_refused(fitted, call, words):
    with pytest.raises(OptionError, match=words):
        call(fitted)


def test_example_in_the_docstring():
    done = doctest.testmod(prism.estimator)
    assert (done.failed, done.attempted) == (0, 7)


def test_it_needs_no_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import numpy as np, prism\n"
        "e = prism.PRISM(dt=0.1)\n"
        "try: e.predict([1.0])\n"
        "except prism.errors.NotFittedError as error: print('unfitted', error)\n"
        "X = prism.systems.chain().free(100, 0.1, noise=0.1, rng=0).trials[0]\n"
        "print(len(e.fit(X).model_.modes), e.get_params()['dt'])\n"
    )
    here = os.environ | {"PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=here, capture_output=True, text=True, check=True
    )
    assert "call fit(X) first" in done.stdout
    assert done.stdout.endswith("4 0.1\n")


# -- under the rules of scikit-learn ------------------------------------------------------------

_PREDICT = "predict takes times: the check predicts at its samples; the test {} does it with times"
EXPECTED = {
    "check_n_features_in_after_fitting": "predict takes times, whose number of columns is one; "
    "score checks its columns, test_what_makes_no_sense_is_refused",
    "check_fit2d_predict1d": "predict takes times: one dimension is right there",
    "check_positive_only_tag_during_fit": "flowers sorted by species are three steps and no "
    "motion: the record is refused as a piece of something slow",
} | {
    check: _PREDICT.format(test)
    for check, test in {
        "check_estimators_dtypes": "test_numbers_of_any_kind_are_the_same",
        "check_dtype_object": "test_numbers_of_any_kind_are_the_same",
        "check_f_contiguous_array_estimator": "test_numbers_of_any_kind_are_the_same",
        "check_estimators_pickle": "test_a_copy_through_a_process_boundary_predicts_the_same",
        "check_methods_sample_order_invariance": "test_each_time_is_predicted_by_itself",
        "check_methods_subset_invariance": "test_each_time_is_predicted_by_itself",
        "check_dict_unchanged": "test_predict_changes_nothing_and_fit_repeats",
        "check_fit_idempotent": "test_predict_changes_nothing_and_fit_repeats",
    }.items()
}


@pytest.mark.filterwarnings("ignore::prism.errors.PrismWarning", "ignore:Skipping check")
def test_the_checks_of_scikit_learn():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    with pytest.warns(UserWarning, match="does not inherit"):
        results = checks.check_estimator(PRISM(), on_fail=None)
    status = {one["check_name"]: one["status"] for one in results}
    # Another release may bring checks of its own; those fail for no other reason either.
    others = [
        (one["check_name"], one["exception"])
        for one in results
        if one["status"] == "failed"
        and one["check_name"] not in EXPECTED
        and "predict takes times" not in str(one["exception"])
    ]
    assert others == []
    assert {status.get(name, "failed") for name in EXPECTED} == {"failed"}
    assert list(status.values()).count("passed") >= 20
    for reason in EXPECTED.values():
        for name in [word for word in reason.split() if word.startswith("test_")]:
            assert name in globals()


@pytest.mark.parametrize(
    "change",
    [np.asfortranarray, lambda X: X.astype(object), np.ndarray.tolist, lambda X: X[::1]],
    ids=["fortran", "object", "list", "view"],
)
def test_numbers_of_any_kind_are_the_same(fitted, record, change):
    again = PRISM(dt=DT).fit(change(record.trials[0][:2000]))
    np.testing.assert_allclose(again.predict(TIMES), fitted.predict(TIMES), rtol=1e-10)
    integers = fitted.predict([203, 204])
    np.testing.assert_array_equal(integers, fitted.predict(np.array([203, 204], np.float32)))


def test_an_entry_that_is_no_number_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 2)).astype(object)
    X[0, 0] = {"foo": "bar"}
    with pytest.raises(TypeError, match="number"):
        PRISM().fit(X)


def test_a_copy_through_a_process_boundary_predicts_the_same(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(TIMES), fitted.predict(TIMES))


def test_each_time_is_predicted_by_itself(fitted):
    together = fitted.predict(TIMES)
    np.testing.assert_allclose(fitted.predict(TIMES[::-1]), together[::-1], rtol=1e-12)
    alone = np.vstack([fitted.predict([t]) for t in TIMES])
    np.testing.assert_allclose(alone, together, rtol=1e-12)


def test_predict_changes_nothing_and_fit_repeats(fitted, record):
    before = dict(vars(fitted))
    first = fitted.predict(TIMES)
    fitted.score(record.trials[0][2000:])
    assert vars(fitted) == before
    again = PRISM(dt=DT)
    for _ in range(2):
        again.fit(record.trials[0][:2000])
        np.testing.assert_array_equal(again.predict(TIMES), first)


def test_unfitted_is_an_error_of_both_houses():
    exceptions = pytest.importorskip("sklearn.exceptions")
    with pytest.raises(exceptions.NotFittedError) as caught:
        PRISM().score(np.zeros((9, 2)))
    assert isinstance(caught.value, NotFittedError)


def test_cross_validation_and_search_follow_time(record):
    selection = pytest.importorskip("sklearn.model_selection")
    X = record.trials[0][:1500]
    folds = selection.TimeSeriesSplit(2)
    scores = selection.cross_val_score(PRISM(dt=DT), X, cv=folds)
    assert np.all(scores > 0.97)
    search = selection.GridSearchCV(PRISM(dt=DT), {"max_modes": [1, 4]}, cv=folds).fit(X)
    assert search.best_params_ == {"max_modes": 4}
    assert len(search.best_estimator_.model_.modes) == 4


def test_a_data_frame_names_the_channels(record):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(record.trials[0][:1000], columns=["left", "right"])
    estimator = PRISM(dt=DT).fit(frame)
    assert estimator.model_.channels == ("left", "right")
    assert list(estimator.feature_names_in_) == ["left", "right"]
