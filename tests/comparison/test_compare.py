"""Models of two records beside each other."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import prism
from prism.comparison import ModelComparison, compare_models
from prism.errors import CannotTellError, OptionError
from prism.systems import chain

SPRINGS = 20.0


def steady(masses, seed, noise=1.0, springs=SPRINGS):
    system = chain(masses, springs=springs, observed=range(len(masses)))
    return prism.identify(system.free(60, 0.1, noise=noise, rng=seed), kind="steady")


def driven(masses, seed, duration=300.0, damping=0.02):
    system = chain(masses, springs=SPRINGS, observed=[0, 1, 2])
    record = prism.systems.driven(system, duration, 0.25, damping=damping, noise=0.1, rng=seed)
    return prism.identify(record, kind="driven")


def chances(comparisons, what):
    return np.array(
        [one.chance for each in comparisons for _, name, one in each.changes() if name == what]
    )


def neighbours(models):
    return [compare_models(a, b) for a, b in zip(models, [*models[1:], models[0]], strict=True)]


@pytest.fixture(scope="module")
def same():
    return [steady([1, 1, 1], seed) for seed in range(30)]


@pytest.fixture(scope="module")
def pair():
    return steady([1, 1, 1], 0, 0.2), steady([1, 1, 1.1], 1, 0.2)


# ------------------------------------------------------------------ calibration


def test_nothing_moves_where_nothing_changed(same):
    found = neighbours(same)
    for what in ("frequency", "shape"):
        p = chances(found, what)
        assert len(p) >= 87
        assert stats.kstest(p, "uniform").pvalue > 0.01
        assert np.mean(p < 0.05) < 0.12
    assert np.mean([one.moved for one in found]) <= 0.1
    holds = [each.likeness.interval[1] >= 1 for one in found for each in one.pairs]
    assert np.mean(holds) > 0.93


def test_one_per_cent_of_mass_is_seen(same):
    found = [compare_models(same[k], steady([1, 1, 1.01], 100 + k)) for k in range(12)]
    assert np.mean(chances(found, "frequency") < 0.05) > 0.25
    assert np.mean([one.moved for one in found]) > 0.35
    sizes = [one.pairs[0].frequency.size for one in found]
    assert np.mean(sizes) == pytest.approx(-0.0027, abs=0.0006)


def test_the_interval_of_the_criterion_holds_what_is_true():
    systems = [chain(3, springs=each, observed=[0, 1, 2]) for each in (SPRINGS, [20, 14, 20])]
    truth = np.diag(prism.mac(*(system.participation for system in systems)))
    assert truth[1] < 0.99
    held = []
    for seed in range(12):
        models = steady([1, 1, 1], seed, 0.3), steady([1, 1, 1], 50 + seed, 0.3, [20, 14, 20])
        for each in compare_models(*models).pairs:
            low, high = each.likeness.interval
            held.append(low <= truth[each.before] <= high)
    assert len(held) == 36
    assert np.mean(held) > 0.86


@pytest.mark.study
@pytest.mark.parametrize(("duration", "damping"), [(300.0, 0.02), (100.0, 0.02), (900.0, 0.003)])
def test_driven_records_of_one_system_seldom_differ(duration, damping):
    models = [driven([1, 1, 1], [7, seed], duration, damping) for seed in range(60)]
    found = neighbours([one for one in models if len(one.modes) == 3])
    for what in ("frequency", "damping", "shape"):
        p = chances(found, what)
        assert stats.kstest(p, "uniform").pvalue > 1e-3
        assert np.mean(p < 0.05) < 0.1
    assert np.mean([one.moved for one in found]) < 0.12
    holds = [each.likeness.interval[1] >= 1 for one in found for each in one.pairs]
    assert np.mean(holds) > 0.92


@pytest.mark.study
def test_one_per_cent_of_mass_in_driven_records():
    before = [driven([1, 1, 1], [8, seed], 1800.0, 0.001) for seed in range(10)]
    after = [driven([1, 1, 1.01], [9, seed], 1800.0, 0.001) for seed in range(10)]
    found = [compare_models(a, b) for a in before for b in after]
    assert np.mean([one.moved for one in found]) > 0.6


# ------------------------------------------------------------------ what is said


def test_what_moved_is_said_in_words(pair):
    found = compare_models(*pair)
    assert isinstance(found, ModelComparison)
    assert (found.gone, found.new, len(found.pairs)) == ((), (), 3)
    assert found.moved
    assert found.chance < 1e-6
    assert found.tests == 6
    first = found.pairs[0]
    exact = [chain(masses, springs=SPRINGS).frequencies[0] for masses in ([1, 1, 1], [1, 1, 1.1])]
    low, high = first.frequency.interval
    assert low < exact[1] / exact[0] - 1 < high
    assert first.damping is None
    said = found.sentence()
    assert said.startswith(
        "3 modes in both models; moved, at the level 0.05 over 6 tests: mode 1 (f"
    )
    (remark,) = found.remarks
    assert remark.code == "no-damping"


def test_channels_are_linked_by_name(pair):
    before, after = pair
    some = replace(after.modes, joint=after.modes.joint)
    turned = replace(after, channels=("q9", "q3", "q2"), modes=some)
    found = compare_models(before, turned)
    assert found.channels == ("q2", "q3")
    codes = [remark.code for remark in found.remarks]
    assert codes.count("other-channels") == 2
    assert "only the first model has q1" in str(found.remarks[0])
    # what is called q2 there is the third channel of its shapes
    whole, cut = found.pairs[0].likeness, before.modes.shapes[0][1:]
    assert whole.mac == pytest.approx(prism.mac([cut], [after.modes.shapes[0][[2, 1]]])[0, 0])


def test_one_shared_channel_shows_no_shape(pair):
    found = compare_models(pair[0], replace(pair[1], channels=("q3", "b", "c")))
    assert all(one.shape is None and one.frequency is not None for one in found.pairs)
    assert any("one shared channel shows no shape" in remark for remark in found.remarks)


def test_modes_of_one_model_alone_are_listed(pair):
    before, after = pair
    less = replace(after, modes=after.modes.take(np.array([0, 2])))
    found = compare_models(before, less)
    assert (found.gone, found.new) == ((1,), ())
    assert [(one.before, one.after) for one in found.pairs] == [(0, 0), (2, 1)]
    assert f"only in the first: {before.modes.frequencies[1]:.5g}" in found.sentence()
    back = compare_models(less, before)
    assert (back.gone, back.new) == ((), (1,))


def test_nothing_alike_is_said(pair):
    far = replace(pair[1], modes=pair[1].modes.take(np.array([2])))
    found = compare_models(replace(pair[0], modes=pair[0].modes.take(np.array([0]))), far)
    assert (len(found.pairs), found.chance, found.moved) == (0, None, False)
    assert found.sentence().startswith("no modes in both models; only in the first: 1.99")
    assert found.sentence().endswith("nothing could be compared")


def test_modes_of_one_frequency_have_no_shape_of_their_own(pair):
    modes = pair[1].modes
    mean = modes.joint.mean.copy()
    mean[1] = mean[0]
    double = replace(pair[1], modes=replace(modes, joint=replace(modes.joint, mean=mean)))
    found = compare_models(pair[0], double)
    assert found.pairs[0].shape is None
    assert any("another mode has its frequency" in remark for remark in found.remarks)


def test_modes_that_turn_have_no_direction(pair):
    modes = pair[1].modes
    turns = replace(
        modes,
        phase_ratio=np.array([0.9, 0.0, 0.0]),
        in_phase=np.array([False, True, True]),
        moduli=np.abs(modes.shapes),
        moduli_std=modes.shapes_std,
    )
    found = compare_models(pair[0], replace(pair[1], modes=turns))
    assert [one.shape is None for one in found.pairs] == [True, False, False]
    assert any("the shape of mode 1 is not compared: it turns" in str(r) for r in found.remarks)


def test_other_motion_and_overlap_are_said(pair):
    later = replace(pair[1].record, span=(30.0, 90.0))
    found = compare_models(pair[0], replace(pair[1], kind="driven", record=later))
    assert {"other-motion", "overlap"} <= {remark.code for remark in found.remarks}
    apart = replace(pair[1].record, span=(60.0, 120.0))
    said = compare_models(pair[0], replace(pair[1], record=apart)).remarks
    assert "overlap" not in {remark.code for remark in said}


def test_responses_are_compared_inside_their_band(cart):
    model, _ = cart
    other = prism.systems.cart_pendulum().response(np.linspace(0.5, 4, 300), noise=0.1, rng=1)
    found = compare_models(model, prism.identify(other))
    inside = np.flatnonzero(model.response.inside & ~model.modes.rigid)
    assert [one.before for one in found.pairs] == inside.tolist()
    assert not found.moved


# ------------------------------------------------------------------ what is refused


def test_one_record_twice_is_refused(same):
    with pytest.raises(CannotTellError, match="share their noise"):
        compare_models(same[0], same[0])
    record = chain(3, springs=SPRINGS, observed=[0, 1, 2]).free(60, 0.1, noise=1.0, rng=0)
    part = prism.identify(record.select(["q2", "q3"]), kind="steady")
    with pytest.raises(CannotTellError, match="same samples"):
        compare_models(same[0], part)


def test_models_without_modes_or_channels_in_common(pair):
    other = replace(pair[1], channels=("a", "b", "c"))
    with pytest.raises(OptionError, match="share no channel: the first has q1, q2, q3, the second"):
        compare_models(pair[0], other)
    nothing = replace(pair[1], modes=pair[1].modes.take(np.zeros(0, int)))
    with pytest.raises(CannotTellError, match="the second model has no modes"):
        compare_models(pair[0], nothing)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"reach": 0.0}, "reach"), ({"reach": np.inf}, "reach"), ({"level": 1.0}, "level")],
)
def test_options_that_make_no_sense(pair, options, words):
    with pytest.raises(OptionError, match=words):
        compare_models(*pair, **options)
    with pytest.raises(OptionError, match="no Model"):
        compare_models(pair[0], "after.json")
