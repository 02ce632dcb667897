"""Array types by what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
Index = NDArray[np.intp]
Single = NDArray[np.float32]
Mask = NDArray[np.bool_]
