"""What motion that noise drives is charged for when it competes."""

from types import SimpleNamespace

import numpy as np

from prism.motion.driven.kind import parameters_of
from prism_bench.kinds.scoring import score
from prism_bench.kinds.table import make


def band(fitted, linked, channels, *, tilt=0.0, shapeless=False):
    driven = fitted + linked
    model = SimpleNamespace(fitted=fitted, at={"cross": np.arange(driven * (driven - 1))})
    lines = SimpleNamespace(values=np.zeros((9, channels)), tilt=tilt)
    return SimpleNamespace(model=model, band=lines, shapeless=shapeless)


def test_forces_that_several_bands_share_are_paid_for_once():
    # one mode in two channels: frequency, damping, one angle and the power of its force
    assert parameters_of([band(1, 0, 2)]) == 4
    # five modes, each in a band with the other four: 5 * 4, and all 5 * 4 cross spectra
    assert parameters_of([band(1, 4, 2)] * 5) == 5 * 4 + 20
    # two modes that interfere with nothing but each other, in one band
    assert parameters_of([band(2, 0, 3)]) == 2 * 5 + 2
    # forces that are not flat have a tilt in each band
    assert parameters_of([band(1, 0, 2, tilt=0.3)] * 2) == 2 * (4 + 1)
    # a peak without a shape has a frequency, a width and a Hermitian matrix
    assert parameters_of([band(3, 0, 3, shapeless=True)]) == 2 + 9


def test_weak_modes_whose_forces_are_linked_are_no_noise():
    """Five modes, each linked with all others: called noise while they were paid five times."""
    assert score(make("driven-broad", 839, 1)).outcome == "driven"
