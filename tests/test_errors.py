import inspect
import pickle

import pytest

from prism import errors
from prism._optional import require


def test_every_error_is_public_and_has_an_exit_status():
    classes = [
        c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == "prism.errors"
    ]
    assert {c.__name__ for c in classes} == set(errors.__all__)
    for one in classes:
        if issubclass(one, Exception) and not issubclass(one, Warning):
            assert issubclass(one, errors.PrismError)
            assert one.exit_status in (1, 2)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.InputError, 2),
        (errors.RecordError, 2),
        (errors.ReadError, 2),
        (errors.WriteError, 2),
        (errors.OptionError, 2),
        (errors.CannotTellError, 1),
        (errors.NoLineError, 1),
        (errors.RecordTooShortError, 1),
    ],
)
def test_status_and_builtin_base(error, status):
    assert error.exit_status == status
    assert issubclass(error, ValueError)


def test_data_errors_are_not_usage_errors():
    assert not issubclass(errors.CannotTellError, errors.InputError)


def test_read_error_begins_with_the_place():
    error = errors.ReadError.at("bench.csv", "is text.", line=7, column="q4")
    assert str(error) == "bench.csv, line 7, column 'q4': is text."
    assert str(errors.ReadError.at("bench.csv", "is empty.")) == "bench.csv: is empty."


def test_missing_dependency_names_the_extra():
    with pytest.raises(errors.MissingDependencyError) as caught:
        require("no_such_package.part", "drawing", "plot")
    assert str(caught.value) == 'drawing needs no_such_package: pip install "prism-id[plot]"'
    assert isinstance(caught.value, ImportError)
    assert caught.value.exit_status == 2


def test_missing_dependency_survives_a_process_boundary():
    error = errors.MissingDependencyError("drawing", "matplotlib", "plot")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.name == "matplotlib"


def test_require_returns_the_module():
    assert require("json.decoder", "reading", "io").__name__ == "json.decoder"


def test_require_lets_a_broken_package_speak_for_itself(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import not_there_either\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError) as caught:
        require("broken_package", "drawing", "plot")
    assert not isinstance(caught.value, errors.MissingDependencyError)
    assert caught.value.name == "not_there_either"


def test_warning_is_a_user_warning():
    assert issubclass(errors.PrismWarning, UserWarning)
