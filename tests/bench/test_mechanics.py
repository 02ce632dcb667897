"""Experiments of mechanics: the truth that they state, the oracle, scores and rows."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg
from scipy.optimize import least_squares

from prism.pipeline import identify
from prism.record import Record
from prism.remarks import Remark
from prism.systems import LinearSystem, chain, forced
from prism_bench import BENCHMARKS, mechanics
from prism_bench.kinds.systems import Wanted
from prism_bench.mechanics import ROWS, SCORING, TUNING, make, score, shown
from prism_bench.mechanics.audit import VIOLATIONS, lossless
from prism_bench.mechanics.audit import forced as forced_audit
from prism_bench.mechanics.audit.nearest import coloured
from prism_bench.mechanics.case import About
from prism_bench.mechanics.friction import held_states
from prism_bench.mechanics.motion import canonical, clean
from prism_bench.mechanics.oracle import Assumed, detected, noncentrality_of
from prism_bench.mechanics.rows import rows_of
from prism_bench.mechanics.scoring import Score
from prism_bench.mechanics.shown import in_response
from prism_bench.mechanics.systems import FREE, Sampled, clamped, draw
from prism_bench.mechanics.table import row_of


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_makes_experiments_that_can_be_judged(row):
    made = make(row.name, 0, TUNING).made
    data, truth = made.data, made.truth
    values = data.trials if isinstance(data, Record) else [data.values]
    assert all(np.isfinite(one).all() for one in values)
    seen = len(data.channels) if isinstance(data, Record) else len(data.outputs)
    seen -= len(made.options.get("force", ()))
    assert len(truth.hidden) == truth.rigid + truth.elastic - seen
    assert np.all(np.diff(truth.hidden) > 0)


def test_names_stand_once_and_streams_differ():
    assert len({row.name for row in ROWS}) == len({row.words for row in ROWS}) == len(ROWS)
    one, again, other = (
        make("snapback-1", 0, stream).made.data.trials[0] for stream in (TUNING, TUNING, SCORING)
    )
    assert np.array_equal(one, again)
    assert len(one) != len(other) or not np.array_equal(one, other)


@pytest.mark.parametrize(("name", "rigid"), [("chain", 1), ("plate", 3), ("molecule", 3)])
def test_free_bodies_have_as_many_rigid_body_modes_as_they_should(name, rigid):
    drawn = draw(np.random.default_rng(0), name, FREE[name], Wanted((6, 8), (4, 4), (400, 400)))
    assert (drawn.system.rigid, drawn.rigid) == (rigid, rigid)
    one = draw(np.random.default_rng(0), name, FREE[name], Wanted((6, 8), (1, 1), (400, 400)))
    assert one.rigid == 1


def test_clamped_frequencies_of_the_chain():
    np.testing.assert_allclose(clamped(chain()), [1, np.sqrt(3)])


def test_derivatives_are_those_of_the_motion():
    rng = np.random.default_rng(1)
    drawn = draw(rng, "plate", FREE["plate"], Wanted((5, 5), (2, 2), (800, 800), (40.0, 40.0)))
    motion = canonical(rng, drawn, 2)
    for order in (1, 2):
        below, above = (np.add(*clean(drawn, motion, k)) for k in (order - 1, order))
        slope = (below[:, 2:] - below[:, :-2]) / (2 * drawn.dt)
        assert np.abs(slope - above[:, 1:-1]).max() < 0.02 * np.abs(above).max()


def test_forced_states_are_those_of_another_solution():
    system, zeta = chain(observed=[0]), 0.02
    u = np.random.default_rng(2).standard_normal((300, 1))
    phi = scipy.linalg.eigh(system.full_stiffness, system.full_mass)[1]
    D = phi @ np.diag(2 * zeta * system.frequencies) @ phi.T
    A = np.block([[np.zeros((4, 4)), np.eye(4)], [-system.full_stiffness, -D]])
    B = np.concatenate([np.zeros((4, 1)), system.observation.T])
    run = forced(system, u, 0.3, loss=2 * zeta)
    np.testing.assert_allclose(held_states(A, B, u, 0.3)[:, :1], run.record.trials[0], atol=1e-10)


# -- what a test could tell ------------------------------------------------------------------------


def amplitudes(power, pulls):
    system = chain(5, [1, 2, 1, 1.5, 0.5], observed=[0, 2])
    omega, v = system.frequencies, system.participation
    z = pulls @ v.T / omega**power
    return system, z[:, :, None] * v + 0j, v


@pytest.mark.parametrize("power", [0, 2])
def test_an_oracle_sees_nothing_where_nothing_is_wrong(power):
    system, y, v = amplitudes(power, np.array([[1.0, 0.4], [0.3, -1.0]]))
    true = Assumed(system.frequencies, power, system.mass)
    apart = noncentrality_of(y, np.full(2, 1e-3), v, true)
    assert detected(apart) == pytest.approx(1e-3, rel=0.05)
    other = replace(true, power=2 - power)
    assert detected(noncentrality_of(y, np.full(2, 1e-3), v, other)) > 0.999


def test_an_oracle_has_no_freedom_in_one_channel_of_free_motion():
    system = chain(3, observed=[0])
    v = system.participation
    y = (1 + 0.5j) * v[None]
    assumed = Assumed(system.frequencies, None, system.mass)
    apart = noncentrality_of(y, np.full(1, 1e-3), v, assumed)
    assert detected(apart) == pytest.approx(1e-3, rel=0.05)


def scene_of(kind, family, seed=0):
    return forced_audit.FAMILIES[family](kind, np.random.default_rng(seed))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["frf", "record"])
@pytest.mark.parametrize("family", range(len(forced_audit.FAMILIES)))
def test_an_oracle_of_forced_experiments_sees_nothing_where_nothing_is_wrong(kind, family):
    assert scene_of(kind, family).power() == pytest.approx(1e-3, rel=0.05)


@pytest.mark.parametrize("name", list(forced_audit.VIOLATIONS))
def test_an_oracle_sees_what_is_wrong_with_a_forced_experiment(name):
    wrong, rng = forced_audit.VIOLATIONS[name], np.random.default_rng(1)
    turns = name == "forced, turns and is called still"
    scenes = (scene_of(wrong.kinds[-1], 4 if turns else 1, seed) for seed in range(20))
    scene = next(one for one in scenes if len(one.gain) > 1)  # a single port tells less
    assert wrong.fits(wrong.kinds[-1], scene)
    assert wrong.change(rng, scene).power() > 0.999


def test_a_gain_of_a_single_port_is_a_mass_that_no_oracle_knows():
    scene = replace(scene_of("frf", 2), gain=np.array([1.05]))
    assert scene.power() == pytest.approx(1e-3, rel=0.05)


def test_forced_motion_of_the_audit_is_that_of_another_solution():
    for family in (0, 3):  # held, and free
        scene = scene_of("record", family, seed=1)
        u = np.random.default_rng(3).standard_normal((300, len(scene.gain)))
        M, D, K, G = (getattr(scene.system, name) for name in ("M", "D", "K", "gamma"))
        inverse, zero = np.linalg.inv(M), np.zeros_like(M)
        A = np.block([[zero, np.eye(len(M))], [-inverse @ K, -inverse @ D]])
        states = held_states(A, np.vstack([0 * G.T, inverse @ G.T]), u, scene.dt)
        x = scene.motion(u, scene.pushed)
        np.testing.assert_allclose(x, states[:, : len(M)] @ G.T, atol=1e-6 * np.abs(x).max())
        speed = replace(scene, order=1).motion(u, scene.pushed)
        np.testing.assert_allclose(speed, states[:, len(M) :] @ G.T, atol=1e-6 * np.abs(x).max())
        assert scene.drift(u, scene.pushed).any() == (family == 3)
        np.testing.assert_array_equal(replace(scene, late=1).motion(u, scene.pushed)[1:], x[:-1])


def test_white_noise_is_not_coloured():
    assert coloured(np.ones((50, 2))) == 0
    assert coloured(np.array([[1.0], [3.0]])) > 0


@pytest.mark.parametrize("name", ["decaying", "pieces of one motion"])
def test_an_oracle_sees_that_trials_fade_or_go_on(name):
    rng = np.random.default_rng(4)
    scene = lossless.VIOLATIONS[name].change(rng, lossless.KINDS["equilibrium"](rng))
    assert scene.power() > 0.999


# -- scores ----------------------------------------------------------------------------------------


def test_a_snap_back_is_scored():
    one = score(make("snapback-1", 1, TUNING))
    assert (one.outcome, one.counted, one.good, one.silent) == ("answered", True, True, False)
    assert np.abs(one.hidden).max() < 4
    assert "right" in str(one)


def test_a_refusal_is_judged_by_its_reason(monkeypatch):
    case = make("released", 4, TUNING)
    one = score(case)
    assert (one.outcome, one.good, one.misled) == ("refused", True, False)
    text = "the record does not look like a release"
    monkeypatch.setattr("prism_bench.mechanics.scoring.answer", lambda _: ValueError(text))
    assert score(case).outcome == "broken"
    assert not score(case).good


def scored(hidden, **more):
    return Score("audit", 0, "", "answered", counted=True, hidden=np.array(hidden), **more)


# -- rigid-body modes that the data can show -------------------------------------------------------


def weakly_moved(weak):
    """Three ports, and two ways to move as a whole, of which one moves them by ``weak``."""
    V = np.array([[1.0, 0.5, 0.3], [0.0, weak, -weak], [0.6, -0.8, 0.1], [0.3, 0.2, -0.9]])
    phi = np.linalg.qr(np.hstack([V, np.eye(4)]))[0]  # any coordinates, of unit masses
    K = phi @ np.diag([0.0, 0.0, 1.0, 4.0]) @ phi.T
    system = LinearSystem(np.eye(4), K, (phi @ V).T)
    return Sampled(system, "made", 0.1, 1000)


def nearest_by_search(drawn, omega, loss, noise, count):
    """What a search over all responses with so many modes at zero leaves, in χ²."""
    n, K = 3, len(drawn.elastic)

    def response(x):
        W, eta = x[:K], x[K]
        rigid, v = x[K + 1 : K + 1 + count * n].reshape(-1, n), x[K + 1 + count * n :].reshape(K, n)
        each = 1 / (W**2 - omega[:, None] ** 2 + 1j * eta * W**2)
        swings = np.einsum("fk,ka,kb->fab", each, v, v)
        return swings - np.einsum("ka,kb->ab", rigid, rigid) / omega[:, None, None] ** 2

    p, v = drawn.system.rigid, drawn.system.participation
    H = drawn.system.response(omega, loss=loss, damping="structural").values
    start = np.concatenate([drawn.elastic, [loss], v[:count].ravel(), v[p:].ravel()])

    def rest(x):
        off = ((H - response(x)) / (noise * np.abs(H)))[:, *np.triu_indices(n)] * np.sqrt(2)
        return np.concatenate([off.real.ravel(), off.imag.ravel()])

    return 2 * least_squares(rest, start, x_scale="jac").cost


def test_a_test_counts_the_rigid_body_modes_that_a_response_shows():
    omega, loss = np.linspace(0.3, 2.4, 250), 0.01
    strong, weak = (
        in_response(weakly_moved(v), omega, loss, "structural", 0.02) for v in (0.3, 1e-3)
    )
    assert (strong.rigid, strong.shown, strong.less) == (2, None, None)
    assert (weak.rigid, weak.shown, weak.less.rigid, weak.less.elastic) == (2, 1, 1, 2)
    assert (len(weak.hidden), len(weak.less.hidden)) == (1, 0)


@pytest.mark.parametrize("weak", [0.005, 0.02])
def test_what_fewer_rigid_body_modes_leave_is_what_a_search_leaves(weak, monkeypatch):
    drawn, omega, left = weakly_moved(weak), np.linspace(0.3, 2.4, 120), []
    sure = shown._sure
    monkeypatch.setattr(shown, "_sure", lambda p, by: (left.append(by(1)), sure(p, by))[1])
    in_response(drawn, omega, 0.01, "structural", 0.02)
    assert left[0] == pytest.approx(nearest_by_search(drawn, omega, 0.01, 0.02, 1), rel=0.1)


def test_an_answer_without_what_no_test_sees_is_right():
    case = make("frf-free", 213, TUNING)
    assert (case.made.truth.rigid, case.made.truth.shown) == (3, 2)
    assert score(case).good


def test_offsets_of_a_release_show_what_moves_the_channels():
    truth = make("released", 215, TUNING).made.truth
    assert (truth.rigid, truth.shown) == (3, 2)  # the third is 1.6 errors of the offsets


def test_rows_count_what_is_wrong_without_a_word():
    wrong = partial(scored, [9.0], violation="decaying")
    scores = [scored([0.5]), wrong(power=1.0), wrong(power=0.5), wrong(said=True)]
    rows = {row.quantity: row.measured for row in rows_of(row_of("audit"), scores)}
    assert rows["silent, where a test would have told"] == 1
    assert rows["silent, where no test is sure"] == 1
    assert rows["silent: decaying"] == 2
    assert rows["wrong without a word"] == 0
    assert rows["hidden frequencies, rms z"] == 0.5


def test_an_answer_for_a_held_body_is_counted_apart():
    said = Score("free-mass", 0, "", "answered", codes=("rigid-unseen",), said=True)
    rows = {row.quantity: row.measured for row in rows_of(row_of("free-mass"), [scored([1]), said])}
    assert rows["right modes, or a true reason"] == 1
    assert rows["for a held body, and says so"] == 0.5


def test_the_benchmark_is_registered(monkeypatch):
    monkeypatch.setattr(mechanics, "ROWS", (row_of("snapback-free"),))
    words = []
    result = BENCHMARKS["mechanics"](2, words.append)
    assert (result.name, result.seeds, words) == ("mechanics", 2, ["free body, called pulled"])
    assert {row.quantity for row in result.rows} > {"wrong without a word", "CPU time, sum s"}


def test_every_violation_can_be_drawn():
    drawn = {make("audit", seed, TUNING).made.violation for seed in range(60)}
    assert drawn <= {"", *VIOLATIONS}
    assert len(drawn) > 12


def remarked(monkeypatch, *remarks):
    """The score of a release with a gain that is wrong, as if these were all remarks."""
    case = make("snapback-1", 1, TUNING)
    case = replace(case, made=replace(case.made, about=(About("untested", ("gains of",)),)))
    model = identify(case.made.data, **case.made.options)
    verdict = replace(model.identifiability, remarks=remarks)
    model = SimpleNamespace(
        identifiability=verdict, hamiltonian=model.hamiltonian, modes=model.modes
    )
    monkeypatch.setattr("prism_bench.mechanics.scoring.answer", lambda _: model)
    monkeypatch.setattr("prism_bench.mechanics.scoring.Model", SimpleNamespace)
    return score(case).said


def test_a_remark_counts_where_it_is_about_what_is_wrong(monkeypatch):
    assert not remarked(monkeypatch)
    assert not remarked(monkeypatch, Remark("masses of 1 of 1 channels", code="untested"))
    assert remarked(monkeypatch, Remark("gains of 1 of 1 channels", code="untested"))
    assert not remarked(monkeypatch, Remark("gains of 1 of 1 channels", code="outside-band"))
    assert remarked(monkeypatch, Remark("a doubt", code="doubt"))
