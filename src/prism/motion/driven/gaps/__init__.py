"""Motion that noise drives, of records with missing samples or uneven times."""

from prism.motion.driven.gaps.gaps import fit_gapped, full_draw

__all__ = ["fit_gapped", "full_draw"]
