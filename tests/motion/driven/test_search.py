"""Which candidates are proposed, and in which bands they are judged."""

import numpy as np

import prism
from prism.motion.driven.bands import DrivenMode
from prism.motion.driven.driven import band_of
from prism.motion.driven.search import ModeSearch, all_modes
from prism.motion.driven.spectrum import fourier_lines
from prism.motion.driven.subspace import _clusters, candidates
from prism_bench.kinds.table import make


def poles(zeta, scatter):
    """One pole at each of twenty orders, its frequency scattered."""
    rng = np.random.default_rng(0)
    omega = 2.0 * np.exp(scatter * rng.uniform(-1, 1, 20))
    shapes = np.tile([0.6, 0.8], (20, 1))
    return np.column_stack([np.arange(20), omega, np.full(20, zeta), shapes])


def test_a_broad_mode_may_scatter_over_orders_by_part_of_its_width():
    (mode,) = _clusters(poles(0.05, 0.02), 20)
    assert abs(mode.omega - 2.0) < 0.02
    assert mode.gain > 0.9
    # poles that are as far apart as narrow modes can be are not the same
    assert all(one.gain < 0.7 for one in _clusters(poles(0.002, 0.02), 20))


def refused(monkeypatch, *omega):
    """What is asked about modes that are all refused: the frequency, and the end of the band."""
    asked = []

    def refuse(self, one):
        asked.append((one.mode.omega, one.edges[1]))

    monkeypatch.setattr(ModeSearch, "_added", refuse)
    record = prism.Record(np.random.default_rng(1).standard_normal((4096, 1)), dt=1.0)
    search = ModeSearch(fourier_lines(record), (0.01, 3.0), 1e-3)
    assert search.forward([DrivenMode(w, 1e-3, np.ones(1), gain=-w) for w in omega]) == []
    return asked


def test_what_was_refused_once_cuts_no_band(monkeypatch):
    (first, near), (second, _), (again, wide), *_ = refused(monkeypatch, 0.5, 0.55)
    assert (first, second, again) == (0.5, 0.55, 0.5)
    assert near < 0.55 < wide


def test_nothing_is_asked_twice(monkeypatch):
    assert [omega for omega, _ in refused(monkeypatch, 0.5, 1.5)] == [0.5, 1.5]


def test_a_mode_that_left_the_band_of_the_search_is_dropped():
    """A descent may end beyond the last line that is looked at; there is nothing to fit there."""
    record = prism.Record(np.random.default_rng(1).standard_normal((256, 1)), dt=1.0)
    search = ModeSearch(fourier_lines(record), (0.1, 2.5), 1e-3)
    assert search.sweep([DrivenMode(3.1, 0.001, np.ones(1))], test=True) == []


def test_a_mode_that_runs_into_another_one_is_refused():
    """Between broad modes of one channel six of them stood at one frequency."""
    record = make("driven-broad", 23, 0).record
    lines = fourier_lines(record)
    search = ModeSearch(lines, band_of(record), 1e-3)
    modes = search.forward(candidates(lines, *search.ends))
    omega = np.sort([one.omega for one in modes])
    assert 3 <= len(modes) <= 6
    assert np.diff(omega).min() > 0.1


def test_the_tail_of_a_strong_mode_reaches_past_its_next_neighbours():
    """The last of five modes stood at 2.63 with a damping of 13 %, in place of 2.91 and 2.6 %."""
    case = make("driven-broad", 555, 1)
    lines = fourier_lines(case.record)
    search = ModeSearch(lines, band_of(case.record), 1e-3)
    (last,) = [m for m in case.modes if 2.5 < m.frequency < 3.5]
    near = [DrivenMode(m.frequency, m.damping, m.shape, 1.0, 1.0) for m in case.modes if m.visible]
    found = max(all_modes(search.sweep(near, test=False)), key=lambda one: one.omega)
    assert abs(found.omega - last.frequency) < 0.05
    assert 0.015 < found.zeta < 0.045
