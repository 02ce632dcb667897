"""The score against answers that are known, the tables and the page from stored results."""

import numpy as np
import pytest

from prism.record import Record
from prism.systems import chain
from prism_bench.peers.page import summary, write
from prism_bench.peers.peer import Answer, Question
from prism_bench.peers.results import Comparison, Outcome, Run
from prism_bench.peers.scoring import matched, nrmse, run_scores, score
from prism_bench.peers.table import cells, markdown, text
from prism_bench.peers.table1 import table1
from prism_bench.peers.tasks import TASKS, Truth
from prism_bench.peers.tasks.linear import friction_of


def question(ahead=None):
    return Question(Record(np.sin(0.1 * np.arange(200)), dt=0.1), "free", 2, ahead)


# -- frequencies -----------------------------------------------------------------------------------


def test_each_offered_frequency_counts_once():
    offered, true = matched(np.array([1.0, 2.0, 2.001]), np.array([1.001, 2.0]), 0.01)
    assert offered.tolist() == [1.0, 2.0]
    assert true.tolist() == [1.001, 2.0]


def test_far_frequencies_do_not_take_the_place_of_near_ones():
    # Nearest pairs one by one would give 1.04 to 1.0 and leave 1.08 alone.
    offered, true = matched(np.array([1.04, 0.97]), np.array([1.0, 1.08]), 0.05)
    assert dict(zip(true, offered, strict=True)) == {1.0: 0.97, 1.08: 1.04}


def test_one_per_cent_or_one_width_is_near():
    true = np.array([10.0])
    assert len(matched(np.array([10.09]), true, 0.01)[0]) == 1
    assert len(matched(np.array([10.2]), true, 0.01)[0]) == 0
    assert len(matched(np.array([10.2]), true, 0.3)[0]) == 1
    assert len(matched(np.array([np.nan, 10.0]), true, 0.01)[0]) == 1
    assert len(matched(np.zeros(0), true, 0.01)[0]) == 0


def test_found_spurious_and_error_of_frequencies():
    truth = Truth(0.01, frequencies=np.array([1.0, 2.0]))
    found = score(Answer(frequencies=np.array([1.001, 2.004, 7.0])), question(), truth)
    assert found["frequency_found"] == 2
    assert found["frequency_spurious"] == 1
    assert found["frequency_true"] == 2
    assert found["frequency_error"] == pytest.approx(np.sqrt((1e-6 + 4e-6) / 2))


def test_what_was_not_asked_or_not_answered_has_no_score():
    truth = Truth(0.01, frequencies=np.array([1.0]))
    assert "frequency_error" not in score(Answer(), question(), truth)
    assert "hidden_error" not in score(Answer(hidden=np.ones(1)), question(), truth)
    assert "frequency_error" not in score(Answer(frequencies=np.array([5.0])), question(), truth)


# -- forecasts, kernels, runs ----------------------------------------------------------------------


def test_the_forecast_error_is_in_standard_deviations_of_each_channel():
    truth = np.array([[0.0, 0.0], [2.0, 20.0]] * 10)
    assert nrmse(truth + np.array([1.0, 10.0]), truth) == pytest.approx(1)
    assert nrmse(np.full_like(truth, np.nan), truth) == 1e3


def test_a_chaotic_forecast_is_scored_by_its_horizon():
    t = np.arange(100.0)
    truth = np.sin(t)[:, None]
    wrong = np.where(t[:, None] < 30, truth, truth + 5)
    found = score(Answer(forecast=wrong), question(t), Truth(1.0, forecast=truth, lyapunov=0.1))
    assert found["horizon"] == pytest.approx(3.0)
    assert "forecast" not in found
    never = score(
        Answer(forecast=np.full_like(truth, np.nan)),
        question(t),
        Truth(1.0, forecast=truth, lyapunov=0.1),
    )
    assert never["horizon"] == 0


def test_the_kernel_is_compared_in_its_friction_form():
    times = np.linspace(0, 5, 50)
    system = chain()
    exact = friction_of(system, times)
    K = -np.gradient(exact, times, axis=0, edge_order=2)
    omega, c = system.hidden_frequencies, system.couplings
    direct = np.einsum("ti,ia,ib->tab", np.sin(np.outer(times, omega)) / omega, c, c)
    assert np.abs(K - direct).max() < 0.02 * np.abs(direct).max()
    truth = Truth(1.0, friction=exact)
    assert score(Answer(friction=1.1 * exact), question(), truth)["kernel_error"] == pytest.approx(
        0.1
    )


@pytest.mark.parametrize(
    ("growth", "drift", "bounded"), [(0.0, 0.0, 1.0), (-1e-4, 0.28, 1.0), (1e-2, 1e3, 0.0)]
)
def test_drift_and_boundedness_over_a_thousand_periods(growth, drift, bounded):
    t = 20.0 + np.arange(0.0, 1, 0.1)

    def run(times):
        wave = np.cos(times) + 0.5 * np.cos(1.3 * times)
        return (np.exp(growth * (times - 20)) * wave)[:, None]

    truth = Truth(1.0, period=2 * np.pi)
    found = run_scores(Answer(run=run), question(t), truth)
    expected = abs(np.exp(2 * growth * 500 * 2 * np.pi) - 1) if growth < 0 else drift
    assert found["drift"] == pytest.approx(min(expected, 1e3), abs=2e-3)
    assert found["bounded"] == bounded


def test_without_a_model_there_is_no_drift():
    assert run_scores(Answer(), question(np.arange(3.0)), Truth(1.0, period=1.0)) == {}


def values_of(data):
    return data.trials[0] if isinstance(data, Record) else data.values


@pytest.mark.parametrize("name", ["chain", "missing", "length-25", "cart-forced", "masses-20"])
def test_the_same_seed_gives_the_same_task(name):
    first, again, other = (TASKS[name].ask(seed) for seed in (1, 1, 2))
    values = [values_of(asked.question.data) for asked in (first, again, other)]
    assert np.array_equal(values[0], values[1], equal_nan=True)
    assert not np.array_equal(values[0], values[2], equal_nan=True)
    assert np.isfinite(first.truth.frequencies).all()


# -- tables and the page ---------------------------------------------------------------------------


def stored():
    def runs(**scores):
        return tuple(
            Run(i, "answered", "", 1.0 + i, 0.5 + i, 80.0, scores | {"intervals": 0.0}, ("note",))
            for i in range(2)
        )

    ours = {"frequency_found": 4.0, "frequency_true": 4.0, "frequency_spurious": 0.0}
    prism = Outcome(
        *("chain", "PRISM", "prism-id", "", "prism_", "", ""),
        runs(forecast=0.01, frequency_error=1e-4, passive=1.0, drift=1e-8, bounded=1.0, **ours),
    )
    other = Outcome(
        *("chain", "other", "", "order", "sindy", "", ""),
        runs(forecast=0.005, frequency_error=2e-4, passive=0.0, drift=1e3, bounded=0.0, **ours),
    )
    gone = Outcome(*("chain", "gone", "gone", "", "deep", "missing", "gone is not installed"), ())
    made = {
        "date": "2026-01-01",
        "command": "prism compare all",
        "seconds": 120.0,
        "versions": {"numpy": "2.0"},
        "machine": {"cores": 2, "kind": "x", "system": "y", "python": "3.11"},
    }
    return Comparison((prism, other, gone), made)


def test_the_table_has_a_row_for_every_method():
    head, *rows = cells(stored(), "chain")
    column = {title: [row[k] for row in rows] for k, title in enumerate(head)}
    assert column["method"] == ["PRISM", "other", "gone"]
    assert column["modes found"] == ["4 of 4", "4 of 4", ""]
    assert column["frequencies, error %"][:2] == ["0.01 (0.01 to 0.01)", "0.02 (0.02 to 0.02)"]
    assert column["energy drift %"][1:] == ["runs away", ""]
    assert column["certificate"] == ["yes", "no", ""]
    assert column["told"] == ["nothing", "order", "nothing"]
    assert column["CPU, s"][0] == "1 (0.75 to 1.25)"
    assert column["remark"][2] == "missing: gone is not installed"
    shown = text(stored(), "chain").splitlines()
    assert shown[2].startswith("PRISM")
    assert "(" not in shown[2]


def test_notes_that_begin_alike_are_one_remark():
    notes = ["settings: a", "settings: b", "settings: b", "gaps were filled"]
    runs = tuple(Run(i, "answered", "", 1.0, 1.0, 80.0, {}, (n,)) for i, n in enumerate(notes))
    one = Outcome(*("chain", "p", "", "", "sindy", "", ""), runs)
    assert cells(Comparison((one,)), "chain")[1][-1] == (
        "gaps were filled; settings: b (2 of 4 seeds)"
    )


def test_the_first_paragraph_names_where_another_method_is_better():
    words = summary(stored())
    assert words.startswith("Another method is better here: **other** on *chain*, forecast, NRMSE")
    assert "1 of 2 columns" in words
    assert "A proof that the model is passive comes from PRISM alone." in words


def test_the_first_paragraph_says_so_when_none_is_better():
    kept = Comparison(stored().outcomes[::2], stored().made)
    assert "No other method is better" not in summary(stored())
    assert summary(kept).startswith("No other method is better by more than 5 % anywhere.")


def test_the_paper_s_ticks_become_numbers():
    rows = {row[0]: row[2:] for row in table1(stored())[1:]}
    assert rows["equation of motion"] == ["✓ → 0.005", "~ → no answer", "✓ → no answer", "✓ → 0.01"]
    assert rows["passivity guarantee"][0] == "× → none, runs away"
    assert rows["passivity guarantee"][3].startswith("✓ → certificate, drift 1e-06 %")
    assert rows["partial observation"][3] == "✓ → 4 of 4, 0 false"
    assert rows["interpretable model"][3] == "✓ → no answer"


def test_the_page_is_written_from_stored_results(tmp_path):
    pytest.importorskip("matplotlib")
    again = Comparison.from_json(stored().to_json())
    write(again, tmp_path / "comparison.md")
    page = (tmp_path / "comparison.md").read_text()
    assert page.split("\n\n")[1] == summary(stored())
    assert "2026-01-01" in page
    assert "numpy 2.0" in page
    assert markdown(cells(again, "chain")) in page
    drawing = (tmp_path / "figures" / "comparison.svg").read_text()
    assert ">other<" in drawing
    write(again, tmp_path / "comparison.md")
    assert (tmp_path / "figures" / "comparison.svg").read_text() == drawing
