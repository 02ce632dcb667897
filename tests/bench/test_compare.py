"""The harness of the comparison, with small methods made for the purpose."""

import json

import numpy as np
import pytest

from prism.cli import main
from prism.errors import OptionError, ReadError
from prism_bench.peers import registry
from prism_bench.peers.child import one_run, peak_memory, work
from prism_bench.peers.peer import Answer, CannotAnswer
from prism_bench.peers.results import COLUMNS, Comparison, Outcome, Run
from prism_bench.peers.runner import Plan, compare
from prism_bench.peers.tasks import TASKS, chosen

PLAN = Plan(budget=60.0, limit=60, patience=60.0, most_seeds=2)

METHODS = '''
"""Methods that answer, refuse, break, die and never end."""

import os
import time

import numpy as np

from prism_bench.peers.peer import Answer, CannotAnswer


class Method:
    package, modules, told = "", (), "everything"

    def __init__(self, name, act, modules=()):
        self.name, self.act, self.modules = name, act, modules

    def answer(self, question):
        return self.act(question)


def exact(question):
    zeros = np.zeros((len(question.ahead), question.data.n_channels))
    return Answer(
        frequencies=np.array([0.3473, 1.0, 1.5321, 1.8794, 9.0]),
        forecast=zeros,
        run=lambda t: np.cos(t)[:, None] * np.ones(2),
    )


def refuse(question):
    raise CannotAnswer("not made for this")


def broken(question):
    return 1 / 0


def die(question):
    os._exit(3)


def sleep(question):
    time.sleep(60)


def spin(question):
    while True:
        pass


PEERS = (
    Method("exact", exact),
    Method("refuse", refuse),
    Method("broken", broken),
    Method("die", die),
    Method("sleep", sleep),
    Method("spin", spin),
    Method("absent", exact, ("no_such_package",)),
)
'''


@pytest.fixture(scope="module")
def methods(tmp_path_factory):
    path = tmp_path_factory.mktemp("peers") / "mine.py"
    path.write_text(METHODS)
    return str(path)


def run(methods, name, plan=PLAN):
    source = (methods, name)
    (outcome,) = compare([TASKS["chain"]], {source: registry.find(source)}, plan)
    return outcome


# -- one process per method ------------------------------------------------------------------------


def test_an_answer_is_scored_for_each_seed(methods):
    outcome = run(methods, "exact")
    assert outcome.status == "answered"
    assert [r.seed for r in outcome.runs] == [0, 1]
    assert outcome.spread("frequency_found").median == 4
    assert outcome.spread("frequency_spurious").median == 1
    assert outcome.spread("frequency_error").median < 1e-3
    assert outcome.spread("forecast").median == pytest.approx(1, abs=0.05)
    assert outcome.spread("drift").median < 1e-6
    assert outcome.spread("bounded").median == 1
    assert outcome.told == "everything"
    assert 20 < outcome.memory < 2000
    assert 0 <= outcome.cpu.median < 5


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("refuse", "refused", "not made for this"),
        ("broken", "failed", "ZeroDivisionError"),
        ("die", "crashed", "status 3"),
        ("absent", "missing", "no_such_package is not installed"),
    ],
)
def test_what_goes_wrong_is_a_row_with_a_reason(methods, name, status, words):
    outcome = run(methods, name)
    assert outcome.status == status
    assert words in outcome.why
    assert outcome.spread("frequency_found") is None


def test_a_method_that_only_waits_is_ended_by_the_clock(methods):
    outcome = run(methods, "sleep", Plan(budget=60.0, limit=60, patience=4.0))
    assert (outcome.status, outcome.runs) == ("timeout", ())
    assert "4 s of the clock" in outcome.why


def test_a_method_that_never_ends_is_ended_by_its_cpu_time(methods):
    outcome = run(methods, "spin", Plan(budget=60.0, limit=1, patience=60.0))
    assert outcome.status == "timeout"
    assert "1 s of CPU time" in outcome.why


def test_all_methods_run_on_all_tasks_in_order(methods):
    said = []
    chosen_methods = {
        s: p for s, p in registry.listed([methods]).items() if s[1] in "refuse absent"
    }
    outcomes = compare([TASKS["chain"]], chosen_methods, PLAN, progress=said.append)
    assert [o.peer for o in outcomes] == ["refuse", "absent"]
    assert said[-1] == "2 of 2: chain, absent"


# -- in the process --------------------------------------------------------------------------------


class Slow:
    name, package, modules, told = "slow", "", (), ""

    def answer(self, question):
        total = 0
        while total < 2_000_000:
            total += 1
        return Answer(frequencies=np.ones(1))


def test_no_seed_is_begun_that_would_not_end_in_time(tmp_path):
    out = tmp_path / "runs.jsonl"
    work(Slow(), TASKS["chain"], 50, 0.3, out)
    assert 1 <= len(out.read_text().splitlines()) < 20


class Runaway:
    name, package, modules, told = "runaway", "", (), ""

    def answer(self, question):
        return Answer(forecast=np.full((len(question.ahead), 2), np.inf), run=self.explode)

    def explode(self, t):
        return np.exp(0.1 * (t - t[0]))[:, None] * np.ones(2)


def test_a_model_that_runs_away_is_not_bounded():
    line = one_run(Runaway(), TASKS["chain"].ask(0), 0)
    assert line["scores"]["forecast"] == 1e3
    assert line["scores"]["drift"] == 1e3
    assert line["scores"]["bounded"] == 0
    json.dumps(line, allow_nan=False)


def test_a_run_that_breaks_is_a_score_too():
    class Breaks(Runaway):
        def explode(self, t):
            raise ValueError

    assert one_run(Breaks(), TASKS["chain"].ask(0), 0)["scores"]["unfollowed"] == 0


def test_memory_is_counted_in_megabytes():
    before = peak_memory()
    block = np.ones(30_000_000)
    assert peak_memory() - before > 100
    assert block[0] == 1


# -- names -----------------------------------------------------------------------------------------


def test_every_listed_module_is_there_and_names_are_unique():
    names = [peer.name for place in registry.MODULES for peer in registry.peers_of(place)]
    assert len(names) == len(set(names))
    assert {"PRISM", "NNLS of the paper", "AAA", "GLEqPy", "vector fitting"} <= set(names)
    assert all(registry.peers_of(place) for place in registry.MODULES)


def test_methods_are_chosen_by_name_and_by_file(methods):
    found = registry.sources(["aaa", methods])
    assert [name for _, name in found][:3] == ["PRISM", "AAA", "exact"]
    assert len(registry.sources(None)) > 12
    with pytest.raises(OptionError, match="unknown method 'magic'"):
        registry.sources(["magic"])


def test_a_file_without_methods_is_refused(tmp_path):
    path = tmp_path / "empty.py"
    path.write_text("x = 1\n")
    with pytest.raises(ReadError, match="no tuple PEERS"):
        registry.peers_of(str(path))
    with pytest.raises(ReadError, match="no such file"):
        registry.peers_of(str(tmp_path / "none.py"))


def test_tasks_are_chosen_by_name_and_by_group():
    assert [t.name for t in chosen("chain", quick=False)] == ["chain"]
    assert len(chosen("noise", quick=True)) == 4
    assert len(chosen("all", quick=False)) == len(TASKS)
    assert 3 <= len(chosen("all", quick=True)) < 8
    with pytest.raises(OptionError, match="unknown task"):
        chosen("nothing", quick=False)


# -- results ---------------------------------------------------------------------------------------


def outcome(peer, **scores):
    count = max((len(v) for v in scores.values()), default=0)
    runs = tuple(
        Run(i, "answered", "", 0.1, 0.1, 50.0, {k: v[i] for k, v in scores.items() if i < len(v)})
        for i in range(count)
    )
    return Outcome("chain", peer, "", "", "place", "", "", runs)


def verdict(*outcomes):
    (found,) = Comparison(outcomes).verdicts()
    return found


def test_another_method_wins_only_by_more_than_the_tolerance():
    ours = outcome("PRISM", forecast=[0.10, 0.20, 0.30])
    assert not verdict(ours, outcome("b", forecast=[0.1, 0.191, 0.3])).wins
    assert verdict(ours, outcome("b", forecast=[0.1, 0.19, 0.3])).wins
    assert not verdict(ours, outcome("b", forecast=[0.2, 0.3, 0.4])).wins


def test_methods_are_compared_over_the_seeds_that_both_have():
    ours = outcome("PRISM", forecast=[0.3, 0.1, 0.1])
    found = verdict(ours, outcome("b", forecast=[0.25]))
    assert (found.ours, found.theirs, found.wins) == (0.3, 0.25, True)


def test_an_error_over_fewer_modes_does_not_compete():
    ours = outcome("PRISM", frequency_error=[0.01], frequency_found=[4.0])
    few = outcome("b", frequency_error=[0.001], frequency_found=[1.0])
    assert Comparison((ours, few)).verdicts() == []
    all_of_them = outcome("b", frequency_error=[0.001], frequency_found=[4.0])
    assert verdict(ours, few, all_of_them).wins


def test_more_is_better_for_a_horizon():
    ours = outcome("PRISM", horizon=[1.0])
    assert verdict(ours, outcome("b", horizon=[1.2])).wins
    assert not verdict(ours, outcome("b", horizon=[0.2])).wins


def test_where_prism_has_no_answer_another_wins():
    found = verdict(outcome("PRISM", forecast=[0.1]), outcome("PRISM"), outcome("b", forecast=[1]))
    assert not found.wins
    assert verdict(outcome("PRISM"), outcome("b", kernel_error=[0.5])).wins


def test_results_survive_their_file():
    first = Comparison((outcome("PRISM", forecast=[0.1, 0.2]),), {"date": "today"})
    again = Comparison.from_json(json.loads(json.dumps(first.to_json())))
    assert again.outcomes == first.outcomes
    assert again.made == {"date": "today"}
    assert [c.key for c in again.columns("chain")] == ["forecast"]
    assert {c.key for c in COLUMNS} >= {"frequency_error", "forecast", "kernel_error"}


# -- the command -----------------------------------------------------------------------------------


def test_the_command_prints_tables_and_writes_numbers_and_a_page(methods, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    numbers, page = tmp_path / "out.json", tmp_path / "page.md"
    asked = ["compare", "chain", "--quick", "--seeds", "1", "--peers", methods]
    # Those that never end are tested above.
    text = METHODS.replace('    Method("sleep", sleep),\n    Method("spin", spin),\n', "")
    few = tmp_path / "few.py"
    few.write_text(text)
    asked[-1] = str(few)
    assert main([*asked, "--json", str(numbers), "--page", str(page)]) == 0
    shown = capsys.readouterr().out
    assert "PRISM" in shown
    assert "4 of 4 + 1 false" in shown
    assert "missing: no_such_package is not installed" in shown
    stored = json.loads(numbers.read_text())
    assert stored["schema"] == "prism.compare/1"
    assert stored["made"]["versions"]["numpy"] == np.__version__
    assert page.read_text().startswith("# PRISM beside other methods")
    assert (tmp_path / "figures" / "comparison.svg").stat().st_size < 100_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "unknown task 'nothing'"),
        (["chain", "--seeds", "0"], "at least 1"),
        (["chain", "--peers", "magic"], "unknown method 'magic'"),
        (["chain", "--json", "/no/such/place/out.json"], "make it first"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(arguments, words, capsys):
    assert main(["compare", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_refusal_is_not_a_fault():
    assert not issubclass(CannotAnswer, ValueError)
