"""Array types, and a length that counts as none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counters = NDArray[np.int64]
# Shorter than any element that can be told from zero: keeps l/|w| finite, and |w| = 0 gives no force.
TINY_LENGTH = 1e-290
