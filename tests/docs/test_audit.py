"""The page that judges the paper names everything in it, and only tests that exist."""

import ast
import re

import pytest
from tests.places import ROOT

PAGE = (ROOT / "docs" / "paper-audit.md").read_text("utf-8")
VERDICTS = {"holds", "holds under a condition", "corrected", "not claimed further"}

# Labels of the paper, in its order.
LABELS = [
    "sec:intro",
    "sec:related",
    "sec:framework",
    "eq:general_system",
    "eq:full_ham",
    "ass:A",
    "eq:MZ",
    "sec:kernel",
    "thm:kernel_structure",
    "eq:kernel_pf",
    "eq:spectral_density",
    "sec:identifiability",
    "thm:identifiability",
    "eq:gramian",
    "eq:kernel_from_corr",
    "eq:reconstructed_ham",
    "sec:algorithm",
    "eq:autocorr",
    "eq:nnls",
    "eq:sdp",
    "sec:validation",
    "sec:b1",
    "eq:chain",
    "fig:chain_setup",
    "sec:b2",
    "eq:fput",
    "sec:b3",
    "eq:henon",
    "fig:chain",
    "fig:fput",
    "fig:henon",
    "sec:reactive",
    "eq:reactive_kernel",
    "eq:receptance",
    "sec:cartpend",
    "eq:cartpend",
    "fig:cartpend_setup",
    "eq:cartpend_kernel",
    "fig:cartpend",
    "sec:comparison",
    "tab:comparison",
    "sec:applications",
    "sec:conclusion",
    "app:proof1",
    "eq:SHfull",
    "eq:Spobs_dot",
    "eq:Sobs",
    "eq:Shid",
    "eq:Svop",
    "eq:Skernel_time",
    "app:proof2",
    "eq:Scorr",
    "eq:Skinv",
    "eq:modal",
    "app:proof3",
    "app:fdt",
    "eq:Sfdt",
    "eq:Sfdt_inv",
]
# What has no label, and the numbers the paper quotes.
NAMED = [
    "Anti-resonance mechanism",
    "lemma on Ĉ",
    "Generalized FDT",
    "Phase 1",
    "Phase 2",
    "Phase 3",
    "sufficient data length",
    "data availability",
]
NUMBERS = [
    "0.347, 1.000, 1.532, 1.879",
    "0.22 %",
    "0.05 %",
    "n_ens = 300",
    "3.3 % / 5.4 %",
    "0.346",
    "0.996",
    "A ≤ 0.2",
    "E = 1/6",
    "E/E_esc = 0.9",
    "3.13",
    "2.51 and 4.84",
    "0.01 %",
]

CITED = sorted(set(re.findall(r"tests/([\w/]+\.py)::(\w+)", PAGE)))
LINES = [line for line in PAGE.splitlines() if line.startswith("|")]
ROWS = [row for row in (re.split(r"(?<!\\)\|", line)[1:-1] for line in LINES) if len(row) == 5]
ROWS = [[cell.strip() for cell in row] for row in ROWS]
ROWS = [row for row in ROWS if row[0] != "item" and not set(row[0]) <= {"-"}]


def functions(name):
    tree = ast.parse((ROOT / "tests" / name).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", sorted({name for name, _ in CITED}))
def test_cited_tests_exist(name):
    wanted = {test for file, test in CITED if file == name}
    assert wanted <= functions(name), wanted - functions(name)


def test_citations_are_written_in_one_way():
    """Every word that looks like a test is cited with its file."""
    whole = re.findall(r"test_\w+\.py::test_\w+", PAGE)
    loose = re.findall(r"(?<![:/\w])test_\w+", PAGE)
    assert len(whole) > 100
    assert not loose


def test_every_label_of_the_paper_is_judged():
    assert len(LABELS) == len(set(LABELS)) == 58
    assert not [label for label in LABELS if f"`{label}`" not in PAGE]


@pytest.mark.parametrize("words", NAMED + NUMBERS)
def test_what_has_no_label_is_judged(words):
    assert any(words in row[0] + row[1] for row in ROWS), words


def test_rows_have_a_verdict_and_a_test():
    assert len(ROWS) > 100
    for item, _, verdict, _, test in ROWS:
        assert verdict in VERDICTS, item
        assert (test == "–") == (verdict == "not claimed further"), item
        assert test == "–" or re.fullmatch(r"(`tests/[\w/]+\.py::\w+`(, )?)+", test), item


@pytest.mark.parametrize("number", range(1, 11))
def test_every_erratum_is_derived_and_tested(number):
    (text,) = re.findall(
        rf"^\*\*E{number}\. .*?(?=\n\n\*\*|\n\n##)", PAGE, re.DOTALL | re.MULTILINE
    )
    assert "::test_" in text
    assert any(re.search(rf"\bE{number}\b", " ".join(row)) for row in ROWS)
    own = [name for name in functions("docs/test_errata.py") if name.startswith(f"test_e{number}_")]
    assert own


def test_further_findings_are_used_and_listed():
    listed = re.findall(r"^\| (F\d+) \|", PAGE, re.MULTILINE)
    assert listed == [f"F{k}" for k in range(1, len(listed) + 1)]
    used = {name for row in ROWS for name in re.findall(r"\bF\d+\b", " ".join(row))}
    assert used == set(listed)
