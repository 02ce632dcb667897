"""Speed over time: what `asv` runs. ``make speed`` times this commit once.

To see what a change does: ``asv continuous main HEAD``, or ``asv run main..`` and ``asv publish``
for a page with the history. Data are made from a fixed seed in `setup`, which is not timed. The
claims about accuracy are measured elsewhere, by ``prism benchmark``.
"""
