"""``prism info`` on time records, and the description that it prints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.cli import main
from prism.io import describe
from prism.io._times import looks_like_time, rates

T = 0.1 * np.arange(400)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def info(here, capsys):
    def run(name):
        assert main(["info", name]) == 0
        return capsys.readouterr().out

    return run


def save(t, *values, name="a.csv"):
    header = ",".join(["t", *(f"q{k}" for k in range(1, len(values) + 1))])
    np.savetxt(name, np.column_stack([t, *values]), delimiter=",", header=header, comments="")
    return name


def test_mixed_rates(info):
    t = np.concatenate([np.arange(100) * 0.01, 1.0 + np.arange(150) * 0.02])
    out = info(save(t, np.cos(t)))
    assert "irregular times with mixed rates: dt = 0.01 until 1, then dt = 0.02 until 3.98" in out
    assert "gap" not in out
    assert "To read it:  prism identify a.csv\n" in out
    assert [round(rate.dt, 6) for rate in describe("a.csv").rates] == [0.01, 0.02]


def test_a_gap_longer_than_the_data(info):
    t = np.concatenate([T[:50], 100.0 + T[:50]])
    out = info(save(t, np.cos(t)))
    assert "irregular times: dt = 0.1 except for gaps" in out
    assert "gap       the largest lasts 95.1, from 4.9 to 100, longer than all the data" in out


def test_a_short_gap(info):
    t = np.delete(T, slice(100, 130))
    out = info(save(t, np.cos(t)))
    assert "gap       the largest lasts 3.1, from 9.9 to 13\n" in out


def test_a_gap_of_missing_values(info):
    values = np.cos(T)
    values[100:130] = np.nan
    out = info(save(T, values))
    assert "dt = 0.1\n" in out
    assert "missing   30 values" in out
    assert "the largest lasts 3.1, from 9.9 to 13\n" in out
    # A channel that goes on fills the gap of another.
    assert "gap" not in info(save(T, values, np.sin(T)))


def test_irregular_times(info):
    t = np.sort(np.random.default_rng(0).uniform(0, 40, 400))
    out = info(save(t, np.cos(t)))
    assert "irregular times: steps " in out
    assert "median" in out


def test_rounded_times(info):
    t = np.round(np.arange(400) / 30, 3)
    out = info(save(t, np.cos(t)))
    step = describe("a.csv").nearly
    assert step == pytest.approx(1 / 30, rel=1e-4)
    assert "If the times are only rounded" in out
    assert f"prism identify a.csv --dt {step:.9g}\n" in out


def test_saturation(info):
    clean = np.cos(0.7 * T) + 0.3 * np.cos(2.1 * T)
    out = info(save(T, clean, np.clip(clean, -0.9, 5.0)))
    assert "saturated q2 may be clipped at -0.9 (" in out
    assert "q1 may be" not in out
    found = describe("a.csv").saturated
    assert [(one.channel, one.value) for one in found] == [("q2", -0.9)]
    assert found[0].share > 0.05


def test_a_coarsely_digitised_oscillation_is_not_saturated(info):
    for bits in (5, 6, 8):
        steps = 2 ** (bits - 1)
        save(T, np.round(steps * np.cos(0.3777 * T)) / steps)
        assert "saturated" not in info("a.csv")


def test_a_switch_and_a_constant_are_not_saturated(info):
    out = info(save(T, np.cos(T), np.sign(np.cos(T)), np.ones(400)))
    assert "saturated" not in out
    assert "It would be refused" in out


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_record_that_is_too_short(info, count):
    out = info(save(T[:count], np.cos(T[:count])))
    assert f"samples   {count}\n" in out
    assert "It would be refused: " in out


def test_a_time_without_a_name(info):
    np.savetxt("raw.txt", np.column_stack([np.cos(T), 7.0 + T]))
    out = info("raw.txt")
    assert "Column 2 increases evenly, as a time does." in out
    assert "prism identify raw.txt --time-column 2\n" in out
    assert "prism identify raw.txt --dt X" in out


def test_two_columns_that_increase_give_no_hint(here):
    np.savetxt("raw.txt", np.column_stack([T, 7.0 + 2 * T]))
    assert describe("raw.txt").time_hint is None


def test_names_with_blanks_are_quoted(info):
    assert "prism identify 'my file.csv'\n" in info(save(T, np.cos(T), name="my file.csv"))


def test_arrays_that_were_seen(info):
    others = {f"p{k}": np.arange(3.0) for k in range(15)}
    np.savez("a.npz", rec=np.column_stack([np.cos(T), np.sin(T)]), fs=10.0, **others)
    out = info("a.npz")
    assert "arrays    rec 400x2 (also seen: p0 3, p1 3, " in out
    assert "and 4 more)" in out
    assert "no time column, dt = 0.1" in out
    assert "quantity" not in out


def test_arrays_that_leave_a_choice(here, capsys):
    np.savez("a.npz", a=np.cos(T), b=np.sin(T), fs=10.0)
    assert main(["info", "a.npz"]) == 2
    assert "a.npz: several arrays could be the values: a 400, b 400." in capsys.readouterr().err


@given(
    st.floats(1e-3, 1e3),
    st.floats(2.0, 50.0),
    st.integers(10, 60),
    st.integers(10, 60),
)
def test_two_rates_are_found(step, ratio, first, second):
    head = step * np.arange(first)
    t = np.concatenate([head, head[-1] + ratio * step * np.arange(1, second)])
    found = rates(t)
    assert [rate.dt for rate in found] == pytest.approx([step, ratio * step], rel=1e-6)


@given(st.floats(-1e6, 1e6), st.floats(1e-2, 1e2), st.integers(6, 100))
def test_an_even_column_looks_like_a_time(start, step, count):
    t = start + step * np.arange(count)
    assert looks_like_time(t)
    assert not looks_like_time(t[::-1])
    assert not looks_like_time(np.where(np.arange(count) == 3, t + 0.2 * step, t))


def test_a_name_that_tells_the_quantity_is_asked_about(info, here):
    table = "t,acc,pos\n" + "".join(f"{k / 10},{np.sin(k)},{np.cos(k)}\n" for k in range(40))
    (here / "a.csv").write_text(table)
    said = info("a.csv")
    assert "acc is called like acceleration; to read it so:" in said
    assert said.rstrip().endswith("--quantity acceleration,displacement")
    (here / "a.csv").write_text(f"# quantity: acceleration\n{table}")
    assert "called like" not in info("a.csv")
